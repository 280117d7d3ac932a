//! Runs that are kept with the sources, and the numbers that README.md and the docs quote of them.
//!
//! A page quotes between two marks: `<!-- measured: NAME -->` and `<!-- measured: end -->`. What stands between them is
//! made from `results/published/quoted/NAME.md`, in which `{SUITE ROW}` stands for a value of that suite's run; a row is
//! named as in `lab/papers`. So no number can stay when the run behind it changes, and a test holds the pages to that.

mod figures;
mod networks;
mod papers;

use crate::against::finished;
use crate::catalogue::Claimed;
use crate::error::LabError;
use crate::run::interrupted;
use crate::stats::goals::digits;
use crate::stats::summary::Row;
use crate::systems::programs::find_sources;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Of raw data no more than this is kept, compressed.
const SMALL: usize = 512 * 1024;
const BEGIN: &str = "<!-- measured: ";
const END: &str = "<!-- measured: end -->";

/// Keeps a run in the place of the one of its suite before, and writes its numbers into the pages that quote them. What it did, in words.
pub fn publish(run: &Path) -> Result<String, LabError> {
    let root =
        find_sources().and_then(|apps| apps.parent().map(Path::to_owned)).ok_or(LabError::NoPrograms)?;
    publish_in(run, &root)
}

fn publish_in(run: &Path, root: &Path) -> Result<String, LabError> {
    if let Some(name) = figures::name_of(run) {
        return publish_figures(run, &name, root);
    }
    if papers::is_one(run) {
        return papers::publish(run, root);
    }
    let manifest = finished::manifest(run)?;
    if let Some(load) = busy(&manifest) {
        return Err(LabError::NotQuiet { folder: run.to_owned(), load });
    }
    if !manifest.hosts.is_empty() {
        return networks::publish(&manifest, summary(run)?, root);
    }
    let suite = manifest.suite;
    let changed = quoting(&suite, &summary(run)?, root)?;
    let place = published(root).join(&suite);
    fs::create_dir_all(&place).map_err(LabError::file("create", &place))?;
    for name in ["summary.json", "manifest.json"] {
        let (from, to) = (run.join(name), place.join(name));
        fs::copy(&from, &to).map_err(LabError::file("copy", from))?;
    }
    let mut said = format!("{} is the run of the suite {suite}\n", place.display());
    let (file, raw) = (place.join("raw.jsonl.gz"), run.join(interrupted::RAW));
    let raw = fs::read(&raw).map_err(LabError::file("read", raw))?;
    match gzipped(raw) {
        Some(bytes) if bytes.len() <= SMALL => {
            fs::write(&file, bytes).map_err(LabError::file("write", &file))?;
        }
        other => {
            // That of the run before does not belong to this one.
            let _ = fs::remove_file(&file);
            let why = other.map_or("gzip does not run".to_owned(), |bytes| {
                format!("{} KiB compressed, and {} are kept at most", bytes.len() / 1024, SMALL / 1024)
            });
            said.push_str(&format!("without raw data: {why}\n"));
        }
    }
    said.push_str(&write(changed)?);
    Ok(said)
}

/// The same of a file with numbers of other tools.
fn publish_figures(file: &Path, name: &str, root: &Path) -> Result<String, LabError> {
    let rows = figures::rows(file)?;
    let load = figures::load(&rows);
    if load.is_none_or(|load| load.is_nan() || is_busy(load, cores())) {
        let load = load.map_or_else(|| "unknown".into(), |load| format!("{load} on {} processors", cores()));
        return Err(LabError::NotQuiet { folder: file.to_owned(), load });
    }
    let changed = quoting(name, &rows, root)?;
    let place = published(root).join(name);
    fs::copy(file, &place).map_err(LabError::file("copy", file))?;
    Ok(format!("{} has the numbers of {}\n{}", place.display(), file.display(), write(changed)?))
}

/// Pages, and what is to stand there.
type Changed = Vec<(PathBuf, String)>;

/// The pages that change when this is published under that name. Before anything is written: what lacks something that is quoted is refused.
fn quoting(published_as: &str, rows: &[Row], root: &Path) -> Result<Changed, LabError> {
    let mut changed = Vec::new();
    for page in pages(root)? {
        let text = read(&page)?;
        let new = requoted(&page, &text, root, &|name| {
            if name == published_as { Ok(rows.to_vec()) } else { summary(&published(root).join(name)) }
        })?;
        if new != text {
            changed.push((page, new));
        }
    }
    Ok(changed)
}

/// Writes them; what it did, in words.
fn write(changed: Changed) -> Result<String, LabError> {
    let mut said = String::new();
    for (page, text) in changed {
        fs::write(&page, text).map_err(LabError::file("write", &page))?;
        said.push_str(&format!("numbers written into {}\n", page.display()));
    }
    Ok(said)
}

/// The load before a run, where others used more than a quarter of each core: numbers for readers are not made beside that.
fn busy(manifest: &finished::Manifest) -> Option<String> {
    let first = |name: &str| -> Option<f64> { manifest.factor(name).split_whitespace().next()?.parse().ok() };
    let (Some(load), Some(cores)) = (first("load"), first("cores")) else { return Some("unknown".into()) };
    is_busy(load, cores).then(|| format!("{load} on {cores} processors"))
}

fn is_busy(load: f64, cores: f64) -> bool {
    load > 0.25 * cores
}

/// Of the machine on which numbers are published: they are published where they were made.
fn cores() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64)
}

fn published(root: &Path) -> PathBuf {
    root.join("results/published")
}

/// README.md and the docs.
fn pages(root: &Path) -> Result<Vec<PathBuf>, LabError> {
    let (mut folders, mut pages) = (vec![root.join("docs")], vec![root.join("README.md")]);
    while let Some(folder) = folders.pop() {
        let files = fs::read_dir(&folder).map_err(LabError::file("read", &folder))?;
        for file in files.flatten().map(|file| file.path()) {
            match file.is_dir() {
                true => folders.push(file),
                false if file.extension().is_some_and(|end| end == "md") => pages.push(file),
                false => {}
            }
        }
    }
    pages.sort();
    Ok(pages)
}

fn read(file: &Path) -> Result<String, LabError> {
    fs::read_to_string(file).map_err(LabError::file("read", file))
}

fn summary(run: &Path) -> Result<Vec<Row>, LabError> {
    if run.extension().is_some_and(|extension| extension == "csv") {
        return figures::rows(run);
    }
    let file = run.join("summary.json");
    serde_json::from_str(&read(&file)?).map_err(|why| LabError::Samples {
        path: file,
        line: why.line(),
        why: why.to_string(),
    })
}

/// The rows of a suite's run.
type Runs<'a> = &'a dyn Fn(&str) -> Result<Vec<Row>, LabError>;

/// A page with what it quotes made anew.
fn requoted(page: &Path, text: &str, root: &Path, runs: Runs) -> Result<String, LabError> {
    let refused = |why: String| LabError::Quoted { page: page.to_owned(), why };
    let (mut new, mut lines) = (String::new(), text.split_inclusive('\n'));
    while let Some(line) = lines.next() {
        new.push_str(line);
        let Some(name) = name_of(line) else { continue };
        let template = published(root).join("quoted").join(format!("{name}.md"));
        let template = fs::read_to_string(&template)
            .map_err(|_| refused(format!("it quotes {name:?}, and there is no {}", template.display())))?;
        // What stands there is written anew, up to the end's mark.
        let end = lines.find(|line| line.trim_end() == END);
        let end = end.ok_or_else(|| refused(format!("what it quotes as {name:?} has no end")))?;
        new.push_str(&filled(&template, runs).map_err(refused)?);
        new.push_str(end);
    }
    Ok(new)
}

/// What is quoted below this line, if it is such a mark: they stand alone on their lines.
fn name_of(line: &str) -> Option<&str> {
    let line = line.trim_end();
    if line == END { None } else { line.strip_prefix(BEGIN)?.strip_suffix("-->").map(str::trim) }
}

/// A text with a value for each `{SUITE ROW}`.
fn filled(template: &str, runs: Runs) -> Result<String, String> {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (asked, after) = piece.split_once('}').ok_or_else(|| format!("{{{piece} has no end"))?;
        let (suite, row) =
            asked.split_once(' ').ok_or_else(|| format!("{asked:?} names no suite and row"))?;
        let asked = Claimed::try_from(row.to_owned())?;
        let rows = runs(suite).map_err(|why| why.to_string())?;
        let found = rows.iter().find(|row| asked.takes(row));
        let found = found.ok_or_else(|| format!("the run of the suite {suite} has no value {row}"))?;
        text.push_str(&digits(found.median));
        text.push_str(after);
    }
    Ok(text)
}

/// Compressed, without a name or a date in it; nothing where there is no gzip.
fn gzipped(bytes: Vec<u8>) -> Option<Vec<u8>> {
    let mut gzip = Command::new("gzip");
    gzip.args(["-9", "-n", "-c"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut gzip = gzip.spawn().ok()?;
    let mut input = gzip.stdin.take()?;
    // It writes while it reads: who does not take what it writes would wait for it, and it for him.
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = gzip.wait_with_output().ok()?;
    let written = writer.join().is_ok_and(|result| result.is_ok());
    (written && output.status.success()).then_some(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::manifest;
    use crate::stats::summary::tests::row;
    use crate::systems::system::{Encoding, Family, System};

    const OURS: System = System::new(Family::Parvum, "shm", Encoding::Raw);
    const QUOTED: &str = "A hop takes {main ring|Parvum|shm|raw|2|8|half round trip} us.\n";
    const PAGE: &str = "# Head\n\n<!-- measured: hop -->\nA hop takes 9 us.\n<!-- measured: end -->\nTail\n";

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn quoted_numbers_equal_published_run() {
        let root = repository();
        let runs = published(&root).join("main");
        if !runs.is_dir() {
            println!(
                "skipped: no run of the suite main is published yet (it takes a quiet machine: docs/project/papers-again.md)"
            );
            return;
        }
        let mut marks = 0;
        for page in pages(&root).expect("pages") {
            let text = read(&page).expect("a page");
            marks += text.lines().filter(|line| name_of(line).is_some()).count();
            let new = requoted(&page, &text, &root, &|suite| summary(&published(&root).join(suite)));
            let new = new.unwrap_or_else(|why| panic!("{why}"));
            let differs = text.lines().zip(new.lines()).find(|(is, made)| is != made);
            assert_eq!(
                differs,
                None,
                "{}: publish the run again: parvum compare --publish DIR",
                page.display()
            );
            assert_eq!(text, new, "{}", page.display());
        }
        assert!(marks > 0, "README.md quotes what was measured");
    }

    #[test]
    fn readme_has_no_unquoted_figure() {
        let text = read(&repository().join("README.md")).expect("README.md");
        let (mut outside, mut quoted) = (String::new(), false);
        for line in text.lines() {
            quoted = (quoted || name_of(line).is_some()) && line != END;
            outside.push_str(if quoted { "" } else { line });
            outside.push(' ');
        }
        let words: Vec<&str> = outside.split_whitespace().collect();
        for pair in words.windows(2) {
            let unit = pair[1].trim_end_matches(['.', ',', ';', ':', ')']);
            let is_unit = ["microseconds", "us", "ms", "GB/s", "MB/s", "Mbit/s", "x"].contains(&unit);
            assert!(!(is_unit && pair[0].parse::<f64>().is_ok()), "{} {} is not quoted", pair[0], pair[1]);
        }
    }

    /// What is quoted has no figure of its own: numbers in it are those of sizes and versions.
    #[test]
    fn quoted_templates_contain_no_measured_figure() {
        let quoted = published(&repository()).join("quoted");
        for file in fs::read_dir(quoted).expect("templates").flatten() {
            let text = read(&file.path()).expect("a template");
            let literal: String =
                text.split('{').map(|piece| piece.split_once('}').map_or(piece, |p| p.1)).collect();
            let words: Vec<&str> = literal.split_whitespace().chain([""]).collect();
            for pair in words.windows(2) {
                let number = pair[0].trim_end_matches([',', '.', ';', ':']);
                let is_size = ["bytes", "KiB", "MiB"].contains(&pair[1].trim_end_matches([',', ';']));
                let is_figure = number.parse::<f64>().is_ok() && !is_size;
                assert!(!is_figure, "{}: {} {}", file.path().display(), pair[0], pair[1]);
            }
        }
    }

    /// A folder with a page, a template, and a finished run of this value.
    fn place(name: &str, program: &str, page: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("parvum-lab-published-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for folder in ["docs/project", "results/published/quoted", "run"] {
            fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        let rows = [row(&OURS, program, "half round trip", 8, &[0.25; 6])];
        let write = |name: &str, text: &str| fs::write(root.join(name), text).expect("a file");
        write("README.md", page);
        write("docs/project/suites.md", "nothing\n");
        write("results/published/quoted/hop.md", QUOTED);
        let mut run = manifest();
        run.factors.load = "0.10 0.20 0.30".into();
        run.factors.cores = "2 processors".into();
        write("run/manifest.json", &serde_json::to_string(&run).expect("ours"));
        write("run/summary.json", &serde_json::to_string(&rows).expect("ours"));
        write("run/raw.jsonl", "{}\n");
        root
    }

    #[test]
    fn publish_keeps_run_and_writes_numbers_into_page() {
        let root = place("kept", "ring", PAGE);
        let said = publish_in(&root.join("run"), &root).expect("published");
        assert!(said.contains("numbers written into"), "{said}");
        assert_eq!(read(&root.join("README.md")).expect("a page"), PAGE.replace('9', "0.250"));
        for name in ["summary.json", "manifest.json"] {
            assert!(root.join("results/published/main").join(name).is_file(), "{name}");
        }
        assert!(!publish_in(&root.join("run"), &root).expect("the same").contains("numbers written"));
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn figures_of_other_tools_are_kept_and_quoted() {
        let root = place("figures", "ring", "<!-- measured: hop -->\nold\n<!-- measured: end -->\n");
        let file = root.join("hosts-encryption-17.csv");
        let table = |load: &str| {
            format!(
                "what,unit,system,round,value\n\"load before the first\",,the machine,0,{load}\n\"a hop, 8 B\",us,Parvum,0,4.5\n"
            )
        };
        fs::write(
            root.join("results/published/quoted/hop.md"),
            "{hosts-encryption.csv a hop, 8 B|Parvum|||0|0|value} us\n",
        )
        .expect("a template");
        fs::write(&file, table("9.5")).expect("written");
        let why = publish_in(&file, &root).expect_err("refused").to_string();
        assert!(why.contains("9.5 on"), "{why}");
        fs::write(&file, table("0.1")).expect("written");
        let said = publish_in(&file, &root).expect("published");
        assert!(said.contains("numbers written into"), "{said}");
        assert!(read(&root.join("README.md")).expect("a page").contains("\n4.50 us\n"));
        assert!(root.join("results/published/hosts-encryption.csv").is_file());
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn publish_refuses_run_on_busy_machine() {
        let root = place("busy", "ring", PAGE);
        let file = root.join("run/manifest.json");
        let text = read(&file).expect("a manifest");
        for (load, said) in [("1.40 0 0", "1.4 on 2 processors"), ("", "unknown")] {
            fs::write(&file, text.replace("0.10 0.20 0.30", load)).expect("written");
            let why = publish_in(&root.join("run"), &root).expect_err("refused").to_string();
            assert!(why.contains(said), "{why}");
            assert_eq!(read(&root.join("README.md")).expect("a page"), PAGE);
        }
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn publish_refuses_bad_quotes_and_changes_nothing() {
        let cases = [
            ("other", "rang", PAGE.to_owned(), "has no value ring|Parvum"),
            ("open", "ring", PAGE.replace(END, ""), "has no end"),
            ("unknown", "ring", PAGE.replace(": hop", ": hip"), "hip.md"),
        ];
        for (name, program, page, said) in cases {
            let root = place(name, program, &page);
            let why = publish_in(&root.join("run"), &root).expect_err("refused").to_string();
            assert!(why.contains(said) && why.contains("README.md"), "{why}");
            assert_eq!(read(&root.join("README.md")).expect("a page"), page);
            assert!(!root.join("results/published/main").exists());
            let why = publish_in(&root.join("docs"), &root).expect_err("refused").to_string();
            assert!(why.contains("no manifest.json"), "{why}");
            fs::remove_dir_all(root).expect("removed");
        }
    }
}
