//! The two binary interfaces: one source built for both says the same, and no process holds both libraries.

use parvum_tests::TestMachine;
use parvum_tests::stage::{compiler, mpi_include, program, stage};
use std::fs;
use std::process::{Command, Output};

/// Runs a program built for MPICH's interface, or with `_abi` after its name for the standard's.
fn run(name: &str, ranks: &str, arguments: &[&str]) -> Output {
    let machine = TestMachine::up();
    let mut command = Command::new(stage().bin.join("mpiexec"));
    machine.as_user(&mut command);
    command.env_remove("LD_LIBRARY_PATH").args(["-n", ranks]).arg(program(name)).args(arguments);
    command.output().expect("mpiexec runs")
}

/// What it says, its lines in order.
fn said(name: &str, ranks: &str, arguments: &[&str]) -> Vec<String> {
    let done = run(name, ranks, arguments);
    assert!(done.status.success(), "{name} on {ranks}: {done:?}");
    let text = String::from_utf8(done.stdout).expect("text");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn source_built_for_both_abis_prints_the_same() {
    for (name, arguments) in [
        ("mpi_words", &[][..]),
        ("mpi_windows", &[]),
        ("mpi_launch", &["who"]),
        ("mpi_launch", &["var", "PMI_SIZE"]),
    ] {
        for ranks in ["2", "3", "8"] {
            let one = said(name, ranks, arguments);
            assert!(!one.is_empty(), "{name} on {ranks} says nothing");
            assert_eq!(one, said(&format!("{name}_abi"), ranks, arguments), "{name} on {ranks}");
        }
    }
    // How many things these check depends on what comes first; that all hold is said by their end.
    for ranks in ["2", "3", "8"] {
        let both = ["mpi_checks", "mpi_checks_abi"].map(|name| said(name, ranks, &[]));
        let counted = |lines: &[String]| lines.iter().filter(|line| line.ends_with(" checks")).count();
        assert_eq!(both.each_ref().map(|lines| counted(lines).to_string()), [ranks, ranks], "{both:?}");
    }
}

#[test]
fn ranks_of_one_job_may_use_either_abi() {
    let second = program("mpi_words_abi");
    let more = [":", "-n", "2", second.to_str().expect("a plain path")];
    assert_eq!(said("mpi_words", "1", &more), said("mpi_words", "3", &[]));
}

#[test]
fn abort_returns_its_code_with_either_abi() {
    for name in ["mpi_launch", "mpi_launch_abi"] {
        let done = run(name, "3", &["abort", "7"]);
        assert_eq!(done.status.code(), Some(7), "{done:?}");
    }
}

#[test]
fn second_mpi_abi_in_process_is_refused() {
    let text = "#include <mpi.h>\n#include <dlfcn.h>\nint main(int count, char **words) {\n\
                return count == 2 && dlopen(words[1], RTLD_NOW) ? MPI_Init(0, 0) : 3;\n}\n";
    let folder = &stage().programs;
    let source = folder.join(format!("mpi-two-{}.c", std::process::id()));
    fs::write(&source, text).expect("the target directory is writable");
    for (wrapper, own, other) in
        [("mpicc", "libmpi.so.12", "libmpi_abi.so.1"), ("mpicc_abi", "libmpi_abi.so.1", "libmpi.so.12")]
    {
        let target = source.with_extension(wrapper);
        let mut cc = compiler(stage().bin.join(wrapper).to_str().expect("a plain path"));
        let built = cc.arg("-o").arg(&target).arg(&source).output().expect("mpicc runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let machine = TestMachine::up();
        let mut command = Command::new(stage().bin.join("mpiexec"));
        machine.as_user(&mut command);
        command.args(["-n", "1"]).arg(&target).arg(stage().lib.join(other));
        let done = command.output().expect("mpiexec runs");
        fs::remove_file(&target).expect("it is there");
        let complaint = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        let words = ["two MPI libraries are in this process", own, other];
        assert!(words.iter().all(|word| complaint.contains(word)), "{complaint}");
    }
    fs::remove_file(&source).expect("it is there");
}

/// The table of a face is made from the two headers, so a name that one of them lacks would be lost silently.
#[test]
fn standard_header_has_mpich_names_except_known() {
    let names = |file: &str| -> Vec<String> {
        let text = fs::read_to_string(mpi_include().join(file)).expect("the header is there");
        let defined =
            text.lines().filter_map(|line| line.strip_prefix("#define MPI_")?.split([' ', '(']).next());
        defined.filter(|name| !name.starts_with("T_")).map(str::to_owned).collect()
    };
    let standard = names("mpi_abi.h");
    let lacking: Vec<_> = names("mpi.h").into_iter().filter(|name| !standard.contains(name)).collect();
    let known =
        ["LB", "UB", "COMBINER_HVECTOR_INTEGER", "COMBINER_HINDEXED_INTEGER", "COMBINER_STRUCT_INTEGER"];
    assert_eq!(lacking, known);
}
