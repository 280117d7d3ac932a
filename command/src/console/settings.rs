//! The console's environment: `setenv`, `export`, `unexport`.

use super::commands::printable;
use super::line::Words;
use super::{Console, Done, Next};
use crate::shown::shown;
use parvum_wire::control::Blob;
use std::os::unix::ffi::OsStringExt;

const EXPORT: &[u8] = b"PVM_EXPORT";
/// What goes along with every spawned task, exported or not.
const ALWAYS: [&str; 8] = [
    "PVM_EXPORT",
    "LD_LIBRARY_PATH",
    "PVM_ROOT",
    "PARVUM_ROUTE",
    "PARVUM_FABRIC",
    "PARVUM_CREDIT",
    "PARVUM_MEMORY",
    "PARVUM_SINGLE_COPY",
];

/// Variables, in the order in which they came.
#[derive(Default)]
pub struct Environment(Vec<(Vec<u8>, Vec<u8>)>);

impl Environment {
    pub fn inherited() -> Environment {
        let bytes =
            |(name, value): (std::ffi::OsString, std::ffi::OsString)| (name.into_vec(), value.into_vec());
        Environment(std::env::vars_os().map(bytes).collect())
    }

    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    pub fn set(&mut self, name: &[u8], value: Vec<u8>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_vec(), value)),
        }
    }

    /// The names that PVM_EXPORT lists.
    fn exported(&self) -> Vec<Vec<u8>> {
        let list = self.get(EXPORT).unwrap_or_default().split(|byte| *byte == b':');
        list.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
    }

    fn export(&mut self, names: &[Vec<u8>], add: bool) {
        let mut list = self.exported();
        for name in names {
            list.retain(|known| known != name);
            if add {
                list.push(name.clone());
            }
        }
        self.set(EXPORT, list.join(&b':'));
    }

    /// What spawned tasks get on top of the daemon's environment.
    pub fn for_tasks(&self) -> Vec<Blob> {
        let always = ALWAYS.iter().map(|name| name.as_bytes().to_vec());
        let mut names: Vec<_> = self.exported().into_iter().chain(always).collect();
        names.sort_unstable();
        names.dedup();
        let pair = |name: Vec<u8>| self.get(&name).map(|value| Blob([&name, &b"="[..], value].concat()));
        names.into_iter().filter_map(pair).collect()
    }
}

impl Console {
    pub(super) fn setenv(&mut self, words: &Words) -> Done {
        match words.0.as_slice() {
            [] => {
                let lines: Vec<_> = self
                    .environment
                    .0
                    .iter()
                    .map(|(name, value)| [name, &b"="[..], value, b"\n"].concat())
                    .collect();
                self.screen.bytes(&lines.concat());
            }
            [name] => match self.environment.get(name) {
                Some(value) => {
                    self.screen.bytes(value);
                    self.screen.bytes(b"\n");
                }
                None => {
                    let name = printable(&shown(name));
                    self.hint(&format!("{name} is not set"));
                }
            },
            [name, ..] if is_name(name) => self.environment.set(name, words.joined(1)),
            [name, ..] => {
                let name = printable(&shown(name));
                self.hint(&format!("{name}: no variable has such a name; write: setenv NAME value"));
            }
        }
        Ok(Next::Go)
    }

    pub(super) fn export(&mut self, words: &Words) -> Done {
        if words.is_empty() {
            let list = self.environment.get(EXPORT).unwrap_or_default().to_vec();
            self.screen.bytes(&[EXPORT, b"=", &list, b"\n"].concat());
        } else {
            self.change_exports(words, true);
        }
        Ok(Next::Go)
    }

    pub(super) fn unexport(&mut self, words: &Words) -> Done {
        self.change_exports(words, false);
        Ok(Next::Go)
    }

    fn change_exports(&mut self, words: &Words, add: bool) {
        let (names, wrong): (Vec<_>, Vec<_>) = words.0.iter().cloned().partition(|name| is_name(name));
        self.environment.export(&names, add);
        for name in wrong {
            let name = printable(&shown(&name));
            self.hint(&format!("{name}: no variable has such a name; `setenv` gives values"));
        }
    }
}

fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && !name.iter().any(|byte| matches!(byte, b'=' | b':' | 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<u8>> {
        Words::parse(line.as_bytes()).expect("well formed").0
    }

    #[test]
    fn exported_variables_reach_tasks() {
        let mut environment = Environment::default();
        environment.set(b"A", b"1".to_vec());
        environment.set(b"B", b"2".to_vec());
        environment.set(b"PVM_ROOT", b"/r".to_vec());
        environment.export(&words("A NOT_SET A"), true);
        assert_eq!(environment.get(EXPORT), Some(&b"NOT_SET:A"[..]));
        let all = ["A=1", "PVM_EXPORT=NOT_SET:A", "PVM_ROOT=/r"].map(Blob::from);
        assert_eq!(environment.for_tasks(), all);
        environment.export(&words("A nothing"), false);
        assert_eq!(environment.get(EXPORT), Some(&b"NOT_SET"[..]));
    }

    #[test]
    fn variable_keeps_its_position_when_set_again() {
        let mut environment = Environment::default();
        environment.set(b"A", b"1".to_vec());
        environment.set(b"B", b"2".to_vec());
        environment.set(b"A", b"3".to_vec());
        assert_eq!(environment.0, [(b"A".to_vec(), b"3".to_vec()), (b"B".to_vec(), b"2".to_vec())]);
        assert!(is_name(b"A_B") && !is_name(b"") && !is_name(b"A=B") && !is_name(b"A:B"));
    }
}
