//! The papers' printed tables as the reports quote them: views on the files of the [`catalogue`](crate::catalogue), in which
//! each number stands once.

use crate::catalogue::{Cell, PAPERS};
use std::sync::LazyLock;

/// Where a figure was published.
pub const ISLAM: &str =
    "Islam, McGrath, Campbell: Parallel Distributed Application Performance and Message Passing";
/// Where a figure was published.
pub const FATOOHI: &str =
    "Fatoohi: Performance Evaluation of Communication Networks for Distributed Computing, NAS-95-009, 1995";
/// Where a figure was published.
pub const SAPHIR: &str = "Saphir: Message Buffering and its Effect on the Communication Performance of Parallel Computers, RNS-94-004, 1994";

/// Times of the transform in milliseconds, at 128, 256, 512 and 1024 points.
pub struct FftTimes {
    /// Whose.
    pub system: &'static str,
    /// On 2 nodes (Table 6).
    pub two: [f64; 4],
    /// On 4 nodes (Table 7).
    pub four: [f64; 4],
}

/// Islam et al., Tables 6 and 7.
pub static FFT_TIMES: LazyLock<Vec<FftTimes>> = LazyLock::new(|| {
    let both = table("000", 6).iter().zip(table("000", 7));
    both.map(|(two, four)| FftTimes { system: word(two, 0), two: numbers(two, 1), four: numbers(four, 1) })
        .collect()
});

/// Wait, communication and computation in milliseconds, of one of 4 nodes.
pub struct Split {
    /// Whose.
    pub system: &'static str,
    /// At 128 points.
    pub small: [f64; 3],
    /// At 1024 points.
    pub large: [f64; 3],
}

/// Islam et al., Table 8.
pub static SPLITS: LazyLock<Vec<Split>> = LazyLock::new(|| {
    let split = |row| Split { system: word(row, 0), small: numbers(row, 1), large: numbers(row, 4) };
    table("000", 8).iter().map(|row| split(row)).collect()
});

/// Speed-up at 512 points on 2 and 4 processors.
pub struct SpeedUp {
    /// Whose.
    pub system: &'static str,
    /// On 2 and on 4.
    pub on: [f64; 2],
}

/// Islam et al., Table 9.
pub static SPEED_UPS: LazyLock<Vec<SpeedUp>> = LazyLock::new(|| {
    table("000", 9).iter().map(|row| SpeedUp { system: word(row, 0), on: numbers(row, 2) }).collect()
});

/// An activity of the null round trip: how often, and what it costs once, in microseconds.
pub struct Activity {
    /// In the paper's words.
    pub name: &'static str,
    /// On the Multimax, the iPSC/2 and the SPARCstation II.
    pub count: [f64; 3],
    /// The same.
    pub once: [f64; 3],
}

impl Activity {
    /// What it costs on one of the three.
    pub fn cost(&self, system: usize) -> f64 {
        self.count[system] * self.once[system]
    }
}

/// Islam et al., Table 4, without its last line.
pub static NULL_ACTIVITIES: LazyLock<Vec<Activity>> = LazyLock::new(|| {
    let (_, activities) = table("000", 4).split_last().expect("the total is the last line");
    let activity = |row| {
        let [a, b, c, d, e, f] =
            numbers::<6>(row, 1).map(|number| if number.is_nan() { 0.0 } else { number });
        Activity { name: word(row, 0), count: [a, c, e], once: [b, d, f] }
    };
    activities.iter().map(|row| activity(row)).collect()
});

/// Null round trips of the three in microseconds (Islam et al., Table 4, its last line).
pub static NULL_ROUND_TRIPS: LazyLock<[f64; 3]> = LazyLock::new(|| {
    let total = table("000", 4).last().expect("it has lines");
    let [_, multimax, _, ipsc, _, sparc] = numbers::<6>(total, 1);
    [multimax, ipsc, sparc]
});

/// What compilers did to the paper's operations, as multiples of what cc did: the name, on the SPARCstation II, on the iPSC/2
/// (Islam et al., Table 5).
pub static COMPILERS: LazyLock<Vec<[&'static str; 3]>> = LazyLock::new(|| {
    let others = table("000", 5).iter().filter(|row| word(row, 0) != "cc");
    others.map(|row| [0, 1, 2].map(|column| word(row, column))).collect()
});

/// A context switch on the SPARCstation II, in microseconds (Islam et al., section 7).
pub const CONTEXT_SWITCH: f64 = 150.0;

/// r_max in MB/s, n_1/2 in bytes, t_0 in microseconds.
pub struct LinkFigure {
    /// Which network.
    pub network: &'static str,
    /// Through which software.
    pub software: &'static str,
    /// MB/s.
    pub r_max: f64,
    /// Bytes.
    pub n_half: f64,
    /// Microseconds.
    pub t_zero: f64,
}

/// Fatoohi, Tables 1 and 3.
pub static LINKS: LazyLock<Vec<LinkFigure>> = LazyLock::new(|| {
    let link = |row, software, at| {
        let [r_max, n_half, t_zero] = numbers(row, at);
        LinkFigure { network: word(row, 0), software, r_max, n_half, t_zero }
    };
    let sockets = table("004", 1).iter().map(|row| link(row, "sockets", 1));
    sockets.chain(table("004", 3).iter().map(|row| link(row, word(row, 1), 2))).collect()
});

/// A line of Saphir's Table 1.
pub struct Buffered {
    /// Whose.
    pub system: &'static str,
    /// Microseconds.
    pub latency: f64,
    /// MB/s between nodes, nothing buffered.
    pub network: Option<f64>,
    /// MB/s of the copy.
    pub copy: Option<f64>,
    /// MB/s of buffered messages: computed from both, or measured.
    pub buffered: Option<f64>,
}

impl Buffered {
    /// Its asymptotic bandwidth, buffered where it is never otherwise.
    pub fn rate(&self) -> Option<f64> {
        self.network.or(self.buffered)
    }
}

/// Saphir, Table 1.
pub static BUFFERED: LazyLock<Vec<Buffered>> = LazyLock::new(|| {
    let line = |row: &'static Vec<Cell>| Buffered {
        system: word(row, 0),
        latency: numbers::<1>(row, 1)[0],
        network: row[2].number(),
        copy: row[3].number(),
        buffered: row[4].number(),
    };
    table("003", 1).iter().map(line).collect()
});

/// The lines of a paper's table. The files are part of this program, and a test reads each of these.
fn table(paper: &str, number: u32) -> &'static [Vec<Cell>] {
    let found = PAPERS.iter().find(|one| one.number == paper).and_then(|one| one.printed(number));
    &found.unwrap_or_else(|| panic!("paper {paper} prints a table {number}")).rows
}

fn word(row: &'static [Cell], column: usize) -> &'static str {
    row[column].word().unwrap_or_default()
}

/// So many numbers from this column on; where there is none, not a number.
fn numbers<const N: usize>(row: &[Cell], from: usize) -> [f64; N] {
    std::array::from_fn(|at| row[from + at].number().unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_tables_quoted_by_reports_exist() {
        assert_eq!((FFT_TIMES.len(), SPLITS.len(), SPEED_UPS.len()), (6, 6, 6));
        assert_eq!((NULL_ACTIVITIES.len(), COMPILERS.len(), LINKS.len(), BUFFERED.len()), (6, 2, 12, 11));
        assert!(FFT_TIMES.iter().all(|times| times.two.iter().chain(&times.four).all(|ms| *ms > 0.0)));
        assert!(SPLITS.iter().all(|split| split.small.iter().chain(&split.large).all(|ms| *ms > 0.0)));
        assert!(SPEED_UPS.iter().all(|speed_up| speed_up.on.iter().all(|times| *times > 1.0)));
        assert!(LINKS.iter().all(|link| link.r_max > 0.0 && link.n_half > 0.0 && link.t_zero > 0.0));
        assert!(BUFFERED.iter().all(|line| line.latency > 0.0 && line.rate().is_some()));
        assert!(COMPILERS.iter().flatten().all(|word| !word.is_empty()));
    }

    #[test]
    fn buffered_rates_are_the_harmonic_mean_of_both_steps() {
        for line in BUFFERED.iter() {
            let (Some(network), Some(copy), Some(buffered)) = (line.network, line.copy, line.buffered) else {
                continue;
            };
            let mean = network * copy / (network + copy);
            assert!((mean - buffered).abs() / buffered < 0.03, "{}: {mean}", line.system);
        }
    }

    #[test]
    fn table_4_adds_up() {
        for (at, whole) in NULL_ROUND_TRIPS.iter().enumerate() {
            let sum: f64 = NULL_ACTIVITIES.iter().map(|activity| activity.cost(at)).sum();
            assert_eq!(sum, *whole, "of the computer {at}");
        }
    }

    #[test]
    fn table_8_adds_up_to_table_7() {
        // The paper's own check: its split of one node sums to its time, within rounding.
        for (split, times) in SPLITS.iter().zip(FFT_TIMES.iter()) {
            assert_eq!(split.system, times.system);
            for (parts, whole) in [(split.small, times.four[0]), (split.large, times.four[3])] {
                let sum: f64 = parts.iter().sum();
                assert!((sum - whole).abs() / whole < 0.08, "{}: {sum} of {whole}", split.system);
            }
        }
    }
}
