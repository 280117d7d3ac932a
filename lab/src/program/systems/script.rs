//! A script as the program: each rank runs the script, which starts the real program with arguments for its rank.

use super::kind::{self, Library};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A script is read so far.
const READ: u64 = 64 << 10;
/// Commands that start a job of their own.
const STARTERS: [&str; 6] = ["mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun", "srun"];

/// The text of a script; nothing for another file.
pub fn text(file: &Path) -> Option<String> {
    let mut text = Vec::new();
    File::open(file).ok()?.take(READ).read_to_end(&mut text).ok()?;
    text.starts_with(b"#!").then(|| String::from_utf8_lossy(&text).into_owned())
}

/// The library of the programs that a script names.
pub fn library(text: &str) -> Result<Library, String> {
    let mut found: Vec<(Library, String)> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#')) {
        let is_end = |c: char| c.is_whitespace() || "\"'();|&<>{}`".contains(c);
        for word in line.split(is_end).filter(|word| !word.is_empty()) {
            let name = word.rsplit('/').next().unwrap_or(word);
            if STARTERS.contains(&name) {
                return Err(format!(
                    "line {} of this script starts a job with {name}; every system has its own command for this. help: name the program \
                     itself after --, with the arguments that the script gives",
                    number + 1
                ));
            }
            let library = if name.starts_with("python") {
                Some(Library::Mpi4py)
            } else {
                Some(Path::new(word))
                    .filter(|file| is_binary(file))
                    .and_then(|file| kind::of_binary(file).ok()?)
            };
            if let Some(library) = library
                && !found.iter().any(|one| one.0 == library)
            {
                found.push((library, word.to_owned()));
            }
        }
    }
    match &found[..] {
        [(library, _)] => Ok(*library),
        [] => Err("no word of this script is a program of MPI or PVM. help: --built-for mpich names the library of \
             the program that the script starts"
            .into()),
        [(one, program), (another, other), ..] => Err(format!(
            "this script names programs of two libraries: {program} ({one:?}) and {other} ({another:?}). help: --built-for mpich says which counts"
        )),
    }
}

/// Whether a file is a program that the loader knows.
fn is_binary(file: &Path) -> bool {
    let mut first = [0; 4];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *b"\x7fELF"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_that_starts_a_job_is_refused_with_its_line() {
        let why = library("#!/bin/sh\n# mpiexec is said here\ncd x && /usr/bin/mpirun -n 2 ./a\n")
            .expect_err("a job");
        assert!(why.starts_with("line 3 of this script starts a job with mpirun"), "{why}");
    }

    #[test]
    fn script_is_known_by_the_program_it_names() {
        assert_eq!(library("#!/bin/sh\nexec python3 job.py $PMI_RANK\n"), Ok(Library::Mpi4py));
        let why = library("#!/bin/sh\nexec /bin/true \"$@\"\n").expect_err("no MPI");
        assert!(why.contains("--built-for mpich"), "{why}");
    }

    #[test]
    fn only_files_that_begin_as_scripts_are_scripts() {
        assert_eq!(text(Path::new("/bin/true")), None);
        assert_eq!(text(Path::new("/nonexistent")), None);
    }
}
