//! The paper's application, the transform: its time, its speed-up, and what of it is message passing.

use super::{FFT_TASKS, INTERFACES};
use crate::papers::printed;
use crate::stats::goals::digits;
use crate::stats::summary::Rows;
use crate::systems::system::System;
use crate::table::columns;
use std::fmt::Write;

/// At these lengths the paper split the time, on four nodes.
const SPLIT_POINTS: [u64; 2] = [128, 1024];
const SPLIT_TASKS: u32 = 4;

/// Wait, communication and computation of task 0, in microseconds.
pub fn split(rows: &Rows, system: &System, points: u64) -> Option<[f64; 3]> {
    let part = |metric: &str| {
        rows.of("fft", system)
            .find(|row| {
                row.metric == metric && row.tasks == SPLIT_TASKS && row.size == points && row.task == Some(0)
            })
            .map(|row| row.median)
    };
    Some([part("wait")?, part("communication")?, part("computation")?])
}

/// How many times faster than one task, at 512 points as in the paper.
pub fn speed_up(rows: &Rows, system: &System, tasks: u32) -> Option<f64> {
    let time = |tasks| rows.find("fft", system, "time", tasks, 512).map(|row| row.median);
    Some(time(1)? / time(tasks)?)
}

/// Tables 6 to 9, ours and then the paper's.
pub fn render(text: &mut String, rows: &Rows) {
    let times: Vec<Vec<String>> = each(|system| {
        let mut cells = Vec::new();
        for tasks in FFT_TASKS {
            let time = |points| rows.find("fft", system, "time", tasks, points).map(|row| row.median);
            cells.push(SPLIT_POINTS.map(time));
        }
        let known = cells.iter().flatten().any(Option::is_some);
        known.then(|| {
            let cell = |time: &Option<f64>| time.map_or_else(|| "-".into(), digits);
            cells.iter().map(|pair| format!("{} / {}", cell(&pair[0]), cell(&pair[1]))).collect()
        })
    });
    if times.is_empty() {
        return;
    }
    text.push_str("FFT (Islam, Tables 6 and 7): us for 128 / 1024 points; the paper's in ms.\n");
    let mut lines = times;
    lines.extend(printed::FFT_TIMES.iter().map(|times| {
        let pair = |ms: [f64; 4]| format!("{} / {}", digits(ms[0]), digits(ms[3]));
        vec![times.system.to_owned(), String::new(), pair(times.two), pair(times.four), String::new()]
    }));
    columns(text, &["", "1 task", "2 tasks", "4 tasks", "8 tasks"], &lines);

    let _ = writeln!(
        text,
        "\nWhere the time of one of 4 tasks goes (Table 8), in %: wait, communication, computation; and the speed-up of\n\
         512 points (Table 9)."
    );
    let shares = |parts: [f64; 3]| {
        let whole: f64 = parts.iter().sum();
        parts.map(|part| format!("{:.0}", 100.0 * part / whole)).join(" ")
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let mut lines = each(|system| {
        let mut cells: Vec<Option<String>> =
            SPLIT_POINTS.iter().map(|points| split(rows, system, *points).map(shares)).collect();
        cells.extend(FFT_TASKS[1..].iter().map(|tasks| speed_up(rows, system, *tasks).map(digits)));
        cells.iter().any(Option::is_some).then(|| cells.into_iter().map(or_dash).collect())
    });
    lines.extend(printed::SPLITS.iter().map(|split| {
        let known = printed::SPEED_UPS.iter().find(|speed_up| speed_up.system == split.system);
        let on = |at: usize| known.map_or_else(String::new, |speed_up| digits(speed_up.on[at]));
        vec![split.system.to_owned(), shares(split.small), shares(split.large), on(0), on(1), String::new()]
    }));
    columns(text, &["", "128 points", "1024 points", "on 2", "on 4", "on 8"], &lines);
}

/// A line for each interface that has any cell.
fn each(cells: impl Fn(&System) -> Option<Vec<String>>) -> Vec<Vec<String>> {
    let line = |system: &System| {
        let mut line = vec![system.label()];
        line.extend(cells(system)?);
        Some(line)
    };
    INTERFACES.iter().filter_map(line).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{ENGINE, NX};
    use super::*;
    use crate::stats::summary::Row;
    use crate::stats::summary::tests::row;

    /// Transforms of a system that is slower on more tasks.
    pub fn transforms(system: &System) -> Vec<Row> {
        let mut rows = Vec::new();
        for tasks in FFT_TASKS {
            for points in [128, 256, 512, 1024] {
                let time = row(system, "fft", "time", points, &[10.0 * f64::from(tasks); 6]);
                rows.push(Row { tasks, ..time.clone() });
                for task in 0..tasks {
                    for (metric, us) in [("wait", 1.0), ("communication", 2.0), ("computation", 7.0)] {
                        let part = row(system, "fft", metric, points, &[us * f64::from(tasks); 6]);
                        rows.push(Row { tasks, task: Some(task), ..part });
                    }
                }
            }
        }
        rows
    }

    #[test]
    fn split_is_of_task_0_only() {
        let rows = transforms(&NX);
        let rows = Rows(&rows);
        assert_eq!(split(&rows, &NX, 1024), Some([4.0, 8.0, 28.0]));
        assert_eq!(speed_up(&rows, &NX, 2), Some(0.5));
        assert_eq!(speed_up(&rows, &ENGINE, 2), None);
    }

    #[test]
    fn transform_table_shows_paper_lines_and_fits() {
        let rows = transforms(&NX);
        let mut text = String::new();
        render(&mut text, &Rows(&rows));
        for part in ["Parvum NX shm", "20.0 / 20.0", "10 20 70", "NX/2 on iPSC/2", "40.0 / 490", "3.77"] {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
        assert!(!text.contains("CMMD"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    }
}
