//! What the command says: helps, errors, explanations, the doctor, reports, JSON.

mod doctor;
mod errors;
mod helps;
mod json;
mod report;

use parvum_tests::{TestMachine, stage};
use std::path::PathBuf;
use std::process::Output;

/// A folder of this test's own, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("parvum-words-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("writable");
        Folder(path)
    }

    /// A file in it that may be executed.
    fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("writable");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("ours");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// What a command of a machine prints and how it ends.
fn run(machine: &TestMachine, words: &[&str]) -> Output {
    machine.run(words)
}

/// Compares with a file of this folder. `PARVUM_BLESS=1` writes the file instead.
fn snapshot(name: &str, found: &str) {
    let path = stage::project().join("tests/tests/words").join(name);
    if std::env::var_os("PARVUM_BLESS").is_some() {
        std::fs::write(&path, found).expect("the sources are writable");
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(found.lines()).find(|(kept, found)| kept != found);
    assert!(kept == found, "{name} differs: {differs:?}\nPARVUM_BLESS=1 writes it again:\n{found}");
}
