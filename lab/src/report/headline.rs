//! What a newcomer should see first: for each question, each family's best answer.

use super::markup::escape;
use crate::stats::goals::digits;
use crate::stats::statistics::{Verdict, compare};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Family, System};
use std::fmt::Write;

/// A question that a card answers.
#[derive(Debug)]
pub struct Question {
    title: &'static str,
    program: &'static str,
    metric: &'static str,
    tasks: u32,
    size: u64,
    large_wins: bool,
}

impl Question {
    /// Of two tasks; the smallest answer wins.
    pub const fn small(title: &'static str, program: &'static str, metric: &'static str, size: u64) -> Self {
        Question { title, program, metric, tasks: 2, size, large_wins: false }
    }

    /// Of two tasks; the largest answer wins.
    pub const fn large(title: &'static str, program: &'static str, metric: &'static str, size: u64) -> Self {
        Question { large_wins: true, ..Question::small(title, program, metric, size) }
    }

    /// Of so many tasks.
    pub const fn on(self, tasks: u32) -> Self {
        Question { tasks, ..self }
    }
}

/// The colour of a system.
pub fn class(system: &System) -> &'static str {
    match (system.family, system.route) {
        (Family::Parvum, "tcp") => "s-parvum2",
        (Family::Parvum, "routed") => "s-parvum3",
        (Family::Parvum, _) => "s-parvum",
        (Family::Engine, _) => "s-engine",
        (Family::Pvm, "daemon") => "s-pvm2",
        (Family::Pvm, _) => "s-pvm",
        (Family::OpenMpi, _) => "s-openmpi",
        (Family::Mpich, _) => "s-mpich",
        (Family::OpenMpi4, _) => "s-openmpi4",
        (Family::Mpich4, _) => "s-mpich4",
        (Family::Ucx, _) => "s-ucx",
        (Family::Sockets, _) => "s-floor",
        (Family::Nx, _) => "s-nx",
        (Family::Mpi, _) => "s-mpi",
        (Family::Cmmd, _) => "s-cmmd",
        (Family::Containers, _) => "s-containers",
        (Family::Tmk, _) => "s-parvum",
        (Family::TmkLazy, _) => "s-engine",
        (Family::TmkClassic, _) => "s-pvm",
        (Family::TmkHome, _) => "s-parvum2",
        (Family::Hybrid, _) => "s-parvum3",
        (Family::Python, _) => "s-parvum",
        (Family::PyMpich, _) => "s-mpich",
        (Family::PyOpenMpi, _) => "s-openmpi",
        (Family::Ray, _) => "s-pvm",
        (Family::Dask, _) => "s-ucx",
        (Family::Loky, _) => "s-nx",
        (Family::Multiprocessing, _) => "s-floor",
    }
}

/// One card for each question that has at least one answer.
pub fn cards(questions: &[Question], systems: &[System], rows: &[Row]) -> String {
    let rows = Rows(rows);
    let mut html = String::from("<div class=\"cards\">");
    for question in questions {
        let answers = answers(&rows, systems, question);
        if !answers.is_empty() {
            card(&mut html, question, &answers);
        }
    }
    html.push_str("</div>");
    html
}

/// Each family's best row, best family first.
fn answers<'a>(rows: &Rows<'a>, systems: &[System], question: &Question) -> Vec<(System, &'a Row)> {
    let mut answers: Vec<(System, &Row)> = Vec::new();
    let better = |a: f64, b: f64| if question.large_wins { a > b } else { a < b };
    for system in systems.iter().copied() {
        let Some(row) = rows.find(question.program, &system, question.metric, question.tasks, question.size)
        else {
            continue;
        };
        match answers.iter_mut().find(|(other, _)| other.family == system.family) {
            Some(known) if better(row.median, known.1.median) => *known = (system, row),
            Some(_) => {}
            None => answers.push((system, row)),
        }
    }
    answers.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    if question.large_wins {
        answers.reverse();
    }
    answers
}

fn card(html: &mut String, question: &Question, answers: &[(System, &Row)]) {
    let best = answers[0].1;
    let scale = Scale::of(answers.iter().map(|(_, row)| *row));
    let _ = write!(html, "<div class=\"card\"><h3>{}</h3>", escape(question.title));
    for (place, (system, row)) in answers.iter().enumerate() {
        let ratio = if question.large_wins { best.median / row.median } else { row.median / best.median };
        let far = match compare(&row.launches, &best.launches) {
            _ if place == 0 => String::new(),
            verdict @ (Verdict::NoDifferenceShown | Verdict::TooFew) => {
                uncertain(verdict, ratio, row.launches.len(), best.launches.len())
            }
            // How many times one share of next to nothing goes into another says little.
            _ if row.unit == "%" || !ratio.is_finite() => String::new(),
            _ if question.large_wins => format!("{}x less", digits(ratio)),
            _ => format!("{}x", digits(ratio)),
        };
        let _ = write!(
            html,
            "<div class=\"row {}{}\"><span class=\"who\">{}</span><span class=\"value\">{} {}</span>{}{}</div>",
            class(system),
            if place == 0 { " first" } else { "" },
            escape(&system.label()),
            digits(row.median),
            escape(&row.unit.replace("us", "\u{b5}s")),
            if far.is_empty() { String::new() } else { format!("<span class=\"far soft\">{far}</span>") },
            scale.as_ref().map_or_else(String::new, |scale| scale.track(row))
        );
    }
    html.push_str("</div>");
}

/// What is said of a distance that no test confirms.
fn uncertain(verdict: Verdict, ratio: f64, here: usize, there: usize) -> String {
    match verdict {
        // The distance is a fact, the difference is not tested.
        Verdict::TooFew if ratio.is_finite() => {
            format!(
                "{}x, untested: {} launch{}",
                digits(ratio),
                here.min(there),
                if here.min(there) == 1 { "" } else { "es" }
            )
        }
        // Medians that far apart would be told apart by more launches, or they would come closer.
        Verdict::NoDifferenceShown if ratio.is_finite() && ratio >= FAR => {
            format!("{}x, not told apart: too few launches ({here} and {there})", digits(ratio))
        }
        _ => "not told apart".to_owned(),
    }
}

/// Medians that lie this many times apart look different to anybody.
const FAR: f64 = 1.3;

/// A logarithmic scale around a card's values and their intervals.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// None where nothing is above 0.
    fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<Scale> {
        let values: Vec<f64> =
            rows.flat_map(|row| [row.low, row.median, row.high]).filter(|v| *v > 0.0).collect();
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        // A little air, and never so narrow that noise looks like distance.
        Some(Scale { low: low.ln() - 0.35, high: high.ln().max(low.ln() + 0.5) + 0.35 })
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.ln() - self.low) / (self.high - self.low);
        100.0 * share.clamp(0.0, 1.0)
    }

    fn track(&self, row: &Row) -> String {
        if row.median <= 0.0 {
            return String::from("<span class=\"track\"></span>");
        }
        let (low, high) = (self.at(row.low), self.at(row.high));
        format!(
            "<span class=\"track\" title=\"{} to {}, {} launches\"><u style=\"left:{low:.2}%;width:{:.2}%\"></u><i style=\"left:{:.2}%\"></i></span>",
            digits(row.low),
            digits(row.high),
            row.samples,
            high - low,
            self.at(row.median)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::tests::row;
    use crate::systems::system::Encoding;

    #[test]
    fn a_distance_that_no_test_confirms_is_said_with_its_launches() {
        let said = uncertain(Verdict::NoDifferenceShown, 20.6 / 8.1, 4, 5);
        assert_eq!(said, "2.54x, not told apart: too few launches (4 and 5)");
        assert_eq!(uncertain(Verdict::NoDifferenceShown, 1.02, 9, 9), "not told apart");
        assert_eq!(uncertain(Verdict::TooFew, 2.0, 3, 8), "2.00x, untested: 3 launches");
    }

    #[test]
    fn equal_ratios_are_equal_distances() {
        let system = System::new(Family::Parvum, "shm", Encoding::Raw);
        let rows = [1.0, 100.0, 10_000.0].map(|v| row(&system, "ring", "half round trip", 8, &[v; 6]));
        let scale = Scale::of(rows.iter()).expect("values");
        let at: Vec<f64> = rows.iter().map(|row| scale.at(row.median)).collect();
        assert!((at[1] - at[0] - (at[2] - at[1])).abs() < 1e-9 && at[1] - at[0] > 40.0, "{at:?}");
        assert!(scale.track(&rows[0]).contains("1.00 to 1.00, 6 launches"));
        let nothing = row(&system, "blocked", "processor", 0, &[0.0; 6]);
        assert!(Scale::of([&nothing].into_iter()).is_none(), "zero has no place");
    }
}
