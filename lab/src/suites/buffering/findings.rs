//! What the rows say: a line of Saphir's table for each system, where messages lay, how much was overlapped.

use super::LONG;
use crate::stats::summary::Rows;
use crate::systems::system::System;

/// One line of Saphir's Table 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// One hop of 8 bytes, received by a posted receive, in microseconds.
    pub latency: f64,
    /// Long messages for which a receive was posted, GB/s.
    pub posted: f64,
    /// The copy alone, GB/s.
    pub copy: Option<f64>,
    /// Long messages that no receive awaited, GB/s.
    pub buffered: f64,
}

impl Line {
    /// What Saphir computes for buffered messages: the harmonic mean of the rates of both steps.
    pub fn computed(&self) -> Option<f64> {
        self.copy.map(|copy| copy * self.posted / (copy + self.posted))
    }

    /// By how much that is off, as a share of what was measured.
    pub fn error(&self) -> Option<f64> {
        self.computed().map(|computed| computed / self.buffered - 1.0)
    }
}

/// GB/s of long messages that take so many microseconds each.
fn rate(us: f64) -> f64 {
    LONG as f64 / us / 1000.0
}

/// The line of one system, if it was measured.
pub fn line(rows: &Rows, system: &System) -> Option<Line> {
    let median = |metric: &str, size| rows.find("token", system, metric, 2, size).map(|row| row.median);
    Some(Line {
        latency: median("hop, posted", 8)?,
        posted: rate(median("hop, posted", LONG)?),
        copy: median("hop, copy", LONG).map(rate),
        buffered: rate(median("hop, unposted", LONG)?),
    })
}

/// Where the messages of one point lay, as shares of their data; unexpected ones as a share of the messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataShares {
    /// How often the data was copied.
    pub copies: f64,
    /// Buffered at the receiver.
    pub receiver: f64,
    /// Buffered at the sender.
    pub sender: f64,
    /// Came before a receive was posted.
    pub unexpected: f64,
    /// Thrown away.
    pub dropped: f64,
}

/// Of one form of a program.
pub fn place(
    rows: &Rows,
    system: &System,
    program: &str,
    form: &str,
    tasks: u32,
    size: u64,
) -> Option<DataShares> {
    let value = |what: &str| {
        rows.find(program, system, &format!("{what}, {form}"), tasks, size).map(|row| row.median)
    };
    Some(DataShares {
        copies: value("copies")?,
        receiver: value("buffered at the receiver")?,
        sender: value("buffered at the sender")?,
        unexpected: value("unexpected")?,
        dropped: value("dropped")?,
    })
}

/// One form of the exchange.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    /// An exchange without computation, in microseconds.
    pub alone: f64,
    /// Twice as much computation.
    pub work: f64,
    /// Both together.
    pub both: f64,
}

impl Exchange {
    /// How much of the exchange went on while the task computed: 0 none, 1 all. It is noisy where the exchange is short.
    pub fn overlapped(&self) -> f64 {
        ((self.alone + self.work - self.both) / self.alone).clamp(0.0, 1.0)
    }
}

/// Of one form and size.
pub fn exchange(rows: &Rows, system: &System, form: &str, size: u64) -> Option<Exchange> {
    let value =
        |what: &str| rows.find("exchange", system, &format!("{what}, {form}"), 2, size).map(|row| row.median);
    Some(Exchange { alone: value("exchange")?, work: value("work")?, both: value("exchange with work")? })
}

#[cfg(test)]
mod tests {
    use super::super::NX;
    use super::*;
    use crate::stats::summary::tests::row;

    #[test]
    fn row_computes_saphir_costs() {
        let rows = [
            row(&NX, "token", "hop, posted", 8, &[0.25; 6]),
            row(&NX, "token", "hop, posted", LONG, &[100.0; 6]),
            row(&NX, "token", "hop, copy", LONG, &[100.0; 6]),
            row(&NX, "token", "hop, unposted", LONG, &[250.0; 6]),
        ];
        let line = line(&Rows(&rows), &NX).expect("a line");
        assert_eq!(line.computed(), Some(line.posted / 2.0));
        let error = line.error().expect("an error");
        assert!((error - 0.25).abs() < 1e-9, "{error}");
    }

    #[test]
    fn overlap_lies_between_none_and_all() {
        let exchange = |both| Exchange { alone: 10.0, work: 20.0, both }.overlapped();
        assert_eq!([exchange(30.0), exchange(25.0), exchange(20.0)], [0.0, 0.5, 1.0]);
        assert_eq!([exchange(40.0), exchange(5.0)], [0.0, 1.0]);
    }
}
