//! The history as one page: a row for each figure, with its values as a line and its changes as marks.

use super::History;
use super::commits::short;
use super::figures::{Figure, Group, Measured};
use super::words::{heading, notes, range, size, summary, verdict};
use crate::report::markup::escape;
use crate::report::sheet;
use crate::run::record::short_name;
use crate::stats::goals::digits;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// Hides the rows without the words of the field. Without scripts, all rows stay.
const FIND: &str = "<p><input class=\"find\" type=\"search\" placeholder=\"Find a figure, such as: ring size 8\" aria-label=\"Find a figure\"></p>\
    <script>document.querySelector('.find').addEventListener('input', event => {\
    const words = event.target.value.toLowerCase().split(/\\s+/);\
    for (const row of document.querySelectorAll('.row'))\
    row.hidden = !words.every(word => row.dataset.name.includes(word)); });</script>";

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 64.0;
const MARGIN: f64 = 5.0;

impl History {
    /// The page.
    pub fn page(&self) -> String {
        let mut html = format!("<style>{STYLE}</style><h1>History of figures</h1>");
        let runs: usize = self.groups.iter().map(|group| group.runs.len()).sum();
        let _ = write!(
            html,
            "<p class=\"soft\">{runs} runs below {}</p>",
            escape(&self.folder.display().to_string())
        );
        html.push_str(
            "<p>Each row is one figure through all runs, in the order of commits. A dashed line marks a change: the values after it differ \
             from those before it by more than noise. Red is worse, green is better.</p>",
        );
        for note in notes(&self.groups) {
            let _ = write!(html, "<p class=\"note\">{}</p>", escape(note));
        }
        html.push_str(FIND);
        if self.groups.len() > 1 {
            let link = |(at, group)| format!("<a href=\"#group-{at}\">{}</a>", escape(&heading(group)));
            let _ =
                write!(html, "<nav>{}</nav>", self.groups.iter().enumerate().map(link).collect::<String>());
        }
        for (at, group) in self.groups.iter().enumerate() {
            let _ = write!(html, "<h2 id=\"group-{at}\">{}</h2>", escape(&heading(group)));
            let _ = write!(html, "<p>{}</p><div class=\"history\">", escape(&summary(group)));
            group.figures.iter().for_each(|figure| row(&mut html, group, figure));
            html.push_str("</div>");
        }
        if !self.skipped.is_empty() {
            html.push_str("<h2 id=\"skipped\">Runs that cannot be read</h2><ul>");
            for (folder, why) in &self.skipped {
                let _ = write!(html, "<li>{}: {}</li>", escape(&folder.display().to_string()), escape(why));
            }
            html.push_str("</ul>");
        }
        sheet("history of figures", &html, &short_name(&self.json()))
    }
}

fn row(html: &mut String, group: &Group, figure: &Figure) {
    let class = if figure.is_reference { "row reference" } else { "row" };
    let ends =
        [figure.points.first(), figure.points.last()].map(|point| point.map_or(0.0, |point| point.value));
    let (unit, runs) = (escape(&figure.unit), figure.points.len());
    let _ = write!(
        html,
        "<div class=\"{class}\" data-name=\"{}\"><div><div class=\"name\">{}</div>\
         <div class=\"facts\">{} &rarr; {} {unit} <span class=\"range\">{runs} {}</span></div>",
        escape(&figure.name.to_lowercase()),
        escape(&figure.name),
        digits(ends[0]),
        digits(ends[1]),
        if runs == 1 { "run" } else { "runs" },
    );
    if !figure.changes.is_empty() {
        html.push_str("<ul>");
        for (number, change) in figure.changes.iter().enumerate().rev() {
            let (run, verdict) = (&group.runs[figure.points[change.at].run], verdict(figure, change));
            let class = if verdict == "worse" { "missed" } else { "reached" };
            let _ = write!(
                html,
                "<li><span class=\"{class}\">{} {verdict}</span> since {}: {} &rarr; {} {unit}</li>",
                escape(&size(figure, number)),
                escape(&named(run)),
                digits(change.before),
                digits(change.after),
            );
        }
        html.push_str("</ul>");
    }
    let _ = write!(html, "</div>{}</div>", drawing(group, figure));
}

/// A run by its commit and the subject of the commit, or by its date.
fn named(run: &Measured) -> String {
    match (&run.commit, &run.subject) {
        (Some(commit), Some(subject)) => format!("{} ({subject})", short(commit)),
        _ => run.label(),
    }
}

/// The values as a line, a level for each segment, and a mark for each change.
fn drawing(group: &Group, figure: &Figure) -> String {
    let (low, high) = range(figure.points.iter().map(|point| point.value));
    let last = (group.runs.len().max(2) - 1) as f64;
    // Runs without the figure leave a gap.
    let x = |run: f64| MARGIN + run / last * (WIDTH - 2.0 * MARGIN);
    let y = |value: f64| {
        HEIGHT - MARGIN - ((value - low) / (high - low)).clamp(0.0, 1.0) * (HEIGHT - 2.0 * MARGIN)
    };
    let place = |at: usize| x(figure.points[at].run as f64);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">",
        escape(&figure.name)
    );
    for (number, change) in figure.changes.iter().enumerate() {
        let at = (place(change.at - 1) + place(change.at)) / 2.0;
        let next = figure.changes.get(number + 1).map_or(figure.points.len(), |next| next.at) - 1;
        let before = number.checked_sub(1).map_or(0, |before| figure.changes[before].at);
        let _ = write!(
            svg,
            "<line class=\"mark {}\" x1=\"{at:.1}\" y1=\"0\" x2=\"{at:.1}\" y2=\"{HEIGHT}\"><title>{}</title></line>",
            verdict(figure, change),
            escape(&named(&group.runs[figure.points[change.at].run])),
        );
        for (from, to, level) in [(before, change.at - 1, change.before), (change.at, next, change.after)] {
            let (from, to, level) = (place(from), place(to), y(level));
            let _ = write!(
                svg,
                "<line class=\"level\" x1=\"{from:.1}\" y1=\"{level:.1}\" x2=\"{to:.1}\" y2=\"{level:.1}\"/>"
            );
        }
    }
    let values: Vec<String> = (0..figure.points.len())
        .map(|at| format!("{:.1},{:.1}", place(at), y(figure.points[at].value)))
        .collect();
    let _ = write!(svg, "<polyline class=\"line\" points=\"{}\"/>", values.join(" "));
    for (at, point) in figure.points.iter().enumerate() {
        let title = format!("{}: {} {}", named(&group.runs[point.run]), digits(point.value), figure.unit);
        let _ = write!(
            svg,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.2\"><title>{}</title></circle>",
            place(at),
            y(point.value),
            escape(&title)
        );
    }
    svg + "</svg>"
}
