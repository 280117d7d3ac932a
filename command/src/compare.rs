//! `parvum compare`: the laboratory's main job.

use parvum_lab::{CompareOptions, LabError};

/// What went wrong, with a code in front as all errors have.
pub fn with_code(error: &LabError) -> String {
    let text = error.to_string();
    if text.starts_with("E-") { text } else { format!("E-COMPARE: {text}") }
}

/// Compares what is installed, prints the table, and says where the report is.
pub fn run(options: &CompareOptions) -> Result<(), LabError> {
    let report = parvum_lab::compare(options)?;
    print!("{}", report.table);
    println!("\nReport: {}", report.folder.join("report.html").display());
    Ok(())
}
