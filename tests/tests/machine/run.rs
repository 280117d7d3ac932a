//! `parvum run` beside the mpiexec of others: options, input, failures, limits, where output goes.

use parvum_tests::{TestMachine, alive, eventually, gone};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The lines that were written, in an order that does not hang on which task was first.
fn lines(ended: &Output) -> Vec<String> {
    let mut lines: Vec<String> = text(&ended.stdout).lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// A shell that calls the command as `$PARVUM`.
fn shell(machine: &TestMachine, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("PARVUM", parvum_tests::parvum()).env("PARVUM_DIR", &machine.dir);
    command
        .env_remove("PARVUM_TID")
        .env_remove("PARVUM_TICKET")
        .stdin(Stdio::null())
        .output()
        .expect("a shell runs")
}

#[test]
fn unknown_options_are_refused_and_mpi_spellings_accepted() {
    let machine = TestMachine::new();
    for words in [&["--nq", "4", "echo"][..], &["--oversubscribe", "echo"], &["-zz", "echo"]] {
        let ended = machine.run(&[&["run"], words].concat());
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        assert!(text(&ended.stderr).starts_with("parvum: E-USAGE: unexpected argument"), "{ended:?}");
    }
    for count in [["-n", "2"], ["--np", "2"], ["-np", "2"], ["--n", "2"]] {
        let ended = machine.run(&["run", count[0], count[1], "echo", "-np", "--here"]);
        assert_eq!(lines(&ended), ["-np --here", "-np --here"], "{ended:?}");
    }
    let ended = machine.run(&["run", "-hostfile", "/nowhere", "echo"]);
    assert!(text(&ended.stderr).contains("E-USAGE: --hostfile /nowhere"), "{ended:?}");
    let ended = machine.run(&["run", "-host", "nowhere", "echo"]);
    assert!(text(&ended.stderr).contains("E-NOHOST: nowhere is no host of the machine"), "{ended:?}");
}

#[test]
fn names_and_arguments_outside_utf_8_pass_unchanged() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    let machine = TestMachine::up();
    let folder = machine.dir.with_extension("bytes").join(OsStr::from_bytes(b"d\xff"));
    std::fs::create_dir_all(&folder).expect("a folder beside the machine's");
    let program = folder.join(OsStr::from_bytes(b"say\xfe"));
    std::fs::write(&program, "#!/bin/sh\npwd; echo \"$1\"; echo \"$BYTES\"\n").expect("a script");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("ours");
    let wanted = [folder.as_os_str().as_bytes(), b"\na\xff\nv\xfe\n"].concat();
    let [argument, value] = [b"a\xff", b"v\xfe"].map(|bytes| OsStr::from_bytes(bytes).to_owned());
    let mpiexec = parvum_tests::stage::stage().bin.join("mpiexec");
    let joined = |option: &str| [option.as_bytes(), folder.as_os_str().as_bytes()].concat();
    for (launcher, option) in [(parvum_tests::parvum(), "--wdir="), (&mpiexec, "-wdir=")] {
        let mut command = Command::new(launcher);
        machine.as_user(&mut command);
        if option.starts_with("--") {
            command.arg("run");
        }
        // MPI's spelling behind it is understood all the same.
        command.arg(OsStr::from_bytes(&joined(option))).args(["-np", "1"]).arg(&program).arg(&argument);
        let ended = command.env("BYTES", &value).output().expect("it runs");
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(OsStr::from_bytes(&ended.stdout), OsStr::from_bytes(&wanted), "{option}");
    }
    std::fs::remove_dir_all(folder.parent().expect("made above")).expect("it is ours");
}

#[test]
fn task_has_rank_size_and_local_rank() {
    let machine = TestMachine::up();
    let script = "echo $PARVUM_RANK of $PARVUM_SIZE, $PARVUM_LOCAL_RANK";
    let ended = machine.run(&["run", "-n", "3", "--label", "sh", "-c", script]);
    assert_eq!(lines(&ended), ["0: 0 of 3, 0", "1: 1 of 3, 1", "2: 2 of 3, 2"]);
    let mut job = machine.command(&["run", "-n", "2", "sh", "-c", "echo; read x"]);
    let mut job = job.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("runs");
    let mut first = String::new();
    let mut out = BufReader::new(job.stdout.take().expect("piped"));
    out.read_line(&mut first).expect("one has begun");
    let rows = text(&machine.run(&["ps"]).stdout);
    let head: Vec<&str> = rows.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(head[2], "RANK", "{rows}");
    let ranks = rows.lines().filter(|row| row.contains(" sh ")).map(|row| row.split_whitespace().nth(2));
    let mut ranks: Vec<_> = ranks.flatten().map(str::to_owned).collect();
    ranks.sort_unstable();
    assert!(ranks.iter().all(|rank| ["0", "1"].contains(&rank.as_str())), "{rows}");
    drop(job.stdin.take());
    job.wait().expect("ends");
}

#[test]
fn standard_input_goes_to_the_chosen_task() {
    let machine = TestMachine::up();
    for (choice, wanted) in
        [(&[][..], "0: hello"), (&["--stdin", "1"], "1: hello"), (&["--stdin", "none"], "")]
    {
        let words = [&["run", "-n", "2", "--label"], choice, &["cat"]].concat();
        let mut job =
            machine.command(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("runs");
        // Who reads nothing may be gone before it is written.
        let _ = job.stdin.take().expect("piped").write_all(b"hello\n");
        let ended = job.wait_with_output().expect("ends");
        assert!(ended.status.success());
        assert_eq!(text(&ended.stdout).trim_end(), wanted);
    }
    // More than any pipe holds, through a reader that is slow to begin.
    let ended = shell(&machine, "head -c 3000000 /dev/zero | \"$PARVUM\" run sh -c 'sleep 0.1; wc -c'");
    assert_eq!(text(&ended.stdout).trim(), "3000000", "{ended:?}");
    // One that reads nothing keeps nobody.
    let ended = shell(&machine, "yes | head -c 3000000 | \"$PARVUM\" run true");
    assert!(ended.status.success(), "{ended:?}");
    // Each of several gets all of it, one that reads nothing keeps no other, and one is slow to begin.
    let script = "test $PARVUM_RANK != 0 || exit 0; test $PARVUM_RANK != 1 || sleep 0.1; wc -c";
    let command = format!("\"$PARVUM\" run -n 4 --stdin all --label sh -c '{script}'");
    let ended = shell(&machine, &format!("yes | head -c 3000000 | {command}"));
    assert_eq!(lines(&ended), ["1: 3000000", "2: 3000000", "3: 3000000"], "{ended:?}");
    let ended = machine.run(&["run", "-n", "2", "--stdin", "2", "cat"]);
    assert!(text(&ended.stderr).contains("E-USAGE: --stdin 2: the tasks are 0 to 1"), "{ended:?}");
}

#[test]
fn first_failure_ends_the_job_and_is_named() {
    let machine = TestMachine::up();
    let script = "test $PARVUM_RANK != 1 || exit 3; exec sleep 600";
    let ended = machine.run(&["run", "-n", "3", "sh", "-c", script]);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("E-TASKFAILED: task t") && said.contains("(sh, rank 1) on "), "{said}");
    assert!(said.contains("ended with code 3; note: the others are told to end"), "{said}");
    assert_eq!(said.lines().count(), 1, "what we end is no failure: {said}");
    let script = "test $PARVUM_RANK != 1 || kill -SEGV $$; exec sleep 600";
    let said = text(&machine.run(&["run", "-n", "2", "sh", "-c", script]).stderr);
    assert!(said.contains("was killed by SIGSEGV (11)"), "{said}");
    // Or the others go on.
    let script = "test $PARVUM_RANK != 1 || exit 3; sleep 0.2; echo done";
    let ended = machine.run(&["run", "-n", "3", "--on-failure", "continue", "sh", "-c", script]);
    assert_eq!((ended.status.code(), lines(&ended).len()), (Some(3), 2), "{ended:?}");
    eventually("all are gone", || machine.tasks().is_empty());
}

#[test]
fn job_may_consist_of_two_programs() {
    let machine = TestMachine::up();
    let ended = machine.run(&[
        "run",
        "--label",
        "-x",
        "WHO=first",
        "sh",
        "-c",
        "echo $WHO $PARVUM_SIZE",
        ":",
        "-np",
        "2",
        "-x",
        "WHO=second",
        "--wdir",
        "/tmp",
        "sh",
        "-c",
        "echo $WHO $(pwd)",
    ]);
    assert_eq!(lines(&ended), ["0: first 3", "1: second /tmp", "2: second /tmp"], "{ended:?}");
    let ended = machine.run(&["run", "--single", "echo", "a", ":", "b"]);
    assert_eq!(text(&ended.stdout), "a : b\n");
    for words in [&["echo", ":"][..], &["echo", ":", "-n", "0", "echo"], &["echo", ":", "--label", "echo"]] {
        let ended = machine.run(&[&["run"], words].concat());
        assert!(text(&ended.stderr).contains("E-USAGE: ") && !ended.status.success(), "{ended:?}");
    }
    let ended = machine.run(&["run", "-x", "NO_SUCH_VARIABLE", "true"]);
    assert!(text(&ended.stderr).contains("E-USAGE: -x NO_SUCH_VARIABLE"), "{ended:?}");
}

#[test]
fn job_ends_at_its_timeout() {
    let machine = TestMachine::up();
    let ended = machine.run(&["run", "-n", "2", "--timeout", "1", "sleep", "600"]);
    assert_eq!(ended.status.code(), Some(124));
    assert!(text(&ended.stderr).contains("E-TIMEOUT"), "{ended:?}");
    assert!(machine.run(&["run", "--timeout", "600", "true"]).status.success());
    assert_eq!(machine.run(&["run", "--timeout", "0.2", "sleep", "600"]).status.code(), Some(124));
    for never in ["0", "-1", "soon", "inf"] {
        let ended = machine.run(&["run", &format!("--timeout={never}"), "true"]);
        assert!(text(&ended.stderr).contains("E-USAGE") && ended.status.code() == Some(2), "{ended:?}");
    }
}

#[test]
fn tasks_that_ignore_interrupt_are_reported_and_killed() {
    let machine = TestMachine::up();
    let script = "trap '' INT; echo $$; while :; do sleep 1; done";
    let mut job = machine.command(&["run", "--grace", "2", "sh", "-c", script]);
    let mut job = job.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    let mut pid = String::new();
    BufReader::new(job.stdout.take().expect("piped")).read_line(&mut pid).expect("it has begun");
    let runner = rustix::process::Pid::from_child(&job);
    rustix::process::kill_process(runner, rustix::process::Signal::INT).expect("it runs");
    let ended = job.wait_with_output().expect("ends");
    let said = text(&ended.stderr);
    let (told, killed) = (said.find("do not end on SIGINT (2)"), said.find("still run: SIGKILL"));
    assert!(told.is_some() && told < killed, "{said}");
    assert!(said.contains("second Ctrl-C"), "{said}");
    assert_eq!(ended.status.code(), Some(130), "{said}");
    gone(pid.trim().parse().expect("a pid"));
}

#[test]
fn tasks_inherit_limits_umask_and_nice_of_runner() {
    let machine = TestMachine::up();
    let ask = "umask; ulimit -n; ulimit -c; nice; sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status";
    let script =
        format!("umask 027; ulimit -n 123; ulimit -S -c 0; exec nice -n 5 \"$PARVUM\" run sh -c '{ask}'");
    let ended = shell(&machine, &script);
    let said = text(&ended.stdout);
    let said: Vec<&str> = said.lines().collect();
    let own = text(&shell(&machine, "nice").stdout);
    let nice = (own.trim().parse::<i32>().expect("a number") + 5).min(19).to_string();
    assert_eq!(said[..4], ["0027", "123", "0", &nice], "{ended:?}");
    // What they spawn has it too.
    let puppet = env!("CARGO_BIN_EXE_puppet");
    let script =
        format!("umask 027; exec \"$PARVUM\" run '{puppet}' spawn-and-end /bin/sh -c 'echo mask $(umask)'");
    let ended = shell(&machine, &script);
    assert!(text(&ended.stdout).contains("mask 0027"), "{ended:?}");
    // And the processors of whoever runs it.
    let last = said[4].rsplit([',', '-']).next().expect("a number");
    let ended = shell(
        &machine,
        &format!("exec taskset -c {last} \"$PARVUM\" run --report-bindings sh -c 'read x; {ask}'"),
    );
    if text(&ended.stderr).contains("taskset") {
        return eprintln!("skipped: no taskset here");
    }
    assert_eq!(text(&ended.stdout).lines().nth(4), Some(last), "{ended:?}");
}

/// The packages that the processors of such a list are in, as far as the system says it.
fn packages(cpus: &str) -> BTreeSet<String> {
    let package = |cpu: u32| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
        std::fs::read_to_string(path).unwrap_or_default()
    };
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let parts = cpus.split(',').map(|part| part.split_once('-').unwrap_or((part, part)));
    parts.flat_map(|(first, last)| (number(first)..=number(last)).map(package)).collect()
}

#[test]
fn tasks_are_bound_to_requested_cpus() {
    let machine = TestMachine::up();
    let ask = "sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status; read x";
    for words in [&["--bind-to", "core"][..], &["--bind-to", "socket"], &["--cpu-list", "0"]] {
        let words = [&["run", "-n", "2", "--label", "--report-bindings", "--stdin", "none"], words].concat();
        // They stay until they were looked at: their input ends at once, so it is slept instead.
        let ask = ask.replace("read x", "sleep 0.5");
        let ended = machine.run(&[&words[..], &["sh", "-c", &ask]].concat());
        let (out, err) = (lines(&ended), text(&ended.stderr));
        assert_eq!(out.len(), 2, "{ended:?}");
        for line in out {
            let (rank, cpus) = line.split_once(": ").expect("a label");
            let told = err.lines().find(|line| line.contains(&format!("rank {rank}"))).unwrap_or_default();
            assert!(told.ends_with(&format!("may use processors {cpus}")), "{line} {err}");
            if words.contains(&"0") {
                assert_eq!(cpus, "0");
            }
            if words.contains(&"socket") {
                assert_eq!(packages(cpus).len(), 1, "{cpus}");
            }
        }
    }
    let ended = machine.run(&["run", "--cpu-list", "4711", "true"]);
    assert!(
        text(&ended.stderr).contains("E-BADPARAM: --cpu-list 4711: host ") && !ended.status.success(),
        "{ended:?}"
    );
    let ended = machine.run(&["run", "--cpu-list", "two", "true"]);
    assert!(text(&ended.stderr).contains("E-USAGE") && text(&ended.stderr).contains("0,2,4-7"), "{ended:?}");
}

#[test]
fn output_goes_to_files_or_line_by_line() {
    let machine = TestMachine::up();
    let folder = machine.dir.with_extension("out");
    let folder_name = format!("{}/", folder.display());
    let ended = machine.run(&[
        "run",
        "-n",
        "2",
        "--output-filename",
        &folder_name,
        "sh",
        "-c",
        "echo to $PARVUM_RANK; echo no >&2",
    ]);
    assert!(ended.status.success() && ended.stdout.is_empty() && ended.stderr.is_empty(), "{ended:?}");
    for rank in 0..2 {
        let read = |ending| std::fs::read_to_string(folder.join(format!("{rank}.{ending}"))).expect("a file");
        assert_eq!((read("out"), read("err")), (format!("to {rank}\n"), "no\n".into()));
    }
    // A name alone begins those of a file for each.
    let prefix = folder.join("job").display().to_string();
    let ended =
        machine.run(&["run", "-n", "2", "--output-filename", &prefix, "sh", "-c", "echo $PARVUM_RANK"]);
    assert!(ended.status.success() && ended.stdout.is_empty(), "{ended:?}");
    for rank in 0..2 {
        let read = std::fs::read_to_string(format!("{prefix}.{rank}.out")).expect("a file");
        assert_eq!(read, format!("{rank}\n"));
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
    let ended = machine.run(&["run", "--output-filename", "/proc/none/%r", "echo", "x"]);
    assert!(text(&ended.stderr).contains("E-SYSTEM: could not write the output of"), "{ended:?}");
    let ended =
        machine.run(&["run", "--pty", "sh", "-c", "test -t 1 && test ! -t 2 && printf 'one\\ntwo\\n'"]);
    assert_eq!(text(&ended.stdout), "one\ntwo\n", "{ended:?}");
    let ended = machine.run(&["run", "sh", "-c", "test ! -t 1"]);
    assert!(ended.status.success(), "a pipe, unless asked for");
}

#[test]
fn write_error_of_any_command_is_reported() {
    let machine = TestMachine::up();
    for order in [
        "run echo x",
        "ps",
        "hosts",
        "info",
        "top -n 1 -i 0.1",
        "top --json -i 0.1",
        "why",
        "env",
        "completion bash",
    ] {
        let ended = shell(&machine, &format!("\"$PARVUM\" {order} > /dev/full"));
        assert_eq!(ended.status.code(), Some(1), "{order}: {ended:?}");
        let said = text(&ended.stderr);
        assert!(said.starts_with("parvum: E-SYSTEM: could not write the "), "{order}: {said}");
        assert!(said.contains("No space left on device"), "{order}: {said}");
        // A reader that has gone is no error.
        let ended = shell(&machine, &format!("{{ \"$PARVUM\" {order}; echo $? >&2; }} | true"));
        let said = text(&ended.stderr);
        assert!(["0", "141"].contains(&said.trim()), "{order}: {said}");
    }
}

#[test]
fn json_output_is_readable_by_programs() {
    let machine = TestMachine::up();
    let mut job = machine.command(&["run", "sh", "-c", "echo $$; read x"]);
    let mut job = job.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("runs");
    let mut pid = String::new();
    BufReader::new(job.stdout.take().expect("piped")).read_line(&mut pid).expect("it has begun");
    let pid: u64 = pid.trim().parse().expect("a pid");
    let json = |words: &[&str]| -> serde_json::Value {
        let ended = machine.run(words);
        assert!(ended.status.success(), "{ended:?}");
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|why| panic!("{words:?}: {why}: {ended:?}"))
    };
    let tasks = json(&["ps", "--json"]);
    let task = tasks.as_array().expect("a list").iter().find(|task| task["pid"] == pid).expect("it is there");
    assert_eq!((&task["rank"], &task["name"], &task["state"]), (&0.into(), &"sh".into(), &"started".into()));
    let tid = task["tid"].as_str().expect("an id");
    assert_eq!(json(&["info", tid, "--json"])["pid"], pid);
    let info = json(&["info", "--json"]);
    let rows = info.as_array().expect("a list");
    assert!(rows.iter().any(|row| row["name"] == "protocol"), "{info}");
    assert_eq!(json(&["hosts", "--json"])[0]["dtid"], "t40000");
    assert_eq!(json(&["hosts", "-v", "--json"])["links"], serde_json::json!([]));
    let top = json(&["top", "--json", "-i", "0.1"]);
    assert!(top["tasks"].as_array().expect("a list").iter().any(|task| task["tid"] == tid), "{top}");
    drop(job.stdin.take());
    job.wait().expect("ends");
}

#[test]
fn shell_completion_completes_words() {
    let machine = TestMachine::new();
    for (shell, word) in
        [("bash", "complete -F _parvum"), ("zsh", "#compdef parvum"), ("fish", "complete -c parvum")]
    {
        let said = text(&machine.run(&["completion", shell]).stdout);
        assert!(said.contains(word) && said.contains("on-failure"), "{shell}: {said}");
    }
}

#[test]
fn configuration_file_fills_unset_options_only() {
    let machine = TestMachine::up();
    let file = machine.dir.with_extension("config");
    let run = |content: &str, words: &[&str]| {
        std::fs::write(&file, content).expect("written");
        machine.command(words).env("PARVUM_CONFIG", &file).env("PVM_TMP", "/kept").output().expect("runs")
    };
    let say = ["run", "-n", "2", "sh", "-c", "echo $PVM_TMP $PARVUM_CREDIT"];
    let content = "# mine\nrun.label = yes\nPVM_TMP = /from/the/file\nPARVUM_CREDIT = 77777\n";
    let ended = run(content, &say);
    assert_eq!(lines(&ended), ["0: /kept 77777", "1: /kept 77777"], "{ended:?}");
    let ended = run(content, &[&["run", "--tag"], &say[1..]].concat());
    assert!(lines(&ended).iter().all(|line| line.starts_with('t')), "the line goes before it: {ended:?}");
    let ended = run("run.lable = yes\n", &["ps"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(
        text(&ended.stderr).contains("E-CONFIG: ") && text(&ended.stderr).contains("line 1"),
        "{ended:?}"
    );
    std::fs::remove_file(&file).expect("it is there");
    let gone = machine.command(&["ps"]).env("PARVUM_CONFIG", &file).output().expect("runs");
    assert!(text(&gone.stderr).contains("E-CONFIG"), "{gone:?}");
}

#[test]
fn quiet_and_verbose_options_change_output() {
    let machine = TestMachine::new();
    let up = machine.run(&["up", "-q"]);
    assert!(up.status.success() && up.stdout.is_empty(), "{up:?}");
    let ended = machine.run(&["run", "-v", "true"]);
    let said = text(&ended.stderr);
    assert!(said.contains("started task t") && said.contains("ended with code 0"), "{said}");
    let puppet = env!("CARGO_BIN_EXE_puppet");
    let ended = machine.run(&["run", "-q", "--linger", "0", puppet, "spawn-and-end", "/bin/sleep", "600"]);
    assert!(ended.stderr.is_empty(), "{ended:?}");
}

#[test]
fn kill_accepts_signal_names() {
    let machine = TestMachine::up();
    for name in ["KILL", "SIGKILL", "9"] {
        let mut job = machine.command(&["run", "sh", "-c", "echo $$; exec sleep 600"]);
        let mut job = job.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
        let mut pid = String::new();
        BufReader::new(job.stdout.take().expect("piped")).read_line(&mut pid).expect("it has begun");
        let pid: u32 = pid.trim().parse().expect("a pid");
        let rows = machine.tasks();
        let tid = rows.iter().find(|row| row.pid == pid).expect("it is listed").tid.to_string();
        assert!(machine.run(&["kill", "-s", name, &tid]).status.success(), "{name}");
        let ended = job.wait_with_output().expect("ends");
        assert!(text(&ended.stderr).contains("was killed by SIGKILL (9)"), "{ended:?}");
        assert!(!alive(pid));
    }
    let ended = machine.run(&["kill", "-s", "SIGWHAT", "t40001"]);
    assert!(text(&ended.stderr).contains("E-USAGE"), "{ended:?}");
}

#[test]
fn command_line_errors_have_codes() {
    let machine = TestMachine::new();
    for words in
        [&["nonsense"][..], &["run"], &["kill", "x"], &["top", "-i", "0"], &["compare", "--budget", "0"]]
    {
        let ended = machine.run(words);
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        assert!(text(&ended.stderr).starts_with("parvum: E-USAGE: "), "{ended:?}");
    }
    let ended = machine.run(&["compare", "--suite", "nothing"]);
    assert!(text(&ended.stderr).contains("parvum: E-COMPARE: no suite is called"), "{ended:?}");
    for words in [
        &["compare", "--papers", "--suite", "main"][..],
        &["compare", "--papers", "--paper", "000"],
        &["compare", "--resume", "results/x"],
        &["compare", "--papers", "--resume", "results/x", "--out", "y"],
        &["compare", "--papers", "--against", "results/x"],
        &["compare", "--against", "a", "b", "c"],
    ] {
        let ended = machine.run(words);
        assert_eq!(ended.status.code(), Some(2), "{words:?}: {ended:?}");
        assert!(text(&ended.stderr).starts_with("parvum: E-USAGE: "), "{words:?}: {ended:?}");
    }
    for (words, said) in [
        (
            &["compare", "--papers", "--resume", "/nowhere"][..],
            "/nowhere holds no run of --papers (there is no such folder)",
        ),
        (&["compare", "--against", "/nowhere"], "/nowhere holds no finished run: there is no such folder"),
        (
            &["compare", "--against", "/", "/nowhere"],
            "/ holds no finished run: there is no manifest.json in it",
        ),
    ] {
        let ended = machine.run(words);
        assert_eq!(ended.status.code(), Some(1), "{ended:?}");
        assert!(text(&ended.stderr).starts_with(&format!("parvum: E-COMPARE: {said}")), "{ended:?}");
    }
    // What was asked for is no error.
    for words in [&["--help"][..], &["run", "--help"], &["--version"]] {
        let ended = machine.run(words);
        assert!(ended.status.success() && ended.stderr.is_empty() && !ended.stdout.is_empty(), "{ended:?}");
    }
}
