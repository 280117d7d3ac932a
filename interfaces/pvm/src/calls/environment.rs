//! The environment: pvm_export(3), and what PVM's own programs ask of it.

use super::text;
use crate::errors::{Pvm, PvmError};
use crate::state::call;
use parvum_api::pointers::Text;
use std::ffi::{CString, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

const EXPORT: &str = "PVM_EXPORT";

/// A variable's name.
fn variable(name: Text<'_>) -> Pvm<Vec<u8>> {
    let name = text(name)?.to_bytes();
    if name.iter().any(|byte| b"=:".contains(byte)) { Err(PvmError::BadParam) } else { Ok(name.to_vec()) }
}

/// The names of variables that spawned tasks inherit.
pub(super) fn exported() -> Vec<Vec<u8>> {
    let list = std::env::var_os(EXPORT).unwrap_or_default();
    let names = list.as_bytes().split(|byte| *byte == b':');
    names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

/// C's own environment, which the program's `getenv` reads.
fn set_exported(names: &[Vec<u8>]) -> Pvm<c_int> {
    let list = CString::new(names.join(&b':')).map_err(|_| PvmError::BadParam)?;
    // SAFETY: both are C strings. The program must ensure that no other thread reads the environment at the same time,
    // as with its own setenv.
    match unsafe { libc::setenv(c"PVM_EXPORT".as_ptr(), list.as_ptr(), 1) } {
        0 => Ok(0),
        _ => Err(PvmError::NoMem),
    }
}

/// Adds a variable to the list of variables that spawned tasks inherit.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_export(name: Text<'_>) -> c_int {
    call("pvm_export", |_| {
        let name = variable(name)?;
        let mut names = exported();
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
        set_exported(&names)
    })
}

/// Removes a variable from the list of variables that spawned tasks inherit.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_unexport(name: Text<'_>) -> c_int {
    call("pvm_unexport", |_| {
        let name = variable(name)?;
        let mut names = exported();
        names.retain(|other| *other != name);
        set_exported(&names)
    })
}

/// Puts `NAME=value` into the environment, where it stays as it is.
///
/// # Safety
/// As for C's `putenv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvmputenv(variable: *mut c_char) -> c_int {
    if variable.is_null() {
        return -1;
    }
    // SAFETY: the caller's promise.
    unsafe { libc::putenv(variable) }
}

/// A text that a program asked for; it lasts until the next one is asked for in the same place.
struct LastText(Mutex<Option<CString>>);

impl LastText {
    fn give(&self, value: impl Into<Vec<u8>>) -> *mut c_char {
        let mut kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.insert(CString::new(value).unwrap_or_default()).as_ptr().cast_mut()
    }
}

fn named(name: &str, otherwise: &str) -> Vec<u8> {
    let set = std::env::var_os(name).filter(|value| !value.is_empty());
    set.map_or_else(|| otherwise.as_bytes().to_vec(), OsString::into_vec)
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident: $value:expr;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> *mut c_char {
            static KEPT: LastText = LastText(Mutex::new(None));
            KEPT.give($value)
        }
    )*};
}

places! {
    /// The folder of temporary files: `PVM_TMP`, else `/tmp`.
    pvmgettmp: named("PVM_TMP", "/tmp");
    /// The command that starts programs on other hosts: `PVM_RSH`, else `ssh`.
    pvmgetrsh: named("PVM_RSH", "ssh");
    /// The folder of PVM's own files: `PVM_ROOT`, else Debian's folder.
    pvmgetroot: named("PVM_ROOT", "/usr/lib/pvm3");
    /// The user's home.
    pvmgethome: named("HOME", "/");
    /// The command that is the daemon: `PVM_DPATH`, else `pvmd`.
    pvmgetpvmd: named("PVM_DPATH", "pvmd");
}

/// PVM's text for the last failure.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_strerror() -> *const c_char {
    static KEPT: LastText = LastText(Mutex::new(None));
    let code = super::ERRNO.load(Ordering::Relaxed);
    KEPT.give(crate::errors::text(code).to_owned())
}

/// A number in decimal, octal (`0...`) or hexadecimal (`0x...`); 0 when it is none.
#[unsafe(no_mangle)]
pub extern "C" fn pvmstrtoi(digits: Text<'_>) -> c_int {
    match text(digits) {
        // SAFETY: a C string.
        Ok(digits) => unsafe { libc::strtol(digits.as_ptr(), std::ptr::null_mut(), 0) as c_int },
        Err(_) => 0,
    }
}

/// A number in hexadecimal; 0 when it is none.
#[unsafe(no_mangle)]
pub extern "C" fn pvmxtoi(digits: Text<'_>) -> c_int {
    let mut digits = text(digits).unwrap_or_default().to_bytes();
    while let Some(rest) = digits.strip_prefix(b"0x") {
        digits = rest;
    }
    let end = digits.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(digits.len());
    // These are digits of ASCII.
    let digits = std::str::from_utf8(&digits[..end]).unwrap_or_default();
    u32::from_str_radix(digits, 16).unwrap_or(0) as c_int
}

/// Writes the path of a temporary file that does not exist into `name`, in the folder of `pvmgettmp`;
/// gives `name`. Null: into memory that lasts until the next call.
///
/// # Safety
/// `name` must be null or writable for 128 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvmtmpnam(name: *mut c_char) -> *mut c_char {
    const ROOM: usize = 128;
    static KEPT: LastText = LastText(Mutex::new(None));
    static LAST: AtomicU32 = AtomicU32::new(0);
    let folder = named("PVM_TMP", "/tmp");
    let path = loop {
        // Relaxed: any two numbers differ, in all threads.
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let name = format!("/pvmtmp{:06}.{number}", std::process::id());
        let path = [&folder[..], name.as_bytes()].concat();
        if !std::path::Path::new(OsStr::from_bytes(&path)).exists() {
            break path;
        }
    };
    if name.is_null() {
        return KEPT.give(path);
    }
    if path.len() >= ROOM {
        return std::ptr::null_mut();
    }
    // SAFETY: the path and its end fit into the room that the caller promises.
    unsafe {
        std::ptr::copy_nonoverlapping(path.as_ptr().cast(), name, path.len());
        name.add(path.len()).write(0);
    }
    name
}
