//! How programs end that forget to, and those that nobody has started as one of several.

use parvum_tests::TestMachine;
use parvum_tests::running::await_tasks;
use parvum_tests::stage::{program, stage};
use std::process::Command;

#[test]
fn exit_without_finalize_fails_the_job() {
    let machine = TestMachine::up();
    let mut run = machine.command(&["run", "-n", "3"]);
    let mut mpiexec = Command::new(stage().bin.join("mpiexec"));
    mpiexec.args(["-n", "3"]);
    for command in [&mut run, &mut mpiexec] {
        machine.as_user(command);
        let done = command.arg(program("mpi_errors")).arg("exit").output().expect("it runs");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("rank 0 of 3: the program has ended without MPI_Finalize"), "{said}");
        assert!(said.contains("call MPI_Finalize on every rank"), "{said}");
        // What it had written is not lost.
        let lines = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(lines.contains("rank 0 was here"), "{lines}");
        await_tasks(&machine, 0);
    }
}

/// `_exit` runs nothing of the program's any more: the daemon says it. After MPI_Finalize it is an end like any other.
#[test]
fn silent_exit_without_finalize_fails_the_job() {
    let machine = TestMachine::up();
    for (how, code) in [("_exit", 1), ("finalize_exit", 0)] {
        let done =
            machine.run(&["run", "-n", "3", program("mpi_errors").to_str().expect("a plain path"), how]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(code), "{how}: {said}");
        let words =
            ["the program has ended by _exit without MPI_Finalize", "call MPI_Finalize on every rank"];
        assert!(words.iter().all(|word| said.contains(word) == (code == 1)), "{how}: {said}");
        await_tasks(&machine, 0);
    }
}

/// Destructors of what was there before `MPI_Init` run late, and some programs end MPI in one.
#[test]
fn finalize_in_destructor_is_accepted() {
    if !parvum_tests::stage::cplusplus() {
        return parvum_tests::skip(parvum_tests::Lack::Tools, "no c++ is installed");
    }
    let text = "#include <mpi.h>\n#include <cstdio>\nstruct Last {\n  ~Last() {\n    int rank, done;\n\
                    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    MPI_Finalize();\n    MPI_Finalized(&done);\n\
                    std::printf(\"rank %d: %d\\n\", rank, done);\n  }\n} last;\n\
                int main(int count, char **words) {\n  int sum, one = 1;\n  MPI_Init(&count, &words);\n\
                  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n  return sum == 3 ? 0 : 1;\n}\n";
    let source = stage().programs.join(format!("mpi-destructor-{}.cpp", std::process::id()));
    let target = source.with_extension("out");
    std::fs::write(&source, text).expect("the target directory is writable");
    let mut cxx = parvum_tests::stage::compiler(stage().bin.join("mpicxx").to_str().expect("a plain path"));
    let built = cxx.arg("-o").arg(&target).arg(&source).output().expect("mpicxx runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let machine = TestMachine::up();
    let done = machine.run(&["run", "-n", "3", target.to_str().expect("a plain path")]);
    let mut said: Vec<String> = String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect();
    said.sort();
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
    assert_eq!(said, ["rank 0: 1", "rank 1: 1", "rank 2: 1"]);
    for file in [source, target] {
        std::fs::remove_file(file).expect("it is there");
    }
}

/// A program that was started by hand, in a directory without a machine.
#[test]
fn singleton_starts_no_machine_until_needed() {
    let machine = TestMachine::new();
    let said = machine.check(&mut machine.program("mpi_alone"));
    assert!(said.contains("all is well"), "{said}");
    assert!(!machine.dir.exists(), "a machine was started in {}", machine.dir.display());
    let said = machine.check(machine.program("mpi_alone").arg("send"));
    assert!(said.contains("all is well"), "{said}");
    assert!(machine.dir.exists(), "messages need a machine");
}
