//! The page of the docs that says what a run of all papers found: a line for each table and figure, then each claim.

use super::Outcome;
use super::page::{Count, all, outcome, rows_of};
use super::settings::Settings;
use crate::catalogue::{Claim, Exhibit, Judged, PAPERS, Paper, Verdict, bounds, judge, today};
use crate::report::markup::bytes;
use crate::stats::goals::digits;
use crate::stats::summary::Row;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A run of one suite over hosts that an emulated network joins, as its file has it.
#[derive(Debug, Serialize, Deserialize)]
pub struct OverNetwork {
    /// The network's name, a colon, what it is like.
    pub network: String,
    /// The suite.
    pub suite: String,
    /// When it was begun, in UTC.
    pub date: String,
    /// quick or full.
    pub extent: String,
    /// How many hosts.
    pub hosts: usize,
    /// The machine that all of them are made of, and the versions of those that are not ours.
    pub machine: String,
    /// What its claims are judged by; where there are none, what was measured.
    pub rows: Vec<Row>,
}

const HEAD: &str = "# Does it still hold?\n\n\
What the five papers behind Parvum found, and what one run on one machine of today says of it. [papers.md](papers.md) says what each table and figure is and \
what runs it again; this page is made from the run in `results/published/papers` by `parvum compare --publish`, and a test holds it to that. A claim *still holds* where the whole \
interval of today's value lies where the paper puts it, holds *no longer* where none of it does, and is *unclear* where a part does, or where one launch alone says so of a time.\n";

const NETWORKS: &str = "\n## Over the papers' own networks, emulated\n\n\
The same claims, where hosts made of this one are joined by a network like the paper's (`./x hosts N --network NAME -- parvum compare --paper N --host LIST`, [emulated-hosts.md](emulated-hosts.md)). \
What shares memory on one host goes over TCP here. The hosts share this machine's processors, of which the network itself takes one.\n";

/// The page.
pub fn markdown(settings: &Settings, outcomes: &[Outcome], networks: &[OverNetwork]) -> String {
    let mut whole = Count::default();
    for count in all().filter_map(|(_, exhibit)| counted(exhibit, outcomes, networks).ok()) {
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
        of_paper(&mut page, paper, outcomes, networks);
    }
    if !networks.is_empty() {
        page.push_str(NETWORKS);
        networks.iter().for_each(|network| over(&mut page, network));
    }
    page
}

/// How an exhibit's claims came out; of those that this host has no value of, some network may have one.
fn counted(exhibit: &Exhibit, outcomes: &[Outcome], networks: &[OverNetwork]) -> Result<Count, String> {
    let mut count = outcome(exhibit, outcomes)?;
    let rows = rows_of(exhibit, outcomes).unwrap_or_default();
    for Judged { claim, by, verdict, .. } in exhibit.claims.iter().flat_map(|claim| judge(claim, rows)) {
        if verdict == Verdict::NoData && is_elsewhere(exhibit, claim, by, networks) {
            count.found_elsewhere();
        }
    }
    Ok(count)
}

fn is_elsewhere(exhibit: &Exhibit, claim: &Claim, by: &str, networks: &[OverNetwork]) -> bool {
    let suite = exhibit.again.as_ref().map(|again| again.suite.as_str());
    let mut own = networks.iter().filter(|network| suite == Some(&network.suite));
    own.any(|network| claim.is_answered_over_hosts(by, &network.rows))
}

/// What a run over a network says of the claims that it has values of.
fn over(page: &mut String, run: &OverNetwork) {
    let (mut count, mut lines) = (Count::default(), String::new());
    let own = |exhibit: &Exhibit| exhibit.again.as_ref().is_some_and(|again| again.suite == run.suite);
    for (paper, exhibit) in all().filter(|(_, exhibit)| own(exhibit)) {
        for claim in exhibit.claims.iter().map(Claim::over_hosts) {
            for judged in judge(&claim, &run.rows).into_iter().filter(|one| one.verdict != Verdict::NoData) {
                count.count(judged.verdict);
                let word = judged.verdict.word().to_owned();
                lines.push_str(&line(format!("{} {}", paper.number, exhibit.name()), judged, word));
            }
        }
    }
    let (name, like) = run.network.split_once(": ").unwrap_or((&run.network, ""));
    let _ = write!(
        page,
        "\n### `{name}`, the suite {}: {}\n\n{} hosts; {like}. The run was begun {} UTC ({}), on {}.\n\n",
        run.suite,
        count.words(),
        run.hosts,
        run.date,
        run.extent,
        run.machine
    );
    if !lines.is_empty() {
        page.push_str(
            "| | the paper says | then | holds | system | today | |\n|---|---|---|---|---|---|---|\n",
        );
        page.push_str(&lines);
    }
    let is_drawn = drawn_over_hosts(&run.suite, &run.rows);
    let drawn: Vec<&Row> = run.rows.iter().filter(|row| is_drawn(row)).collect();
    if !drawn.is_empty() {
        values(page, &drawn);
    }
}

/// Which rows of a run over hosts stand for themselves: those that an exhibit draws of whose claims none has a value there.
pub fn drawn_over_hosts(suite: &str, rows: &[Row]) -> impl Fn(&Row) -> bool + use<> {
    let has_value = |claim: &Claim| {
        judge(&claim.over_hosts(), rows).iter().any(|judged| judged.verdict != Verdict::NoData)
    };
    let exhibits = all().map(|(_, exhibit)| exhibit).filter(|exhibit| !exhibit.claims.iter().any(has_value));
    let curves = exhibits.filter_map(|exhibit| {
        let again = exhibit.again.as_ref().filter(|again| again.suite == suite)?;
        Some((&again.programs, &exhibit.curves.as_ref()?.metric))
    });
    let curves: Vec<_> = curves.collect();
    move |row| {
        curves.iter().any(|(programs, metric)| programs.contains(&row.program) && **metric == row.metric)
    }
}

/// What was measured, a table for each number of tasks.
fn values(page: &mut String, rows: &[&Row]) {
    let tables: BTreeSet<(&str, u32)> = rows.iter().map(|row| (row.metric.as_str(), row.tasks)).collect();
    if tables.iter().any(|(metric, _)| *metric == "alltoall") {
        page.push_str("The times are task 0's, which may be done a little before others are.\n");
    }
    for (metric, tasks) in tables {
        let own = rows.iter().copied().filter(|row| (row.metric.as_str(), row.tasks) == (metric, tasks));
        table(page, &own.collect::<Vec<_>>());
    }
}

/// Those of one metric and number of tasks: a line for each system, a column for each size, of each program.
fn table(page: &mut String, rows: &[&Row]) {
    let Some(first) = rows.first() else { return };
    let columns: BTreeSet<(&str, u64)> = rows.iter().map(|row| (row.program.as_str(), row.size)).collect();
    let is_one = rows.iter().all(|row| row.program == first.program);
    let head = |&(program, size): &(&str, u64)| match is_one {
        true => format!(" {} |", bytes(size as f64)),
        false => format!(" {program}, {size} |"),
    };
    let mut systems: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        if !systems.contains(&(&row.system, &row.route)) {
            systems.push((&row.system, &row.route));
        }
    }
    let Row { metric, tasks, unit, .. } = first;
    let heads: String = columns.iter().map(head).collect();
    let rule = "---|".repeat(columns.len());
    let _ = write!(page, "\n| {metric} of {tasks}, {unit} |{heads}\n|---|{rule}\n");
    for (system, route) in systems {
        let cell = |column: &(&str, u64)| {
            let mut own =
                rows.iter().filter(|row| (row.system.as_str(), row.route.as_str()) == (system, route));
            let found = own.find(|row| (row.program.as_str(), row.size) == *column);
            found.map_or_else(|| " |".to_owned(), |row| format!(" {} |", digits(row.median)))
        };
        let cells: String = columns.iter().map(cell).collect();
        let _ = writeln!(page, "| {} |{cells}", format!("{system} {route}").trim_end());
    }
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

fn of_paper(page: &mut String, paper: &Paper, outcomes: &[Outcome], networks: &[OverNetwork]) {
    let _ = write!(page, "\n## {} {}: {}\n\n", paper.number, paper.authors, paper.title);
    page.push_str("| | what it shows | does it still hold? |\n|---|---|---|\n");
    for exhibit in &paper.exhibits {
        let words = match counted(exhibit, outcomes, networks) {
            Ok(count) => count.words(),
            Err(why) => why,
        };
        let _ = writeln!(page, "| {} | {} | {} |", exhibit.name(), shows(exhibit), cell(&words));
    }
    let lines: Vec<String> =
        paper.exhibits.iter().flat_map(|exhibit| claims(exhibit, outcomes, networks)).collect();
    if !lines.is_empty() {
        page.push_str(
            "\n| | the paper says | then | holds | system | today | |\n|---|---|---|---|---|---|---|\n",
        );
        page.extend(lines);
    }
}

/// A line for each claim and each system that it is asked of.
fn claims(exhibit: &Exhibit, outcomes: &[Outcome], networks: &[OverNetwork]) -> Vec<String> {
    let Some(rows) = rows_of(exhibit, outcomes) else { return Vec::new() };
    let judged = exhibit.claims.iter().flat_map(|claim| judge(claim, rows));
    let one = |judged: Judged| {
        let is_below =
            judged.verdict == Verdict::NoData && is_elsewhere(exhibit, judged.claim, judged.by, networks);
        let word = if is_below { "below" } else { judged.verdict.word() }.to_owned();
        line(exhibit.name(), judged, word)
    };
    judged.map(one).collect()
}

fn line(place: String, judged: Judged, word: String) -> String {
    let Judged { claim, by, measured, .. } = judged;
    let cells =
        [place, cell(&claim.says), cell(&claim.paper), bounds(claim), cell(by), today(claim, measured), word];
    format!("| {} |\n", cells.join(" | "))
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
