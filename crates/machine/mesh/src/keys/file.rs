//! Files of keys: for the owner only, written whole or not at all.
//!
//! ```text
//! parvum authority 1
//! machine 00112233445566778899aabbccddeeff
//! key 3053...
//! sum ...      SHA-256 of all before it
//! ```

use super::KeyError;
use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// No file of keys is longer.
const MAX_FILE: u64 = 64 * 1024;

/// The file's text: a first line that says what it is, then one line a field.
pub(super) fn encode(what: &str, fields: &[(&str, &[u8])]) -> Vec<u8> {
    let mut text = format!("parvum {what} 1\n");
    for (name, bytes) in fields {
        text += name;
        text.push(' ');
        bytes.iter().for_each(|byte| text += &format!("{byte:02x}"));
        text.push('\n');
    }
    let sum = crate::handshake::tls::digest(text.as_bytes());
    text += "sum ";
    sum.iter().for_each(|byte| text += &format!("{byte:02x}"));
    text.push('\n');
    text.into_bytes()
}

/// The fields of such a text, all of them, in that order. Pure.
pub(super) fn decode<const N: usize>(
    what: &str,
    names: [&str; N],
    bytes: &[u8],
) -> Result<[Vec<u8>; N], String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is no text")?;
    let mut lines = text.split_inclusive('\n');
    let mut line = |name: &str| match lines.next().and_then(|line| line.strip_suffix('\n')) {
        Some(line) => Ok(line),
        None => Err(format!("it ends before `{name}`")),
    };
    if line(what)? != format!("parvum {what} 1") {
        return Err(format!("its first line is not `parvum {what} 1`"));
    }
    let mut fields = [const { Vec::new() }; N];
    for (slot, name) in fields.iter_mut().zip(names) {
        let value = line(name)?.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
        *slot = value.and_then(from_hex).ok_or_else(|| format!("`{name}` cannot be read"))?;
    }
    let sum = line("sum")?.strip_prefix("sum ").and_then(from_hex).ok_or("`sum` cannot be read")?;
    if lines.next().is_some() {
        return Err("it is longer than it should be".into());
    }
    let before = text.rfind("sum ").unwrap_or(0);
    if sum != crate::handshake::tls::digest(bytes.get(..before).unwrap_or_default()) {
        return Err("its content was changed".into());
    }
    Ok(fields)
}

/// Bytes from hexadecimal digits, two for each.
pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: &u8| match c {
        b'0'..=b'9' | b'a'..=b'f' => char::from(*c).to_digit(16),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some((digit(high)? << 4 | digit(low)?) as u8)).collect()
}

/// Writes a file of mode 0600 into a directory of mode 0700, which is made when missing.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), KeyError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(system(dir, error)),
        _ => check(dir, &fs::symlink_metadata(dir).map_err(|error| system(dir, error))?, true)?,
    }
    // A name of its own, so that two writers do not meet in one file.
    let random: [u8; 8] = crate::handshake::tls::random().map_err(|error| system(path, error))?;
    let spare = path.with_extension(format!("new-{:016x}", u64::from_le_bytes(random)));
    let written = write_new(&spare, bytes).and_then(|()| fs::rename(&spare, path)).and_then(|()| {
        // The new name must outlive a crash too.
        File::open(dir)?.sync_all()
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&spare);
        system(path, error)
    })
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(bytes)?;
    file.sync_all()
}

/// Reads a file that only its owner, we, can read.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, KeyError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    check(dir, &fs::symlink_metadata(dir).map_err(|error| system(dir, error))?, true)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| system(path, error.into()))?;
    let file = File::from(opened);
    check(path, &file.metadata().map_err(|error| system(path, error))?, false)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| system(path, error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(damaged(path, "it is longer than it should be"));
    }
    Ok(bytes)
}

fn check(path: &Path, found: &fs::Metadata, dir: bool) -> Result<(), KeyError> {
    let fault = if dir && !found.is_dir() {
        "is not a directory".to_owned()
    } else if !dir && !found.is_file() {
        "is not a file".to_owned()
    } else if found.uid() != geteuid().as_raw() {
        format!("belongs to user {}", found.uid())
    } else if found.mode() & 0o077 != 0 {
        format!("is open to other users (mode {:o})", found.mode() & 0o777)
    } else {
        return Ok(());
    };
    Err(KeyError::Open { path: path.to_owned(), fault })
}

fn system(path: &Path, error: io::Error) -> KeyError {
    KeyError::System { path: path.to_owned(), error }
}

pub(super) fn damaged(path: &Path, fault: impl Into<String>) -> KeyError {
    KeyError::Damaged { path: path.to_owned(), fault: fault.into() }
}
