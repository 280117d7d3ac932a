//! One session from beginning to end.

use crate::catalogue::Rerun;
use crate::error::LabError;
use crate::history::commits;
use crate::host::factors::{self, Factors};
use crate::host::hosts;
use crate::host::state::Probe;
use crate::report;
use crate::run::disturbed;
use crate::run::experiment::{How, Job};
use crate::run::interrupted::PartialRun;
use crate::run::leftovers::Leftovers;
use crate::run::options::CompareOptions;
use crate::run::progress::{Progress, Whole};
use crate::run::record::{self, Folder, Installed, Manifest};
use crate::run::rounds::run_plan;
use crate::run::runner::{self, Runner};
use crate::stats::goals::Goal;
use crate::stats::summary::{Row, summarise};
use crate::suites;
use crate::systems::peers::{Absent, Own, Toolbox};
use crate::systems::programs::Programs;
use crate::systems::sessions::Session;
use crate::systems::system::{Extent, Family};
use crate::table;
use parvum_seed::Random;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

/// What a session leaves behind.
#[derive(Debug)]
pub struct Report {
    /// The dated folder.
    pub folder: PathBuf,
    /// Every row of `summary.json`.
    pub rows: Vec<Row>,
    /// The bars, checked.
    pub goals: Vec<Goal>,
    /// The table for a terminal.
    pub table: String,
}

impl Report {
    /// The rows for programs; `docs/reference/json/compare.schema.json` describes them.
    pub fn json(&self) -> String {
        record::array(&self.rows)
    }
}

/// Compares what is installed, on this machine, now.
///
/// While it runs, Ctrl-C ends it between two launches, so that no daemon stays behind.
pub fn compare(options: &CompareOptions) -> Result<Report, LabError> {
    compare_parts(options, &[])
}

/// The same of parts of the suite alone, or of all of it where no part is named.
pub(crate) fn compare_parts(options: &CompareOptions, parts: &[&Rerun]) -> Result<Report, LabError> {
    until_interrupted(|interrupted| {
        session(options, &Within { parts, ..Within::default() }, Instant::now(), interrupted)
    })
}

/// What a session is of, where it is not a whole suite for itself.
#[derive(Default)]
pub(crate) struct Within<'a> {
    /// Parts of the suite; all of it where none is named.
    pub parts: &'a [&'a Rerun],
    /// The folder that it goes on with, or begins; else a dated one is made.
    pub folder: Option<&'a Path>,
    /// The sessions before and after it.
    pub whole: Whole,
}

/// Does something that looks now and then whether the user has had enough of it.
pub(crate) fn until_interrupted<T>(work: impl FnOnce(&AtomicBool) -> T) -> T {
    let interrupted = Arc::new(AtomicBool::new(false));
    let handlers =
        [SIGINT, SIGTERM, SIGHUP].map(|s| signal_hook::flag::register(s, Arc::clone(&interrupted)));
    let result = work(&interrupted);
    for handler in handlers.into_iter().flatten() {
        signal_hook::low_level::unregister(handler);
    }
    result
}

pub(crate) fn session(
    options: &CompareOptions,
    within: &Within,
    begun: Instant,
    interrupted: &AtomicBool,
) -> Result<Report, LabError> {
    let parts = within.parts;
    if let [only] = &options.host[..] {
        return Err(LabError::OneHostNamed { host: only.clone() });
    }
    let suite = match (suites::find(&options.suite)?, &options.hosts[..]) {
        (suite, []) if !options.host.is_empty() => {
            suite.over_hosts.ok_or_else(|| LabError::OneHost { suite: suite.name.to_owned() })?
        }
        (suite, []) => suite,
        (suite, _) if suite.name == suites::shared::SUITE.name => &suites::shared::hosts::SUITE,
        (suite, _) if suite.name == suites::npb::SUITE.name => &suites::npb::hosts::SUITE,
        (suite, _) => return Err(LabError::NotOnHosts(suite.name.to_owned())),
    };
    let chosen = suite.select(&options.systems)?;
    let extent = options.extent();
    let chooses = !options.classes.is_empty() || !options.benchmarks.is_empty() || !options.tasks.is_empty();
    if chooses && suite.name != suites::npb::SUITE.name {
        return Err(LabError::NoParts(suite.name.to_owned()));
    }
    // Classes that are asked for by name need no --full.
    let mut jobs = (suite.jobs)(if options.classes.is_empty() { extent } else { Extent::Full });
    jobs.retain(|job| is_chosen(options, job));
    if chooses && jobs.is_empty() {
        return Err(LabError::NothingLeft {
            suite: suite.name.to_owned(),
            why: why_nothing_is_left(options),
        });
    }
    // A network of the papers takes its time.
    let slowness = if options.host.is_empty() { 1 } else { 4 };
    let seconds = options.budget.unwrap_or(slowness * suite.budget(extent));
    let mut factors = Factors::record();
    if !options.host.is_empty() {
        factors.note_network();
    }
    let seed = options.seed.unwrap_or_else(fresh_seed);

    let wanted: Vec<Family> =
        (suite.systems)().into_iter().filter(|system| chosen(system)).map(|system| system.family).collect();
    let mut toolbox = Toolbox::find(&own_files(options), suite.families);
    toolbox.absent.retain(|absent| wanted.iter().any(|family| family.name() == absent.name));
    toolbox.kits.retain(|kit| wanted.contains(&kit.family));
    if toolbox.kits.is_empty() {
        return Err(LabError::NothingToCompare);
    }
    jobs.retain(|job| parts.is_empty() || parts.iter().any(|part| part.wants(job)));
    jobs.retain(|job| job.system.is_none_or(|s| chosen(&s) && toolbox.kit(s.family).is_some()));
    let over_hosts = !options.host.is_empty();
    if over_hosts {
        // One host alone has memory that its tasks share.
        jobs.retain(|job| job.system.is_some_and(|system| system.route != "shm"));
        if jobs.is_empty() {
            return Err(LabError::OneHost { suite: options.suite.clone() });
        }
    }
    let machines = if over_hosts { options.host.clone() } else { runner::machine_cores() };
    let fits = |job: &Job| job.measure.arrangement.is_none_or(|arrangement| arrangement.fits(machines.len()));
    for job in jobs.iter().filter(|job| !fits(job)) {
        let name = job.measure.name.clone();
        if !toolbox.absent.iter().any(|absent| absent.name == name) {
            let what = if over_hosts { "host" } else { "core" };
            let remedy =
                format!("it needs a {what} for each of its machines, and here are {}", machines.len());
            toolbox.absent.push(Absent { name, remedy });
        }
    }
    jobs.retain(fits);
    let programs = Programs::prepare(options.apps.as_deref(), &toolbox, &jobs)?;
    if jobs.iter().any(|job| job.measure.how == How::Layers) && programs.layers(&toolbox).is_none() {
        let remedy = "build it: cargo build --release --package parvum-layers".to_owned();
        toolbox.absent.push(Absent { name: "the layers of a message's way".to_owned(), remedy });
    }
    let builds: Vec<&str> = jobs.iter().filter_map(|job| job.measure.build).collect();
    if !builds.is_empty() && builds.iter().all(|build| programs.build(build).is_none()) {
        let remedy = "run `./x variants` (some minutes)".to_owned();
        toolbox.absent.push(Absent { name: "the engine by other compilers and options".to_owned(), remedy });
    }
    let (mut folder, kept) = match within.folder {
        Some(folder) => Folder::go_on(folder)?,
        None => (Folder::create(&options.out, &factors.date)?, PartialRun::default()),
    };
    let spent = kept.spent();
    let scratch = Scratch::create()?;
    let sessions = start_sessions(&mut toolbox, &programs, &jobs, &scratch.0, &options.host);

    let mut runner = Runner {
        toolbox,
        programs,
        sessions,
        scratch: scratch.0.clone(),
        leftovers: Leftovers::before(),
        cores: runner::task_cores(),
        machines,
        messages: (over_hosts && extent == Extent::Quick).then_some(FEW_MESSAGES),
        over_hosts,
        // What goes on does not repeat the order that it began with.
        random: Random::new(seed + kept.launches.len() as u64),
        probe: Probe::new(runner::task_cores()),
        seen: None,
        block: 0,
        launches: kept.launches,
        lines: kept.lines,
    };
    let progress = Progress::new(Duration::from_secs(seconds), within.whole.clone());
    let planned = run_plan(&mut runner, jobs, extent, progress, &mut folder, interrupted);
    let left_out = match planned {
        Ok(left_out) => left_out,
        Err(error) => {
            if within.folder.is_none() {
                folder.discard();
            }
            return Err(error);
        }
    };
    // Daemons end before their folder goes.
    runner.sessions.clear();

    disturbed::settle(&mut runner.lines, &runner.launches);
    let rows = summarise(&runner.lines);
    if rows.is_empty() {
        let first = runner.launches.iter().find_map(|l| l.failure.clone()).unwrap_or_default();
        return Err(LabError::NothingMeasured(first));
    }
    let goals = (suite.goals)(&rows);
    let commit = commits::of_run(options, &runner.toolbox.kits);
    let manifest = Manifest {
        format: record::FORMAT,
        command: command(),
        suite: options.suite.clone(),
        extent: if extent == Extent::Full { "full" } else { "quick" },
        seed,
        budget_s: seconds + spent as u64,
        elapsed_s: spent + begun.elapsed().as_secs_f64(),
        systems: runner
            .toolbox
            .kits
            .iter()
            .map(|kit| Installed { name: kit.family.name(), version: kit.version.clone() })
            .collect(),
        absent: runner.toolbox.absent.clone(),
        hosts: options.host.clone(),
        commit,
        factors,
        load_after: factors::load(),
        launches: std::mem::take(&mut runner.launches),
        left_out,
    };
    let shown = if options.targets { goals.as_slice() } else { &[] };
    let table = table::render(suite, &rows, shown, &manifest);
    let page = report::page(suite, &rows, shown, &manifest);
    let folder = folder.finish(&manifest, &rows, &page)?;
    Ok(Report { folder, rows, goals, table })
}

/// The command line, for people. Words that are not UTF-8 are shown with replacement characters.
fn command() -> String {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    words.join(" ")
}

/// Whether a job is of the classes, benchmarks, numbers of tasks and hosts that are asked for; without a word all are.
fn is_chosen(options: &CompareOptions, job: &Job) -> bool {
    let class = suites::npb::class_of(job);
    (options.classes.is_empty() || class.is_some_and(|class| options.classes.contains(&class)))
        && (options.benchmarks.is_empty() || options.benchmarks.iter().any(|one| one == job.measure.program))
        && (options.tasks.is_empty() || options.tasks.contains(&job.measure.tasks))
        && job.system.is_none_or(|system| {
            hosts::of_route(system.route).is_none_or(|count| options.hosts.contains(&count))
        })
}

/// Which choices of a benchmark's parts leave nothing.
fn why_nothing_is_left(options: &CompareOptions) -> String {
    let listed = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match (options.hosts.iter().min(), options.tasks.iter().max()) {
        // Each host has a task.
        (Some(hosts), Some(tasks)) if hosts > tasks => {
            let got = listed(&options.tasks);
            format!("--hosts {} needs --tasks {hosts} or more (got {got})", listed(&options.hosts))
        }
        _ => {
            "no benchmark has that class with so many tasks; leave out --class, --benchmark or --tasks".into()
        }
    }
}

/// Messages of each slave in the quick run over hosts: networks of the papers carry a thousandth of what memory does.
const FEW_MESSAGES: u32 = 128;

/// Starts the private machines that the jobs need; a system whose machine does not start is absent.
fn start_sessions(
    toolbox: &mut Toolbox,
    programs: &Programs,
    jobs: &[Job],
    scratch: &Path,
    hosts: &[String],
) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut tried = HashSet::new();
    for job in jobs {
        let (Some(system), refused) = (job.system, job.measure.refused) else { continue };
        if sessions.iter().any(|session| session.serves(&system, refused)) || !tried.insert((system, refused))
        {
            continue;
        }
        let Some(kit) = toolbox.kit(system.family) else { continue };
        let refuse = refused.then(|| programs.path("refuse", None));
        match Session::start(kit, &system, refuse, scratch, hosts) {
            Ok(session) => sessions.push(session),
            Err(why) => {
                let remedy = format!("its daemon did not start: {why}");
                let name = system.family.name();
                if refused {
                    let name = format!("{name} where single copies are refused");
                    toolbox.absent.push(Absent { name, remedy });
                } else {
                    toolbox.absent.push(Absent { name: name.to_owned(), remedy });
                    toolbox.kits.retain(|kit| kit.family != system.family);
                }
            }
        }
    }
    sessions
}

/// The command and the libraries that stand for Parvum: as told, or this executable and the folder it is in.
pub(crate) fn own_files(options: &CompareOptions) -> Own {
    let executable = std::env::current_exe().ok();
    let own = executable.filter(|file| file.file_name().is_some_and(|name| name == "parvum"));
    let parvum = options.parvum.clone().or(own);
    let beside = parvum.as_deref().and_then(Path::parent).map(Path::to_owned);
    let libraries = options.libraries.clone().or_else(|| {
        let beside = beside?;
        let candidates = [beside.clone(), beside.join("../lib"), beside.join("lib")];
        candidates
            .into_iter()
            .find(|folder| ["libpvm3.so.3", "libpvm3.so"].iter().any(|file| folder.join(file).exists()))
    });
    let absolute = |path: Option<PathBuf>| path.and_then(|path| path.canonicalize().ok());
    Own { command: absolute(parvum), libraries: absolute(libraries) }
}

pub(crate) fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |d| d.as_secs() % 1_000_000)
}

/// A short-lived folder with a short name (PVM and sockets limit path lengths), gone at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A new one.
    pub(crate) fn create() -> Result<Scratch, LabError> {
        // A name that nobody can foresee, and a folder that was not there before: else another user could have put it there.
        let mut random = RandomState::new().build_hasher();
        random.write_u32(std::process::id());
        let path = std::env::temp_dir().join(format!("plab{:x}", random.finish() & 0xffff_ffff));
        let created = std::fs::DirBuilder::new().mode(0o700).create(&path);
        created.map_err(LabError::file("create", path.clone()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
