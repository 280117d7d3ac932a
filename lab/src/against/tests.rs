use super::finished::{Manifest, System};
use super::*;
use crate::report::tests::manifest as recorded;
use crate::run::record::{self, Folder, LaunchRecord};
use crate::stats::samples::Line;
use crate::stats::summary::Recorded;
use crate::stats::summary::tests::row;
use crate::systems::system::{Encoding, Family, System as Compared};
use std::path::PathBuf;

const OURS: Compared = Compared::new(Family::Parvum, "shm", Encoding::Raw);
const PVM: Compared = Compared::new(Family::Pvm, "direct", Encoding::Raw);

fn run(version: &str, processor: &str, rows: Vec<Row>) -> Finished {
    let system = |name: &str, version: &str| System { name: name.into(), version: version.into() };
    let manifest = Manifest {
        suite: "main".into(),
        extent: "quick".into(),
        systems: vec![system("Parvum", version), system("PVM 3.4.6", "3.4.6")],
        hosts: vec![],
        launches: Vec::new(),
        commit: None,
        factors: [("processor".to_owned(), serde_json::Value::from(processor))].into(),
    };
    Finished { folder: "results/x".into(), manifest, rows }
}

/// Eight launches around a value.
fn around(value: f64) -> Vec<f64> {
    (0..8).map(|at| value * (1.0 + 0.002 * f64::from(at))).collect()
}

fn rows(ours: f64, pvm: f64) -> Vec<Row> {
    let mut rows: Vec<Row> =
        (1..=25).map(|size| row(&PVM, "ring", "half round trip", size, &around(pvm))).collect();
    rows.push(row(&OURS, "ring", "half round trip", 8, &around(ours)));
    rows.push(row(&OURS, "ring", "first message", 8, &[ours; 3]));
    rows
}

#[test]
fn report_names_change_with_factor_and_counts_rest() {
    let found = runs(run("1", "a", rows(1.0, 20.0)), run("2", "a", rows(0.5, 20.0)));
    assert_eq!((found.changes.len(), found.tested, found.untested), (1, 26, 1));
    assert!((found.changes[0].better - 2.0).abs() < 1e-9 && found.same_machine);
    let text = found.text();
    assert!(
        text.starts_with("Better\n  2.00x    Parvum shm raw, ring, size 8, 2 tasks: half round trip:"),
        "{text}"
    );
    assert!(text.contains("Parvum: 1, then 2") && text.contains("1 changed beyond noise"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
    let back = runs(run("2", "a", rows(0.5, 20.0)), run("1", "a", rows(1.0, 20.0))).text();
    assert!(back.starts_with("Worse\n  2.00x"), "{back}");
}

#[test]
fn report_ignores_change_that_baselines_share() {
    // The whole machine is slower by half; so is Parvum.
    let found = runs(run("1", "a", rows(1.0, 20.0)), run("2", "a", rows(1.5, 30.0)));
    assert!(found.changes.is_empty(), "{}", found.text());
    assert!(
        found.text().contains("none changed beyond noise") && found.text().contains("factor of up to 1.50")
    );
    // A rate is better when it is higher; and beyond what all else did.
    let rate = |value: f64| {
        let mut row = row(&OURS, "rate", "message rate", 8, &around(value));
        row.unit = "M/s".into();
        row
    };
    let with = |value, mut rows: Vec<Row>| {
        rows.push(rate(value));
        rows
    };
    let found = runs(run("1", "a", with(5.0, rows(1.0, 20.0))), run("2", "a", with(10.0, rows(1.5, 30.0))));
    assert_eq!(found.changes.iter().map(|change| change.better.round()).collect::<Vec<_>>(), [2.0]);
}

#[test]
fn page_draws_changes_and_only_largest_if_many() {
    let page = runs(run("1", "a", rows(1.0, 20.0)), run("2", "a", rows(0.5, 20.0))).page();
    assert!(page.contains("<h1>Of 26 values 1 are better and 0 worse</h1>"), "{page}");
    assert_eq!(page.matches("<circle").count(), 1);
    assert!(
        page.contains("Parvum shm raw, ring, size 8, 2 tasks: half round trip: 1.0")
            && page.contains("2.00x better")
    );
    assert!(
        page.contains("One machine") && page.contains("Parvum: 1, then 2") && !page.contains("id=\"worse\"")
    );

    let many = |value: f64| -> Vec<Row> {
        (1..=60).map(|size| row(&OURS, "ring", "half round trip", size, &around(value))).collect()
    };
    let page = runs(run("1", "<a>", many(1.0)), run("1", "b", many(8.0))).page();
    assert_eq!((page.matches("<circle").count(), page.matches("8.00x").count()), (40, 40 + 60));
    assert!(
        page.contains("The 40 largest of 60 changes")
            && page.contains("8.00x worse")
            && page.contains("&lt;a&gt;, then b")
    );

    let page = runs(run("1", "a", rows(1.0, 20.0)), run("1", "a", rows(1.0, 20.0))).page();
    assert!(page.contains("none changed beyond noise") && !page.contains("<svg"), "{page}");
}

#[test]
fn machines_are_distinguished_by_their_differences() {
    let found = runs(run("1", "an abacus", rows(1.0, 20.0)), run("1", "a slide rule", rows(1.0, 30.0)));
    assert!(!found.same_machine && found.drift.is_none());
    assert_eq!(found.changes.len(), 25, "what floors and peers do is of interest there");
    let text = found.text();
    assert!(
        text.contains("Two machines.") && text.contains("processor: an abacus, then a slide rule"),
        "{text}"
    );
}

#[test]
fn noise_among_many_values_is_not_reported() {
    let noisy = |seed: u64| {
        let mut random = parvum_seed::Random::new(seed);
        let value = |random: &mut parvum_seed::Random| 1.0 + random.below(1000) as f64 / 1000.0;
        let rows = (1..=400).map(|size| {
            let launches: Vec<f64> = (0..10).map(|_| value(&mut random)).collect();
            row(&OURS, "ring", "half round trip", size, &launches)
        });
        rows.collect::<Vec<_>>()
    };
    let found = runs(run("1", "a", noisy(1)), run("2", "a", noisy(2)));
    assert_eq!((found.changes.len(), found.tested), (0, 400), "{}", found.text());
}

#[test]
fn run_compared_with_itself_shows_no_change() {
    let found = runs(run("1", "a", rows(1.0, 20.0)), run("1", "a", rows(1.0, 20.0)));
    assert!(found.changes.is_empty() && found.differences.is_empty(), "{}", found.text());
}

/// A folder with one launch of a ring in it.
fn written(name: &str, suite: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("parvum-lab-against-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    let (mut folder, _) = Folder::go_on(&path).expect("a folder");
    let line = Line { program: "ring".into(), tasks: 2, size: 8, samples_ns: vec![7], ..Line::default() };
    let launch = LaunchRecord {
        launch: 0,
        job: "ring".into(),
        program: "ring".into(),
        system: OURS.id(),
        tasks: 2,
        command: String::new(),
        elapsed_s: 1.0,
        load: String::new(),
        failure: None,
        ..LaunchRecord::default()
    };
    folder.keep(&launch, &[Recorded::new(0, "ring", Some(&OURS), line)]).expect("kept");
    let manifest = record::Manifest { suite: suite.into(), ..recorded() };
    folder.finish(&manifest, &[], "").expect("finished");
    path
}

#[test]
fn folders_that_cannot_be_compared_are_refused_with_cause() {
    let (main, speed) = (written("main", "main"), written("speed", "speed"));
    let found = folders(&main, &main).expect("they can");
    assert_eq!(found.untested, 2);
    let page = found.write(&main.join("pages")).expect("written");
    let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
    assert!(name.starts_with("against-parvum-lab-against-main-") && name.ends_with(".html"), "{name}");
    assert!(std::fs::read_to_string(&page).expect("it is there").contains("none changed beyond noise"));
    can_be_held_against(&main, "main").expect("it can");
    let why = |old: &Path, new: &Path| folders(old, new).expect_err("refused").to_string();
    assert!(why(&main, &speed).contains("of the suite main") && why(&main, &speed).contains("of speed"));
    let refused = can_be_held_against(&speed, "main").expect_err("refused").to_string();
    assert!(refused.contains("--suite speed"), "{refused}");
    let nowhere = main.join("nowhere");
    assert!(why(&main, &nowhere).contains("there is no such folder"));

    let raw = main.join("raw.jsonl");
    let whole = std::fs::read_to_string(&raw).expect("it is there");
    std::fs::write(&raw, format!("{whole}{{\"launch\":")).expect("written");
    assert!(why(&main, &speed).contains("suite"), "what it is of is looked at first");
    assert!(why(&main, &main).contains("raw.jsonl, line 2: the line has no end"), "{}", why(&main, &main));

    let manifest = main.join("manifest.json");
    let text = std::fs::read_to_string(&manifest).expect("it is there");
    for (other, said) in [
        (text.replace("\"format\": 1,", ""), "format none"),
        (text.replace("\"format\": 1,", "\"format\": 77,"), "format 77"),
        (text.replace("\"suite\"", "\"sweet\""), "damaged"),
        (text[..text.len() / 2].to_owned(), "damaged"),
    ] {
        std::fs::write(&manifest, other).expect("written");
        assert!(why(&main, &main).contains(said), "{said}: {}", why(&main, &main));
    }
    std::fs::remove_file(&manifest).expect("removed");
    assert!(why(&main, &main).contains("no manifest.json"));
    std::fs::write(main.join("papers.json"), "{}").expect("written");
    assert!(why(&main, &main).contains("a folder for each suite"));
    for folder in [main, speed] {
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
