//! Makes what the build needs of the description of MPI's functions and is not kept in the tree: the manual's pages, and the modules mpi and
//! mpi_f08 with the functions behind the second. `mpi-described manual FOLDER` and `mpi-described fortran FOLDER` write into a folder that is there.

#[allow(dead_code, reason = "the marks of some functions matter to other makers")]
#[path = "../description.rs"]
mod description;
#[allow(dead_code, reason = "the functions of mpif.h are kept in the tree")]
#[path = "../fortran.rs"]
mod fortran;
#[path = "../fortran08.rs"]
mod fortran08;
#[path = "../fortran90.rs"]
mod fortran90;
#[allow(dead_code, reason = "the header is kept in the tree")]
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
        ["fortran", folder] => write_all(
            folder,
            vec![
                ("mpi.f90".to_owned(), fortran90::module(FUNCTIONS)),
                ("mpi_f08.f90".to_owned(), fortran08::module(FUNCTIONS, HEADER)),
                ("functions08.c".to_owned(), fortran08::functions(FUNCTIONS)),
            ],
        ),
        _ => {
            eprintln!("usage: mpi-described manual FOLDER | mpi-described fortran FOLDER");
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
        std::fs::write(&file, text).map_err(|why| format!("{}: {why}", file.display()))
    })
}
