//! Where each task's time went: stacked bars of wait, communication and computation, as in Islam's Table 8.

use super::markup::escape;
use crate::stats::goals::digits;
use std::fmt::Write;

/// One task of one system, in microseconds.
#[derive(Debug, Clone)]
pub struct Task {
    /// Blocked in receives.
    pub wait: f64,
    /// Packing, sending, unpacking.
    pub communication: f64,
    /// The rest.
    pub computation: f64,
}

/// One system's tasks.
#[derive(Debug, Clone)]
pub struct Group {
    /// Its name.
    pub label: String,
    /// Its tasks in order.
    pub tasks: Vec<Task>,
}

const BAR: f64 = 15.0;
const GAP: f64 = 3.0;
const BETWEEN: f64 = 16.0;
const TOP: f64 = 30.0;
const LEFT: f64 = 150.0;

/// The bars of one transform size, or nothing when nothing was measured.
pub fn bars(title: &str, groups: &[Group], width: f64) -> String {
    let whole = |t: &Task| t.wait + t.communication + t.computation;
    let longest: Vec<f64> = groups.iter().map(|g| g.tasks.iter().map(whole).fold(0.0, f64::max)).collect();
    let most = cut_at(&longest);
    if most <= 0.0 {
        return String::new();
    }
    let right = width - 62.0;
    let scale = (right - LEFT) / most;
    let height =
        groups.iter().map(|g| g.tasks.len() as f64 * (BAR + GAP) + BETWEEN).sum::<f64>() + TOP + 26.0;
    let mut svg =
        format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">", escape(title));
    let _ = write!(svg, "<text class=\"title\" x=\"0\" y=\"15\">{}</text>", escape(title));
    let step = nice_step(most);
    let mut tick = 0.0;
    while tick <= most {
        let x = LEFT + tick * scale;
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>\
             <text class=\"soft\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            height - 24.0,
            height - 8.0,
            round(tick)
        );
        tick += step;
    }
    let mut y = TOP + 4.0;
    for group in groups {
        let _ = write!(svg, "<text x=\"0\" y=\"{:.1}\">{}</text>", y + BAR - 3.0, escape(&group.label));
        for (number, task) in group.tasks.iter().enumerate() {
            let _ = write!(
                svg,
                "<text class=\"soft\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{number}</text>",
                LEFT - 8.0,
                y + BAR - 3.0
            );
            let mut x = LEFT;
            for (class, part) in [
                ("wait", task.wait),
                ("communication", task.communication),
                ("computation", task.computation),
            ] {
                let _ = write!(
                    svg,
                    "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\"><title>{}, task {number}: {class} {}</title></rect>",
                    (part * scale).max(0.0).min((right - x).max(0.0)),
                    escape(&group.label),
                    time(part)
                );
                x = (x + part * scale).min(right);
            }
            if whole(task) > most * 1.0001 {
                // Two strokes through a bar that is longer than the paper.
                let _ = write!(
                    svg,
                    "<path class=\"cut\" d=\"M{0:.1} {y:.1} l-6 {BAR} m6 -{BAR} m5 0 l-6 {BAR}\"/>",
                    right - 16.0
                );
            }
            let _ = write!(
                svg,
                "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 5.0,
                y + BAR - 3.0,
                time(whole(task))
            );
            y += BAR + GAP;
        }
        y += BETWEEN;
    }
    svg.push_str("</svg>");
    svg
}

/// Where the longest bars are cut: one system that takes many times as long as all others would make dots of them.
fn cut_at(longest: &[f64]) -> f64 {
    let mut sorted = longest.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted[..] {
        [.., second, last] if second > 0.0 && last > 3.0 * second => 1.4 * second,
        [.., last] => last,
        [] => 0.0,
    }
}

/// A round number of microseconds in a fitting unit.
fn round(us: f64) -> String {
    if us >= 1000.0 { format!("{} ms", us / 1000.0) } else { format!("{us} \u{b5}s") }
}

/// Microseconds in a fitting unit.
fn time(us: f64) -> String {
    match us {
        0.0 => "0".into(),
        v if v >= 1000.0 => format!("{} ms", digits(v / 1000.0)),
        v => format!("{} \u{b5}s", digits(v)),
    }
}

/// 1, 2 or 5 times a power of ten, so that about four ticks fit.
fn nice_step(most: f64) -> f64 {
    let rough = most / 4.0;
    let ten = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * ten).find(|step| *step >= rough).unwrap_or(10.0 * ten)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_steps_are_round() {
        assert_eq!(nice_step(60.0), 20.0);
        assert_eq!(nice_step(4.1), 2.0);
        assert_eq!(nice_step(3900.0), 1000.0);
    }

    #[test]
    fn outlier_does_not_flatten_other_bars() {
        assert_eq!(cut_at(&[10.0, 12.0, 400.0]), 1.4 * 12.0);
        assert_eq!(cut_at(&[10.0, 12.0, 30.0]), 30.0);
        assert_eq!((cut_at(&[7.0]), cut_at(&[])), (7.0, 0.0));
        let group = |label: &str, us| Group {
            label: label.into(),
            tasks: vec![Task { wait: us, communication: us, computation: us }],
        };
        let svg = bars("t", &[group("a", 3.0), group("b", 400.0)], 800.0);
        assert_eq!(svg.matches("class=\"cut\"").count(), 1);
        assert!(svg.contains("1.20 ms"), "its value is still said");
        for part in svg.split("<rect").skip(1) {
            let number = |name: &str| -> f64 {
                let rest = part.split_once(&format!(" {name}=\"")).expect("there").1;
                rest.split('"').next().expect("a value").parse().expect("a number")
            };
            assert!(number("x") + number("width") <= 800.0 - 62.0 + 0.2, "{part}");
        }
    }

    #[test]
    fn bars_contain_task_names() {
        let task = Task { wait: 1.0, communication: 2.0, computation: 3.0 };
        let svg = bars("t", &[Group { label: "MPICH".into(), tasks: vec![task.clone(), task] }], 800.0);
        assert!(svg.contains("task 1: computation 3.00 \u{b5}s"));
        assert_eq!(bars("t", &[], 800.0), "");
    }
}
