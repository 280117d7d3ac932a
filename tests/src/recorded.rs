//! A recording of `parvum trace`, for tests.

use crate::stage::program;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A recording, read back.
pub struct Trace {
    /// How the command ended.
    pub ended: Output,
    /// All events.
    pub events: Vec<Value>,
    /// Facts about the whole recording.
    pub about: BTreeMap<String, Value>,
    /// The picture.
    pub html: String,
}

/// Traces a program; `command` is one of the user's, as yet without words. The files lie in `folder`.
pub fn trace(mut command: Command, folder: &Path, options: &[&str], program: &Path, words: &[&str]) -> Trace {
    std::fs::create_dir_all(folder).expect("made");
    let name = folder.join("it");
    command.arg("trace").arg("-o").arg(&name).args(options).arg("--").arg(program).args(words);
    let ended = command.output().expect("parvum runs");
    let read = |ending: &str| std::fs::read_to_string(PathBuf::from(format!("{}{ending}", name.display())));
    let (json, html) = (read(".json"), read(".html"));
    std::fs::remove_dir_all(folder).expect("ours");
    let json = json.unwrap_or_else(|why| panic!("{why}: {ended:?}"));
    let all: Value = serde_json::from_str(&json).expect("it is JSON");
    let events = all["traceEvents"].as_array().expect("a list").clone();
    let about = all["otherData"].as_object().expect("an object").clone().into_iter().collect();
    Trace { ended, events, about, html: html.expect("beside it") }
}

/// The program of the tests that is traced.
pub fn traced() -> PathBuf {
    program("traced")
}

impl Trace {
    /// What the program printed.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.ended.stdout).into_owned()
    }

    /// The output of the command about the recording.
    pub fn report(&self) -> String {
        String::from_utf8_lossy(&self.ended.stderr).into_owned()
    }

    /// The messages that the program says it has sent, sorted: from, to, tag, bytes.
    pub fn told(&self) -> Vec<(i64, i64, i64, i64)> {
        let mut told: Vec<_> = self
            .said()
            .lines()
            .filter_map(|line| line.strip_prefix("sent "))
            .map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect::<Vec<i64>>())
            .map(|n| (n[0], n[1], n[2], n[3]))
            .collect();
        told.sort_unstable();
        told
    }

    /// Events of one kind.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["name"] == name)
    }

    /// The messages of which one end is recorded, sorted: from, to, tag, bytes.
    pub fn ends(&self, what: &str, peer: &str) -> Vec<(i64, i64, i64, i64)> {
        let mut ends: Vec<_> = self
            .named(what)
            .filter(|event| event["cat"] == "message")
            .map(|event| {
                let (me, args) = (event["tid"].as_i64().expect("a number"), &event["args"]);
                let other = args[peer].as_str().expect("an id").trim_start_matches('t');
                let other = i64::from_str_radix(other, 16).expect("an id");
                let (from, to) = if what == "send" { (me, other) } else { (other, me) };
                let number = |field: &str| args[field].as_i64().expect("a number");
                (from, to, number("tag"), number("bytes"))
            })
            .collect();
        ends.sort_unstable();
        ends
    }

    /// Arrows, by number: who sent and when, who received and when, in microseconds.
    pub fn arrows(&self) -> Vec<(i64, f64, i64, f64)> {
        let ends = |ph: &str| -> BTreeMap<i64, (i64, f64)> {
            let end = |event: &Value| {
                let number = |field: &str| event[field].as_i64().expect("a number");
                (number("id"), (number("tid"), event["ts"].as_f64().expect("a time")))
            };
            self.events.iter().filter(|event| event["ph"] == ph).map(end).collect()
        };
        let (begins, mut finishes) = (ends("s"), ends("f"));
        let arrow = |(id, (from, sent))| {
            let (to, received) = finishes.remove(&id).expect("an arrow has two ends");
            (from, sent, to, received)
        };
        let arrows = begins.into_iter().map(arrow).collect();
        assert!(finishes.is_empty(), "{finishes:?}");
        arrows
    }
}
