//! What a program is: which message-passing library it asks the loader for.

use crate::error::LabError;
use crate::systems::peers::in_path;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that a program was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Library {
    /// MPICH's ABI: libmpi.so.12.
    Mpich,
    /// The ABI of the MPI-5 standard: libmpi_abi.so.
    Standard,
    /// Open MPI: libmpi.so.40.
    OpenMpi,
    /// PVM: libpvm3.so.3.
    Pvm,
    /// Python with mpi4py, which loads the MPI that is there.
    Mpi4py,
}

/// A program, found.
#[derive(Debug, Clone)]
pub struct Kind {
    /// The file.
    pub program: PathBuf,
    /// Its library.
    pub library: Library,
}

/// The libraries by which programs are known, as the loader is asked for them.
const NAMES: [(&str, Library); 6] = [
    ("libmpi.so.12", Library::Mpich),
    ("libmpich.so.12", Library::Mpich),
    ("libmpi_abi.so", Library::Standard),
    ("libmpi.so.40", Library::OpenMpi),
    ("libpvm3.so.3", Library::Pvm),
    ("libgpvm3.so.3", Library::Pvm),
];

/// Finds a program, in the current folder or in PATH, and what it was built for.
pub fn of(word: &OsStr) -> Result<Kind, LabError> {
    let program = find(word)?;
    let refused = |why: String| LabError::Program(format!("{}: {why}", program.display()));
    if is_python(&program) {
        return Ok(Kind { program, library: Library::Mpi4py });
    }
    let needed = needed(&program).map_err(refused)?;
    let found = libraries(&needed);
    match found[..] {
        [library] => Ok(Kind { program, library }),
        [] => Err(refused(
            "the program uses neither MPI nor PVM: it asks for no libmpi.so and no libpvm3.so. help: name the program itself after --, not a \
             script that starts it; a static program cannot be compared"
                .into(),
        )),
        _ => {
            let names: Vec<&str> = needed.iter().map(String::as_str).filter(|name| library_of(name).is_some()).collect();
            Err(refused(format!("the program is linked to two MPIs at once: {}. help: link it again, to one of them", names.join(" and "))))
        }
    }
}

fn find(word: &OsStr) -> Result<PathBuf, LabError> {
    let is_path = word.to_string_lossy().contains('/');
    let here = PathBuf::from(word);
    let file = if is_path { here.is_file().then_some(here.clone()) } else { in_path(word) };
    match file {
        Some(file) => file.canonicalize().map_err(LabError::file("read", file)),
        None if !is_path && here.is_file() => {
            let name = word.to_string_lossy();
            Err(LabError::Program(format!("{name} is not in PATH. help: parvum compare -- ./{name}")))
        }
        None => Err(LabError::Program(format!("there is no program {}", word.to_string_lossy()))),
    }
}

/// An interpreter of Python, or a script that begins with one's name. Whether mpi4py is imported, the run shows.
fn is_python(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let first = fs::read(program).unwrap_or_default();
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    name.starts_with("python")
        || (line.starts_with(b"#!") && String::from_utf8_lossy(line).contains("python"))
}

/// Every library that the loader would load, as the program and its libraries name them. A library of the program may be what needs MPI, so
/// the program's own list is not enough.
fn needed(program: &Path) -> Result<Vec<String>, String> {
    let asked = Command::new("ldd").arg(program).env("LC_ALL", "C").output();
    let said =
        asked.map_err(|why| format!("ldd cannot be run ({why}), so the program's libraries are unknown"))?;
    let text = String::from_utf8_lossy(&said.stdout);
    if !said.status.success() && !text.contains("=>") {
        let why = String::from_utf8_lossy(&said.stderr);
        return Err(format!("ldd says: {}", if why.trim().is_empty() { text.trim() } else { why.trim() }));
    }
    Ok(text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

fn library_of(name: &str) -> Option<Library> {
    NAMES
        .into_iter()
        .find(|(known, _)| name == *known || name.starts_with(&format!("{known}.")))
        .map(|one| one.1)
}

/// The message-passing libraries among these, each once.
fn libraries(needed: &[String]) -> Vec<Library> {
    let mut found: Vec<Library> = Vec::new();
    for library in needed.iter().filter_map(|name| library_of(name)) {
        if !found.contains(&library) {
            found.push(library);
        }
    }
    found
}

impl Kind {
    /// The words that run the program.
    pub fn words(&self, asked: &[OsString]) -> Vec<OsString> {
        std::iter::once(self.program.clone().into()).chain(asked[1..].iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn program_is_known_by_the_library_it_needs() {
        assert_eq!(libraries(&names(&["libc.so.6", "libmpi.so.12"])), [Library::Mpich]);
        assert_eq!(libraries(&names(&["libmpi_abi.so.1"])), [Library::Standard]);
        assert_eq!(libraries(&names(&["libgpvm3.so.3", "libpvm3.so.3"])), [Library::Pvm]);
        assert_eq!(libraries(&names(&["libmpi.so.40", "libmpi.so.12"])), [Library::OpenMpi, Library::Mpich]);
        assert!(libraries(&names(&["libmpi.so.120"])).is_empty());
    }

    #[test]
    fn program_without_messages_is_refused() {
        let refused = of(OsStr::new("/bin/true")).expect_err("no MPI").to_string();
        assert!(refused.contains("/true: the program uses neither MPI nor PVM"), "{refused}");
        let refused = of(OsStr::new("no-such-program")).expect_err("nothing").to_string();
        assert_eq!(refused, "there is no program no-such-program");
    }
}
