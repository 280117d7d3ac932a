//! The main suite: ring and transform under every system, route and encoding.

pub mod goals;
pub mod hosts;
mod table;

use super::{Pages, Suite};
use crate::report::{figures, headline::Question, tables};
use crate::run::experiment::{Cores, How, Job, Measure, of_each};
use crate::systems::system::{Extent, Family, System, fft_systems, ring_systems, route_systems};

/// Message lengths of the ring, in bytes.
pub const RING_SIZES: [u64; 11] = [0, 8, 64, 512, 1024, 4096, 16384, 65536, 262_144, 1_048_576, 4_194_304];
/// Transforms of the paper's tables, in points.
pub const PAPER_POINTS: [u64; 4] = [128, 256, 512, 1024];
/// Larger transforms.
pub const LARGE_POINTS: [u64; 5] = [4096, 16384, 65536, 262_144, 1_048_576];
/// Numbers of tasks that transform.
pub const FFT_TASKS: [u32; 3] = [1, 2, 4];

/// What `parvum compare` does unless told otherwise. The quick run leaves room for building and reporting within three
/// minutes.
pub static SUITE: Suite = Suite {
    name: "main",
    about: "PVM programs beside PVM 3.4.6, Open MPI and MPICH: ring, FFT, starting, waiting",
    over_hosts: Some(&hosts::OVER),
    families: &[Family::Parvum, Family::Pvm, Family::OpenMpi, Family::Mpich],
    seconds: [160, 1800],
    systems: || ring_systems(Extent::Full),
    jobs,
    goals: goals::check,
    table: table::render,
    pages: Pages {
        introduction: "The same programs, from the same sources with the same compiler, were run under each message-passing system \
             found here: a <em>ring</em> that passes one message between two tasks, and a parallel <em>fast Fourier transform</em>.",
        cards: "For each system its quickest route and encoding. To be fair: jobs of Parvum and PVM start where a daemon is running already, those of \
             MPI with a launcher that starts cold, so they are timed from cold too, the daemon's beginning and end with them; with more tasks than cores Open MPI is told so (--oversubscribe) and yields, MPICH's launcher has no such option.",
        omitted: "cold caches, both directions at once, more than four tasks, sizes above 4 MiB",
        questions: &QUESTIONS,
        contents: &[
            ("ring", "Ring"),
            ("link", "r_max, n_1/2, t_0"),
            ("fft", "FFT"),
            ("split", "Wait and compute"),
            ("papers", "The papers"),
        ],
        sections: &[figures::points, tables::links, figures::transforms, figures::splits, tables::papers],
        details: tables::details,
    },
};

const QUESTIONS: [Question; 7] = [
    Question::small("8 bytes, one hop", "ring", "half round trip", 8),
    Question::large("1 MiB messages, bandwidth", "ring", "bandwidth", 1 << 20),
    Question::small("8 bytes, both tasks on one core", "ring-one-core", "half round trip", 8),
    Question::small("Processor used while blocked", "blocked", "processor", 0),
    Question::small("Start and end of an empty job", "start", "start and end", 0),
    Question::small("The same where nothing runs before and after", "start, cold", "start and end", 0),
    Question::small("FFT, 1024 points on 2 tasks", "fft", "time", 1024),
];

fn jobs(extent: Extent) -> Vec<Job> {
    let mut jobs = vec![Job::floors(&RING_SIZES)];
    let mut add = |measure: Measure, systems: Vec<System>| jobs.extend(of_each(&measure, systems));
    let ring = Measure {
        sizes: &RING_SIZES,
        options: "--time-ms 8 --least 4 --most 500",
        ..Measure::program("ring", "ring")
    };
    add(ring, ring_systems(extent));
    add(one_core(), route_systems());
    for tasks in FFT_TASKS {
        for large in [false, true] {
            add(transform(tasks, large), fft_systems(extent));
        }
    }
    add(blocked(), fft_systems(extent));
    let start =
        Measure { how: How::Job(None), cores: Cores::Each, ..Measure::program("start and end", "start") };
    let cold = Measure {
        name: "start and end from cold".into(),
        program: "start, cold",
        cold: true,
        ..start.clone()
    };
    add(start, fft_systems(Extent::Quick));
    add(cold, fft_systems(Extent::Quick));
    jobs
}

/// The ring with both tasks on one core: where waiting by spinning shows.
pub fn one_core() -> Measure {
    Measure {
        program: "ring-one-core",
        cores: Cores::One,
        sizes: &[8],
        options: "--time-ms 40 --least 5 --most 500",
        launches: 8,
        ..Measure::program("ring on one core", "ring")
    }
}

/// Three seconds each, and all but the same every time.
pub fn blocked() -> Measure {
    Measure {
        cores: Cores::Each,
        options: "--seconds 3",
        launches: 1,
        ..Measure::program("blocked task", "blocked")
    }
}

fn transform(tasks: u32, large: bool) -> Measure {
    let (sizes, options, launches) = if large {
        (&LARGE_POINTS[..], "--time-ms 15 --least 3 --most 300", 2)
    } else {
        (&PAPER_POINTS[..], "--time-ms 8 --least 10 --most 300", 10)
    };
    let name = format!("fft on {tasks}{}", if large { ", large" } else { "" });
    Measure { tasks, cores: Cores::Each, sizes, options, launches, ..Measure::program(name, "fft") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_cover_every_ring_system() {
        for extent in [Extent::Quick, Extent::Full] {
            let jobs = jobs(extent);
            for system in ring_systems(extent) {
                assert!(jobs.iter().any(|job| job.system == Some(system)), "{}", system.label());
            }
            assert_eq!(jobs.iter().filter(|job| job.system.is_none()).count(), 1);
        }
        assert!(jobs(Extent::Quick).iter().any(|job| job.name() == "fft on 4, large: MPICH"));
    }
}
