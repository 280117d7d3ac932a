//! PVM's calls for Fortran: the programs that use them, the header, and the symbols.

use parvum_tests::running::{Running, await_tasks};
use parvum_tests::stage::{fortran, program_source, stage};
use parvum_tests::{Lack, TestMachine, eventually, skip};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

const DEBIANS_HEADER: &str = "/usr/include/fpvm3.h";
const DEBIANS_LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libfpvm3.a";

/// Whether there is a compiler; says so when not.
fn can_compile() -> bool {
    if fortran().is_none() {
        skip(Lack::Tools, "no Fortran compiler (gfortran) is installed");
    }
    fortran().is_some()
}

#[test]
fn fortran_types_strings_buffers_and_options_work() {
    if can_compile() {
        let machine = TestMachine::up();
        assert!(machine.check(&mut machine.program("fpack")).contains("all well"));
        await_tasks(&machine, 0);
    }
}

#[test]
fn fortran_groups_work_in_fixed_form() {
    if can_compile() {
        let machine = TestMachine::up();
        assert!(machine.check(&mut machine.program("fgroups")).contains("all well"));
        await_tasks(&machine, 0);
    }
}

#[test]
fn fortran_tasks_end_when_machine_halts() {
    if !can_compile() {
        return;
    }
    let machine = TestMachine::up();
    let mut master = Running::start(&mut machine.program("ftasks"));
    master.told(" all well");
    // Halting ends every task, and the one that asks for it is one.
    let status = master.end();
    assert_eq!(status.signal(), Some(15), "{status} {}", master.errors());
    // Its end is not yet the machine's.
    eventually("the machine is down", || !machine.dir.exists());
    let line = |wanted: &str| master.said.lines().any(|line| line.starts_with('[') && line.ends_with(wanted));
    assert!((0..3).all(|number| line(&format!("worker{number:>12}"))), "caught: {}", master.said);
}

/// Global functions of a library that Fortran programs can name.
fn symbols(library: &Path) -> Vec<String> {
    let mut nm = Command::new("nm");
    nm.arg("--defined-only").args(library.extension().is_some_and(|end| end == "3").then_some("-D"));
    let listed = nm.arg(library).output().expect("nm (binutils) comes with the compiler").stdout;
    let text = String::from_utf8(listed).expect("plain names");
    let functions = text.lines().filter_map(|line| line.split_once(" T "));
    functions.map(|(_, name)| name.to_owned()).filter(|name| name.ends_with('_')).collect()
}

#[test]
fn fortran_calls_are_all_exported_and_tested() {
    let (shared, archive) = (stage().lib.join("libfpvm3.so.3"), stage().lib.join("libfpvm3.a"));
    let ours = symbols(&shared);
    assert!(ours.len() > 70, "{ours:?}");
    let sources = ["fpack.f90", "ftasks.f90", "fgroups.f"].map(|name| {
        let source = std::fs::read_to_string(program_source(name));
        source.expect("it is there").to_lowercase()
    });
    for name in &ours {
        let call = name.trim_end_matches('_');
        assert!(sources.iter().any(|source| source.contains(call)), "{call} is in no test");
        assert!(symbols(&archive).contains(name), "{name} is not in the archive");
    }
    if !Path::new(DEBIANS_LIBRARY).exists() {
        return eprintln!("not compared: {DEBIANS_LIBRARY} is not there (Debian's pvm-dev)");
    }
    for name in symbols(Path::new(DEBIANS_LIBRARY)) {
        assert!(ours.contains(&name), "PVM has {name}");
    }
}

/// Names and values of a header's parameters.
fn parameters(header: &str) -> BTreeMap<String, i32> {
    let lines = header.lines().filter_map(|line| line.trim().strip_prefix("parameter"));
    let pairs = lines.filter_map(|line| line.trim().strip_prefix('(')?.strip_suffix(')')?.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_lowercase(), value.trim().parse().expect("a number"))).collect()
}

#[test]
fn fortran_header_numbers_equal_those_of_pvm() {
    let read = |path: &Path| parameters(&std::fs::read_to_string(path).expect("it is there"));
    let ours = read(&stage().include.join("fpvm3.h"));
    assert!(ours.len() == 109, "{}", ours.len());
    if !Path::new(DEBIANS_HEADER).exists() {
        return skip(Lack::Peers, format!("{DEBIANS_HEADER} is not there (Debian's pvm-dev)"));
    }
    assert_eq!(ours, read(Path::new(DEBIANS_HEADER)));
}
