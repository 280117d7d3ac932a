//! `pvmd`, and the hostfile.

use crate::{Live, User, finish};
use parvum_tests::{alive, eventually, gone};
use std::process::{Child, Command, Stdio};

/// A daemon in the foreground that serves.
fn serving(command: &mut Command) -> (Child, String) {
    use std::io::BufRead;
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    let out = child.stdout.take().expect("piped");
    std::io::BufReader::new(out).read_line(&mut line).expect("it says where it is");
    (child, line.trim_end().to_owned())
}

#[test]
fn pvmd_prints_socket_and_serves_until_halt() {
    let user = User::new();
    let (mut daemon, socket) = serving(&mut user.call("pvmd", &["-nthere"]));
    assert_eq!(socket, user.machine.dir.join("daemon.sock").to_str().expect("a plain path"));
    let said = user.pvm(&[], "conf\nhalt\n");
    assert!(said.out.starts_with("pvmd already running.\n"), "{said:?}");
    assert!(said.answer("conf").contains("\n                   there    40000"), "{said:?}");
    assert!(daemon.wait().expect("it is our child").success());
    assert!(!user.machine.dir.exists());
}

#[test]
fn signal_ends_pvmd_and_its_tasks() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT, rustix::process::Signal::HUP]
    {
        let user = User::new();
        let (mut daemon, _) = serving(&mut user.call("pvmd", &[]));
        user.pvm(&[], "spawn /bin/sleep 600\n");
        let tasks = user.machine.tasks();
        let task = tasks.iter().find(|row| row.name == "sleep").expect("it runs").pid;
        let pid = rustix::process::Pid::from_child(&daemon);
        rustix::process::kill_process(pid, signal).expect("it runs");
        assert!(daemon.wait().expect("it is our child").success());
        gone(task);
        assert!(!user.machine.dir.exists(), "{signal:?}");
    }
}

#[test]
fn second_pvmd_is_refused() {
    let user = User::new();
    let (mut daemon, _) = serving(&mut user.call("pvmd", &[]));
    let said = finish(&mut user.call("pvmd", &[]), b"");
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.starts_with("pvmd: pvmd already running."), "{said:?}");
    assert!(alive(daemon.id()));
    user.pvm(&[], "halt\n");
    assert!(daemon.wait().expect("it is our child").success());
}

#[test]
fn variables_of_pvmd_shell_do_not_reach_tasks() {
    let user = User::new();
    let (mut daemon, _) =
        serving(user.call("pvmd", &["-nthere"]).env("PARVUM_ROUTE", "tcp").env("PARVUM_TID", "7"));
    let mut console = Live::start(&mut user.call("pvm", &[]));
    console.tell("spawn -> /bin/sh -c 'echo route=$PARVUM_ROUTE.'");
    console.until("] route=.\n");
    console.tell("halt");
    assert!(console.end().success());
    assert!(daemon.wait().expect("it is our child").success());
}

#[test]
fn hostfile_line_of_this_host_applies() {
    let user = User::new();
    let bin = user.home.join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let program = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(bin.join(name), format!("#!/bin/sh\n{text}\n")).expect("it can be written");
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    };
    program("hidden", "echo found in $(pwd): \"$@\"");
    program("debugger", "echo debugging; exec \"$@\"");
    // What is no full path begins at home.
    let text = "# two hosts\n* sp=5\nlocalhost sp=777 ep=/nowhere:bin wd=/usr bx=bin/debugger lo=me\n& later\nelsewhere.invalid\n";
    let file = user.file("hosts", text);
    let mut command = user.call("pvm", &["-d0xff", &file]);
    command.stderr(Stdio::piped());
    let said = finish(&mut command, b"conf\n");
    assert!(said.answer("conf").contains(" LINUX64     777 0x"), "{said:?}");
    let told = ["-d0xff is ignored", "elsewhere.invalid: Can't start pvmd: ", "localhost: lo= ignored"];
    assert!(told.iter().all(|words| said.err.contains(words)) && !said.err.contains("later"), "{said:?}");

    let mut console = Live::start(&mut user.call("pvm", &[]));
    console.tell("spawn -> hidden a b");
    console.until("] found in /usr: a b\n");
    console.tell("spawn -? -:/etc -> hidden c");
    let said = console.until("] found in /etc: c\n");
    assert!(said.contains("] debugging\n"), "{said}");
    assert!(console.end().success());
    // A machine that is up takes no other hostfile.
    let said = user.pvm(&["-nother", &file], "conf\n");
    assert!(
        said.err.contains("hostfile and options are ignored") && !said.out.contains(" other "),
        "{said:?}"
    );
}

#[test]
fn hostfile_may_be_named_by_environment() {
    let user = User::new();
    let file = user.file("hosts", "* sp=42\n");
    let said = finish(user.call("pvm", &[]).env("PVMHOSTFILE", &file), b"conf\n");
    assert!(said.answer("conf").contains(" LINUX64      42 0x"), "{said:?}");
}

#[test]
fn invalid_hostfile_is_refused_with_file_and_line() {
    let user = User::new();
    let file = user.file("hosts", "localhost sp=1\nbad sp=fast\n* worse\n");
    for name in ["pvm", "pvmd"] {
        let said = finish(&mut user.call(name, &[&file]), b"id\n");
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
        assert!(said.err.contains("hosts:2: sp=fast") && said.err.contains("hosts:3: \"worse\""), "{said:?}");
        let said = finish(&mut user.call(name, &["/nonexistent/hosts"]), b"id\n");
        assert!(said.code == Some(1) && said.err.contains("/nonexistent/hosts: cannot be read"), "{said:?}");
    }
    assert!(!user.machine.dir.exists(), "no machine was started");
}

#[test]
fn invalid_options_print_usage() {
    let user = User::new();
    for name in ["pvm", "pvmd"] {
        for option in ["-z", "-n", "-dmuch", "-s"] {
            let said = finish(&mut user.call(name, &[option]), b"");
            assert_eq!(said.code, Some(1), "{said:?}");
            assert!(said.err.contains(&format!("usage: {name} ")), "{said:?}");
        }
        let said = finish(&mut user.call(name, &["--help"]), b"");
        assert!(said.code == Some(0) && said.out.starts_with("usage: "), "{said:?}");
    }
    eventually("no machine was started", || !user.machine.dir.exists());
}
