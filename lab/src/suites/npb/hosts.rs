//! `parvum compare --suite npb --hosts 2`: the same benchmarks, whose tasks are on several hosts, in blocks of neighbours.

use super::{CASES, FAMILIES, Pages, Suite, details, goals, is_planned, report, table};
use crate::host::hosts::COUNTS;
use crate::report::headline::Question;
use crate::run::experiment::{Job, of_each};
use crate::systems::system::{Encoding, Extent, Family, OVER_HOSTS, System};

/// Where they run, and the same by PVM's default route.
const ROUTES: [[&str; 2]; 3] =
    [["2-hosts", "daemon-2-hosts"], ["4-hosts", "daemon-4-hosts"], ["8-hosts", "daemon-8-hosts"]];

/// The systems on so many hosts, as those of one host are ordered.
const fn on([direct, daemon]: [&'static str; 2]) -> [System; 6] {
    [
        System::new(Family::Parvum, direct, Encoding::Raw),
        System::new(Family::Mpi, direct, Encoding::None),
        System::new(Family::Pvm, direct, Encoding::Raw),
        System::new(Family::Pvm, daemon, Encoding::Raw),
        System::new(Family::OpenMpi, direct, Encoding::None),
        System::new(Family::Mpich, direct, Encoding::None),
    ]
}

/// Two hosts, of which a bar is.
pub const TWO: [System; 6] = on(ROUTES[0]);

/// All of them.
pub fn systems() -> Vec<System> {
    ROUTES.into_iter().flat_map(on).collect()
}

/// The suite when hosts are named.
pub static OVER: Suite = Suite {
    systems: || OVER_HOSTS.to_vec(),
    jobs: jobs_over,
    goals: goals::over_named,
    pages: Pages {
        introduction: "Three simulated applications of the NAS Parallel Benchmarks with the algorithms of Fatoohi's study of 1995, over the hosts that were named and the network \
             between them. Each launch reproduces the official values to 1e-8.",
        cards: "",
        omitted: "classes S, A and B (--class, or --full)",
        questions: &[],
        contents: CONTENTS,
        sections: SECTIONS,
        details,
    },
    ..SUITE
};

const CONTENTS: &[(&str, &str)] = &[("npb", "Time of an iteration"), ("npb-messages", "Messages and volume")];
const SECTIONS: &[crate::suites::Section] = &[report::times, report::messages];

fn jobs_over(extent: Extent) -> Vec<Job> {
    let cases = CASES.iter().filter(|case| is_planned(extent, case.class));
    let measures = cases.flat_map(|case| super::TASKS.map(|tasks| (case, tasks)));
    measures
        .flat_map(|(case, tasks)| {
            let mut measure = case.measure(extent, tasks, " over hosts");
            // A network of 1995 takes its time.
            measure.patience = measure.patience.max(170);
            of_each(&measure, OVER_HOSTS).collect::<Vec<_>>()
        })
        .collect()
}

/// The suite when hosts are asked for.
pub static SUITE: Suite = Suite {
    name: "npb",
    about: "LU, SP and BT of the NAS benchmarks, verified",
    over_hosts: None,
    families: &FAMILIES,
    seconds: [240, 5400],
    systems,
    jobs,
    goals: goals::on_hosts,
    table: table::render,
    pages: Pages {
        introduction: "Three simulated applications of the NAS Parallel Benchmarks with the algorithms of Fatoohi's study of 1995, on several hosts: namespaces of this \
             one, so that every system's messages between them go through the kernel's whole network but its hardware. Each launch reproduces the official values \
             to 1e-8. All hosts share the processors of one, so that with more tasks than cores every system's tasks wait for each other's computing.",
        cards: "",
        omitted: "classes S, A and B (--class, or --full); networks with hardware",
        questions: &QUESTIONS,
        contents: CONTENTS,
        sections: SECTIONS,
        details,
    },
};

const QUESTIONS: [Question; 1] =
    [Question::small("LU, class W, an iteration on 4 tasks of 2 hosts", "lu", "iteration", 33).on(4)];

fn jobs(extent: Extent) -> Vec<Job> {
    let mut jobs = Vec::new();
    for case in CASES.iter().filter(|case| is_planned(extent, case.class)) {
        for (count, routes) in COUNTS.into_iter().zip(ROUTES) {
            for tasks in super::TASKS.into_iter().filter(|tasks| *tasks >= count) {
                let measure = case.measure(extent, tasks, &format!(" on {count} hosts"));
                jobs.extend(of_each(&measure, on(routes)));
            }
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_always_has_a_task() {
        for job in jobs(Extent::Full) {
            let route = job.system.expect("every job has a system").route;
            let count = crate::host::hosts::of_route(route).expect("hosts");
            assert!(job.measure.tasks >= count && job.measure.tasks.is_multiple_of(count), "{}", job.name());
        }
        assert_eq!(jobs(Extent::Quick).len(), 3 * (3 + 2 + 1) * 6);
    }
}
