//! Makes what is not kept in the tree from the description of MPI's functions, in a folder that is there:
//!
//! - `mpi-described headers FOLDER`: `mpi_functions.h`, which `mpi.h` includes, and `mpif.h`;
//! - `mpi-described functions FOLDER`: the functions behind `mpif.h`, in C;
//! - `mpi-described fortran FOLDER`: the modules mpi and mpi_f08, and the functions behind the second;
//! - `mpi-described manual FOLDER`: the manual's pages.
//!
//! A file that would not change is left alone, so that whatever depends on it is not made again.

#[allow(dead_code, reason = "the marks of some functions matter to other makers")]
#[path = "../description.rs"]
mod description;
#[allow(dead_code, reason = "tests use some of it")]
#[path = "../fortran.rs"]
mod fortran;
#[path = "../fortran08.rs"]
mod fortran08;
#[path = "../fortran90.rs"]
mod fortran90;
#[allow(dead_code, reason = "its words are for the engine")]
#[path = "../src/process/functions.rs"]
mod functions;
#[allow(dead_code, reason = "tests use some of it")]
#[path = "../header.rs"]
mod header;
#[path = "../manual.rs"]
mod manual;

use std::path::Path;
use std::process::ExitCode;

const FUNCTIONS: &str = include_str!("../functions.txt");
const HEADER: &str = include_str!("../include/mpi.h");
const TEXTS: &str = include_str!("../manual.txt");

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let made = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["manual", folder] => write_all(folder, manual::pages(FUNCTIONS, TEXTS)),
        ["headers", folder] => write_all(
            folder,
            vec![
                ("mpi_functions.h".to_owned(), header::make(FUNCTIONS)),
                ("mpif.h".to_owned(), fortran::header(HEADER)),
            ],
        ),
        ["functions", folder] => {
            write_all(folder, vec![("functions.c".to_owned(), fortran::functions(FUNCTIONS))])
        }
        ["fortran", folder] => write_all(
            folder,
            vec![
                ("mpi.f90".to_owned(), fortran90::module(FUNCTIONS)),
                ("mpi_f08.f90".to_owned(), fortran08::module(FUNCTIONS, HEADER)),
                ("functions08.c".to_owned(), fortran08::functions(FUNCTIONS)),
            ],
        ),
        _ => {
            eprintln!("usage: mpi-described headers|functions|fortran|manual FOLDER");
            return ExitCode::from(2);
        }
    };
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("mpi-described: {why}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(folder: &str, files: Vec<(String, String)>) -> Result<(), String> {
    files.into_iter().try_for_each(|(name, text)| {
        let file = Path::new(folder).join(name);
        if std::fs::read_to_string(&file).is_ok_and(|old| old == text) {
            return Ok(());
        }
        std::fs::write(&file, text).map_err(|why| format!("{}: {why}", file.display()))
    })
}
