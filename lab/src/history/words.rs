//! The history for a terminal, and as JSON.

use super::History;
use super::change::Change;
use super::commits::short;
use super::figures::{Figure, Group};
use crate::stats::goals::digits;
use crate::table::{WIDTH, wrapped};
use serde_json::{Value, json};
use std::fmt::Write;

/// The last values that a terminal has room for.
const SPARKS: usize = 20;

impl History {
    /// A line for each figure. Figures that became worse come first.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for group in &self.groups {
            table(&mut text, group);
            let _ = writeln!(text, "{}\n", wrapped(&summary(group), WIDTH).join("\n"));
        }
        for note in notes(&self.groups) {
            let _ = writeln!(text, "{}", wrapped(note, WIDTH).join("\n"));
        }
        for (folder, why) in &self.skipped {
            let _ = writeln!(
                text,
                "{}",
                wrapped(&format!("Skipped {}: {why}", folder.display()), WIDTH).join("\n")
            );
        }
        text
    }

    /// All of it for programs; `docs/reference/json/history.schema.json` describes it.
    pub fn json(&self) -> String {
        let groups: Vec<Value> = self.groups.iter().map(group_value).collect();
        let skipped: Vec<Value> = self
            .skipped
            .iter()
            .map(|(folder, why)| json!({ "folder": folder.display().to_string(), "why": why }))
            .collect();
        serde_json::to_string_pretty(&json!({ "groups": groups, "skipped": skipped })).unwrap_or_default()
    }
}

/// The heading of a group.
pub(super) fn heading(group: &Group) -> String {
    let runs = if group.runs.len() == 1 { "run" } else { "runs" };
    format!("Suite {} ({}), {} {runs} on {}", group.suite, group.extent, group.runs.len(), group.machine)
}

/// How many figures changed.
pub(super) fn summary(group: &Group) -> String {
    let last = || group.figures.iter().filter_map(|figure| Some((figure, figure.changes.last()?)));
    let worse = last().filter(|(figure, change)| figure.is_worse(change)).count();
    let all = group.figures.len();
    match last().count() {
        0 if group.runs.len() < 2 * super::change::SEGMENT => {
            format!("A change needs {} runs, 5 before it and 5 after it.", 2 * super::change::SEGMENT)
        }
        0 => format!("None of {all} figures changed."),
        some => format!("{some} of {all} figures changed, {worse} for the worse."),
    }
}

/// The meaning of the marks in the lines, if there are any.
pub(super) fn notes(groups: &[Group]) -> Vec<&'static str> {
    let figures = || groups.iter().flat_map(|group| &group.figures);
    let mut notes = Vec::new();
    if figures().any(|figure| figure.certain.contains(&false)) {
        notes.push("? marks a change that may be chance, because many figures are tested.");
    }
    if figures().any(|figure| figure.shared.contains(&true)) {
        notes.push(
            "* marks a change in the same run as changes of other systems. The machine probably changed.",
        );
    }
    notes
}

/// `+12 %?*`: the size of a change and its marks.
pub(super) fn size(figure: &Figure, number: usize) -> String {
    let change = &figure.changes[number];
    let size = figure.percent(change).map_or_else(|| "new level".to_owned(), grown);
    let marks = [(!figure.certain[number], "?"), (figure.shared[number], "*")];
    marks.into_iter().filter(|(is_set, _)| *is_set).fold(size, |size, (_, mark)| size + mark)
}

/// A growth in percent, or as a factor if it is large.
pub(super) fn grown(percent: f64) -> String {
    match percent {
        much if much >= 900.0 => format!("{}x", digits(1.0 + much / 100.0)),
        little if little.abs() < 9.95 => format!("{little:+.1} %"),
        some => format!("{some:+.0} %"),
    }
}

/// Whether a change is for the better, in a word.
pub(super) fn verdict(figure: &Figure, change: &Change) -> &'static str {
    if figure.is_worse(change) { "worse" } else { "better" }
}

fn table(text: &mut String, group: &Group) {
    let _ = writeln!(text, "{}", wrapped(&heading(group), WIDTH).join("\n"));
    let mut lines = vec![["change", "since", "runs", "first -> last", "values", "figure"].map(str::to_owned)];
    for figure in &group.figures {
        let (change, since) = match figure.changes.iter().enumerate().next_back() {
            Some((number, change)) => (
                format!("{} {}", size(figure, number), verdict(figure, change)),
                group.runs[figure.points[change.at].run].label(),
            ),
            None => ("none".to_owned(), String::new()),
        };
        let ends =
            [figure.points.first(), figure.points.last()].map(|point| point.map_or(0.0, |point| point.value));
        let values = format!("{} -> {} {}", digits(ends[0]), digits(ends[1]), figure.unit);
        let runs = figure.points.len().to_string();
        lines.push([change, since, runs, values, sparks(figure), figure.name.clone()]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    for [change, since, runs, values, sparks, name] in &lines {
        let [a, b, c, d, e] = widths[..] else { return };
        let _ = writeln!(text, "  {change:a$}  {since:b$}  {runs:>c$}  {values:d$}  {sparks:e$}  {name}");
    }
}

/// The last values as bars, from the smallest to the largest.
fn sparks(figure: &Figure) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values = &figure.points[figure.points.len().saturating_sub(SPARKS)..];
    let (low, high) = range(values.iter().map(|point| point.value));
    let bar = |value: f64| BARS[((value - low) / (high - low) * 7.0).round().clamp(0.0, 7.0) as usize];
    values.iter().map(|point| bar(point.value)).collect()
}

/// The smallest and the largest value, with a tenth of their middle between them at least: noise should not look like a change.
pub(super) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let middle = (low + high) / 2.0;
    let half = ((high - low) / 2.0).max(middle.abs() * 0.05).max(f64::MIN_POSITIVE);
    (middle - half, middle + half)
}

fn group_value(group: &Group) -> Value {
    let runs: Vec<Value> = group
        .runs
        .iter()
        .map(|run| {
            json!({
                "folder": run.folder.display().to_string(), "date": run.date, "commit": run.commit,
                "commit_short": run.commit.as_deref().map(short), "subject": run.subject,
            })
        })
        .collect();
    let figures: Vec<Value> = group.figures.iter().map(figure_value).collect();
    json!({ "suite": group.suite, "extent": group.extent, "machine": group.machine, "runs": runs, "figures": figures })
}

fn figure_value(figure: &Figure) -> Value {
    let points: Vec<Value> = figure
        .points
        .iter()
        .map(|point| json!({ "run": point.run, "value": point.value, "low": point.low, "high": point.high }))
        .collect();
    let changes: Vec<Value> = figure
        .changes
        .iter()
        .enumerate()
        .map(|(number, change)| {
            json!({
                "run": figure.points[change.at].run, "before": change.before, "after": change.after,
                "percent": figure.percent(change), "p": change.p, "worse": figure.is_worse(change),
                "certain": figure.certain[number], "shared": figure.shared[number],
            })
        })
        .collect();
    json!({
        "name": figure.name, "unit": figure.unit, "more_is_better": figure.is_rate, "points": points, "changes": changes,
    })
}
