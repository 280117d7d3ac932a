//! `parvum compare`: the laboratory's main job.

use crate::out;
use parvum_lab::{CompareOptions, LabError};

/// What went wrong, with a code in front as all errors have.
fn with_code(error: &LabError) -> String {
    let text = error.to_string();
    if text.starts_with("E-") { text } else { format!("E-COMPARE: {text}") }
}

/// Compares what is installed, prints the table, and says where the report is.
pub fn run(options: &CompareOptions) -> Result<(), String> {
    let report = parvum_lab::compare(options).map_err(|error| with_code(&error))?;
    let page = report.folder.join("report.html");
    out::line(format!("{}\nReport: {}", report.table, page.display())).map_err(|error| error.to_string())
}
