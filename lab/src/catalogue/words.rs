//! The catalogue in words: for a terminal, for `docs/project/papers.md`, and what came of a run.

use super::{Cell, Claim, Exhibit, Judged, Measured, PAPERS, Paper, Verdict, judge};
use crate::stats::goals::digits;
use crate::stats::summary::Row;
use crate::table::{WIDTH, wrapped};
use std::fmt::Write;

/// What `parvum compare --list` prints.
pub fn list() -> String {
    let mut text = String::new();
    for paper in PAPERS.iter() {
        let head = format!("{}  {}: {}. {}.", paper.number, paper.authors, paper.title, paper.published);
        indented(&mut text, &head, 0, 5);
        for exhibit in &paper.exhibits {
            indented(&mut text, &format!("{}: {}", exhibit.name(), exhibit.caption), 5, 9);
            indented(&mut text, &how(paper, exhibit, ""), 9, 9);
        }
        text.push('\n');
    }
    text
}

/// What runs it, or why nothing does; commands between two `mark`s.
fn how(paper: &Paper, exhibit: &Exhibit, mark: &str) -> String {
    let mut words = match (&exhibit.again, &exhibit.why_not) {
        (Some(again), _) => format!(
            "{mark}parvum compare --paper {} --{} {}{mark} (of the suite {}: {})",
            paper.number,
            exhibit.kind.name(),
            exhibit.number,
            again.suite,
            again.programs.join("; ")
        ),
        (None, why) => format!("not run: {}", why.as_deref().unwrap_or_default()),
    };
    if let Some(again) = exhibit.again.as_ref().filter(|again| !again.differs.is_empty()) {
        let _ = write!(words, "; {}", again.differs);
    }
    words
}

fn indented(text: &mut String, words: &str, first: usize, others: usize) {
    for (at, line) in wrapped(words, WIDTH - first.max(others)).iter().enumerate() {
        let _ = writeln!(text, "{:indent$}{line}", "", indent = if at == 0 { first } else { others });
    }
}

/// The page `docs/project/papers.md`.
pub fn markdown() -> String {
    let mut page = String::from(
        "# The papers\n\n\
         Every table and figure of the five papers that Parvum began with: what it shows, what runs it again on your machine, or why nothing does. Made from\n\
         `lab/papers/*.json` by `parvum compare --list=markdown >docs/project/papers.md`; a test holds this page to them. What a paper prints as numbers stands here as numbers.\n\
         Of what it only draws there are the claims that its text makes of the drawing, each with the range in which it still holds (the paper's own where it gives\n\
         one, else a plain one). `parvum compare --paper N [--figure N,N...] [--table N]` runs what can be run, and says of each claim whether it holds today: of the whole\n\
         95 % interval, or it is *unclear*. [findings.md](findings.md) has what a run of all of them said.\n",
    );
    for paper in PAPERS.iter() {
        let _ = write!(
            page,
            "\n## {} {}: {}\n\n{}.\n",
            paper.number, paper.authors, paper.title, paper.published
        );
        for exhibit in &paper.exhibits {
            let name = exhibit.name();
            let _ = write!(page, "\n### {} {}\n\n{}\n\n", paper.number, name, sentence(&exhibit.caption));
            let _ = writeln!(page, "{}", sentence(&how(paper, exhibit, "`")));
            printed(&mut page, exhibit);
            if !exhibit.claims.is_empty() {
                page.push_str("\n| the paper says | value | holds | asked of |\n|---|---|---|---|\n");
            }
            for claim in &exhibit.claims {
                let by: Vec<&str> = claim.today.iter().map(|today| today.by.as_str()).collect();
                let _ = writeln!(
                    page,
                    "| {} | {} | {} | {} |",
                    claim.says,
                    claim.paper,
                    bounds(claim),
                    by.join(", ")
                );
            }
        }
    }
    page
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let begun: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    format!("{begun}.")
}

fn printed(page: &mut String, exhibit: &Exhibit) {
    let Some(printed) = &exhibit.printed else { return };
    let _ =
        write!(page, "\n| {} |\n|{}\n", printed.columns.join(" | "), "---|".repeat(printed.columns.len()));
    for row in &printed.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Number(number) => number.to_string(),
        Cell::Word(word) => word.clone(),
        Cell::Empty(()) => String::new(),
    }
}

/// Where a claim holds.
pub fn bounds(claim: &Claim) -> String {
    match (claim.from, claim.to) {
        (Some(from), Some(to)) => format!("{from} to {to}"),
        (Some(from), None) => format!("{from} or more"),
        (None, Some(to)) => format!("{to} or less"),
        (None, None) => String::new(),
    }
}

/// Today's value with its unit and interval.
pub fn today(claim: &Claim, measured: Option<Measured>) -> String {
    let Some(found) = measured else { return "-".to_owned() };
    let unit = if claim.unit.is_empty() { String::new() } else { format!(" {}", claim.unit) };
    let range = match found.launches {
        1 => "one launch".to_owned(),
        // Fewer give no 95 % interval.
        few @ 2..6 => format!("{} to {}, {few} launches", digits(found.low), digits(found.high)),
        _ => format!("{} to {}", digits(found.low), digits(found.high)),
    };
    let over = if found.sizes > 1 { format!(", over {} sizes", found.sizes) } else { String::new() };
    format!("{}{unit} ({range}{over})", digits(found.value))
}

/// What came of one exhibit, on this host or over several.
pub fn results(paper: &Paper, exhibit: &Exhibit, rows: &[Row], over_hosts: bool) -> String {
    let mut text = String::new();
    indented(&mut text, &format!("Paper {}, {}: {}", paper.number, exhibit.name(), exhibit.caption), 0, 2);
    if exhibit.why_not.is_some() {
        indented(&mut text, &how(paper, exhibit, ""), 2, 4);
    }
    // It tells of this host.
    if let Some(again) = exhibit.again.as_ref().filter(|again| !over_hosts && !again.differs.is_empty()) {
        indented(&mut text, &again.differs, 2, 4);
    }
    for claim in &exhibit.claims {
        let claim = &*claim.asked_of(over_hosts);
        indented(&mut text, &claim.says, 2, 4);
        let holds = bounds(claim);
        let holds = if holds.is_empty() { holds } else { format!(" (holds: {holds})") };
        if !claim.paper.is_empty() || !holds.is_empty() {
            indented(&mut text, &format!("then {}{holds}", claim.paper), 4, 6);
        }
        for Judged { by, measured, verdict, .. } in judge(claim, rows) {
            let words = match verdict {
                Verdict::NoData => format!("{by}: no data in this session"),
                Verdict::Beside => format!("{by}: today {}", today(claim, measured)),
                _ => format!("{by}: {}, today {}", verdict.word(), today(claim, measured)),
            };
            indented(&mut text, &words, 4, 6);
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_page_is_generated_from_catalogue() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/project/papers.md");
        let found = std::fs::read_to_string(page).expect("docs/project/papers.md");
        let made = markdown();
        let differs = found.lines().zip(made.lines()).find(|(found, made)| found != made);
        assert_eq!(differs, None, "write it again: parvum compare --list=markdown >docs/project/papers.md");
        assert_eq!(
            found.len(),
            made.len(),
            "write it again: parvum compare --list=markdown >docs/project/papers.md"
        );
    }

    #[test]
    fn list_has_every_exhibit_and_fits_terminal() {
        let list = list();
        for exhibit in PAPERS.iter().flat_map(|paper| &paper.exhibits) {
            assert!(list.contains(&format!("     {}: ", exhibit.name())), "{}", exhibit.name());
        }
        let commands = list.matches("parvum compare --paper").count();
        let reasons = list.matches("not run:").count();
        assert_eq!(commands + reasons, PAPERS.iter().map(|paper| paper.exhibits.len()).sum::<usize>());
        assert!(list.lines().all(|line| line.chars().count() <= WIDTH), "{list}");
    }

    #[test]
    fn exhibit_without_data_reports_no_data() {
        let (paper, exhibits) = super::super::find("000", &[]).expect("it exists");
        let text = results(paper, exhibits[5], &[], false);
        assert!(text.starts_with("Paper 000, table 6: ") && text.contains("PVM 3.4.6: no data"), "{text}");
        let text = results(paper, exhibits[0], &[], false);
        assert!(text.contains("not run: "), "{text}");
    }
}
