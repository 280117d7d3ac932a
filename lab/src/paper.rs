//! The figures of the papers behind Parvum, to be printed beside ours, each with its source.

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
pub const FFT_TIMES: [FftTimes; 6] = [
    FftTimes {
        system: "Choices on SPARCstation II",
        two: [22.0, 36.0, 56.0, 116.0],
        four: [18.0, 31.0, 38.0, 72.01],
    },
    FftTimes {
        system: "PVM on SPARCstation II",
        two: [27.0, 39.0, 78.0, 174.0],
        four: [27.0, 37.0, 59.0, 114.0],
    },
    FftTimes {
        system: "Choices on Encore Multimax",
        two: [300.0, 480.0, 1061.0, 2485.0],
        four: [120.0, 266.0, 611.0, 1223.0],
    },
    FftTimes {
        system: "Choices on iPSC/2",
        two: [148.0, 328.0, 738.0, 1655.0],
        four: [80.0, 169.0, 370.0, 819.0],
    },
    FftTimes { system: "NX/2 on iPSC/2", two: [40.0, 90.0, 227.0, 490.0], four: [23.0, 48.0, 103.0, 225.0] },
    FftTimes { system: "VirtualChoices", two: [25.0, 39.0, 110.0, 195.0], four: [45.0, 49.0, 100.0, 150.0] },
];

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
pub const SPLITS: [Split; 6] = [
    Split { system: "Choices on SPARCstation II", small: [6.9, 4.6, 6.5], large: [8.6, 13.0, 50.4] },
    Split { system: "PVM on SPARCstation II", small: [2.2, 16.0, 7.8], large: [26.0, 24.0, 64.0] },
    Split { system: "Choices on Encore Multimax", small: [29.0, 3.0, 87.6], large: [60.0, 7.2, 1155.7] },
    Split { system: "Choices on iPSC/2", small: [5.8, 4.6, 69.6], large: [22.0, 6.6, 790.3] },
    Split { system: "NX/2 on iPSC/2", small: [3.2, 3.0, 16.7], large: [5.7, 4.4, 214.9] },
    Split { system: "VirtualChoices", small: [12.4, 26.6, 8.0], large: [38.0, 42.0, 80.0] },
];

/// Speed-up at 512 points on 2 and 4 processors.
pub struct SpeedUp {
    /// Whose.
    pub system: &'static str,
    /// On 2 and on 4.
    pub on: [f64; 2],
}

/// Islam et al., Table 9.
pub const SPEED_UPS: [SpeedUp; 6] = [
    SpeedUp { system: "Choices on SPARCstation II", on: [1.42, 2.2] },
    SpeedUp { system: "PVM on SPARCstation II", on: [1.2, 1.58] },
    SpeedUp { system: "Choices on Encore Multimax", on: [1.89, 3.3] },
    SpeedUp { system: "Choices on iPSC/2", on: [1.81, 3.56] },
    SpeedUp { system: "NX/2 on iPSC/2", on: [1.84, 3.77] },
    SpeedUp { system: "VirtualChoices", on: [1.11, 1.22] },
];

/// Null round trips in microseconds (Islam et al., Table 4).
pub const NULL_ROUND_TRIPS: [(&str, f64); 3] = [
    ("Choices on Encore Multimax", 640.0),
    ("Choices on iPSC/2", 2170.0),
    ("Choices on SPARCstation II", 1800.0),
];

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

/// Islam et al., Table 4.
pub const NULL_ACTIVITIES: [Activity; 6] = [
    Activity { name: "proxy call", count: [4.0; 3], once: [72.0, 127.0, 61.0] },
    Activity { name: "end point look-up", count: [4.0; 3], once: [30.0, 25.0, 23.0] },
    Activity { name: "virtual function call", count: [12.0, 20.0, 28.0], once: [6.0, 4.0, 2.0] },
    Activity { name: "network interrupt handler", count: [0.0, 4.0, 4.0], once: [0.0, 170.0, 103.0] },
    Activity { name: "network transmission", count: [0.0, 2.0, 2.0], once: [0.0, 25.0, 48.0] },
    Activity { name: "protocol processing", count: [1.0; 3], once: [160.0, 752.0, 900.0] },
];

/// What a compiler did to the paper's operations, as multiples of what cc did.
pub struct Compiler {
    /// Which.
    pub name: &'static str,
    /// From and to, on the SPARCstation II.
    pub sparc: [f64; 2],
    /// From and to, on the iPSC/2.
    pub ipsc: [f64; 2],
}

/// Islam et al., Table 5.
pub const COMPILERS: [Compiler; 2] = [
    Compiler { name: "gcc", sparc: [1.03, 1.12], ipsc: [1.5, 2.0] },
    Compiler { name: "g++", sparc: [1.03, 1.12], ipsc: [1.5, 2.0] },
];

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

const fn link(
    network: &'static str,
    software: &'static str,
    r_max: f64,
    n_half: f64,
    t_zero: f64,
) -> LinkFigure {
    LinkFigure { network, software, r_max, n_half, t_zero }
}

/// Fatoohi, Tables 1 and 3.
pub const LINKS: [LinkFigure; 12] = [
    link("Ethernet", "sockets", 1.0, 29.0, 550.0),
    link("FDDI", "sockets", 8.4, 407.0, 561.0),
    link("HiPPI", "sockets", 77.6, 6791.0, 593.0),
    link("ATM", "sockets", 10.4, 1248.0, 455.0),
    link("Fibre Channel", "sockets", 6.0, 3294.0, 850.0),
    link("Ethernet", "PVM", 1.0, 848.0, 833.0),
    link("FDDI", "PVM", 3.1, 5585.0, 1000.0),
    link("HiPPI", "PVM", 3.1, 6237.0, 1667.0),
    link("ATM", "PVM", 3.2, 3550.0, 780.0),
    link("Fibre Channel", "PVM", 2.5, 33369.0, 1231.0),
    link("Allnode switch", "PVMe", 6.2, 3204.0, 97.0),
    link("IBM SP2", "PVMe", 27.6, 3546.0, 63.0),
];

/// Latency in microseconds and bandwidth in MB/s on parallel computers (Saphir, Table 1).
pub const COMPUTERS: [(&str, f64, f64); 6] = [
    ("Paragon OSF, NX", 92.0, 35.0),
    ("Paragon OSF, PVM 3.2", 387.0, 2.0),
    ("iPSC/860, NX", 72.0, 2.8),
    ("CM-5, CMMD", 80.0, 8.7),
    ("CM-5, PVM", 573.0, 3.2),
    ("CM-5, MPI", 405.0, 2.6),
];

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

const fn buffered(
    system: &'static str,
    latency: f64,
    network: Option<f64>,
    copy: Option<f64>,
    buffered: Option<f64>,
) -> Buffered {
    Buffered { system, latency, network, copy, buffered }
}

/// Saphir, Table 1.
pub const BUFFERED: [Buffered; 11] = [
    buffered("Paragon OSF, NX", 92.0, Some(35.0), Some(4.8), Some(4.2)),
    buffered("Paragon OSF, NX, fast bcopy", 94.0, Some(35.0), Some(69.0), Some(23.0)),
    buffered("Paragon SUNMOS, NX", 63.0, Some(167.0), Some(19.0), Some(17.0)),
    buffered("Paragon, PVM 3.2", 387.0, None, None, Some(2.0)),
    buffered("Paragon, PVM 3.2, fast bcopy", 388.0, None, None, Some(7.8)),
    buffered("Paragon, MPI", 342.0, None, None, Some(2.2)),
    buffered("Paragon, MPI, fast bcopy", 343.0, None, None, Some(7.7)),
    buffered("iPSC/860, NX", 72.0, Some(2.8), Some(19.0), Some(2.4)),
    buffered("CM-5, CMMD", 80.0, Some(8.7), Some(9.0), Some(4.4)),
    buffered("CM-5, PVM", 573.0, None, None, Some(3.2)),
    buffered("CM-5, MPI", 405.0, None, None, Some(2.6)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffered_rates_are_the_harmonic_mean_of_both_steps() {
        for line in &BUFFERED {
            let (Some(network), Some(copy), Some(buffered)) = (line.network, line.copy, line.buffered) else {
                continue;
            };
            let mean = network * copy / (network + copy);
            assert!((mean - buffered).abs() / buffered < 0.03, "{}: {mean}", line.system);
        }
    }

    #[test]
    fn table_4_adds_up() {
        for (at, (system, whole)) in NULL_ROUND_TRIPS.iter().enumerate() {
            let sum: f64 = NULL_ACTIVITIES.iter().map(|activity| activity.cost(at)).sum();
            assert_eq!(sum, *whole, "{system}");
        }
    }

    #[test]
    fn table_8_adds_up_to_table_7() {
        // The paper's own check: its split of one node sums to its time, within rounding.
        for (split, times) in SPLITS.iter().zip(&FFT_TIMES) {
            assert_eq!(split.system, times.system);
            for (parts, whole) in [(split.small, times.four[0]), (split.large, times.four[3])] {
                let sum: f64 = parts.iter().sum();
                assert!((sum - whole).abs() / whole < 0.08, "{}: {sum} of {whole}", split.system);
            }
        }
    }
}
