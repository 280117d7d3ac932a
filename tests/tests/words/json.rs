//! JSON for programs: each output fits its schema in docs/reference/json.

use super::{Folder, text};
use parvum_tests::running::{Running, await_tasks};
use parvum_tests::schemas::fits;
use parvum_tests::{TestMachine, eventually};
use serde_json::{Value, json};

#[test]
fn outputs_of_a_machine_with_tasks_fit_their_schemas() {
    let machine = TestMachine::up();
    let mut job = machine.command(&["run", "-n", "2", "sleep", "600"]).spawn().expect("it runs");
    eventually("both tasks run", || machine.tasks().iter().filter(|row| row.name == "sleep").count() == 2);
    let said = |words: &[&str]| {
        let done = machine.run(words);
        assert!(done.status.success(), "{words:?}: {done:?}");
        text(&done.stdout)
    };
    let tasks = fits("ps", &said(&["ps", "--json"]));
    let sleeper =
        tasks.as_array().expect("tasks").iter().find(|task| task["name"] == "sleep").expect("it runs");
    assert_eq!(sleeper["state"], "started");
    let tid = sleeper["tid"].as_str().expect("a tid");
    fits("hosts", &said(&["hosts", "--json"]));
    fits("hosts-verbose", &said(&["hosts", "-v", "--json"]));
    fits("info", &said(&["info", "--json"]));
    fits("info-task", &said(&["info", tid, "--json"]));
    fits("top", &said(&["top", "-i", "0.1", "--json"]));
    let why = fits("why", &said(&["why", "--json"]));
    assert_eq!(why["deadlock"], false);
    assert!(why["tasks"].as_array().expect("tasks").iter().any(|task| task["tid"] == tid), "{why}");
    let one = fits("why", &said(&["why", tid, "--json"]));
    assert_eq!(one["tasks"].as_array().map(Vec::len), Some(1), "{one}");
    assert!(machine.run(&["down", "-q"]).status.success());
    let _ = job.wait();
}

#[test]
fn deadlock_is_a_finding_with_its_tasks() {
    let machine = TestMachine::up();
    let mut running = Running::start(machine.program("hang").args(["ring", "2"]));
    running.told("hangs");
    await_tasks(&machine, 2);
    let mut why = Value::Null;
    eventually("it is certain", || {
        let done = machine.run(&["why", "--json"]);
        why = fits("why", &text(&done.stdout));
        assert_eq!(why["deadlock"], done.status.code() == Some(3), "{why}");
        why["deadlock"] == true
    });
    let finding = &why["findings"][0];
    assert_eq!(
        (&finding["kind"], finding["tasks"].as_array().map(Vec::len)),
        (&json!("deadlock"), Some(2)),
        "{why}"
    );
    assert!(finding["text"].as_str().is_some_and(|text| text.starts_with("DEADLOCK: ")), "{why}");
    for task in why["tasks"].as_array().expect("tasks") {
        assert!(
            task["hangs"] == true && task["why"][0].as_str().is_some_and(|line| line.contains("tag 7")),
            "{task}"
        );
    }
    running.kill();
    assert!(machine.run(&["down", "-q"]).status.success());
}

#[test]
fn performance_of_tasks_names_peers_protocols_and_costs() {
    let machine = TestMachine::up();
    let folder = Folder::new("costs");
    let mut running = Running::start(machine.program("hang").args(["credit"]));
    running.told("hangs");
    await_tasks(&machine, 2);
    let ask = |words: &[&str]| {
        let words = [&["why", "--performance"], words].concat();
        machine.command(&words).env("XDG_CACHE_HOME", &folder.0).output().expect("it runs")
    };
    let (mut all, mut sender) = (Value::Null, Value::Null);
    eventually("long messages are on the way", || {
        let done = ask(&["--json"]);
        assert!(done.status.success(), "{done:?}");
        all = fits("why-performance", &text(&done.stdout));
        let tasks = all["tasks"].as_array().expect("tasks");
        let sends = |task: &&Value| task["peers"][0]["long"]["bytes"].as_u64().is_some_and(|bytes| bytes > 0);
        sender = tasks.iter().find(sends).cloned().unwrap_or_default();
        !sender.is_null()
    });
    let tid = sender["task"].as_str().expect("a tid");
    let peer = &sender["peers"][0];
    assert_eq!(peer["route"], "shm", "{all}");
    assert!(peer["long"]["messages"][0]["messages"].as_u64() > Some(0), "{all}");
    let done = ask(&[tid]);
    let said = text(&done.stdout);
    assert!(done.status.success() && said.starts_with(tid), "{said}");
    assert!(said.contains(" over shm: ") && said.contains(" of 8388 kB on average: "), "{said}");
    // The costs are measured once. One core is not enough for them.
    let files = || std::fs::read_dir(folder.0.join("parvum")).into_iter().flatten().flatten();
    match files().next() {
        Some(file) => {
            assert!(said.contains("Cost of one message on this host: this way "), "{said}");
            let written = |path| std::fs::metadata(path).and_then(|file| file.modified()).expect("a file");
            let before = written(file.path());
            ask(&[tid]);
            assert_eq!(written(file.path()), before);
            ask(&[tid, "--measure"]);
            assert_ne!(written(file.path()), before);
            assert_eq!(files().count(), 1, "no half written file stays");
        }
        None => assert!(text(&done.stderr).contains("the costs of this host are unknown: "), "{done:?}"),
    }
    let done = ask(&["t7fff"]);
    assert!(!done.status.success() && text(&done.stderr).contains("t7fff"), "{done:?}");
    assert!(!machine.run(&["why", "--measure"]).status.success(), "costs of what?");
    running.kill();
    assert!(machine.run(&["down", "-q"]).status.success());
}

#[test]
fn run_writes_how_each_task_ended() {
    let machine = TestMachine::up();
    let folder = Folder::new("ends");
    let file = folder.0.join("ends.json");
    let path = file.to_str().expect("a plain path");
    let script = "case $PARVUM_RANK in 0) exit 0;; 1) exit 3;; 2) kill -KILL $$;; esac";
    let words = ["run", "-n", "3", "--on-failure", "continue", "--json", path, "sh", "-c", script];
    let done = machine.run(&words);
    assert!(!done.status.success(), "{done:?}");
    let record = fits("run", &std::fs::read_to_string(&file).expect("it is written"));
    assert_eq!(record["exit_code"].as_i64(), done.status.code().map(i64::from));
    let mut tasks = record["tasks"].as_array().expect("tasks").clone();
    tasks.sort_by_key(|task| task["rank"].as_i64());
    let ends: Vec<_> = tasks
        .iter()
        .map(|task| (task["state"].clone(), task["code"].clone(), task["signal"].clone()))
        .collect();
    assert_eq!(
        ends,
        [
            (json!("ended"), json!(0), Value::Null),
            (json!("ended"), json!(3), Value::Null),
            (json!("killed"), Value::Null, json!("SIGKILL (9)")),
        ]
    );
    // A file that cannot be written is said before the job begins.
    let done = machine.run(&["run", "--json", "/no/such/folder/x.json", "sh", "-c", "echo began"]);
    let said = text(&done.stderr);
    assert!(!done.status.success() && done.stdout.is_empty(), "{done:?}");
    assert!(said.contains("E-SYSTEM") && said.contains("/no/such/folder/x.json"), "{said}");
}

#[test]
fn history_of_runs_fits_its_schema() {
    let machine = TestMachine::new();
    let folder = Folder::new("history");
    for number in 0..12 {
        let run = folder.0.join(number.to_string());
        std::fs::create_dir(&run).expect("made");
        let manifest = json!({
            "format": 1, "suite": "main", "extent": "quick", "systems": [],
            "factors": { "date": format!("2026-11-{:02} 10:00:00", number + 1), "processor": "Fast 9" },
        });
        let value = f64::from(number).mul_add(0.01, if number < 6 { 1.0 } else { 2.0 });
        let row = json!([{
            "program": "ring", "system": "Parvum", "route": "shm", "encoding": "raw", "tasks": 2, "size": 8,
            "metric": "half round trip", "unit": "us", "median": value, "low": value, "high": value, "samples": 8,
        }]);
        std::fs::write(run.join("manifest.json"), manifest.to_string()).expect("written");
        std::fs::write(run.join("summary.json"), row.to_string()).expect("written");
    }
    std::fs::write(folder.0.join("3/summary.json"), "[").expect("written");
    let path = folder.0.to_str().expect("a plain path");
    let done = machine.run(&["compare", "--history", path, "--json"]);
    assert!(done.status.success(), "{done:?}");
    let history = fits("history", &text(&done.stdout));
    assert_eq!(history["skipped"].as_array().map(Vec::len), Some(1), "{history}");
    let figure = &history["groups"][0]["figures"][0];
    // Run 3 cannot be read, so the seventh run is the sixth in the series.
    assert_eq!(
        (&figure["changes"][0]["run"], &figure["changes"][0]["worse"]),
        (&json!(5), &json!(true)),
        "{figure}"
    );
    let done = machine.run(&["compare", "--history", path]);
    assert!(done.status.success() && folder.0.join("history.html").is_file(), "{done:?}");
    let done = machine.run(&["compare", "--history", "/no/such/folder"]);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("E-COMPARE: /no/such/folder has no history"), "{said}");
}

#[test]
fn doctor_fits_its_schema() {
    let machine = TestMachine::new();
    let done = machine.run(&["doctor", "--json"]);
    let found = fits("doctor", &text(&done.stdout));
    assert_eq!(found["ok"], done.status.success());
    let checks: Vec<&str> = found["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter_map(|one| one["check"].as_str())
        .collect();
    for check in [
        "command",
        "libpvm3",
        "libmpi",
        "mpiexec",
        "python",
        "machine",
        "shm",
        "single-copy",
        "ptrace",
        "memlock",
        "nofile",
        "nproc",
        "cgroup",
        "hugepages",
    ] {
        assert_eq!(checks.iter().filter(|one| **one == check).count(), 1, "{check}: {checks:?}");
    }
}
