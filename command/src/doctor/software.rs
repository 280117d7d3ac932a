//! Checks of what programs of this shell would get: libraries, launchers, Python.

use super::finding::Finding;
use crate::processes::output;
use crate::shown::shown;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Python imports from slow disks.
const PATIENCE: Duration = Duration::from_secs(10);
const ENV: &str = "`eval \"$(parvum env)\"`";

pub fn all() -> Vec<Finding> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let cache = words(Command::new("ldconfig").arg("-p"))
        .or_else(|_| words(Command::new("/sbin/ldconfig").arg("-p")))
        .unwrap_or_default();
    let listed = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut all = vec![
        command(&own, &folders),
        library("libpvm3.so.3", &own, &listed, &cache),
        library("libmpi.so.12", &own, &listed, &cache),
        launchers(&own, &folders),
    ];
    all.extend(python(&own, &folders));
    all
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns the standard output of a command that succeeds in time.
fn words(command: &mut Command) -> Result<String, String> {
    let done = output(command, PATIENCE)?;
    done.status.success().then(|| shown(&done.stdout).into_owned()).ok_or_else(|| done.status.to_string())
}

/// Which `parvum` the shell finds.
fn command(own: &Path, folders: &[PathBuf]) -> Finding {
    let found = folders.iter().map(|dir| dir.join("parvum")).find(|path| is_program(path));
    let release = env!("COMMAND_VERSION");
    match found {
        None => {
            let text = format!(
                "{release}, at {}; PATH lacks parvum, so programs cannot start a machine",
                own.display()
            );
            let folder = own.parent().unwrap_or(own).display();
            Finding::warning("command", text, format!("`export PATH={folder}:$PATH`"))
        }
        Some(path) if path.canonicalize().is_ok_and(|real| real == own) || is_script_of_wheel(&path, own) => {
            Finding::ok("command", format!("{release}, at {}", path.display()))
        }
        Some(path) => Finding::warning(
            "command",
            format!("{release} at {}, but PATH finds {} first", own.display(), path.display()),
            format!("use one of the two everywhere: {ENV}"),
        ),
    }
}

/// Finds a library as the loader does: LD_LIBRARY_PATH, then the system's cache.
fn find_library(name: &str, listed: &OsString, cache: &str) -> Option<PathBuf> {
    let dirs = std::env::split_paths(listed).filter(|dir| !dir.as_os_str().is_empty());
    let mut in_list = dirs.map(|dir| dir.join(name));
    let in_cache = || {
        let line = cache.lines().find(|line| line.split_whitespace().next() == Some(name))?;
        line.split_once("=> ").map(|(_, path)| PathBuf::from(path.trim()))
    };
    in_list.find(|path| path.exists()).or_else(in_cache)
}

/// Whether a file is of the release that the command belongs to.
fn is_ours(path: &Path, own: &Path) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let beside = own
        .parent()
        .into_iter()
        .flat_map(|bin| [bin.to_owned(), bin.join("../lib"), bin.join("../lib/parvum")]);
    let mut beside = beside.filter_map(|dir| dir.canonicalize().ok());
    beside.any(|dir| real.starts_with(dir))
}

fn library(name: &str, own: &Path, listed: &OsString, cache: &str) -> Finding {
    let check = if name.starts_with("libmpi") { "libmpi" } else { "libpvm3" };
    match find_library(name, listed, cache) {
        Some(path) if is_ours(&path, own) => Finding::ok(check, format!("programs get {}", path.display())),
        Some(path) => Finding::warning(
            check,
            format!("programs get {}, which is not of this Parvum", path.display()),
            format!("{ENV}; `mpiexec` and `parvum run` of this Parvum set the path themselves"),
        ),
        // MPI programs need a launcher anyway. PVM programs start by hand.
        None if check == "libmpi" => Finding::ok(
            check,
            format!("`mpiexec` and `parvum run` find {name}; {ENV} if you start a program without them"),
        ),
        None => Finding::warning(
            check,
            format!("a program that you start by hand does not find {name}; `parvum run` finds it"),
            ENV,
        ),
    }
}

/// Whether pip made a launcher for the wheel of this command. The launcher is PREFIX/bin/NAME, and the command lies in
/// PREFIX/lib/pythonX.Y/site-packages/parvum.
fn is_script_of_wheel(script: &Path, own: &Path) -> bool {
    let Some(packages) =
        own.ancestors().find(|folder| folder.ends_with("site-packages") || folder.ends_with("dist-packages"))
    else {
        return false;
    };
    let prefix = packages.ancestors().nth(3);
    let bin = script.parent().and_then(|folder| folder.canonicalize().ok());
    prefix.is_some()
        && bin.as_deref().and_then(Path::parent) == prefix
        && std::fs::read(script)
            .is_ok_and(|text| text.starts_with(b"#!") && text.windows(6).any(|part| part == b"parvum"))
}

/// Which launchers PATH has, in its order.
fn launchers(own: &Path, folders: &[PathBuf]) -> Finding {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut seen = Vec::new();
    for path in folders
        .iter()
        .flat_map(|dir| [dir.join("mpiexec"), dir.join("mpirun")])
        .filter(|path| is_program(path))
    {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if !seen.contains(&real) {
            seen.push(real);
            found.push(path);
        }
    }
    let bin = own.parent().unwrap_or(own);
    let mine = |path: &PathBuf| {
        path.canonicalize().is_ok_and(|real| real == own)
            || is_script_of_wheel(path, own)
            || path.parent().and_then(|dir| dir.canonicalize().ok()).as_deref() == Some(bin)
    };
    let others: Vec<String> =
        found.iter().filter(|path| !mine(path)).map(|path| path.display().to_string()).collect();
    match found.first() {
        None => Finding::warning("mpiexec", "PATH has no mpiexec", ENV),
        Some(first) if mine(first) && others.is_empty() => {
            Finding::ok("mpiexec", format!("{} is Parvum's", first.display()))
        }
        Some(first) if mine(first) => Finding::ok(
            "mpiexec",
            format!("{} is Parvum's; others behind it: {}", first.display(), others.join(", ")),
        ),
        Some(first) => Finding::warning(
            "mpiexec",
            format!("{} comes first in PATH, and belongs to another MPI", first.display()),
            format!("{ENV}, or call {}/mpiexec", bin.display()),
        ),
    }
}

/// Asks Python for its version, Parvum's package and mpi4py. `MPI_Init` is not called.
const QUESTION: &str = "\
import sys
print('version', '.'.join(map(str, sys.version_info[:3])))
try:
    import parvum, importlib.metadata
    try: print('parvum', importlib.metadata.version('parvum'))
    except Exception: print('parvum', 'in', parvum.__file__)
except Exception as error: print('noparvum', type(error).__name__, error)
try:
    import mpi4py
    mpi4py.rc.initialize = False
    print('mpi4py', mpi4py.__version__)
    from mpi4py import MPI
    print('library', MPI.Get_library_version().split('\\n')[0].strip('\\0'))
except ModuleNotFoundError: pass
except Exception as error: print('nompi', type(error).__name__, error)
";

fn python(own: &Path, folders: &[PathBuf]) -> Vec<Finding> {
    let Some(python) = folders.iter().map(|dir| dir.join("python3")).find(|path| is_program(path)) else {
        return vec![Finding::ok("python", "PATH has no python3; only the Python package needs one")];
    };
    let shown = python.display();
    let answer = match words(Command::new(&python).args(["-c", QUESTION])) {
        Ok(answer) => answer,
        Err(why) => {
            let text = format!("{shown} does not run: {why}");
            return vec![Finding::error("python", text, format!("`{shown} -c 'import parvum'` shows why"))];
        }
    };
    let lines: BTreeMap<&str, &str> = answer.lines().filter_map(|line| line.split_once(' ')).collect();
    vec![interpreter(&lines, &shown.to_string()), mpi4py(&lines, own)]
}

fn interpreter(lines: &BTreeMap<&str, &str>, shown: &str) -> Finding {
    let version = lines.get("version").copied().unwrap_or("?");
    let text = format!("{shown} is Python {version}");
    let minor = version
        .strip_prefix("3.")
        .and_then(|rest| rest.split('.').next())
        .and_then(|minor| minor.parse::<u32>().ok());
    if minor.is_none_or(|minor| minor < 10) {
        return Finding::warning(
            "python",
            format!("{text}; the package parvum needs 3.10 or later"),
            "install a later Python",
        );
    }
    match (lines.get("parvum"), lines.get("noparvum")) {
        (Some(found), _) if found.starts_with("in ") => {
            Finding::ok("python", format!("{text}, parvum {found}"))
        }
        (Some(found), _) if *found == env!("CARGO_PKG_VERSION") => {
            Finding::ok("python", format!("{text}, parvum {found}"))
        }
        (Some(found), _) => Finding::warning(
            "python",
            format!("{text}, parvum {found}; this command is {}", env!("CARGO_PKG_VERSION")),
            "install both from one release",
        ),
        (None, Some(why)) if !why.starts_with("ModuleNotFoundError") => Finding::error(
            "python",
            format!("{text}; `import parvum` fails: {why}"),
            format!("`{shown} -c 'import parvum'`"),
        ),
        _ => Finding::ok("python", format!("{text}, without the package parvum")),
    }
}

fn mpi4py(lines: &BTreeMap<&str, &str>, own: &Path) -> Finding {
    let Some(version) = lines.get("mpi4py") else { return Finding::ok("mpi4py", "not installed") };
    match (lines.get("library"), lines.get("nompi")) {
        (Some(library), _) if library.contains("Parvum") => Finding::ok("mpi4py", format!("{version} uses {library}")),
        (Some(library), _) => Finding::warning(
            "mpi4py",
            format!("{version} uses {library} in this shell"),
            "`mpiexec -n 2 python3 -m mpi4py.bench helloworld`: Parvum's mpiexec gives an mpi4py of MPICH's ABI its library",
        )
        .help(format!("{ENV}, with {} first in LD_LIBRARY_PATH", own.parent().unwrap_or(own).join("../lib").display())),
        (None, why) => Finding::error(
            "mpi4py",
            format!("{version} does not load: {}", why.copied().unwrap_or("no reason")),
            "`pip install mpi4py` again, or install the MPI for which it was built",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn lines<'a>(all: &[(&'a str, &'a str)]) -> BTreeMap<&'a str, &'a str> {
        all.iter().copied().collect()
    }

    #[test]
    fn old_python_and_other_release_are_warnings() {
        let own = env!("CARGO_PKG_VERSION");
        for (all, state) in [
            (lines(&[("version", "3.9.2")]), State::Warning),
            (lines(&[("version", "3.12.1")]), State::Ok),
            (lines(&[("version", "3.12.1"), ("parvum", own)]), State::Ok),
            (lines(&[("version", "3.12.1"), ("parvum", "0.0.1")]), State::Warning),
            (lines(&[("version", "3.12.1"), ("noparvum", "ImportError x")]), State::Error),
            (lines(&[("version", "3.12.1"), ("noparvum", "ModuleNotFoundError x")]), State::Ok),
        ] {
            assert_eq!(interpreter(&all, "python3").state, state, "{all:?}");
        }
    }

    #[test]
    fn mpi4py_of_another_mpi_is_a_warning_and_a_broken_one_an_error() {
        let own = Path::new("/opt/bin/parvum");
        assert_eq!(mpi4py(&lines(&[]), own).state, State::Ok);
        assert_eq!(mpi4py(&lines(&[("mpi4py", "4"), ("library", "Parvum 1")]), own).state, State::Ok);
        assert_eq!(mpi4py(&lines(&[("mpi4py", "4"), ("library", "Open MPI v5")]), own).state, State::Warning);
        assert_eq!(
            mpi4py(&lines(&[("mpi4py", "4"), ("nompi", "RuntimeError none")]), own).state,
            State::Error
        );
    }

    #[test]
    fn only_pvm_programs_need_the_library_in_the_path_of_the_loader() {
        let state = |name: &str| library(name, Path::new("/opt/bin/parvum"), &OsString::new(), "").state;
        assert_eq!([state("libmpi.so.12"), state("libpvm3.so.3")], [State::Ok, State::Warning]);
    }

    #[test]
    fn loader_looks_into_path_before_cache() {
        let cache = "\tlibx.so.1 (libc6,x86-64) => /usr/lib/libx.so.1\n";
        assert_eq!(find_library("libx.so.1", &OsString::new(), cache), Some("/usr/lib/libx.so.1".into()));
        assert_eq!(find_library("liby.so.1", &OsString::new(), cache), None);
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(find_library("Cargo.toml", &here.into(), cache), Some(here.join("Cargo.toml")));
    }

    #[test]
    fn launcher_of_the_wheel_is_not_of_another_mpi() {
        let folder = std::env::temp_dir().join(format!("parvum-wheel-{}", std::process::id()));
        let (bin, inside) = (folder.join("bin"), folder.join("lib/python3.11/site-packages/parvum/bin"));
        for dir in [&bin, &inside] {
            std::fs::create_dir_all(dir).expect("writable");
        }
        std::fs::copy("/bin/true", inside.join("parvum")).expect("writable");
        let own = inside.join("parvum").canonicalize().expect("there");
        let state_with = |text: &str| {
            std::fs::write(bin.join("mpiexec"), text).expect("writable");
            std::fs::set_permissions(bin.join("mpiexec"), PermissionsExt::from_mode(0o755)).expect("ours");
            launchers(&own, std::slice::from_ref(&bin)).state
        };
        let states = [
            state_with("#!/usr/bin/python3\nfrom parvum.__main__ import tool\n"),
            state_with("#!/bin/sh\nexec hydra\n"),
        ];
        let script = |text: &str| {
            std::fs::write(bin.join("parvum"), text).expect("writable");
            std::fs::set_permissions(bin.join("parvum"), PermissionsExt::from_mode(0o755)).expect("ours");
            command(&own, std::slice::from_ref(&bin)).state
        };
        let commands =
            [script("#!/usr/bin/python3\nfrom parvum.__main__ import tool\n"), script("#!/bin/sh\n")];
        std::fs::remove_dir_all(&folder).expect("ours");
        assert_eq!((states, commands), ([State::Ok, State::Warning], [State::Ok, State::Warning]));
    }

    #[test]
    fn another_mpi_first_in_path_is_a_warning() {
        let none = launchers(Path::new("/opt/bin/parvum"), &["/nowhere".into()]);
        assert_eq!(none.state, State::Warning);
        let folder = std::env::temp_dir().join(format!("parvum-launchers-{}", std::process::id()));
        let (one, two) = (folder.join("one"), folder.join("two"));
        for dir in [&one, &two] {
            std::fs::create_dir_all(dir).expect("writable");
        }
        let other = one.join("mpiexec");
        std::fs::copy("/bin/true", &other).expect("writable");
        std::fs::copy("/bin/true", two.join("parvum")).expect("writable");
        std::os::unix::fs::symlink("parvum", two.join("mpiexec")).expect("writable");
        let own = two.join("parvum").canonicalize().expect("there");
        let (bad, good) = (launchers(&own, &[one.clone(), two.clone()]), launchers(&own, &[two, one]));
        std::fs::remove_dir_all(&folder).expect("ours");
        assert!(bad.state == State::Warning && bad.text.contains("another MPI"), "{bad:?}");
        assert!(good.state == State::Ok && good.text.contains("others behind it"), "{good:?}");
    }
}
