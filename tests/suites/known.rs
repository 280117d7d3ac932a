//! Tests that pass on MPICH and not on Parvum, each with the reason.

use crate::lists::Test;
use crate::source::Interface;
use std::cell::Cell;

/// The list.
pub struct Known {
    entries: Vec<Entry>,
}

struct Entry {
    /// A test's whole key, or its folder and program.
    name: String,
    reason: String,
    /// It stands for a test of this run.
    met: Cell<bool>,
}

impl Known {
    /// Reads lines `FOLDER/PROGRAM ... -- REASON`. Lines that begin with `abi:` are for the standard's interface alone, with `mpich:` for
    /// MPICH's.
    pub fn read(text: &str, interface: Interface) -> Result<Known, String> {
        let other = match interface {
            Interface::Mpich => "abi:",
            Interface::Standard => "mpich:",
        };
        let mut entries = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, reason) =
                line.split_once(" -- ").ok_or_else(|| format!("mpich.txt: {line}: a reason is missing"))?;
            if name.starts_with(other) {
                continue;
            }
            let name = name
                .split_once(':')
                .filter(|(scope, _)| matches!(*scope, "abi" | "mpich"))
                .map_or(name, |it| it.1);
            entries.push(Entry {
                name: name.trim().to_owned(),
                reason: reason.to_owned(),
                met: Cell::new(false),
            });
        }
        Ok(Known { entries })
    }

    /// Why this test fails on Parvum.
    pub fn reason(&self, test: &Test) -> Option<&str> {
        let (key, program) = (test.key(), format!("{}/{}", test.folder, test.program));
        let entry = self.entries.iter().find(|entry| entry.name == key || entry.name == program)?;
        entry.met.set(true);
        Some(&entry.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists;

    fn test(line: &str) -> Test {
        lists::parse("rma", line, &|_| false).unwrap().tests.remove(0)
    }

    #[test]
    fn known_reason_applies_to_line_or_program() {
        let known =
            Known::read("# why\nrma/a 2 arg=1 -- first\nrma/b -- second\n", Interface::Mpich).unwrap();
        assert_eq!(known.reason(&test("a 2 arg=1")), Some("first"));
        assert_eq!(known.reason(&test("a 2 arg=2")), None);
        assert_eq!(known.reason(&test("b 4")), Some("second"));
        assert_eq!(known.reason(&test("bb 4")), None);
    }

    #[test]
    fn known_line_may_apply_to_one_interface() {
        let text = "abi:rma/a -- first\nmpich:rma/b -- second\n";
        let standard = Known::read(text, Interface::Standard).unwrap();
        assert_eq!(standard.reason(&test("a 2")), Some("first"));
        assert_eq!(standard.reason(&test("b 2")), None);
        assert_eq!(Known::read(text, Interface::Mpich).unwrap().reason(&test("b 2")), Some("second"));
    }

    #[test]
    fn known_line_without_reason_is_refused() {
        assert!(Known::read("rma/a\n", Interface::Mpich).is_err());
    }

    #[test]
    fn known_list_of_mpich_parses() {
        for interface in [Interface::Mpich, Interface::Standard] {
            Known::read(include_str!("mpich.txt"), interface).unwrap();
        }
    }
}
