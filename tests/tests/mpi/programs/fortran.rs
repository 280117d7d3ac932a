//! Fortran: `mpif.h`, the module, `mpifort`, and what a program in it may expect.

use crate::calls::core::said;
pub(crate) use made::is_of_c_alone;
use parvum_tests::stage::{compiler, fortran, mpi_include, project, stage};
use parvum_tests::{Lack, skip};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[allow(dead_code, reason = "another maker uses some of it")]
#[path = "../../../../interfaces/mpi/fortran.rs"]
mod made;

#[allow(dead_code, reason = "the maker of the module uses the rest")]
#[path = "../../../../interfaces/mpi/fortran90.rs"]
mod module;

/// The numbers of a header's constants.
fn constants(header: &Path) -> Option<BTreeMap<String, String>> {
    let text = fs::read_to_string(header).ok()?;
    let defined = text.lines().filter_map(|line| {
        let (name, value) = line.trim().strip_prefix("PARAMETER (")?.strip_suffix(')')?.split_once('=')?;
        Some((name.to_owned(), value.trim_matches(['(', ')']).to_lowercase()))
    });
    Some(defined.collect())
}

#[test]
fn fortran_constants_equal_those_of_mpich() {
    let theirs = ["x86_64-linux-gnu", "aarch64-linux-gnu"];
    let theirs =
        theirs.iter().find_map(|arch| constants(&Path::new("/usr/include").join(arch).join("mpich/mpif.h")));
    let Some(theirs) = theirs else { return skip(Lack::Peers, "Debian's libmpich-dev is not installed") };
    let ours = constants(&mpi_include().join("mpif.h")).expect("the header is there");
    // What each library says of itself; three in one line, and lengths as differences.
    let own = ["MPI_VERSION", "MPI_SUBVERSION", "MPI_INTEGER16", "MPI_SOURCE"];
    let differ = theirs.iter().filter(|(name, value)| {
        !own.contains(&name.as_str()) && !value.ends_with("-1") && ours.get(*name) != Some(value)
    });
    assert_eq!(differ.collect::<Vec<_>>(), []);
    assert!(theirs.len() > 200, "{theirs:?}");
}

#[test]
fn fortran_programs_pass_mpi_checks() {
    if fortran().is_none() {
        return skip(Lack::Tools, "gfortran is not installed");
    }
    for ranks in [2, 3, 8] {
        let lines = said(ranks, "mpi_fortran", false);
        assert_eq!(lines.len(), ranks as usize, "{lines:?}");
        assert!(lines.iter().all(|line| line.ends_with(": 55 checks")), "{lines:?}");
    }
}

/// The module `mpi_f08`: what Debian's program takes from it, and what only a module with descriptors can give. And the module `mpi`.
#[test]
fn fortran_modules_pass_mpi_checks() {
    if fortran().is_none() {
        return skip(Lack::Tools, "gfortran is not installed");
    }
    for (program, checks) in [("mpi_fortran08", 9), ("mpi_module08", 16), ("mpi_fortran90", 6)] {
        for ranks in [2, 3, 8] {
            let lines = said(ranks, program, false);
            assert_eq!(lines.len(), ranks as usize, "{lines:?}");
            assert!(lines.iter().all(|line| line.ends_with(&format!(": {checks} checks"))), "{lines:?}");
        }
    }
}

#[test]
fn fortran_sources_compile_with_header_and_module() {
    if fortran().is_none() {
        return skip(Lack::Tools, "gfortran is not installed");
    }
    let body = "      integer ierr, n\n      real*8 x(3)\n      call MPI_INIT(ierr)\n      call MPI_SIZEOF(x, n, ierr)\n      \
                if (n .ne. 8) stop 1\n      call MPI_FINALIZE(ierr)\n      end\n";
    let programs = [
        ("f", "      program old\n      include 'mpif.h'\n"),
        ("f90", "program new\n  implicit none\n  include 'mpif.h'\n"),
        ("f90", "program by_module\n  use mpi\n  implicit none\n"),
        ("f90", "program by_module_of_2008\n  use mpi_f08\n  implicit none\n"),
    ];
    for (at, (form, head)) in programs.into_iter().enumerate() {
        let source = stage().programs.join(format!("mpi-form-{}-{at}.{form}", std::process::id()));
        fs::write(&source, format!("{head}{body}")).expect("the target directory is writable");
        let target = source.with_extension("out");
        let mut mpif90 = compiler(stage().bin.join("mpif90").to_str().expect("a plain path"));
        let done = mpif90.args(["-Wall", "-Wno-unused", "-o"]).arg(&target).arg(&source).output();
        let done = done.expect("the wrapper runs");
        assert!(
            done.status.success() && done.stderr.is_empty(),
            "{head}{}",
            String::from_utf8_lossy(&done.stderr)
        );
        let alone =
            std::process::Command::new(&target).env_remove("PARVUM_TID").output().expect("it is built");
        assert!(alone.status.success(), "{head}{alone:?}");
        for file in [source, target] {
            fs::remove_file(file).expect("it is there");
        }
    }
}

#[test]
fn mpi_module_refuses_call_without_ierror() {
    if fortran().is_none() {
        return skip(Lack::Tools, "gfortran is not installed");
    }
    let source = stage().programs.join(format!("mpi-lacking-{}.f90", std::process::id()));
    fs::write(&source, "program lacking\n  use mpi\n  call MPI_Init()\nend program\n").expect("writable");
    let mut mpif90 = compiler(stage().bin.join("mpif90").to_str().expect("a plain path"));
    let done = mpif90.args(["-fsyntax-only"]).arg(&source).output().expect("the wrapper runs");
    fs::remove_file(source).expect("it is there");
    assert!(String::from_utf8_lossy(&done.stderr).contains("Missing actual argument"), "{done:?}");
}

/// Each subroutine of the module `mpi`, under either name, is in the library.
#[test]
fn library_exports_every_subroutine_of_mpi_module() {
    if fortran().is_none() {
        return skip(Lack::Tools, "gfortran is not installed");
    }
    let text = fs::read_to_string(project().join("interfaces/mpi/functions.txt")).expect("it is there");
    let done = std::process::Command::new("nm").arg("-D").arg(stage().lib.join("libmpifort.so.12")).output();
    let symbols = String::from_utf8_lossy(&done.expect("nm runs").stdout).into_owned();
    let all = crate::description::read(&text);
    let names = all.iter().filter(|function| module::is_in_module(function)).flat_map(|function| {
        ["", "p"].map(|first| format!(" T {first}{}{}_", function.prefix(), function.name).to_lowercase())
    });
    let missing: Vec<_> = names
        .filter(|name| !symbols.to_lowercase().lines().any(|line| line.ends_with(name.as_str())))
        .collect();
    assert_eq!(missing, [""; 0]);
}
