//! The page of a comparison of the user's own program.

use super::profile::{Process, Profile};
use super::table::{Line, seconds};
use super::{Judged, advice};
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::markup::{bytes, escape, figure, table as table_of, word_table};
use crate::report::sheet;
use crate::run::record::short_name;
use crate::stats::goals::digits;
use std::fmt::Write;

/// The whole page.
pub fn page(judged: &Judged, lines: &[Line]) -> String {
    let words: Vec<String> =
        judged.asked.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let factors = &judged.factors;
    let mut html = String::new();
    let _ = write!(
        html,
        "<h1>{}</h1><p class=\"soft\">{} &middot; {} &middot; {}</p><h2 class=\"answer\">Which system should I use?</h2><ul>",
        escape(&words.join(" ")),
        escape(&factors.date),
        escape(&factors.processor),
        escape(&factors.cores)
    );
    for answer in advice::which(judged) {
        let _ = write!(html, "<li><strong>{}</strong></li>", escape(&answer));
    }
    html.push_str("</ul>");
    for remark in advice::remarks(judged) {
        let _ = write!(html, "<p>{}</p>", escape(&remark));
    }
    times(&mut html, lines);
    plots(&mut html, judged);
    predictions(&mut html, judged);
    for (name, profile) in judged.names.iter().zip(&judged.profiles) {
        if let Ok(profile) = profile {
            profiled(&mut html, &name.name, profile);
        }
    }
    failures(&mut html, judged, lines);
    method(&mut html, judged);
    sheet(&words.join(" "), &html, &short_name(&judged.measured.lines(&judged.names)))
}

fn times(html: &mut String, lines: &[Line]) {
    let known = |value: Option<f64>, unit: &str| {
        value.map_or("&ndash;".to_owned(), |value| format!("{}{unit}", digits(value)))
    };
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            let time = match (line.seconds, &line.failure) {
                // One run has no interval.
                (Some([median, ..]), None) if line.runs == 1 => seconds(median),
                (Some([median, low, high]), None) => {
                    format!(
                        "{} <span class=\"range\">{} to {}</span>",
                        seconds(median),
                        seconds(low),
                        seconds(high)
                    )
                }
                (Some(_), Some(_)) => {
                    format!("<span class=\"missed\">failed after {} runs</span>", line.runs)
                }
                (None, _) => "<span class=\"missed\">failed</span>".into(),
            };
            vec![
                escape(&line.system),
                line.processes.to_string(),
                time,
                known(line.ratio_to_parvum, "x"),
                line.against_parvum.unwrap_or("&ndash;").to_owned(),
                known(line.speed_up, ""),
                known(line.efficiency.map(|one| 100.0 * one), " %"),
                known(line.processor_s, " s"),
                known(line.memory_mib, " MiB"),
                line.runs.to_string(),
            ]
        })
        .collect();
    let mut names = vec![
        "system",
        "processes",
        "time, 95 % interval",
        "to Parvum",
        "",
        "speed-up",
        "efficiency",
        "processor",
        "memory of a rank",
        "runs",
    ];
    let mut rows = rows;
    // A column without a value is in the way on a small screen. With one number of processes there is no speed-up.
    let is_scaled = lines.iter().any(|line| line.processes != lines[0].processes);
    for at in (0..names.len()).rev() {
        let is_empty = rows.iter().all(|row| row[at] == "&ndash;") || !is_scaled && (at == 5 || at == 6);
        if is_empty {
            names.remove(at);
            rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
    }
    html.push_str("<h2>Time of a run</h2>");
    html.push_str(&table_of(&names, &rows));
    html.push_str(
        "<p class=\"note\">Time is from the start of the launcher to its end. The ratio to Parvum is the median over blocks, in which each system \
         runs once; Wilcoxon's signed-rank test (1 %) says whether a difference is significant. Processor time and memory come from one more \
         run with a profile, of the largest number of processes.</p>",
    );
}

fn plots(html: &mut String, judged: &Judged) {
    let series = |value: fn(f64, f64) -> f64| -> Vec<Series> {
        judged
            .names
            .iter()
            .enumerate()
            .filter_map(|(way, name)| {
                let times: Vec<(u32, crate::stats::statistics::Estimate)> = judged
                    .asked
                    .processes
                    .iter()
                    .filter_map(|n| Some((*n, judged.measured.time(*n, way)?)))
                    .collect();
                let (fewest, first) = times.first().copied()?;
                let point = |(n, time): &(u32, crate::stats::statistics::Estimate)| {
                    let more = f64::from(*n) / f64::from(fewest);
                    let of = |seconds: f64| value(first.median / seconds, more);
                    Point { x: f64::from(*n), y: of(time.median), low: of(time.high), high: of(time.low) }
                };
                let points: Vec<Point> = times.iter().map(point).collect();
                (points.len() > 1).then(|| Series {
                    label: name.name.clone(),
                    class: name.class,
                    dash: "",
                    points,
                })
            })
            .collect()
    };
    let speed_up = series(|speed_up, _| speed_up);
    if speed_up.is_empty() {
        return;
    }
    let axes = |title: &'static str, y_name: &'static str| Axes {
        title,
        x: |n| format!("{n:.0}"),
        x_name: "processes",
        y_name,
        break_even: true,
        width: 520.0,
    };
    html.push_str("<h2>Speed-up and efficiency</h2><div class=\"pair\">");
    figure(
        html,
        &chart(&speed_up, &axes("Speed-up", "times")),
        "The time with the fewest processes divided by the time with so many.",
    );
    let efficiency = series(|speed_up, more| speed_up / more);
    figure(
        html,
        &chart(&efficiency, &axes("Efficiency", "of 1")),
        "The speed-up divided by how many times as many processes there are.",
    );
    html.push_str("</div>");
}

fn predictions(html: &mut String, judged: &Judged) {
    let mut rows = Vec::new();
    for (way, name) in judged.names.iter().enumerate() {
        let times: Vec<(u32, f64)> = judged
            .asked
            .processes
            .iter()
            .filter_map(|n| Some((*n, judged.measured.time(*n, way)?.median)))
            .collect();
        for factor in [2, 10] {
            if let Some((processes, time)) = advice::predicted(&times, factor) {
                rows.push(vec![escape(&name.name), processes.to_string(), seconds(time)]);
            }
        }
    }
    if !rows.is_empty() {
        html.push_str("<h2>More processes</h2>");
        html.push_str(&table_of(&["system", "processes", "predicted time"], &rows));
        html.push_str(
            "<p class=\"note\">A guess beyond what was measured, for hosts like this one: time = a + b / processes + c &times; processes, fitted to the \
             times above. <code>parvum predict</code> predicts from a trace.</p>",
        );
    }
}

fn profiled(html: &mut String, name: &str, profile: &Profile) {
    let _ = write!(
        html,
        "<h2>{}: where the time goes, {} processes</h2><p><strong>{}</strong></p>",
        escape(name),
        profile.processes,
        escape(&advice::limits(profile))
    );
    let percent = |part: f64, rank: &Process| format!("{:.0} %", 100.0 * part / rank.elapsed_s);
    let rows: Vec<Vec<String>> = profile
        .ranks
        .iter()
        .map(|rank| {
            vec![
                rank.rank.map_or("?".into(), |rank| rank.to_string()),
                seconds(rank.elapsed_s),
                percent(rank.computing(), rank),
                percent(rank.in_calls(true), rank),
                percent(rank.in_calls(false), rank),
                percent(rank.starting(), rank),
                seconds(rank.processor()),
                bytes(rank.bytes as f64),
            ]
        })
        .collect();
    html.push_str(&table_of(
        &[
            "rank",
            "time",
            "computing",
            "in calls that may wait",
            "in other calls",
            "starting and ending",
            "processor",
            "sent",
        ],
        &rows,
    ));
    let calls: Vec<Vec<String>> = profile
        .calls()
        .into_iter()
        .take(3)
        .map(|(name, time, calls, _)| {
            vec![
                name,
                seconds(time),
                format!("{:.0} %", 100.0 * time / profile.lived()),
                calls.to_string(),
                seconds(time / calls as f64),
            ]
        })
        .collect();
    if !calls.is_empty() {
        html.push_str("<h3>The calls that take most</h3>");
        html.push_str(&table_of(&["call", "time of all ranks", "share", "calls", "each"], &calls));
    }
    let messages: Vec<Vec<String>> = profile
        .messages()
        .into_iter()
        .map(|(most, count)| vec![format!("up to {}", bytes(most as f64)), count.to_string()])
        .collect();
    if !messages.is_empty() {
        html.push_str("<h3>Messages by size</h3>");
        html.push_str(&table_of(&["bytes", "messages"], &messages));
    }
}

fn failures(html: &mut String, judged: &Judged, lines: &[Line]) {
    let mut rows = Vec::new();
    for line in lines {
        let processes = line.processes.to_string();
        if let Some(why) = &line.failure {
            rows.push(vec![escape(&line.system), processes.clone(), format!("failed: {}", escape(why))]);
        }
        if let Some(other) = &line.output_differs {
            rows.push(vec![escape(&line.system), processes, escape(other)]);
        }
    }
    for absent in &judged.absent {
        rows.push(vec![escape(absent), String::new(), "not compared".into()]);
    }
    if !rows.is_empty() {
        html.push_str("<h2>What differs or failed</h2>");
        html.push_str(&word_table(&["system", "processes", "what"], &rows));
        html.push_str("<p class=\"note\">Lines of output are compared in any order, without numbers that change from run to run. <code>--check COMMAND</code> judges an output by a command of yours.</p>");
    }
}

fn method(html: &mut String, judged: &Judged) {
    let mut rows: Vec<Vec<String>> =
        judged.factors.rows().into_iter().map(|(name, value)| vec![escape(name), escape(&value)]).collect();
    rows.push(vec!["program".into(), escape(&judged.kind.program.display().to_string())]);
    rows.push(vec!["built for".into(), format!("{:?}", judged.kind.library)]);
    rows.push(vec!["seed of the order".into(), judged.seed.to_string()]);
    rows.push(vec!["disturbed blocks, which are not compared".into(), judged.measured.disturbed.to_string()]);
    html.push_str("<h2 id=\"method\">Machine</h2>");
    html.push_str(&word_table(&["what", "value"], &rows));
    html.push_str(
        "<p class=\"note\">All runs: runs.jsonl beside this page. The table above: summary.json.</p>",
    );
}
