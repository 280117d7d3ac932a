//! Arguments that make no sense, for every function of `pvm3.h`.

use parvum_tests::TestMachine;
use parvum_tests::stage::{program_source, stage};

/// Functions that are not called at random, and why.
const APART: [(&str, &str); 8] = [
    ("pvm_halt", "ends the machine that the others are called on"),
    ("pvm_reg_hoster", "the machine would wait for a hoster that hosts nobody"),
    ("pvm_reg_rm", "the machine would wait for a resource manager that manages nothing"),
    ("pvm_reg_tasker", "the machine would wait for a tasker that starts nothing"),
    ("pvm_reg_tracer", "tasks would be traced to one that does not read"),
    ("pvmgetrsh", "takes nothing"),
    ("pvmgettmp", "takes nothing"),
    ("pvmtmpnam", "makes a file name in the program's memory, whose length it cannot know"),
];

#[test]
fn hostile_arguments_never_crash_or_hang_a_call() {
    let machine = TestMachine::up();
    for seed in 1..=8 {
        machine.check(machine.program("hostile").args([&seed.to_string(), "40"]));
    }
}

/// The names that a text calls or declares as functions of PVM.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(move |c| !is_part(c));
    words.filter(|word| word.starts_with("pvm_") || word.starts_with("Pvm"))
}

#[test]
fn declared_functions_are_all_called_by_hostile_program() {
    let header = std::fs::read_to_string(stage().include.join("pvm3.h")).expect("pvm3.h");
    let source = program_source("hostile.c");
    let source = std::fs::read_to_string(source).expect("the program");
    // Calls of one kind are written with their kind only.
    let kinds = source.lines().filter_map(|line| line.trim().strip_prefix("BOTH(")?.split(',').next());
    let mut called: Vec<String> = functions(&source).map(str::to_owned).collect();
    kinds.for_each(|kind| called.extend([format!("pvm_pk{kind}"), format!("pvm_upk{kind}")]));
    let mut declared = 0;
    for line in header.lines().filter(|line| line.contains('(') && !line.starts_with([' ', '/', '#', '\t'])) {
        let Some(name) =
            functions(line.split('(').find(|part| functions(part).next().is_some()).unwrap_or_default())
                .last()
        else {
            continue;
        };
        declared += 1;
        assert!(
            called.iter().any(|call| call == name) || APART.iter().any(|(apart, _)| *apart == name),
            "tests/programs/pvm/machine/hostile.c does not call {name}"
        );
    }
    assert!(declared > 100, "{declared}");
}
