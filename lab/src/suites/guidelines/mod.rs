//! The suite of guidelines: a collective must not be slower than the same result made from other collectives. Each system is judged by
//! itself, so that a system alone has a judge too. The program is `apps/guidelines`; PGMPI publishes the guidelines.

mod judged;
mod report;

use super::{Pages, Suite};
use crate::report::tables;
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::stats::goals::{Goal, Outcome, digits};
use crate::stats::summary::Row;
use crate::systems::system::{Encoding, Extent, Family, System};
use judged::{Outcome as Kept, all_of};

const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
const SYSTEMS: [System; 3] =
    [OURS, System::new(Family::OpenMpi, "", Encoding::None), System::new(Family::Mpich, "", Encoding::None)];

const SIZES: [u64; 3] = [8, 4096, 131_072];
const ALL_SIZES: [u64; 7] = [8, 256, 2048, 8192, 32768, 131_072, 1 << 20];

const ABOUT: &str = "collectives of each MPI beside the same made from its other collectives";

/// `parvum compare --suite guidelines`.
pub static SUITE: Suite = Suite {
    name: "guidelines",
    about: ABOUT,
    over_hosts: Some(&OVER),
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich],
    seconds: [120, 900],
    systems: || SYSTEMS.to_vec(),
    jobs: |extent| jobs(extent, &SYSTEMS),
    goals: |rows| goals(rows, OURS),
    table: |rows, _| report::table(rows, &SYSTEMS),
    pages: Pages {
        introduction: "A guideline says that a collective is not slower than other collectives with the same result (its <em>mock-up</em>). If a library breaks a \
             guideline, a program gets faster by calling the mock-up, and the library could do the same. The program measures both in turns. No other \
             system is needed as a judge.",
        cards: "",
        omitted: "nonblocking and neighbourhood collectives, communicators within the world, other datatypes than doubles",
        questions: &[],
        contents: &[("broken", "Broken guidelines"), ("guidelines", "All guidelines")],
        sections: &[|html, rows| report::section(html, rows, &SYSTEMS)],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

const OURS_OVER_HOSTS: System = System::new(Family::Mpi, "tcp", Encoding::None);
const SYSTEMS_OVER_HOSTS: [System; 3] = [OURS_OVER_HOSTS, SYSTEMS[1], SYSTEMS[2]];

/// The suite when hosts are named.
pub static OVER: Suite = Suite {
    name: "guidelines",
    about: ABOUT,
    over_hosts: None,
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich],
    seconds: [150, 900],
    systems: || SYSTEMS_OVER_HOSTS.to_vec(),
    jobs: |extent| jobs(extent, &SYSTEMS_OVER_HOSTS),
    goals: |rows| goals(rows, OURS_OVER_HOSTS),
    table: |rows, _| report::table(rows, &SYSTEMS_OVER_HOSTS),
    pages: Pages {
        introduction: "The guidelines of collectives, with the processes on the hosts that were named. A collective must not be slower than the same result made from \
             other collectives (its <em>mock-up</em>).",
        cards: "",
        omitted: "nonblocking and neighbourhood collectives, communicators within the world, other datatypes than doubles",
        questions: &[],
        contents: &[("broken", "Broken guidelines"), ("guidelines", "All guidelines")],
        sections: &[|html, rows| report::section(html, rows, &SYSTEMS_OVER_HOSTS)],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

/// Two processes, and more than many machines have cores for.
fn jobs(extent: Extent, systems: &[System]) -> Vec<Job> {
    let full = extent == Extent::Full;
    let tasks: &[u32] = if full { &[2, 4, 8] } else { &[2, 4] };
    let of = |tasks: u32| Measure {
        tasks,
        cores: Cores::Each,
        sizes: if full { &ALL_SIZES } else { &SIZES },
        options: if full { "--time-ms 20 --least 3 --most 100" } else { "--time-ms 6 --least 2 --most 30" },
        launches: 8,
        patience: if full { 170 } else { 15 },
        ..Measure::program(format!("guidelines of {tasks}"), "guidelines")
    };
    tasks.iter().flat_map(|&tasks| of_each(&of(tasks), systems.iter().copied()).collect::<Vec<_>>()).collect()
}

fn goals(rows: &[Row], ours: System) -> Vec<Goal> {
    let (what, bar) = ("guidelines that Parvum's MPI breaks", "none");
    let judged = all_of(rows, &ours);
    let told = judged.iter().filter(|one| one.outcome != Kept::TooFew).count();
    let mut broken: Vec<_> = judged.iter().filter(|one| one.outcome == Kept::Broken).collect();
    broken.sort_by(|a, b| b.row.median.total_cmp(&a.row.median));
    let outcome = match (told, broken.len()) {
        (0, _) => Outcome::NoData,
        (_, 0) => Outcome::Reached,
        _ => Outcome::Missed,
    };
    let worst = broken.first().map_or_else(String::new, |one| {
        format!("; the worst: {} at {}, {}x", one.guideline, one.where_measured(), digits(one.row.median))
    });
    vec![Goal { what, bar, outcome, found: format!("{} of {told}{worst}", broken.len()) }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::Rows;
    use crate::stats::summary::tests::row;

    fn example(ratio: f64) -> Vec<Row> {
        let all = SYSTEMS.into_iter().flat_map(|system| SIZES.map(|size| (system, size)));
        all.flat_map(|(system, size)| {
            let factor = if system == OURS && size == 4096 { ratio } else { 0.8 };
            [
                ("allreduce <= reduce + bcast, ratio", factor),
                ("allreduce <= reduce + bcast", 8.0 * factor),
                ("allreduce <= reduce + bcast, mock-up", 8.0),
            ]
            .map(|(metric, value)| row(&system, "guidelines", metric, size, &[value; 8]))
        })
        .collect()
    }

    #[test]
    fn goal_names_worst_broken_guideline() {
        let goal = &goals(&example(2.0), OURS)[0];
        assert_eq!(goal.outcome, Outcome::Missed);
        assert_eq!(goal.found, "1 of 3; the worst: allreduce <= reduce + bcast at 4 KiB of 2, 2.00x");
        assert_eq!(goals(&example(1.02), OURS)[0].outcome, Outcome::Reached, "5 % is no breach");
        assert_eq!(goals(&[], OURS)[0].outcome, Outcome::NoData);
    }

    #[test]
    fn table_and_page_name_broken_guideline() {
        let rows = example(2.0);
        let text = report::table(&Rows(&rows), &SYSTEMS);
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        assert!(text.contains("Parvum MPI") && text.contains("1 of 3") && text.contains("2.00x"), "{text}");
        let page = page(&SUITE, &rows, &[], &manifest());
        assert!(
            page.contains("Parvum MPI shm breaks 1 of 3; Open MPI breaks 0 of 3")
                && page.contains("allreduce &lt;= reduce + bcast")
                && !page.contains("NaN")
        );
    }
}
