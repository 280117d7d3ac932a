//! JSON for programs: each output fits its schema in docs/reference/json.

use super::{Folder, text};
use parvum_tests::running::{Running, await_tasks};
use parvum_tests::{TestMachine, eventually, stage};
use serde_json::{Value, json};

fn schema(name: &str) -> Value {
    let path = stage::project().join(format!("docs/reference/json/{name}.schema.json"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("a schema")).expect("JSON")
}

/// The parts of a value that break a schema. It knows the words of JSON Schema that our schemas use.
fn faults(at: &str, value: &Value, schema: &Value, out: &mut Vec<String>) {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type"),
    };
    match &schema["type"] {
        Value::String(name) if !is(name) => return out.push(format!("{at}: {value} is no {name}")),
        Value::Array(names) if !names.iter().any(|name| is(name.as_str().expect("a type"))) => {
            return out.push(format!("{at}: {value} is none of {names:?}"));
        }
        _ => {}
    }
    if let Some(choices) = schema["enum"].as_array()
        && !choices.contains(value)
    {
        out.push(format!("{at}: {value} is none of {choices:?}"));
    }
    if let Some(least) = schema["minimum"].as_f64()
        && value.as_f64().is_some_and(|value| value < least)
    {
        out.push(format!("{at}: {value} is below {least}"));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        assert_eq!(pattern, "^t[0-9a-f]+$", "the only pattern");
        let word = value.as_str().unwrap_or_default();
        let fits = word
            .strip_prefix('t')
            .is_some_and(|id| !id.is_empty() && id.chars().all(|c| "0123456789abcdef".contains(c)));
        if !fits {
            out.push(format!("{at}: {value} is no task id"));
        }
    }
    if let Some(all) = value.as_array() {
        for (number, one) in all.iter().enumerate() {
            faults(&format!("{at}[{number}]"), one, &schema["items"], out);
        }
    }
    if let Some(all) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !all.contains_key(name) {
                out.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, one) in all {
            let known = &schema["properties"][name];
            let rest = if known.is_null() { &schema["additionalProperties"] } else { known };
            // A name without a schema was added without a schema.
            match rest.is_null() && schema["properties"].is_object() {
                true => out.push(format!("{at}: the schema has no {name}")),
                false => faults(&format!("{at}.{name}"), one, rest, out),
            }
        }
    }
}

fn fits(name: &str, said: &str) -> Value {
    let value: Value = serde_json::from_str(said).unwrap_or_else(|why| panic!("{name}: {why}: {said}"));
    let mut out = Vec::new();
    faults(name, &value, &schema(name), &mut out);
    assert_eq!(out, Vec::<String>::new());
    value
}

#[test]
fn validator_refuses_what_does_not_fit() {
    let mut out = Vec::new();
    let task = json!([{ "tid": "x", "pid": "7", "state": "dancing" }]);
    faults("ps", &task, &schema("ps"), &mut out);
    for word in ["is no task id", "\"7\" is no integer", "\"dancing\" is none of", "rank is missing"] {
        assert!(out.iter().any(|line| line.contains(word)), "{word}: {out:?}");
    }
}

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
