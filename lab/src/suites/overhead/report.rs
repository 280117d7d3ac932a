//! The overhead suite's part of the report.

use super::{FFT_TASKS, INTERFACES};
use crate::report::{figures, tables};
use crate::summary::Row;

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
    fn a_session_makes_a_whole_page() {
        let rows: Vec<Row> = INTERFACES.iter().flat_map(transform::tests::transforms).collect();
        let page = page(&SUITE, &rows, &(SUITE.goals)(&rows), &manifest());
        for part in ["Parvum CMMD shm, task 0", "Time on 8 tasks", "Table 9", "task 3: computation"] {
            assert!(page.contains(part), "{part} is missing");
        }
        assert!(!page.contains("NaN") && !page.contains("http"));
    }

    #[test]
    fn an_empty_session_still_makes_a_page() {
        assert!(page(&SUITE, &[], &(SUITE.goals)(&[]), &manifest()).contains("no data"));
    }
}
