//! `parvum trace --replay` and `parvum predict`: what a program did, played again on other hosts.

use parvum_tests::TestMachine;
use parvum_tests::recorded::traced;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Bench {
    machine: TestMachine,
    folder: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let machine = TestMachine::new();
        let folder = machine.dir.with_extension("replay");
        std::fs::create_dir_all(&folder).expect("a folder");
        Bench { machine, folder }
    }

    fn parvum(&self, words: &[&str]) -> Output {
        let mut command = Command::new(parvum_tests::parvum());
        self.machine.as_user(&mut command);
        command.current_dir(&self.folder).args(words).output().expect("it starts")
    }

    /// The words of a ring of 4 tasks and 25 rounds, recorded into a file.
    fn record(&self, file: &str, memory: &str, rounds: &str) -> Output {
        let program = traced();
        let program = program.to_str().expect("a plain path");
        self.parvum(&[
            "trace", "--replay", file, "--memory", memory, "-n", "1", "--", program, "ring", "4", rounds,
        ])
    }

    /// Costs of messages of `half` us and as much again for 10,000 bytes.
    fn costs(&self, half: u64) -> String {
        let line = |operation: &str, size: u64, ns: u64| {
            format!(
                "{{\"program\":\"loggp\",\"operation\":\"{operation}\",\"face\":\"mpi\",\"encoding\":\"default\",\"route\":\"default\",\
                 \"tasks\":2,\"size\":{size},\"hops\":1,\"cold_ns\":1,\"dropped\":0,\"verified\":true,\"samples_ns\":[{ns}]}}\n"
            )
        };
        let text: String = [8, 10_000]
            .into_iter()
            .flat_map(|size| {
                let whole = half * 1000 * (10_000 + size) / 10_000;
                [
                    line("half", size, whole),
                    line("send", size, 1000),
                    line("receive", size, 1000),
                    line("gap", size, 1000),
                ]
            })
            .collect();
        let file = self.folder.join(format!("costs-{half}"));
        std::fs::write(&file, text).expect("a file");
        file.display().to_string()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The seconds behind a word at the beginning of a line.
fn seconds(text: &str, word: &str) -> f64 {
    let line =
        text.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("no {word}: {text}"));
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[test]
fn ring_prediction_equals_cost_of_its_messages() {
    let bench = Bench::new();
    let recorded = bench.record("ring.replay", "4194304", "25");
    assert_eq!(recorded.status.code(), Some(3), "the program's own: {}", said(&recorded));
    assert!(
        said(&recorded).contains("103 messages") && said(&recorded).contains("of 4 tasks"),
        "{}",
        said(&recorded)
    );
    let text = std::fs::read_to_string(bench.folder.join("ring.replay")).expect("it was written");
    let count = |word: &str| text.lines().filter(|line| line.split(' ').nth(1) == Some(word)).count();
    assert_eq!((count("init"), count("send"), count("recv"), count("finalize")), (4, 103, 103, 4));
    // A hundred hops one after the other, and what is told to all.
    let of = |half: u64, options: &[&str]| {
        let costs = bench.costs(half);
        let words = [&["predict", "ring.replay", "--costs", &costs], options].concat();
        let output = bench.parvum(&words);
        assert!(output.status.success(), "{}", said(&output));
        seconds(&said(&output), "predicted")
    };
    let (quick, slow) = (of(100, &[]), of(100_000, &[]));
    assert!((9.5..12.0).contains(&(slow - quick)), "100 hops of 100 ms each: {quick} {slow}");
    assert!(of(100_000, &["--hosts", "2"]) > 9.5);
    assert!(of(100_000, &["--hosts", "1", "--within", &bench.costs(100)]) < 1.0 + quick);
}

#[test]
fn predict_refuses_invalid_input() {
    let bench = Bench::new();
    let small = bench.record("small.replay", "4096", "500");
    assert_ne!(small.status.code(), Some(0));
    assert!(said(&small).contains("E-REPLAY") && said(&small).contains("--memory"), "{}", said(&small));
    assert!(!bench.folder.join("small.replay").exists());
    let costs = bench.costs(10);
    std::fs::write(bench.folder.join("odd.replay"), "0 init\n0 dance\n").expect("a file");
    std::fs::write(bench.folder.join("one.replay"), "0 init\n").expect("a file");
    for (words, cause) in [
        (vec!["predict", "none.replay", "--costs", &costs], "E-REPLAY: cannot read none.replay"),
        (vec!["predict", "odd.replay", "--costs", &costs], "E-REPLAY: line 2: \"dance\" is none of"),
        (vec!["predict", "one.replay", "--costs", "odd.replay"], "E-REPLAY: "),
        (vec!["predict", "one.replay", "--costs", &costs, "--hosts", "2"], "E-USAGE: --hosts 2"),
        (
            vec!["predict", "--operation", "dance", "--tasks", "2", "--costs", &costs],
            "the operations are barrier",
        ),
        (
            vec!["predict", "--operation", "alltoall", "--tasks", "16000", "--costs", &costs],
            "too many messages",
        ),
        (vec!["predict", "--costs", &costs], "E-USAGE"),
        (vec!["trace", "--replay", "no/such/folder", "--", "/bin/true"], "could not write to no/such"),
    ] {
        let output = bench.parvum(&words);
        assert_ne!(output.status.code(), Some(0), "{words:?}");
        assert!(said(&output).contains(cause), "{words:?}: {}", said(&output));
    }
}

#[test]
fn predict_handles_ten_thousand_tasks() {
    let bench = Bench::new();
    let costs = bench.costs(100);
    let output = bench.parvum(&[
        "predict",
        "--operation",
        "barrier",
        "--tasks",
        "10000",
        "--bytes",
        "0",
        "--costs",
        &costs,
    ]);
    // 14 rounds, of 100 us each.
    let time = seconds(&said(&output), "predicted");
    assert!((0.0013..0.0016).contains(&time), "{}", said(&output));
}

#[test]
fn simgrid_replay_predicts_the_same() {
    if !Path::new("/usr/bin/smpirun").exists() {
        eprintln!(
            "skipped: simgrid_replay_predicts_the_same: SimGrid is not installed (apt-get install libsimgrid-dev)"
        );
        return;
    }
    let bench = Bench::new();
    let recorded = bench.record("ring.replay", "4194304", "25");
    assert_eq!(recorded.status.code(), Some(3), "{}", said(&recorded));
    let costs = bench.costs(10_000);
    for medium in [&[][..], &["--share-medium"]] {
        let output =
            bench.parvum(&[&["predict", "ring.replay", "--costs", &costs, "--simgrid"], medium].concat());
        let (ours, simgrid) = (seconds(&said(&output), "predicted"), seconds(&said(&output), "SimGrid"));
        assert!((ours / simgrid - 1.0).abs() < 0.1, "{}", said(&output));
    }
}
