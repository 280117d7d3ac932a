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
fn a_full_dev_shm_is_no_hindrance() {
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

#[test]
fn two_users_have_a_machine_each() {
    const OTHER: &str = "65534";
    if !is_root() {
        return skip(Lack::Root, "only root can become another user");
    }
    let readable = Command::new("setpriv")
        .args(["--reuid", OTHER, "--regid", OTHER, "--clear-groups", "test", "-x"])
        .arg(stage().programs.join("groups"))
        .status();
    if !readable.is_ok_and(|status| status.success()) {
        return skip(Lack::Host, format!("another user cannot reach {}", stage().programs.display()));
    }
    let (mine, theirs) = (TestMachine::up(), TestMachine::new());
    std::fs::create_dir(&theirs.dir).expect("a directory for the other");
    std::fs::set_permissions(&theirs.dir, PermissionsExt::from_mode(0o700)).expect("ours");
    std::os::unix::fs::chown(&theirs.dir, Some(65534), Some(65534)).expect("root may");
    let as_other = |machine: &TestMachine, program: &Command| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", OTHER, "--regid", OTHER, "--clear-groups"]);
        command.arg(program.get_program()).args(program.get_args());
        machine.as_user(&mut command);
        command.env("HOME", "/").current_dir("/");
        command
    };
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
    let down = as_other(&theirs, &theirs.command(&["down"])).output().expect("it runs");
    assert!(down.status.success(), "{down:?}");
    if theirs.dir.exists() {
        std::fs::remove_dir(&theirs.dir).expect("it is empty");
    }
}
