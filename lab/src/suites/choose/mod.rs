//! The suite that answers in one minute which MPI is the fastest here; `parvum compare` runs this suite unless told otherwise.
//!
//! Few numbers, each with several launches: what messages cost, what starting costs, what waiting costs. The suites `mpi`, `speed` and `main`
//! have the rest.

use super::{Pages, Suite, main};
use crate::report::first;
use crate::report::{headline::Question, tables};
use crate::run::experiment::{Cores, How, Job, Measure, of_each};
use crate::systems::system::{Encoding, Extent, Family, System};

const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
const OPEN_MPI: System = System::new(Family::OpenMpi, "", Encoding::None);
const MPICH: System = System::new(Family::Mpich, "", Encoding::None);
const MPIS: [System; 3] = [OURS, OPEN_MPI, MPICH];
const OUR_PVM: System = System::new(Family::Parvum, "shm", Encoding::Raw);
const PVM: System = System::new(Family::Pvm, "direct", Encoding::Raw);
const PVMS: [System; 2] = [OUR_PVM, PVM];

const RING_SIZES: [u64; 4] = [8, 1024, 65536, 1 << 20];
const PVM_SIZES: [u64; 2] = [8, 1 << 20];
/// More processes than most machines of one person have cores.
const MANY: u32 = 16;

/// `parvum compare`.
pub static SUITE: Suite = Suite {
    name: "choose",
    about: "which MPI is the fastest on this machine, in one minute",
    over_hosts: Some(&main::hosts::OVER),
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich, Family::Parvum, Family::Pvm],
    seconds: [56, 600],
    systems: || MPIS.into_iter().chain(PVMS).collect(),
    jobs,
    goals: |_| Vec::new(),
    table: |rows, manifest| first::in_terminal(&QUESTIONS, &(SUITE.systems)(), rows, manifest),
    pages: Pages {
        introduction: "One MPI program was compiled by MPICH's compiler and run under MPICH and, unchanged, under Parvum. The same source was compiled \
             for Open MPI.",
        cards: "",
        omitted: "several hosts, InfiniBand, GPUs, files, windows, threads; other suites measure some of these",
        questions: &QUESTIONS,
        contents: &[],
        sections: &[],
        details: tables::details,
    },
};

const QUESTIONS: [Question; 9] = [
    Question::small("8 B message, one way", "ring", "half round trip", 8),
    Question::small("64 KiB message, one way", "ring", "half round trip", 65536),
    Question::large("1 MiB messages", "ring", "bandwidth", 1 << 20),
    Question::small("Allreduce 8 B, 2 processes", "group", "allreduce", 8),
    Question::small("Start and end of 16", "job", "start and end", 0).on(MANY),
    Question::small("CPU used while waiting", "blocked", "processor", 0),
    Question::small("8 B message on one core", "ring-one-core", "half round trip", 8).crowded(),
    Question::small("Allreduce 8 B, 16 processes", "group", "allreduce", 8).on(MANY).crowded(),
    Question::small("Barrier, 16 processes", "group", "barrier", 0).on(MANY).crowded(),
];

fn jobs(extent: Extent) -> Vec<Job> {
    let patience = if extent == Extent::Full { 120 } else { 3 };
    let ring = |name: &str, sizes| Measure {
        sizes,
        options: "--time-ms 8 --least 4 --most 500",
        launches: 12,
        ..Measure::program(name, "ring")
    };
    let group = |tasks, options, patience| Measure {
        tasks,
        sizes: &PVM_SIZES[..1],
        options,
        launches: 12,
        patience,
        ..Measure::program(format!("collectives of {tasks}"), "group")
    };
    let mut jobs = Vec::new();
    let mut add = |measure: Measure| jobs.extend(of_each(&measure, MPIS));
    add(ring("ring", &RING_SIZES));
    add(group(2, "--operations barrier,allreduce --time-ms 5 --least 1 --most 100", 15));
    add(group(MANY, "--operations barrier,allreduce --time-ms 5 --least 1 --most 20", patience));
    add(Measure { options: "--time-ms 20 --least 4 --most 200", ..main::one_core() });
    add(Measure { cores: Cores::Two, options: "--seconds 0.2", launches: 12, ..main::blocked() });
    add(Measure {
        how: How::Job(Some("job")),
        tasks: MANY,
        launches: 12,
        ..Measure::program("start and end of 16", "job")
    });
    jobs.extend(of_each(&ring("ring of PVM programs", &PVM_SIZES), PVMS));
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suite_measures_every_question_for_each_mpi() {
        for question in &QUESTIONS {
            for system in MPIS {
                let measures =
                    |job: &Job| job.system == Some(system) && question.is_answered_by(&job.measure);
                assert!(jobs(Extent::Quick).iter().any(measures), "{question:?}: {}", system.label());
            }
        }
    }
}
