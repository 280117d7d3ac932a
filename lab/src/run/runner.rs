//! Runs the launches of a plan and keeps what they measured.

use crate::error::LabError;
use crate::host::cores;
use crate::host::factors;
use crate::host::memory;
use crate::host::state::{Probe, State, Ticks};
use crate::run::disturbed;
use crate::run::experiment::{Cores, How, Job, Measure, Rival};
use crate::run::launch::{self, Launch, Running};
use crate::run::leftovers::Leftovers;
use crate::run::record::{Folder, LaunchRecord};
use crate::stats::samples::{self, Line};
use crate::stats::summary::Recorded;
use crate::systems::peers::Toolbox;
use crate::systems::perftest;
use crate::systems::programs::Programs;
use crate::systems::sessions::Session;
use crate::systems::system::{Family, System};
use parvum_seed::Random;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// After so long a rival's tasks compute.
const HEAD_START: Duration = Duration::from_millis(300);

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
    /// Rivals' segments that were there before.
    pub leftovers: Leftovers,
    /// Distinct physical cores.
    pub cores: Vec<u32>,
    /// What stands for machines where programs are told who runs where: hosts, or cores of this one.
    pub machines: Vec<String>,
    /// Messages that each slave sends, where that is not the program's own number.
    pub messages: Option<u32>,
    /// Whether the machines are hosts.
    pub over_hosts: bool,
    /// Orders the sizes within a launch.
    pub random: Random,
    /// Looks at the machine between launches.
    pub probe: Probe,
    /// The last look at the machine, if nothing happened since.
    pub seen: Option<State>,
    /// The number of the block that runs.
    pub block: usize,
    /// Every launch so far.
    pub launches: Vec<LaunchRecord>,
    /// Every line so far.
    pub lines: Vec<Recorded>,
}

impl Runner {
    /// Whether this machine can run a job now.
    pub fn serves(&self, job: &Job) -> bool {
        if job.measure.build.is_some_and(|build| self.programs.build(build).is_none()) {
            return false;
        }
        match job.measure.how {
            How::Layers => self.programs.layers(&self.toolbox).is_some(),
            _ => job.system.is_none_or(|system| self.session(&system, &job.measure).is_some()),
        }
    }

    fn session(&self, system: &System, measure: &Measure) -> Option<&Session> {
        self.sessions.iter().find(|session| session.serves(system, measure.refused))
    }

    /// Launches from here on are of another block.
    pub fn begin_block(&mut self) {
        self.block = self.launches.iter().map(|launch| launch.block + 1).max().unwrap_or(0);
        self.seen = None;
    }

    /// Runs one launch; returns what it took, or nothing if it failed.
    pub fn run(&mut self, job: &Job, folder: &mut Folder) -> Result<Option<Duration>, LabError> {
        let number = self.launches.len();
        let load = factors::load();
        let before = self.seen.take().unwrap_or_else(|| self.probe.look());
        let ticks = Ticks::now();
        let attempt = self.attempt(job);
        let stolen = ticks.and_then(|ticks| Some(Ticks::now()?.since(ticks).stolen_share()));
        if attempt.lines.is_err() {
            self.tidy(job);
        }
        let after = self.probe.look();
        self.seen = Some(after);
        let recorded = |line: Line| {
            // UCX's own program measures what several of ours do.
            let program = match job.measure.how {
                How::Perftest(_) => line.program.clone(),
                _ => job.measure.program.to_owned(),
            };
            Recorded::new(number, &program, job.system.as_ref(), line)
        };
        let (mut lines, failure) = match attempt.lines {
            Ok(lines) => (lines.into_iter().map(recorded).collect(), None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let worked = failure.is_none();
        let launch = LaunchRecord {
            launch: number,
            job: job.name(),
            program: job.measure.program.to_owned(),
            system: job.system.map(|system| system.id()).unwrap_or_default(),
            tasks: job.measure.tasks,
            command: attempt.command,
            elapsed_s: attempt.elapsed.as_secs_f64(),
            load,
            block: self.block,
            before,
            after,
            stolen: stolen.unwrap_or(0.0),
            failure,
        };
        folder.keep(&launch, &lines)?;
        self.launches.push(launch);
        self.lines.append(&mut lines);
        Ok(worked.then_some(attempt.elapsed))
    }

    /// The launches of a block do not count any more: the block was repeated.
    pub fn replace(&mut self, block: usize, by: usize) {
        for launch in self.launches.iter_mut().filter(|one| one.block == block && one.failure.is_none()) {
            launch.failure = Some(disturbed::repeated_in(by));
            self.lines.retain(|line| line.launch != launch.launch);
        }
    }

    /// After a launch that failed: what it left would disturb those that follow.
    fn tidy(&self, job: &Job) {
        if let Some(session) = job.system.and_then(|system| self.session(&system, &job.measure)) {
            session.reset();
        }
        self.leftovers.remove();
    }

    fn attempt(&mut self, job: &Job) -> Attempt {
        let out = self.scratch.join("samples.jsonl");
        // A launch that writes nothing must not find its forerunner's samples.
        let _ = std::fs::remove_file(&out);
        let log = self.scratch.join("launch.log");
        if let How::Perftest(tests) = job.measure.how {
            let launch = self.launch(job, &out);
            let mut tests = tests.to_vec();
            self.random.shuffle(&mut tests);
            let cores = self.cores(Cores::Two, 2);
            let ended = perftest::run(&launch, &tests, &cores, &log);
            return Attempt { command: launch.line(), elapsed: ended.elapsed, lines: ended.lines };
        }
        let beside = match job.measure.rival {
            Some(rival) => Some(self.rival(job, rival)),
            None => job.measure.neighbour.then(|| self.neighbour(&job.measure)),
        };
        let rival = match beside.map(|launch| self.start_beside(&launch)) {
            Some(Err(why)) => {
                return Attempt { command: String::new(), elapsed: Duration::ZERO, lines: Err(why) };
            }
            Some(Ok(rival)) => Some(rival),
            None => None,
        };
        if let Some(arrangement) = job.measure.arrangement
            && let Err(why) = std::fs::write(self.arrangement_file(), arrangement.file(&self.machines))
        {
            let why = format!("cannot write {}: {why}", self.arrangement_file().display());
            return Attempt { command: String::new(), elapsed: Duration::ZERO, lines: Err(why) };
        }
        let launch = self.launch(job, &out);
        let daemon = job.measure.arrangement.and_then(|_| self.session(&job.system?, &job.measure)?.daemon());
        let before = daemon.and_then(memory::begin);
        let session = job.system.and_then(|system| self.session(&system, &job.measure));
        let said = session.map_or(0, Session::tasks_said);
        let mut ended = launch.run(&log);
        if let Some(failure) = &mut ended.failure
            && let Some(words) = session.and_then(|session| session.tasks_words(said))
        {
            failure.push_str(&format!(": {words}"));
        }
        if let Some(rival) = rival {
            // A job that had nothing in its way would pass for one that had.
            if rival.is_over() && ended.failure.is_none() {
                let what = if job.measure.neighbour { "its neighbour" } else { "its rival" };
                ended.failure = Some(launch::explain(&format!("{what} ended before it"), &self.rivals_log()));
            }
            let _ = rival.end(Duration::ZERO);
        }
        let lines = match (ended.failure, job.measure.how) {
            (Some(failure), _) => Err(failure),
            (None, How::Job(_)) => Ok(vec![timed(&job.measure, ended.elapsed)]),
            (None, _) => samples::read(&out).map_err(|damage| damage.to_string()),
        };
        let lines = lines.map(|mut lines| {
            // The longest messages are what it held most for.
            if let (Some(longest), Some(before)) = (lines.iter_mut().max_by_key(|line| line.size), before) {
                longest.daemon_kib = daemon.and_then(|daemon| memory::grown(daemon, before));
            }
            lines
        });
        Attempt { command: launch.line(), elapsed: ended.elapsed, lines }
    }

    fn arrangement_file(&self) -> PathBuf {
        self.scratch.join("arrangement")
    }

    fn rivals_log(&self) -> PathBuf {
        self.scratch.join("rival.log")
    }

    /// The job that is to be in the way.
    fn rival(&mut self, job: &Job, rival: Rival) -> Launch {
        let Rival { sizes, options } = rival;
        let measure = Measure { sizes, options, ..job.measure.clone() };
        self.launch(&Job { measure, system: job.system }, Path::new("/dev/null"))
    }

    /// The program that computes all the while, on the last of the job's cores.
    fn neighbour(&self, measure: &Measure) -> Launch {
        let cores = self.cores(measure.cores, measure.tasks);
        let list = cores.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        Launch {
            program: self.programs.path("busy", None),
            arguments: vec!["--cpus".into(), list.into()],
            environment: vec![],
            deadline: Duration::from_secs(measure.patience),
        }
    }

    /// Starts what is to be in the way, and lets it get going.
    fn start_beside(&self, launch: &Launch) -> Result<Running, String> {
        let running = launch
            .begin(&self.rivals_log())
            .map_err(|why| format!("cannot start what runs beside the job, {}: {why}", launch.line()))?;
        std::thread::sleep(HEAD_START);
        Ok(running)
    }

    fn launch(&mut self, job: &Job, out: &Path) -> Launch {
        let measure = &job.measure;
        let mut arguments = self.arguments(measure);
        arguments.extend(["--out".into(), out.into()]);
        if measure.arrangement.is_some() {
            arguments.extend(["--config".into(), self.arrangement_file().into()]);
            arguments.extend(self.messages.iter().flat_map(|n| ["--messages".into(), n.to_string().into()]));
        }
        let deadline = Duration::from_secs(measure.patience);
        let Some(system) = job.system else {
            let program = match measure.how {
                How::Layers => self.programs.layers(&self.toolbox).unwrap_or_default(),
                _ => self.programs.path(measure.program, None),
            };
            return Launch { program, arguments, environment: vec![], deadline };
        };
        let family = system.family;
        let mut environment =
            self.session(&system, measure).map(|s| s.environment.clone()).unwrap_or_default();
        if let Some(protocol) = family.protocol() {
            environment.push(("TMK_PROTOCOL".into(), protocol.into()));
        }
        if let Some(build) = measure.build.and_then(|build| self.programs.build(build)) {
            put_first(&mut environment, &build);
        }
        let starter = self.toolbox.kit(family).map(|kit| kit.starter.clone()).unwrap_or_default();
        let launch = match measure.how {
            How::Perftest(_) | How::Layers => {
                Launch { program: starter, arguments: vec![], environment, deadline }
            }
            How::Job(program) => {
                let file = program
                    .map_or_else(|| "/bin/true".into(), |program| self.programs.path(program, Some(family)));
                let (program, arguments) = match family {
                    Family::Pvm => {
                        (self.programs.path("start", Some(family)), vec![measure.tasks.to_string().into()])
                    }
                    _ => (starter, self.starter_words(&system, measure, (measure.tasks, measure.tasks))),
                };
                Launch { program, arguments, environment, deadline }.with(file.into())
            }
            How::Program(program) => {
                let file = self.programs.path(program, Some(family));
                let crowded = self.cores(measure.cores, measure.tasks).len() < measure.tasks as usize;
                match family {
                    Family::Parvum | Family::Engine | Family::Containers if crowded => {
                        // By the machine, as mpirun starts MPI's: a task started by hand is of another session than those that
                        // it spawns, and the kernel lets tasks of one session only take turns on a core.
                        let mut all = self.starter_words(&system, measure, (1, 1));
                        all.extend(["--".into(), file.into()]);
                        all.append(&mut arguments);
                        all.extend(pvm_arguments(&system, self.over_hosts));
                        Launch { program: starter, arguments: all, environment, deadline }
                    }
                    Family::Parvum
                    | Family::Engine
                    | Family::Containers
                    | Family::Pvm
                    | Family::Ucx
                    | Family::Sockets
                    | Family::Python
                    | Family::PyMpich
                    | Family::PyOpenMpi
                    | Family::Ray
                    | Family::Dask
                    | Family::Loky
                    | Family::Multiprocessing => {
                        arguments.extend(pvm_arguments(&system, self.over_hosts));
                        Launch { program: file, arguments, environment, deadline }
                    }
                    _ => {
                        let started = if measure.spawns { 1 } else { measure.tasks };
                        let mut all = self.starter_words(&system, measure, (started, measure.tasks));
                        all.extend(measure.starter.iter().map(OsString::from));
                        all.push(file.into());
                        all.append(&mut arguments);
                        Launch { program: starter, arguments: all, environment, deadline }
                    }
                }
            }
        };
        let launch = if measure.refused { launch.under(&self.programs.path("refuse", None)) } else { launch };
        let launch = if measure.cold { launch.under(&self.programs.path("from-cold", None)) } else { launch };
        match self.session(&system, measure) {
            Some(session) => session.on_first(launch),
            None => launch,
        }
    }

    /// The launcher and its options for `started` tasks. The hosts have room for `placed` tasks in all.
    fn starter_words(
        &self,
        system: &System,
        measure: &Measure,
        (started, placed): (u32, u32),
    ) -> Vec<OsString> {
        let mut words = starter_arguments(system.family, started);
        if let Some(session) = self.session(system, measure) {
            words.extend(session.starter_arguments(system.family, placed));
        }
        words
    }

    /// What a program of `apps/` is told.
    fn arguments(&mut self, measure: &Measure) -> Vec<OsString> {
        let list = |numbers: Vec<String>| numbers.join(",");
        let cores = self.cores(measure.cores, measure.tasks);
        let mut words = format!(
            "--tasks {} --cpus {} {}",
            measure.tasks,
            list(cores.iter().map(u32::to_string).collect()),
            measure.options
        );
        if !measure.sizes.is_empty() {
            // The order of sizes is random too.
            let mut sizes = measure.sizes.to_vec();
            self.random.shuffle(&mut sizes);
            words.push_str(&format!(" --sizes {}", list(sizes.iter().map(u64::to_string).collect())));
        }
        let mut words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        if let Some(file) = measure.data.and_then(crate::systems::peers::data) {
            words.extend(["--data".into(), file.into_os_string()]);
        }
        words
    }

    fn cores(&self, cores: Cores, tasks: u32) -> Vec<u32> {
        let most = match cores {
            Cores::One => 1,
            Cores::Two => 2,
            Cores::Each => tasks as usize,
        };
        self.cores[..self.cores.len().min(most)].to_vec()
    }
}

/// How a launch went.
struct Attempt {
    command: String,
    elapsed: Duration,
    lines: Result<Vec<Line>, String>,
}

/// Has the loader look into a folder before any other; tasks that are spawned get the variable along.
fn put_first(environment: &mut Vec<(String, OsString)>, folder: &Path) {
    const NAME: &str = "LD_LIBRARY_PATH";
    let mut path = folder.as_os_str().to_owned();
    match environment.iter_mut().find(|(name, _)| name == NAME) {
        Some((_, others)) => {
            path.push(":");
            path.push(&*others);
            *others = path;
        }
        None => environment.push((NAME.to_owned(), path)),
    }
}

/// What `mpirun` or `parvum` is told. More tasks than cores is a normal day, and pinning is the programs' own business.
fn starter_arguments(family: Family, tasks: u32) -> Vec<OsString> {
    let tasks = tasks.to_string();
    let words: &[&str] = match family {
        family if family.is_ours() => &["run", "-n", &tasks],
        Family::OpenMpi | Family::OpenMpi4 => &["--bind-to", "none", "--oversubscribe", "-n", &tasks],
        _ => &["-n", &tasks],
    };
    words.iter().map(OsString::from).collect()
}

/// The choices that only PVM programs have.
fn pvm_arguments(system: &System, over_hosts: bool) -> Vec<OsString> {
    let mut words = Vec::new();
    if let Some(encoding) = system.encoding.argument() {
        words.extend(["--encoding", encoding]);
    }
    // On one host Parvum's route is set from outside; over hosts one machine serves all its routes.
    if system.family == Family::Pvm || over_hosts && system.family == Family::Parvum {
        let direct = matches!(system.route, "direct" | "tcp")
            || system.route.starts_with(|c: char| c.is_ascii_digit());
        words.extend(["--route", if direct { "direct" } else { "dont" }]);
    }
    words.into_iter().map(OsString::from).collect()
}

/// A job's time from outside, as a line of samples.
fn timed(measure: &Measure, elapsed: Duration) -> Line {
    let ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
    Line { program: measure.program.into(), tasks: measure.tasks, samples_ns: vec![ns], ..Line::default() }
}

/// Distinct cores that stand for machines where programs are told who runs where.
pub fn machine_cores() -> Vec<String> {
    cores::physical(8).iter().map(|core| format!(":{core}")).collect()
}

/// Distinct cores for the tasks, at least one.
pub fn task_cores() -> Vec<u32> {
    cores::physical(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::experiment::of_each;
    use crate::suites;
    use crate::systems::peers::Kit;
    use crate::systems::system::Extent;

    /// The word after `name`.
    fn after(launch: &Launch, name: &str) -> Option<String> {
        let words: Vec<String> = launch.arguments.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).cloned()
    }

    fn runner() -> Runner {
        let kit = |family| Kit { family, version: String::new(), starter: "starter".into(), libraries: None };
        let families = suites::ALL.iter().flat_map(|suite| suite.families);
        Runner {
            toolbox: Toolbox { kits: families.map(|family| kit(*family)).collect(), absent: vec![] },
            programs: Programs::in_folder("programs"),
            sessions: vec![],
            scratch: PathBuf::new(),
            leftovers: Leftovers::in_folder(Path::new("/nonexistent")),
            cores: vec![3, 5],
            machines: vec![":3".into(), ":5".into()],
            messages: None,
            over_hosts: false,
            random: Random::new(1),
            probe: Probe::new(vec![3, 5]),
            seen: None,
            block: 0,
            launches: vec![],
            lines: vec![],
        }
    }

    #[test]
    fn parvum_job_over_hosts_omits_route_and_message_count() {
        let mut runner = runner();
        let job = (suites::find("pvmtime").unwrap().jobs)(Extent::Quick)
            .into_iter()
            .find(|job| job.system.is_some_and(|s| (s.family, s.route) == (Family::Parvum, "tcp")))
            .unwrap();
        let launch = runner.launch(&job, Path::new("out"));
        assert_eq!((after(&launch, "--route"), after(&launch, "--messages")), (None, None));
        assert!(after(&launch, "--config").is_some());
        (runner.over_hosts, runner.messages) = (true, Some(128));
        let launch = runner.launch(&job, Path::new("out"));
        assert_eq!(after(&launch, "--route"), Some("direct".into()));
        assert_eq!(after(&launch, "--messages"), Some("128".into()));
    }

    #[test]
    fn pvm_job_over_hosts_uses_direct_route_unless_named() {
        for (route, told) in
            [("2-hosts", "direct"), ("daemon-2-hosts", "dont"), ("direct", "direct"), ("daemon", "dont")]
        {
            let system = System::new(Family::Pvm, route, crate::systems::system::Encoding::Raw);
            let job = of_each(&Measure::program("lu", "npb"), [system]).next().unwrap();
            let launch = runner().launch(&job, Path::new("out"));
            assert_eq!(after(&launch, "--route"), Some(told.into()), "{route}");
        }
    }

    #[test]
    fn launcher_starts_all_tasks_unless_they_spawn() {
        let mut runner = runner();
        for job in suites::ALL.iter().flat_map(|suite| (suite.jobs)(Extent::Full)) {
            let Some(Family::OpenMpi | Family::Mpich4) = job.system.map(|system| system.family) else {
                continue;
            };
            let launch = runner.launch(&job, Path::new("out"));
            let tasks = if job.measure.program == "spawn" { 1 } else { job.measure.tasks };
            assert_eq!(after(&launch, "-n"), Some(tasks.to_string()), "{}", job.name());
            if matches!(job.measure.how, How::Program(_)) {
                assert_eq!(after(&launch, "--tasks"), Some(job.measure.tasks.to_string()), "{}", job.name());
            }
        }
    }

    #[test]
    fn job_without_cma_runs_under_refusing_program() {
        let refused = Measure { refused: true, ..Measure::program("ring", "ring") };
        let system = |family| System { family, route: "", encoding: crate::systems::system::Encoding::None };
        let mut lines = of_each(&refused, [system(Family::Mpich), system(Family::Engine)])
            .map(|job| runner().launch(&job, Path::new("out")).line());
        assert!(
            lines.next().unwrap().starts_with("programs/refuse starter -n 2 programs/ring.mpich --tasks 2")
        );
        assert!(
            lines.next().unwrap().starts_with("programs/refuse programs/ring.engine --tasks 2 --cpus 3,5")
        );
    }

    #[test]
    fn neighbour_computes_on_cores_of_its_job() {
        let measure = Measure { neighbour: true, ..Measure::program("tail", "tail") };
        assert_eq!(runner().neighbour(&measure).line(), "programs/busy --cpus 3,5");
    }

    #[test]
    fn library_path_puts_other_build_first() {
        let mut environment = vec![("LD_LIBRARY_PATH".to_owned(), OsString::from("/shipped"))];
        put_first(&mut environment, Path::new("/other"));
        assert_eq!(environment, [("LD_LIBRARY_PATH".to_owned(), OsString::from("/other:/shipped"))]);
        let mut bare = Vec::new();
        put_first(&mut bare, Path::new("/other"));
        assert_eq!(bare, [("LD_LIBRARY_PATH".to_owned(), OsString::from("/other"))]);
    }

    #[test]
    fn job_of_missing_build_is_not_served() {
        let measure = Measure { build: Some("bogus"), ..Measure::program("ring", "ring") };
        let job = Job { measure, system: None };
        assert!(!runner().serves(&job));
        assert!(runner().serves(&Job { measure: Measure { build: None, ..job.measure }, system: None }));
    }

    #[test]
    fn job_is_started_with_its_users_command() {
        let job = Measure { how: How::Job(Some("job")), ..Measure::program("job", "job") };
        let system = |family| System { family, route: "", encoding: crate::systems::system::Encoding::None };
        let line = |family| {
            let job = of_each(&job, [system(family)]).next().unwrap();
            runner().launch(&job, Path::new("out")).line()
        };
        assert_eq!(line(Family::Parvum), "starter run -n 2 programs/job.parvum");
        assert_eq!(line(Family::Pvm), "programs/start.pvm346 2 programs/job.pvm346");
        assert!(line(Family::OpenMpi4).ends_with("--oversubscribe -n 2 programs/job.openmpi4"));
    }
}
