//! What the folder of an interrupted session holds: the launches that were whole, and their lines.

use crate::error::LabError;
use crate::run::record::LaunchRecord;
use crate::stats::summary::Recorded;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Every sample.
pub const RAW: &str = "raw.jsonl";
/// Every launch, while the session runs; the manifest has them afterwards.
pub const LAUNCHES: &str = "launches.jsonl";

/// Launches and what they measured.
#[derive(Debug, Default)]
pub struct PartialRun {
    /// In the order run.
    pub launches: Vec<LaunchRecord>,
    /// Their lines.
    pub lines: Vec<Recorded>,
}

impl PartialRun {
    /// Seconds that the launches took.
    pub fn spent(&self) -> f64 {
        self.launches.iter().map(|launch| launch.elapsed_s).sum()
    }
}

/// Reads it. A last line that was not written to its end is left out, and so are lines of a launch that is not in the list: it was
/// under way. A folder without these files holds nothing yet.
pub fn read(folder: &Path) -> Result<PartialRun, LabError> {
    let launches: Vec<LaunchRecord> = lines_of(&folder.join(LAUNCHES))?;
    let mut lines: Vec<Recorded> = lines_of(&folder.join(RAW))?;
    lines.retain(|line| line.launch < launches.len());
    Ok(PartialRun { launches, lines })
}

/// The whole lines of a file; of one that is not there, none.
pub fn lines_of<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>, LabError> {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(LabError::file("read", file)(cause)),
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let each = bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate();
    each.map(|(at, line)| {
        let damaged = |why: serde_json::Error| LabError::Samples {
            path: file.to_owned(),
            line: at + 1,
            why: why.to_string(),
        };
        serde_json::from_slice(line).map_err(damaged)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::record::Folder;
    use crate::stats::samples::Line;
    use std::io::Write;

    fn launch(number: usize) -> LaunchRecord {
        LaunchRecord {
            launch: number,
            job: "ring: Parvum".into(),
            program: "ring".into(),
            system: "parvum".into(),
            tasks: 2,
            command: "ring".into(),
            elapsed_s: 1.5,
            load: "0".into(),
            failure: None,
            ..LaunchRecord::default()
        }
    }

    fn line(number: usize) -> Recorded {
        let line = Line { program: "ring".into(), tasks: 2, samples_ns: vec![7], ..Line::default() };
        Recorded::new(number, "ring", None, line)
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("parvum-lab-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    fn append(file: &Path, text: &str) {
        let mut file = std::fs::OpenOptions::new().append(true).open(file).expect("it is there");
        file.write_all(text.as_bytes()).expect("written");
    }

    #[test]
    fn resumed_run_keeps_whole_launches_and_overwrites_rest() {
        let path = folder("kept");
        let (mut begun, nothing) = Folder::go_on(&path).expect("a folder");
        assert!(nothing.launches.is_empty() && nothing.lines.is_empty());
        begun.keep(&launch(0), &[line(0), line(0)]).expect("kept");
        drop(begun);
        // The second launch's lines were written, one of them in part, and then the power went.
        let other = serde_json::to_string(&line(1)).expect("it is ours");
        append(&path.join(RAW), &format!("{other}\n{}", &other[..20]));
        append(&path.join(LAUNCHES), "{\"launch\":1,");
        let (mut again, kept) = Folder::go_on(&path).expect("a folder");
        assert_eq!((kept.launches.len(), kept.lines.len(), kept.spent()), (1, 2, 1.5));
        again.keep(&launch(1), &[line(1)]).expect("kept");
        drop(again);
        let kept = read(&path).expect("all whole");
        assert_eq!(kept.launches, [launch(0), launch(1)]);
        assert_eq!(kept.lines.iter().map(|line| line.launch).collect::<Vec<_>>(), [0, 0, 1]);
        std::fs::remove_dir_all(path).expect("removed");
    }

    #[test]
    fn damage_before_the_end_is_refused_with_its_line() {
        let path = folder("damaged");
        let (mut begun, _) = Folder::go_on(&path).expect("a folder");
        begun.keep(&launch(0), &[line(0)]).expect("kept");
        drop(begun);
        append(&path.join(RAW), "{\"launch\":0,\n{}\n");
        let why = Folder::go_on(&path).expect_err("refused").to_string();
        assert!(why.contains("raw.jsonl, line 2") && why.contains("damaged"), "{why}");
        std::fs::remove_dir_all(path).expect("removed");
    }
}
