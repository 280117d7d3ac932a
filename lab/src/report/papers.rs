//! What the papers found, beside this session: the tables and figures that the suite runs again.

use super::exhibit::drawing;
use super::markup::{escape, word_table};
use crate::catalogue::{Exhibit, Judged, Verdict, bounds, judge, of_suite, today};
use crate::stats::summary::Row;
use std::fmt::Write;

/// The entry of the contents, where there is such a section.
pub fn link(suite: &str, rows: &[Row], over_hosts: bool) -> &'static str {
    if lines(suite, rows, over_hosts).is_empty() { "" } else { "<a href=\"#claims\">Does it still hold?</a>" }
}

/// A line for each claim of which this session, on one host or over several, has a value.
pub fn claims(html: &mut String, suite: &str, rows: &[Row], over_hosts: bool) {
    let lines = lines(suite, rows, over_hosts);
    if lines.is_empty() {
        return;
    }
    html.push_str(
        "<h2 id=\"claims\">What the papers found, and whether it still holds</h2>\
         <p>What the papers say of their tables and figures, beside this session. A claim <em>still holds</em> where the whole interval lies where the paper puts it, \
         and is <em>unclear</em> where a part of it does; the interval is that of what each launch says as a whole. <code>docs/project/papers.md</code> has all tables and figures.</p>",
    );
    html.push_str(&word_table(&["paper says", "then", "holds", "system", "today", ""], &lines));
    for (paper, exhibit) in of_suite(suite) {
        // Today's curves alone stand above.
        if exhibit.curves.as_ref().is_some_and(|curves| curves.then.is_some()) {
            html.push_str(&drawing(paper, exhibit, rows));
        }
    }
}

fn lines(suite: &str, rows: &[Row], over_hosts: bool) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for (paper, exhibit) in of_suite(suite) {
        let mut own = claims_of(exhibit, rows, over_hosts);
        if !own.is_empty() {
            let mut head = String::new();
            let _ = write!(
                head,
                "{} {}, {}: {}",
                paper.number,
                escape(&paper.authors),
                exhibit.name(),
                escape(&exhibit.caption)
            );
            lines.push(vec!["!head".into(), head]);
            lines.append(&mut own);
        }
    }
    lines
}

/// A line for each claim of an exhibit of which there is a value.
pub(crate) fn claims_of(exhibit: &Exhibit, rows: &[Row], over_hosts: bool) -> Vec<Vec<String>> {
    let mut lines: Vec<Vec<String>> = Vec::new();
    for claim in &exhibit.claims {
        let claim = &*claim.asked_of(over_hosts);
        let found = judge(claim, rows);
        for Judged { by, measured, verdict, .. } in found.into_iter().filter(|j| j.verdict != Verdict::NoData)
        {
            let class = match verdict {
                Verdict::Holds => "reached",
                Verdict::No => "missed",
                _ => "nodata",
            };
            lines.push(vec![
                escape(&claim.says),
                escape(&claim.paper),
                bounds(claim),
                escape(by),
                escape(&today(claim, measured)),
                format!("<span class=\"{class}\">{}</span>", verdict.word()),
            ]);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::tests::row;
    use crate::systems::system::{Encoding, Family, System};

    #[test]
    fn claim_is_shown_only_if_it_has_value() {
        let pvm = System::new(Family::Pvm, "direct", Encoding::Raw);
        let ours = System::new(Family::Parvum, "shm", Encoding::Raw);
        let rows = [
            row(&pvm, "ring", "half round trip", 8, &[12.0; 6]),
            row(&ours, "ring", "half round trip", 8, &[0.5; 6]),
        ];
        let mut html = String::new();
        claims(&mut html, "main", &rows, false);
        assert!(html.contains("PVM 3.4.6 over Parvum") && html.contains("24.0 (24.0 to 24.0)"), "{html}");
        assert!(html.contains("still holds") && !html.contains("no data"), "{html}");
        assert!(!html.contains("table 6"), "an exhibit without values is left out");
        let mut html = String::new();
        claims(&mut html, "main", &[], false);
        assert!(
            html.is_empty() && link("main", &[], false).is_empty() && !link("main", &rows, false).is_empty()
        );
    }
}
