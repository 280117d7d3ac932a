//! What a newcomer should see first: for each question, each family's best answer.

use super::markup::escape;
use crate::run::experiment::Measure;
use crate::run::record::{LaunchRecord, Manifest};
use crate::stats::goals::digits;
use crate::stats::paired::compare_rows;
use crate::stats::statistics::Verdict;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Family, System};
use std::fmt::Write;

/// A question that a card answers.
#[derive(Debug)]
pub struct Question {
    pub(super) title: &'static str,
    program: &'static str,
    metric: &'static str,
    tasks: u32,
    size: u64,
    pub(super) large_wins: bool,
    /// Whether there are more processes than cores.
    pub(super) is_crowded: bool,
}

impl Question {
    /// Of two tasks; the smallest answer wins.
    pub const fn small(title: &'static str, program: &'static str, metric: &'static str, size: u64) -> Self {
        Question { title, program, metric, tasks: 2, size, large_wins: false, is_crowded: false }
    }

    /// Of two tasks; the largest answer wins.
    pub const fn large(title: &'static str, program: &'static str, metric: &'static str, size: u64) -> Self {
        Question { large_wins: true, ..Question::small(title, program, metric, size) }
    }

    /// Of so many tasks.
    pub const fn on(self, tasks: u32) -> Self {
        Question { tasks, ..self }
    }

    /// Of more processes than cores.
    pub const fn crowded(self) -> Self {
        Question { is_crowded: true, ..self }
    }

    /// Whether a launch of this measure answers the question.
    pub fn is_answered_by(&self, measure: &Measure) -> bool {
        let has_size = self.size == 0 || measure.sizes.contains(&self.size);
        self.program == measure.program && self.tasks == measure.tasks && has_size
    }

    /// The systems that tried and never finished, each with the seconds that its longest launch took.
    pub(super) fn unfinished(&self, systems: &[System], manifest: &Manifest) -> Vec<(System, f64)> {
        let launches = |system: &System| {
            let id = system.id();
            let is_of = move |program: &str, tasks: u32, of: &str| {
                program == self.program && tasks == self.tasks && of == id
            };
            manifest.launches.iter().filter(move |one| is_of(&one.program, one.tasks, &one.system))
        };
        let never = |system: &System| {
            let mut all = launches(system).peekable();
            all.peek().is_some() && all.all(LaunchRecord::has_failed)
        };
        let longest = |system: &System| launches(system).map(|one| one.elapsed_s).fold(0.0, f64::max);
        systems.iter().filter(|system| never(system)).map(|system| (*system, longest(system))).collect()
    }
}

/// What one family answers: the best of its systems, and its row.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Which system.
    pub system: System,
    /// Its numbers.
    pub row: &'a Row,
}

/// The name of a system with its version.
pub fn named(system: &System, manifest: &Manifest) -> String {
    let label = system.label();
    let installed = manifest.systems.iter().find(|one| one.name == system.family.name());
    // Without the number of Debian's package.
    let version = installed.and_then(|one| one.version.split([' ', '-']).next()).unwrap_or_default();
    // Names of our own are all of this release.
    match version {
        "" => label,
        _ if system.family.is_ours() || label.contains(version) => label,
        version => format!("{label} {version}"),
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

/// One card for each question that has at least one answer. Measurements of more processes than cores stand apart: they are about who gets a
/// processor when.
pub fn cards(
    questions: &[Question],
    systems: &[System],
    rows: &[Row],
    manifest: &Manifest,
    is_doubtful: bool,
) -> String {
    let rows = Rows(rows);
    let mut html = String::new();
    for is_crowded in [false, true] {
        let mut cards = String::new();
        for question in questions.iter().filter(|question| question.is_crowded == is_crowded) {
            let answers = answers(&rows, systems, question);
            let unfinished = question.unfinished(systems, manifest);
            if !answers.is_empty() || !unfinished.is_empty() {
                card(&mut cards, question, &answers, &unfinished, manifest);
            }
        }
        if is_crowded && !cards.is_empty() {
            html.push_str(
                "<h2>More processes than cores</h2><p>A system whose processes spin while they wait keeps others from running: here that costs \
                 thousands of times more than the message.</p>",
            );
        }
        let doubtful = if is_doubtful { " doubtful" } else { "" };
        let _ = write!(html, "<div class=\"cards{doubtful}\">{cards}</div>");
    }
    html
}

/// Each family's best row, best family first.
pub fn answers<'a>(rows: &Rows<'a>, systems: &[System], question: &Question) -> Vec<Answer<'a>> {
    let mut answers: Vec<Answer<'_>> = Vec::new();
    let better = |a: f64, b: f64| if question.large_wins { a > b } else { a < b };
    for system in systems.iter().copied() {
        let Some(row) = rows.find(question.program, &system, question.metric, question.tasks, question.size)
        else {
            continue;
        };
        match answers.iter_mut().find(|other| other.system.family == system.family) {
            Some(known) if better(row.median, known.row.median) => *known = Answer { system, row },
            Some(_) => {}
            None => answers.push(Answer { system, row }),
        }
    }
    answers.sort_by(|a, b| a.row.median.total_cmp(&b.row.median));
    if question.large_wins {
        answers.reverse();
    }
    answers
}

fn card(
    html: &mut String,
    question: &Question,
    answers: &[Answer<'_>],
    unfinished: &[(System, f64)],
    manifest: &Manifest,
) {
    let scale = Scale::of(answers.iter().map(|answer| answer.row));
    let _ = write!(html, "<div class=\"card\"><h3>{}</h3>", escape(question.title));
    for (place, Answer { system, row }) in answers.iter().enumerate() {
        let far = if place == 0 { String::new() } else { distance(question, row, answers[0].row) };
        let _ = write!(
            html,
            "<div class=\"row {}{}\"><span class=\"who\">{}</span><span class=\"value\">{}</span>{}{}</div>",
            class(system),
            if place == 0 { " first" } else { "" },
            escape(&named(system, manifest)),
            value(row),
            if far.is_empty() { String::new() } else { format!("<span class=\"far soft\">{far}</span>") },
            scale.as_ref().map_or_else(String::new, |scale| scale.track(row))
        );
    }
    for (system, seconds) in unfinished {
        let _ = write!(
            html,
            "<div class=\"row {}\"><span class=\"who\">{}</span><span class=\"value missed\">did not finish ({seconds:.0} s)</span></div>",
            class(system),
            escape(&named(system, manifest)),
        );
    }
    html.push_str("</div>");
}

/// A median with its unit.
pub(super) fn value(row: &Row) -> String {
    format!("{} {}", digits(row.median), row.unit.replace("us", "\u{b5}s"))
}

/// How far a row is from the best one, and what is known of the difference.
pub(super) fn distance(question: &Question, row: &Row, best: &Row) -> String {
    let ratio = if question.large_wins { best.median / row.median } else { row.median / best.median };
    match compare_rows(row, best) {
        verdict @ (Verdict::NoDifferenceShown | Verdict::TooFew) => {
            uncertain(verdict, ratio, row.launches.len(), best.launches.len())
        }
        // How many times one share of next to nothing goes into another says little.
        _ if row.unit == "%" || !ratio.is_finite() => String::new(),
        _ if question.large_wins => format!("{}x less", digits(ratio)),
        _ => format!("{}x", digits(ratio)),
    }
}

/// What is said of a distance that no test confirms.
fn uncertain(verdict: Verdict, ratio: f64, here: usize, there: usize) -> String {
    match verdict {
        // The distance is a fact, the difference is not tested.
        Verdict::TooFew if ratio.is_finite() => {
            let runs = here.min(there);
            format!("{}x, too few runs ({runs})", digits(ratio))
        }
        // Medians that far apart would be told apart by more launches, or they would come closer.
        Verdict::NoDifferenceShown if ratio.is_finite() && ratio >= FAR => {
            format!("{}x, not significant ({here} and {there} runs)", digits(ratio))
        }
        _ => "same within noise".to_owned(),
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
    fn distance_names_launches_if_no_test_confirms_it() {
        let said = uncertain(Verdict::NoDifferenceShown, 20.6 / 8.1, 4, 5);
        assert_eq!(said, "2.54x, not significant (4 and 5 runs)");
        assert_eq!(uncertain(Verdict::NoDifferenceShown, 1.02, 9, 9), "same within noise");
        assert_eq!(uncertain(Verdict::TooFew, 2.0, 3, 8), "2.00x, too few runs (3)");
    }

    #[test]
    fn scale_shows_equal_ratios_as_equal_distances() {
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
