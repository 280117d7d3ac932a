//! Hosts that refuse things: single copy, room in /dev/shm, other users' machines.

use parvum_tests::running::Running;
use parvum_tests::stage::{program, stage};
use parvum_tests::{Lack, TestMachine, parvum, skip};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn large_messages_arrive_without_single_copy() {
    let machine = TestMachine::up();
    for name in ["big", "pack", "leave"] {
        machine.check(machine.program(name).env("PARVUM_SINGLE_COPY", "off"));
    }
    machine.check(machine.program("order").arg("switch").env("PARVUM_SINGLE_COPY", "off"));
}

#[test]
fn large_messages_arrive_when_the_kernel_refuses_single_copy() {
    let machine = TestMachine::new();
    // The capability that looks into every process is taken from the daemon, and so from all tasks.
    let without = |inner: &Command| {
        let mut command = Command::new(if is_root() { "setpriv" } else { "env" });
        if is_root() {
            command.args(["--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]);
        }
        command.arg(inner.get_program()).args(inner.get_args());
        machine.as_user(&mut command);
        command
    };
    let up = match without(&machine.command(&["up"])).output() {
        Ok(up) if up.status.success() => up,
        other => return skip(Lack::Root, format!("setpriv cannot drop a capability here ({other:?})")),
    };
    assert!(up.status.success());
    machine.check(&mut without(machine.program("big").arg("hidden")));
}

#[test]
fn full_dev_shm_is_no_obstacle() {
    if !is_root() {
        return skip(Lack::Root, "only root can mount a small /dev/shm");
    }
    let machine = TestMachine::new();
    let script = r#"
        mount -t tmpfs -o size=64k tmpfs /dev/shm || exit 42
        dd if=/dev/zero of=/dev/shm/full bs=4k count=99 2>/dev/null
        "$1" up && "$2" && "$3" 5 && "$1" down && [ "$(ls /dev/shm)" = full ]
    "#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(parvum()).arg(program("big")).arg(program("groups"));
    machine.as_user(&mut command);
    let mut running = Running::start(&mut command);
    match running.end().code() {
        Some(0) => {}
        Some(1 | 42) if running.said.is_empty() && !machine.dir.exists() => {
            skip(Lack::Root, format!("no private mounts here: {}", running.errors()));
        }
        code => panic!("{code:?} {}", running.errors()),
    }
}

/// The number of a user who owns nothing.
const OTHER: &str = "65534";

/// Whether programs can be run by that user; says why if not.
fn is_other_there() -> bool {
    if !is_root() {
        skip(Lack::Root, "only root can become another user");
        return false;
    }
    let readable = Command::new("setpriv")
        .args(["--reuid", OTHER, "--regid", OTHER, "--clear-groups", "test", "-x"])
        .arg(stage().programs.join("groups"))
        .status();
    let readable = readable.is_ok_and(|status| status.success());
    if !readable {
        skip(Lack::Host, format!("another user cannot reach {}", stage().programs.display()));
    }
    readable
}

/// A machine whose directory is that user's.
fn machine_of_other() -> TestMachine {
    let machine = TestMachine::new();
    std::fs::create_dir(&machine.dir).expect("a directory for the other");
    std::fs::set_permissions(&machine.dir, PermissionsExt::from_mode(0o700)).expect("ours");
    std::os::unix::fs::chown(&machine.dir, Some(65534), Some(65534)).expect("root may");
    machine
}

/// The program, run by that user.
fn as_other(machine: &TestMachine, program: &Command) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", OTHER, "--regid", OTHER, "--clear-groups"]);
    command.arg(program.get_program()).args(program.get_args());
    machine.as_user(&mut command);
    command.env("HOME", "/").current_dir("/");
    command
}

/// Stops that user's machine.
fn down_of_other(machine: &TestMachine) {
    let down = as_other(machine, &machine.command(&["down"])).output().expect("it runs");
    assert!(down.status.success(), "{down:?}");
    if machine.dir.exists() {
        std::fs::remove_dir(&machine.dir).expect("it is empty");
    }
}

/// `su` keeps root's PATH.
#[test]
fn missing_program_is_reported_despite_unsearchable_path_folder() {
    if !is_other_there() {
        return;
    }
    let machine = machine_of_other();
    let closed = machine.dir.with_extension("closed");
    std::fs::create_dir(&closed).expect("a folder beside it");
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).expect("ours");
    let name = "no-such-program-anywhere";
    let mut run = as_other(&machine, &machine.command(&["run", "-n", "1", "--", name]));
    let ended = run.env("PATH", format!("{}:/usr/bin:/bin", closed.display())).output().expect("it runs");
    down_of_other(&machine);
    std::fs::remove_dir(&closed).expect("it is empty");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(said.contains("E-NOPROGRAM") && !said.contains("E-NOTEXEC"), "{said}");
    assert!(said.contains(&format!("{} may not be searched", closed.display())), "{said}");
}

#[test]
fn users_have_separate_machines() {
    if !is_other_there() {
        return;
    }
    let (mine, theirs) = (TestMachine::up(), machine_of_other());
    let group = |machine: &TestMachine| {
        let mut command = machine.program("groups");
        command.arg("2");
        command
    };
    // The same group's name on both, at the same time.
    let their_run = Running::start(&mut as_other(&theirs, &group(&theirs)));
    let my_run = Running::start(&mut group(&mine));
    my_run.succeed(&mine);
    their_run.succeed(&theirs);
    assert!(mine.tasks().is_empty());
    // Neither may use the other's.
    let mut stranger = Running::start(&mut as_other(&mine, &group(&mine)));
    assert!(!stranger.end().success());
    assert!(stranger.errors().contains("E-DIR"));
    down_of_other(&theirs);
}
