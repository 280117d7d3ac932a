//! The laboratory by itself, while there is no `parvum compare`.

#![forbid(unsafe_code)]

use clap::Parser;
use parvum_lab::{CompareOptions, compare};
use std::process::ExitCode;

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: CompareOptions,
}

fn main() -> ExitCode {
    match compare(&Arguments::parse().options) {
        Ok(report) => {
            print!("{}", report.table);
            println!("\nReport: {}", report.folder.join("report.html").display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("compare: {error}");
            ExitCode::FAILURE
        }
    }
}
