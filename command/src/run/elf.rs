//! A look at a program before it starts: which libraries it was linked to.

use parvum_wire::control::Program;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Open MPI's library, whose binary interface is another one.
const OPEN_MPI: &str = "libmpi.so.40";

/// Refuses a program that was built for Open MPI: it would find no MPI of ours, and run alone. What cannot be read here
/// is left to whoever starts it.
pub fn check(program: &Program) -> Result<(), String> {
    let Some(path) = find(program) else { return Ok(()) };
    if needed(&path).unwrap_or_default().iter().any(|name| name == OPEN_MPI) {
        return Err(format!(
            "E-OPENMPI: {} was built for Open MPI (it needs {OPEN_MPI}), whose binary interface is not ours; help: compile it with \
             mpicc of Parvum or of MPICH",
            path.display()
        ));
    }
    Ok(())
}

/// Where the program lies on this host.
fn find(program: &Program) -> Option<PathBuf> {
    let name = Path::new(OsStr::from_bytes(&program.program.0));
    if program.program.0.contains(&b'/') {
        let folder = match &program.cwd {
            Some(folder) => PathBuf::from(OsStr::from_bytes(&folder.0)),
            None => std::env::current_dir().ok()?,
        };
        return Some(folder.join(name));
    }
    crate::processes::in_path(name)
}

/// The most that is read of a table.
const MOST: u64 = 1 << 20;

/// Names of the libraries that an ELF file of 64 bits and little endian needs; nothing for any other file.
fn needed(path: &Path) -> Option<Vec<String>> {
    let file = std::fs::File::open(path).ok()?;
    let read = |at: u64, length: u64| -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length.min(MOST)).ok()?];
        let got = file.read_at(&mut bytes, at).ok()?;
        bytes.truncate(got);
        Some(bytes)
    };
    let header = read(0, 64)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (start, size, count) = (word(&header, 32)?, half(&header, 54)?, half(&header, 56)?);
    let table = read(start, u64::from(size) * u64::from(count))?;
    let segments: Vec<Segment> = table.chunks_exact(usize::from(size).max(56)).filter_map(segment).collect();
    let dynamic = segments.iter().find(|segment| segment.kind == DYNAMIC)?;
    let entries = read(dynamic.offset, dynamic.length)?;
    let entries: Vec<(u64, u64)> = entries
        .chunks_exact(16)
        .filter_map(|entry| Some((word(entry, 0)?, word(entry, 8)?)))
        .take_while(|(tag, _)| *tag != 0)
        .collect();
    let of = |wanted: u64| entries.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value);
    let (address, length) = (of(STRINGS)?, of(STRINGS_SIZE)?);
    let holder = segments.iter().find(|it| {
        it.kind == LOADED && (it.address..it.address.saturating_add(it.length)).contains(&address)
    })?;
    let strings = read(holder.offset.checked_add(address - holder.address)?, length)?;
    let names = entries.iter().filter(|(tag, _)| *tag == NEEDED).filter_map(|(_, at)| {
        let name = strings.get(usize::try_from(*at).ok()?..)?.split(|byte| *byte == 0).next()?;
        String::from_utf8(name.to_vec()).ok()
    });
    Some(names.collect())
}

const LOADED: u32 = 1;
const DYNAMIC: u32 = 2;
const NEEDED: u64 = 1;
const STRINGS: u64 = 5;
const STRINGS_SIZE: u64 = 10;

struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    length: u64,
}

fn segment(bytes: &[u8]) -> Option<Segment> {
    let kind = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    Some(Segment { kind, offset: word(bytes, 8)?, address: word(bytes, 16)?, length: word(bytes, 32)? })
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_returns_libraries_of_elf_file_only() {
        let own = std::env::current_exe().expect("this test is a program");
        let needed = needed(&own).expect("it is an ELF file");
        assert!(needed.iter().any(|name| name.starts_with("libc.so")), "{needed:?}");
        assert!(super::needed(Path::new("/etc/passwd")).is_none());
    }
}
