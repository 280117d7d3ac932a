//! Other libraries of MPI in this process. They have functions of the same names, and which of them a call finds is chance.

use crate::errors::{Error, Mpi, class};
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Names of libraries that are MPI: Open MPI's, MPICH's, and those of the two binary interfaces.
const NAMES: [&str; 4] = ["libmpi.so", "libmpich.so", "libmpi_abi.so", "libmpi_cray.so"];

/// Refuses a process that has another one beside ours.
pub(crate) fn refuse() -> Mpi {
    let own = own_library();
    let same =
        |one: &Path, other: &Path| one == other || one.canonicalize().ok() == other.canonicalize().ok();
    let Some(own) = own else { return Ok(()) };
    match loaded().into_iter().find(|path| is_mpi(path) && !same(path, &own) && !is_only_a_name(path, &own)) {
        None => Ok(()),
        Some(other) => {
            let text = format!(
                "two MPI libraries are in this process: {} and {}\n    the program and all libraries that it uses must be linked with \
                 one: see what ldd says of each",
                own.display(),
                other.display()
            );
            Err(Error::new(class::OTHER, text))
        }
    }
}

/// Bytes that every library of MPI is longer than.
const SHORT: u64 = 64 << 10;

/// Whether a library beside our own has nothing but another name for it: what a Python wheel has in place of a link.
fn is_only_a_name(path: &Path, own: &Path) -> bool {
    let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
    folder(path).is_some_and(|beside| folder(own) == Some(beside))
        && path.metadata().is_ok_and(|about| about.len() < SHORT)
}

/// The other interfaces of ours: what waits in them does not know what MPI has left unposted.
const INTERFACES: &[&str] = include!(concat!(env!("OUT_DIR"), "/others.rs"));

/// Whether the program uses other interfaces of ours beside MPI.
pub(crate) fn has_other_interface() -> bool {
    loaded().iter().any(|path| is_one_of(path, INTERFACES))
}

fn is_mpi(path: &Path) -> bool {
    is_one_of(path, &NAMES)
}

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    let name = path.file_name().map(|name| name.as_bytes()).unwrap_or_default();
    names.iter().any(|known| {
        name.strip_prefix(known.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
    })
}

/// The library that this code is in.
fn own_library() -> Option<PathBuf> {
    // SAFETY: all zeros is a `Dl_info` of nothing.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for; the place is ours.
    let known = unsafe { libc::dladdr(own_library as *const c_void, &mut about) };
    (known != 0).then(|| path_of(about.dli_fname)).flatten()
}

fn path_of(name: *const std::ffi::c_char) -> Option<PathBuf> {
    // SAFETY: null, or the loader's own text.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
    let name = OsStr::from_bytes(name.to_bytes());
    (!name.is_empty()).then(|| PathBuf::from(name))
}

/// All libraries of this process.
fn loaded() -> Vec<PathBuf> {
    unsafe extern "C" fn see(about: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> c_int {
        // SAFETY: the loader gives what it knows of one, and we the list below.
        let (about, all) = unsafe { (&*about, &mut *all.cast::<Vec<PathBuf>>()) };
        all.extend(path_of(about.dlpi_name));
        0
    }
    let mut all = Vec::new();
    // SAFETY: the function is called before this returns, with our list.
    unsafe { libc::dl_iterate_phdr(Some(see), (&raw mut all).cast()) };
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpi_libraries_are_recognized_by_name() {
        for yes in ["/a/libmpi.so.40", "/a/libmpi.so", "/b/libmpich.so.12", "libmpi_abi.so.1"] {
            assert!(is_mpi(Path::new(yes)), "{yes}");
        }
        for no in [
            "/a/libmpichfort.so.12",
            "/a/libmpifort.so.12",
            "/a/libmpicxx.so.12",
            "/a/libmpiP.so",
            "/a/libparvum.so.0",
        ] {
            assert!(!is_mpi(Path::new(no)), "{no}");
        }
        assert!(INTERFACES.len() > 3 && is_one_of(Path::new("/a/libpvm3.so.3"), INTERFACES));
        for own in ["/a/libmpi.so.12", "/a/libmpi_abi.so.1", "/a/libparvum.so.0"] {
            assert!(!is_one_of(Path::new(own), INTERFACES), "{own}");
        }
        let beside = |one: &str, other: &str| is_only_a_name(Path::new(one), Path::new(other));
        assert!(
            beside("/proc/self/status", "/proc/self/limits") && !beside("/proc/self/status", "/proc/cmdline")
        );
        assert!(!beside("/no/libmpi.so.40", "/no/libmpi.so.12"), "there is no such library");
        let long = std::env::current_exe().unwrap();
        assert!(!is_only_a_name(&long, &long));
        assert!(!loaded().is_empty() && own_library().is_some());
    }
}
