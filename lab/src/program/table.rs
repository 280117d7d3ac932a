//! The comparison in a terminal, and as data.

use super::{Judged, advice};
use crate::artifacts::{self, csv::number};
use crate::stats::goals::digits;
use crate::stats::paired::Verdict;
use crate::table::{WIDTH, columns, wrapped};
use serde::Serialize;
use std::fmt::Write;

/// One system with one number of processes.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The system, with its version.
    pub system: String,
    /// Processes.
    pub processes: u32,
    /// Runs that count.
    pub runs: usize,
    /// Seconds of a run: the median, and its 95 % interval.
    pub seconds: Option<[f64; 3]>,
    /// The median ratio to Parvum, in blocks that have both.
    pub ratio_to_parvum: Option<f64>,
    /// Verdict of the signed-rank test on the ratio: faster, slower, same, or too few runs.
    pub against_parvum: Option<&'static str>,
    /// The time with the fewest processes divided by this one.
    pub speed_up: Option<f64>,
    /// The speed-up divided by how many times as many processes there are.
    pub efficiency: Option<f64>,
    /// Seconds of processor time of all ranks, in the profiled run.
    pub processor_s: Option<f64>,
    /// MiB of the largest rank, in the profiled run.
    pub memory_mib: Option<f64>,
    /// Why it failed.
    pub failure: Option<String>,
    /// How the output differs from that of most systems.
    pub output_differs: Option<String>,
}

/// The lines for a spreadsheet.
pub fn csv(lines: &[Line]) -> String {
    const NAMES: [&str; 14] = [
        "system",
        "processes",
        "runs",
        "seconds",
        "low",
        "high",
        "ratio_to_parvum",
        "against_parvum",
        "speed_up",
        "efficiency",
        "processor_s",
        "memory_mib",
        "failure",
        "output_differs",
    ];
    let cells = |line: &Line| {
        let seconds = |at: usize| number(line.seconds.map(|all| all[at]));
        vec![
            line.system.clone(),
            line.processes.to_string(),
            line.runs.to_string(),
            seconds(0),
            seconds(1),
            seconds(2),
            number(line.ratio_to_parvum),
            line.against_parvum.unwrap_or_default().to_owned(),
            number(line.speed_up),
            number(line.efficiency),
            number(line.processor_s),
            number(line.memory_mib),
            line.failure.clone().unwrap_or_default(),
            line.output_differs.clone().unwrap_or_default(),
        ]
    };
    artifacts::csv::csv(&NAMES, lines.iter().map(cells))
}

/// All of them.
pub fn summary(judged: &Judged) -> Vec<Line> {
    let measured = &judged.measured;
    let ours = judged.names.iter().position(|name| name.is_ours);
    let mut lines = Vec::new();
    for processes in judged.asked.processes.iter().copied() {
        let differing = measured.outputs(processes).differing;
        for (way, name) in judged.names.iter().enumerate() {
            let failure = measured.failure(processes, way).and_then(|run| run.failure.clone());
            let time = measured.time(processes, way);
            if time.is_none() && failure.is_none() {
                continue;
            }
            let first =
                judged.asked.processes.iter().find_map(|n| Some((*n, measured.time(*n, way)?.median)));
            let speed_up = time.zip(first).map(|(time, (_, seconds))| seconds / time.median);
            let more = first.map(|(n, _)| f64::from(processes) / f64::from(n));
            let profile = judged.profiles[way].as_ref().ok().filter(|profile| profile.processes == processes);
            let ratios = ours.filter(|ours| *ours != way).map(|ours| measured.ratios(processes, way, ours));
            lines.push(Line {
                system: name.name.clone(),
                processes,
                runs: time.map_or(0, |one| one.count),
                seconds: time.map(|one| [one.median, one.low, one.high]),
                ratio_to_parvum: ratios.as_deref().and_then(crate::stats::statistics::median),
                against_parvum: ratios
                    .as_deref()
                    .filter(|all| !all.is_empty())
                    .map(|all| word(crate::stats::paired::judge(all))),
                speed_up,
                efficiency: speed_up.zip(more).map(|(speed_up, more)| speed_up / more),
                processor_s: profile.map(|one| one.processor()),
                memory_mib: profile.map(|one| one.memory()),
                failure,
                output_differs: differing.iter().find(|one| one.way == way).map(|one| one.what.clone()),
            });
        }
    }
    lines
}

/// The name of a verdict.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same within noise",
        Verdict::TooFew => "too few runs",
    }
}

/// Seconds as a person reads them.
pub fn seconds(value: f64) -> String {
    match value {
        value if value < 1e-3 => format!("{} µs", digits(value * 1e6)),
        value if value < 1.0 => format!("{} ms", digits(value * 1e3)),
        value => format!("{} s", digits(value)),
    }
}

/// The table, and the answers below it.
pub fn text(judged: &Judged, summary: &[Line]) -> String {
    let command: Vec<String> =
        judged.asked.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut text = format!("{}\n\n", wrapped(&command.join(" "), WIDTH).join("\n"));
    let mut lines: Vec<Vec<String>> = summary
        .iter()
        .map(|line| {
            let known = |value: Option<String>| value.unwrap_or_else(|| "-".into());
            let time = line.seconds.map(|[median, low, high]| match line.runs {
                // One run has no interval.
                1 => seconds(median),
                _ => format!(
                    "{} [{} {}]",
                    seconds(median),
                    digits_like(low, median),
                    digits_like(high, median)
                ),
            });
            vec![
                line.system.clone(),
                line.processes.to_string(),
                match (&line.failure, time) {
                    (Some(_), None) => "failed".into(),
                    (Some(_), Some(_)) => format!("failed after {} runs", line.runs),
                    (None, time) => known(time),
                },
                known(line.ratio_to_parvum.map(|ratio| format!("{}x", digits(ratio)))),
                known(line.against_parvum.map(str::to_owned)),
                known(line.speed_up.map(digits)),
            ]
        })
        .collect();
    let mut names = vec!["system", "n", "time [95 %]", "to Parvum", "", "speed-up"];
    // With one number of processes there is no speed-up.
    if summary.iter().all(|line| line.processes == summary[0].processes) {
        names.pop();
        lines.iter_mut().for_each(|line| line.truncate(names.len()));
    }
    columns(&mut text, &names, &lines);
    text.push('\n');
    let mut say = |line: &str| {
        let _ = writeln!(text, "{}", wrapped(line, WIDTH).join("\n"));
    };
    for answer in advice::which(judged) {
        say(&answer);
    }
    for (name, profile) in judged.names.iter().zip(&judged.profiles) {
        if let Ok(profile) = profile {
            say(&format!("{}: {}", name.name, advice::limits(profile)));
        }
    }
    for line in summary {
        if let Some(why) = &line.failure {
            say(&format!("{} failed with {}: {why}", line.system, advice::plural(line.processes)));
        }
        if let Some(other) = &line.output_differs {
            say(&format!("{} with {} {other}.", line.system, advice::plural(line.processes)));
        }
    }
    for remark in advice::remarks(judged) {
        say(&remark);
    }
    if judged.measured.disturbed > 0 {
        say(&format!(
            "Blocks that are not compared, because the computer changed its speed or other programs used it: {}.",
            judged.measured.disturbed
        ));
    }
    for absent in &judged.absent {
        say(&format!("Not compared: {absent}"));
    }
    text
}

/// A bound of an interval in the unit of its median.
fn digits_like(value: f64, median: f64) -> String {
    digits(
        value
            * if median < 1e-3 {
                1e6
            } else if median < 1.0 {
                1e3
            } else {
                1.0
            },
    )
}
