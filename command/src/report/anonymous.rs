//! Other names for users, hosts, addresses and paths: the same one for the same, in all files of a report.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

/// Folders whose names are the same on all systems.
const SYSTEM: [&str; 11] = ["bin", "boot", "dev", "etc", "lib", "lib64", "opt", "proc", "sbin", "sys", "usr"];

/// The names so far.
#[derive(Default)]
pub struct Names {
    known: HashMap<String, String>,
    counts: HashMap<&'static str, usize>,
}

impl Names {
    /// Names to be replaced: of users or of hosts.
    pub fn add(&mut self, kind: &'static str, name: &str) {
        // Everyone has these, and short ones would hit other words.
        if name.len() > 1 && !["root", "localhost"].contains(&name) {
            self.of(kind, name);
        }
    }

    fn of(&mut self, kind: &'static str, what: &str) -> String {
        if let Some(known) = self.known.get(what) {
            return known.clone();
        }
        let count = self.counts.entry(kind).or_insert(0);
        *count += 1;
        let name = match kind {
            "path" => format!("/path{count}"),
            kind => format!("{kind}{count}"),
        };
        self.known.insert(what.to_owned(), name.clone());
        name
    }

    /// How many names of each kind there are, for people.
    pub fn summary(&self) -> String {
        let mut all: Vec<String> =
            self.counts.iter().map(|(kind, count)| format!("{count} of kind {kind}")).collect();
        all.sort();
        all.join(", ")
    }

    /// The text with other names.
    pub fn replaced(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(first) = rest.chars().next() {
            let is_start = !before.is_some_and(is_name);
            let (taken, new) = match first {
                '/' if is_start && before != Some('/') => self.path(rest),
                _ if is_start && (first.is_ascii_hexdigit() || first == ':') => {
                    self.address(rest).unwrap_or_else(|| self.word(rest))
                }
                _ if is_start && is_name(first) => self.word(rest),
                _ => (first.len_utf8(), None),
            };
            let (piece, after) = rest.split_at(taken);
            out.push_str(new.as_deref().unwrap_or(piece));
            before = piece.chars().next_back();
            rest = after;
        }
        out
    }

    fn path(&mut self, text: &str) -> (usize, Option<String>) {
        // The address of a page.
        if text.starts_with("//") {
            return (2, None);
        }
        let in_path = |c: char| is_name(c) || "/.+@~%,".contains(c);
        let path = text.split(|c| !in_path(c)).next().unwrap_or_default().trim_end_matches([',', '.']);
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        if first.is_empty() {
            return (1, None);
        }
        match SYSTEM.contains(&first) {
            true => (path.len(), None),
            false => (path.len(), Some(self.of("path", path))),
        }
    }

    fn address(&mut self, text: &str) -> Option<(usize, Option<String>)> {
        let in_address = |c: char| c.is_ascii_hexdigit() || ".:".contains(c);
        let run = text.split(|c| !in_address(c)).next()?.trim_end_matches(['.', ':']);
        // A port may follow an address of version 4, and a word whatever looks like a number.
        let four = run.split(':').next().unwrap_or_default();
        let (shown, address): (&str, IpAddr) = match (run.parse(), four.parse::<Ipv4Addr>()) {
            (Ok(address), _) => (run, address),
            (_, Ok(address)) => (four, address.into()),
            _ => return None,
        };
        let is_word = text.get(shown.len()..)?.chars().next().is_some_and(is_name);
        if is_word || address.is_loopback() || address.is_unspecified() {
            return None;
        }
        Some((shown.len(), Some(self.of("address", shown))))
    }

    fn word(&self, text: &str) -> (usize, Option<String>) {
        let word = text.split(|c| !is_name(c)).next().unwrap_or_default();
        (word.len().max(text.chars().next().map_or(1, char::len_utf8)), self.known.get(word).cloned())
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_things_get_equal_names() {
        let mut names = Names::default();
        names.add("user", "anna");
        names.add("host", "beta");
        names.add("user", "root");
        let text = "anna on beta: /home/anna/a.out by 10.0.0.7:4000 and 10.0.0.8, \"/home/anna/a.out\", annalisa, root\n";
        let first = names.replaced(text);
        assert_eq!(
            first,
            "user1 on host1: /path1 by address1:4000 and address2, \"/path1\", annalisa, root\n"
        );
        assert_eq!(names.replaced("beta has 10.0.0.8 and fe80::1:2"), "host1 has address2 and address3");
        assert_eq!(names.summary(), "1 of kind host, 1 of kind path, 1 of kind user, 3 of kind address");
    }

    #[test]
    fn names_of_every_system_stay() {
        let mut names = Names::default();
        let text =
            "/usr/lib/x.so /proc/self, 127.0.0.1:80 0.0.0.0 ::1 12:34:56 0.2.0 and/or 1/2 // E-NOHOST é–\n";
        assert_eq!(names.replaced(text), text);
        assert_eq!(names.replaced("http://example.org"), "http://example.org");
    }
}
