//! Runs over emulated networks, published: what the claims of the papers were judged by there.
//!
//! `./x hosts N --network NAME -- parvum compare ... --host LIST` makes such a run; it is kept as `results/published/networks/NAME-SUITE.json`.

use super::papers::{self, is_judged_by};
use super::published;
use crate::against::finished;
use crate::error::LabError;
use crate::papers::findings::{OverNetwork, drawn_over_hosts};
use crate::run::record;
use crate::stats::summary::Row;
use std::fs;
use std::path::Path;

const FOLDER: &str = "networks";

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
    let is_drawn = drawn_over_hosts(&manifest.suite, &rows);
    rows.retain(|row| is_judged_by(&manifest.suite, row, true) || is_drawn(row));
    let kept = OverNetwork {
        network,
        suite: manifest.suite.clone(),
        date: manifest.factor("date"),
        extent: manifest.extent.clone(),
        hosts: manifest.hosts.len(),
        machine: machine(manifest),
        rows: Vec::new(),
    };
    let folder = published(root).join(FOLDER);
    fs::create_dir_all(&folder).map_err(LabError::file("create", &folder))?;
    let file = folder.join(format!("{name}-{}.json", manifest.suite));
    if let Ok(text) = fs::read_to_string(&file) {
        let before: OverNetwork = parsed(&file, &text)?;
        let is_here = |old: &&Row| rows.iter().any(|new| is_same(old, new));
        let lacking = before.rows.len() - before.rows.iter().filter(is_here).count();
        if lacking > 0 {
            return Err(LabError::LessThanPublished { file, lacking });
        }
    }
    let head = serde_json::to_string(&kept).unwrap_or_default();
    // A row a line, so that a later run shows what changed.
    let text = head.replace("\"rows\":[]", &format!("\"rows\":{}", record::array(&rows)));
    fs::write(&file, text + "\n").map_err(LabError::file("write", &file))?;
    let page = papers::write_page(root)?;
    Ok(format!("{} has what claims were judged by over {name}\n{page}", file.display()))
}

/// Processors and kernel, and the versions of those that are not ours.
fn machine(manifest: &finished::Manifest) -> String {
    let told = ["processor", "cores", "kernel"].map(|name| manifest.factor(name));
    let peers = manifest.systems.iter().filter(|system| !system.name.starts_with("Parvum"));
    let peers = peers.map(|system| format!("{} {}", system.name.trim_end_matches(" 3.4.6"), system.version));
    told.into_iter().chain(peers).collect::<Vec<_>>().join(", ")
}

fn is_same(a: &Row, b: &Row) -> bool {
    let key = |row: &Row| {
        let names = [&row.program, &row.system, &row.route, &row.encoding, &row.metric].map(String::clone);
        (names, row.tasks, row.size, row.task)
    };
    key(a) == key(b)
}

fn parsed(file: &Path, text: &str) -> Result<OverNetwork, LabError> {
    serde_json::from_str(text).map_err(|why| LabError::Samples {
        path: file.to_owned(),
        line: why.line(),
        why: why.to_string(),
    })
}

/// All that are published, by their networks' names.
pub(super) fn all(root: &Path) -> Result<Vec<OverNetwork>, LabError> {
    let folder = published(root).join(FOLDER);
    let Ok(files) = fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
    files.sort();
    files.iter().map(|file| parsed(file, &super::read(file)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{published, read};
    use super::*;
    use crate::report::tests::manifest;
    use crate::stats::summary::tests::row;
    use crate::systems::system::{Encoding, Family, System};
    use std::path::PathBuf;

    /// A root with a folder of docs, and that of a run.
    fn place(name: &str) -> (PathBuf, PathBuf) {
        let root = std::env::temp_dir().join(format!("parvum-lab-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let run = root.join("run");
        for folder in [root.join("docs/project"), run.clone()] {
            fs::create_dir_all(folder).expect("a folder");
        }
        (root, run)
    }

    /// The run is of this suite, over this network.
    fn begin(run: &Path, suite: &str, network: &str) {
        let mut manifest = manifest();
        (manifest.factors.load, manifest.factors.cores) = ("0.1 0 0".into(), "2 processors".into());
        manifest.factors.network = network.into();
        manifest.suite = suite.into();
        manifest.hosts = vec!["alpha".into(), "beta".into()];
        fs::write(run.join("manifest.json"), serde_json::to_string(&manifest).expect("ours"))
            .expect("a file");
    }

    fn measured(run: &Path, rows: &[Row]) {
        fs::write(run.join("summary.json"), serde_json::to_string(rows).expect("ours")).expect("a file");
    }

    /// What this host has no value of, a network has; the page says so in both places.
    #[test]
    fn network_run_is_published_on_its_page() {
        let (root, run) = place("networks");
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
        measured(&run, &rows);
        for unknown in ["", "/tmp/my network: fast"] {
            begin(&run, "pvmtime", unknown);
            let why = super::super::publish_in(&run, &root).expect_err("refused").to_string();
            assert!(why.contains("over alpha, beta") && why.contains("--network"), "{why}");
        }
        begin(&run, "pvmtime", "fddi-switch: 100 Mbit/s, switch");
        let said = super::super::publish_in(&run, &root).expect("published");
        assert!(said.contains("fddi-switch-pvmtime.json") && said.contains("waits for a run"), "{said}");
        assert!(
            !read(&published(&root).join("networks/fddi-switch-pvmtime.json"))
                .expect("kept")
                .contains("of no")
        );

        measured(&run, &rows[..1]);
        let why = super::super::publish_in(&run, &root).expect_err("refused").to_string();
        assert!(why.contains("has 1 rows that this one has not"), "{why}");

        papers::tests::with_nothing_measured(&root);
        papers::write_page(&root).expect("written");
        let page = read(&root.join("docs/project/findings.md")).expect("a page");
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

    /// The exchange is asked of one host alone: over a network its values stand for themselves.
    #[test]
    fn value_without_claim_is_shown_in_table() {
        let (root, run) = place("values");
        let of = |family, route, size, us: f64| {
            let mut row =
                row(&System::new(family, route, Encoding::Raw), "group", "alltoall", size, &[us; 3]);
            row.tasks = 4;
            row
        };
        let rows = [
            of(Family::Parvum, "tcp", 8, 586.0),
            of(Family::Parvum, "tcp", 1 << 20, 300_275.0),
            of(Family::Mpich, "", 8, 578.0),
        ];
        measured(&run, &rows);
        begin(&run, "exchange", "atm: 89 Mbit/s, switch");
        papers::tests::with_nothing_measured(&root);
        super::super::publish_in(&run, &root).expect("published");
        let page = read(&root.join("docs/project/findings.md")).expect("the page");
        assert!(page.contains("| 8 B | 1 MiB |"), "{page}");
        assert!(
            page.contains("| Parvum tcp | 586 | 300275 |") && page.contains("| MPICH | 578 | |"),
            "{page}"
        );
        let _ = fs::remove_dir_all(&root);
    }

    /// Iterations of four tasks: the papers' claims ask for one task's as well, and have no value without it. Counts have one.
    #[test]
    fn table_shows_values_that_claims_lack() {
        let (root, run) = place("beside");
        let of = |family, route, program, metric, size, value: f64| {
            let mut row = row(&System::new(family, route, Encoding::Raw), program, metric, size, &[value; 3]);
            row.tasks = 4;
            row
        };
        let rows = [
            of(Family::Parvum, "tcp", "lu", "iteration", 33, 35.0),
            of(Family::Parvum, "tcp", "sp", "iteration", 36, 54.0),
            of(Family::Mpich, "", "lu", "iteration", 33, 33.0),
            of(Family::Parvum, "tcp", "lu", "messages", 33, 372.0),
            of(Family::Parvum, "tcp", "sp", "messages", 36, 40.0),
        ];
        measured(&run, &rows);
        begin(&run, "npb", "atm: 89 Mbit/s, switch");
        papers::tests::with_nothing_measured(&root);
        super::super::publish_in(&run, &root).expect("published");
        let page = read(&root.join("docs/project/findings.md")).expect("the page");
        assert!(page.contains("### `atm`, the suite npb: 1 still holds"), "{page}");
        assert!(page.contains("| 004 figure 5 | LU sends many messages"), "{page}");
        let table = "| iteration of 4, us | lu, 33 | sp, 36 |\n|---|---|---|\n| Parvum tcp | 35.0 | 54.0 |\n| MPICH | 33.0 | |\n";
        assert!(page.contains(table) && !page.contains("| messages of 4"), "{page}");
        let _ = fs::remove_dir_all(&root);
    }
}
