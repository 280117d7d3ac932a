//! Calls with one argument wrong, on both sides: where the answers differ, docs/reference/pvm/differences.md says why.

use crate::machines::{Kind, Place};
use crate::steps::{self, Outcome};
use crate::table::FAULTS;
use std::collections::BTreeMap;
use std::path::Path;

const PAGE: &str = "docs/reference/pvm/differences.md";
/// The rows that are about calls stand below this heading.
const HEADING: &str = "## Arguments that cannot be";

/// A row of the page: calls, of which `*` stands for any part, and the two answers.
struct Row {
    calls: String,
    theirs: String,
    ours: String,
    used: bool,
}

/// Whether every difference is written down, and everything written down is a difference.
pub fn check(place: &Place) -> Result<bool, String> {
    let theirs = answers(&play(Kind::Pvm, place)?);
    let ours = answers(&play(Kind::Parvum, place)?);
    let mut rows = rows()?;
    let (mut same, mut different, mut good) = (0, 0, true);
    for (call, their) in &theirs {
        let our = ours.get(call).map_or("nothing", String::as_str);
        if our == their {
            same += 1;
            continue;
        }
        different += 1;
        let fits = |row: &&mut Row| fits(call, &row.calls) && row.theirs == *their && row.ours == our;
        match rows.iter_mut().find(fits) {
            Some(row) => row.used = true,
            None => {
                good = false;
                println!("  {call}: {their} on PVM, {our} on Parvum; {PAGE} does not say so");
            }
        }
    }
    for row in rows.iter().filter(|row| !row.used) {
        good = false;
        println!("  {PAGE} says that `{}` gives {} and {}: not so", row.calls, row.theirs, row.ours);
    }
    println!("{} calls with a wrong argument: {same} answered alike, {different} differently", theirs.len());
    Ok(good && same > 500)
}

fn play(kind: Kind, place: &Place) -> Result<Outcome, String> {
    let machine = place.start(kind)?;
    let outcome = steps::play(&FAULTS, &machine, place);
    machine.stop()?;
    outcome
}

/// Of each call its answer, in words.
fn answers(outcome: &Outcome) -> BTreeMap<String, String> {
    let lines = outcome.heard.iter().flat_map(|heard| heard.said.lines());
    lines
        .filter_map(|line| line.rsplit_once(" => "))
        .map(|(call, answer)| (call.to_owned(), in_words(answer)))
        .collect()
}

fn in_words(answer: &str) -> String {
    let (value, said) =
        answer.split_once(", says: ").map_or((answer, None), |(value, said)| (value, Some(said)));
    let Ok(number) = value.parse::<i32>() else { return value.to_owned() };
    match (number, said) {
        (..0, Some(_)) => name(number),
        (..0, None) => format!("{}, silently", name(number)),
        (_, None) => value.to_owned(),
        // What follows an error's code names places of this very run.
        (_, Some(said)) => match said.split_once(": ") {
            Some((code, _)) if code.starts_with("E-") => format!("{value}, but says {code}"),
            _ => format!("{value}, but says {said}"),
        },
    }
}

/// PVM's name for a code.
fn name(code: i32) -> String {
    const NAMES: [(i32, &str); 32] = [
        (-2, "BadParam"),
        (-3, "Mismatch"),
        (-4, "Overflow"),
        (-5, "NoData"),
        (-6, "NoHost"),
        (-7, "NoFile"),
        (-8, "Denied"),
        (-10, "NoMem"),
        (-12, "BadMsg"),
        (-14, "SysErr"),
        (-15, "NoBuf"),
        (-16, "NoSuchBuf"),
        (-17, "NullGroup"),
        (-18, "DupGroup"),
        (-19, "NoGroup"),
        (-20, "NotInGroup"),
        (-21, "NoInst"),
        (-22, "HostFail"),
        (-23, "NoParent"),
        (-24, "NotImpl"),
        (-25, "DSysErr"),
        (-26, "BadVersion"),
        (-27, "OutOfRes"),
        (-28, "DupHost"),
        (-29, "CantStart"),
        (-30, "Already"),
        (-31, "NoTask"),
        (-32, "NotFound"),
        (-33, "Exists"),
        (-34, "HostrNMstr"),
        (-35, "ParentNotSet"),
        (-36, "IPLoopback"),
    ];
    NAMES
        .iter()
        .find(|(number, _)| *number == code)
        .map_or(code.to_string(), |(_, name)| format!("Pvm{name}"))
}

/// The rows of the page.
fn rows() -> Result<Vec<Row>, String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the project").join(PAGE);
    let text = std::fs::read_to_string(&page).map_err(|why| format!("{}: {why}", page.display()))?;
    let below = text.split_once(HEADING).ok_or_else(|| format!("{PAGE} has no {HEADING}"))?.1;
    let below = below.split("\n## ").next().expect("the first part");
    Ok(below.lines().filter(|line| line.starts_with("| `")).flat_map(of_line).collect())
}

/// One row for each call in the first cell.
fn of_line(line: &str) -> Vec<Row> {
    let line = line.replace("\\|", "\u{1}");
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [_, calls, theirs, ours, ..] = cells[..] else { return Vec::new() };
    let row = |calls: &str| Row {
        calls: calls.replace('\u{1}', "|"),
        theirs: theirs.replace('`', ""),
        ours: ours.replace('`', ""),
        used: false,
    };
    calls.split('`').skip(1).step_by(2).map(row).collect()
}

/// Whether a call is one of those that `*` in the pattern leaves open.
fn fits(call: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return call == pattern };
    let Some(tail) = call.strip_prefix(first) else { return false };
    (0..=tail.len()).filter(|at| tail.is_char_boundary(*at)).any(|at| fits(&tail[at..], rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_pattern_star_matches_any_part() {
        assert!(fits("pvm_pkint(0, 1, 1)", "pvm_pk*(0, 1, 1)"));
        assert!(fits("pvm_pkint(0, 1, 1)", "pvm_*(0*)"));
        assert!(!fits("pvm_upkint(0, 1, 1)", "pvm_pk*(0, 1, 1)"));
    }

    #[test]
    fn answers_print_error_names() {
        assert_eq!(in_words("-2, says: Bad parameter"), "PvmBadParam");
        assert_eq!(in_words("-19"), "PvmNoGroup, silently");
        assert_eq!(in_words("0"), "0");
        assert_eq!(in_words("crashes"), "crashes");
    }

    #[test]
    fn table_row_may_list_several_calls() {
        let rows = of_line("| `a(1 \\| 2)`, `b` | `0` | waits | why |");
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].calls.as_str(), rows[1].theirs.as_str()), ("a(1 | 2)", "0"));
    }
}
