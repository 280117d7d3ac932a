//! Checks of the specification, each as large as it says: collective operations, datatypes, many of everything, huge messages, files,
//! and who counts what when a tool stands between.

use crate::calls::core::{said, said_killed, said_with};
use parvum_tests::stage::{compiler, fortran, program, stage};
use parvum_tests::{Lack, TestMachine, skip};
use std::fs;
use std::process::Command;

/// All ranks say how much they have checked, and nothing else.
fn holds(ranks: u32, name: &str) {
    let lines = said(ranks, name, false);
    assert_eq!(lines.len(), ranks as usize, "{name}: {lines:?}");
    assert!(lines.iter().all(|line| line.ends_with(" checks")), "{name}: {lines:?}");
}

#[test]
fn collectives_are_correct_from_every_root() {
    for ranks in 1..=9 {
        holds(ranks, "mpi_collectives");
    }
}

/// Ranks that describe the same data differently take different ways into the same algorithm.
#[test]
fn ranks_may_describe_short_data_differently() {
    for ranks in [1, 2, 3, 5, 8] {
        holds(ranks, "mpi_plain");
    }
}

/// A rank that only gives in an operation may leave before the others have given. If it dies, the ranks that wait learn it.
#[test]
fn rank_may_leave_before_others_finish_the_operation() {
    for ranks in [3, 5] {
        holds(ranks, "mpi_leave");
        let lines = said_killed(ranks, "mpi_leave", "dies");
        assert_eq!(lines.len(), ranks as usize - 1, "{lines:?}");
        assert!(lines.iter().all(|line| line.ends_with(" checks")), "{lines:?}");
    }
}

/// To oneself, both ways at once, and receives that one of two threads begins.
#[test]
fn short_paths_of_messages_keep_the_order() {
    for first in [&[][..], &["first"]] {
        for ranks in [2, 3] {
            let lines = said_with(ranks, "mpi_short", first, false);
            assert_eq!(lines.len(), ranks as usize, "{lines:?}");
            assert!(lines.iter().all(|line| line.ends_with(" checks")), "{lines:?}");
        }
    }
}

/// The same operations, begun and waited for, and prepared and started.
#[test]
fn nonblocking_and_persistent_collectives_give_the_same() {
    for form in ["begun", "prepared"] {
        for ranks in [1, 2, 3, 5, 8, 9] {
            let lines = said_with(ranks, "mpi_collectives", &[form], false);
            assert_eq!(lines.len(), ranks as usize, "{form}: {lines:?}");
            assert!(lines.iter().all(|line| line.ends_with(" checks")), "{form}: {lines:?}");
        }
    }
}

#[test]
fn datatypes_describe_their_bytes() {
    for ranks in [2, 3, 8] {
        holds(ranks, "mpi_types");
        holds(ranks, "mpi_types_abi");
    }
}

#[test]
fn objects_in_large_numbers_work() {
    for ranks in [2, 8] {
        holds(ranks, "mpi_many");
    }
}

/// Sixteen ranks wherever there are fewer cores; by either binary interface.
#[test]
fn collective_with_many_ranks_leaves_cores_to_others() {
    holds(16, "mpi_crowd");
    holds(16, "mpi_crowd_abi");
}

#[test]
fn message_may_be_longer_than_int() {
    holds(2, "mpi_huge");
}

/// Runs a program on a file of its own.
#[test]
fn files_contain_what_all_views_wrote() {
    for (name, ranks) in [("mpi_files", "2"), ("mpi_files", "3"), ("mpi_files", "8"), ("mpi_files_abi", "3")]
    {
        let machine = TestMachine::up();
        let (file, program) = (machine.dir.join("data"), program(name));
        let words = ["run", "-n", ranks, program.to_str().expect("plain"), file.to_str().expect("plain")];
        let done = machine.run(&words);
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{name} on {ranks}: {done:?}");
        assert_eq!(
            text.lines().filter(|line| line.ends_with(" checks")).count().to_string(),
            ranks,
            "{text}"
        );
        assert!(!file.exists(), "it is deleted on close");
    }
}

/// Not all that ranks say differently makes one of them wait: then it is said where it is found.
#[test]
fn collective_argument_mismatch_is_reported() {
    for (way, what) in [
        (
            "more",
            "MPI_ERR_TRUNCATE: MPI_Bcast: the ranks do not agree on what they do, or how much data there is: compare",
        ),
        (
            "less",
            "MPI_ERR_TRUNCATE: MPI_Bcast: the ranks do not agree on what they do, or how much data there is: compare",
        ),
        (
            "long",
            "MPI_ERR_TRUNCATE: MPI_Bcast: the ranks do not agree on what they do, or how much data there is: compare",
        ),
        (
            "sum",
            "MPI_ERR_TRUNCATE: MPI_Allreduce: the ranks do not agree on what they do, or how much data there is: compare",
        ),
        (
            "gather",
            "MPI_ERR_TRUNCATE: MPI_Gather: the ranks do not agree on what they do, or how much data there is: compare",
        ),
    ] {
        let machine = TestMachine::up();
        let program = program("mpi_unlike");
        let done = machine.run(&["run", "-n", "3", program.to_str().expect("plain"), way]);
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{way}: {done:?}");
        assert!(text.lines().any(|line| line.contains(what)), "{way}: {text}");
    }
}

/// A tool's `MPI_Send` is called for the program's sends, in C and in Fortran, and for none that an operation of a group makes.
#[test]
fn pmpi_tool_counts_sends_of_program_only() {
    let folder = &stage().programs;
    let name = |end: &str| folder.join(format!("mpi-tool-{}{end}", std::process::id()));
    let tool = "#include <mpi.h>\n#include <stdio.h>\nstatic int sends;\n\
        int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)\n\
        { sends++; return PMPI_Send(buf, count, type, dest, tag, comm); }\n\
        int MPI_Finalize(void) { printf(\"%d sends\\n\", sends); fflush(stdout); return PMPI_Finalize(); }\n";
    let c = "#include <mpi.h>\nint main(void) {\n\
        int rank, size, data[4000] = {0}, all[4000];\n\
        MPI_Init(NULL, NULL);\nMPI_Comm_rank(MPI_COMM_WORLD, &rank);\nMPI_Comm_size(MPI_COMM_WORLD, &size);\n\
        for (int turn = 0; turn < 3; turn++) {\n\
        if (rank == 0) MPI_Send(data, 10, MPI_INT, 1, 1, MPI_COMM_WORLD);\n\
        if (rank == 1) MPI_Recv(data, 10, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\
        MPI_Barrier(MPI_COMM_WORLD);\nMPI_Allreduce(data, all, 4000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n\
        MPI_Alltoall(data, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);\n}\n\
        MPI_Finalize();\nreturn 0;\n}\n";
    let f = "program sends\nuse mpi\nimplicit none\ninteger :: rank, e, turn, data(10) = 0, sum(10)\n\
        call MPI_INIT(e)\ncall MPI_COMM_RANK(MPI_COMM_WORLD, rank, e)\ndo turn = 1, 3\n\
        if (rank == 0) call MPI_SEND(data, 10, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, e)\n\
        if (rank == 1) call MPI_RECV(data, 10, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)\n\
        call MPI_ALLREDUCE(data, sum, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)\nend do\n\
        call MPI_FINALIZE(e)\nend program\n";
    let build = |wrapper: &str, source: &str, text: &str, target: &str, more: &[&str]| {
        fs::write(name(source), text).expect("the target directory is writable");
        let mut cc = compiler(stage().bin.join(wrapper).to_str().expect("a plain path"));
        let built = cc.args(more).arg("-o").arg(name(target)).arg(name(source)).output().expect("it runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        fs::remove_file(name(source)).expect("it is there");
    };
    build("mpicc", ".tool.c", tool, ".so", &["-shared", "-fPIC"]);
    build("mpicc", ".c", c, ".c.out", &[]);
    let mut programs = vec![".c.out"];
    match fortran() {
        Some(_) => {
            build("mpifort", ".f90", f, ".f.out", &[]);
            programs.push(".f.out");
        }
        None => skip(Lack::Tools, "gfortran is not installed"),
    }
    for end in programs {
        let machine = TestMachine::up();
        let mut mpiexec = Command::new(stage().bin.join("mpiexec"));
        machine.as_user(&mut mpiexec);
        mpiexec.args(["-n", "2", "-env", "LD_PRELOAD"]).arg(name(".so")).arg(name(end));
        let done = mpiexec.output().expect("mpiexec runs");
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        assert!(done.status.success() && lines == ["0 sends", "3 sends"], "{end}: {done:?}");
        fs::remove_file(name(end)).expect("it is there");
    }
    fs::remove_file(name(".so")).expect("it is there");
}
