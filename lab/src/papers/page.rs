//! The page of a run of all papers: for each table and figure what the paper found, and whether it still holds.

use super::settings::Settings;
use super::{Outcome, PENDING};
use crate::catalogue::{Exhibit, PAPERS, Paper, Verdict, judge};
use crate::error::LabError;
use crate::report::markup::{escape, word_table};
use crate::report::{self, exhibit::drawing, papers::claims_of};
use crate::run::record::short_name;
use crate::stats::summary::Row;
use std::fmt::Write;
use std::path::Path;

/// How the claims of an exhibit came out, each for each system that it is asked of.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Count {
    holds: usize,
    no: usize,
    unclear: usize,
    no_data: usize,
    /// Of these without a value here, those that a network has one of.
    elsewhere: usize,
}

impl Count {
    fn of(exhibit: &Exhibit, rows: &[Row]) -> Count {
        let mut count = Count::default();
        for judged in exhibit.claims.iter().flat_map(|claim| judge(claim, rows)) {
            count.count(judged.verdict);
        }
        count
    }

    pub(super) fn add(&mut self, other: Count) {
        self.holds += other.holds;
        self.no += other.no;
        self.unclear += other.unclear;
        self.no_data += other.no_data;
        self.elsewhere += other.elsewhere;
    }

    /// One of those without a value here has one over a network.
    pub(super) fn found_elsewhere(&mut self) {
        self.no_data -= 1;
        self.elsewhere += 1;
    }

    /// Counts one more.
    pub(super) fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Holds => self.holds += 1,
            Verdict::No => self.no += 1,
            Verdict::Unclear => self.unclear += 1,
            Verdict::NoData => self.no_data += 1,
            Verdict::Beside => {}
        }
    }

    /// Such as `3 still hold, 1 no longer`; what there is none of is not said.
    pub(super) fn words(&self) -> String {
        let holds = if self.holds == 1 { "still holds" } else { "still hold" };
        let all = [
            (self.holds, holds),
            (self.no, "no longer"),
            (self.unclear, "unclear"),
            (self.elsewhere, "over a network, below"),
            (self.no_data, "without data"),
        ];
        let some: Vec<String> = all
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        if some.is_empty() { "values stand side by side".to_owned() } else { some.join(", ") }
    }
}

/// What came of an exhibit: the count, or why there is none.
pub(super) fn outcome(exhibit: &Exhibit, outcomes: &[Outcome]) -> Result<Count, String> {
    let Some(again) = &exhibit.again else {
        return Err(format!("not run: {}", exhibit.why_not.as_deref().unwrap_or_default()));
    };
    match outcomes.iter().find(|outcome| outcome.suite == again.suite).map(|outcome| &outcome.rows) {
        Some(Ok(rows)) => Ok(Count::of(exhibit, rows)),
        Some(Err(why)) => Err(why.clone()),
        None => Err("not of this run".to_owned()),
    }
}

pub(super) fn all() -> impl Iterator<Item = (&'static Paper, &'static Exhibit)> {
    PAPERS.iter().flat_map(|paper| paper.exhibits.iter().map(move |exhibit| (paper, exhibit)))
}

/// What a terminal shows.
pub fn text(outcomes: &[Outcome]) -> String {
    let (mut text, mut whole) = (String::new(), Count::default());
    for (paper, exhibit) in all().filter(|(_, exhibit)| exhibit.again.is_some()) {
        let words = match outcome(exhibit, outcomes) {
            Ok(count) => {
                whole.add(count);
                count.words()
            }
            Err(why) => why,
        };
        let _ = writeln!(text, "{} {:<9}  {words}", paper.number, exhibit.name());
    }
    let _ = writeln!(text, "\nOf what the papers claim, each for each system: {}.", whole.words());
    text
}

/// Writes the page; the one before stays until it is whole.
pub fn write(folder: &Path, settings: &Settings, outcomes: &[Outcome]) -> Result<(), LabError> {
    let (file, new) = (folder.join("report.html"), folder.join("report.html.new"));
    std::fs::write(&new, page(settings, outcomes)).map_err(LabError::file("write", &new))?;
    std::fs::rename(&new, &file).map_err(LabError::file("write", file))
}

fn page(settings: &Settings, outcomes: &[Outcome]) -> String {
    let mut whole = Count::default();
    for count in all().filter_map(|(_, exhibit)| outcome(exhibit, outcomes).ok()) {
        whole.add(count);
    }
    let known = |name: &str| {
        let found = settings.machine.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| escape(value)).unwrap_or_default()
    };
    let mut html = format!(
        "<h1>Five papers on message passing, run again</h1><p class=\"soft\">begun {} &middot; {} &middot; {} &middot; {}</p>\
         <p><strong>Of what the papers claim, each for each system: {}.</strong> A claim <em>still holds</em> where the whole interval of today's value lies where \
         the paper puts it, holds <em>no longer</em> where none of it does, and is <em>unclear</em> where a part does: more launches (<code>--full</code>) may tell.</p>",
        escape(&settings.begun),
        known("processor"),
        known("cores"),
        escape(&settings.extent),
        whole.words()
    );
    if outcomes.iter().any(|outcome| outcome.rows.as_ref().is_err_and(|why| why == PENDING)) {
        html.push_str("<p class=\"missed\">This run has not come to its end.</p>");
    }
    html.push_str("<nav>");
    for paper in PAPERS.iter() {
        let _ = write!(html, "<a href=\"#p{0}\">{0} {1}</a>", paper.number, escape(&paper.authors));
    }
    html.push_str("<a href=\"#suites\">Suites and raw data</a></nav>");
    for paper in PAPERS.iter() {
        of_paper(&mut html, paper, outcomes);
    }
    suites(&mut html, settings, outcomes);
    let name = short_name(&serde_json::to_string(settings).unwrap_or_default());
    report::sheet("the five papers", &html, &name)
}

/// A line for each exhibit, and below it each claim.
fn of_paper(html: &mut String, paper: &Paper, outcomes: &[Outcome]) {
    let _ = write!(
        html,
        "<h2 id=\"p{0}\">{0} {1}: {2}</h2><p class=\"note\">{3}</p>",
        paper.number,
        escape(&paper.authors),
        escape(&paper.title),
        escape(&paper.published)
    );
    let lines: Vec<Vec<String>> =
        paper.exhibits.iter().map(|exhibit| line(paper, exhibit, outcomes)).collect();
    let headings = ["", "what it shows, and what the paper found", "does it still hold?", "data"];
    let _ = write!(html, "<div class=\"exhibits\">{}</div>", word_table(&headings, &lines));
    for exhibit in &paper.exhibits {
        let (claims, drawing) = (claims(exhibit, outcomes), curves(paper, exhibit, outcomes));
        if claims.is_empty() && drawing.is_empty() {
            continue;
        }
        let _ = write!(
            html,
            "<h3 id=\"{}\">{}: {}</h3>",
            anchor(paper, exhibit),
            exhibit.name(),
            escape(&exhibit.caption)
        );
        if let Some(again) = exhibit.again.as_ref().filter(|again| !again.differs.is_empty()) {
            let _ = write!(html, "<p class=\"note\">{}</p>", escape(&again.differs));
        }
        html.push_str(&drawing);
        if !claims.is_empty() {
            html.push_str(&word_table(&["paper says", "then", "holds", "system", "today", ""], &claims));
        }
    }
}

/// What was measured of it.
pub(super) fn rows_of<'a>(exhibit: &Exhibit, outcomes: &'a [Outcome]) -> Option<&'a [Row]> {
    let again = exhibit.again.as_ref()?;
    outcomes.iter().find(|outcome| outcome.suite == again.suite)?.rows.as_deref().ok()
}

fn curves(paper: &Paper, exhibit: &Exhibit, outcomes: &[Outcome]) -> String {
    rows_of(exhibit, outcomes).map(|rows| drawing(paper, exhibit, rows)).unwrap_or_default()
}

/// A line for each claim of which there is a value.
fn claims(exhibit: &Exhibit, outcomes: &[Outcome]) -> Vec<Vec<String>> {
    rows_of(exhibit, outcomes).map(|rows| claims_of(exhibit, rows, false)).unwrap_or_default()
}

fn line(paper: &Paper, exhibit: &Exhibit, outcomes: &[Outcome]) -> Vec<String> {
    let found: Vec<String> = exhibit
        .claims
        .iter()
        .map(|claim| {
            if claim.paper.is_empty() {
                escape(&claim.says)
            } else {
                format!("{}: {}", escape(&claim.says), escape(&claim.paper))
            }
        })
        .collect();
    let shows = format!("<strong>{}</strong><br>{}", escape(&exhibit.caption), found.join("; "));
    let outcome = outcome(exhibit, outcomes);
    let (name, data) = match (&outcome, &exhibit.again) {
        (Ok(_), Some(again)) => (
            if claims(exhibit, outcomes).is_empty() && curves(paper, exhibit, outcomes).is_empty() {
                exhibit.name()
            } else {
                format!("<a href=\"#{}\">{}</a>", anchor(paper, exhibit), exhibit.name())
            },
            format!("<a href=\"{0}/report.html\">{0}</a>, <a href=\"{0}/raw.jsonl\">raw</a>", again.suite),
        ),
        _ => (exhibit.name(), String::new()),
    };
    let holds = match outcome {
        Ok(count) => {
            let class = match count {
                Count { no: 0, unclear: 0, holds: 1.., .. } => "reached",
                Count { no: 1.., .. } => "missed",
                _ => "nodata",
            };
            format!("<span class=\"{class}\">{}</span>", count.words())
        }
        Err(why) => format!("<span class=\"nodata\">{}</span>", escape(&why)),
    };
    vec![name, shows, holds, data]
}

fn anchor(paper: &Paper, exhibit: &Exhibit) -> String {
    format!("p{}{}{}", paper.number, exhibit.kind.name(), exhibit.number)
}

fn suites(html: &mut String, settings: &Settings, outcomes: &[Outcome]) {
    html.push_str("<h2 id=\"suites\">Suites and raw data</h2>");
    let lines: Vec<Vec<String>> = outcomes
        .iter()
        .map(|outcome| match &outcome.rows {
            Ok(rows) => vec![
                format!("<a href=\"{0}/report.html\">{0}</a>", outcome.suite),
                format!("{} values", rows.len())
                    + &outcome.notes.iter().map(|note| format!("<br>{}", escape(note))).collect::<String>(),
                format!(
                    "<a href=\"{0}/summary.json\">summary</a>, <a href=\"{0}/raw.jsonl\">raw samples</a>, <a href=\"{0}/manifest.json\">manifest</a>",
                    outcome.suite
                ),
            ],
            Err(why) => vec![outcome.suite.to_owned(), escape(why), String::new()],
        })
        .collect();
    html.push_str(&word_table(&["suite", "", "files"], &lines));
    let mut factors: Vec<Vec<String>> =
        settings.machine.iter().map(|(name, value)| vec![escape(name), escape(value)]).collect();
    factors.push(vec!["seed".into(), settings.seed.to_string()]);
    factors.push(vec!["seconds for all launches".into(), settings.budget_s.to_string()]);
    html.push_str(&word_table(&["factor", "value"], &factors));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::options::CompareOptions;
    use crate::stats::summary::tests::row;
    use crate::systems::peers::Own;
    use crate::systems::system::{Encoding, Family, System};

    fn outcomes() -> Vec<Outcome> {
        let pvm = System::new(Family::Pvm, "direct", Encoding::Raw);
        let ours = System::new(Family::Parvum, "shm", Encoding::Raw);
        let rows = vec![
            row(&pvm, "ring", "half round trip", 8, &[12.0; 6]),
            row(&ours, "ring", "half round trip", 8, &[0.5; 6]),
        ];
        vec![
            Outcome { suite: "main", rows: Ok(rows), notes: vec!["not compared: <LAM>: install it".into()] },
            Outcome { suite: "sockets", rows: Err("<nothing> worked".into()), notes: vec![] },
            Outcome::pending("npb"),
        ]
    }

    #[test]
    fn papers_page_has_line_per_exhibit_and_names_missing() {
        let settings = Settings::new(&CompareOptions::default(), 7, 60, &Own::default());
        let page = page(&settings, &outcomes());
        for (paper, exhibit) in all() {
            let caption = format!("<strong>{}</strong>", escape(&exhibit.caption));
            assert!(page.contains(&caption), "{} {}", paper.number, exhibit.name());
        }
        assert!(page.contains("has not come to its end") && page.contains(PENDING), "it is not at its end");
        assert!(page.contains("&lt;nothing&gt; worked") && !page.contains("<nothing>"));
        assert!(page.contains("not compared: &lt;LAM&gt;: install it"));
        assert!(page.contains("href=\"main/raw.jsonl\"") && !page.contains("href=\"npb/raw.jsonl\""));
        for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!("id=\"{link}\"")), "#{link} leads nowhere");
        }
    }

    #[test]
    fn papers_text_has_line_per_repeatable_exhibit() {
        let text = text(&outcomes());
        let again = all().filter(|(_, exhibit)| exhibit.again.is_some()).count();
        assert_eq!(text.lines().count(), again + 2, "{text}");
        assert!(text.contains("004 figure 5   not run yet"), "{text}");
        assert!(text.contains("000 figure 1   1 still holds"), "{text}");
    }

    #[test]
    fn counts_print_in_words() {
        let count = Count { holds: 3, no: 1, no_data: 2, ..Count::default() };
        assert_eq!(count.words(), "3 still hold, 1 no longer, 2 without data");
        assert_eq!(Count::default().words(), "values stand side by side");
    }
}
