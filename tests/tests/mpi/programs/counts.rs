//! The cost of a message in instructions and system calls must not rise unnoticed. Counts do not move with the load of the machine,
//! so a test can judge them. `tests/counts.txt` has the counts, and `git log tests/counts.txt` their history.

use super::compared::Place;
use parvum_tests::schemas::fits;
use parvum_tests::stage::project;
use parvum_tests::{Lack, skip};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// The compiler that made the counts.
const COMPILER: &str = "rustc 1.95.0";
/// Counts of one compiler agree, so a small rise is a change of the sources. Other compilers may need more instructions.
const SLACK: [f64; 2] = [1.02, 1.5];

/// The factor by which counts may be larger here.
fn slack() -> f64 {
    let said = Command::new("rustc").arg("--version").output().map(|done| done.stdout).unwrap_or_default();
    if said.starts_with(COMPILER.as_bytes()) { SLACK[0] } else { SLACK[1] }
}

/// A line of the file: a system, an end of the message, bytes, instructions.
struct Count {
    system: String,
    end: String,
    size: u64,
    instructions: f64,
}

fn recorded() -> Vec<Count> {
    let text = fs::read_to_string(project().join("tests/counts.txt")).expect("tests/counts.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let count = |line: &str| {
        let words: Vec<&str> = line.split('\t').collect();
        let [system, end, size, instructions] = words[..] else { panic!("four columns, not {line:?}") };
        Count {
            system: system.to_owned(),
            end: end.to_owned(),
            size: size.parse().expect("bytes"),
            instructions: instructions.parse().expect("instructions"),
        }
    };
    lines.map(count).collect()
}

fn median(rows: &Value, system: &str, metric: &str, size: u64) -> Option<f64> {
    let is_it = |row: &&Value| row["system"] == system && row["metric"] == metric && row["size"] == size;
    rows.as_array().expect("rows").iter().find(is_it)?["median"].as_f64()
}

#[test]
fn message_needs_no_more_instructions_than_recorded_and_no_system_call() {
    let place = Place::new("counts");
    let words = ["--json", "--suite", "counts", "--systems", "engine,mpi,nx,parvum", "--budget", "30"];
    let done = place.compare(&words).output().expect("it runs");
    let (said, complaints) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if complaints.contains("the kernel refuses to count instructions") {
        return skip(Lack::Host, "the kernel refuses ptrace");
    }
    assert!(done.status.success(), "{said}{complaints}");
    let rows = fits("compare", &said);
    let slack = slack();
    let (mut rises, mut found, mut lacks_mpich) = (Vec::new(), Vec::new(), false);
    for count in recorded() {
        let metric = format!("instructions to {}", count.end);
        let Some(now) = median(&rows, &count.system, &metric, count.size) else {
            // Programs of MPI are compiled by MPICH, because Parvum runs them unchanged.
            assert_eq!(count.system, "Parvum MPI", "{said}{complaints}");
            lacks_mpich = true;
            continue;
        };
        let (system, end, size) = (&count.system, &count.end, count.size);
        found.push(format!("{system}\t{end}\t{size}\t{now}"));
        if now > slack * count.instructions {
            rises.push(format!("{system}, {end} of {size} B: {now}, recorded {}", count.instructions));
        }
        assert_eq!(median(&rows, system, &format!("system calls to {end}"), size), Some(0.0), "{system}");
    }
    assert!(rises.is_empty(), "{}\nfound:\n{}", rises.join("\n"), found.join("\n"));
    if lacks_mpich {
        skip(Lack::Peers, "MPICH is not installed");
    }
}
