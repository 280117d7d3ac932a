//! What a task writes line after line into the log, without the equal lines of a flood.
//!
//! A task that loops over a call that fails writes the same line without end. Of equal lines of one task the log gets the
//! first ones, then one each time their number doubles, and their number when the task ends. So no line is lost without
//! a word, and a flood of any length takes a few lines. A log file is for people: bytes that are no text may be shown as
//! signs of replacement.

use crate::shown::shown;
use std::collections::HashMap;

/// So many equal lines of a task are written.
const WHOLE: u64 = 64;
/// So many different lines of a task are remembered; of others the older ones are forgotten when their number was said.
const TEXTS: usize = 64;
/// A longer line is cut in pieces.
const LONGEST: usize = 64 * 1024;

/// What one task has written.
#[derive(Default)]
pub(crate) struct Repeats {
    /// The beginning of a line whose end has not come, for each of the two outputs.
    begun: [Vec<u8>; 2],
    /// How often each line came, and its turn: the newest has the highest.
    lines: HashMap<Vec<u8>, (u64, u64)>,
    turn: u64,
}

impl Repeats {
    /// Takes what came by output 0 or 1; gives the lines that the log gets.
    pub fn take(&mut self, output: usize, data: &[u8]) -> Vec<String> {
        let mut told = Vec::new();
        for piece in data.split_inclusive(|byte| *byte == b'\n') {
            let begun = &mut self.begun[output & 1];
            begun.extend_from_slice(piece);
            if begun.ends_with(b"\n") || begun.len() > LONGEST {
                let line = std::mem::take(begun);
                self.line(line.strip_suffix(b"\n").unwrap_or(&line), &mut told);
            }
        }
        told
    }

    /// What is left to say at the end: unfinished lines, and how often lines came that were not written.
    pub fn end(mut self) -> Vec<String> {
        let mut told = Vec::new();
        for line in std::mem::take(&mut self.begun).into_iter().filter(|line| !line.is_empty()) {
            self.line(&line, &mut told);
        }
        let mut lines: Vec<_> = self.lines.into_iter().collect();
        lines.sort_by_key(|(_, (_, turn))| *turn);
        told.extend(lines.iter().filter_map(|(line, (count, _))| total(line, *count)));
        told
    }

    fn line(&mut self, line: &[u8], told: &mut Vec<String>) {
        self.turn += 1;
        if !self.lines.contains_key(line) && self.lines.len() >= TEXTS {
            let oldest = self.lines.iter().min_by_key(|(_, (_, turn))| *turn).map(|(line, _)| line.clone());
            if let Some(oldest) = oldest
                && let Some((count, _)) = self.lines.remove(&oldest)
            {
                told.extend(total(&oldest, count));
            }
        }
        let (count, turn) = self.lines.entry(line.to_vec()).or_default();
        (*count, *turn) = (*count + 1, self.turn);
        let text = || shown(line);
        match *count {
            0..=WHOLE => told.push(text().into_owned()),
            count if count.is_power_of_two() => told.push(format!("{} ({count} times by now)", text())),
            _ => {}
        }
    }
}

/// How often a line came, if not every one was written.
fn total(line: &[u8], count: u64) -> Option<String> {
    (count > WHOLE).then(|| format!("{} ({count} times in all)", shown(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_lines_are_counted_and_reported_at_end() {
        let mut repeats = Repeats::default();
        let flood = "no such task\n".repeat(100_000);
        // As it comes by a pipe: cut anywhere.
        let mut told: Vec<_> = flood.as_bytes().chunks(4097).flat_map(|part| repeats.take(0, part)).collect();
        told.extend(repeats.take(0, b"done\n"));
        assert_eq!(told.len(), 64 + 10 + 1, "{told:?}");
        assert_eq!(told[64], "no such task (128 times by now)");
        assert_eq!(repeats.end(), ["no such task (100000 times in all)"]);
    }

    #[test]
    fn few_repeats_and_distinct_lines_pass_unchanged() {
        let mut repeats = Repeats::default();
        let lines: String = (0..500).map(|at| format!("line {at}\nagain {}\n", at % 10)).collect();
        let told = repeats.take(0, lines.as_bytes());
        assert_eq!(told.join("\n") + "\n", lines);
        assert_eq!(repeats.end(), Vec::<String>::new());
    }

    #[test]
    fn unfinished_line_is_joined_per_output() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.take(0, b"on"), Vec::<String>::new());
        assert_eq!(repeats.take(1, b"err\n"), ["err"]);
        assert_eq!(repeats.take(0, b"e\ntw"), ["one"]);
        assert_eq!(repeats.end(), ["tw"]);
    }
}
