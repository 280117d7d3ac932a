//! A run of all papers that is interrupted and goes on, with programs that measure nothing: nothing is lost, and nothing run twice.

use super::place::Place;
use parvum_lab::papers::{Papers, run};
use parvum_lab::{CompareOptions, LabError};
use std::path::{Path, PathBuf};

fn interrupted(result: Result<Papers, LabError>) -> PathBuf {
    match result.expect_err("it is interrupted") {
        LabError::CanGoOn { folder } => folder,
        other => panic!("{other}"),
    }
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).expect("it is there").lines().count()
}

#[test]
fn interrupted_run_resumes_without_lost_or_repeated_launch() {
    let place = Place::new("papers-resumed");
    place.stop_after(3);
    let folder = interrupted(run(&place.options()));
    let own = folder.join("sockets");
    // The signal may come when the next launch has begun.
    let first = place.started();
    assert!(first >= 3 && lines(&own.join("launches.jsonl")) == first);

    // The power went while a line was written.
    let raw = own.join("raw.jsonl");
    let whole = std::fs::read_to_string(&raw).expect("it is there");
    std::fs::write(&raw, format!("{whole}{{\"launch\":{first},\"progr")).expect("written");
    let again = CompareOptions { resume: Some(folder.clone()), ..place.options() };
    place.stop_after(4);
    assert_eq!(interrupted(run(&again)), folder);
    let second = place.started();
    assert!(second >= first + 4 && lines(&own.join("launches.jsonl")) == second);
    assert!(std::fs::read_to_string(&raw).expect("it is there").starts_with(&whole));

    // Only what differs is refused; nothing is run for it.
    for (other, said) in [
        (CompareOptions { seed: Some(8), ..again.clone() }, "--seed was 7, now 8"),
        (CompareOptions { full: true, ..again.clone() }, "the extent was quick, now full"),
        (CompareOptions { budget: Some(61), ..again.clone() }, "--budget was 60, now 61"),
        (CompareOptions { systems: "tmk".into(), ..again.clone() }, "--systems was sockets, now tmk"),
    ] {
        let why = run(&other).expect_err("refused").to_string();
        assert!(why.contains(said), "{why}");
    }
    assert_eq!(place.started(), second);

    // A folder alone is enough.
    let bare = CompareOptions { systems: String::new(), seed: None, budget: None, ..again };
    let done = run(&bare).expect("it comes to its end");
    assert_eq!(done.folder, folder);
    assert!(done.text.contains("004 table 1 "), "{}", done.text);
    let page = std::fs::read_to_string(folder.join("report.html")).expect("the page");
    assert!(page.contains("sockets/raw.jsonl") && !page.contains("has not come to its end"));
    let manifest = std::fs::read_to_string(own.join("manifest.json")).expect("the manifest");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("it is JSON");
    let launches = manifest["launches"].as_array().expect("launches");
    assert_eq!(launches.len(), place.started(), "each launch is there, and once");
    assert!(launches.iter().enumerate().all(|(at, launch)| launch["launch"] == at));
    assert!(!own.join("launches.jsonl").exists());

    // What is done is not done again.
    run(&bare).expect("there is nothing to do");
    assert_eq!(launches.len(), place.started());
}

#[test]
fn resume_refuses_folder_without_run() {
    let place = Place::new("papers-refused");
    for (folder, said) in [("nowhere", "there is no such folder"), ("apps", "there is no papers.json in it")]
    {
        let options = CompareOptions { resume: Some(place.0.join(folder)), ..place.options() };
        let why = run(&options).expect_err("refused").to_string();
        assert!(why.contains(said) && why.contains(folder), "{why}");
    }
    let why = run(&CompareOptions { systems: "lam".into(), ..place.options() }).expect_err("refused");
    assert!(why.to_string().contains("\"lam\""), "{why}");
    assert_eq!(place.started(), 0);
    assert!(!place.0.join("results").exists(), "what is refused leaves no folder");
}
