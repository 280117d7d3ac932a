//! `mpicc` and `mpicxx`, as users and build systems call them.

use parvum_tests::stage::{compiler, fortran, project, stage};
use std::process::{Command, Output};

fn wrapper(name: &str) -> Command {
    let mut command = compiler(stage().bin.join(name).to_str().expect("a plain path"));
    for variable in ["CC", "CXX", "MPICH_CC", "MPICH_CXX"] {
        command.env_remove(variable);
    }
    command
}

fn said(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the wrapper runs");
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("text")
}

#[test]
fn mpicc_show_prints_command() {
    let prefix = stage().lib.parent().expect("lib lies in it").to_str().expect("a plain path").to_owned();
    let whole = said(wrapper("mpicc").args(["-show", "a program.c", "-o", "p"]));
    let links = format!("-L{prefix}/lib -Wl,-rpath,{prefix}/lib -Wl,--enable-new-dtags -lmpi");
    assert_eq!(whole, format!("cc -I{prefix}/include 'a program.c' -o p {links}\n"));
    assert_eq!(
        said(wrapper("mpicc").args(["-show", "-c", "p.c"])),
        format!("cc -I{prefix}/include -c p.c\n")
    );
    for asked in ["-compile-info", "-compile_info"] {
        assert_eq!(said(wrapper("mpicc").arg(asked)), format!("cc -I{prefix}/include\n"));
    }
    for asked in ["-link-info", "-link_info"] {
        assert_eq!(said(wrapper("mpicxx").arg(asked)), format!("c++ {links}\n"));
    }
    // As CMake's FindMPI asks.
    assert_eq!(said(wrapper("mpicc").arg("-showme:compile")), format!("-I{prefix}/include\n"));
    assert_eq!(said(wrapper("mpicc").arg("-showme:link")), format!("{links}\n"));
}

#[test]
fn mpicc_selects_standard_abi_by_option_or_name() {
    let prefix = stage().lib.parent().expect("lib lies in it").to_str().expect("a plain path").to_owned();
    let links = format!("-L{prefix}/lib -Wl,-rpath,{prefix}/lib -Wl,--enable-new-dtags -lmpi_abi");
    let whole = format!("cc -DMPI_ABI -I{prefix}/include p.c {links}\n");
    for option in ["-mpi-abi", "-mpi_abi"] {
        assert_eq!(said(wrapper("mpicc").args([option, "-show", "p.c"])), whole);
    }
    assert_eq!(said(wrapper("mpicc_abi").args(["-show", "p.c"])), whole);
    assert_eq!(said(wrapper("mpicxx_abi").args(["-show", "p.c"])), whole.replace("cc -D", "c++ -D"));
    assert_eq!(
        said(wrapper("mpicc").args(["-mpi-abi", "-showme:compile"])),
        format!("-DMPI_ABI -I{prefix}/include\n")
    );
    assert_eq!(said(wrapper("mpicc_abi").arg("-showme:link")), format!("{links}\n"));
}

#[test]
fn mpifort_links_its_library_and_sets_gfortran_flags() {
    let words = |name: &str, compiler: &str| {
        said(wrapper(name).args(["-show", "p.f90"]).env("MPICH_FC", compiler).env_remove("FC"))
    };
    for name in ["mpifort", "mpif77", "mpif90"] {
        let line = words(name, "flang");
        assert!(line.starts_with("flang -I") && line.ends_with(" -lmpifort -lmpi\n"), "{line}");
    }
    if fortran().is_some() {
        assert!(words("mpifort", "gfortran").starts_with("gfortran -fallow-argument-mismatch -I"));
    }
}

#[test]
fn mpicc_compiler_can_be_replaced() {
    let first = |command: &mut Command| said(command).split(' ').next().map(str::to_owned);
    let is = |name: &str| Some(name.to_owned());
    assert_eq!(first(wrapper("mpicc").args(["-show", "p.c"]).env("CC", "gcc")), is("gcc"));
    assert_eq!(
        first(wrapper("mpicc").args(["-show", "p.c"]).env("CC", "gcc").env("MPICH_CC", "tcc")),
        is("tcc")
    );
    assert_eq!(first(wrapper("mpicc").args(["-cc=clang", "-show", "p.c"])), is("clang"));
    assert_eq!(first(wrapper("mpic++").args(["-show", "p.cc"]).env("MPICH_CXX", "clang++")), is("clang++"));
    // It would call itself for ever.
    assert_eq!(first(wrapper("mpicc").args(["-show", "p.c"]).env("CC", "mpicc")), is("cc"));
    let nothing = wrapper("mpicc").output().expect("it runs");
    assert_eq!(nothing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("usage: mpicc"));
}

#[test]
fn program_built_by_mpicc_finds_library_without_variable() {
    let target = stage().programs.join(format!("mpi-hello-{}", std::process::id()));
    let source = project().join("examples/hello_mpi.c");
    said(wrapper("mpicc").args(["-Wall", "-Werror", "-o"]).arg(&target).arg(source));
    let listed = said(Command::new("ldd").arg(&target).env_remove("LD_LIBRARY_PATH"));
    std::fs::remove_file(&target).expect("it is there");
    let ours =
        listed.lines().find(|line| line.contains("libmpi.so.12")).expect("it is linked to libmpi.so.12");
    assert!(ours.contains(stage().lib.to_str().expect("a plain path")), "{listed}");
}
