//! A run of all papers, published: what its claims were judged by, and a page that says of each whether it still holds.

use super::{busy, published};
use crate::against::finished;
use crate::catalogue::{Claim, PAPERS};
use crate::error::LabError;
use crate::papers::settings::{FILE, Settings};
use crate::papers::{Outcome, findings};
use crate::run::record;
use crate::stats::summary::Row;
use crate::suites;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Where it is published, and under which page.
const NAME: &str = "papers";
const PAGE: &str = "docs/project/findings.md";
const ROWS: &str = "summary.json";

/// Rows of each suite.
type Rows = BTreeMap<String, Vec<Row>>;

/// Whether a folder holds such a run.
pub(super) fn is_one(run: &Path) -> bool {
    run.join(FILE).is_file()
}

/// Keeps what the claims were judged by, and writes the page. What it did, in words.
pub(super) fn publish(run: &Path, root: &Path) -> Result<String, LabError> {
    let settings = Settings::read(run)?;
    let mut rows = Rows::new();
    for suite in suites::ALL {
        let own = run.join(suite.name);
        if !own.join("manifest.json").is_file() {
            if own.is_dir() {
                let why = format!("its suite {} has not come to its end", suite.name);
                return Err(LabError::NoRunOfPapers { folder: run.to_owned(), why });
            }
            continue;
        }
        if let Some(load) = busy(&finished::manifest(&own)?).filter(|_| rows.is_empty()) {
            return Err(LabError::NotQuiet { folder: run.to_owned(), load });
        }
        let mut all = super::summary(&own)?;
        all.retain(|row| is_judged_by(suite.name, row, false));
        rows.insert(suite.name.to_owned(), all);
    }
    if rows.is_empty() {
        let why = "none of its suites has come to its end".to_owned();
        return Err(LabError::NoRunOfPapers { folder: run.to_owned(), why });
    }
    let place = published(root).join(NAME);
    fs::create_dir_all(&place).map_err(LabError::file("create", &place))?;
    settings.write(&place)?;
    let write = |file: &Path, text: String| fs::write(file, text).map_err(LabError::file("write", file));
    write(&place.join(ROWS), by_lines(&rows))?;
    Ok(format!("{} has what the claims of the papers were judged by\n{}", place.display(), write_page(root)?))
}

/// Writes the page of what is published: the run of all papers, and those over networks. What it did, in words.
pub(super) fn write_page(root: &Path) -> Result<String, LabError> {
    let Some((page, text)) = made(root)? else {
        return Ok(format!("{PAGE} waits for a run of all papers\n"));
    };
    fs::write(&page, text).map_err(LabError::file("write", &page))?;
    Ok(format!("{PAGE} says what came of them\n"))
}

/// Whether a claim of some paper asks for the row of that suite, on one host or over several.
pub(super) fn is_judged_by(suite: &str, row: &Row, over_hosts: bool) -> bool {
    let exhibits = PAPERS.iter().flat_map(|paper| &paper.exhibits);
    let own = exhibits.filter(|exhibit| exhibit.again.as_ref().is_some_and(|again| again.suite == suite));
    let asks = |claim: &Claim| {
        let claim = claim.asked_of(over_hosts);
        let mut asked = claim.today.iter().flat_map(|today| today.over.iter().chain(&today.under));
        asked.any(|asked| asked.takes(row))
    };
    own.flat_map(|exhibit| &exhibit.claims).any(asks)
}

fn by_lines(rows: &Rows) -> String {
    let suites = rows.iter().map(|(suite, rows)| format!("{suite:?}: {}", record::array(rows)));
    format!("{{\n{}\n}}\n", suites.collect::<Vec<_>>().join(",\n"))
}

fn outcomes(rows: Rows) -> Vec<Outcome> {
    let known = |(suite, rows): (String, Vec<Row>)| {
        let suite = suites::find(&suite).ok()?.name;
        Some(Outcome { suite, rows: Ok(rows), notes: Vec::new() })
    };
    rows.into_iter().filter_map(known).collect()
}

/// The page that the published runs make, and where it is; nothing where none of all papers is published.
fn made(root: &Path) -> Result<Option<(std::path::PathBuf, String)>, LabError> {
    let place = published(root).join(NAME);
    if !place.is_dir() {
        return Ok(None);
    }
    let file = place.join(ROWS);
    let rows: Rows = serde_json::from_str(&super::read(&file)?).map_err(|why| LabError::Samples {
        path: file,
        line: why.line(),
        why: why.to_string(),
    })?;
    let text = findings::markdown(&Settings::read(&place)?, &outcomes(rows), &super::networks::all(root)?);
    Ok(Some((root.join(PAGE), text)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::read;
    use super::*;
    use crate::report::tests::manifest;
    use crate::run::options::CompareOptions;
    use crate::stats::summary::tests::row;
    use crate::systems::peers::Own;
    use crate::systems::system::{Encoding, Family, System};

    /// A published run of all papers that has rows of one suite, and none of them.
    pub(in crate::published) fn with_nothing_measured(root: &Path) {
        let place = published(root).join(NAME);
        fs::create_dir_all(&place).expect("a folder");
        Settings::new(&CompareOptions::default(), 7, 60, &Own::default()).write(&place).expect("written");
        fs::write(place.join(ROWS), by_lines(&Rows::from([("pvmtime".into(), Vec::new())]))).expect("a file");
    }

    #[test]
    fn papers_page_matches_published_run() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let Some((page, made)) = made(&root).expect("readable") else {
            println!("skipped: no run of all papers is published yet (it takes a quiet machine and an hour)");
            return;
        };
        let found = read(&page).expect("a page");
        let differs = found.lines().zip(made.lines()).find(|(found, made)| found != made);
        assert_eq!(differs, None, "publish the run again: parvum compare --publish DIR");
        assert_eq!(found.len(), made.len());
    }

    #[test]
    fn published_run_contains_only_values_of_claims() {
        let root = std::env::temp_dir().join(format!("parvum-lab-papers-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let (run, own) = (root.join("run"), root.join("run/main"));
        for folder in [&root.join("docs/project"), &own] {
            fs::create_dir_all(folder).expect("a folder");
        }
        Settings::new(&CompareOptions::default(), 7, 60, &Own::default()).write(&run).expect("written");
        assert!(is_one(&run) && !is_one(&own));
        let why = publish(&run, &root).expect_err("refused").to_string();
        assert!(why.contains("its suite main has not come to its end"), "{why}");
        fs::remove_dir(&own).expect("an empty folder");
        let why = publish(&run, &root).expect_err("refused").to_string();
        assert!(why.contains("none of its suites"), "{why}");
        fs::create_dir(&own).expect("a folder");

        let pvm = System::new(Family::Pvm, "direct", Encoding::Raw);
        let ours = System::new(Family::Parvum, "shm", Encoding::Raw);
        let rows = [
            row(&pvm, "ring", "half round trip", 8, &[12.0; 6]),
            row(&ours, "ring", "half round trip", 8, &[0.5; 6]),
            row(&ours, "ring", "of no paper", 8, &[0.5; 6]),
        ];
        fs::write(own.join("summary.json"), serde_json::to_string(&rows).expect("ours")).expect("a file");
        let begin = |load: &str| {
            let mut manifest = manifest();
            (manifest.factors.load, manifest.factors.cores) = (load.into(), "2 processors".into());
            fs::write(own.join("manifest.json"), serde_json::to_string(&manifest).expect("ours"))
                .expect("a file");
        };
        begin("1.5 0 0");
        assert!(publish(&run, &root).expect_err("refused").to_string().contains("1.5 on 2"));
        begin("0.1 0 0");
        let said = publish(&run, &root).expect("published");
        assert!(said.contains(PAGE), "{said}");
        let (page, made) = made(&root).expect("readable").expect("there");
        assert_eq!(read(&page).expect("a page"), made);
        assert!(made.contains("still holds"), "{made}");
        assert!(!read(&published(&root).join(NAME).join(ROWS)).expect("rows").contains("of no paper"));
        fs::remove_dir_all(root).expect("removed");
    }
}
