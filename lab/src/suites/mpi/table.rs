//! The MPI suite in a terminal.

use super::{HALVES_TASKS, JOB_TASKS, SYSTEMS, VECTOR_SIZE};
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::summary::Rows;
use std::fmt::Write;

/// What each line shows: heading, program, metric, processes, size.
const LINES: [(&str, &str, &str, u32, u64); 21] = [
    ("8 B, one hop, us", "ring", "half round trip", 2, 8),
    ("8 B, windows of 64, M/s", "rate", "message rate", 2, 8),
    ("8 B, blocking, M/s", "rate-blocking", "message rate", 2, 8),
    ("8 B, one thread, M/s", "threads", "message rate, one thread", 2, 8),
    ("8 B, four threads, M/s", "threads", "message rate, four threads", 2, 8),
    ("64 KiB, GB/s", "ring", "bandwidth", 2, 65536),
    ("1 MiB, GB/s", "ring", "bandwidth", 2, 1 << 20),
    ("every second double, GB/s", "vector", "bandwidth, every second", 2, VECTOR_SIZE),
    ("every sixteenth, GB/s", "vector", "bandwidth, every sixteenth", 2, VECTOR_SIZE),
    ("put 8 B, us", "window", "put", 2, 8),
    ("get 8 B, us", "window", "get", 2, 8),
    ("fetch and add, us", "window", "fetch", 2, 8),
    ("put 1 MiB, us", "window", "put", 2, 1 << 20),
    ("8 B on one core, us", "ring-one-core", "half round trip", 2, 8),
    ("blocked for 3 s, CPU %", "blocked", "processor", 2, 0),
    ("blocked by halves, x work", "halves", "time over the work", HALVES_TASKS, 0),
    ("start and end of 2, ms", "job", "start and end", JOB_TASKS[0], 0),
    ("start and end of 16, ms", "job", "start and end", JOB_TASKS[1], 0),
    ("start and end of 64, ms", "job", "start and end", JOB_TASKS[2], 0),
    ("2 from cold, ms", "job, cold", "start and end", JOB_TASKS[0], 0),
    ("allreduce 8 B of 16, us", "group", "allreduce", 16, 8),
];

/// One column for each system.
pub fn render(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from("Two processes, where no other number stands. Median of launches.\n");
    let _ = write!(text, "{:<26}", "");
    for system in SYSTEMS {
        let _ = write!(text, " {:>12}", system.family.name());
    }
    text.push('\n');
    for (heading, program, metric, tasks, size) in LINES {
        let _ = write!(text, "{heading:<26}");
        for system in SYSTEMS {
            let row = rows.find(program, &system, metric, tasks, size);
            let _ = write!(text, " {:>12}", row.map_or("-".to_owned(), |row| digits(row.median)));
        }
        text.push('\n');
    }
    text
}
