//! Figures that are searched for, and what is refused before anything is built.

use super::*;
use crate::history::ALL;
use crate::history::tests::write_row;
use std::path::Path;

/// Runs with some figures: system, route, encoding, size.
fn runs() -> Scratch {
    let scratch = Scratch::create().expect("a folder");
    let rows = [
        ("Parvum", "shm", "in place", 8),
        ("Parvum", "shm", "in place", 65_536),
        ("Parvum", "tcp", "raw", 8),
        ("PVM 3.4.6", "direct", "raw", 8),
        ("Parvum", "pigeon", "raw", 8),
    ];
    write_row(&scratch.path().join("a"), &rows);
    scratch
}

fn find(asked: &str, runs: &Path) -> Result<Target, LabError> {
    Target::find(asked, ALL, runs)
}

#[test]
fn figure_is_found_by_name_or_by_its_words() {
    let runs = runs();
    let name = "Parvum shm in place, ring, size 65536, 2 tasks: half round trip";
    for asked in [name, &name.to_uppercase(), "65536", "shm half trip 65536"] {
        let target = find(asked, runs.path()).expect("a figure");
        assert_eq!((target.name.as_str(), target.unit(), target.suite.name), (name, "us", "main"));
        assert_eq!(target.packages(), ["parvum", "parvum-runtime", "parvum-pvm"]);
        let part = target.part();
        let jobs = (target.suite.jobs)(target.extent);
        assert!(jobs.iter().any(|job| part.wants(job) && job.system == Some(target.system)));
        assert!(jobs.iter().any(|job| !part.wants(job)), "other programs are not run");
    }
}

#[test]
fn figures_that_cannot_be_searched_are_refused_with_near_names() {
    let runs = runs();
    let why = |asked: &str| find(asked, runs.path()).expect_err("refused").to_string();
    let near = why("ring sice 65536");
    assert!(near.contains("no figure of the runs is called \"ring sice 65536\"; near are: Parvum shm in place, ring, size 65536"), "{near}");
    assert!(why("").contains("no figure") && why("quatsch").ends_with("lists the figures"));
    let several = why("parvum shm ring");
    assert!(several.contains("2 figures have the words") && several.contains("size 8, 2 tasks"), "{several}");
    assert!(why("PVM 3.4.6 direct").contains("no commit of Parvum can change a figure of PVM 3.4.6"));
    assert!(why("pigeon").contains("cannot measure this figure alone"));
    let empty = Scratch::create().expect("a folder");
    assert!(find("ring", empty.path()).expect_err("refused").to_string().contains("has no history"));
}

#[test]
fn result_names_commit_and_values() {
    let runs = runs();
    let target = find("65536", runs.path()).expect("a figure");
    let commits: Vec<Commit> = (0..6)
        .map(|number| Commit { name: number.to_string().repeat(40), subject: format!("Step {number}") })
        .collect();
    let mut found =
        Found { suspects: vec![3], values: [1.0, 1.5], factor: 1.5, skipped: vec![], unclear: vec![] };
    let text = words(&target, &commits, &found);
    assert!(text.contains("Changed by 333333333 (Step 3)\nBefore: 1.00 us, after: 1.50 us\n"), "{text}");
    assert!(text.contains("+50 % from GOOD to BAD"), "{text}");
    found.factor = 57.3;
    assert!(words(&target, &commits, &found).contains(": 57.3x from GOOD to BAD"));
    found.suspects = vec![2, 3];
    found.skipped = vec![(2, "222222222 (Step 2): it does not build: x".to_owned())];
    found.unclear = vec![4];
    let text = words(&target, &commits, &found);
    assert!(
        text.contains("one of 2 commits") && text.contains("  222222222 (Step 2)\n  333333333"),
        "{text}"
    );
    assert!(
        text.contains("Skipped 222222222 (Step 2): it does not build") && text.contains("444444444"),
        "{text}"
    );
}
