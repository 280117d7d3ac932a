//! Histories of folders with made figures.

use super::commits::tests::repository;
use super::*;
use crate::run::comparison::Scratch;
use crate::run::record::FORMAT;
use parvum_seed::Random;
use serde_json::{Value, json};

/// A run of the suite main in a folder, with these figures: system, metric, unit, value.
fn write_run(folder: &Path, date: &str, commit: Option<&str>, figures: &[(&str, &str, &str, f64)]) {
    fs::create_dir_all(folder).expect("made");
    let manifest = json!({
        "format": FORMAT, "suite": "main", "extent": "quick", "systems": [], "commit": commit,
        "factors": { "date": date, "processor": "Fast(R) CPU 9", "cores": "2 processors", "kernel": "Linux 6.1" },
    });
    let rows: Vec<Value> = figures
        .iter()
        .map(|(system, metric, unit, value)| {
            json!({
                "program": "ring", "system": system, "route": "", "encoding": "", "tasks": 2, "size": 8, "metric": metric,
                "unit": unit, "median": value, "low": value, "high": value, "samples": 9,
            })
        })
        .collect();
    fs::write(folder.join("manifest.json"), manifest.to_string()).expect("written");
    fs::write(folder.join("summary.json"), json!(rows).to_string()).expect("written");
}

/// A run of the suite main with a time of the ring for each of these: system, route, encoding, size.
pub(crate) fn write_row(folder: &Path, rows: &[(&str, &str, &str, u64)]) {
    write_run(folder, "2026-11-01 10:00:00", None, &[]);
    let rows: Vec<Value> = rows
        .iter()
        .map(|(system, route, encoding, size)| {
            json!({
                "program": "ring", "system": system, "route": route, "encoding": encoding, "tasks": 2, "size": size,
                "metric": TIME, "unit": "us", "median": 1.0, "low": 1.0, "high": 1.0, "samples": 9,
            })
        })
        .collect();
    fs::write(folder.join("summary.json"), json!(rows).to_string()).expect("written");
}

const TIME: &str = "half round trip";
const RATE: &str = "message rate";

/// Twenty runs, one for each commit: Parvum's time grows by a quarter with the twelfth, its rate doubles with the eighth.
fn twenty(commits: &[String]) -> Scratch {
    let scratch = Scratch::create().expect("a folder");
    let mut random = Random::new(3);
    for (number, commit) in commits.iter().enumerate() {
        let mut noise = |value: f64| value * (1.0 + 0.02 * random.fraction());
        let figures = [
            ("Parvum", TIME, "us", noise(if number < 12 { 1.0 } else { 1.25 })),
            ("Parvum", RATE, "M/s", noise(if number < 8 { 2.0 } else { 4.0 })),
            ("MPICH", TIME, "us", noise(3.0)),
        ];
        // Later commits were measured first, so that dates alone give another order.
        let date = format!("2026-11-{:02} 10:00:00", 28 - number);
        write_run(&scratch.path().join(format!("run-{number:02}")), &date, Some(commit), &figures);
    }
    scratch
}

fn subjects() -> Vec<String> {
    (0..20).map(|number| format!("Step {number}")).collect()
}

#[test]
fn history_names_commit_of_each_change_and_worst_figure_first() {
    let Some((root, commits)) = repository(&subjects().iter().map(String::as_str).collect::<Vec<_>>()) else {
        return;
    };
    let runs = twenty(&commits);
    let history = History::read(runs.path(), ALL, Some(root.path())).expect("a history");
    let [group] = &history.groups[..] else { panic!("{:?}", history.groups) };
    let names: Vec<&str> = group.figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Parvum, ring, size 8, 2 tasks: half round trip",
            "Parvum, ring, size 8, 2 tasks: message rate",
            "MPICH, ring, size 8, 2 tasks: half round trip"
        ]
    );
    let text = history.text();
    assert!(text.starts_with("Suite main (quick), 20 runs on Fast 9, 2 processors, Linux 6.1\n"), "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(", ring,")).collect();
    for (line, (size, commit)) in lines.iter().zip([("% worse", &commits[12]), ("% better", &commits[8])]) {
        assert!(line.contains(size) && line.contains(&commit[..9]) && line.contains(" 20 "), "{line}");
    }
    assert!(lines[0].contains("  +2") && lines[0].contains("▁") && lines[0].contains('█'), "{text}");
    assert!(lines[2].contains("  none  "), "{text}");
    assert!(text.contains("2 of 3 figures changed, 1 for the worse."), "{text}");
    let page = history.page();
    assert!(page.contains(&format!("{} (Step 12)", &commits[12][..9])), "{page}");
    assert_eq!(page.matches("class=\"mark worse\"").count(), 1);
    assert_eq!(page.matches("<svg").count(), 3);
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("max-width: 640px"));
    assert!(
        !page.contains("http") && !page.contains("NaN") && !page.contains("inf,"),
        "the page needs itself only"
    );
}

#[test]
fn runs_without_repository_stay_in_order_of_dates() {
    let runs = Scratch::create().expect("a folder");
    for number in 0..12 {
        let value = if number < 6 { 1.0 } else { 2.0 } + f64::from(number) / 100.0;
        let date = format!("2026-11-{:02} 10:00:00", number + 1);
        write_run(
            &runs.path().join(format!("papers/{}", 99 - number)),
            &date,
            None,
            &[("Parvum", TIME, "us", value)],
        );
    }
    let history = History::read(runs.path(), "main", None).expect("a history");
    let figure = &history.groups[0].figures[0];
    assert_eq!(figure.changes.iter().map(|change| change.at).collect::<Vec<_>>(), [6]);
    assert!(history.text().contains("2026-11-07 10:00:00"), "{}", history.text());
    assert!(history.write().expect("a page").ends_with("history.html"));
    assert!(runs.path().join("history.html").is_file());
}

#[test]
fn machines_and_extents_are_kept_apart_and_copies_count_once() {
    let runs = Scratch::create().expect("a folder");
    let figures = [("Parvum", TIME, "us", 1.0)];
    for (name, from, to) in
        [("a", "", ""), ("b", "quick", "full"), ("c", "Linux 6.1", "Linux 6.2"), ("d", "main", "speed")]
    {
        let folder = runs.path().join(name);
        write_run(&folder, "2026-11-01 10:00:00", None, &figures);
        let file = folder.join("manifest.json");
        let text = fs::read_to_string(&file).expect("it is there").replace(from, to);
        if !from.is_empty() {
            fs::write(file, text).expect("written");
        }
    }
    write_run(&runs.path().join("published/a"), "2026-11-01 10:00:00", None, &figures);
    let groups = |suite| History::read(runs.path(), suite, None).expect("a history").groups.len();
    assert_eq!([groups(ALL), groups("main"), groups("speed")], [4, 3, 1]);
    let history = History::read(runs.path(), ALL, None).expect("a history");
    assert!(history.groups.iter().all(|group| group.runs.len() == 1), "{:?}", history.groups);
    assert!(history.text().contains("A change needs 10 runs"), "{}", history.text());
}

#[test]
fn changes_that_other_systems_share_are_marked() {
    let runs = Scratch::create().expect("a folder");
    let mut random = Random::new(5);
    for number in 0..16 {
        let level = if number < 8 { 1.0 } else { 1.5 };
        let peers = ["MPICH", "Open MPI", "PVM 3.4.6", "UCX"];
        let mut figures: Vec<(&str, &str, &str, f64)> =
            peers.map(|peer| (peer, TIME, "us", level * (3.0 + 0.1 * random.fraction()))).into();
        figures.push(("Parvum", TIME, "us", level * (1.0 + 0.03 * random.fraction())));
        let date = format!("2026-11-{:02} 10:00:00", number + 1);
        write_run(&runs.path().join(format!("{number:02}")), &date, None, &figures);
    }
    let history = History::read(runs.path(), ALL, None).expect("a history");
    let text = history.text();
    let line = text.lines().find(|line| line.contains("Parvum, ring")).expect("its line");
    assert!(line.contains(" %* worse") && text.contains("The machine"), "{text}");
}

#[test]
fn damaged_runs_are_named_and_others_count() {
    let runs = Scratch::create().expect("a folder");
    for name in ["good", "bad", "other", "worse"] {
        let date = format!("2026-11-01 10:00:0{}", name.len());
        write_run(&runs.path().join(name), &date, None, &[("Parvum", TIME, "us", 1.0)]);
    }
    fs::write(runs.path().join("bad/summary.json"), "[{").expect("written");
    fs::write(runs.path().join("other/manifest.json"), "{\"format\": 77}").expect("written");
    fs::remove_file(runs.path().join("worse/summary.json")).expect("removed");
    // An unfinished run has no manifest.
    fs::create_dir(runs.path().join("unfinished")).expect("made");
    let text = History::read(runs.path(), ALL, None).expect("a history").text();
    assert!(text.contains("Suite main (quick), 1 run on"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, why) in [("bad", "summary.json is damaged"), ("other", "format 77"), ("worse", "cannot read")]
    {
        assert!(
            words.contains(&format!("Skipped {}: ", runs.path().join(name).display())) && words.contains(why),
            "{words}"
        );
    }
}

#[test]
fn folder_without_runs_is_refused() {
    let runs = Scratch::create().expect("a folder");
    let why = |folder: &Path, suite| History::read(folder, suite, None).expect_err("refused").to_string();
    let empty = why(runs.path(), ALL);
    assert!(
        empty.contains("no folder below has a finished run") && empty.contains("parvum compare --suite main"),
        "{empty}"
    );
    assert!(why(&runs.path().join("missing"), ALL).contains("there is no such folder"));
    write_run(&runs.path().join("a"), "2026-11-01 10:00:00", None, &[]);
    assert!(why(runs.path(), "speed").contains("a finished run of the suite speed"));
    assert!(why(runs.path(), "slow").contains("no suite is called"));
    fs::write(runs.path().join("a/manifest.json"), "{").expect("written");
    assert!(why(runs.path(), ALL).contains("manifest.json is damaged"));
}
