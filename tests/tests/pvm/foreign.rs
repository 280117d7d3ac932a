//! Programs that the daemon starts and that are no tasks of the machine: what is said of them, and what of them is kept.

use parvum_tests::running::Running;
use parvum_tests::stage::{self, stage};
use parvum_tests::{Lack, TestMachine, eventually, skip};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libpvm3.a";

/// A program that carries PVM's own library. `None`: the library is missing, or no program can be made with it.
fn carrier() -> Option<PathBuf> {
    // Several tests of this process run the program, so it is compiled once: a file that is being written cannot be run.
    static MADE: LazyLock<Result<PathBuf, String>> = LazyLock::new(compile_carrier);
    MADE.clone().map_err(|why| skip(Lack::Peers, why)).ok()
}

fn compile_carrier() -> Result<PathBuf, String> {
    if !Path::new(LIBRARY).exists() {
        return Err(format!("{LIBRARY} is not there (./x peers)"));
    }
    let (source, program) = (stage().programs.join("carrier.c"), stage().programs.join("carrier"));
    let text = "#include <pvm3.h>\nint main(void) { pvm_mytid(); pvm_exit(); return 0; }\n";
    std::fs::write(&source, text).expect("the stage is writable");
    let mut cc = stage::compiler("cc");
    cc.args(["-w", "-I"]).arg(&stage().include).arg(&source).arg("-o").arg(&program);
    let done = cc.args([LIBRARY, "-ltirpc"]).output().expect("a C compiler (cc) is installed");
    if !done.status.success() {
        return Err(format!("no program can be made with {LIBRARY}: {}", text_of(&done.stderr)));
    }
    Ok(program)
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn static_pvm_program_is_reported_to_parent_and_log() {
    let Some(carrier) = carrier() else { return };
    let machine = TestMachine::up();
    // It shall not find a daemon of PVM, and start none.
    let nothing = machine.dir.with_extension("nothing");
    let mut parent = machine.program("spawns");
    parent.arg(&carrier).env("PVM_EXPORT", "PVM_TMP:PVM_DPATH");
    parent.env("PVM_TMP", &nothing).env("PVM_DPATH", "/bin/false");
    // It waits for its daemon for seconds before it gives up.
    let mut parent = Running::start(&mut parent);
    let tid = format!("t{}", parent.told("spawned "));
    eventually("the log names it", || machine.log().contains("E-STATIC"));
    let _ = machine.run(&["kill", &tid, "-s", "KILL"]);
    let complaints = parent.errors();
    for words in ["E-STATIC", &tid, "carrier", "libpvm3.a", "-lpvm3"] {
        assert!(complaints.contains(words), "{words}: {complaints}");
    }
    assert_eq!(complaints.matches("E-STATIC").count(), 1, "{complaints}");
}

#[test]
fn pvm_library_output_blocks_no_thread_without_reader() {
    let Some(carrier) = carrier() else { return };
    let machine = TestMachine::up();
    let nothing = machine.dir.with_extension("nothing");
    let mut parent = machine.program("mute");
    parent.arg(&carrier).env("PVM_EXPORT", "PVM_TMP:PVM_DPATH");
    parent.env("PVM_TMP", &nothing).env("PVM_DPATH", "/bin/false");
    let mut parent = Running::start(&mut parent);
    assert!(parent.end().success(), "{}", parent.errors());
    // They were kept while nobody read.
    let complaints = parent.errors();
    assert!(complaints.contains("E-STATIC"), "{complaints}");
}

#[test]
fn program_that_only_computes_is_not_reported() {
    let machine = TestMachine::up();
    let mut parent = Running::start(machine.program("spawns").args(["sh", "-c", "sleep 4; echo over"]));
    parent.told("spawned ");
    assert!(parent.end().success());
    assert!(machine.log().contains("over") && !machine.log().contains("E-STATIC"), "{}", machine.log());
}

#[test]
fn repeated_log_lines_are_counted() {
    let machine = TestMachine::up();
    let script = "yes 'no such task' | head -n 100000; echo done";
    let mut parent = Running::start(machine.program("spawns").args(["sh", "-c", script]));
    parent.told("spawned ");
    assert!(parent.end().success());
    eventually("all of it is in the log", || machine.log().contains("no such task (100000 times in all)"));
    let log = machine.log();
    assert!(log.contains("] done"), "{log}");
    assert!(log.lines().filter(|line| line.contains("no such task")).count() < 100, "{log}");
}
