//! Jobs that outlive their shell: `parvum submit`, `jobs`, `logs`, `wait`, `cancel`.

use parvum_tests::{TestMachine, eventually, kill_hard};
use std::path::PathBuf;
use std::process::Output;

/// A machine, and a folder for its jobs that ends with the test.
struct Jobs {
    machine: TestMachine,
    state: PathBuf,
}

impl Jobs {
    fn new() -> Jobs {
        let machine = TestMachine::up();
        let state = machine.dir.with_extension("state");
        std::fs::create_dir_all(&state).expect("writable");
        Jobs { machine, state }
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = self.machine.command(words);
        command.env("XDG_STATE_HOME", &self.state).output().expect("it runs")
    }

    fn succeed(&self, words: &[&str]) -> String {
        let done = self.run(words);
        assert!(done.status.success(), "{words:?}: {done:?}");
        String::from_utf8(done.stdout).expect("text")
    }

    /// Submits a job; returns its number.
    fn submit(&self, words: &[&str]) -> String {
        self.succeed(&[&["submit"], words].concat()).trim().to_owned()
    }

    /// The error of a command that must fail.
    fn fail(&self, words: &[&str]) -> String {
        let done = self.run(words);
        assert!(!done.status.success(), "{words:?}: {done:?}");
        String::from_utf8(done.stderr).expect("text")
    }

    fn all(&self) -> Vec<serde_json::Value> {
        serde_json::from_str(&self.succeed(&["jobs", "--json"])).expect("JSON")
    }

    fn state(&self, job: &str) -> String {
        let number: u64 = job.parse().expect("a number");
        let all = self.all();
        let row = all.iter().find(|row| row["job"] == number).expect("it is listed");
        row["state"].as_str().expect("text").to_owned()
    }

    fn folder(&self, job: &str) -> PathBuf {
        self.state.join("parvum/jobs").join(job)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.state);
    }
}

#[test]
fn submitted_job_keeps_output_code_and_times() {
    let jobs = Jobs::new();
    assert_eq!(jobs.succeed(&["jobs"]).lines().count(), 1, "a heading and no job");
    let job = jobs.submit(&[
        "-n",
        "2",
        "sh",
        "-c",
        "echo out $PARVUM_RANK; echo err >&2; exit $((PARVUM_RANK * 3))",
    ]);
    assert_eq!(job, "1");
    let done = jobs.run(&["wait", &job]);
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    assert_eq!(jobs.state(&job), "failed");
    let said = jobs.succeed(&["logs", &job]);
    for line in ["out 0", "out 1", "err"] {
        assert!(said.lines().any(|it| it == line), "{line}: {said}");
    }
    let all = jobs.all();
    assert_eq!((all[0]["code"].as_i64(), all[0]["name"].as_str()), (Some(3), Some("sh")));
    assert!(all[0]["ended_unix_s"].as_f64() >= all[0]["started_unix_s"].as_f64());
    let tasks = std::fs::read_to_string(jobs.folder(&job).join("tasks.json")).expect("it is there");
    assert!(tasks.contains("\"exit_code\": 3"), "{tasks}");
    let good = jobs.submit(&["--name", "two", "true"]);
    assert_eq!((good.as_str(), jobs.run(&["wait", &good]).status.code()), ("2", Some(0)));
    assert_eq!(jobs.state(&good), "done");
    assert!(jobs.succeed(&["jobs"]).lines().any(|line| line.contains("two") && line.contains("done")));
    jobs.succeed(&["jobs", "--forget", &job]);
    assert!(jobs.fail(&["logs", &job]).contains("E-NOJOB"));
    // A number is not used again.
    assert_eq!(jobs.submit(&["true"]), "3");
    jobs.run(&["wait", "3"]);
}

#[test]
fn submitted_job_is_cancelled_and_followed() {
    let jobs = Jobs::new();
    let job = jobs.submit(&["-n", "2", "sh", "-c", "echo begun; exec sleep 1000"]);
    eventually("both tasks have begun", || jobs.succeed(&["logs", &job]) == "begun\nbegun\n");
    assert_eq!(jobs.state(&job), "running");
    assert!(jobs.fail(&["jobs", "--forget", &job]).contains("E-JOBRUNS"));
    // `parvum logs -f` ends with the job.
    let mut follow = jobs.machine.command(&["logs", "-f", &job]);
    let follow = follow.env("XDG_STATE_HOME", &jobs.state).stdout(std::process::Stdio::piped()).spawn();
    let follow = follow.expect("it runs");
    jobs.succeed(&["cancel", &job]);
    assert_eq!(jobs.state(&job), "cancelled");
    let said = follow.wait_with_output().expect("it ends");
    assert!(said.stdout.starts_with(b"begun\nbegun\n"), "{said:?}");
    parvum_tests::running::await_tasks(&jobs.machine, 0);
    assert!(jobs.fail(&["cancel", &job]).contains("E-JOBENDED"));
    assert!(!jobs.run(&["wait", &job]).status.success());
}

#[test]
fn job_without_keeper_is_lost_and_its_tasks_end() {
    let jobs = Jobs::new();
    let job = jobs.submit(&["sh", "-c", "echo begun; exec sleep 1000"]);
    eventually("its task has begun", || jobs.succeed(&["logs", &job]) == "begun\n");
    let own = |word: &str| {
        let all = std::fs::read_dir("/proc").expect("readable").filter_map(Result::ok);
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_own = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let state = jobs.state.to_str().expect("plain").as_bytes();
            let has = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).any(|it| it == what);
            has(&line, word.as_bytes()) && has(&environ, state)
        };
        pids.filter(is_own).collect::<Vec<_>>()
    };
    let keepers = own("keep-job");
    assert_eq!(keepers.len(), 1, "{keepers:?}");
    kill_hard(keepers[0]);
    eventually("it counts as lost", || jobs.state(&job) == "lost");
    assert!(jobs.fail(&["wait", &job]).contains("E-JOBLOST"));
    assert_eq!(jobs.succeed(&["logs", &job]), "begun\n");
    parvum_tests::running::await_tasks(&jobs.machine, 0);
}

#[test]
fn wrong_jobs_are_refused_before_they_start() {
    let jobs = Jobs::new();
    for (line, code) in
        [(&["-n", "0", "true"][..], "E-USAGE"), (&["--nosuch", "true"], "E-USAGE"), (&["-n", "2"], "E-USAGE")]
    {
        let said = jobs.fail(&[&["submit"], line].concat());
        assert!(said.contains(code), "{line:?}: {said}");
    }
    assert!(jobs.all().is_empty(), "nothing is kept of them");
    // Errors of the start are in the job's output.
    let job = jobs.submit(&["no-such-program"]);
    assert_eq!(jobs.run(&["wait", &job]).status.code(), Some(127));
    assert!(jobs.succeed(&["logs", &job]).contains("E-NOPROGRAM"));
    for words in [&["wait", "99"][..], &["logs", "99"], &["cancel", "99"], &["jobs", "--forget", "99"]] {
        assert!(jobs.fail(words).contains("E-NOJOB"), "{words:?}");
    }
    // A folder that cannot be made.
    let mut command = jobs.machine.command(&["submit", "true"]);
    let done = command.env("XDG_STATE_HOME", "/proc/none").output().expect("it runs");
    assert!(!done.status.success() && String::from_utf8_lossy(&done.stderr).contains("E-DIR"), "{done:?}");
}
