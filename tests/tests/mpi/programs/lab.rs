//! The laboratory's programs over MPI: pairs, slow messages, guidelines, arrival. Each writes what the laboratory reads, and refuses wrong
//! arguments. Nothing here judges a time.

use crate::programs::launch::mpiexec;
use parvum_lab::host::cores::physical;
use parvum_lab::stats::histogram::total;
use parvum_lab::stats::samples::{Line, parse_line};
use parvum_tests::TestMachine;
use parvum_tests::stage::{compiler, project, stage};
use std::path::PathBuf;
use std::process::Output;

/// A compiled program, gone with this.
struct Program(PathBuf);

impl Program {
    fn of(name: &str, sources: &[&str], defines: &[&str]) -> Program {
        let file = std::env::temp_dir().join(format!("parvum-lab-{name}-{}", std::process::id()));
        let wrapper = stage().bin.join("mpicc");
        let mut cc = compiler(wrapper.to_str().expect("a plain path"));
        cc.args(["-O2", "-std=c11", "-Wall", "-Wextra", "-Werror"]).args(defines).arg("-o").arg(&file);
        let common = ["common/bench.c", "teams/team_mpi.c"];
        cc.args(sources.iter().chain(&common).map(|source| project().join("apps").join(source)));
        let done = cc.arg("-lm").output().expect("a C compiler runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Program(file)
    }

    fn run(&self, machine: &TestMachine, tasks: &str, words: &[&str]) -> Output {
        let program = self.0.to_str().expect("a plain path");
        let all = [&["-n", tasks, program, "--tasks", tasks][..], words].concat();
        mpiexec(machine, &all).output().expect("mpiexec runs")
    }

    /// The lines that a good run writes.
    fn lines(&self, machine: &TestMachine, tasks: &str, words: &[&str]) -> Vec<Line> {
        let done = self.run(machine, tasks, words);
        assert!(done.status.success(), "{words:?}: {done:?}");
        let text = String::from_utf8_lossy(&done.stdout);
        text.lines().map(|line| parse_line(line).unwrap_or_else(|why| panic!("{why}: {line}"))).collect()
    }

    fn is_refused(&self, machine: &TestMachine, tasks: &str, words: &[&str], reason: &str) {
        let done = self.run(machine, tasks, words);
        let why = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && why.contains(reason), "{words:?}: {why}");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const SHORT: [&str; 6] = ["--time-ms", "1", "--least", "2", "--most", "6"];

#[test]
fn pairs_count_messages_of_all_pairs() {
    let machine = TestMachine::up();
    let sources = ["rate/pairs.c", "rate/rate_mpi.c", "rate/rate_windows_mpi.c", "common/series.c"];
    let pairs = Program::of("pairs", &sources, &[]);
    for (tasks, far, hops) in [("2", "near", [1024, 16]), ("4", "near", [2048, 32]), ("4", "far", [2048, 32])]
    {
        let words = [&SHORT[..], &["--sizes", "8,1048576", "--operations", far]].concat();
        let lines = pairs.lines(&machine, tasks, &words);
        let found: Vec<_> = lines.iter().map(|line| (line.size, line.hops)).collect();
        assert_eq!(found, [(8, Some(hops[0])), (1 << 20, Some(hops[1]))], "{tasks} {far}");
    }
    let near = ["--sizes", "8", "--operations", "near"];
    pairs.is_refused(&machine, "3", &near, "needs an even number of tasks, not 3");
    pairs.is_refused(&machine, "2", &["--sizes", "8"], "--operations is near");
    pairs.is_refused(
        &machine,
        "2",
        &["--sizes", "0", "--operations", "near"],
        "multiples of 8 bytes, and not 0",
    );
}

#[test]
fn tail_counts_every_message_quiet_and_under_load() {
    let machine = TestMachine::up();
    let sources = ["tail/tail.c", "ring/ring_mpi.c", "common/histogram.c"];
    let loaded = [&sources[..], &["tail/load_mpi.c"]].concat();
    let words = ["--sizes", "8,64", "--time-ms", "0", "--least", "300", "--most", "300"];
    for program in [Program::of("tail", &sources, &[]), Program::of("tail-load", &loaded, &["-DTAIL_LOAD"])] {
        let lines = program.lines(&machine, "2", &words);
        let found: Vec<_> = lines.iter().map(|line| (line.size, total(&line.histogram))).collect();
        assert_eq!(found, [(8, 300), (64, 300)]);
        program.is_refused(&machine, "3", &words, "needs exactly 2 tasks, not 3");
        program.is_refused(&machine, "2", &["--sizes", "4"], "multiples of 8 bytes, and not 0");
    }
}

#[test]
fn guidelines_have_equal_results_and_a_mock_up_beside_each_sample() {
    let machine = TestMachine::up();
    let guidelines = Program::of("guidelines", &["guidelines/guidelines_mpi.c", "guidelines/list.c"], &[]);
    // 40 bytes are five doubles, which three processes cannot share evenly.
    for tasks in ["2", "3"] {
        let lines = guidelines.lines(&machine, tasks, &[&SHORT[..], &["--sizes", "8,40"]].concat());
        let names = |size| {
            let of = lines.iter().filter(move |line| line.size == size);
            of.filter_map(|line| line.guideline.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(0), ["barrier <= allreduce"]);
        assert_eq!((names(8).len(), names(8)), (20, names(40)));
        assert!(names(40).contains(&"allreduce <= reduce + bcast".to_owned()));
    }
    guidelines.is_refused(&machine, "1", &["--sizes", "8"], "needs at least 2 tasks");
    guidelines.is_refused(&machine, "2", &[], "needs --sizes");
    guidelines.is_refused(&machine, "2", &["--sizes", "12"], "multiples of 8 bytes, and not 0");
}

#[test]
fn arrival_has_each_pattern_by_either_clock() {
    let machine = TestMachine::up();
    let arrival = Program::of("arrival", &["arrival/arrival_mpi.c", "arrival/clocks.c"], &[]);
    // Two processes on one core cannot enter together: while one waits for its moment, the other does not run.
    let cores = physical(2);
    let list = cores.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    if cores.len() < 2 {
        let words = ["--time-ms", "1", "--sizes", "8", "--cpus", &list];
        arrival.is_refused(&machine, "2", &words, "one of 2 processes entered late each time");
        return;
    }
    for clock in ["shared", "estimated"] {
        let words = [
            "--time-ms",
            "100",
            "--least",
            "1",
            "--most",
            "3",
            "--sizes",
            "8",
            "--clock",
            clock,
            "--cpus",
            &list,
        ];
        let lines = arrival.lines(&machine, "2", &words);
        assert_eq!(lines.len(), 6 * 4, "six collectives, four patterns");
        for line in &lines {
            let form = line.form.expect("a pattern").name();
            assert_eq!(line.skew_ns.is_some_and(|skew| skew >= 5000), form != "together", "{line:?}");
            assert_eq!(line.clock_error_ns.is_some_and(|error| error > 0), clock == "estimated", "{line:?}");
        }
    }
    arrival.is_refused(
        &machine,
        "2",
        &["--sizes", "8", "--clock", "sun"],
        "--clock is shared or estimated, not sun",
    );
    arrival.is_refused(&machine, "1", &["--sizes", "8"], "needs at least 2 tasks");
}
