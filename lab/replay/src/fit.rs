//! The costs of a route from what was measured of it, by the program `loggp`.

use crate::machine::{Overhead, Route};

/// What was measured of messages of one length. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Bytes of data.
    pub bytes: f64,
    /// Half a round trip.
    pub half: f64,
    /// The call that sends, when nothing else is under way.
    pub send: f64,
    /// The call that receives, when the message is there.
    pub receive: f64,
    /// Of [`IN_A_ROW`] in a row that are answered once, each.
    pub gap: f64,
}

/// Messages in a row, as the program `loggp` sends them.
pub const IN_A_ROW: f64 = 16.0;

/// The costs; none without two lengths.
///
/// Overheads are straight lines through what was measured of the calls. What half a round trip takes beside them is latency
/// and bytes; what many in a row take each, the gap and bytes: of the two the greater has the link.
pub fn route(measured: &[Measured]) -> Option<Route> {
    let line_of = |what: fn(&Measured) -> f64| line(measured.iter().map(|one| (one.bytes, what(one))));
    let overhead = |(message, byte)| Overhead { message, byte };
    let send = overhead(line_of(|one| one.send)?);
    let receive = overhead(line_of(|one| one.receive)?);
    let way = measured.iter().map(|one| {
        let ends = send.of(one.bytes as u64) + receive.of(one.bytes as u64);
        (one.bytes, (one.half - ends).max(0.0))
    });
    let (latency, byte) = line(way)?;
    let shortest = measured.iter().min_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
    // The last of them, and its answer, take half a round trip each besides.
    let gap = (shortest.gap * IN_A_ROW - 2.0 * shortest.half) / (IN_A_ROW - 1.0);
    Some(Route { latency, send, receive, gap: gap.max(0.0), byte, frame: 0.0 })
}

/// The straight line, of no negative start or slope, that is the least off in relative terms: its start and its slope.
fn line(points: impl Iterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    let points: Vec<(f64, f64)> = points.collect();
    let distinct = points.iter().any(|(x, _)| *x != points[0].0);
    if points.len() < 2 || !distinct {
        return None;
    }
    let weigh = |y: f64| 1.0 / (y * y).max(1.0);
    let [mut s, mut sx, mut sxx, mut sy, mut sxy] = [0.0; 5];
    for &(x, y) in &points {
        let weight = weigh(y);
        s += weight;
        sx += weight * x;
        sxx += weight * x * x;
        sy += weight * y;
        sxy += weight * x * y;
    }
    let slope = (s * sxy - sx * sy) / (s * sxx - sx * sx);
    let start = (sy - slope * sx) / s;
    Some(match (start < 0.0, slope < 0.0) {
        (false, false) => (start, slope),
        // Through the origin, or level.
        (true, _) => (0.0, (sxy / sxx).max(0.0)),
        (_, true) => (sy / s, 0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_recovers_route() {
        let route_of = Route {
            latency: 50_000.0,
            send: Overhead { message: 2000.0, byte: 0.25 },
            receive: Overhead { message: 3000.0, byte: 0.5 },
            gap: 4000.0,
            byte: 80.0,
            frame: 0.0,
        };
        let measured: Vec<Measured> = [8.0, 1024.0, 65536.0]
            .map(|bytes: f64| {
                let length = bytes as u64;
                let half = route_of.alone(length);
                let (send, receive) = (route_of.send.of(length), route_of.receive.of(length));
                let gap = (half * 2.0 + (IN_A_ROW - 1.0) * route_of.occupies(length)) / IN_A_ROW;
                Measured { bytes, half, send, receive, gap }
            })
            .to_vec();
        let found = route(&measured).expect("three lengths");
        for (found, wanted) in [
            (found.latency, 50_000.0),
            (found.send.byte, 0.25),
            (found.receive.message, 3000.0),
            (found.gap, 4000.0),
            (found.byte, 80.0),
        ] {
            assert!((found - wanted).abs() < wanted * 1e-6, "{found} {wanted}");
        }
    }

    #[test]
    fn fit_has_no_negative_cost_and_needs_two_lengths() {
        let rising = [(8.0, 1.0), (1000.0, 2000.0), (10_000.0, 30_000.0)];
        let (start, slope) = line(rising.into_iter()).expect("a line");
        assert!(start >= 0.0 && slope > 0.0);
        let falling = [(8.0, 100.0), (1000.0, 90.0)];
        assert_eq!(line(falling.into_iter()).expect("a line").1, 0.0);
        assert_eq!(line([(8.0, 1.0), (8.0, 2.0)].into_iter()), None);
    }
}
