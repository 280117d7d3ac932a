//! The page of the docs that says what a run of all papers found: a line for each table and figure, then each claim.

use super::Outcome;
use super::page::{Count, all, outcome, rows_of};
use super::settings::Settings;
use crate::catalogue::{Exhibit, Judged, PAPERS, Paper, bounds, judge, today};
use std::fmt::Write;

const HEAD: &str = "# Does it still hold?\n\n\
What the five papers behind Parvum found, and what one run on one machine of today says of it. [papers.md](papers.md) says what each table and figure is and \
what runs it again; this page is made from the run in `results/published/papers` by `parvum compare --publish`, and a test holds it to that. A claim *still holds* where the whole \
interval of today's value lies where the paper puts it, holds *no longer* where none of it does, and is *unclear* where a part does.\n";

/// The page.
pub fn markdown(settings: &Settings, outcomes: &[Outcome]) -> String {
    let mut whole = Count::default();
    for count in all().filter_map(|(_, exhibit)| outcome(exhibit, outcomes).ok()) {
        whole.add(count);
    }
    let mut page = HEAD.to_owned();
    let _ = write!(
        page,
        "\nThe run was begun {} UTC (`parvum compare --papers{}`, {} s of launches), on {}.\n\n**Of what the papers claim, each for each system: {}.**\n",
        settings.begun,
        if settings.extent == "full" { " --full" } else { "" },
        settings.budget_s,
        machine(settings),
        whole.words()
    );
    for paper in PAPERS.iter() {
        of_paper(&mut page, paper, outcomes);
    }
    page
}

/// The machine, and the versions of those that are not ours.
fn machine(settings: &Settings) -> String {
    let told = |name: &str| {
        let found = settings.machine.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.clone())
    };
    let peers = [("PVM", "PVM 3.4.6"), ("Open MPI", "Open MPI"), ("MPICH", "MPICH")];
    let versions = peers.into_iter().filter_map(|(name, system)| Some(format!("{name} {}", told(system)?)));
    let words: Vec<String> =
        ["processor", "cores", "kernel"].into_iter().filter_map(told).chain(versions).collect();
    words.join(", ")
}

fn of_paper(page: &mut String, paper: &Paper, outcomes: &[Outcome]) {
    let _ = write!(page, "\n## {} {}: {}\n\n", paper.number, paper.authors, paper.title);
    page.push_str("| | what it shows | does it still hold? |\n|---|---|---|\n");
    for exhibit in &paper.exhibits {
        let words = match outcome(exhibit, outcomes) {
            Ok(count) => count.words(),
            Err(why) => why,
        };
        let _ = writeln!(page, "| {} | {} | {} |", exhibit.name(), shows(exhibit), cell(&words));
    }
    let lines: Vec<String> = paper.exhibits.iter().flat_map(|exhibit| claims(exhibit, outcomes)).collect();
    if !lines.is_empty() {
        page.push_str(
            "\n| | the paper says | then | holds | system | today | |\n|---|---|---|---|---|---|---|\n",
        );
        page.extend(lines);
    }
}

/// A line for each claim and each system that it is asked of.
fn claims(exhibit: &Exhibit, outcomes: &[Outcome]) -> Vec<String> {
    let Some(rows) = rows_of(exhibit, outcomes) else { return Vec::new() };
    let judged = exhibit.claims.iter().flat_map(|claim| judge(claim, rows));
    let line = |Judged { claim, by, measured, verdict }: Judged| {
        let cells = [
            exhibit.name(),
            cell(&claim.says),
            cell(&claim.paper),
            bounds(claim),
            cell(by),
            today(claim, measured),
            verdict.word().to_owned(),
        ];
        format!("| {} |\n", cells.join(" | "))
    };
    judged.map(line).collect()
}

/// What an exhibit shows, and in what its run differs: that explains why something has no data.
fn shows(exhibit: &Exhibit) -> String {
    match exhibit.again.as_ref().map(|again| again.differs.as_str()) {
        Some(differs) if !differs.is_empty() => cell(&format!("{} ({differs})", exhibit.caption)),
        _ => cell(&exhibit.caption),
    }
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
