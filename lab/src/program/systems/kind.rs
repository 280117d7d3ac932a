//! The kind of a program: the message-passing library that the program asks the loader for.

use super::script;
use crate::error::LabError;
use crate::program::parts::Part;
use crate::systems::peers::in_path;
use serde::Deserialize;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that a program was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
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
    /// Python with an executor, by `--python` only.
    #[serde(skip)]
    #[value(skip)]
    Executor,
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

/// Finds the programs of all parts, in the current folder or in PATH, and the library that they were built for.
pub fn of_parts(parts: &mut [Part], said: Option<Library>) -> Result<Kind, LabError> {
    let mut kinds: Vec<Kind> = Vec::new();
    for part in parts.iter_mut() {
        let kind = of(&part.words[0], said)?;
        part.words[0] = kind.program.clone().into();
        kinds.push(kind);
    }
    if let [first, ..] = &kinds[..]
        && let Some(other) = kinds.iter().find(|kind| kind.library != first.library)
    {
        return Err(LabError::Program(format!(
            "{} was built for {:?} and {} for {:?}. help: build both for one library",
            first.program.display(),
            first.library,
            other.program.display(),
            other.library
        )));
    }
    Ok(kinds.swap_remove(0))
}

/// Finds a program and its library, unless the user names the library.
pub fn of(word: &OsStr, said: Option<Library>) -> Result<Kind, LabError> {
    let program = find(word)?;
    if let Some(library) = said {
        return Ok(Kind { program, library });
    }
    let refused = |why: String| LabError::Program(format!("{}: {why}", program.display()));
    if is_python(&program) {
        return Ok(Kind { program, library: Library::Mpi4py });
    }
    if let Some(text) = script::text(&program) {
        let library = script::library(&text).map_err(refused)?;
        return Ok(Kind { program, library });
    }
    let library = of_binary(&program).map_err(refused)?;
    let library = library.ok_or_else(|| {
        refused(
            "the program uses neither MPI nor PVM: it asks for no libmpi.so and no libpvm3.so. help: if the program is static or loads its \
             library later, --built-for mpich names the library; a static program cannot be compared"
                .into(),
        )
    })?;
    Ok(Kind { program, library })
}

/// The library of a program that is no script; nothing if it asks for none.
pub fn of_binary(program: &Path) -> Result<Option<Library>, String> {
    let needed = needed(program)?;
    match libraries(&needed)[..] {
        [library] => Ok(Some(library)),
        [] => Ok(None),
        _ => {
            let names: Vec<&str> =
                needed.iter().map(String::as_str).filter(|name| library_of(name).is_some()).collect();
            Err(format!(
                "the program is linked to two MPIs at once: {}. help: link it again, to one of them",
                names.join(" and ")
            ))
        }
    }
}

fn find(word: &OsStr) -> Result<PathBuf, LabError> {
    let is_path = word.to_string_lossy().contains('/');
    let here = PathBuf::from(word);
    let file = if is_path { here.is_file().then_some(here.clone()) } else { in_path(word) };
    match file {
        Some(file) if !is_executable(&file) => {
            Err(LabError::Program(format!("{0} is not executable. help: chmod +x {0}", file.display())))
        }
        // A link stays: by its name, an interpreter knows its environment of packages.
        Some(file) => std::path::absolute(&file).map_err(LabError::file("read", file)),
        None if here.is_dir() => Err(LabError::Program(format!("{} is a folder", here.display()))),
        None if !is_path && here.is_file() => {
            let name = word.to_string_lossy();
            Err(LabError::Program(format!("{name} is not in PATH. help: parvum compare -- ./{name}")))
        }
        None => Err(LabError::Program(format!("there is no program {}", word.to_string_lossy()))),
    }
}

fn is_executable(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
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
        let refused = of(OsStr::new("/bin/true"), None).expect_err("no MPI").to_string();
        assert!(refused.contains("/true: the program uses neither MPI nor PVM"), "{refused}");
        let refused = of(OsStr::new("no-such-program"), None).expect_err("nothing").to_string();
        assert_eq!(refused, "there is no program no-such-program");
        let refused = of(OsStr::new("/etc/passwd"), None).expect_err("text").to_string();
        assert_eq!(refused, "/etc/passwd is not executable. help: chmod +x /etc/passwd");
        let refused = of(OsStr::new("/etc"), None).expect_err("a folder").to_string();
        assert_eq!(refused, "/etc is a folder");
    }

    #[test]
    fn link_to_a_program_stays_a_link() {
        let folder = std::env::temp_dir().join(format!("parvum-kind-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let link = folder.join("python3");
        std::os::unix::fs::symlink("/bin/true", &link).expect("a link");
        let kind = of(link.as_os_str(), None).expect("an interpreter, by its name");
        fs::remove_dir_all(folder).expect("removed");
        assert_eq!((kind.program, kind.library), (link, Library::Mpi4py));
    }

    #[test]
    fn library_that_the_user_names_counts() {
        let kind = of(OsStr::new("/bin/true"), Some(Library::Pvm)).expect("said");
        assert_eq!(kind.library, Library::Pvm);
    }

    #[test]
    fn parts_of_one_library_form_a_program() {
        let part = |word: &str| Part { count: None, words: vec![word.into(), "x".into()] };
        let mut parts = [part("true"), part("false")];
        let kind = of_parts(&mut parts, Some(Library::Mpich)).expect("said");
        assert!(kind.program.ends_with("true") && parts[1].words[0].to_string_lossy().ends_with("/false"));
        let why = of_parts(&mut parts, None).expect_err("no MPI").to_string();
        assert!(why.contains("uses neither MPI nor PVM"), "{why}");
    }
}
