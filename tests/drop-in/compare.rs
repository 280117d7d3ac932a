//! What two runs have and have not in common.

use crate::normal::normal;
use crate::steps::{Heard, Outcome};
use crate::table::Case;
use std::fmt::Write;

/// The most lines of a difference that are shown.
const SHOWN: usize = 30;

/// What is different, ready to be read; nothing when both are alike and as expected.
pub fn differences(case: &Case, theirs: &Outcome, ours: &Outcome) -> String {
    let mut text = String::new();
    for (their, our) in theirs.heard.iter().zip(&ours.heard) {
        let (their_lines, our_lines) = (normal(case, &their.said), normal(case, &our.said));
        for (who, heard) in [(case.peer.name(), their), ("Parvum", our)] {
            if heard.ended != heard.expected {
                let _ = writeln!(
                    text,
                    "  {}: on {who} it {}, expected: it {}",
                    heard.line, heard.ended, heard.expected
                );
            }
        }
        if their_lines != our_lines {
            let _ = writeln!(text, "  {}: - only on {}, + only on Parvum", their.line, case.peer.name());
            text.push_str(&lines_apart(&their_lines, &our_lines));
        }
    }
    text
}

/// Lines of one side only, in their order, by the longest common sequence.
fn lines_apart(theirs: &str, ours: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (theirs.lines().collect(), ours.lines().collect());
    let mut common = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] =
                if a[i] == b[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || i < a.len() && common[i + 1][j] >= common[i][j + 1] {
            lines.push(format!("    - {}\n", a[i]));
            i += 1;
        } else {
            lines.push(format!("    + {}\n", b[j]));
            j += 1;
        }
    }
    if lines.len() > SHOWN {
        let more = lines.len() - SHOWN;
        lines.truncate(SHOWN);
        lines.push(format!("    ... and {more} more\n"));
    }
    lines.concat()
}

/// What was heard, as it was said.
pub fn indented(outcome: &Outcome) -> String {
    let one = |heard: &Heard| {
        let lines: Vec<String> = heard.said.lines().map(|line| format!("    {line}")).collect();
        format!("  $ {} ({})\n{}", heard.line, heard.ended, lines.join("\n"))
    };
    outcome.heard.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_shows_only_differing_lines() {
        assert_eq!(lines_apart("a\nb\nc", "a\nx\nc\nd"), "    - b\n    + x\n    + d\n");
        assert_eq!(lines_apart("a\nb", "a\nb"), "");
    }
}
