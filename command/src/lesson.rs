//! `parvum lesson`: experiments of one minute, for people who learn or teach.

use crate::terminal::out;
use clap::Args;
use parvum_lab::{CompareOptions, lessons};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum lesson", "list the lessons"),
    ("parvum lesson rendezvous", "when does a send wait for its receiver?"),
]))]
pub struct LessonArgs {
    /// Run the lesson NAME; without NAME, list the lessons
    name: Option<String>,
    /// Write results into a dated folder in DIR
    #[arg(long, default_value = "results", value_name = "DIR")]
    out: PathBuf,
    /// Measure for S seconds in all
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    budget: Option<u64>,
}

/// Lists the lessons, or runs one.
pub fn lesson(args: &LessonArgs) -> Result<(), String> {
    let say = |text: String| out::line(text.trim_end()).map_err(|error| error.to_string());
    let Some(name) = &args.name else { return say(lessons::listed()) };
    let failed = |error: parvum_lab::LabError| format!("E-COMPARE: {error}");
    let lesson = lessons::find(name).map_err(failed)?;
    let options = CompareOptions {
        suite: lesson.suite.name.to_owned(),
        out: args.out.clone(),
        budget: args.budget,
        ..CompareOptions::default()
    };
    let report = parvum_lab::compare(&options).map_err(failed)?;
    say(format!("{}\nPage: {}", report.table, report.folder.join("report.html").display()))
}
