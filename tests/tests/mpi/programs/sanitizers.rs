//! Programs that are built with the address or the thread sanitizer: they hear of their own faults, and of none of the library's.

use parvum_tests::stage::{compiler, project, stage};
use parvum_tests::{Lack, TestMachine, skip};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Two threads that communicate, each on a communicator of its own, and a window. With the word `race` they also race.
const PROGRAM: &str = "#include <mpi.h>\n#include <pthread.h>\nstatic int shared, races;\n\
    static void *work(void *comm) {\n\
    for (int turn = 0; turn < 200; turn++) { int give = turn, got; if (races) shared++;\n\
    MPI_Sendrecv(&give, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, *(MPI_Comm *)comm, MPI_STATUS_IGNORE); }\n\
    return 0; }\n\
    int main(int count, char **words) { int level; char *memory; pthread_t thread; MPI_Win window;\n\
    races = count > 1; MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);\n\
    MPI_Comm own = MPI_COMM_SELF, copy; MPI_Comm_dup(own, &copy);\n\
    pthread_create(&thread, 0, work, &own); work(&copy); pthread_join(thread, 0);\n\
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window); MPI_Win_free(&window);\n\
    MPI_Comm_free(&copy); MPI_Finalize(); return 0; }\n";

/// The program, built with a sanitizer; `None` if the compiler has none.
fn built(sanitizer: &str) -> Option<PathBuf> {
    let target = stage().programs.join(format!("mpi-sanitized-{sanitizer}-{}", std::process::id()));
    let source = target.with_extension("c");
    fs::write(&source, PROGRAM).expect("the target directory is writable");
    let mut cc = compiler(stage().bin.join("mpicc").to_str().expect("a plain path"));
    cc.args(["-g", "-pthread", &format!("-fsanitize={sanitizer}"), "-o"]).arg(&target).arg(&source);
    let is_built = cc.output().is_ok_and(|done| done.status.success());
    fs::remove_file(&source).expect("it is there");
    is_built.then_some(target)
}

fn run(program: &PathBuf, words: &[&str], options: (&str, &str)) -> Output {
    let machine = TestMachine::up();
    let mut command = Command::new(stage().bin.join("mpiexec"));
    machine.as_user(&mut command);
    command.args(["-n", "2"]).arg(program).args(words).env(options.0, options.1);
    command.output().expect("mpiexec runs")
}

#[test]
fn address_sanitizer_finds_no_leak_of_library() {
    let Some(program) = built("address") else {
        return skip(Lack::Host, "the compiler has no address sanitizer");
    };
    let done = run(&program, &[], ("ASAN_OPTIONS", "detect_leaks=1"));
    assert!(done.status.success() && done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    fs::remove_file(program).expect("it is there");
}

#[test]
fn thread_sanitizer_reports_only_races_of_program() {
    let Some(program) = built("thread") else {
        return skip(Lack::Host, "the compiler has no thread sanitizer");
    };
    let list = project().join("tools/tsan.supp");
    let options = format!("suppressions={}", list.display());
    let done = run(&program, &[], ("TSAN_OPTIONS", &options));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if said.contains("unexpected memory mapping") {
        return skip(Lack::Host, "the thread sanitizer does not run on this kernel");
    }
    assert!(done.status.success() && said.is_empty(), "{said}");
    let done = run(&program, &["race"], ("TSAN_OPTIONS", &options));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("data race"), "{done:?}");
    fs::remove_file(program).expect("it is there");
}
