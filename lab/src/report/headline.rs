//! What a newcomer should see first: for each question, each family's best answer.

use super::markup::escape;
use crate::goals::digits;
use crate::statistics::{Verdict, compare};
use crate::summary::{Row, Rows};
use crate::systems::{Family, System};
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
        (Family::Nx, _) => "s-nx",
        (Family::Cmmd, _) => "s-cmmd",
        (Family::Containers, _) => "s-containers",
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
    let most = answers.iter().map(|(_, row)| row.median).fold(0.0, f64::max);
    let _ = write!(html, "<div class=\"card\"><h3>{}</h3>", escape(question.title));
    for (place, (system, row)) in answers.iter().enumerate() {
        let ratio = if question.large_wins { best.median / row.median } else { row.median / best.median };
        let far = match compare(&row.launches, &best.launches) {
            _ if place == 0 => String::new(),
            Verdict::NoDifferenceShown => "no difference shown".to_owned(),
            // How many times one share of next to nothing goes into another says little.
            _ if row.unit == "%" || !ratio.is_finite() => String::new(),
            // Fewer than four launches a side: the distance is a fact, the difference is not tested.
            Verdict::TooFew => format!("{}x, untested", digits(ratio)),
            _ if question.large_wins => format!("{}x less", digits(ratio)),
            _ => format!("{}x", digits(ratio)),
        };
        let _ = write!(
            html,
            "<div class=\"row {}{}\"><span class=\"who\">{}</span><span class=\"value\">{} {} <span class=\"soft\">{far}</span></span>\
             <span class=\"track\"><i style=\"width:{:.2}%\"></i></span></div>",
            class(system),
            if place == 0 { " first" } else { "" },
            escape(&system.label()),
            digits(row.median),
            escape(&row.unit.replace("us", "\u{b5}s")),
            if most > 0.0 { 100.0 * row.median / most } else { 0.0 }
        );
    }
    html.push_str("</div>");
}
