//! `parvum run`: output, exit codes, and nothing left behind.

use parvum_tests::{TestMachine, alive, eventually, gone, kill_hard};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn puppet() -> &'static str {
    env!("CARGO_BIN_EXE_puppet")
}

/// A job that prints pids, one a line; returns it and those.
fn job(machine: &TestMachine, args: &[&str], lines: usize) -> (Child, Vec<u32>) {
    let mut child = machine.command(args).stdout(Stdio::piped()).spawn().expect("runs");
    let out = BufReader::new(child.stdout.take().expect("piped"));
    let pids = out.lines().take(lines).map(|line| line.expect("read").parse().expect("a pid")).collect();
    (child, pids)
}

#[test]
fn run_returns_exit_codes() {
    let machine = TestMachine::new();
    for (script, code) in [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)] {
        let ended = machine.run(&["run", "sh", "-c", script]);
        assert_eq!(ended.status.code(), Some(code), "{script}: {ended:?}");
    }
    let ended = machine.run(&["run", "-n", "4", "sh", "-c", "test $((PARVUM_TID % 4)) != 0 || exit 9"]);
    assert_eq!(ended.status.code(), Some(9), "the first that is not zero");
    let ended = machine.run(&["run", "no-such-program"]);
    assert_eq!(ended.status.code(), Some(127));
    assert!(text(&ended.stderr).contains("E-NOPROGRAM"), "{ended:?}");
    let ended = machine.run(&["run", "-n", "64", "/etc/passwd"]);
    assert_eq!(ended.status.code(), Some(126));
    assert!(text(&ended.stderr).contains("E-NOTEXEC"), "{ended:?}");
    let ended = machine.run(&["run", "/proc/version"]);
    assert_eq!(ended.status.code(), Some(126), "{ended:?}");
}

#[test]
fn task_id_without_ticket_is_no_spawned_task() {
    let machine = TestMachine::new();
    let depart = format!("{} depart", puppet());
    // A program that has only the number, before the task itself enrols; then the task, by way of a second shell.
    let script =
        format!("printf 't%x\\n' $PARVUM_TID; env -u PARVUM_TICKET {depart}; sh -c '{depart}; exit 0'");
    let ended = machine.run(&["run", "sh", "-c", &script]);
    let said = text(&ended.stdout);
    let tids: Vec<&str> = said.lines().filter(|line| line.starts_with('t')).collect();
    assert_eq!(tids.len(), 3, "{ended:?}");
    assert_ne!(tids[1], tids[0], "{ended:?}");
    assert_eq!(tids[2], tids[0], "{ended:?}");
}

#[test]
fn file_that_is_not_executable_format_is_reported() {
    let machine = TestMachine::up();
    let file = machine.dir.with_extension("prog");
    std::fs::write(&file, "#!/no/such/interpreter\n").expect("written");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let ended = machine.run(&["run", file.to_str().expect("plain")]);
    std::fs::remove_file(&file).expect("there");
    assert_eq!(ended.status.code(), Some(126));
    assert!(
        text(&ended.stderr).contains("E-EXEC: cannot execute ")
            && text(&ended.stderr).contains("its interpreter /"),
        "{ended:?}"
    );
}

#[test]
fn output_streams_stay_separate_and_lines_whole() {
    let machine = TestMachine::new();
    let script = r#"i=0; while [ $i -lt 500 ]; do printf 'a%s' "$PARVUM_TID"; printf 'b%s\n' "$i"; i=$((i+1)); done
                    echo oops >&2; printf 'no newline at the end'"#;
    let ended = machine.run(&["run", "-n", "4", "--tag", "sh", "-c", script]);
    assert!(ended.status.success());
    assert_eq!(text(&ended.stderr).lines().filter(|l| l.ends_with(": oops")).count(), 4);
    let out = text(&ended.stdout);
    let mut next = std::collections::HashMap::new();
    for line in out.lines() {
        let (tag, rest) = line.split_once(": ").expect("a tag");
        if rest == "no newline at the end" {
            continue;
        }
        let tid = i32::from_str_radix(&tag[1..], 16).expect("a tid");
        let (head, number) = rest.split_once('b').expect("both halves");
        assert_eq!(head, format!("a{tid}"));
        let expected = next.entry(tid).or_insert(0);
        assert_eq!(number.parse(), Ok(*expected), "order");
        *expected += 1;
    }
    assert_eq!(next.into_values().collect::<Vec<_>>(), [500; 4]);
    assert_eq!(out.matches("no newline at the end").count(), 4);
}

/// Both outputs of the command are one file, as in `parvum run ... >log 2>&1`.
#[test]
fn output_lines_keep_order_in_one_file() {
    let machine = TestMachine::up();
    let path = machine.dir.with_extension("both");
    let file = std::fs::File::create(&path).expect("a file beside the machine's directory");
    let script = "i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let mut command = machine.command(&["run", "-n", "1", "sh", "-c", script]);
    command.stdout(file.try_clone().expect("a second descriptor")).stderr(file);
    assert!(command.status().expect("parvum runs").success());
    let said = std::fs::read_to_string(&path).expect("text");
    std::fs::remove_file(&path).expect("it is ours");
    let expected: Vec<String> = (0..300).flat_map(|i| [format!("out {i}"), format!("err {i}")]).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn slow_reader_of_100_megabytes_gets_every_byte() {
    const LENGTH: usize = 100_000_000;
    let machine = TestMachine::up();
    let script = format!("yes 0123456789abcde | head -c {LENGTH}");
    let mut child =
        machine.command(&["run", "sh", "-c", &script]).stdout(Stdio::piped()).spawn().expect("runs");
    let mut out = child.stdout.take().expect("piped");
    // Nobody reads: the output waits, and the daemon's memory stays bounded.
    let mut first = [0; 16];
    out.read_exact(&mut first).expect("it has begun");
    let resident = || {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", machine.daemon_pid())).expect("it runs");
        let line = status.lines().find(|l| l.starts_with("VmRSS")).expect("a size").to_string();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok()).expect("a number")
    };
    for _ in 0..50 {
        assert!(resident() < 64 * 1024, "the daemon holds {} KiB", resident());
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let (mut total, mut chunk) = (first.len(), vec![0; 1 << 16]);
    loop {
        let length = out.read(&mut chunk).expect("readable");
        if length == 0 {
            break;
        }
        let wanted = b"0123456789abcde\n";
        assert!(chunk[..length].iter().enumerate().all(|(i, b)| *b == wanted[(total + i) % 16]));
        total += length;
    }
    assert_eq!(total, LENGTH);
    assert!(child.wait().expect("ends").success());
}

#[test]
fn job_ends_when_output_reader_closes() {
    let machine = TestMachine::up();
    let mut child = machine.command(&["run", "yes"]).stdout(Stdio::piped()).spawn().expect("runs");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("readable");
    assert_eq!(line, "y\n");
    assert_eq!(child.wait().expect("ends").code(), Some(141));
    eventually("the job is gone", || machine.tasks().is_empty());
}

#[test]
fn job_of_64_tasks_runs_on_a_small_host() {
    let machine = TestMachine::up();
    let ended = machine.run(&["run", "-n", "64", puppet(), "spawn-and-end", "/bin/true"]);
    assert!(ended.status.success(), "{ended:?}");
    let tids: std::collections::HashSet<_> = text(&ended.stdout).lines().map(String::from).collect();
    assert_eq!(tids.len(), 64);
    eventually("all are gone", || machine.tasks().is_empty());
}

#[test]
fn killed_runner_ends_its_job() {
    let machine = TestMachine::up();
    // A shell that ignores SIGTERM, and a child of it.
    let script = "trap '' TERM; sleep 600 & echo $!; echo $$; wait; sleep 600";
    let (mut child, pids) = job(&machine, &["run", "-n", "2", "sh", "-c", script], 4);
    kill_hard(child.id());
    child.wait().expect("ends");
    pids.into_iter().for_each(gone);
    assert!(machine.run(&["ps"]).status.success(), "the machine lives");
}

#[test]
fn killed_daemon_ends_all_its_processes() {
    let machine = TestMachine::up();
    let (mut child, pids) = job(&machine, &["run", "sh", "-c", "sleep 600 & echo $!; echo $$; wait"], 2);
    let daemon = machine.daemon_pid();
    kill_hard(daemon);
    assert_eq!(child.wait().expect("ends").code(), Some(1), "the runner says so");
    pids.into_iter().for_each(gone);
    eventually("no socket is left", || !machine.dir.join("daemon.sock").exists());
    // And the machine can be had again.
    assert!(machine.run(&["run", "true"]).status.success());
}

#[test]
fn processes_left_by_program_end_with_it() {
    let machine = TestMachine::up();
    let (mut child, pids) = job(&machine, &["run", "sh", "-c", "sleep 600 & echo $!"], 1);
    assert!(child.wait().expect("ends").success());
    pids.into_iter().for_each(gone);
}

#[test]
fn signals_reach_the_job() {
    let machine = TestMachine::up();
    let script = "trap 'echo caught; exit 5' INT; echo $$; while :; do sleep 0.05; done";
    let mut child =
        machine.command(&["run", "sh", "-c", script]).stdout(Stdio::piped()).spawn().expect("runs");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("it has begun");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    line.clear();
    out.read_line(&mut line).expect("readable");
    assert_eq!(line, "caught\n");
    assert_eq!(child.wait().expect("ends").code(), Some(5));
}

#[test]
fn spawned_tasks_belong_to_the_job() {
    let machine = TestMachine::up();
    let ended = machine.run(&["run", puppet(), "spawn-and-end", "/bin/sh", "-c", "echo from below"]);
    assert!(ended.status.success());
    assert!(text(&ended.stdout).contains("from below"), "{ended:?}");
    // One that does not end is given up, aloud.
    let ended = machine.run(&["run", "--linger", "0", puppet(), "spawn-and-end", "/bin/sleep", "600"]);
    assert!(ended.status.success());
    assert!(text(&ended.stderr).contains("sleep"), "{ended:?}");
    eventually("it is gone", || machine.tasks().is_empty());
}

#[test]
fn program_that_left_the_machine_is_still_waited_for() {
    let machine = TestMachine::new();
    let ended = machine.run(&["run", puppet(), "depart"]);
    assert_eq!(ended.status.code(), Some(7));
    assert!(text(&ended.stdout).ends_with("departed\n"), "{ended:?}");
}

#[test]
fn down_ends_running_jobs() {
    let machine = TestMachine::up();
    let (mut child, pids) =
        job(&machine, &["run", "sh", "-c", "trap '' TERM; echo $$; sleep 600; sleep 600"], 1);
    assert!(alive(pids[0]));
    let down = machine.run(&["down"]);
    assert!(down.status.success(), "{down:?}");
    assert!(!alive(pids[0]));
    assert_ne!(child.wait().expect("ends").code(), Some(0));
    assert!(!machine.dir.exists());
}

#[test]
fn kill_reaches_a_task_by_its_id() {
    let machine = TestMachine::up();
    let (mut child, _) = job(&machine, &["run", "sh", "-c", "echo $$; exec sleep 600"], 1);
    let rows = machine.tasks();
    let row = rows.iter().find(|row| row.name == "sh").expect("it is listed");
    assert!(machine.run(&["kill", &row.tid.to_string()]).status.success());
    assert_eq!(child.wait().expect("ends").code(), Some(143));
    let kill = machine.run(&["kill", "t4ffff"]);
    assert!(text(&kill.stderr).contains("E-NOTASK"), "{kill:?}");
}
