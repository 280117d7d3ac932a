//! The first screen: one line for each question, one column for each system, and the answer in a sentence.

use super::headline::{Answer, Question, answers, distance, named, value};
use super::markup::escape;
use super::trust;
use crate::run::record::Manifest;
use crate::stats::paired::compare_rows;
use crate::stats::statistics::Verdict;
use crate::stats::summary::{Row, Rows};
use crate::systems::programs::peers_command;
use crate::systems::system::{Encoding, Family, System};
use crate::table::{columns, wrapped};
use std::fmt::Write;

const TITLE: &str = "Which MPI is the fastest on this machine?";
const WIDTH: usize = crate::table::WIDTH;

/// One system's cell in a line.
#[derive(Debug, Clone, PartialEq)]
struct Cell {
    value: String,
    /// The distance from the best; nothing for the best.
    note: String,
    /// First, or the same within noise.
    is_best: bool,
}

/// The cells of a question, in the order of the systems; nothing for a system that was not measured.
fn cells(question: &Question, systems: &[System], rows: &Rows<'_>, manifest: &Manifest) -> Vec<Option<Cell>> {
    let answers = answers(rows, systems, question);
    let unfinished = question.unfinished(systems, manifest);
    let of = |system: &System| {
        let place = answers.iter().position(|answer| answer.system == *system);
        let failed = unfinished.iter().find(|(other, _)| other == system);
        match (place, failed) {
            (Some(place), _) => {
                let (Answer { row, .. }, best) = (answers[place], answers[0].row);
                let is_same = compare_rows(row, best) == Verdict::NoDifferenceShown;
                let note = if place == 0 { String::new() } else { distance(question, row, best) };
                Some(Cell { value: value(row), note, is_best: place == 0 || is_same })
            }
            (None, Some((_, seconds))) => {
                let value = format!("did not finish ({seconds:.0} s)");
                Some(Cell { value, note: String::new(), is_best: false })
            }
            (None, None) => None,
        }
    };
    systems.iter().map(of).collect()
}

/// The MPIs among the systems: the others have cards only.
fn mpis(systems: &[System], rows: &Rows<'_>) -> Vec<System> {
    let is_measured = |system: &&System| rows.0.iter().any(|row| row.system == system.family.name());
    systems.iter().filter(|system| is_mpi(system)).filter(is_measured).copied().collect()
}

/// Each MPI has one column, whichever way its messages take.
fn names(systems: &[System], manifest: &Manifest) -> Vec<String> {
    systems.iter().map(|system| named(&System::new(system.family, "", Encoding::None), manifest)).collect()
}

/// Who is first, counted over the lines that at least two systems finished or tried.
fn answer(lines: &[Vec<Option<Cell>>], names: &[String], doubts: &[String]) -> String {
    if !doubts.is_empty() {
        return "In short: this run cannot tell.".into();
    }
    let contested: Vec<&Vec<Option<Cell>>> =
        lines.iter().filter(|cells| cells.iter().flatten().count() > 1).collect();
    if contested.is_empty() {
        let peers = peers_command();
        return format!(
            "In short: there is no other MPI to compare with; `{peers}` installs Open MPI and MPICH."
        );
    }
    let count = |at: usize, holds: fn(&Cell) -> bool| {
        contested.iter().filter(|cells| cells[at].as_ref().is_some_and(holds)).count()
    };
    let mut parts = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let (best, failed) =
            (count(at, |cell| cell.is_best), count(at, |cell| cell.value.starts_with("did not")));
        let failed = if failed > 0 { format!(", did not finish {failed}") } else { String::new() };
        parts.push(format!("{name} is first or level in {best} of {} lines{failed}", contested.len()));
    }
    format!("In short: {}.", parts.join("; "))
}

/// The first screen of a page.
pub fn on_page(
    questions: &[Question],
    systems: &[System],
    rows: &[Row],
    manifest: &Manifest,
    doubts: &[String],
) -> String {
    let rows = Rows(rows);
    let systems = mpis(systems, &rows);
    if systems.is_empty() {
        return String::new();
    }
    let names = names(&systems, manifest);
    let lines: Vec<_> = questions.iter().map(|question| cells(question, &systems, &rows, manifest)).collect();
    let mut html = format!(
        "<h2 class=\"answer\">{TITLE}</h2><div class=\"scroll\"><table class=\"first\"><tr><th></th>"
    );
    for name in &names {
        let _ = write!(html, "<th>{}</th>", escape(name));
    }
    html.push_str("</tr>");
    for (question, cells) in
        questions.iter().zip(&lines).filter(|(_, cells)| cells.iter().any(Option::is_some))
    {
        let _ = write!(html, "<tr><td>{}</td>", escape(question.title));
        for cell in cells {
            let class = if cell.as_ref().is_some_and(|cell| cell.is_best && doubts.is_empty()) {
                " class=\"best\""
            } else {
                ""
            };
            let (value, note) = cell.as_ref().map_or(("", ""), |cell| (&cell.value, &cell.note));
            let _ = write!(
                html,
                "<td{class}>{} <span class=\"soft\">{}</span></td>",
                escape(value),
                escape(note)
            );
        }
        html.push_str("</tr>");
    }
    let _ = write!(html, "</table></div><p><strong>{}</strong></p>", escape(&answer(&lines, &names, doubts)));
    html
}

/// The same for a terminal.
pub fn in_terminal(
    questions: &[Question],
    systems: &[System],
    rows: &Rows<'_>,
    manifest: &Manifest,
) -> String {
    let (mpis, others) =
        (mpis(systems, rows), systems.iter().filter(|system| !is_mpi(system)).copied().collect::<Vec<_>>());
    let doubts = trust::doubts(questions, systems, rows, manifest);
    let names = names(&mpis, manifest);
    let lines: Vec<_> = questions.iter().map(|question| cells(question, &mpis, rows, manifest)).collect();
    let mut text = format!("{TITLE}\n{} on {}\n\n", manifest.factors.processor, manifest.factors.cores);
    for is_crowded in [false, true] {
        let of_kind: Vec<Vec<String>> = questions
            .iter()
            .zip(&lines)
            .filter(|(question, cells)| {
                question.is_crowded == is_crowded && cells.iter().any(Option::is_some)
            })
            .map(|(question, cells)| {
                std::iter::once(question.title.to_owned()).chain(cells.iter().map(shown)).collect()
            })
            .collect();
        if !of_kind.is_empty() {
            let head = if is_crowded { "More processes than cores" } else { "One process per core" };
            let headings: Vec<&str> = std::iter::once(head).chain(names.iter().map(String::as_str)).collect();
            columns(&mut text, &headings, &of_kind);
            text.push('\n');
        }
    }
    let _ = writeln!(text, "{}", wrapped(&answer(&lines, &names, &doubts), WIDTH).join("\n"));
    let names: Vec<String> = others.iter().map(|system| system.family.name().to_owned()).collect();
    let headings: Vec<&str> =
        std::iter::once("PVM programs").chain(names.iter().map(String::as_str)).collect();
    let lines = questions.iter().filter_map(|question| {
        let cells = cells(question, &others, rows, manifest);
        let is_there = cells.iter().any(Option::is_some);
        is_there.then(|| std::iter::once(question.title.to_owned()).chain(cells.iter().map(shown)).collect())
    });
    let lines: Vec<Vec<String>> = lines.collect();
    if !lines.is_empty() {
        text.push('\n');
        columns(&mut text, &headings, &lines);
    }
    text
}

fn is_mpi(system: &System) -> bool {
    matches!(system.family, Family::Mpi | Family::OpenMpi | Family::Mpich)
}

/// A cell for a terminal, which is narrow: the distance follows the value.
fn shown(cell: &Option<Cell>) -> String {
    match cell {
        None => "-".into(),
        Some(cell) if cell.note.is_empty() => cell.value.clone(),
        Some(cell) if cell.note == "same within noise" => format!("{} =", cell.value),
        Some(cell) => {
            let distance = cell.note.split([',', ' ']).next().unwrap_or_default();
            // No test confirms such a distance.
            let doubt = if cell.note.contains(", ") { "?" } else { "" };
            format!("{} {distance}{doubt}", cell.value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{launch, manifest};
    use crate::stats::summary::tests::row;

    const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
    const MPICH: System = System::new(Family::Mpich, "", Encoding::None);
    const SYSTEMS: [System; 2] = [OURS, MPICH];
    const QUESTIONS: [Question; 2] = [
        Question::small("8 bytes", "ring", "half round trip", 8),
        Question::small("Barrier", "group", "barrier", 0).on(16).crowded(),
    ];

    /// Ours is twice as fast, and the other one's barrier never ends.
    fn measured(runs: usize) -> (Vec<Row>, Manifest) {
        let rows = [(OURS, 1.0), (MPICH, 2.0)].map(|(system, value)| {
            let values: Vec<f64> = (0..runs).map(|at| value + at as f64 / 100.0).collect();
            row(&system, "ring", "half round trip", 8, &values)
        });
        let mut manifest = manifest();
        manifest.suite = "choose".into();
        let mut failed = launch(0, 60.0);
        failed.program = "group".into();
        failed.tasks = 16;
        failed.system = MPICH.id();
        failed.elapsed_s = 5.2;
        failed.failure = Some("not finished after 5 s".into());
        manifest.launches.push(failed);
        (rows.into(), manifest)
    }

    fn page_of(rows: &[Row], manifest: &Manifest) -> String {
        let doubts = trust::doubts(&QUESTIONS, &SYSTEMS, &Rows(rows), manifest);
        on_page(&QUESTIONS, &SYSTEMS, rows, manifest, &doubts)
    }

    #[test]
    fn first_screen_names_the_winner_and_who_did_not_finish() {
        let (rows, manifest) = measured(6);
        let page = page_of(&rows, &manifest);
        assert!(page.contains("did not finish (5 s)"), "{page}");
        assert!(
            page.contains("Parvum MPI is first or level in 1 of 1 lines; MPICH is first or level in 0 of 1"),
            "{page}"
        );
        let text = in_terminal(&QUESTIONS, &SYSTEMS, &Rows(&rows), &manifest);
        assert!(
            text.contains("More processes than cores") && text.contains("did not finish (5 s)"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn first_screen_ranks_nobody_with_few_runs() {
        let (rows, manifest) = measured(2);
        let page = page_of(&rows, &manifest);
        assert!(page.contains("this run cannot tell") && !page.contains("class=\"best\""), "{page}");
        let text = in_terminal(&QUESTIONS, &SYSTEMS, &Rows(&rows), &manifest);
        assert!(text.contains("this run cannot tell"), "{text}");
    }

    #[test]
    fn first_screen_says_how_to_get_other_mpis() {
        let (rows, mut manifest) = measured(6);
        manifest.launches.clear();
        let page = page_of(&rows[..1], &manifest);
        assert!(page.contains("./x peers"), "{page}");
    }
}
