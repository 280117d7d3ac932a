//! The surroundings of processes: variables, and the library.

use super::options::{Common, Inherit, Own};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const LIBRARY: &str = "libmpi.so.12";
const LOADER: &str = "LD_LIBRARY_PATH";
/// By it mpi4py's wheel is told which library to load; else it looks into its own environment first, where another MPI may be.
const MPI4PY: &str = "MPI4PY_LIBMPI";

/// The folder of our library, when it lies beside this command: as it was called, or as it lies.
pub fn library(called: &OsStr) -> Option<OsString> {
    let named = Path::new(called);
    let called = match named.components().count() {
        0 | 1 => std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|folder| folder.join(named))
            .find(|path| path.exists()),
        _ => std::path::absolute(named).ok(),
    };
    let places = called.into_iter().chain(std::env::current_exe());
    let folders = places.filter_map(|command| Some(command.parent()?.parent()?.join("lib")));
    folders.filter(|folder| folder.join(LIBRARY).exists()).map(PathBuf::into_os_string).next()
}

/// The seconds that the environment gives the job.
pub fn timeout() -> Result<Option<u64>, String> {
    match std::env::var("MPIEXEC_TIMEOUT") {
        Ok(text) if !text.is_empty() => match text.parse() {
            Ok(seconds) => Ok(Some(seconds)),
            Err(_) => Err(format!(
                "E-USAGE: MPIEXEC_TIMEOUT={text}: not a number of seconds; help: `MPIEXEC_TIMEOUT=60`"
            )),
        },
        _ => Ok(None),
    }
}

/// All variables of one program's processes. A program that was linked to another MPICH finds our library first.
pub fn environment(
    common: &Common,
    own: &Own,
    library: Option<&OsStr>,
) -> Result<Vec<(OsString, OsString)>, String> {
    let inherit = own.inherit.as_ref().or(common.inherit.as_ref()).unwrap_or(&Inherit::All);
    let mut all: Vec<(OsString, OsString)> = match inherit {
        Inherit::All => std::env::vars_os().collect(),
        Inherit::None => Vec::new(),
        Inherit::These(names) => {
            names.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect()
        }
    };
    for (name, value) in common.variables.iter().chain(&own.variables) {
        set(&mut all, name, value.clone());
    }
    if let Some(library) = library {
        put_first(&mut all, library).map_err(|error| format!("E-USAGE: {LOADER}: {error}"))?;
    }
    Ok(all)
}

/// Has the loader look into the folder of our library first, and mpi4py too.
pub fn put_first(
    all: &mut Vec<(OsString, OsString)>,
    library: &OsStr,
) -> Result<(), std::env::JoinPathsError> {
    let old = folders(all);
    look(all, [PathBuf::from(library)].into_iter().chain(old).collect(), library)
}

/// The same behind the folders that are named already, which whoever named them wants looked into first.
pub fn put_last(
    all: &mut Vec<(OsString, OsString)>,
    library: &OsStr,
) -> Result<(), std::env::JoinPathsError> {
    let mut named = folders(all);
    if !named.iter().any(|folder| folder == library) {
        named.push(library.into());
    }
    look(all, named, library)
}

/// The folders that the loader looks into. An empty one is the present folder, which nobody means who leaves the variable empty.
fn folders(all: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let value = all.iter().find(|(name, value)| name == LOADER && !value.is_empty());
    value.map(|(_, value)| std::env::split_paths(value).collect()).unwrap_or_default()
}

fn look(
    all: &mut Vec<(OsString, OsString)>,
    folders: Vec<PathBuf>,
    library: &OsStr,
) -> Result<(), std::env::JoinPathsError> {
    set(all, LOADER.as_ref(), std::env::join_paths(folders)?);
    if !all.iter().any(|(name, _)| name == MPI4PY) {
        set(all, MPI4PY.as_ref(), Path::new(library).join(LIBRARY).into_os_string());
    }
    Ok(())
}

fn set(all: &mut Vec<(OsString, OsString)>, name: &OsStr, value: OsString) {
    all.retain(|(known, _)| known != name);
    all.push((name.to_owned(), value));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(value: Option<&str>) -> Vec<(OsString, OsString)> {
        value.map(|value| (LOADER.into(), value.into())).into_iter().collect()
    }

    fn told(all: &[(OsString, OsString)], name: &str) -> String {
        let value = all.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        value.unwrap_or_default().into_string().expect("text")
    }

    #[test]
    fn library_path_puts_launcher_first_or_last() {
        for (before, first, last) in [
            (None, "/p/lib", "/p/lib"),
            (Some(""), "/p/lib", "/p/lib"),
            (Some("/a:/b"), "/p/lib:/a:/b", "/a:/b:/p/lib"),
            (Some("/a:/p/lib:/b"), "/p/lib:/a:/p/lib:/b", "/a:/p/lib:/b"),
        ] {
            let (mut one, mut other) = (named(before), named(before));
            put_first(&mut one, "/p/lib".as_ref()).expect("no colon");
            put_last(&mut other, "/p/lib".as_ref()).expect("no colon");
            assert_eq!((told(&one, LOADER).as_str(), told(&other, LOADER).as_str()), (first, last));
            assert_eq!(told(&other, MPI4PY), format!("/p/lib/{LIBRARY}"));
        }
        assert!(put_last(&mut named(None), "/a:b".as_ref()).is_err());
    }

    #[test]
    fn mpi4py_library_set_by_user_is_kept() {
        let mut all = vec![(MPI4PY.into(), "/other/libmpi.so".into())];
        put_last(&mut all, "/p/lib".as_ref()).expect("no colon");
        assert_eq!(told(&all, MPI4PY), "/other/libmpi.so");
    }
}
