//! `parvum compare --suite exchange --host LIST`: the complete exchange of tasks on hosts that are named, over the network that joins them.

use super::{ALL_SIZES, Against, SIZES, SUITE as ON_ONE, ahead, details, section, table};
use crate::report::headline::Question;
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::suites::{Pages, Suite};
use crate::systems::system::{Extent, OVER_HOSTS};

const AGAINST: Against =
    [(OVER_HOSTS[0], &[OVER_HOSTS[2], OVER_HOSTS[3]]), (OVER_HOSTS[1], &[OVER_HOSTS[4], OVER_HOSTS[5]])];

/// The suite when hosts are named.
pub static OVER: Suite = Suite {
    seconds: [150, 1200],
    systems: || OVER_HOSTS.to_vec(),
    jobs,
    goals: |rows| ahead(rows, AGAINST),
    table,
    pages: Pages {
        introduction: "Fatoohi's complete exchange of 1995, over the hosts that were named and the network between them: every task has a message for every other, all at once. By PVM \
             each task sends to its next neighbour first and receives from the one before; by MPI it is <code>MPI_Alltoall</code>.",
        cards: "",
        omitted: "half of the sizes, and eight tasks (--full has them)",
        questions: &QUESTIONS,
        contents: &[("exchange", "All together")],
        sections: &[section],
        details,
    },
    ..ON_ONE
};

const QUESTIONS: [Question; 1] =
    [Question::small("Complete exchange of 4, 64 KiB to each", "group", "alltoall", 65536).on(4)];

fn jobs(extent: Extent) -> Vec<Job> {
    let full = extent == Extent::Full;
    // Eight tasks have five times as much to say as four: of 1 MiB each a minute's load for ten Mbit/s.
    let sizes = |tasks| match tasks {
        8 => &ALL_SIZES[..ALL_SIZES.len() - 1],
        _ if full => &ALL_SIZES[..],
        _ => &SIZES[..],
    };
    let tasks: &[u32] = if full { &super::TASKS } else { &[4] };
    let measures = tasks.iter().flat_map(|&tasks| {
        let (short, long) = sizes(tasks).split_at(sizes(tasks).partition_point(|size| *size <= SHORT));
        [measure(tasks, short, full), measure(tasks, long, full)]
    });
    measures.flat_map(|measure| of_each(&measure, OVER_HOSTS).collect::<Vec<_>>()).collect()
}

/// A sample is an operation for each task up to this many bytes: who comes first on a shared medium changes in a pattern, and a median of
/// single operations tells which of its lengths is in the middle, not how long they take. Of longer ones a slow network takes seconds each.
const SHORT: u64 = 8192;

fn measure(tasks: u32, sizes: &'static [u64], full: bool) -> Measure {
    let (kind, options) = match (sizes.first().is_some_and(|size| *size <= SHORT), full) {
        (true, true) => ("short", "--operations alltoall --time-ms 400 --least 1 --most 500"),
        (true, false) => ("short", "--operations alltoall --time-ms 100 --least 1 --most 100"),
        (false, true) => ("long", "--operations alltoall --rounds 1 --time-ms 400 --least 1 --most 500"),
        (false, false) => ("long", "--operations alltoall --rounds 1 --time-ms 50 --least 1 --most 100"),
    };
    Measure {
        tasks,
        cores: Cores::Each,
        sizes,
        options,
        launches: 3,
        patience: if full { 400 } else { 118 },
        ..Measure::program(format!("complete exchange of {tasks} over hosts, {kind} messages"), "group")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::goals::Outcome;
    use crate::stats::summary::{Row, Rows};

    #[test]
    fn goals_and_tables_over_hosts_cover_their_systems() {
        let mut rows: Vec<Row> = Vec::new();
        for job in jobs(Extent::Quick) {
            let system = job.system.expect("every job has a system");
            let us = if system == OVER_HOSTS[5] { 900.0 } else { 1000.0 };
            for size in job.measure.sizes {
                let mut row =
                    crate::stats::summary::tests::row(&system, "group", "alltoall", *size, &[us; 3]);
                row.tasks = job.measure.tasks;
                rows.push(row);
            }
        }
        let goals = (OVER.goals)(&rows);
        assert_eq!([goals[0].outcome, goals[1].outcome], [Outcome::Reached, Outcome::Missed]);
        assert!(goals[1].found.contains("against MPICH 900"), "{}", goals[1].found);
        let text = (OVER.table)(&Rows(&rows), &manifest());
        assert!(text.contains("Parvum MPI tcp") && !text.contains("8 tasks"), "{text}");
        let page = page(&OVER, &rows, &[], &manifest());
        assert!(page.matches("<svg").count() == 1 && !page.contains("NaN"));
    }
}
