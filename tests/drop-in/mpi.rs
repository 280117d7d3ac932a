//! Debian's MPI programs, and programs of ours that MPICH's own compilers make: as they are on MPICH, and with our library under its name.

use crate::machines::{Kind, Place};
use crate::table::run;
use crate::table::{Case, Input, Step, case};
use std::path::Path;
use std::process::Command;

const fn on_mpich(name: &'static str, steps: &'static [Step]) -> Case {
    Case { peer: Kind::Mpich, sorted: true, numbers: true, ..case(name, steps) }
}

/// Both processes say where they are, in pieces of lines: each to a file of its own.
macro_rules! netpipe {
    ($name:literal, $options:literal) => {
        on_mpich(
            $name,
            &[
                run(concat!(
                    "mpiexec -n 2 /bin/sh FILES/apart.sh /usr/bin/NPmpich2 ",
                    $options,
                    "-n 20 -u 4096 -o np"
                )),
                run("/usr/bin/cat out.0 out.1 said.0 said.1"),
            ],
        )
        .drop(&["HOST", "Passing data"])
        .needs(&["/usr/bin/NPmpich2"])
    };
}

/// Two processes: more than there are processors make MPICH take minutes.
macro_rules! scalapack {
    ($program:literal, $table:literal) => {
        on_mpich(
            $program,
            &[
                run(concat!("/usr/bin/cp /usr/share/scalapack/", $table, " .")),
                run(concat!("mpiexec -n 2 /usr/lib/x86_64-linux-gnu/scalapack/mpich-tests/", $program)),
            ],
        )
        // Lines of times: there are as many as times were long enough to be measured. What each process says at its end
        // stands among the others' lines.
        .drop(&["CPU ", "BLACS WARNING", "from {", "floating-point exceptions are signalling"])
        .repeats()
        .needs(&["/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests/xslu"])
    };
}

/// Coarrays of Fortran, which gfortran compiles to calls of a library over MPI's windows: programs that come with it.
macro_rules! coarrays {
    ($program:literal) => {
        on_mpich(
            concat!("coarrays ", $program),
            &[run(concat!(
                "mpiexec -n 2 /usr/lib/x86_64-linux-gnu/open-coarrays/mpich/bin/OpenCoarrays-2.10.1-tests/",
                $program
            ))
            .within(60)],
        )
        .exact()
        // A library that MPICH is built on says what it has not freed.
        .drop(&["yaksa", "UCX"])
        .needs(&[COARRAYS])
    };
}

/// A program of the package.
const COARRAYS: &str =
    "/usr/lib/x86_64-linux-gnu/open-coarrays/mpich/bin/OpenCoarrays-2.10.1-tests/co_reduce_test";

/// Debian's programs, and ours of `files`.
pub const CASES: &[Case] = &[
    netpipe!("NPmpich2", ""),
    netpipe!("NPmpich2 both ways", "-2 "),
    netpipe!("NPmpich2 one way", "-s "),
    netpipe!("NPmpich2 integrity", "-i "),
    on_mpich("yorick", YORICK).needs(&["/usr/bin/mpy.mpich2", YORICK_TEST]),
    on_mpich(
        "tachyon",
        &[run("mpiexec -n 2 tachyon FILES/spheres.dat -o spheres.tga"), run("/usr/bin/cksum spheres.tga")],
    )
    .exact()
    .drop(&["Time:", "Rendering Progress"])
    .needs(&["/usr/bin/tachyon"]),
    // A whole application in Fortran. Its seed is the time: numbers differ from run to run.
    on_mpich(
        "mocassin",
        &[
            run("/usr/bin/mkdir input output"),
            run("/usr/bin/cp FILES/nebula.in input/input.in"),
            run("/usr/bin/cp FILES/nebula_elements.in input/abun.in"),
            run("mpiexec -n 2 mocassin").within(60),
            run("/usr/bin/ls output"),
        ],
    )
    .needs(&["/usr/bin/mocassin"]),
    coarrays!("co_reduce_test"),
    coarrays!("atomics"),
    coarrays!("syncimages"),
    coarrays!("teams_subset"),
    coarrays!("source-alloc-sync"),
    // Two applications of quantum chemistry: one by global arrays on windows and threads, in Fortran and C; one in C++, which ends MPI in a
    // destructor. The first does not converge on two processes of MPICH.
    on_mpich(
        "nwchem",
        &[run("/usr/bin/cp FILES/water.nw ."), run("mpiexec -n 1 nwchem.mpich water.nw").within(60)],
    )
    .exact()
    .keep(&["Total SCF energy", "Nuclear repulsion", "One-electron energy"])
    .needs(&["/usr/bin/nwchem.mpich"]),
    on_mpich(
        "bagel",
        &[run("/usr/bin/cp FILES/water.json ."), run("mpiexec -n 2 BAGEL water.json").within(60)],
    )
    .exact()
    .keep(&["SCF iteration converged", "Number of basis functions"])
    .needs(&["/usr/bin/BAGEL"]),
    on_mpich("hdf5", &[run("mpiexec -n 2 parallel_file")]).exact().needs(&["/usr/bin/h5pcc.mpich"]),
    on_mpich("fortran", &[run("mpiexec -n 3 mpi_fortran").within(60)])
        .exact()
        .needs(&["/usr/bin/mpif90.mpich"]),
    on_mpich("fortran 2008", &[run("mpiexec -n 3 mpi_fortran08").within(60)])
        .exact()
        // A library that MPICH is built on says what it has not freed.
        .drop(&["yaksa"])
        .needs(&["/usr/bin/mpif90.mpich"]),
    on_mpich("c++", &[run("mpiexec -n 3 languages").within(60)])
        .exact()
        .drop(&["yaksa"])
        .needs(&["/usr/bin/mpicxx.mpich"]),
    scalapack!("xslu", "LU.dat"),
    scalapack!("xdlu", "LU.dat"),
    scalapack!("xclu", "LU.dat"),
    scalapack!("xzlu", "LU.dat"),
    scalapack!("xsllt", "LLT.dat"),
    scalapack!("xdllt", "LLT.dat"),
    scalapack!("xsqr", "QR.dat"),
    scalapack!("xzqr", "QR.dat"),
    scalapack!("xdtrd", "TRD.dat"),
    scalapack!("xsbrd", "BRD.dat"),
    scalapack!("xzhrd", "HRD.dat"),
    scalapack!("xcnep", "NEP.dat"),
    scalapack!("xzls", "LS.dat"),
    scalapack!("PBLAS/dpb1tst", "PBLAS/PDBLAS1TST.dat"),
    scalapack!("PBLAS/zpb2tst", "PBLAS/PZBLAS2TST.dat"),
];

/// Its own test.
const YORICK_TEST: &str = "/usr/share/doc/yorick-mpy-common/examples/testmp.i.gz";
const YORICK: &[Step] = &[
    run("/usr/bin/cp /usr/share/doc/yorick-mpy-common/examples/testmp.i.gz ."),
    run("/usr/bin/gunzip testmp.i.gz"),
    Step {
        input: Input::Text("mp_include, \"testmp.i\"\ntestmp1, 1\ntestmp2\ntestmp3\nquit\n"),
        ..run("mpiexec -n 2 mpy.mpich2")
    },
];

/// A file of each package, and the package.
pub const PACKAGES: [(&str, &str); 13] = [
    ("/usr/bin/mpiexec.mpich", "mpich"),
    ("/usr/bin/mpicxx.mpich", "libmpich-dev"),
    ("/usr/bin/NPmpich2", "netpipe-mpich2"),
    ("/usr/bin/mpy.mpich2", "yorick-mpy-mpich2"),
    ("/usr/bin/mocassin", "mocassin"),
    ("/usr/lib/x86_64-linux-gnu/libtachyon-mpich.so.0", "libtachyon-mpich-0"),
    ("/usr/bin/tachyon-nox", "tachyon-bin-nox"),
    ("/usr/bin/h5pcc.mpich", "libhdf5-mpich-dev"),
    (COARRAYS, "libcoarrays-mpich-dev"),
    ("/usr/bin/nwchem.mpich", "nwchem-mpich"),
    ("/usr/bin/BAGEL", "bagel"),
    ("/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests/xslu", "scalapack-mpi-test"),
    ("/usr/bin/gfortran", "gfortran"),
];

/// Compiler, sources and name of the programs that MPICH's own compilers make.
const PROGRAMS: [(&str, &[&str], &str); 4] = [
    ("mpif90.mpich", &["-std=legacy", "-w", "../../programs/mpi/fortran/mpi_fortran.f90"], "mpi_fortran"),
    ("mpif90.mpich", &["../../programs/mpi/fortran/mpi_fortran08.f90"], "mpi_fortran08"),
    ("mpicxx.mpich", &["-w", "languages.cc"], "languages"),
    ("h5pcc.mpich", &["parallel_file.c"], "parallel_file"),
];

/// Compiles them where there is a compiler for them.
pub fn compile(place: &Place) -> Result<(), String> {
    for (compiler, words, name) in PROGRAMS {
        if !Path::new("/usr/bin").join(compiler).exists() {
            continue;
        }
        let mut command = Command::new(compiler);
        command.env("LC_ALL", "C").current_dir(crate::machines::files());
        command.args(words).arg("-o").arg(place.root.join("bin").join(name));
        let done = command.output().map_err(|why| format!("{compiler}: {why}"))?;
        if !done.status.success() {
            return Err(format!("{name}: {}", String::from_utf8_lossy(&done.stderr)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::End;

    #[test]
    fn mpi_cases_all_compare_with_mpich_and_exit_0() {
        assert!(CASES.iter().all(|case| case.peer == Kind::Mpich));
        assert!(CASES.iter().all(|case| case.steps.iter().all(|step| step.ends == End::Code(0))));
    }
}
