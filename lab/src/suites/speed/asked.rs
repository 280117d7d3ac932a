//! What is asked: the table of the speed goals, row by row, as data.

use super::{CALLS, ENGINE, GROUP_SIZES, GROUP_TASKS, NX};
use crate::systems::system::System;

/// One row.
#[derive(Debug)]
pub struct Requirement {
    /// What is measured, with its unit; short enough for a terminal.
    pub what: &'static str,
    /// The program of its rows.
    pub program: &'static str,
    /// Their metric.
    pub metric: &'static str,
    /// At which numbers of tasks.
    pub tasks: &'static [u32],
    /// At which sizes.
    pub sizes: &'static [u64],
    /// Large values win.
    pub large_wins: bool,
    /// By whose calls it is to be reached.
    pub faces: &'static [System],
    /// What must hold, at every number of tasks and size.
    pub bars: &'static [Bar],
    /// The same in words.
    pub goal: &'static str,
    /// What the machine does without a library: a floor, and its metric.
    pub floor: Option<(&'static str, &'static str)>,
}

/// One condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bar {
    /// At most so much.
    AtMost(f64),
    /// So many times the best peer's: at most that, or at least, as small or large values win.
    BestPeer(f64),
    /// The same, where the peers are allowed what is refused us: against their rows of this program.
    BestPeerIn(&'static str, f64),
    /// So many times better than PVM itself.
    BetterThanPvm(f64),
    /// At most so many times the floor.
    Floor(f64),
    /// At most so many times what the engine's own calls take.
    Engine(f64),
    /// Better than the best peer, and a test says so.
    Ahead,
}

const BOTH: &[System] = &[CALLS, ENGINE];
const GROUPED: &[System] = &[CALLS, NX];
const MIDDLE: &[u64] = &[4096, 8192, 16384, 32768, 65536];
const LONG: &[u64] = &[1 << 20, 4 << 20];

const ROW: Requirement = Requirement {
    what: "",
    program: "ring",
    metric: "half round trip",
    tasks: &[2],
    sizes: &[8],
    large_wins: false,
    faces: BOTH,
    bars: &[],
    goal: "",
    floor: None,
};

const BARRIER: Requirement =
    Requirement { program: "group", metric: "barrier", sizes: &[0], faces: GROUPED, ..ROW };
const GROUP: Requirement = Requirement {
    program: "group",
    tasks: &GROUP_TASKS,
    sizes: &GROUP_SIZES,
    faces: GROUPED,
    bars: &[Bar::Ahead],
    goal: "ahead",
    ..ROW
};

/// Every row.
pub static ASKED: [Requirement; 21] = [
    Requirement {
        what: "8 B, engine, us",
        faces: &[ENGINE],
        bars: &[Bar::BestPeer(1.15), Bar::Floor(1.3)],
        goal: "1.15 peer, 1.3 flag",
        floor: Some(("shared flag", "time")),
        ..ROW
    },
    Requirement {
        what: "8 B, PVM calls, us",
        faces: &[CALLS],
        bars: &[Bar::Engine(1.6), Bar::BetterThanPvm(20.0)],
        goal: "1.6 engine, 20x PVM",
        floor: Some(("shared flag", "time")),
        ..ROW
    },
    Requirement {
        what: "8 B messages, M/s",
        program: "rate",
        metric: "message rate",
        large_wins: true,
        faces: &[ENGINE],
        bars: &[Bar::BestPeer(1.3)],
        goal: "1.3x peer",
        ..ROW
    },
    Requirement {
        what: "PVM calls, M/s",
        program: "rate",
        metric: "message rate",
        large_wins: true,
        faces: &[CALLS],
        bars: &[Bar::Ahead],
        goal: "ahead",
        ..ROW
    },
    Requirement {
        what: "by 1,024, M/s",
        program: "rate-1024",
        metric: "message rate",
        large_wins: true,
        faces: &[ENGINE],
        bars: &[Bar::BestPeer(1.3)],
        goal: "1.3x peer",
        ..ROW
    },
    Requirement {
        what: "PVM, by 1,024, M/s",
        program: "rate-1024",
        metric: "message rate",
        large_wins: true,
        faces: &[CALLS],
        bars: &[Bar::Ahead],
        goal: "ahead",
        ..ROW
    },
    Requirement {
        what: "4 to 64 KiB, GB/s",
        metric: "bandwidth",
        sizes: MIDDLE,
        large_wins: true,
        bars: &[Bar::Ahead],
        goal: "ahead",
        floor: Some(("copy between cores", "bandwidth")),
        ..ROW
    },
    Requirement {
        what: "1 and 4 MiB, GB/s",
        metric: "bandwidth",
        sizes: LONG,
        large_wins: true,
        bars: &[Bar::Ahead],
        goal: "ahead",
        floor: Some(("copy between cores", "bandwidth")),
        ..ROW
    },
    Requirement {
        what: "the same, refused",
        program: "ring-refused",
        metric: "bandwidth",
        sizes: LONG,
        large_wins: true,
        bars: &[Bar::BestPeerIn("ring", 0.8)],
        goal: "0.8x peer with it",
        floor: Some(("copy between cores", "bandwidth")),
        ..ROW
    },
    Requirement {
        what: "8 B, one core, us",
        program: "ring-one-core",
        bars: &[Bar::Floor(1.2)],
        goal: "1.2 floor",
        floor: Some(("one-core hand-over", "time")),
        ..ROW
    },
    Requirement { what: "barrier of 8, us", tasks: &[8], bars: &[Bar::AtMost(12.0)], goal: "12", ..BARRIER },
    Requirement {
        what: "barrier of 32, us",
        tasks: &[32],
        bars: &[Bar::AtMost(50.0)],
        goal: "50",
        ..BARRIER
    },
    Requirement {
        what: "CPU in 3 s wait, s",
        program: "blocked",
        metric: "processor time",
        sizes: &[0],
        bars: &[Bar::AtMost(0.03)],
        goal: "0.03",
        ..ROW
    },
    Requirement {
        what: "job of 2 tasks, ms",
        program: "job",
        metric: "start and end",
        sizes: &[0],
        bars: &[Bar::AtMost(15.0)],
        goal: "15",
        ..ROW
    },
    Requirement {
        what: "spawn of 16, ms",
        program: "spawn",
        metric: "to first messages",
        tasks: &[16],
        sizes: &[0],
        faces: &[CALLS],
        bars: &[Bar::AtMost(20.0)],
        goal: "20",
        ..ROW
    },
    Requirement { what: "broadcast, us", metric: "broadcast", ..GROUP },
    Requirement { what: "reduce, us", metric: "reduce", faces: &[CALLS], ..GROUP },
    Requirement { what: "gather, us", metric: "gather", faces: &[CALLS], ..GROUP },
    Requirement { what: "reduce to all, us", metric: "allreduce", faces: &[NX], ..GROUP },
    Requirement { what: "gather to all, us", metric: "allgather", faces: &[NX], ..GROUP },
    Requirement { what: "all to all, us", metric: "alltoall", ..GROUP },
];
