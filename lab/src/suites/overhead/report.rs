//! The overhead suite's part of the report.

use super::{FFT_TASKS, INTERFACES, compilers, layers, spread};
use crate::papers::printed;
use crate::report::markup::{escape, table, word_table};
use crate::report::{figures, tables};
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use std::fmt::Write;

/// Table 4.
pub fn null_message(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    let _ = write!(
        html,
        "<h2 id=\"null\">Where the time of a null message goes</h2>\
         <p>The paper's Table 4, made by peeling. The same exchange of an empty message between two pinned threads is measured over the bare hardware, \
         then with each layer laid on it; a part is what its layer adds. The library and the interfaces are measured by the ring between two tasks. \
         <em>Measured</em> comes from launches of their own. Ours are nanoseconds of a round trip, the last three columns microseconds: {}.</p>",
        escape(printed::ISLAM)
    );
    let lines: Vec<Vec<String>> =
        layers::lines(&rows).into_iter().map(|line| line.iter().map(|cell| escape(cell)).collect()).collect();
    html.push_str(&table(&layers::headings(), &lines));
    let meanings: Vec<Vec<String>> =
        layers::Part::ALL.iter().map(|part| vec![escape(part.name()), escape(part.meaning())]).collect();
    html.push_str(&word_table(&["part", "what it stands for here"], &meanings));
    if let Some([awake, asleep]) = layers::wake_up(&rows) {
        let _ = write!(
            html,
            "<p>A receiver that is awake has a message after {} \u{b5}s; one that sleeps, and must be woken, after {} \u{b5}s. \
             A context switch of the paper's SPARCstation II took {} \u{b5}s.</p>",
            digits(awake),
            digits(asleep),
            digits(printed::CONTEXT_SWITCH)
        );
    }
}

/// Table 5.
pub fn compilers(html: &mut String, rows: &[Row]) {
    html.push_str(
        "<h2 id=\"compilers\">The engine by other compilers and options</h2>\
         <p>The paper's Table 5. The tasks of these launches load other builds of the engine's library and of PVM's; their own code stays the same. \
         Half round trips, and a transform on 2 tasks: of the shipped build in microseconds, of the others as multiples of it. \
         A figure is the lower quartile of the launches, for the machine's slower states come and go with the launch. \
         An asterisk marks what the signed-rank test finds different. A difference without an asterisk may be noise.</p>",
    );
    let lines: Vec<Vec<String>> = compilers::lines(&Rows(rows))
        .into_iter()
        .map(|line| line.iter().map(|cell| escape(cell)).collect())
        .collect();
    if lines.is_empty() {
        html.push_str("<p>Not measured: <code>./x variants</code> builds them.</p>");
    } else {
        html.push_str(&table(&compilers::HEADINGS, &lines));
    }
    let _ = write!(html, "<p>{}</p>", escape(&compilers::papers()));
}

/// Time and speed-up.
pub fn transforms(html: &mut String, rows: &[Row]) {
    figures::transforms_of(html, rows, &INTERFACES, &FFT_TASKS[1..]);
}

/// Table 8 as bars.
pub fn splits(html: &mut String, rows: &[Row]) {
    figures::splits_of(html, rows, &INTERFACES);
}

/// Tables 6 to 9.
pub fn papers(html: &mut String, rows: &[Row]) {
    tables::papers_of(html, rows, &INTERFACES);
}

/// Run times under outside load.
pub fn spread(html: &mut String, rows: &[Row]) {
    let lines: Vec<Vec<String>> = spread::lines(&Rows(rows))
        .into_iter()
        .map(|line| line.iter().map(|cell| escape(cell)).collect())
        .collect();
    html.push_str(
        "<h2 id=\"spread\">Spread of run times under outside load</h2>\
         <p>A hundred and fifty transforms of 2<sup>16</sup> points in a row on 2 tasks in each launch, timed as one, while another job of the same program computes on the same two \
         cores all the time; with gangs (<code>parvum run --gang</code>, both jobs) the jobs take turns as wholes. The paper, section 9: without gang \
         scheduling, under load, times varied by a factor of 2 to 3.</p>",
    );
    html.push_str(&table(&spread::HEADINGS, &lines));
}

/// All numbers.
pub fn numbers(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &INTERFACES, &INTERFACES);
}

#[cfg(test)]
mod tests {
    use super::super::{SUITE, transform};
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;

    #[test]
    fn page_is_complete_for_session() {
        let mut rows: Vec<Row> = INTERFACES.iter().flat_map(transform::tests::transforms).collect();
        rows.extend(layers::tests::layers(1.0));
        rows.extend(compilers::tests::builds());
        rows.extend(spread::tests::jobs());
        let page = page(&SUITE, &rows, &(SUITE.goals)(&rows), &manifest());
        for part in [
            "Parvum CMMD shm, task 0",
            "Time on 8 tasks",
            "Table 9",
            "with a rival, as gangs",
            "must be woken, after 9.00",
            "fat LTO, one unit",
            "task 3: computation",
        ] {
            assert!(page.contains(part), "{part} is missing");
        }
        assert!(!page.contains("NaN") && !page.contains("http"));
    }

    #[test]
    fn page_exists_for_empty_session() {
        assert!(page(&SUITE, &[], &(SUITE.goals)(&[]), &manifest()).contains("no data"));
    }
}
