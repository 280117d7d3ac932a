//! How a cost grows with the size of a machine: a fixed part, a part for each doubling, a part for each host.

/// `y = constant + doubling log2 n + each n`, by least squares of relative residuals, so that small machines count as much
/// as large ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// The fixed part.
    pub constant: f64,
    /// For each doubling of n.
    pub doubling: f64,
    /// For each of n.
    pub each: f64,
    /// How much of the relative variance the curve explains: 1 is all of it.
    pub r2: f64,
    /// By which power of n it grows over the larger half of the sizes: the slope in a drawing with logarithmic axes.
    pub exponent: f64,
}

impl Growth {
    /// The fitted value.
    pub fn at(&self, n: f64) -> f64 {
        self.constant + self.doubling * n.log2() + self.each * n
    }
}

/// Fits pairs of n and y; those with a y of 0 do not count. `None` with fewer than four.
pub fn growth(points: &[(f64, f64)]) -> Option<Growth> {
    let points: Vec<(f64, f64)> = points.iter().copied().filter(|(n, y)| *n > 0.0 && *y > 0.0).collect();
    if points.len() < 4 {
        return None;
    }
    // Relative residuals: each row and its y are divided by y.
    let rows: Vec<[f64; 3]> = points.iter().map(|(n, y)| [1.0 / y, n.log2() / y, n / y]).collect();
    let mut normal = [[0.0; 4]; 3];
    for row in &rows {
        for (i, line) in normal.iter_mut().enumerate() {
            for (cell, value) in line.iter_mut().zip(row.iter().chain(&[1.0])) {
                *cell += row[i] * value;
            }
        }
    }
    let [constant, doubling, each] = solve(normal)?;
    let mut found = Growth { constant, doubling, each, r2: 0.0, exponent: 0.0 };
    let weights = points.iter().map(|(_, y)| 1.0 / (y * y));
    let (sum, weight) =
        points.iter().zip(weights.clone()).fold((0.0, 0.0), |(s, all), ((_, y), w)| (s + w * y, all + w));
    let mean = sum / weight;
    let off = |value: &dyn Fn(f64) -> f64| -> f64 {
        points.iter().zip(weights.clone()).map(|((n, y), w)| w * (y - value(*n)).powi(2)).sum()
    };
    let (left, whole) = (off(&|n| found.at(n)), off(&|_| mean));
    found.r2 = if whole > 0.0 { 1.0 - left / whole } else { 1.0 };
    found.exponent = slope(&points[points.len() / 2..]);
    Some(found)
}

/// Gauss, with the largest pivot; the last column is the right-hand side.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let pivot = (column..3).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let top = rows[column];
        if top[column] == 0.0 {
            return None;
        }
        for (at, row) in rows.iter_mut().enumerate() {
            if at != column {
                let share = row[column] / top[column];
                row.iter_mut().zip(&top).for_each(|(cell, above)| *cell -= share * above);
            }
        }
    }
    Some([0, 1, 2].map(|at| rows[at][3] / rows[at][at]))
}

/// The slope of the straight line through the logarithms.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), (n, v)| (x + n.ln() / count, y + v.ln() / count));
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), (n, v)| {
        let dx = n.ln() - x;
        (above + dx * (v.ln() - y), below + dx * dx)
    });
    above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> impl Iterator<Item = f64> {
        (1..=12).map(|power| f64::from(power).exp2())
    }

    #[test]
    fn growth_fit_recovers_ideal_curve() {
        let points: Vec<_> = sizes().map(|n| (n, 3.0 + 0.5 * n.log2() + 0.01 * n)).collect();
        let found = growth(&points).unwrap();
        assert!((found.constant - 3.0).abs() < 1e-6 && (found.doubling - 0.5).abs() < 1e-6, "{found:?}");
        assert!((found.each - 0.01).abs() < 1e-6 && found.r2 > 0.999_999, "{found:?}");
    }

    #[test]
    fn growth_of_square_shows_exponent_and_poor_fit() {
        let found = growth(&sizes().map(|n| (n, n * n)).collect::<Vec<_>>()).unwrap();
        assert!((found.exponent - 2.0).abs() < 1e-9 && found.r2 < 0.9, "{found:?}");
    }

    #[test]
    fn growth_fit_returns_none_for_too_few_points() {
        assert_eq!(growth(&[(2.0, 1.0), (4.0, 2.0), (8.0, 3.0), (16.0, 0.0)]), None);
    }
}
