//! Archives that are whole or not there.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::Path;
use std::process::Command;

/// The folder that a file is in.
pub fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Fills a hidden folder beside the target. The folder becomes the target itself, or an archive with the folder as `inner` in it. A failure
/// leaves nothing.
pub fn write(
    target: &Path,
    inner: &OsStr,
    is_packed: bool,
    fill: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut hidden = OsString::from(".");
    hidden.push(inner);
    hidden.push(format!(".{}", std::process::id()));
    let scratch = folder_of(target).join(hidden);
    let folder = scratch.join(inner);
    let result = fs::create_dir_all(&folder)
        .and_then(|()| fill(&folder))
        .and_then(|()| if is_packed { pack(&scratch, inner, target) } else { fs::rename(&folder, target) });
    let _ = fs::remove_dir_all(&scratch);
    result
}

fn pack(scratch: &Path, inner: &OsStr, target: &Path) -> Result<(), Error> {
    let packed = scratch.join("packed");
    let done =
        Command::new("tar").arg("-C").arg(scratch).arg("-czf").arg(&packed).arg("--").arg(inner).output();
    let done = done.map_err(|why| match why.kind() {
        ErrorKind::NotFound => Error::other("there is no `tar` on this host"),
        _ => why,
    })?;
    if !done.status.success() {
        let words = String::from_utf8_lossy(&done.stderr);
        return Err(Error::other(format!("tar: {}: {}", done.status, words.trim())));
    }
    fs::rename(&packed, target)
}
