//! LU, SP and BT of the NAS benchmarks over MPI's calls.

use crate::programs::launch::mpiexec;
use parvum_tests::TestMachine;
use parvum_tests::npb::{BENCHMARKS, Npb, verified};

#[test]
fn class_s_values_are_official_over_mpi() {
    let machine = TestMachine::up();
    let program = Npb::over("mpi", "mpi");
    for benchmark in BENCHMARKS {
        for tasks in [1, 2, 4] {
            let count = tasks.to_string();
            let words =
                ["-n", &count, program.path(), "--benchmark", benchmark, "--class", "S", "--tasks", &count];
            let done = mpiexec(&machine, &words).output().expect("mpiexec runs");
            assert!(done.status.success(), "{words:?}: {done:?}");
            verified(&String::from_utf8_lossy(&done.stdout), benchmark, tasks);
        }
        let words = [
            "-n",
            "4",
            program.path(),
            "--benchmark",
            benchmark,
            "--class",
            "S",
            "--tasks",
            "4",
            "--perturb",
            "1e-5",
        ];
        let done = mpiexec(&machine, &words).output().expect("mpiexec runs");
        let page = String::from_utf8_lossy(&done.stdout);
        assert!(!done.status.success() && page.contains("NOT VERIFIED"), "{benchmark}: {done:?}");
    }
    let words = ["-n", "2", program.path(), "--benchmark", "lu", "--class", "S", "--tasks", "4"];
    let done = mpiexec(&machine, &words).output().expect("mpiexec runs");
    let why = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && why.contains("mpirun started 2 tasks, --tasks says 4"), "{why}");
}
