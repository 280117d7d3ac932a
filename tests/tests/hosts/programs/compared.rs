//! `parvum compare --host A,B -- PROGRAM`: a program of a user on several hosts.

use parvum_tests::bed::Bed;
use parvum_tests::parvum;
use parvum_tests::schemas::fits;
use parvum_tests::stage::stage;
use std::fs;
use std::process::Command;

/// Each rank prints its host. The program takes long enough to be measured.
const PROGRAM: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME], all[2][MPI_MAX_PROCESSOR_NAME];
    int length, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(name, &length);
    usleep(20000);
    MPI_Gather(name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %s\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn compare_places_the_ranks_on_the_named_hosts() {
    let Some(bed) = Bed::of(2) else { return };
    let [alpha, beta] = bed.hosts() else { panic!("two hosts") };
    let folder = std::env::temp_dir().join(format!("phosts-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("writable");
    fs::write(folder.join("where.c"), PROGRAM).expect("writable");
    let program = folder.join("where");
    let mut compile = Command::new(stage().bin.join("mpicc"));
    assert!(
        compile.arg(folder.join("where.c")).arg("-o").arg(&program).status().expect("mpicc runs").success()
    );
    let mut compare = alpha.command(parvum());
    compare.args(["compare", "--json", "--host", "alpha,beta", "-n", "2", "--budget", "2"]);
    compare.args(["--check", "grep -qx 'alpha beta'", "--libraries"]).arg(&stage().lib);
    compare.arg("--out").arg(folder.join("results")).env("TMPDIR", &folder).env("XDG_CACHE_HOME", &folder);
    let done = compare.arg("--").arg(&program).output().expect("it runs");
    let (said, complaints) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}{complaints}");
    let lines = fits("compare-program", &said);
    let ours = lines.as_array().expect("lines").iter().find(|line| line["system"] == "Parvum");
    assert!(ours.is_some_and(|line| line["seconds"][0].as_f64() > Some(0.02)), "{said}{complaints}");
    for host in [alpha, beta] {
        assert!(host.processes("daemon").is_empty(), "a daemon is left on {}", host.name);
    }
    fs::remove_dir_all(folder).expect("removed");
}
