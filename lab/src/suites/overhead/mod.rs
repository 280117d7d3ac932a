//! The overhead suite: the study of Islam, McGrath and Campbell (seed 000 of the project), on today's machines. What does
//! the software of message passing cost, and how much of it does an application feel?

mod compilers;
mod goals;
mod layers;
mod report;
pub(crate) mod spread;
mod table;
mod transform;

use super::{Pages, Suite, main};
use crate::report::headline::Question;
use crate::run::experiment::{Cores, How, Job, Measure, of_each};
use crate::systems::system::{Encoding, Extent, Family, System};

const ENGINE: System = System::new(Family::Engine, "shm", Encoding::None);
const NX: System = System::new(Family::Nx, "shm", Encoding::None);
const CMMD: System = System::new(Family::Cmmd, "shm", Encoding::None);
const CONTAINERS: System = System::new(Family::Containers, "shm", Encoding::None);
const PVM: System = System::new(Family::Parvum, "shm", Encoding::Raw);

/// The interfaces, over the same engine and the same route.
const INTERFACES: [System; 5] = [ENGINE, NX, CMMD, CONTAINERS, PVM];
/// The engine over the other routes.
const TCP: System = System::new(Family::Engine, "tcp", Encoding::None);
const ROUTED: System = System::new(Family::Engine, "routed", Encoding::None);
/// Numbers of tasks that transform.
const FFT_TASKS: [u32; 4] = [1, 2, 4, 8];

/// `parvum compare --suite overhead`.
pub static SUITE: Suite = Suite {
    name: "overhead",
    about: "where the time of an empty message goes",
    over_hosts: None,
    families: &[Family::Engine, Family::Nx, Family::Cmmd, Family::Containers, Family::Parvum],
    seconds: [200, 900],
    systems,
    jobs,
    goals: goals::check,
    table: table::render,
    pages: Pages {
        introduction: "Islam, McGrath and Campbell asked in 1993 what the software of message passing costs, and how much of it an application \
             feels. Here are their experiments on one engine, through interfaces that differ in little but their names.",
        cards: "",
        omitted: "peers (the suites main and speed have them), other compilers of the programs around the engine",
        questions: &QUESTIONS,
        contents: &[
            ("null", "The null message"),
            ("compilers", "Compilers"),
            ("fft", "FFT"),
            ("split", "Wait and compute"),
            ("papers", "The paper's tables"),
            ("spread", "Spread under load"),
        ],
        sections: &[
            report::null_message,
            report::compilers,
            report::transforms,
            report::splits,
            report::papers,
            report::spread,
        ],
        details: report::numbers,
    },
};

const QUESTIONS: [Question; 3] = [
    Question::small("Empty message, one hop", layers::WHOLE, "half round trip", 0),
    Question::small("FFT, 1024 points on 2 tasks", "fft", "time", 1024),
    Question::small("FFT, 1024 points on 4 tasks", "fft", "time", 1024).on(4),
];

fn systems() -> Vec<System> {
    INTERFACES.into_iter().chain([TCP, ROUTED]).collect()
}

fn jobs(_: Extent) -> Vec<Job> {
    let peeled = Measure {
        how: How::Layers,
        options: "--bouts 10 --samples 60",
        ..Measure::program("layers of a null message", "layers")
    };
    let mut jobs = vec![Job { measure: peeled, system: None }];
    for program in [layers::PARTS, layers::WHOLE] {
        jobs.extend(of_each(&null(program), systems()));
    }
    jobs.extend(compilers::jobs());
    jobs.extend(spread::measures().iter().flat_map(|measure| of_each(measure, [NX])));
    let transforms = FFT_TASKS.map(fft);
    jobs.extend(transforms.iter().flat_map(|measure| of_each(measure, INTERFACES)));
    jobs
}

/// The ring with empty messages: once for the parts, once for the whole that they are held against.
fn null(program: &'static str) -> Measure {
    Measure {
        program,
        sizes: &[0],
        options: "--time-ms 30 --least 5 --most 500",
        // Their median is held against another's to a few percent.
        launches: 40,
        ..Measure::program(format!("ring of {program} messages"), "ring")
    }
}

/// The transforms of the paper.
fn fft(tasks: u32) -> Measure {
    Measure {
        tasks,
        cores: Cores::Each,
        sizes: &main::PAPER_POINTS,
        options: "--time-ms 8 --least 10 --most 300",
        launches: if tasks <= 2 { 8 } else { 5 },
        ..Measure::program(format!("fft on {tasks}"), "fft")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_whole_use_separate_launches() {
        let jobs = jobs(Extent::Quick);
        for system in systems() {
            let rings: Vec<&str> = jobs
                .iter()
                .filter(|job| job.system == Some(system) && job.measure.how == How::Program("ring"))
                .filter(|job| job.measure.build.is_none())
                .map(|job| job.measure.program)
                .collect();
            assert_eq!(rings, [layers::PARTS, layers::WHOLE], "{}", system.label());
        }
        assert_eq!(jobs.iter().filter(|job| job.measure.how == How::Layers).count(), 1);
    }

    #[test]
    fn overhead_jobs_cover_interfaces_and_task_counts() {
        let jobs = jobs(Extent::Quick);
        for system in INTERFACES {
            for tasks in FFT_TASKS {
                let planned = |job: &&Job| {
                    job.system == Some(system) && job.measure.program == "fft" && job.measure.tasks == tasks
                };
                assert_eq!(jobs.iter().filter(planned).count(), 1, "{} on {tasks}", system.label());
            }
        }
    }
}
