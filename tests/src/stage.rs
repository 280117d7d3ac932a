//! The libraries as they are installed, and the programs of `tests/programs`, built against them:
//! those in C, and those in C++ and Fortran where a compiler for it is installed.
//!
//! Both lie in `target/tmp`, and are made anew when what they are made of has
//! changed. A lock keeps several test processes from doing so at once; a file is
//! replaced as a whole, so that programs that run keep theirs.

use crate::parvum;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

include!("../../tools/shipped.rs");

/// Where everything lies.
pub struct Stage {
    /// The libraries.
    pub lib: PathBuf,
    /// `mpicc` and its other names, which find the libraries from where they lie.
    pub bin: PathBuf,
    /// `pvm3.h` and its kin.
    pub include: PathBuf,
    /// The compiled programs, and shared objects made for tests.
    pub programs: PathBuf,
}

/// The stage, made when need be.
pub fn stage() -> &'static Stage {
    static STAGE: OnceLock<Stage> = OnceLock::new();
    STAGE.get_or_init(make)
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn make() -> Stage {
    let built = parvum().parent().expect("the command lies in target/PROFILE");
    let profile = built.file_name().expect("a profile").to_owned();
    let root = built.parent().expect("target").join("tmp").join("stage").join(profile);
    let lib = root.join("lib");
    let programs = root.join("programs");
    fs::create_dir_all(&lib).expect("the target directory is writable");
    fs::create_dir_all(&programs).expect("the target directory is writable");
    let lock = File::create(root.join("lock")).expect("the target directory is writable");
    lock.lock().expect("file locks work");
    for (_, [what, name, from]) in shipped(project()) {
        match what.as_str() {
            "library" if from != "-" => install(&built.join(from), &lib.join(name)),
            "link" => link(&from, &lib.join(name)),
            _ => {}
        }
    }
    let include = include_of("pvm");
    let stage = Stage { bin: root.join("bin"), lib, include, programs };
    install_fortran(&stage);
    install_mpi(&stage, &root.join("include"));
    install_mpi_fortran(&stage);
    let sources = program_sources();
    // Examples that use other interfaces than PVM alone, as they are told to be compiled.
    let examples = ["letter.c", "sor.c", "integer_sort.c", "gather.c", "water.c", "barnes_hut.c"];
    let examples = examples.map(|name| project().join("examples").join(name));
    for source in sources.into_iter().chain(examples) {
        match source.extension().and_then(OsStr::to_str) {
            Some("c") if name_of(&source).starts_with("mpi_") => compile_mpi(&stage, &source),
            Some("c") => compile(&stage, &source),
            Some("cpp") if cplusplus() => compile(&stage, &source),
            Some("f90") if name_of(&source).starts_with("mpi_") && fortran().is_some() => {
                compile_mpi_fortran(&stage, &source);
            }
            Some("f" | "f90") if fortran().is_some() => compile_fortran(&stage, &source),
            _ => {}
        }
    }
    stage
}

/// The folder for PYTHONPATH, with the package `parvum` of the build: its libraries and command are those of the stage.
pub fn python() -> PathBuf {
    let stage = stage();
    let root = stage.lib.with_file_name("python");
    let package = root.join("parvum");
    fs::create_dir_all(&package).expect("the target directory is writable");
    let lock = File::create(root.join("lock")).expect("the target directory is writable");
    lock.lock().expect("file locks work");
    install(&parvum().with_file_name("lib_parvum.so"), &package.join("_parvum.abi3.so"));
    link(stage.lib.to_str().expect("a plain path"), &package.join("lib"));
    fs::create_dir_all(package.join("bin")).expect("the target directory is writable");
    link(parvum().to_str().expect("a plain path"), &package.join("bin/parvum"));
    // What has left the package since leaves the stage.
    for link in
        fs::read_dir(&package).expect("it was made above").flatten().filter(|link| !link.path().exists())
    {
        fs::remove_file(link.path()).expect("the target directory is writable");
    }
    for source in fs::read_dir(project().join("python/parvum")).expect("python/parvum").flatten() {
        if source.file_name() != "__pycache__" {
            link(source.path().to_str().expect("a plain path"), &package.join(source.file_name()));
        }
    }
    root
}

/// The project's directory.
pub fn project() -> &'static Path {
    here().parent().expect("the tests lie in the project")
}

/// Where `parvum.h` lies.
pub fn own_include() -> PathBuf {
    project().join("crates/engine/runtime/include")
}

/// Where `parvum_engine.h` lies.
pub fn engine_include() -> PathBuf {
    project().join("crates/engine/api/include")
}

/// Where the headers of an interface lie.
pub fn include_of(interface: &str) -> PathBuf {
    project().join("interfaces").join(interface).join("include")
}

/// Where headers lie that programs of any interface may include: those that are written, and those that are made.
fn includes(stage: &Stage) -> Vec<PathBuf> {
    let interfaces = fs::read_dir(project().join("interfaces")).expect("interfaces").flatten();
    let written = interfaces.map(|folder| folder.path().join("include")).filter(|folder| folder.is_dir());
    // MPI's are installed with what is made of its description.
    let mut all: Vec<PathBuf> = written.filter(|folder| *folder != include_of("mpi")).collect();
    all.sort();
    all.extend([program_include(), own_include(), engine_include(), stage.bin.with_file_name("include")]);
    all
}

/// The files of folders.
fn files(folders: &[PathBuf]) -> Vec<PathBuf> {
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    files.map(|file| file.path()).collect()
}

/// Libraries that a program is linked with if it uses them, as options of the linker.
fn libraries() -> Vec<String> {
    let links = shipped(project()).into_iter().filter(|(_, [what, ..])| what == "link");
    let names = links.filter_map(|(_, [_, name, _])| {
        Some(format!("-l{}", name.strip_prefix("lib")?.strip_suffix(".so")?))
    });
    // The engine's comes last: the interfaces bring it along.
    let mut all: Vec<String> = names.filter(|name| !name.starts_with("-lf") && name != "-lmpifort").collect();
    all.rotate_left(1);
    all
}

/// Where `mpi.h` lies, beside the headers that are made from the description.
pub fn mpi_include() -> PathBuf {
    stage().bin.with_file_name("include")
}

fn changed(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|data| data.modified()).ok()
}

/// When the newest of these files and of the headers beside the programs was changed.
fn newest(made_of: &[&Path]) -> Option<SystemTime> {
    static HEADERS: OnceLock<Option<SystemTime>> = OnceLock::new();
    let headers = *HEADERS.get_or_init(|| {
        let files = fs::read_dir(program_include()).expect("tests/programs/include").flatten();
        files.filter_map(|file| changed(&file.path())).max()
    });
    made_of.iter().filter_map(|file| changed(file)).max().max(headers)
}

fn install(from: &Path, to: &Path) {
    let Some(fresh) = changed(from) else {
        panic!("{} is missing: run `cargo build --workspace` first", from.display());
    };
    if changed(to).is_none_or(|old| old < fresh) {
        replace(to, |temporary| {
            fs::copy(from, temporary).expect("the target directory is writable");
        });
    }
}

/// PVM's calls for Fortran: they are C, and need no Fortran compiler.
fn install_fortran(stage: &Stage) {
    let sources = project().join("interfaces/pvm/fortran");
    let files = fs::read_dir(&sources).expect("interfaces/pvm/fortran").flatten().map(|entry| entry.path());
    let made_of = files.chain([stage.include.join("pvm3.h"), stage.lib.join("libpvm3.so")]);
    let newest = made_of.filter_map(|file| changed(&file)).max();
    let stamp = stage.lib.join("libfpvm3.made");
    if changed(&stamp) > newest {
        return;
    }
    let mut sh = compiler("sh");
    sh.arg(sources.join("build.sh")).args([&stage.include, &stage.lib, &stage.lib]);
    let done = sh.output().expect("a shell");
    assert!(done.status.success(), "build.sh: {}", String::from_utf8_lossy(&done.stderr));
    File::create(stamp).expect("the target directory is writable");
}

/// What compiles MPI programs, with its headers beside it as in a prefix.
fn install_mpi(stage: &Stage, include: &Path) {
    for folder in [&stage.bin, include] {
        fs::create_dir_all(folder).expect("the target directory is writable");
    }
    for header in ["mpi.h", "mpi_abi.h"] {
        install(&project().join("interfaces/mpi/include").join(header), &include.join(header));
    }
    let mut made = Command::new(parvum().with_file_name("mpi-described"));
    let made = made.arg("headers").arg(include).status().expect("it is built with the rest");
    assert!(made.success(), "mpi-described headers: {made}");
    install(&project().join("packaging/mpicc"), &stage.bin.join("mpicc"));
    for name in ["mpicxx", "mpic++", "mpicc_abi", "mpicxx_abi", "mpifort", "mpif77", "mpif90"] {
        link("mpicc", &stage.bin.join(name));
    }
    for name in ["mpiexec", "mpirun"] {
        link(parvum().to_str().expect("a plain path"), &stage.bin.join(name));
    }
}

/// MPI's calls for Fortran, and where there is a compiler the module.
fn install_mpi_fortran(stage: &Stage) {
    let sources = project().join("interfaces/mpi/fortran");
    let files = fs::read_dir(&sources).expect("interfaces/mpi/fortran").flatten().map(|entry| entry.path());
    let include = stage.bin.with_file_name("include");
    let headers = ["mpi.h", "mpi_functions.h", "mpif.h"].map(|name| include.join(name));
    let described = parvum().with_file_name("mpi-described");
    let newest = files.chain(headers).chain([described.clone()]).filter_map(|file| changed(&file)).max();
    let stamp = stage.lib.join("libmpifort.made");
    if changed(&stamp) > newest {
        return;
    }
    let mut sh = compiler("sh");
    sh.arg(sources.join("build.sh")).args([&include, &stage.lib, &stage.lib, &include, &described]);
    let done = sh.output().expect("a shell");
    assert!(done.status.success(), "build.sh: {}", String::from_utf8_lossy(&done.stderr));
    File::create(stamp).expect("the target directory is writable");
}

fn link(to: &str, name: &Path) {
    if fs::read_link(name).is_ok_and(|old| old == Path::new(to)) {
        return;
    }
    let _ = fs::remove_file(name);
    std::os::unix::fs::symlink(to, name).expect("the target directory is writable");
}

fn replace(file: &Path, make: impl FnOnce(&Path)) {
    let temporary = file.with_extension("new");
    make(&temporary);
    fs::rename(&temporary, file).expect("the target directory is writable");
}

fn name_of(source: &Path) -> &str {
    source.file_stem().and_then(OsStr::to_str).expect("a plain name")
}

/// Compiles one program of MPI's, as its users do: for MPICH's binary interface, and with `_abi` after its name for the standard's.
fn compile_mpi(stage: &Stage, source: &Path) {
    for (wrapper, library, ending) in
        [("mpicc", "libmpi.so.12", ""), ("mpicc_abi", "libmpi_abi.so.1", "_abi")]
    {
        let target = stage.programs.join(format!("{}{ending}", name_of(source)));
        let include = stage.bin.with_file_name("include");
        let made_of = [
            source,
            &stage.bin.join("mpicc"),
            &include.join("mpi.h"),
            &include.join("mpi_abi.h"),
            &include.join("mpi_functions.h"),
            &stage.lib.join(library),
        ];
        if changed(&target) > newest(&made_of) {
            continue;
        }
        replace(&target, |temporary| {
            let mut cc = compiler(stage.bin.join(wrapper).to_str().expect("a plain path"));
            // The standard has addresses that lie nowhere (MPI_UNWEIGHTED), of which gcc thinks that they are read.
            cc.args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overread"]);
            cc.args(["-pthread", "-I"])
                .arg(program_include())
                .arg("-I")
                .arg(include_of("treadmarks"))
                .arg("-L")
                .arg(&stage.lib);
            // For the one that shares memory as well; others do not name it.
            cc.arg("-o").arg(temporary).arg(source).args(["-Wl,--as-needed", "-lTmk"]);
            let done = cc.output().expect("mpicc runs");
            assert!(done.status.success(), "{}: {}", name_of(source), String::from_utf8_lossy(&done.stderr));
        });
    }
}

/// Compiles one program of MPI's in Fortran, as its users do.
fn compile_mpi_fortran(stage: &Stage, source: &Path) {
    let target = stage.programs.join(name_of(source));
    let made_of = [source, &stage.bin.join("mpicc"), &stage.lib.join("libmpifort.so.12")];
    if changed(&target) > newest(&made_of) {
        return;
    }
    replace(&target, |temporary| {
        let mut mpifort = compiler(stage.bin.join("mpifort").to_str().expect("a plain path"));
        mpifort.args(["-O1", "-g", "-w", "-J"]).arg(&stage.programs).arg("-o").arg(temporary).arg(source);
        let done = mpifort.output().expect("mpifort runs");
        assert!(done.status.success(), "{}: {}", name_of(source), String::from_utf8_lossy(&done.stderr));
    });
}

/// Compiles one program; one whose name ends in `_library` becomes a shared object.
fn compile(stage: &Stage, source: &Path) {
    let name = source.file_stem().and_then(OsStr::to_str).expect("a plain name");
    let library = name.ends_with("_library");
    let target = if library { format!("{name}.so") } else { name.to_owned() };
    let target = stage.programs.join(target);
    let includes = includes(stage);
    let parts = files(&[&includes[..], std::slice::from_ref(&stage.lib)].concat());
    let made_of: Vec<&Path> = parts.iter().map(PathBuf::as_path).chain([source]).collect();
    let newest = newest(&made_of);
    if changed(&target) > newest {
        return;
    }
    replace(&target, |temporary| {
        let plus = source.extension() == Some(OsStr::new("cpp"));
        let (mut cc, standard) = match plus {
            true => (compiler("c++"), "-std=c++17"),
            false => (compiler("cc"), "-std=c11"),
        };
        cc.args([standard, "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]);
        for folder in &includes {
            cc.arg("-I").arg(folder);
        }
        cc.arg("-o").arg(temporary).arg(source);
        if library {
            cc.args(["-shared", "-fPIC"]);
        } else {
            cc.arg("-L").arg(&stage.lib).args(["-lpvm3", "-lgpvm3", "-ldl"]);
            // Named by those who ask it something themselves, and by no other.
            cc.arg("-Wl,--as-needed").args(libraries()).arg("-lm");
        }
        let called = cc.get_program().to_owned();
        let done = cc.output().unwrap_or_else(|why| panic!("{} is not installed: {why}", called.display()));
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    });
}

/// Whether a C++ compiler is installed.
pub fn cplusplus() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| runs("c++"))
}

fn runs(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|done| done.status.success())
}

/// The Fortran compiler, when one is installed.
pub fn fortran() -> Option<&'static str> {
    static FOUND: OnceLock<bool> = OnceLock::new();
    FOUND.get_or_init(|| runs("gfortran")).then_some("gfortran")
}

/// Compiles one program in Fortran, which passes items of many types to one call, as all PVM programs do.
fn compile_fortran(stage: &Stage, source: &Path) {
    let name = source.file_stem().and_then(OsStr::to_str).expect("a plain name");
    let target = stage.programs.join(name);
    let includes = includes(stage);
    let parts = files(&[&includes[..], std::slice::from_ref(&stage.lib)].concat());
    let made_of: Vec<&Path> = parts.iter().map(PathBuf::as_path).chain([source]).collect();
    let newest = newest(&made_of);
    if changed(&target) > newest {
        return;
    }
    replace(&target, |temporary| {
        let mut compile = compiler(fortran().expect("asked for before"));
        compile.args(["-std=legacy", "-w", "-O1", "-g", "-J"]).arg(&stage.programs);
        for folder in &includes {
            compile.arg("-I").arg(folder);
        }
        compile.arg("-o").arg(temporary).arg(source).arg("-L").arg(&stage.lib);
        // Shared memory is reached by Cray pointers.
        if name.starts_with("tmk_") {
            compile.arg("-fcray-pointer");
        }
        compile.arg("-Wl,--as-needed").args(libraries());
        let done = compile.args(["-lfpvm3", "-lgpvm3", "-lpvm3"]).output().expect("it is installed");
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    });
}

/// A compiler that speaks English.
pub fn compiler(name: &str) -> Command {
    let mut command = Command::new(name);
    command.env("LC_ALL", "C");
    command
}

/// The sources of the tests' programs: a folder for each interface, cut by topic, and one for programs that mix interfaces.
fn program_sources() -> Vec<PathBuf> {
    let mut folders = vec![here().join("programs")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder).expect("a folder of tests/programs").flatten() {
            let path = file.path();
            if path.is_dir() { folders.push(path) } else { sources.push(path) }
        }
    }
    sources
}

/// Where the headers lie that the tests' programs share.
pub fn program_include() -> PathBuf {
    here().join("programs/include")
}

/// The source of one of the tests' programs.
pub fn program_source(file: &str) -> PathBuf {
    program_sources()
        .into_iter()
        .find(|source| source.file_name().is_some_and(|name| name == file))
        .unwrap_or_else(|| panic!("{file} is missing in tests/programs"))
}

/// A compiled program of `tests/programs`.
pub fn program(name: &str) -> PathBuf {
    let path = stage().programs.join(name);
    assert!(path.exists(), "the source of {name} is missing in tests/programs");
    path
}
