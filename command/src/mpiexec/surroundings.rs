//! What processes find around them: variables, and the library.

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
            Err(_) => Err(format!("E-USAGE: MPIEXEC_TIMEOUT={text}: a number of seconds")),
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
    let old = all.iter().find(|(name, _)| name == LOADER).map(|(_, value)| value.clone());
    let folders = [PathBuf::from(library)].into_iter().chain(old.iter().flat_map(std::env::split_paths));
    let joined = std::env::join_paths(folders)?;
    set(all, LOADER.as_ref(), joined);
    if !all.iter().any(|(name, _)| name == MPI4PY) {
        set(all, MPI4PY.as_ref(), Path::new(library).join(LIBRARY).into_os_string());
    }
    Ok(())
}

fn set(all: &mut Vec<(OsString, OsString)>, name: &OsStr, value: OsString) {
    all.retain(|(known, _)| known != name);
    all.push((name.to_owned(), value));
}
