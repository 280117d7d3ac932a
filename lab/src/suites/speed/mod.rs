//! The speed suite: what is meant to be fast on one host, beside every peer that is fast there.

mod asked;
mod judge;
mod report;
mod table;

use super::{Pages, Suite, main};
use crate::report::headline::Question;
use crate::run::experiment::{Cores, How, Job, Measure, Test, of_each};
use crate::systems::system::{Encoding, Extent, Family, System};

/// Parvum through PVM's calls.
const CALLS: System = System::new(Family::Parvum, "shm", Encoding::Raw);
/// Parvum through the engine's own.
const ENGINE: System = System::new(Family::Engine, "shm", Encoding::None);
/// Parvum through NX's, which has other operations of groups.
const NX: System = System::new(Family::Nx, "shm", Encoding::None);
/// PVM itself, the way that is fast.
const PVM: System = System::new(Family::Pvm, "direct", Encoding::Raw);
const UCX: System = System::new(Family::Ucx, "", Encoding::None);

const PEERS: [System; 6] = [
    PVM,
    System::new(Family::OpenMpi, "", Encoding::None),
    System::new(Family::Mpich, "", Encoding::None),
    System::new(Family::OpenMpi4, "", Encoding::None),
    System::new(Family::Mpich4, "", Encoding::None),
    UCX,
];

/// Message lengths of the ring, in bytes; the bars need those from 8 on that are named in `asked.rs`.
const RING_SIZES: [u64; 12] = [0, 8, 64, 1024, 4096, 8192, 16384, 32768, 65536, 262_144, 1 << 20, 4 << 20];
/// Message lengths of the operations of groups.
const GROUP_SIZES: [u64; 5] = [8, 1024, 16384, 131_072, 1 << 20];
/// Numbers of tasks in a group.
const GROUP_TASKS: [u32; 3] = [2, 4, 8];
/// Numbers of tasks at a barrier.
const BARRIER_TASKS: [u32; 2] = [8, 32];

/// `parvum compare --suite speed`.
pub static SUITE: Suite = Suite {
    name: "speed",
    about: "one host beside every other system: messages, rates, groups, spawn",
    over_hosts: None,
    families: &[
        Family::Parvum,
        Family::Engine,
        Family::Nx,
        Family::Pvm,
        Family::OpenMpi,
        Family::Mpich,
        Family::OpenMpi4,
        Family::Mpich4,
        Family::Ucx,
    ],
    seconds: [260, 1740],
    systems,
    jobs,
    goals: judge::check,
    table: table::render,
    pages: Pages {
        introduction: "The same programs, from the same sources with the same compiler, were run under each message-passing system \
             found here, on two cores, also with more tasks than cores; UCX was measured by its own program. Parvum is measured through PVM's calls and through \
             the calls of its engine, which has messages alone; its operations of groups through PVM's and NX's.",
        cards: "",
        omitted: "cold caches, both directions at once, more than two cores, sizes above 4 MiB",
        questions: &QUESTIONS,
        contents: &[("asked", "What is asked"), ("places", "At every size"), ("ring", "Ring")],
        sections: &[report::asked, report::places, report::curves],
        details: report::numbers,
    },
};

const QUESTIONS: [Question; 6] = [
    Question::small("8 bytes, one hop", "ring", "half round trip", 8),
    Question::large("8 byte messages, rate", "rate", "message rate", 8),
    Question::large("1 MiB messages, bandwidth", "ring", "bandwidth", 1 << 20),
    Question::small("8 bytes, both tasks on one core", "ring-one-core", "half round trip", 8),
    Question::small("Barrier of 8 tasks on 2 cores", "group", "barrier", 0).on(8),
    Question::small("Spawn of 16 tasks", "spawn", "to first messages", 0).on(16),
];

fn systems() -> Vec<System> {
    [CALLS, ENGINE, NX].into_iter().chain(PEERS).collect()
}

/// Those that run programs of ours that send messages.
fn programmed() -> Vec<System> {
    systems().into_iter().filter(|system| ![UCX, NX].contains(system)).collect()
}

/// Those that have operations of groups.
fn grouped() -> Vec<System> {
    systems().into_iter().filter(|system| ![UCX, ENGINE].contains(system)).collect()
}

fn jobs(extent: Extent) -> Vec<Job> {
    // Tasks that spin while they wait take minutes when they are more than the cores; the quick run does not wait.
    let patience = if extent == Extent::Full { 120 } else { 12 };
    let ring = Measure {
        sizes: &RING_SIZES,
        options: "--time-ms 8 --least 4 --most 500",
        ..Measure::program("ring", "ring")
    };
    let rate = Measure {
        sizes: &[8],
        options: "--time-ms 40 --least 5 --most 500",
        ..Measure::program("message rate", "rate")
    };
    let long_rate = Measure {
        sizes: rate.sizes,
        options: rate.options,
        ..Measure::program("message rate by 1,024", "rate-1024")
    };
    let refused = Measure {
        program: "ring-refused",
        sizes: &[1 << 20, 4 << 20],
        options: "--time-ms 20 --least 4 --most 200",
        refused: true,
        ..Measure::program("ring where single copies are refused", "ring")
    };
    let job = Measure { how: How::Job(Some("job")), ..Measure::program("start and end of a job", "job") };
    let measures = vec![ring, rate, long_rate, refused, main::one_core(), job];
    let mut jobs = vec![Job::floors(&RING_SIZES)];
    for measure in &measures {
        jobs.extend(of_each(measure, programmed()));
    }
    let barriers = BARRIER_TASKS.map(|tasks| barrier(tasks, patience));
    // A broadcast is an exhibit of the papers, and the others would be measured with it.
    let broadcasts = GROUP_TASKS.map(|tasks| broadcast(tasks, patience));
    let groups = GROUP_TASKS.map(|tasks| group(tasks, patience));
    for measure in barriers.iter().chain(&broadcasts).chain(&groups) {
        jobs.extend(of_each(measure, grouped()));
    }
    // The engine leaves spawning to its interfaces, and they wait as it does.
    let interfaces = || programmed().into_iter().filter(|system| *system != ENGINE);
    jobs.extend(of_each(&spawn(), interfaces()));
    jobs.extend(of_each(&Measure { cores: Cores::Two, ..main::blocked() }, interfaces()));
    jobs.extend(of_each(&perftest(), [UCX]));
    jobs
}

fn barrier(tasks: u32, patience: u64) -> Measure {
    Measure {
        tasks,
        options: "--operations barrier --time-ms 20 --least 1 --most 300",
        launches: 8,
        patience,
        ..Measure::program(format!("barrier of {tasks}"), "group")
    }
}

fn broadcast(tasks: u32, patience: u64) -> Measure {
    Measure {
        options: "--operations broadcast --time-ms 5 --least 1 --most 100",
        ..Measure { name: format!("broadcasts of {tasks}"), ..group(tasks, patience) }
    }
}

fn group(tasks: u32, patience: u64) -> Measure {
    Measure {
        tasks,
        sizes: &GROUP_SIZES,
        options: "--operations reduce,gather,allreduce,allgather,alltoall --time-ms 5 --least 1 --most 100",
        launches: 8,
        patience,
        ..Measure::program(format!("operations of {tasks}"), "group")
    }
}

fn spawn() -> Measure {
    Measure {
        tasks: 16,
        spawns: true,
        options: "--time-ms 200 --least 1 --most 5",
        launches: 8,
        ..Measure::program("spawn of 16", "spawn")
    }
}

fn perftest() -> Measure {
    Measure { how: How::Perftest(&TESTS), ..Measure::program("ring, message rate and stream", "ring") }
}

const fn latency(size: u64, count: u32) -> Test {
    Test { name: "tag_lat", size, count, program: "ring" }
}

/// Half round trips at the sizes of the ring that have a message, the rate, and two bandwidths of a stream.
const TESTS: [Test; 14] = [
    latency(8, 40_000),
    latency(64, 40_000),
    latency(1024, 20_000),
    latency(4096, 10_000),
    latency(8192, 5000),
    latency(16384, 4000),
    latency(32768, 2000),
    latency(65536, 2000),
    latency(262_144, 500),
    latency(1 << 20, 200),
    latency(4 << 20, 50),
    Test { name: "tag_bw", size: 8, count: 100_000, program: "rate" },
    Test { name: "tag_bw", size: 1 << 20, count: 400, program: "stream" },
    Test { name: "tag_bw", size: 4 << 20, count: 100, program: "stream" },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn speed_jobs_cover_every_capable_system() {
        let jobs = jobs(Extent::Quick);
        let of = |system: System| -> HashSet<String> {
            jobs.iter().filter(|j| j.system == Some(system)).map(|j| j.measure.name.clone()).collect()
        };
        for peer in PEERS.into_iter().filter(|peer| *peer != UCX) {
            assert_eq!(of(peer), of(CALLS), "{}", peer.label());
        }
        let groups = BARRIER_TASKS.len() + 2 * GROUP_TASKS.len();
        assert_eq!(
            of(CALLS).len(),
            of(ENGINE).len() + 2 + groups,
            "the engine neither spawns nor is measured blocked, and has no groups"
        );
        assert_eq!(of(NX).len(), groups);
        assert!(of(NX).is_subset(&of(CALLS)) && of(NX).is_disjoint(&of(ENGINE)));
        assert_eq!(of(UCX).len(), 1);
        let names: HashSet<String> = jobs.iter().map(Job::name).collect();
        assert_eq!(names.len(), jobs.len(), "two jobs of one name");
    }

    #[test]
    fn ucx_jobs_cover_every_ring_size_with_data() {
        let sizes: Vec<u64> = TESTS.iter().filter(|t| t.program == "ring").map(|t| t.size).collect();
        assert_eq!(sizes, RING_SIZES[1..]);
    }

    #[test]
    fn systems_have_unique_names() {
        let ids: HashSet<String> = systems().iter().map(System::id).collect();
        let names: HashSet<&str> = SUITE.families.iter().map(|family| family.name()).collect();
        assert_eq!((ids.len(), names.len()), (systems().len(), SUITE.families.len()));
    }
}
