//! `parvum compare --suite rates --host LIST`: the senders are on the first hosts and the receivers on the last, so that every message goes
//! over the network.

use super::{QUESTIONS, SUITE as ON_ONE, TASKS, pairs, report};
use crate::report::tables;
use crate::run::experiment::{Job, Measure, of_each};
use crate::suites::{Pages, Suite};
use crate::systems::system::{Encoding, Extent, Family, System};

/// Launchers of MPI place neighbouring ranks together. PVM's calls place tasks in turn, so that its pairs would share a host.
const SYSTEMS: [System; 3] = [
    System::new(Family::Mpi, "tcp", Encoding::None),
    System::new(Family::OpenMpi, "", Encoding::None),
    System::new(Family::Mpich, "", Encoding::None),
];

/// The suite when hosts are named.
pub static OVER: Suite = Suite {
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich],
    seconds: [120, 900],
    systems: || SYSTEMS.to_vec(),
    jobs,
    table: |rows, _| report::table(rows, &SYSTEMS),
    pages: Pages {
        introduction: "Pairs of tasks work at once, each with one task on one of the first hosts and one on one of the last. One sends a window of messages, and the other \
             answers the window with one message. A window has 64 messages, or fewer if these would be more than 4 MiB. The sum of all pairs counts.",
        cards: "",
        omitted: "pairs on one host (without --host); PVM's calls",
        questions: &QUESTIONS,
        contents: &[("rates", "Messages a second"), ("bandwidths", "Bytes a second")],
        sections: &[|html, rows| report::section(html, rows, &SYSTEMS)],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
    ..ON_ONE
};

fn jobs(extent: Extent) -> Vec<Job> {
    let options = match extent {
        Extent::Full => "--operations far --time-ms 200 --least 3 --most 200",
        Extent::Quick => "--operations far --time-ms 40 --least 2 --most 200",
    };
    let of = |tasks| Measure { launches: 4, patience: 110, ..pairs(extent, tasks, options) };
    TASKS.into_iter().flat_map(|tasks| of_each(&of(tasks), SYSTEMS).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::Rows;

    #[test]
    fn partners_are_on_different_hosts() {
        assert!(jobs(Extent::Quick).iter().all(|job| job.measure.options.contains("far")));
        assert!(SYSTEMS.iter().all(|system| system.route != "shm"));
    }

    #[test]
    fn page_over_hosts_is_complete() {
        let rows = example(&SYSTEMS);
        let text = (OVER.table)(&Rows(&rows), &manifest());
        let page = page(&OVER, &rows, &[], &manifest());
        for system in SYSTEMS {
            assert!(text.contains(&system.label()) && page.contains(&system.label()), "{}", system.label());
        }
        assert!(page.contains("<svg") && !page.contains("NaN"));
    }
}
