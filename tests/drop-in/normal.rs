//! Makes two runs comparable: what may rightly differ between two runs of one program is replaced by a word.

use crate::table::Case;
use std::collections::HashMap;

/// What a program said, without what differs from run to run.
pub fn normal(case: &Case, said: &str) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let mut ids = Ids::default();
    let mut lines: Vec<String> = Vec::new();
    for line in said.replace('\r', "").lines() {
        let line = words(line, &host, case, &mut ids);
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let again = case.repeats && lines.last() == Some(&line);
        let unwanted = case.drop.iter().any(|part| line.contains(part));
        let looked_at = case.keep.is_empty() || case.keep.iter().any(|part| line.contains(part));
        if !line.is_empty() && looked_at && !unwanted && !again {
            lines.push(line);
        }
    }
    if case.sorted {
        lines.sort();
    }
    lines.join("\n")
}

/// Task ids and contexts in the order in which they are first seen.
#[derive(Default)]
struct Ids(HashMap<u32, usize>);

impl Ids {
    /// A task id by its place: the same task has the same name throughout.
    fn name(&mut self, id: u32, sorted: bool) -> String {
        // Where lines come in any order, so do the tasks.
        if sorted {
            return "TID".to_owned();
        }
        let next = self.0.len() + 1;
        format!("TID{}", self.0.entry(id).or_insert(next))
    }
}

/// Replaces words of a line.
fn words(line: &str, host: &str, case: &Case, ids: &mut Ids) -> String {
    let mut result = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
        if end == 0 {
            let first = rest.chars().next().expect("not empty");
            result.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        if let Some(length) = fraction(rest) {
            result.push_str(if case.numbers { "N" } else { &rest[..length] });
            rest = &rest[length..];
            continue;
        }
        let (word, after) = rest.split_at(end);
        rest = after;
        if let Some(more) = rest.strip_prefix(".0.0.1").filter(|_| word == "127") {
            rest = more;
            result.push_str("HOST");
        } else if word == host || word == "localhost" {
            result.push_str("HOST");
        } else if case.numbers && word == "nan" {
            // Nothing in no time; its sign says nothing.
            result.truncate(result.strip_suffix('-').map_or(result.len(), str::len));
            result.push('N');
        } else if case.numbers && (word == "inf" || word.chars().all(|c| c.is_ascii_digit())) {
            // A rate is infinite when no time passed that the program can measure.
            result.push('N');
        } else if let Some((before, id, behind)) = task_id(word) {
            result.push_str(before);
            result.push_str(&ids.name(id, case.sorted));
            result.push_str(&words(behind, host, case, ids));
        } else {
            result.push_str(word);
        }
    }
    result
}

/// The length of the decimal fraction that a text begins with, if it does; an address is none.
fn fraction(text: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let behind = text[whole..].strip_prefix('.')?;
    let part = digits(behind);
    let rest = &behind[part..];
    let is_address = rest.starts_with('.') && digits(&rest[1..]) > 0;
    if whole == 0 || part == 0 || is_address {
        return None;
    }
    let exponent = rest.strip_prefix(['e', 'E']).map_or(0, |tail| {
        let sign = usize::from(tail.starts_with(['+', '-']));
        if digits(&tail[sign..]) > 0 { 1 + sign + digits(&tail[sign..]) } else { 0 }
    });
    Some(whole + 1 + part + exponent)
}

/// A task id (or a context, which has the same form) in a word: `t40003`, `0x40003`, `40003`, `262147`, `t40003lmbi0`.
fn task_id(word: &str) -> Option<(&str, u32, &str)> {
    // Those of the first host: 0x40000 and what follows.
    let range = 0x4_0000..0x7_ffff;
    let (before, digits) = match word.strip_prefix("0x").or(word.strip_prefix('t')) {
        Some(digits) => ("", digits),
        None => ("", word),
    };
    let end = digits.find(|c: char| !matches!(c, '0'..='9' | 'a'..='f')).unwrap_or(digits.len());
    let (hexadecimal, behind) = digits.split_at(end);
    if hexadecimal.len() == 5
        && let Ok(id) = u32::from_str_radix(hexadecimal, 16)
        && range.contains(&id)
    {
        return Some((before, id, behind));
    }
    let id = word.parse().ok().filter(|id| range.contains(id))?;
    Some(("", id, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::case;

    #[test]
    fn normal_form_gives_task_one_name_in_every_spelling() {
        let said = "i'm t40002\nfrom 0x40003: 262146 again\n[t40003]  done in  3.25 s";
        assert_eq!(normal(&case("x", &[]), said), "i'm TID1\nfrom TID2: TID1 again\n[TID2] done in 3.25 s");
        let timed = normal(&case("x", &[]).numbers(), said);
        assert!(timed.ends_with("done in N s"), "{timed}");
    }

    #[test]
    fn sorted_case_ignores_order_of_tasks() {
        let sorted = case("x", &[]).sorted();
        assert_eq!(normal(&sorted, "t40003 b\nt40002 a"), normal(&sorted, "t40009 a\nt40007 b"));
    }

    #[test]
    fn rate_that_is_inf_or_nan_counts_as_number() {
        let rates = ["r 3.5 MB/s", "r inf MB/s", "r nan MB/s", "r -nan MB/s"];
        let rates = rates.map(|said| normal(&case("x", &[]).numbers(), said));
        assert_eq!(rates, ["r N MB/s"; 4]);
        assert_eq!(normal(&case("x", &[]), "a -nan"), "a -nan");
    }

    #[test]
    fn normal_form_keeps_other_numbers() {
        for said in ["100000 doubles, 30 of 4fffff", "2.43290e+18 or 0.262150", "3.4.6"] {
            assert_eq!(normal(&case("x", &[]), said), said);
        }
        assert_eq!(normal(&case("x", &[]), "at 127.0.0.1"), "at HOST");
    }
}
