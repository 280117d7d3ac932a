//! The paper's curves: its programs on its numbers of nodes, in each way to share memory and by messages.

use crate::network::PAPER;
use crate::pages::PAGE;
use crate::programs::{Form, Steps, Work, pages_of};
use crate::station::PENTIUM;
use crate::world::{Outcome, World};
use parvum_consistency::{Homes, Setup, Start};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The paper's numbers of nodes.
pub const NODES: [usize; 7] = [1, 2, 4, 8, 16, 24, 32];

/// How the nodes work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The protocol of 1994.
    Classic,
    /// Today's: an answer has all that changed a page as one, and what is asked for each time is sent unasked.
    Lazy,
    /// Pages have homes, to which changes go at once.
    Home,
    /// Today's protocol, and what is gathered by messages.
    Hybrid,
    /// Messages, and trees.
    Mpi,
    /// Messages, from one to each.
    Pvm,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 6] = [Way::Classic, Way::Lazy, Way::Home, Way::Hybrid, Way::Mpi, Way::Pvm];

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Classic => "TreadMarks classic",
            Way::Lazy => "TreadMarks lazy",
            Way::Home => "TreadMarks home",
            Way::Hybrid => "TreadMarks + messages",
            Way::Mpi => "messages, trees (MPI)",
            Way::Pvm => "messages, to each (PVM)",
        }
    }

    fn form(self) -> Form {
        match self {
            Way::Classic | Way::Lazy | Way::Home => Form::Shared,
            Way::Hybrid => Form::Hybrid,
            Way::Mpi => Form::Messages,
            Way::Pvm => Form::MessagesToEach,
        }
    }

    fn setup(self, work: Work, nodes: usize) -> Setup {
        let is_classic = self == Way::Classic;
        Setup {
            nodes,
            page_bytes: PAGE,
            pages: pages_of(work),
            locks: 4,
            barriers: 2,
            views: 0,
            start: if is_classic { Start::First } else { Start::Everybody },
            homes: if self == Way::Home { Homes::InTurn } else { Homes::None },
            move_homes: self == Way::Home,
            fold: !is_classic,
            room: u64::MAX,
            push: (!is_classic).then_some(2),
            further: if is_classic { 0 } else { 31 },
            replicas: false,
            races: false,
        }
    }
}

/// A program of the paper's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subject {
    /// In words.
    pub name: &'static str,
    /// Which it is.
    pub work: Work,
}

/// The paper's programs. A net's epoch takes what 25 hours for 3542 epochs of 72,000 items say, and of the smaller net in proportion; a few
/// epochs stand for all. Of the sorts two million numbers stand for five and ten, whose pages would fill the memory of a small machine.
pub const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "net of 9 x 40 x 1, 44,000 items",
        work: Work::Network { weights: 400, epoch: 0.706, epochs: 8 },
    },
    Subject {
        name: "net of 54 x 160 x 1, 72,000 items",
        work: Work::Network { weights: 8800, epoch: 25.4, epochs: 8 },
    },
    Subject { name: "mergesort of 2,000,000 numbers", work: Work::Sort { numbers: 2_000_000 } },
    Subject { name: "Mandelbrot's set, 1000 x 1000", work: Work::Mandelbrot { points: 1000 } },
];

/// A program in one way, on all numbers of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Which program.
    pub subject: Subject,
    /// In which way.
    pub way: Way,
    /// Nodes, and what came of the run.
    pub runs: Vec<(usize, Outcome)>,
}

impl Curve {
    /// How many times as fast as one node that sends nothing.
    pub fn speed_ups(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let alone = self.runs.first().map_or(0.0, |(_, alone)| alone.seconds);
        self.runs.iter().map(move |(nodes, run)| (*nodes, alone / run.seconds))
    }
}

/// One run.
pub fn run(work: Work, way: Way, nodes: usize) -> Outcome {
    World::new(Steps::new(work, way.form(), nodes), way.setup(work, nodes), PAPER, PENTIUM).run()
}

/// All of them, on so many threads. The same each time.
pub fn all(subjects: &[Subject], nodes: &[usize], threads: usize) -> Vec<Curve> {
    let wanted: Vec<(Subject, Way)> =
        subjects.iter().flat_map(|subject| Way::ALL.map(|way| (*subject, way))).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Relaxed: a ticket; what it leads to is read by nobody else.
                while let Some((subject, way)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let runs = nodes.iter().map(|&nodes| (nodes, run(subject.work, *way, nodes))).collect();
                    done.lock().expect("no thread fails").push(Curve { subject: *subject, way: *way, runs });
                }
            });
        }
    });
    let mut curves = done.into_inner().expect("no thread fails");
    let place = |curve: &Curve| wanted.iter().position(|it| *it == (curve.subject, curve.way));
    curves.sort_by_key(place);
    curves
}

#[cfg(test)]
mod tests {
    use super::*;

    const NET: Work = Work::Network { weights: 8800, epoch: 2.0, epochs: 4 };

    #[test]
    fn single_node_sends_no_messages() {
        for Subject { name, work } in [
            Subject { name: "net", work: NET },
            Subject { name: "sort", work: Work::Sort { numbers: 10_000 } },
            Subject { name: "picture", work: Work::Mandelbrot { points: 40 } },
        ] {
            for way in Way::ALL {
                let outcome = run(work, way, 1);
                assert_eq!((outcome.messages, outcome.bytes), (0, 0), "{name} {}", way.name());
                assert!(outcome.seconds > 0.0);
            }
        }
    }

    #[test]
    fn gather_cost_grows_with_square_of_nodes_in_classic() {
        let bytes = |way: Way, nodes: usize| run(NET, way, nodes).bytes as f64;
        let grows = |way: Way| bytes(way, 16) / bytes(way, 4);
        assert!(grows(Way::Classic) > 10.0, "{}", grows(Way::Classic));
        for way in [Way::Lazy, Way::Home, Way::Hybrid, Way::Mpi, Way::Pvm] {
            assert!(grows(way) < 6.0, "{} {}", way.name(), grows(way));
        }
        assert!(bytes(Way::Classic, 16) > 5.0 * bytes(Way::Mpi, 16));
    }

    #[test]
    fn network_messages_carry_weights_and_changes_of_other_nodes() {
        for way in [Way::Mpi, Way::Pvm] {
            let outcome = run(NET, way, 8);
            assert_eq!((outcome.messages, outcome.bytes), (4 * 14, 4 * 14 * 70_400), "{}", way.name());
        }
    }

    #[test]
    fn sort_sends_parts_once_per_level() {
        // Dealt, seven eighths; then half of the numbers three times.
        let outcome = run(Work::Sort { numbers: 8000 }, Way::Mpi, 8);
        assert_eq!((outcome.messages, outcome.bytes), (7 + 7, 4 * (7000 + 3 * 4000)));
    }

    #[test]
    fn mandelbrot_rows_are_computed_once_and_gathered() {
        let points = 64;
        for way in [Way::Mpi, Way::Pvm] {
            for nodes in [2, 3, 8] {
                let outcome = run(Work::Mandelbrot { points }, way, nodes);
                assert!(outcome.bytes < 4 * 64 * 64 + 4 * 200, "{outcome:?}");
                assert!(outcome.seconds < run(Work::Mandelbrot { points }, way, 1).seconds, "{outcome:?}");
            }
        }
    }

    #[test]
    fn curves_are_repeatable_and_in_order() {
        let subject = [Subject { name: "net", work: Work::Network { weights: 400, epoch: 0.1, epochs: 2 } }];
        let curves = all(&subject, &[1, 4], 3);
        assert_eq!(curves, all(&subject, &[1, 4], 1));
        assert_eq!(curves.iter().map(|curve| curve.way).collect::<Vec<_>>(), Way::ALL);
    }
}
