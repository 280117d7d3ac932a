//! Finding and opening `libparvum.so.0`.

use crate::table::{TABLE_VERSION, Table};
use libloading::os::unix::{Library, RTLD_NOW};
use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const NAME: &str = "libparvum.so.0";

/// Why there is no engine.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// The library is missing or broken.
    #[error(
        "E-NOENGINE: {NAME} cannot be loaded ({cause}); help: put it beside the interface library, or its folder into LD_LIBRARY_PATH"
    )]
    Missing {
        /// The loader's words.
        cause: String,
    },
    /// A library of another version.
    #[error(
        "E-VERSION: {NAME} has table version {found}, this interface wants {TABLE_VERSION}; help: install both from one release"
    )]
    Version {
        /// What it has.
        found: u32,
    },
}

/// Opens the engine's library: the library that the process has already loaded, else the library in the folder of this
/// interface library, if it exists. A process has one engine, also where a program that calls it itself found another
/// copy of it.
pub(crate) fn open() -> Result<&'static Table, OpenError> {
    let library = match loaded() {
        Some(library) => library,
        None => load()?,
    };
    // SAFETY: the symbol has this type in every release; the table's own version covers the rest.
    let table = unsafe {
        let entry =
            library.get::<unsafe extern "C" fn() -> *const Table>(b"parvum_table\0").map_err(missing)?;
        &*entry()
    };
    std::mem::forget(library);
    if table.version != TABLE_VERSION || (table.size as usize) < size_of::<Table>() {
        return Err(OpenError::Version { found: table.version });
    }
    Ok(table)
}

/// The library that is in the process already, under its own name, wherever it came from.
pub(crate) fn loaded() -> Option<Library> {
    // SAFETY: nothing is loaded, so nothing of it runs.
    unsafe { Library::open(Some(NAME), RTLD_NOW | libc::RTLD_NOLOAD) }.ok()
}

fn load() -> Result<Library, OpenError> {
    // A Python package has its libraries in a folder.
    let places = own_directory().into_iter().flat_map(|own| [own.join(NAME), own.join("lib").join(NAME)]);
    let name = places.into_iter().find(|path| path.exists()).unwrap_or_else(|| PathBuf::from(NAME));
    // SAFETY: libparvum's initialisers only set statics; the library is never unloaded (above).
    unsafe { Library::open(Some(&name), RTLD_NOW) }.map_err(missing)
}

/// The loader's own words are underneath.
fn missing(error: libloading::Error) -> OpenError {
    let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), |why| why.to_string());
    OpenError::Missing { cause }
}

/// The directory of the shared object that this code is linked into.
fn own_directory() -> Option<PathBuf> {
    // SAFETY: plain output structure, all-zero is valid.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is one of ours; `info` is written by the call.
    let found = unsafe { libc::dladdr(own_directory as *const c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: on success the loader gives a terminated string that lives as long as the object.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Path::new(OsStr::from_bytes(name.to_bytes())).canonicalize().ok()?.parent().map(Path::to_path_buf)
}
