//! PVM's task options, as the console's own task has them: `getopt`, `setopt`.

use super::commands::printable;
use super::line::Words;
use super::{Console, Done, Next};
use std::ops::RangeInclusive;

const ANY: RangeInclusive<i32> = 0..=i32::MAX;
const YES_OR_NO: RangeInclusive<i32> = 0..=1;

/// An option: its name, the console's value at first, and what it may be.
struct Row(&'static str, i32, RangeInclusive<i32>);

/// In the order in which `getopt` shows them.
const ROWS: [Row; 23] = [
    Row("PvmRoute", 1, 1..=3),
    Row("PvmDebugMask", 0, ANY),
    Row("PvmAutoErr", 1, 0..=3),
    Row("PvmOutputTid", -1, ANY),
    Row("PvmOutputCode", 0, ANY),
    Row("PvmTraceTid", -1, ANY),
    Row("PvmTraceCode", 0, ANY),
    Row("PvmTraceBuffer", 0, ANY),
    Row("PvmTraceOptions", 1, 1..=3),
    Row("PvmFragSize", 4080, 256..=1_048_575),
    Row("PvmResvTids", 1, YES_OR_NO),
    Row("PvmSelfOutputTid", -1, ANY),
    Row("PvmSelfOutputCode", 0, ANY),
    Row("PvmSelfTraceTid", -1, ANY),
    Row("PvmSelfTraceCode", 0, ANY),
    Row("PvmSelfTraceBuffer", 0, ANY),
    Row("PvmSelfTraceOptions", 0, 1..=3),
    Row("PvmShowTids", 1, YES_OR_NO),
    Row("PvmOutputContext", 0, ANY),
    Row("PvmTraceContext", 0, ANY),
    Row("PvmSelfOutputContext", 0, ANY),
    Row("PvmSelfTraceContext", 0, ANY),
    Row("PvmNoReset", 1, YES_OR_NO),
];

/// The names of the options.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.0)
}

/// The values of the options.
pub struct TaskOptions([i32; ROWS.len()]);

impl Default for TaskOptions {
    fn default() -> TaskOptions {
        TaskOptions(ROWS.each_ref().map(|row| row.1))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum OptionError {
    Unknown,
    /// It may have these values.
    Value(RangeInclusive<i32>),
}

impl TaskOptions {
    pub fn get(&self, name: &str) -> Option<i32> {
        names().position(|known| known == name).map(|at| self.0[at])
    }

    /// Sets an option; gives its old value.
    fn set(&mut self, name: &str, value: &str) -> Result<i32, OptionError> {
        let at = names().position(|known| known == name).ok_or(OptionError::Unknown)?;
        let range = ROWS[at].2.clone();
        match value.parse() {
            Ok(value) if range.contains(&value) => Ok(std::mem::replace(&mut self.0[at], value)),
            _ => Err(OptionError::Value(range)),
        }
    }

    /// Sets an option to a value that it may have.
    pub fn put(&mut self, name: &str, value: i32) {
        if let Some(at) = names().position(|known| known == name) {
            self.0[at] = value;
        }
    }
}

impl Console {
    pub(super) fn getopt(&mut self, words: &Words) -> Done {
        let wanted = words.text(0);
        let shown = names().filter(|name| words.is_empty() || *name == wanted);
        let lines: Vec<_> = shown
            .filter_map(|name| Some(format!("{name} Currently Set to {}", self.options.get(name)?)))
            .collect();
        if lines.is_empty() {
            self.unknown_option(&wanted);
        }
        lines.iter().for_each(|line| self.screen.line(line));
        Ok(Next::Go)
    }

    pub(super) fn setopt(&mut self, words: &Words) -> Done {
        let (name, value) = (words.text(0), words.text(1));
        match self.options.set(&name, &value) {
            Ok(old) => {
                self.screen.line(&format!("{name} Changed from {old} to {value}"));
                if name == "PvmNoReset" {
                    self.keep_from_reset(value != "0")?;
                }
            }
            Err(OptionError::Unknown) => self.unknown_option(&name),
            Err(OptionError::Value(range)) => {
                let text = printable(&value);
                let most = *range.end();
                let upto = if most == i32::MAX { "or more".into() } else { format!("to {most}") };
                self.hint(&format!("{text}: Bad parameter: {name} may be {} {upto}", range.start()));
            }
        }
        Ok(Next::Go)
    }

    fn unknown_option(&mut self, name: &str) {
        self.screen.line(&format!("PVM Option \"{}\" Unknown.", printable(name)));
        let same = |known: &&str| known.to_lowercase().trim_start_matches("pvm") == name.to_lowercase();
        let near = names().find(|known| known.eq_ignore_ascii_case(name) || same(known));
        match near {
            Some(near) => self.hint(&format!("did you mean {near}?")),
            None => self.hint("`getopt` lists the options"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_keeps_its_value_after_invalid_set() {
        let mut options = TaskOptions::default();
        assert_eq!(options.get("PvmRoute"), Some(1));
        assert_eq!(options.set("PvmRoute", "3"), Ok(1));
        for wrong in ["0", "4", "x", "", "99999999999"] {
            assert_eq!(options.set("PvmRoute", wrong), Err(OptionError::Value(1..=3)), "{wrong}");
        }
        assert_eq!(options.get("PvmRoute"), Some(3));
        assert_eq!(options.set("route", "1"), Err(OptionError::Unknown));
        assert_eq!(options.get("route"), None);
    }
}
