//! MPI: what its functions do, for whichever binary interface.
//!
//! A face (`mpich/`) exports the functions under MPI's names, converts what its binary interface has otherwise, and calls
//! [`calls`]. Read in this order, the lowest first: `process::machine` (the engine, and the place in the machine); `comms::group`,
//! `comms::contexts`, `comms::comm`; `process::this` (the first communicators); `requests` (operations, and what moves them);
//! `messages` (MPI's modes as the engine's choices); `collective` (plans for operations of groups); `windows` and `files`;
//! `process::life` (how MPI begins and ends); `calls`. [`objects::numbers`] are the numbers by which programs name things.

#![deny(unsafe_code)]

pub mod callbacks;
#[allow(unsafe_code)]
pub mod calls;
mod collective;
mod comms;
pub mod errors;
mod files;
#[cfg(test)]
mod imports;
pub mod messages;
pub mod objects;
pub mod process;
mod requests;
mod tools;
mod windows;

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The lint of `clippy.toml` does not know the method of CStr.
    #[test]
    fn program_text_is_never_converted_lossily() {
        fn look(folder: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).expect("the sources are here").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    look(&path, found);
                } else if std::fs::read_to_string(&path)
                    .expect("text")
                    .contains(concat!(".to_string", "_lossy"))
                {
                    found.push(path.display().to_string());
                }
            }
        }
        let mut found = Vec::new();
        look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert_eq!(found, [""; 0]);
    }
}
