//! Parvum as a user has it after `./x install PREFIX`: moved about, compiled against, and taken away again.

use parvum_tests::stage::{compiler, project, stage};
use parvum_tests::{Lack, TestMachine, parvum, skip};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = r#"
#include <parvum.h>
#include <pvm3.h>
#include <stdio.h>
int main(void)
{
    int tid = pvm_mytid(), inst = pvm_joingroup("installed");
    printf("%d in %d\n", inst, pvm_gsize("installed"));
    return parvum_ledger(0, 0) < 1 || pvm_exit() != PvmOk || tid <= 0;
}
"#;

const CMAKE: &str = "
cmake_minimum_required(VERSION 3.13)
project(ring C)
find_package(Parvum 0.2 REQUIRED CONFIG)
add_executable(program program.c)
target_link_libraries(program PRIVATE Parvum::gpvm3 Parvum::parvum)
add_executable(letter letter.c)
target_link_libraries(letter PRIVATE Parvum::nx Parvum::cmmd Parvum::mpi Parvum::containers Parvum::gpvm3)
";

/// A directory of this test, with what it installs from and into; gone when it is dropped.
struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    fn new(test: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("parvum-install-{test}-{}", std::process::id()));
        fs::create_dir_all(dir.join("build/bin")).expect("writable");
        symlink(parvum(), dir.join("build/bin/parvum")).expect("writable");
        symlink(&stage().lib, dir.join("build/lib")).expect("writable");
        // The modules of Fortran, and the pages that are made.
        symlink(stage().bin.with_file_name("include"), dir.join("build/include")).expect("writable");
        let pages = dir.join("build/share/man/man3");
        fs::create_dir_all(&pages).expect("writable");
        succeed(Command::new(parvum().with_file_name("mpi-described")).arg("manual").arg(&pages));
        succeed(Command::new("sh").arg(project().join("tools/man-names.sh")).arg(&pages));
        fs::write(dir.join("program.c"), PROGRAM).expect("writable");
        Scratch { dir }
    }

    fn script(&self, arguments: &[&Path]) -> Command {
        let mut sh = Command::new("sh");
        sh.arg(project().join("tools/install.sh")).args(arguments).env_remove("DESTDIR");
        sh
    }

    /// Installs into a staging root for the prefix /usr, as packagers do, and moves the tree to where it is used.
    fn installed(&self) -> PathBuf {
        let build = self.dir.join("build");
        let mut install = self.script(&["install".as_ref(), &build, "/usr".as_ref()]);
        succeed(install.env("DESTDIR", self.dir.join("stage")));
        let prefix = self.dir.join("a place");
        fs::rename(self.dir.join("stage/usr"), &prefix).expect("one file system");
        prefix
    }

    /// A shell that has read what the installed command says, in this test's directory.
    fn shell(&self, prefix: &Path, machine: &TestMachine, orders: &str) -> Command {
        let mut sh = Command::new("sh");
        sh.arg("-euc").arg(format!("eval \"$(\"$0\" env)\"\n{orders}")).arg(prefix.join("bin/parvum"));
        sh.current_dir(&self.dir).env("PARVUM_DIR", &machine.dir);
        for name in ["PARVUM_BIN", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "PARVUM_TID", "PARVUM_TICKET"] {
            sh.env_remove(name);
        }
        sh
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn succeed(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{command:?}: {said}{}", String::from_utf8_lossy(&done.stderr));
    said
}

/// Whether a tool is there; says so when not.
fn has(tool: &str) -> bool {
    let there = compiler(tool).arg("--version").output().is_ok_and(|done| done.status.success());
    if !there {
        skip(Lack::Tools, format!("no {tool} is installed"));
    }
    there
}

/// Every file and directory below, but not the directory itself.
fn listing(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        all.push(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.extend(listing(&entry.path()));
        }
    }
    all.sort();
    all
}

#[test]
fn c_program_compiles_and_runs_with_pkg_config() {
    let (scratch, machine) = (Scratch::new("pkgconfig"), TestMachine::new());
    let prefix = scratch.installed();
    if has("pkg-config") {
        let orders =
            "eval cc program.c -o program \"$(pkg-config --cflags --libs parvum)\"; ./program; pvmgetarch";
        assert_eq!(succeed(&mut scratch.shell(&prefix, &machine, orders)), "0 in 1\nLINUX64\n");
    }
    if has("pkg-config") {
        fs::copy(project().join("examples/letter.c"), scratch.dir.join("letter.c")).expect("writable");
        let orders = "eval cc letter.c -o letter \"$(pkg-config --cflags --libs nx cmmd mpi containers gpvm3)\"; ldd ./letter";
        let said = succeed(&mut scratch.shell(&prefix, &machine, orders));
        for library in ["libnx.so.1", "libcmmd.so.1", "libmpi.so.12", "libpvm3.so.3"] {
            let ours = |line: &str| line.contains(library) && line.contains("a place");
            assert!(said.lines().any(ours), "{library}: {said}");
        }
    }
    if has("pkg-config") {
        fs::copy(project().join("examples/hello_mpi.c"), scratch.dir.join("hello.c")).expect("writable");
        // By the options of a build system, and by MPI's own wrapper.
        let orders = "eval cc hello.c -o hello \"$(pkg-config --cflags --libs mpi)\"; mpicc hello.c -o wrapped; ldd ./hello ./wrapped; \
                      eval cc hello.c -o standard \"$(pkg-config --cflags --libs mpi_abi)\"; ldd ./standard";
        let said = succeed(&mut scratch.shell(&prefix, &machine, orders));
        let ours = said.lines().filter(|line| line.contains("libmpi.so.12") && line.contains("a place"));
        assert_eq!(ours.count(), 2, "{said}");
        let standards =
            said.lines().filter(|line| line.contains("libmpi_abi.so.1") && line.contains("a place"));
        assert_eq!(standards.count(), 1, "{said}");
        // Whatever name a program was linked to, it is one file.
        let lib = prefix.join("lib");
        let whole = |name: &str| fs::canonicalize(lib.join(name)).expect("it is installed");
        for name in ["libmpi.so", "libmpich.so.12", "libmpich.so"] {
            assert_eq!(whole(name), whole("libmpi.so.12"), "{name}");
        }
    }
    let versions = "for p in pvm3 gpvm3 fpvm3; do pkg-config --modversion $p; done";
    if has("pkg-config") {
        assert_eq!(succeed(&mut scratch.shell(&prefix, &machine, versions)), "3.4.6\n".repeat(3));
    }
}

#[test]
fn c_program_compiles_and_runs_with_cmake() {
    if !has("cmake") {
        return;
    }
    let (scratch, machine) = (Scratch::new("cmake"), TestMachine::new());
    let prefix = scratch.installed();
    fs::write(scratch.dir.join("CMakeLists.txt"), CMAKE).expect("writable");
    fs::copy(project().join("examples/letter.c"), scratch.dir.join("letter.c")).expect("writable");
    let orders = "cmake -S . -B made >&2; cmake --build made >&2; ./made/program";
    assert_eq!(succeed(&mut scratch.shell(&prefix, &machine, orders)), "0 in 1\n");
    // CMake's programs know where their library is, and the library where the command is.
    let mut alone = Command::new(scratch.dir.join("made/program"));
    alone.env_remove("LD_LIBRARY_PATH").env_remove("PARVUM_BIN").env("PARVUM_DIR", &machine.dir);
    assert_eq!(succeed(&mut alone), "0 in 1\n");
}

/// CMake's own module asks whichever `mpicc` it finds, as it asks every MPI's.
#[test]
fn cmake_find_mpi_works_with_either_abi() {
    if !has("cmake") {
        return;
    }
    let (scratch, machine) = (Scratch::new("findmpi"), TestMachine::new());
    let prefix = scratch.installed();
    let list = |language: &str, component: &str, source: &str| {
        format!(
            "cmake_minimum_required(VERSION 3.13)\nproject(found {language})\nfind_package(MPI REQUIRED COMPONENTS {component})\n\
             add_executable(hello {source})\ntarget_link_libraries(hello PRIVATE MPI::MPI_{component})\n"
        )
    };
    fs::copy(project().join("examples/hello_mpi.c"), scratch.dir.join("hello.c")).expect("writable");
    let f08 = "program hello\n  use mpi_f08\n  implicit none\n  call MPI_Init()\n  call MPI_Finalize()\nend program\n";
    fs::write(scratch.dir.join("hello.f90"), f08).expect("writable");
    let mut cases = vec![
        ("C", "hello.c", "", "libmpi.so.12", "hello from rank 0 of 1"),
        ("C", "hello.c", "-DMPI_C_COMPILER=mpicc_abi", "libmpi_abi.so.1", "hello from rank 0 of 1"),
    ];
    if has("gfortran") {
        cases.push(("Fortran", "hello.f90", "", "libmpifort.so.12", ""));
    }
    for (language, source, option, library, hello) in cases {
        fs::write(scratch.dir.join("CMakeLists.txt"), list(language, language, source)).expect("writable");
        let orders = format!(
            "rm -rf found; cmake -S . -B found {option} >&2; cmake --build found >&2; ./found/hello; ldd found/hello"
        );
        let said = succeed(&mut scratch.shell(&prefix, &machine, &orders));
        assert!(said.contains(hello), "{said}");
        let ours = |line: &str| line.contains(library) && line.contains("a place");
        assert!(said.lines().any(ours), "{library}: {said}");
    }
}

#[test]
fn fortran_program_compiles_with_pkg_config() {
    if !has("gfortran") || !has("pkg-config") {
        return;
    }
    let (scratch, machine) = (Scratch::new("fortran"), TestMachine::new());
    let prefix = scratch.installed();
    let program = "include 'fpvm3.h'\n integer tid\n call pvmfmytid(tid)\n print '(l1)', tid > 0\nend\n";
    fs::write(scratch.dir.join("program.f90"), program).expect("writable");
    let orders = "eval gfortran \"$(pkg-config --variable=fflags fpvm3)\" program.f90 -o program -lfpvm3 -lgpvm3 -lpvm3; ./program";
    assert_eq!(succeed(&mut scratch.shell(&prefix, &machine, orders)), "T\n");
    let orders = "gfortran -static-libgfortran -I\"$(dirname \"$0\")/../include\" program.f90 -o program \
                  -Wl,-Bstatic -lfpvm3 -Wl,-Bdynamic -lgpvm3 -lpvm3; ./program";
    assert_eq!(succeed(&mut scratch.shell(&prefix, &machine, orders)), "T\n");
}

#[test]
fn debian_pvm_program_runs_in_installed_environment() {
    const PROGRAM: &str = "/usr/bin/hello.pvm";
    if !Path::new(PROGRAM).exists() {
        return skip(Lack::Peers, format!("{PROGRAM} is not there (Debian's pvm-examples)"));
    }
    let (scratch, machine) = (Scratch::new("debian"), TestMachine::new());
    let prefix = scratch.installed();
    let said = succeed(&mut scratch.shell(&prefix, &machine, &format!("ldd {PROGRAM}; {PROGRAM}")));
    let ours = |line: &str| line.contains("libpvm3.so.3") && line.contains("a place");
    assert!(said.lines().any(ours), "{said}");
    assert!(said.contains("hello, world"), "{said}");
}

#[test]
fn man_pages_are_found() {
    if !has("man") {
        return;
    }
    let (scratch, machine) = (Scratch::new("manual"), TestMachine::new());
    let prefix = scratch.installed();
    // Beside a command in PATH, where man looks by itself: that must stay so.
    fs::create_dir_all(scratch.dir.join("others/bin")).expect("writable");
    fs::create_dir_all(scratch.dir.join("others/share/man/man1")).expect("writable");
    fs::write(scratch.dir.join("others/share/man/man1/elsewhere.1"), ".TH ELSEWHERE 1\n").expect("writable");
    let orders = "PATH=$PWD/others/bin:$PATH; man -w pvmfsend; man -w MPI_Sendrecv_c; man -w 1 parvum; man -w 1 elsewhere";
    let said = succeed(&mut scratch.shell(&prefix, &machine, orders));
    assert_eq!(said.lines().filter(|line| line.contains("a place/share/man")).count(), 3, "{said}");
    assert!(said.contains("others/share/man/man1/elsewhere.1"), "{said}");
}

#[test]
fn uninstall_removes_only_installed_files() {
    let scratch = Scratch::new("uninstall");
    let (build, prefix) = (scratch.dir.join("build"), scratch.dir.join("prefix"));
    fs::create_dir_all(prefix.join("bin")).expect("writable");
    fs::write(prefix.join("bin/other"), "").expect("writable");
    let before = listing(&prefix);
    let install = || scratch.script(&["install".as_ref(), &build, &prefix]);
    succeed(&mut install());
    let after = listing(&prefix);
    assert!(after.len() > 100, "{after:?}");
    succeed(&mut install());
    assert_eq!(listing(&prefix), after, "installing again changes nothing");

    fs::write(prefix.join("include/mine.h"), "").expect("writable");
    let uninstall = || scratch.script(&["uninstall".as_ref(), &prefix]);
    let said = succeed(&mut uninstall());
    assert!(said.contains("include/: not empty"), "{said}");
    fs::remove_file(prefix.join("include/mine.h")).expect("it is there");
    fs::remove_dir(prefix.join("include")).expect("nothing else is in it");
    assert_eq!(listing(&prefix), before);
    let again = uninstall().output().expect("sh runs");
    assert!(!again.status.success());
}

#[test]
fn install_replaces_no_foreign_files() {
    let scratch = Scratch::new("others");
    let (build, prefix) = (scratch.dir.join("build"), scratch.dir.join("prefix"));
    fs::create_dir_all(prefix.join("bin")).expect("writable");
    fs::write(prefix.join("bin/pvm"), "PVM's own").expect("writable");
    let refused = scratch.script(&["install".as_ref(), &build, &prefix]).output().expect("sh runs");
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && why.contains("bin/pvm is there"), "{why}");
    assert_eq!(listing(&prefix).len(), 2, "nothing else came");
    let relative = scratch.script(&["install".as_ref(), &build, "here".as_ref()]).output().expect("sh runs");
    assert!(!relative.status.success());
}

#[test]
fn ldconfig_runs_for_system_prefix_only() {
    let scratch = Scratch::new("loader");
    let (build, told) = (scratch.dir.join("build"), scratch.dir.join("told"));
    fs::create_dir(scratch.dir.join("tools")).expect("writable");
    let tool = scratch.dir.join("tools/ldconfig");
    fs::write(&tool, format!("#!/bin/sh\necho told >> '{}'\n", told.display())).expect("writable");
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
    // In a mount namespace, where /usr/local is an empty place of the test's own.
    let orders = "mount -t tmpfs none /usr/local || exit 99; PATH=$TOOLS:$PATH; \
                  sh \"$SCRIPT\" install \"$BUILD\" /usr/local && test -e /usr/local/lib/libpvm3.so.3 && \
                  sh \"$SCRIPT\" install \"$BUILD\" /usr/local/elsewhere";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", orders]).env("BUILD", &build).env("TOOLS", scratch.dir.join("tools"));
    command.env("SCRIPT", project().join("tools/install.sh")).env_remove("DESTDIR");
    match command.output() {
        Ok(done) if done.status.code() != Some(99) && done.status.success() => {
            assert_eq!(fs::read_to_string(&told).unwrap_or_default(), "told\n", "{done:?}");
        }
        Ok(done) if done.status.code() == Some(99) => {
            eprintln!("skipped: no mount namespace here ({done:?})")
        }
        Ok(done) if String::from_utf8_lossy(&done.stderr).contains("unshare") => {
            eprintln!("skipped: no mount namespace here ({done:?})");
        }
        other => panic!("{other:?}"),
    }
}

/// What lies below a folder, by names from there; links too.
fn files(root: &Path) -> Vec<String> {
    let done = Command::new("find")
        .arg(root)
        .args(["!", "-type", "d", "-printf", "%P\n"])
        .output()
        .expect("find runs");
    let mut found: Vec<String> = String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect();
    found.sort();
    found
}

/// Packages have what `./x install` installs: no list of it is written twice.
#[test]
fn packages_contain_the_installed_files() {
    let scratch = Scratch::new("packages");
    let build = scratch.dir.join("build");
    fs::create_dir_all(build.join("python/parvum")).expect("writable");
    let module = build.join("python/parvum/_parvum.abi3.so");
    symlink(parvum().with_file_name("lib_parvum.so"), &module).expect("writable");
    let installed = scratch.installed();
    // Where documentation lies is the package's own, and so is the list of files.
    let installed: Vec<String> =
        files(&installed).into_iter().filter(|name| !name.starts_with("share/doc/")).collect();
    let installed: Vec<String> =
        installed.into_iter().filter(|name| name != "share/parvum/manifest").collect();
    let sources: Vec<String> = files(&project().join("python/parvum"));
    let sources: Vec<String> = sources.into_iter().filter(|name| !name.contains("__pycache__")).collect();
    let stage = |script: &str, to: &str| {
        let to = scratch.dir.join(to);
        let mut sh = Command::new("sh");
        sh.arg(project().join("tools").join(script)).arg("stage").args([&build, &to]).env_remove("DESTDIR");
        succeed(&mut sh);
        to
    };

    let wheel = stage("wheel.sh", "wheel");
    let mut wanted = [installed.clone(), sources.clone()].concat();
    wanted.sort();
    assert_eq!(files(&wheel), wanted);
    let links = Command::new("find").arg(&wheel).args(["-type", "l"]).output().expect("find runs");
    assert_eq!(String::from_utf8_lossy(&links.stdout), "", "a wheel has no links");
    // The other names of libraries are libraries that need the first.
    for (name, needed) in [("libmpich.so.12", "libmpi.so.12"), ("libgpvm3.so.3", "libpvm3.so.3")] {
        let path = wheel.join("lib").join(name);
        assert!(fs::metadata(&path).unwrap().len() < 16384);
        let data = fs::read(&path).unwrap();
        assert!(
            data.windows(needed.len()).any(|part| part == needed.as_bytes()),
            "{name} does not need {needed}"
        );
    }
    // A program of MPICH's, which asks for that name, finds one MPI in its process.
    let program = scratch.dir.join("old");
    fs::write(
        program.with_extension("c"),
        "#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v) || MPI_Finalize(); }\n",
    )
    .expect("writable");
    let (include, lib) = (wheel.join("include"), wheel.join("lib"));
    let mut cc = compiler("cc");
    cc.arg(program.with_extension("c")).arg("-o").arg(&program).arg("-I").arg(include).arg("-L").arg(&lib);
    succeed(cc.args(["-Wl,--no-as-needed", "-l:libmpich.so.12", "-l:libmpi.so.12"]));
    let machine = TestMachine::new();
    let mut old = Command::new(&program);
    machine.as_user(&mut old);
    succeed(old.env("LD_LIBRARY_PATH", &lib));
    // And a command that is called by another name is told it.
    let done = Command::new(wheel.join("bin/mpiexec")).arg("--help").output().expect("it runs");
    let own = Command::new(wheel.join("bin/parvum")).arg("--help").output().expect("it runs");
    assert!(done.status.success() && done.stdout != own.stdout, "mpiexec is not MPI's launcher");

    let root = stage("deb.sh", "root");
    let deb = files(&root);
    let page =
        |name: &String| if name.starts_with("share/man/") { format!("{name}.gz") } else { name.clone() };
    let below = |folder: &str, names: &mut dyn Iterator<Item = String>| -> Vec<String> {
        names.map(|name| format!("usr/lib/{folder}/{name}")).collect()
    };
    let mut wanted = below("parvum", &mut installed.iter().map(page));
    wanted.extend(below("python3/dist-packages/parvum", &mut sources.iter().cloned()));
    for name in ["_parvum.abi3.so", "bin", "lib", "include"] {
        wanted.push(format!("usr/lib/python3/dist-packages/parvum/{name}"));
    }
    wanted.extend(["usr/bin/parvum".to_owned(), "usr/share/man/man1/parvum.1.gz".to_owned()]);
    wanted.sort();
    let deb: Vec<String> = deb.into_iter().filter(|name| !name.starts_with("usr/share/doc/")).collect();
    assert_eq!(deb, wanted);
    assert!(
        root.join("usr/bin/parvum")
            .canonicalize()
            .is_ok_and(|path| path.ends_with("usr/lib/parvum/bin/parvum"))
    );
    assert!(root.join("usr/lib/python3/dist-packages/parvum/lib/libpvm3.so.3").exists());
    // The recipe of conda's installs by the same scripts.
    let recipe = fs::read_to_string(project().join("packaging/conda/build.sh")).unwrap();
    assert!(recipe.contains("tools/install.sh install build") && recipe.contains("tools/module.sh build"));
    let recipe = fs::read_to_string(project().join("packaging/conda/recipe.yaml")).unwrap();
    assert!(
        recipe.contains(&format!("version: \"{}\"", env!("CARGO_PKG_VERSION"))),
        "the recipe is of another version"
    );
}
