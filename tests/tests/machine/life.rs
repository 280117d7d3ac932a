//! Up, down, and who may have the directory.

use parvum_task::{Options, Session, SessionError};
use parvum_tests::{Lack, TestMachine, alive, eventually, gone, kill_hard, parvum, skip};
use parvum_wire::control::{Reply, Request, Role};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::process::Stdio;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn up_and_down_may_be_repeated() {
    let machine = TestMachine::up();
    let pid = machine.daemon_pid();
    let again = machine.run(&["up"]);
    assert!(again.status.success());
    assert!(text(&again.stdout).contains("up already"), "{again:?}");
    assert_eq!(machine.daemon_pid(), pid);
    assert!(machine.run(&["down"]).status.success());
    gone(pid);
    assert!(!machine.dir.exists());
    assert!(machine.run(&["down"]).status.success());
}

#[test]
fn query_commands_do_not_start_a_machine() {
    let machine = TestMachine::new();
    for command in ["ps", "hosts", "info"] {
        let looked = machine.run(&[command]);
        assert!(!looked.status.success());
        assert!(text(&looked.stderr).contains("E-NODAEMON"), "{looked:?}");
    }
    assert!(!machine.dir.exists());
}

#[test]
fn parallel_starts_share_one_daemon() {
    let machine = TestMachine::new();
    let starters: Vec<_> = (0..8)
        .map(|_| machine.command(&["up"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("runs"))
        .collect();
    for starter in starters {
        let ended = starter.wait_with_output().expect("ends");
        assert!(ended.status.success(), "{}", text(&ended.stderr));
    }
    let began = machine.log().lines().filter(|l| l.contains("begins")).count();
    assert_eq!(began, 1);
}

#[test]
fn task_starts_the_machine() {
    let machine = TestMachine::new();
    let options = Options { start: true, ..machine.options(Role::Task) };
    let mut session = Session::open(&options).expect("it starts one");
    assert!(session.me.tid.is_task());
    assert!(matches!(session.request(Request::Hosts), Ok(Reply::Hosts(hosts)) if hosts.len() == 1));
    drop(session);
}

#[test]
fn second_daemon_is_refused() {
    let machine = TestMachine::up();
    let second = machine.run(&["daemon", "--foreground"]);
    assert!(!second.status.success());
    assert!(text(&second.stderr).contains("E-RUNNING"), "{second:?}");
    assert!(machine.run(&["ps"]).status.success(), "the first one serves on");
}

#[test]
fn stale_socket_is_replaced() {
    let machine = TestMachine::up();
    let (first, dir) = (machine.daemon_pid(), machine.dir.clone());
    kill_hard(first);
    gone(first);
    // The keeper may have tidied up by now; a machine without one leaves these.
    eventually("the keeper is done", || !dir.join("daemon.sock").exists());
    std::os::unix::net::UnixListener::bind(dir.join("daemon.sock")).map(drop).expect("a dead socket");
    std::fs::write(dir.join("daemon.lock"), "1\n").expect("a dead lock");
    assert!(text(&machine.run(&["ps"]).stderr).contains("E-NODAEMON"));
    let up = machine.run(&["up"]);
    assert!(up.status.success(), "{up:?}");
    assert!(alive(machine.daemon_pid()));
}

#[test]
fn directory_open_to_others_is_refused() {
    let machine = TestMachine::new();
    std::fs::DirBuilder::new().mode(0o755).create(&machine.dir).expect("made");
    let up = machine.run(&["up"]);
    assert!(!up.status.success());
    assert!(text(&up.stderr).contains("E-DIR") && text(&up.stderr).contains("chmod 700"), "{up:?}");
    std::fs::set_permissions(&machine.dir, PermissionsExt::from_mode(0o700)).expect("closed");
    assert!(machine.run(&["up"]).status.success());
    assert!(machine.run(&["down"]).status.success());
    std::fs::remove_dir(&machine.dir).expect("it is the test's, and empty again");
}

#[test]
fn directory_made_by_others_stays() {
    let machine = TestMachine::new();
    std::fs::DirBuilder::new().mode(0o700).create(&machine.dir).expect("made");
    let empty = || std::fs::read_dir(&machine.dir).expect("it is still there").next().is_none();
    assert!(machine.run(&["up"]).status.success());
    assert!(machine.run(&["down"]).status.success());
    assert!(empty(), "after `down`");
    assert!(machine.run(&["down"]).status.success(), "nothing is up");
    assert!(empty(), "after another one");
    // One that cannot begin there leaves it too.
    let script = "mount -t tmpfs -o size=4k,nr_inodes=1,mode=700 none \"$PARVUM_DIR\" || exit 99; \"$PARVUM\" up; ls -d \"$PARVUM_DIR\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["-Urm", "sh", "-c", script]).env("PARVUM_DIR", &machine.dir).env("PARVUM", parvum());
    match command.output() {
        Ok(ended) if ended.status.code() != Some(99) && !text(&ended.stderr).contains("unshare") => {
            assert!(text(&ended.stderr).contains("E-DIR"), "{ended:?}");
            assert!(ended.status.success(), "it is still there: {ended:?}");
        }
        other => eprintln!("skipped in part: no mount namespace here ({other:?})"),
    }
    std::fs::remove_dir(&machine.dir).expect("it is there, and empty");
}

#[test]
fn read_only_directory_stays() {
    if rustix::process::geteuid().is_root() {
        return eprintln!("skipped: root may write everywhere");
    }
    let machine = TestMachine::new();
    std::fs::DirBuilder::new().mode(0o500).create(&machine.dir).expect("made");
    let up = machine.run(&["up"]);
    assert!(text(&up.stderr).contains("E-DIR"), "{up:?}");
    std::fs::remove_dir(&machine.dir).expect("it is still there");
}

#[test]
fn machine_options_are_shown_and_invalid_ones_refused() {
    let machine = TestMachine::new();
    for (name, value) in [("PARVUM_DETECT", "soon"), ("PARVUM_PORT", "70000"), ("PARVUM_ENCRYPT", "perhaps")]
    {
        let up = machine.command(&["up"]).env(name, value).output().expect("runs");
        assert!(!up.status.success());
        assert!(text(&up.stderr).contains(&format!("E-OPTION: {name}={value} is not valid")), "{up:?}");
        assert!(!machine.dir.exists());
    }
    let up = machine.command(&["up"]).env("PARVUM_DETECT", "1234").env("PARVUM_ENCRYPT", "no").output();
    assert!(up.expect("runs").status.success());
    let info = machine.command(&["info"]).env("PARVUM_DETECT", "77").output().expect("runs");
    let said = text(&info.stdout);
    let row = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    let words = |name: &str| row(name).split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    assert!(words("PARVUM_DETECT").starts_with("PARVUM_DETECT 1234 daemon's environment"), "{said}");
    assert!(row("PARVUM_ENCRYPT").contains("no "), "{said}");
    assert!(row("PARVUM_PORT").contains("default"), "{said}");
}

#[test]
fn down_returns_after_the_daemon_ends() {
    for _ in 0..5 {
        let machine = TestMachine::up();
        let daemon = machine.daemon_pid();
        assert!(machine.run(&["down"]).status.success());
        assert!(!alive(daemon), "it is still there");
        assert!(!machine.dir.exists());
    }
}

#[test]
fn directory_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return skip(Lack::Root, "only root can make another user's directory");
    }
    let machine = TestMachine::new();
    std::fs::DirBuilder::new().mode(0o700).create(&machine.dir).expect("made");
    chown(&machine.dir, Some(65534), None).expect("given away");
    let up = machine.run(&["up"]);
    assert!(text(&up.stderr).contains("E-DIR") && text(&up.stderr).contains("65534"), "{up:?}");
    std::fs::remove_dir(&machine.dir).expect("nothing was written there");
}

#[test]
fn path_too_long_for_socket_is_refused() {
    let machine = TestMachine::new();
    let long = machine.dir.join("x".repeat(100));
    let up = machine.command(&["up"]).env("PARVUM_DIR", &long).output().expect("runs");
    assert!(text(&up.stderr).contains("E-PATHLEN"), "{up:?}");
    assert!(!machine.dir.exists());
}

#[test]
fn unwritable_directory_is_reported() {
    let machine = TestMachine::new();
    let up = machine.command(&["up"]).env("PARVUM_DIR", "/proc/parvum").output().expect("runs");
    assert!(!up.status.success());
    assert!(text(&up.stderr).contains("E-DIR: /proc/parvum"), "{up:?}");
}

#[test]
fn full_disk_is_reported_or_survived() {
    // A file system of its own, with room for hardly anything.
    let machine = TestMachine::new();
    let script = r#"
        mount -t tmpfs -o size=8k,nr_inodes=6,mode=700 none "$DIR" || exit 99
        export PARVUM_DIR="$DIR"
        head -c 100000 /dev/zero > "$DIR/filler" 2>/dev/null
        "$PARVUM" run -n 2 /bin/echo alive && "$PARVUM" info && "$PARVUM" down
    "#;
    std::fs::create_dir(&machine.dir).expect("made");
    let mut command = std::process::Command::new("unshare");
    command.args(["-Urm", "sh", "-c", script]);
    command.env("DIR", &machine.dir).env("PARVUM", parvum());
    let ended = command.output();
    std::fs::remove_dir_all(&machine.dir).expect("empty here");
    match ended {
        Ok(ended) if ended.status.code() != Some(99) && !text(&ended.stderr).contains("unshare") => {
            assert!(ended.status.success(), "{ended:?}");
            let out = text(&ended.stdout);
            assert_eq!(out.matches("alive").count(), 2, "{out}");
            assert!(out.contains("log lines lost"), "{out}");
        }
        other => skip(Lack::Root, format!("no mount namespace here ({other:?})")),
    }
}

#[test]
fn missing_command_is_reported() {
    let machine = TestMachine::new();
    let mut options = Options { start: true, ..machine.options(Role::Task) };
    options.beside = None;
    // PATH is the test's own, and may well hold a parvum.
    let found = parvum_task::find_command(None);
    if std::env::var_os("PARVUM_BIN").is_some() || found.is_ok() {
        return skip(Lack::Host, "a parvum command is installed");
    }
    match Session::open(&options) {
        Err(error @ SessionError::NoCommand(_)) => assert!(error.to_string().starts_with("E-NOCOMMAND")),
        other => panic!("{:?}", other.err()),
    }
}
