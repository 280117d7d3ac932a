//! Numbers that tools beside the laboratory measure (`./x hosts --encryption`, `--calibrate`), published as one file each: a line
//! `"what",unit,system,round,value` for every number. Pages quote them as rows whose program is what was measured, and whose metric is `value`.

use crate::error::LabError;
use crate::stats::statistics::{median, sorted};
use crate::stats::summary::Row;
use std::fs;
use std::path::Path;

/// How busy the machine was: `tests/src/figures.rs` writes it.
const LOAD: (&str, &str) = ("load before the first", "the machine");

/// Under which name such a file is published: its own without the time.
pub(super) fn name_of(file: &Path) -> Option<String> {
    let stem = file.file_name()?.to_str()?.strip_suffix(".csv")?;
    let name = match stem.rsplit_once('-') {
        Some((name, time)) if !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => stem,
    };
    Some(format!("{name}.csv"))
}

/// The medians in such a file, in the order in which they stand there.
pub(super) fn rows(file: &Path) -> Result<Vec<Row>, LabError> {
    let text = fs::read_to_string(file).map_err(LabError::file("read", file))?;
    let mut rows: Vec<Row> = Vec::new();
    for (at, line) in text.lines().enumerate().skip(1) {
        let damaged = || LabError::Samples {
            path: file.to_owned(),
            line: at + 1,
            why: "it is not \"what\",unit,system,round,value".to_owned(),
        };
        let (what, unit, system, value) = fields(line).ok_or_else(damaged)?;
        match rows.iter_mut().find(|row| row.program == what && row.system == system) {
            Some(row) => row.launches.push(value),
            None => rows.push(row(what, unit, system, value)),
        }
    }
    for row in &mut rows {
        let values = sorted(&row.launches);
        row.median = median(&values).unwrap_or(f64::NAN);
        (row.low, row.high) = (values[0], values[values.len() - 1]);
        row.samples = values.len();
    }
    Ok(rows)
}

/// The load before the first number, if it was noted.
pub(super) fn load(rows: &[Row]) -> Option<f64> {
    rows.iter().find(|row| (row.program.as_str(), row.system.as_str()) == LOAD).map(|row| row.median)
}

fn fields(line: &str) -> Option<(&str, &str, &str, f64)> {
    let (what, rest) = line.strip_prefix('"')?.split_once("\",")?;
    let [unit, system, _round, value] = rest.split(',').collect::<Vec<_>>().try_into().ok()?;
    Some((what, unit, system, value.parse().ok()?))
}

fn row(what: &str, unit: &str, system: &str, value: f64) -> Row {
    Row {
        program: what.to_owned(),
        system: system.to_owned(),
        route: String::new(),
        encoding: String::new(),
        tasks: 0,
        size: 0,
        metric: "value".to_owned(),
        unit: unit.to_owned(),
        task: None,
        median: value,
        low: value,
        high: value,
        samples: 1,
        spread: None,
        launches: vec![value],
        launch_numbers: Vec::new(),
        blocks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_file_gives_median_per_thing_and_system() {
        let file = std::env::temp_dir().join(format!("parvum-lab-figures-{}.csv", std::process::id()));
        let text = "what,unit,system,round,value\n\"load before the first\",,the machine,0,0.25\n\
                    \"a hop, 8 B\",us,Parvum,0,3\n\"a hop, 8 B\",us,TCP,0,5\n\"a hop, 8 B\",us,Parvum,1,9\n\"a hop, 8 B\",us,Parvum,2,4\n";
        fs::write(&file, text).expect("written");
        let rows = rows(&file).expect("rows");
        assert_eq!((load(&rows), rows.len()), (Some(0.25), 3));
        assert_eq!((rows[1].median, rows[1].low, rows[1].high, rows[1].samples), (4.0, 3.0, 9.0, 3));
        assert_eq!((rows[2].system.as_str(), rows[2].median, rows[2].unit.as_str()), ("TCP", 5.0, "us"));
        fs::write(&file, text.replace(",5\n", ",much\n")).expect("written");
        let why = super::rows(&file).expect_err("refused").to_string();
        assert!(why.contains("line 4"), "{why}");
        fs::remove_file(file).expect("removed");
    }

    #[test]
    fn published_file_name_drops_its_time() {
        let named = |file: &str| name_of(Path::new(file));
        assert_eq!(named("results/hosts-encryption-1795622614.csv"), Some("hosts-encryption.csv".into()));
        assert_eq!(named("hosts-speed.csv"), Some("hosts-speed.csv".into()));
        assert_eq!(named("results/2026-11-26"), None);
    }
}
