//! `parvum compare`: the laboratory's main job.

use parvum_lab::{CompareOptions, LabError};

/// Compares what is installed, prints the table, and says where the report is.
pub fn run(options: &CompareOptions) -> Result<(), LabError> {
    let report = parvum_lab::compare(options)?;
    print!("{}", report.table);
    println!("\nReport: {}", report.folder.join("report.html").display());
    Ok(())
}
