//! Fatoohi's three numbers of a link, and the straight line that should connect them.

/// One measured size: bytes and nanoseconds for one hop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Message length in bytes.
    pub bytes: f64,
    /// Time of one hop.
    pub ns: f64,
}

/// The numbers of one system. Rates are bytes per nanosecond, which is GB/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// r_max: the highest rate achieved.
    pub r_max: f64,
    /// n_1/2: the length that achieves half of r_max, between measured lengths.
    pub n_half: f64,
    /// t_0: the time of the shortest message.
    pub t_zero: f64,
}

/// The line `t = t_0 + n / r` that fits best in relative terms, and how far it is off at worst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Its start.
    pub t_zero: f64,
    /// Its rate.
    pub rate: f64,
    /// The largest residual, as a share of the measured time.
    pub worst: f64,
}

/// r_max, n_1/2 and t_0 as defined by Fatoohi; `None` without at least two lengths above 0.
pub fn link(points: &[Point]) -> Option<Link> {
    let mut points: Vec<Point> = points.iter().copied().filter(|p| p.ns > 0.0).collect();
    points.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let t_zero = points.first()?.ns;
    let rates: Vec<(f64, f64)> =
        points.iter().filter(|p| p.bytes > 0.0).map(|p| (p.bytes, p.bytes / p.ns)).collect();
    if rates.len() < 2 {
        return None;
    }
    let r_max = rates.iter().map(|r| r.1).fold(0.0, f64::max);
    let reached = rates.iter().position(|r| r.1 >= r_max / 2.0)?;
    let n_half = match reached.checked_sub(1) {
        None => rates[0].0,
        Some(before) => {
            // Straight between two points on logarithmic axes, as the curve is drawn.
            let ((n0, r0), (n1, r1)) = (rates[before], rates[reached]);
            let share = ((r_max / 2.0).ln() - r0.ln()) / (r1.ln() - r0.ln());
            (n0.ln() + share * (n1.ln() - n0.ln())).exp()
        }
    };
    Some(Link { r_max, n_half, t_zero })
}

/// Least squares of relative residuals, so that short messages count as much as long ones.
pub fn line(points: &[Point]) -> Option<Line> {
    let (mut s, mut sx, mut sxx, mut sy, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for p in points.iter().filter(|p| p.ns > 0.0) {
        let weight = 1.0 / (p.ns * p.ns);
        s += weight;
        sx += weight * p.bytes;
        sxx += weight * p.bytes * p.bytes;
        sy += weight * p.ns;
        sxy += weight * p.bytes * p.ns;
    }
    let determinant = s * sxx - sx * sx;
    if points.len() < 3 || determinant <= 0.0 {
        return None;
    }
    let slope = (s * sxy - sx * sy) / determinant;
    let t_zero = (sy - slope * sx) / s;
    let worst = points.iter().map(|p| ((t_zero + slope * p.bytes - p.ns) / p.ns).abs()).fold(0.0, f64::max);
    (slope > 0.0).then_some(Line { t_zero, rate: 1.0 / slope, worst })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ideal(t_zero: f64, rate: f64) -> Vec<Point> {
        [0.0, 8.0, 64.0, 512.0, 4096.0, 32768.0, 262144.0, 2097152.0]
            .iter()
            .map(|&bytes| Point { bytes, ns: t_zero + bytes / rate })
            .collect()
    }

    #[test]
    fn fit_recovers_ideal_link() {
        let line = line(&ideal(500.0, 4.0)).unwrap();
        assert!((line.t_zero - 500.0).abs() < 1e-6 && (line.rate - 4.0).abs() < 1e-9 && line.worst < 1e-9);
        let link = link(&ideal(500.0, 4.0)).unwrap();
        assert_eq!(link.t_zero, 500.0);
        assert!((link.r_max - 4.0).abs() < 0.01);
        // In theory n_1/2 = t_0 r = 2000 bytes; interpolation between 512 and 4096 comes near.
        assert!((1700.0..2700.0).contains(&link.n_half), "{}", link.n_half);
    }

    #[test]
    fn fit_returns_none_for_too_few_points() {
        assert_eq!(link(&[]), None);
        assert_eq!(link(&[Point { bytes: 0.0, ns: 5.0 }, Point { bytes: 8.0, ns: 5.0 }]), None);
        assert_eq!(line(&ideal(1.0, 1.0)[..2]), None);
    }

    #[test]
    fn residual_shows_a_kink() {
        let mut points = ideal(500.0, 4.0);
        points[4].ns *= 2.0;
        assert!(line(&points).unwrap().worst > 0.2);
    }
}
