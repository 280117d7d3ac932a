//! What other people's programs rely on because MPICH does it; much of it is seen in its own test suite (`./x suites mpich`).

use crate::calls::core::said_with;
use parvum_tests::stage::{program, stage};
use parvum_tests::{Lack, TestMachine, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

macro_rules! customs {
    ($($test:ident $word:literal $ranks:literal;)*) => {$(
        #[test]
        fn $test() {
            for name in ["mpi_customs", "mpi_customs_abi"] {
                let lines = said_with($ranks, name, &[$word], false);
                assert_eq!(lines.len(), $ranks, "{name} {}: {lines:?}", $word);
                let has_checked = |line: &String| line.ends_with(" checks") && !line.ends_with(": 0 checks");
                assert!(lines.iter().all(has_checked), "{name} {}: {lines:?}", $word);
            }
        }
    )*};
}

customs! {
    unknown_hints_are_not_returned "hints" 2;
    shared_window_of_zero_bytes_has_null_address "empty" 3;
    empty_datatype_changes_nothing "none" 2;
    sequential_file_continues_at_shared_pointer "views" 3;
    ranks_with_different_counts_get_error "unlike" 4;
    errors_without_handler_go_to_handler_of_world "fallbacks" 2;
    freed_key_may_be_freed_again_while_in_use "keys" 1;
}

/// It copies strings out of the library when it is loaded, and does not start without them.
#[test]
fn mpichversion_finds_its_strings() {
    let mut command = Command::new("mpichversion");
    let Ok(done) = command.env("LD_LIBRARY_PATH", stage().lib.as_os_str()).output() else {
        return skip(Lack::Peers, "mpichversion is not installed");
    };
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
    for line in ["MPICH Version:    \t4.1", "MPICH Device:    \tparvum", "MPICH CC: \tcc"] {
        assert!(said.lines().any(|other| other.trim_end() == line), "{line}: {said}");
    }
}

/// A control group whose processes may use so much memory; gone with this.
struct Group(PathBuf);

impl Group {
    /// Version 2 where it counts memory, else version 1.
    fn with(bytes: u64) -> Result<Group, String> {
        let root = Path::new("/sys/fs/cgroup");
        let is_second = fs::read_to_string(root.join("cgroup.subtree_control"))
            .is_ok_and(|names| names.split_whitespace().any(|name| name == "memory"));
        let (root, limit) = match is_second {
            true => (root.to_owned(), "memory.max"),
            false => (root.join("memory"), "memory.limit_in_bytes"),
        };
        let group = Group(root.join(format!("parvum-test-{}", std::process::id())));
        let made = fs::create_dir(&group.0).and_then(|()| fs::write(group.0.join(limit), bytes.to_string()));
        made.map_err(|why| format!("{}: {why}", group.0.display()))?;
        Ok(group)
    }

    /// Runs a script with a machine of its own, all in this group.
    fn run(&self, machine: &TestMachine, script: &str) -> Output {
        let mut command = Command::new("sh");
        machine.as_user(&mut command);
        let script = format!("echo $$ >\"$GROUP/cgroup.procs\" && {script}");
        command.args(["-c", &script]).env("GROUP", &self.0).output().expect("sh runs")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Processes that have just ended may still be in it.
        for _ in 0..200 {
            match fs::remove_dir(&self.0) {
                Err(why) if why.raw_os_error() == Some(libc::EBUSY) => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                _ => return,
            }
        }
    }
}

#[test]
fn window_larger_than_control_group_is_refused() {
    let group = match Group::with(256 << 20) {
        Ok(group) => group,
        Err(why) => return skip(Lack::Host, format!("no control group with a limit of memory: {why}")),
    };
    let machine = TestMachine::new();
    let script = format!(
        "{} -n 2 {} limits; code=$?; {} down; exit $code",
        stage().bin.join("mpiexec").display(),
        program("mpi_customs").display(),
        parvum_tests::parvum().display()
    );
    let done = group.run(&machine, &script);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(said.lines().filter(|line| line.ends_with(" checks")).count(), 2, "{done:?}");
}

/// Each rank is process 1 of its own, and all have the same addresses.
#[test]
fn ranks_with_equal_pids_read_correct_memory() {
    let apart = ["setarch", "-R", "unshare", "--pid", "--fork", "--mount-proc"];
    let probe = Command::new(apart[0]).args(&apart[1..]).arg("true").output();
    if !probe.is_ok_and(|done| done.status.success()) {
        return skip(Lack::Root, "processes cannot have namespaces of their own here");
    }
    let machine = TestMachine::up();
    let mut command = Command::new(stage().bin.join("mpiexec"));
    machine.as_user(&mut command);
    command.args(["-n", "3"]).args(apart).arg(program("mpi_customs")).arg("namespaces");
    let done = command.output().expect("mpiexec runs");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(said.lines().filter(|line| line.ends_with(" checks")).count(), 3, "{done:?}");
}
