//! Two runs in words.

use super::finished::Manifest;
use super::{Against, Change};
use crate::stats::goals::digits;
use crate::stats::summary::Row;
use crate::table::{WIDTH, wrapped};
use std::fmt::Write;

/// Factors that make a machine; the kernel and what is installed may change on one.
const MACHINE: [&str; 4] = ["processor", "caches", "cores", "memory_gib"];
/// Factors that change from run to run and say nothing of the machine.
const PASSING: [&str; 2] = ["date", "load"];

/// In what two runs differ besides what they measured, and whether they are of one machine.
pub fn differences(old: &Manifest, new: &Manifest) -> (Vec<String>, bool) {
    let mut found = Vec::new();
    let mut see = |name: &str, was: &str, is: &str| {
        if was != is {
            let or = |word: &str| if word.is_empty() { "not recorded" } else { word }.to_owned();
            found.push(format!("{name}: {}, then {}", or(was), or(is)));
        }
    };
    let mut names: Vec<&String> = old.factors.keys().chain(new.factors.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names.into_iter().filter(|name| !PASSING.contains(&name.as_str())) {
        see(&name.replace('_', " "), &old.factor(name), &new.factor(name));
    }
    see("extent", &old.extent, &new.extent);
    let hosts = |manifest: &Manifest| match &manifest.hosts[..] {
        [] => "one".to_owned(),
        some => some.join(", "),
    };
    see("hosts", &hosts(old), &hosts(new));
    let mut systems: Vec<&str> = Vec::new();
    for system in old.systems.iter().chain(&new.systems) {
        if !systems.contains(&system.name.as_str()) {
            systems.push(&system.name);
        }
    }
    let version = |of: &Manifest, name: &str| {
        let found = of.systems.iter().find(|system| system.name == name);
        found.map_or_else(|| "not compared".to_owned(), |system| system.version.clone())
    };
    for name in systems {
        see(name, &version(old, name), &version(new, name));
    }
    (found, MACHINE.iter().all(|name| old.factor(name) == new.factor(name)))
}

impl Against {
    /// What a terminal shows: every change, and at the end what they rest on.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let (better, worse): (Vec<&Change>, Vec<&Change>) =
            self.changes.iter().partition(|change| change.better > 1.0);
        for (title, changes) in [("Better", better), ("Worse", worse)] {
            if !changes.is_empty() {
                let _ = writeln!(text, "{title}");
                changes.iter().for_each(|change| line(&mut text, change));
                text.push('\n');
            }
        }
        let mut say = |words: &str| {
            let _ = writeln!(text, "{}", wrapped(words, WIDTH).join("\n"));
        };
        let [old, new] = [&self.old, &self.new].map(|run| {
            format!("{} ({}, {})", run.folder.display(), run.manifest.factor("date"), run.manifest.extent)
        });
        say(&format!("Suite {}: {old}, then {new}.", self.new.manifest.suite));
        say(self.machine());
        self.differences.iter().for_each(|difference| say(difference));
        say(&match self.changes.len() {
            0 => format!("Of {} values that both have none changed beyond noise.", self.tested),
            some => format!("Of {} values that both have {some} changed beyond noise.", self.tested),
        });
        self.grounds().iter().for_each(|ground| say(ground));
        text
    }

    pub(super) fn machine(&self) -> &'static str {
        if self.same_machine { "One machine, as far as it shows." } else { "Two machines." }
    }

    /// What is not named as a change, and what was not tested; a sentence each.
    pub(super) fn grounds(&self) -> Vec<String> {
        let mut said = Vec::new();
        match self.drift {
            Some((factor, count)) => said.push(format!(
                "What is the same in both (floors, peers of one version: {count} values) moved by a factor of up to {} in nineteen of twenty; \
                 less is not named.",
                digits(factor)
            )),
            None if self.same_machine => said.push(
                "There is too little that is the same in both (floors, peers of one version) to tell by how much the machine itself moved."
                    .to_owned(),
            ),
            None => {}
        }
        if self.untested > 0 {
            said.push(format!(
                "{} more have fewer than four launches in one of the two: untested.",
                self.untested
            ));
        }
        if self.alone != [0, 0] {
            said.push(format!(
                "Only in the first: {} values; only in the second: {}.",
                self.alone[0], self.alone[1]
            ));
        }
        said
    }
}

fn line(text: &mut String, change: &Change) {
    let (old, new) = (&change.old, &change.new);
    let (factor, ends) = change.size();
    let words = format!(
        "{}: {} to {} {} ({} to {} times)",
        name(new),
        digits(old.median),
        digits(new.median),
        new.unit,
        digits(ends[0]),
        digits(ends[1])
    );
    let factor = format!("{}x", digits(factor));
    for (at, line) in wrapped(&words, WIDTH - 11).iter().enumerate() {
        let _ = writeln!(text, "  {:<8} {line}", if at == 0 { &factor } else { "" });
    }
}

/// What a row measured, of whom.
pub(crate) fn name(row: &Row) -> String {
    let choices = [&row.route, &row.encoding].into_iter().filter(|choice| !choice.is_empty());
    let choices: String = choices.map(|choice| format!(" {choice}")).collect();
    let size = if row.size > 0 { format!(", size {}", row.size) } else { String::new() };
    let task = row.task.map(|task| format!(", of task {task}")).unwrap_or_default();
    format!("{}{choices}, {}{size}, {} tasks: {}{task}", row.system, row.program, row.tasks, row.metric)
}
