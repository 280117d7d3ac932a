//! What a newcomer should see first: for each question, each family's best answer.

use super::markup::escape;
use crate::goals::digits;
use crate::statistics::{Verdict, compare};
use crate::summary::{Row, Rows};
use crate::systems::{Extent, Family, System, ring_systems};
use std::fmt::Write;

struct Question {
    title: &'static str,
    program: &'static str,
    metric: &'static str,
    tasks: u32,
    size: u64,
    large_wins: bool,
}

const QUESTIONS: [Question; 6] = [
    Question {
        title: "8 bytes, one hop",
        program: "ring",
        metric: "half round trip",
        tasks: 2,
        size: 8,
        large_wins: false,
    },
    Question {
        title: "1 MiB messages, bandwidth",
        program: "ring",
        metric: "bandwidth",
        tasks: 2,
        size: 1 << 20,
        large_wins: true,
    },
    Question {
        title: "8 bytes, both tasks on one core",
        program: "ring-one-core",
        metric: "half round trip",
        tasks: 2,
        size: 8,
        large_wins: false,
    },
    Question {
        title: "Processor used while blocked",
        program: "blocked",
        metric: "processor",
        tasks: 2,
        size: 0,
        large_wins: false,
    },
    Question {
        title: "Start and end of an empty job",
        program: "start",
        metric: "start and end",
        tasks: 2,
        size: 0,
        large_wins: false,
    },
    Question {
        title: "FFT, 1024 points on 2 tasks",
        program: "fft",
        metric: "time",
        tasks: 2,
        size: 1024,
        large_wins: false,
    },
];

/// The colour of a system.
pub fn class(system: &System) -> &'static str {
    match (system.family, system.route) {
        (Family::Parvum, "tcp") => "s-parvum2",
        (Family::Parvum, "routed") => "s-parvum3",
        (Family::Parvum, _) => "s-parvum",
        (Family::Pvm, "daemon") => "s-pvm2",
        (Family::Pvm, _) => "s-pvm",
        (Family::OpenMpi, _) => "s-openmpi",
        (Family::Mpich, _) => "s-mpich",
    }
}

/// One card for each question that has at least one answer.
pub fn cards(rows: &[Row]) -> String {
    let rows = Rows(rows);
    let mut html = String::from("<div class=\"cards\">");
    for question in &QUESTIONS {
        let answers = answers(&rows, question);
        if !answers.is_empty() {
            card(&mut html, question, &answers);
        }
    }
    html.push_str("</div>");
    html
}

/// Each family's best row, best family first.
fn answers<'a>(rows: &Rows<'a>, question: &Question) -> Vec<(System, &'a Row)> {
    let mut answers: Vec<(System, &Row)> = Vec::new();
    let better = |a: f64, b: f64| if question.large_wins { a > b } else { a < b };
    for system in ring_systems(Extent::Full) {
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
