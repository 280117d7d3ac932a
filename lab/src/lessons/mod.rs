//! Lessons: experiments of one minute, each with a question, a plot, the answer of this computer and the answer of a paper.
//!
//! A lesson is a suite with words around it, so its numbers come about as all numbers of the laboratory do.

mod experiments;
mod plot;

use crate::error::LabError;
use crate::report::markup::escape;
use crate::report::tables;
use crate::run::record::Manifest;
use crate::stats::summary::{Row, Rows};
use crate::suites::{Pages, Suite};
use crate::table::{WIDTH, wrapped};
use plot::Bar;
use std::fmt::Write;

/// A lesson.
#[derive(Debug)]
pub struct Lesson {
    /// The name that `parvum lesson` takes.
    pub name: &'static str,
    /// The question.
    pub question: &'static str,
    /// The experiment, for a reader who may want to guess first.
    experiment: &'static str,
    /// Its measurements.
    pub suite: Suite,
    /// The plot.
    bars: fn(&Rows, &Manifest) -> Vec<Bar>,
    /// The answer that these numbers give.
    answer: fn(&Rows, &Manifest) -> String,
    /// The answer of the paper.
    paper: &'static str,
    /// A command that goes on from here.
    next: &'static str,
}

/// All lessons, in an order to read them in.
pub static ALL: [&Lesson; 6] = experiments::ALL;

/// The lesson of this name.
pub fn find(name: &str) -> Result<&'static Lesson, LabError> {
    ALL.into_iter().find(|lesson| lesson.name == name).ok_or_else(|| LabError::UnknownLesson {
        name: name.to_owned(),
        known: ALL.map(|lesson| lesson.name).join(", "),
    })
}

/// A line for each lesson.
pub fn listed() -> String {
    let lines = ALL.iter().map(|lesson| format!("{:<12} {}\n", lesson.name, lesson.question));
    lines.chain(["\nRun one: parvum lesson NAME (about a minute)\n".to_owned()]).collect()
}

/// The suite of a lesson: the parts that are the same for each.
const fn suite(
    name: &'static str,
    families: &'static [crate::systems::system::Family],
    systems: fn() -> Vec<crate::systems::system::System>,
    jobs: fn(crate::systems::system::Extent) -> Vec<crate::run::experiment::Job>,
) -> Suite {
    Suite {
        name,
        about: "a lesson",
        over_hosts: None,
        families,
        seconds: [50, 300],
        systems,
        jobs,
        goals: |_| Vec::new(),
        table: in_terminal,
        pages: Pages {
            introduction: "A lesson: an experiment with a question, the answer of this computer, and the answer of a paper.",
            cards: "",
            omitted: "everything that the question does not need",
            questions: &[],
            contents: &[],
            sections: &[],
            details: |html, rows: &[Row]| tables::numbers(html, rows, &[], &[]),
        },
    }
}

fn of(manifest: &Manifest) -> Option<&'static Lesson> {
    ALL.into_iter().find(|lesson| lesson.suite.name == manifest.suite)
}

/// Question, plot and answers, for a terminal.
fn in_terminal(rows: &Rows, manifest: &Manifest) -> String {
    let Some(lesson) = of(manifest) else { return String::new() };
    let bars = (lesson.bars)(rows, manifest);
    let answer = (lesson.answer)(rows, manifest);
    let mut text = String::new();
    paragraph(&mut text, "Question", lesson.question);
    paragraph(&mut text, "Experiment", lesson.experiment);
    text.push_str(&plot::in_terminal(&bars));
    text.push('\n');
    paragraph(&mut text, "Answer of this computer", &answer);
    paragraph(&mut text, "Answer of the paper", lesson.paper);
    paragraph(&mut text, "Go on", lesson.next);
    text
}

fn paragraph(text: &mut String, title: &str, words: &str) {
    let _ = writeln!(text, "{title}");
    for line in wrapped(words, WIDTH - 2) {
        let _ = writeln!(text, "  {line}");
    }
    text.push('\n');
}

/// The same for the page.
pub(crate) fn on_page(html: &mut String, rows: &[Row], manifest: &Manifest) {
    let Some(lesson) = of(manifest) else { return };
    let rows = Rows(rows);
    part(html, "Question", lesson.question);
    part(html, "Experiment", lesson.experiment);
    html.push_str(&plot::on_page(&(lesson.bars)(&rows, manifest)));
    part(html, "Answer of this computer", &(lesson.answer)(&rows, manifest));
    part(html, "Answer of the paper", lesson.paper);
    part(html, "Go on", lesson.next);
}

fn part(html: &mut String, title: &str, words: &str) {
    let _ = write!(html, "<h3>{title}</h3><p>{}</p>", escape(words));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::manifest;
    use crate::systems::system::Extent;

    #[test]
    fn lessons_have_jobs_of_their_systems_only() {
        for lesson in ALL {
            let systems = (lesson.suite.systems)();
            let jobs = (lesson.suite.jobs)(Extent::Quick);
            assert!(!jobs.is_empty(), "{}", lesson.name);
            assert!(
                jobs.iter().all(|job| job.system.is_none_or(|one| systems.contains(&one))),
                "{}",
                lesson.name
            );
            assert!(systems.iter().all(|one| lesson.suite.families.contains(&one.family)), "{}", lesson.name);
        }
    }

    #[test]
    fn lesson_without_results_says_so() {
        for lesson in ALL {
            let mut manifest = manifest();
            manifest.suite = lesson.suite.name.into();
            let text = in_terminal(&Rows(&[]), &manifest);
            assert!(text.contains(lesson.question.split(' ').next().unwrap_or_default()), "{text}");
            assert!(text.contains("This run has no answer"), "{}: {text}", lesson.name);
        }
    }

    #[test]
    fn unknown_lesson_is_refused_with_known_names() {
        let why = find("physics").expect_err("no such lesson").to_string();
        assert!(why.contains("\"physics\"") && why.contains("rendezvous"), "{why}");
    }
}
