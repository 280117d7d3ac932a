//! Runs the launches of a plan and keeps what they measured.

use crate::cores;
use crate::error::LabError;
use crate::experiment::{Job, Kind, LARGE_POINTS, PAPER_POINTS, RING_SIZES};
use crate::factors;
use crate::launch::Launch;
use crate::peers::Toolbox;
use crate::programs::Programs;
use crate::random::Random;
use crate::record::{Folder, LaunchRecord};
use crate::samples::{self, Line};
use crate::sessions::Session;
use crate::summary::Recorded;
use crate::systems::{Family, System};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Longer than any launch that works.
const DEADLINE: Duration = Duration::from_secs(15);

/// Everything a launch needs.
#[derive(Debug)]
pub struct Runner {
    /// Installed systems.
    pub toolbox: Toolbox,
    /// Their programs.
    pub programs: Programs,
    /// Their daemons.
    pub sessions: Vec<Session>,
    /// A short-lived folder for sample files and logs.
    pub scratch: PathBuf,
    /// Distinct physical cores.
    pub cores: Vec<u32>,
    /// Orders the sizes within a launch.
    pub random: Random,
    /// Every launch so far.
    pub launches: Vec<LaunchRecord>,
    /// Every line so far.
    pub lines: Vec<Recorded>,
}

impl Runner {
    /// Whether this machine can run a system now.
    pub fn serves(&self, system: &System) -> bool {
        self.session(system).is_some()
    }

    fn session(&self, system: &System) -> Option<&Session> {
        self.sessions.iter().find(|session| session.serves(system))
    }

    /// Runs one launch; returns what it took, or nothing if it failed.
    pub fn run(&mut self, job: &Job, folder: &mut Folder) -> Result<Option<Duration>, LabError> {
        let number = self.launches.len();
        let out = self.scratch.join("samples.jsonl");
        // A launch that writes nothing must not find its forerunner's samples.
        let _ = std::fs::remove_file(&out);
        let launch = self.launch(job, &out);
        let load = factors::load();
        let ended = launch.run(&self.scratch.join("launch.log"));
        let mut failure = ended.failure;
        let program = match job.kind {
            Kind::OneCore => "ring-one-core",
            Kind::Floors => "floors",
            Kind::Ring => "ring",
            Kind::Fft { .. } => "fft",
            Kind::Blocked => "blocked",
            Kind::Start => "start",
        };
        if failure.is_none() {
            let lines = if job.kind == Kind::Start {
                Ok(vec![start_line(ended.elapsed)])
            } else {
                samples::read(&out)
            };
            match lines {
                Ok(lines) => {
                    for line in lines {
                        let recorded = Recorded::new(number, program, job.system.as_ref(), line);
                        folder.keep(&recorded)?;
                        self.lines.push(recorded);
                    }
                }
                Err(damage) => failure = Some(damage.to_string()),
            }
        }
        let worked = failure.is_none();
        self.launches.push(LaunchRecord {
            launch: number,
            job: job.name(),
            command: launch.line(),
            elapsed_s: ended.elapsed.as_secs_f64(),
            load,
            failure,
        });
        Ok(worked.then_some(ended.elapsed))
    }

    fn launch(&mut self, job: &Job, out: &std::path::Path) -> Launch {
        let (program, tasks, mut arguments) = self.arguments(job);
        arguments.extend(["--out".into(), out.into()]);
        let deadline = DEADLINE;
        let Some(system) = job.system else {
            let program = self.programs.path("floors", None);
            return Launch { program, arguments, environment: vec![], deadline };
        };
        let environment = self.session(&system).map(|s| s.environment.clone()).unwrap_or_default();
        let starter = self.toolbox.kit(system.family).map(|kit| kit.starter.clone()).unwrap_or_default();
        if job.kind == Kind::Start {
            return start_launch(system.family, starter, &self.programs, environment);
        }
        let file = self.programs.path(program, Some(system.family));
        match system.family {
            Family::Parvum | Family::Pvm => {
                if let Some(encoding) = system.encoding.argument() {
                    arguments.extend(["--encoding".into(), encoding.into()]);
                }
                if system.family == Family::Pvm {
                    let route = if system.route == "direct" { "direct" } else { "dont" };
                    arguments.extend(["--route".into(), route.into()]);
                }
                Launch { program: file, arguments, environment, deadline }
            }
            Family::OpenMpi | Family::Mpich => {
                let mut all = mpirun_arguments(system.family, tasks);
                all.push(file.into());
                all.append(&mut arguments);
                Launch { program: starter, arguments: all, environment, deadline }
            }
        }
    }

    /// The program of a job, its tasks and its own arguments.
    fn arguments(&mut self, job: &Job) -> (&'static str, u32, Vec<OsString>) {
        let cores = |cores: &[u32]| cores.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let two = cores(&self.cores[..self.cores.len().min(2)]);
        let mut sizes = |sizes: &[u64]| {
            // The order of sizes is random too.
            let mut sizes = sizes.to_vec();
            self.random.shuffle(&mut sizes);
            sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
        };
        let (program, tasks, list) = match job.kind {
            Kind::Floors => (
                "floors",
                2,
                format!("--cpus {two} --sizes {} --time-ms 8 --least 5 --most 500", sizes(&RING_SIZES)),
            ),
            Kind::Ring => (
                "ring",
                2,
                format!("--cpus {two} --sizes {} --time-ms 8 --least 4 --most 500", sizes(&RING_SIZES)),
            ),
            Kind::OneCore => {
                let one = self.cores[0];
                ("ring", 2, format!("--cpus {one},{one} --sizes 8 --time-ms 40 --least 5 --most 500"))
            }
            Kind::Fft { tasks, large } => {
                let cpus = cores(&self.cores[..self.cores.len().min(tasks as usize)]);
                let (points, time, least) =
                    if large { (&LARGE_POINTS[..], 15, 3) } else { (&PAPER_POINTS[..], 8, 10) };
                let sizes = sizes(points);
                (
                    "fft",
                    tasks,
                    format!(
                        "--tasks {tasks} --cpus {cpus} --sizes {sizes} --time-ms {time} --least {least} --most 300"
                    ),
                )
            }
            Kind::Blocked => ("blocked", 2, format!("--cpus {two} --seconds 3")),
            Kind::Start => ("start", 2, String::new()),
        };
        (program, tasks, list.split_whitespace().map(OsString::from).collect())
    }
}

/// More tasks than cores is a normal day, and pinning is the programs' own business.
fn mpirun_arguments(family: Family, tasks: u32) -> Vec<OsString> {
    let tasks = tasks.to_string();
    let words: &[&str] = match family {
        Family::OpenMpi => &["--bind-to", "none", "--oversubscribe", "-n", &tasks],
        _ => &["-n", &tasks],
    };
    words.iter().map(OsString::from).collect()
}

/// An empty job of two tasks, started as that system's users start one.
fn start_launch(
    family: Family,
    starter: PathBuf,
    programs: &Programs,
    environment: Vec<(String, OsString)>,
) -> Launch {
    let empty = "/bin/true";
    let (program, arguments) = match family {
        Family::Parvum => (starter, ["run", "-n", "2", empty].map(OsString::from).to_vec()),
        Family::Pvm => (programs.path("start", Some(family)), ["2", empty].map(OsString::from).to_vec()),
        Family::OpenMpi | Family::Mpich => {
            let mut arguments = mpirun_arguments(family, 2);
            arguments.push(empty.into());
            (starter, arguments)
        }
    };
    Launch { program, arguments, environment, deadline: DEADLINE }
}

fn start_line(elapsed: Duration) -> Line {
    let ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
    Line { program: "start".into(), tasks: 2, samples_ns: vec![ns], ..Line::default() }
}

/// Distinct cores for the tasks, at least one.
pub fn task_cores() -> Vec<u32> {
    cores::physical(4)
}
