//! The MPI suite: the very programs that MPICH's compiler has made, under MPICH and under Parvum, and Open MPI's beside them.

mod goals;
mod table;

use super::{Pages, Suite, main};
use crate::report::{headline::Question, tables};
use crate::run::experiment::{Cores, How, Job, Measure, of_each};
use crate::systems::system::{Encoding, Extent, Family, System};

/// Parvum's MPI.
const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
const OPEN_MPI: System = System::new(Family::OpenMpi, "", Encoding::None);
const MPICH: System = System::new(Family::Mpich, "", Encoding::None);
/// Ours, then those it is measured against.
const SYSTEMS: [System; 3] = [OURS, OPEN_MPI, MPICH];
/// What Parvum's engine takes without any interface.
const ENGINE: System = System::new(Family::Engine, "shm", Encoding::None);

/// Message lengths of the ring, in bytes.
const RING_SIZES: [u64; 9] = [0, 8, 64, 1024, 4096, 16384, 65536, 1 << 20, 4 << 20];
/// Message lengths of the operations of groups.
const GROUP_SIZES: [u64; 4] = [8, 1024, 16384, 1 << 20];
/// Numbers of processes in a group.
const GROUP_TASKS: [u32; 4] = [2, 4, 8, 16];
/// Numbers of processes of the jobs that only begin and end.
const JOB_TASKS: [u32; 3] = [2, 16, 64];
/// Bytes of data in a vector that lies apart.
const VECTOR_SIZE: u64 = 1 << 20;
/// Bytes of a put and a get.
const WINDOW_SIZES: [u64; 2] = [8, 1 << 20];
/// Processes that share two cores and are blocked half of their time.
const HALVES_TASKS: u32 = 8;

/// `parvum compare --suite mpi`.
pub static SUITE: Suite = Suite {
    name: "mpi",
    about: "MPI programs beside Open MPI and MPICH: messages, collectives, windows, threads, jobs",
    over_hosts: None,
    families: &[Family::Mpi, Family::Engine, Family::OpenMpi, Family::Mpich],
    seconds: [240, 1500],
    systems: || SYSTEMS.into_iter().chain([ENGINE]).collect(),
    jobs,
    goals: goals::check,
    table: table::render,
    pages: Pages {
        introduction: "The programs were compiled once by MPICH's own compiler and run under MPICH and, unchanged, under Parvum's MPI; Open MPI's \
             were compiled from the same sources. Two cores, also with more processes than cores.",
        cards: "",
        omitted: "datatypes but two vectors, windows but passive ones, files, several hosts",
        questions: &QUESTIONS,
        contents: &[],
        sections: &[],
        details: tables::details,
    },
};

const QUESTIONS: [Question; 9] = [
    Question::small("8 bytes, one hop", "ring", "half round trip", 8),
    Question::large("8 byte messages, rate", "rate", "message rate", 8),
    Question::large("1 MiB messages, bandwidth", "ring", "bandwidth", 1 << 20),
    Question::large("1 MiB of every second double", "vector", "bandwidth, every second", VECTOR_SIZE),
    Question::large("Rate of four threads", "threads", "message rate, four threads", 8),
    Question::small("Put of 8 bytes", "window", "put", 8),
    Question::small("8 bytes, both processes on one core", "ring-one-core", "half round trip", 8),
    Question::small("Processor used while blocked", "blocked", "processor", 0),
    Question::small("Start and end of an MPI job", "job", "start and end", 0),
];

fn jobs(extent: Extent) -> Vec<Job> {
    // Processes that spin while they wait take minutes when they are more than the cores; the quick run does not wait.
    let patience = if extent == Extent::Full { 120 } else { 12 };
    let ring = Measure {
        sizes: &RING_SIZES,
        options: "--time-ms 8 --least 4 --most 500",
        ..Measure::program("ring", "ring")
    };
    let mut jobs = vec![Job::floors(&RING_SIZES)];
    let mut add = |measure: Measure| jobs.extend(of_each(&measure, SYSTEMS));
    add(ring.clone());
    add(rate("message rate", "rate"));
    add(rate("blocking message rate", "rate-blocking"));
    add(main::one_core());
    add(Measure { cores: Cores::Two, ..main::blocked() });
    add(Measure {
        sizes: &[VECTOR_SIZE],
        options: "--time-ms 30 --least 4 --most 100",
        launches: 8,
        ..Measure::program("doubles that lie apart", "vector")
    });
    add(Measure {
        sizes: &WINDOW_SIZES,
        options: "--time-ms 20 --least 4 --most 200",
        launches: 8,
        ..Measure::program("windows", "window")
    });
    add(Measure {
        options: "--time-ms 80 --least 4 --most 100",
        launches: 8,
        patience,
        ..Measure::program("threads with partners", "threads")
    });
    add(Measure {
        tasks: HALVES_TASKS,
        options: "--least 3",
        launches: 8,
        patience,
        ..Measure::program("blocked half of the time", "halves")
    });
    for tasks in JOB_TASKS {
        add(Measure {
            how: How::Job(Some("job")),
            tasks,
            launches: if tasks == 2 { 10 } else { 8 },
            ..Measure::program(format!("start and end of a job of {tasks}"), "job")
        });
    }
    add(Measure {
        how: How::Job(Some("job")),
        cold: true,
        launches: 10,
        ..Measure::program("start and end of a job from cold", "job, cold")
    });
    for tasks in GROUP_TASKS {
        add(group(tasks, patience));
    }
    jobs.extend(of_each(&ring, [ENGINE]));
    jobs
}

fn rate(name: &str, program: &'static str) -> Measure {
    Measure { sizes: &[8], options: "--time-ms 40 --least 5 --most 500", ..Measure::program(name, program) }
}

fn group(tasks: u32, patience: u64) -> Measure {
    Measure {
        tasks,
        sizes: &GROUP_SIZES,
        options: "--operations barrier,broadcast,reduce,allreduce,allgather,alltoall --time-ms 5 --least 1 --most 100",
        launches: 8,
        patience,
        ..Measure::program(format!("operations of {tasks}"), "group")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpi_jobs_cover_every_system() {
        for system in SYSTEMS {
            let measured: Vec<String> =
                jobs(Extent::Quick).iter().filter(|job| job.system == Some(system)).map(Job::name).collect();
            assert_eq!(measured.len(), 17, "{measured:?}");
        }
    }
}
