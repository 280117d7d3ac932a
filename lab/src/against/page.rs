//! Two runs on one page: each change as a dot on a line of factors, the largest first, and below them the values.

use super::words::name;
use super::{Against, Change};
use crate::error::LabError;
use crate::report::markup::{escape, figure, word_table};
use crate::report::sheet;
use crate::stats::goals::digits;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// So many are drawn; the tables have all.
const DRAWN: usize = 40;

const WIDTH: f64 = 1030.0;
/// Where the axis begins; names stand left of it.
const LEFT: f64 = 470.0;
const RIGHT: f64 = 60.0;
const LINE: f64 = 20.0;
const HEAD: f64 = 44.0;

impl Against {
    /// Writes the page into the folder of results, named by both runs. Returns where.
    pub fn write(&self, into: &Path) -> Result<PathBuf, LabError> {
        let last = |folder: &Path| {
            let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        std::fs::create_dir_all(into).map_err(LabError::file("make", into))?;
        let (old, new) = (last(&self.old.folder), last(&self.new.folder));
        let file = into.join(format!("against-{old}-{new}.html"));
        std::fs::write(&file, self.page()).map_err(LabError::file("write", &file))?;
        Ok(file)
    }

    /// The page.
    pub fn page(&self) -> String {
        let (better, worse): (Vec<&Change>, Vec<&Change>) =
            self.changes.iter().partition(|change| change.better > 1.0);
        let suite = escape(&self.new.manifest.suite);
        let mut html = format!("<h1>{}</h1>", self.headline(better.len(), worse.len()));
        let [old, new] = [&self.old, &self.new].map(|run| {
            let (date, extent) = (run.manifest.factor("date"), &run.manifest.extent);
            format!("{} ({extent})", escape(if date.is_empty() { "undated" } else { &date }))
        });
        let _ = write!(html, "<p class=\"soft\">Suite {suite} &middot; {old}, then {new}</p>");
        let _ = write!(html, "<p>{} {}</p>", self.machine(), escape(&self.grounds().join(" ")));
        figure(&mut html, &drawing(&self.changes), &caption(self.changes.len()));
        for (title, anchor, changes) in [("Better", "better", &better), ("Worse", "worse", &worse)] {
            if !changes.is_empty() {
                let _ = write!(html, "<h2 id=\"{anchor}\">{title}: {}</h2>", changes.len());
                let lines: Vec<Vec<String>> = changes.iter().map(|change| line(change)).collect();
                html.push_str(&word_table(&["what", "by", "95 %", "was", "is"], &lines));
            }
        }
        html.push_str("<h2 id=\"runs\">The two runs</h2>");
        let folders = [("then", &self.old), ("now", &self.new)];
        let folders = folders.map(|(word, run)| vec![word.to_owned(), linked(&run.folder)]);
        html.push_str(&word_table(&["", "folder"], &folders));
        if !self.differences.is_empty() {
            html.push_str("<p>In what they differ besides what they measured:</p>");
            let lines: Vec<Vec<String>> =
                self.differences.iter().map(|difference| vec![escape(difference)]).collect();
            html.push_str(&word_table(&["what: then, and now"], &lines));
        }
        sheet("what changed", &html, &format!("{old} {new}"))
    }

    fn headline(&self, better: usize, worse: usize) -> String {
        match (better, worse) {
            (0, 0) => format!("Of {} values none changed beyond noise", self.tested),
            _ => format!("Of {} values {better} are better and {worse} worse", self.tested),
        }
    }
}

/// A run's folder, with its own report where there is one.
fn linked(folder: &Path) -> String {
    let (page, shown) = (folder.join("report.html"), escape(&folder.display().to_string()));
    match page.canonicalize() {
        Ok(page) => format!("<a href=\"file://{}\">{shown}</a>", escape(&page.display().to_string())),
        Err(_) => shown,
    }
}

fn caption(changes: usize) -> String {
    let which =
        if changes > DRAWN { format!(" The {DRAWN} largest of {changes} changes.") } else { String::new() };
    format!(
        "How many times better (right) or worse (left) each value is now, on a logarithmic scale; the line is what both 95 % intervals allow.{which}"
    )
}

fn line(change: &Change) -> Vec<String> {
    let (old, new) = (&change.old, &change.new);
    let (factor, [low, high]) = change.size();
    let value = |median: f64, low: f64, high: f64| {
        format!(
            "{} {} <span class=\"range\">{} to {}</span>",
            digits(median),
            escape(&new.unit),
            digits(low),
            digits(high)
        )
    };
    let class = if change.better > 1.0 { "reached" } else { "missed" };
    vec![
        escape(&name(new)),
        format!("<span class=\"{class}\">{}x</span>", digits(factor)),
        format!("{} to {}", digits(low), digits(high)),
        value(old.median, old.low, old.high),
        value(new.median, new.low, new.high),
    ]
}

/// A dot and a line for each of the largest changes.
fn drawing(changes: &[Change]) -> String {
    let drawn = &changes[..changes.len().min(DRAWN)];
    let ends = drawn.iter().flat_map(|change| [change.better, change.interval[0], change.interval[1]]);
    let reach =
        ends.filter(|end| end.is_finite() && *end > 0.0).map(|end| end.ln().abs()).fold(0.0, f64::max);
    if drawn.is_empty() {
        return String::new();
    }
    // At least from half to twice, so that a small change looks small.
    let reach = reach.max(2f64.ln()) * 1.05;
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    let x = |factor: f64| middle + factor.ln().clamp(-reach, reach) / reach * (WIDTH - RIGHT - middle);
    let height = HEAD + LINE * drawn.len() as f64 + 10.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"What changed, and by which factor\">\
         <text class=\"title\" x=\"0\" y=\"16\">What changed most</text>\
         <text class=\"soft\" text-anchor=\"middle\" x=\"{}\" y=\"16\">worse</text>\
         <text class=\"soft\" text-anchor=\"middle\" x=\"{}\" y=\"16\">better</text>",
        (LEFT + middle) / 2.0,
        (WIDTH - RIGHT + middle) / 2.0
    );
    for factor in ticks(reach) {
        let (at, class) = (x(factor), if factor == 1.0 { "one" } else { "grid" });
        let words = format!("{}x", digits(factor.max(1.0 / factor)));
        let _ = write!(
            svg,
            "<line class=\"{class}\" x1=\"{at:.1}\" y1=\"{HEAD}\" x2=\"{at:.1}\" y2=\"{height}\"/>\
             <text class=\"soft\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{}\">{}</text>",
            HEAD - 8.0,
            if factor == 1.0 { "the same".to_owned() } else { words }
        );
    }
    for (at, change) in drawn.iter().enumerate() {
        row(&mut svg, change, HEAD + LINE * (at as f64 + 0.75), &x);
    }
    svg + "</svg>"
}

fn row(svg: &mut String, change: &Change, y: f64, x: &dyn Fn(f64) -> f64) {
    let (new, color) = (&change.new, if change.better > 1.0 { "--good" } else { "--bad" });
    let (factor, _) = change.size();
    let word = if change.better > 1.0 { "better" } else { "worse" };
    let title = format!(
        "{}: {} to {} {}, {}x {word}",
        name(new),
        digits(change.old.median),
        digits(new.median),
        new.unit,
        digits(factor)
    );
    let _ = write!(
        svg,
        "<g style=\"--c: var({color})\"><title>{}</title><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
         <line class=\"error\" x1=\"{:.1}\" y1=\"{y1:.1}\" x2=\"{:.1}\" y2=\"{y1:.1}\"/><circle class=\"dot\" cx=\"{:.1}\" cy=\"{y1:.1}\" r=\"4\"/></g>",
        escape(&title),
        LEFT - 14.0,
        y,
        escape(&short(&name(new))),
        x(change.interval[0]),
        x(change.interval[1]),
        x(change.better),
        y1 = y - 4.0
    );
}

/// What fits beside the axis; hovering shows the whole.
fn short(name: &str) -> String {
    const MOST: usize = 66;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    let begin: String = name.chars().take(MOST - 1).collect();
    format!("{begin}\u{2026}")
}

/// Factors on the axis, both ways.
fn ticks(reach: f64) -> Vec<f64> {
    let steps: &[f64] = match reach.exp() {
        most if most < 2.5 => &[1.25, 1.5, 2.0],
        most if most < 6.0 => &[2.0, 4.0],
        most if most < 40.0 => &[2.0, 5.0, 10.0, 20.0],
        _ => &[10.0, 100.0, 1000.0, 10_000.0],
    };
    let steps = steps.iter().copied().filter(|step| step.ln() <= reach);
    steps.flat_map(|step| [1.0 / step, step]).chain([1.0]).collect()
}
