//! One session from beginning to end.

use crate::error::LabError;
use crate::experiment::{self, Kind};
use crate::factors::{self, Factors};
use crate::goals::{self, Goal};
use crate::options::CompareOptions;
use crate::peers::{Absent, Toolbox};
use crate::programs::Programs;
use crate::progress::Progress;
use crate::random::Random;
use crate::record::{Folder, Installed, Manifest};
use crate::report;
use crate::runner::{self, Runner};
use crate::sessions::Session;
use crate::summary::{Row, summarise};
use crate::systems::{self, Extent};
use crate::table;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Compares what is installed, on this machine, now.
///
/// While it runs, Ctrl-C ends it between two launches, so that no daemon stays behind.
pub fn compare(options: &CompareOptions) -> Result<Report, LabError> {
    let begun = Instant::now();
    let interrupted = Arc::new(AtomicBool::new(false));
    let handlers =
        [SIGINT, SIGTERM, SIGHUP].map(|s| signal_hook::flag::register(s, Arc::clone(&interrupted)));
    let result = session(options, begun, &interrupted);
    for handler in handlers.into_iter().flatten() {
        signal_hook::low_level::unregister(handler);
    }
    result
}

fn session(options: &CompareOptions, begun: Instant, interrupted: &AtomicBool) -> Result<Report, LabError> {
    if options.suite != "main" {
        return Err(LabError::UnknownSuite(options.suite.clone()));
    }
    let chosen = systems::select(&options.systems)?;
    let extent = options.extent();
    let factors = Factors::record();
    let seed = options.seed.unwrap_or_else(fresh_seed);

    let (parvum, libraries) = own_files(options);
    let mut toolbox = Toolbox::find(parvum.as_deref(), libraries.as_deref());
    let wanted =
        |name: &str| systems::ring_systems(Extent::Full).iter().any(|s| s.family.name() == name && chosen(s));
    toolbox.absent.retain(|absent| wanted(absent.name));
    toolbox.kits.retain(|kit| wanted(kit.family.name()));
    if toolbox.kits.is_empty() {
        return Err(LabError::NothingToCompare);
    }
    let programs = Programs::prepare(options.apps.as_deref(), &toolbox)?;
    let mut folder = Folder::create(&options.out, &factors.date)?;
    let scratch = Scratch::create()?;
    let sessions = start_sessions(&mut toolbox, &scratch.0, &chosen);

    let mut runner = Runner {
        toolbox,
        programs,
        sessions,
        scratch: scratch.0.clone(),
        cores: runner::task_cores(),
        random: Random::new(seed),
        launches: Vec::new(),
        lines: Vec::new(),
    };
    let budget = Duration::from_secs(options.budget_seconds());
    let planned = run_plan(&mut runner, extent, &chosen, budget, &mut folder, interrupted);
    if let Err(error) = planned {
        folder.discard();
        return Err(error);
    }
    // Daemons end before their folder goes.
    runner.sessions.clear();

    let rows = summarise(&runner.lines);
    if rows.is_empty() {
        let first = runner.launches.iter().find_map(|l| l.failure.clone()).unwrap_or_default();
        return Err(LabError::NothingMeasured(first));
    }
    let goals = goals::check(&rows);
    let manifest = Manifest {
        command: std::env::args().collect::<Vec<_>>().join(" "),
        suite: options.suite.clone(),
        extent: if extent == Extent::Full { "full" } else { "quick" },
        seed,
        budget_s: options.budget_seconds(),
        elapsed_s: begun.elapsed().as_secs_f64(),
        systems: runner
            .toolbox
            .kits
            .iter()
            .map(|kit| Installed { name: kit.family.name(), version: kit.version.clone() })
            .collect(),
        absent: runner.toolbox.absent.clone(),
        factors,
        load_after: factors::load(),
        launches: std::mem::take(&mut runner.launches),
    };
    let table = table::render(&rows, &goals, &manifest);
    let page = report::page(&rows, &goals, &manifest);
    let folder = folder.finish(&manifest, &rows, &page)?;
    Ok(Report { folder, rows, goals, table })
}

/// The first round teaches what launches cost; the rest is dealt out by that.
fn run_plan(
    runner: &mut Runner,
    extent: Extent,
    chosen: &dyn Fn(&systems::System) -> bool,
    budget: Duration,
    folder: &mut Folder,
    interrupted: &AtomicBool,
) -> Result<(), LabError> {
    let mut jobs = experiment::jobs(extent, chosen);
    jobs.retain(|job| job.system.is_none_or(|system| runner.serves(&system)));
    if jobs.iter().all(|job| job.system.is_none()) {
        return Err(LabError::NothingToCompare);
    }
    if runner.cores.len() < 2 {
        // With one core the two-core ring would measure something else under the same name.
        jobs.retain(|job| job.kind != Kind::Ring && job.kind != Kind::Floors);
    }
    let begun = Instant::now();
    let mut progress = Progress::new(jobs.len());
    progress.say(&format!("{} things to measure, about {} s", jobs.len(), budget.as_secs()));
    let mut costs = vec![None; jobs.len()];
    let mut order: VecDeque<usize> = experiment::first_round(jobs.len(), &mut runner.random).into();
    let mut retried = HashSet::new();
    while let Some(job) = order.pop_front() {
        stop_if(interrupted)?;
        progress.begin(&jobs[job].name());
        costs[job] = runner.run(&jobs[job], folder)?;
        if let Some(failure) = runner.launches.last().and_then(|l| l.failure.as_ref()) {
            // One accident does not leave a system out; two in a row do.
            if retried.insert(job) {
                order.push_back(job);
                progress.extend(1);
                progress.end();
                continue;
            }
            progress.say(&format!("left out: {}: {failure}", jobs[job].name()));
        }
        progress.end();
    }
    let wanted: Vec<usize> = jobs.iter().map(|job| job.wanted(extent)).collect();
    let left = budget.saturating_sub(begun.elapsed());
    let order = experiment::more_rounds(&costs, &wanted, left, &mut runner.random);
    progress.extend(order.len());
    for job in order {
        if begun.elapsed() > budget {
            break;
        }
        stop_if(interrupted)?;
        progress.begin(&jobs[job].name());
        runner.run(&jobs[job], folder)?;
        progress.end();
    }
    progress.finish();
    Ok(())
}

fn stop_if(interrupted: &AtomicBool) -> Result<(), LabError> {
    if interrupted.load(Ordering::Relaxed) { Err(LabError::Interrupted) } else { Ok(()) }
}

/// Starts a private machine for each system that needs one; a system whose machine does not start is absent.
fn start_sessions(
    toolbox: &mut Toolbox,
    scratch: &Path,
    chosen: &dyn Fn(&systems::System) -> bool,
) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for system in systems::ring_systems(Extent::Full).iter().filter(|s| chosen(s)) {
        if sessions.iter().any(|session| session.serves(system)) {
            continue;
        }
        let Some(kit) = toolbox.kit(system.family) else { continue };
        match Session::start(kit, system, scratch) {
            Ok(session) => sessions.push(session),
            Err(why) => {
                let remedy = format!("its daemon did not start: {why}");
                toolbox.absent.push(Absent { name: system.family.name(), remedy });
                toolbox.kits.retain(|kit| kit.family != system.family);
            }
        }
    }
    sessions
}

/// The command and the libraries that stand for Parvum: as told, or this executable and the folder it is in.
fn own_files(options: &CompareOptions) -> (Option<PathBuf>, Option<PathBuf>) {
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
    (absolute(parvum), absolute(libraries))
}

fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |d| d.as_secs() % 1_000_000)
}

/// A short-lived folder with a short name (PVM and sockets limit path lengths), gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn create() -> Result<Scratch, LabError> {
        let path = std::env::temp_dir().join(format!("plab{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(LabError::file("create", path.clone()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
