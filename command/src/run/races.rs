//! `--races`: a file in which process 0 of the job says what it has found, and what becomes of it in the end.

use crate::complain;
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The variable that tells the job's processes.
pub const VARIABLE: &str = "TMK_RACES";
/// The command's code when the program has ended well and races were found: ThreadSanitizer's.
const FOUND: u8 = 66;

/// The file of this command.
pub fn path() -> PathBuf {
    std::env::temp_dir().join(format!("parvum-races-{}", std::process::id()))
}

/// Makes the file; process 0 writes there if it is on this host, else on standard error.
pub fn begin() -> Result<(), String> {
    let made = File::options().write(true).create_new(true).mode(0o600).open(path());
    made.map(drop).map_err(|why| format!("E-RACES: {} cannot be made: {why}", path().display()))
}

/// Says what was found; the code that the command ends with.
pub fn end(code: u8) -> u8 {
    let said = fs::read_to_string(path()).unwrap_or_default();
    let _ = fs::remove_file(path());
    for line in said.lines() {
        eprintln!("parvum: {line}");
    }
    let found = said.lines().any(|line| line.starts_with("race "));
    if said.is_empty() && code == 0 {
        complain(
            &"E-RACES: process 0 has said nothing of races here: races are looked for in programs of TreadMarks' (treadmarks(7)), and told here when process 0 is on this host",
        );
    }
    if code == 0 && found { FOUND } else { code }
}
