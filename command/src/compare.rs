//! `parvum compare`: the laboratory's main job.

use crate::terminal::out;
use parvum_lab::artifacts::{self, bundle};
use parvum_lab::history::{History, bisect, commits, past};
use parvum_lab::run::options::ListForm;
use parvum_lab::{CompareOptions, LabError, against, catalogue, papers, published};
use std::path::Path;
use std::time::Instant;

/// What went wrong, with a code in front as all errors have.
fn with_code(error: &LabError) -> String {
    let text = error.to_string();
    if text.starts_with("E-") { text } else { format!("E-COMPARE: {text}") }
}

/// What changed between two runs, and where the page is that shows it.
fn changes(old: &Path, new: &Path, results: &Path) -> Result<String, String> {
    let found = against::folders(old, new).map_err(|error| with_code(&error))?;
    let page = found.write(results).map_err(|error| with_code(&error))?;
    Ok(format!("{}\nPage: {}", found.text(), page.display()))
}

/// Writes the bundle that the user asked for.
fn pack(options: &CompareOptions, report: &parvum_lab::Report, began: Instant) -> Result<(), String> {
    let Some(target) = &options.bundle else { return Ok(()) };
    let seconds = began.elapsed().as_secs_f64();
    let bundle = artifacts::of_run(options, &report.folder, &report.table, seconds);
    bundle.and_then(|bundle| bundle::write(&bundle, target)).map_err(|error| with_code(&error))
}

/// Lists the papers' figures, or runs them again, or compares what is installed, prints the table, and says where the report is.
pub fn run(options: &CompareOptions) -> Result<(), String> {
    let say = |text: String| out::line(text.trim_end()).map_err(|error| error.to_string());
    if let Some(form) = options.list {
        return say(match form {
            ListForm::Text => catalogue::list(),
            ListForm::Markdown => catalogue::markdown(),
        });
    }
    if let Some(target) = &options.bundle {
        // Before minutes are spent on a run.
        bundle::check(target).map_err(|error| with_code(&error))?;
    }
    let began = Instant::now();
    if !options.program.is_empty() || options.python.is_some() {
        let report = parvum_lab::program::compare(options).map_err(|error| with_code(&error))?;
        pack(options, &report, began)?;
        say(report.table)?;
        return if options.json {
            Ok(())
        } else {
            say(format!("Report: {}", report.folder.join("report.html").display()))
        };
    }
    if let Some(folder) = &options.history {
        let folder = folder.as_ref().unwrap_or(&options.out);
        let repository = commits::repository();
        let history = History::read(folder, &options.suite, repository.as_deref());
        let history = history.map_err(|error| with_code(&error))?;
        if options.json {
            return say(history.json());
        }
        let page = history.write().map_err(|error| with_code(&error))?;
        return say(format!("{}\nPage: {}", history.text(), page.display()));
    }
    if !options.bisect.is_empty() {
        return say(bisect::bisect(options).map_err(|error| with_code(&error))?);
    }
    if !options.commits.is_empty() {
        return say(past::past(options).map_err(|error| with_code(&error))?);
    }
    if options.suites {
        return say(parvum_lab::suites::listed());
    }
    if let Some(run) = &options.publish {
        return say(published::publish(run).map_err(|error| with_code(&error))?);
    }
    if options.papers {
        let found = papers::run(options).map_err(|error| with_code(&error))?;
        return say(format!("{}\nReport: {}", found.text, found.folder.join("report.html").display()));
    }
    if let Some(paper) = &options.paper {
        let found = catalogue::again(options, paper).map_err(|error| with_code(&error))?;
        let pages =
            found.folders.iter().map(|folder| format!("Report: {}\n", folder.join("report.html").display()));
        return say(format!("{}{}", found.text, pages.collect::<String>()));
    }
    if let [old, new] = &options.against[..] {
        return say(changes(old, new, &options.out)?);
    }
    // Before minutes are spent on a run.
    if let Some(old) = options.against.first() {
        against::can_be_held_against(old, &options.suite).map_err(|error| with_code(&error))?;
    }
    let report = parvum_lab::compare(options).map_err(|error| with_code(&error))?;
    pack(options, &report, began)?;
    if options.json {
        return say(report.json());
    }
    let page = report.folder.join("report.html");
    say(format!("{}\nReport: {}", report.table, page.display()))?;
    if options.suite == "choose" {
        say("More: parvum compare --suites".into())?;
    }
    match options.against.first() {
        Some(old) => {
            let found = changes(old, &report.folder, &options.out)?;
            say(format!("\n{found}"))
        }
        None => Ok(()),
    }
}
