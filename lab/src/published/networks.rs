//! Runs over emulated networks, published: what the claims of the papers were judged by there.
//!
//! `./x hosts N --network NAME -- parvum compare ... --host LIST` makes such a run; it is kept as `results/published/networks/NAME-SUITE.json`.

use super::papers::{self, is_judged_by};
use super::published;
use crate::against::finished;
use crate::error::LabError;
use crate::papers::findings::OverNetwork;
use crate::record;
use crate::summary::Row;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

const FOLDER: &str = "networks";

/// The file of a run.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    network: String,
    suite: String,
    date: String,
    extent: String,
    hosts: usize,
    rows: Vec<Row>,
}

/// Keeps a run over hosts, and writes the page of findings again. What it did, in words.
pub(super) fn publish(
    manifest: &finished::Manifest,
    rows: Vec<Row>,
    root: &Path,
) -> Result<String, LabError> {
    let network = manifest.factor("network");
    let name = network.split(':').next().unwrap_or_default().to_owned();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(LabError::NoKnownNetwork { hosts: manifest.hosts.join(", ") });
    }
    let mut rows = rows;
    rows.retain(|row| is_judged_by(&manifest.suite, row, true));
    let kept = Kept {
        network,
        suite: manifest.suite.clone(),
        date: manifest.factor("date"),
        extent: manifest.extent.clone(),
        hosts: manifest.hosts.len(),
        rows: Vec::new(),
    };
    let folder = published(root).join(FOLDER);
    fs::create_dir_all(&folder).map_err(LabError::file("create", &folder))?;
    let file = folder.join(format!("{name}-{}.json", manifest.suite));
    let head = serde_json::to_string(&kept).unwrap_or_default();
    // A row a line, so that a later run shows what changed.
    let text = head.replace("\"rows\":[]", &format!("\"rows\":{}", record::array(&rows)));
    fs::write(&file, text + "\n").map_err(LabError::file("write", &file))?;
    let page = papers::write_page(root)?;
    Ok(format!("{} has what claims were judged by over {name}\n{page}", file.display()))
}

/// All that are published, by their networks' names.
pub(super) fn all(root: &Path) -> Result<Vec<OverNetwork>, LabError> {
    let folder = published(root).join(FOLDER);
    let Ok(files) = fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
    files.sort();
    let read = |file: std::path::PathBuf| {
        let kept: Kept = serde_json::from_str(&super::read(&file)?).map_err(|why| LabError::Samples {
            path: file,
            line: why.line(),
            why: why.to_string(),
        })?;
        let Kept { network, suite, date, extent, hosts, rows } = kept;
        Ok(OverNetwork { network, suite, date, extent, hosts, rows })
    };
    files.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{published, read};
    use super::*;
    use crate::report::tests::manifest;
    use crate::summary::tests::row;
    use crate::systems::{Encoding, Family, System};

    /// What this host has no value of, a network has; the page says so in both places.
    #[test]
    fn a_run_over_a_network_is_kept_and_the_page_says_what_it_found() {
        let root = std::env::temp_dir().join(format!("parvum-lab-networks-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let run = root.join("run");
        for folder in [root.join("docs"), run.clone()] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let pvm = System::new(Family::Pvm, "direct", Encoding::Xdr);
        let at = |program, tasks, value: f64| {
            let mut row = row(&pvm, program, "throughput", 1024, &[value; 6]);
            row.tasks = tasks;
            row
        };
        let rows = [
            at("ping-pong", 2, 30.0),
            at("ping-pong, 4.4-4.4", 8, 27.0),
            row(&pvm, "ping-pong", "of no paper", 1024, &[1.0; 6]),
        ];
        fs::write(run.join("summary.json"), serde_json::to_string(&rows).expect("ours")).expect("a file");
        let begin = |network: &str| {
            let mut manifest = manifest();
            (manifest.factors.load, manifest.factors.cores) = ("0.1 0 0".into(), "2 processors".into());
            manifest.factors.network = network.into();
            manifest.suite = "pvmtime".into();
            manifest.hosts = vec!["alpha".into(), "beta".into()];
            fs::write(run.join("manifest.json"), serde_json::to_string(&manifest).expect("ours"))
                .expect("a file");
        };
        for unknown in ["", "/tmp/my network: fast"] {
            begin(unknown);
            let why = super::super::publish_in(&run, &root).expect_err("refused").to_string();
            assert!(why.contains("over alpha, beta") && why.contains("--network"), "{why}");
        }
        begin("fddi-switch: 100 Mbit/s, switch");
        let said = super::super::publish_in(&run, &root).expect("published");
        assert!(said.contains("fddi-switch-pvmtime.json") && said.contains("waits for a run"), "{said}");
        assert!(
            !read(&published(&root).join("networks/fddi-switch-pvmtime.json"))
                .expect("kept")
                .contains("of no")
        );

        papers::tests::with_nothing_measured(&root);
        papers::write_page(&root).expect("written");
        let page = read(&root.join("docs/findings.md")).expect("a page");
        let holds = "PVM 3.4.6, direct | 0.900 (0.900 to 0.900) | still holds |";
        assert!(page.contains("### `fddi-switch`, the suite pvmtime: 1 still holds"), "{page}");
        assert!(page.contains(&format!("| 001 figure 7 | traffic of others does not slow a pair: 4.4-4.4 over 1-1 | similar | 0.85 to 1.15 | {holds}")));
        assert!(
            page.contains("PVM 3.4.6, direct | - | below |") && page.contains("Parvum, TCP | - | no data |"),
            "{page}"
        );
        assert!(page.contains("1 over a network, below"), "{page}");
        fs::remove_dir_all(root).expect("removed");
    }
}
