//! `parvum compare -- PROGRAM`: the user's own program under every system that can run it.

mod advice;
mod blocks;
mod left;
mod measured;
mod once;
mod outputs;
mod page;
mod parts;
mod profile;
mod systems;
mod table;

pub use systems::kind::Library;

use crate::error::LabError;
use crate::host::factors::Factors;
use crate::run::comparison::{Report, Scratch, fresh_seed, own_files, until_interrupted};
use crate::run::leftovers::Leftovers;
use crate::run::options::CompareOptions;
use crate::run::record::{FORMAT, array, dated};
use left::Left;
use measured::Measured;
use parvum_seed::Random;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use systems::kind;

/// Seconds for all runs, unless the user says otherwise.
const BUDGET: u64 = 120;

/// The request of the user.
#[derive(Debug, Clone, Default)]
struct Asked {
    /// The words behind `--`.
    words: Vec<OsString>,
    /// The program and its arguments, or several programs.
    parts: Vec<parts::Part>,
    /// Numbers of processes, in ascending order.
    processes: Vec<u32>,
    /// A build of the same program for Open MPI.
    open_mpi: Option<PathBuf>,
    /// A shell command that gets the output and says whether the output is right.
    check: Option<String>,
    /// A file for standard input.
    input: Option<PathBuf>,
    /// The time limit of a run, if the user has set one.
    patience: Option<Duration>,
    /// All runs may take so long.
    budget: Duration,
    /// Files that describe further systems.
    peers: Vec<PathBuf>,
    /// A script of Python that gets an executor, instead of a program.
    python: Option<PathBuf>,
    /// The names of the hosts that the program runs on; without names, this computer alone.
    hosts: Vec<String>,
    /// Runs stop when the interval of each ratio is narrower, in percent.
    precision: f64,
}

impl Asked {
    fn of(options: &CompareOptions) -> Result<Asked, LabError> {
        let python = options.python.as_deref().map(systems::executors::check).transpose()?;
        // The script is the program; the words behind `--` are its arguments.
        let script = options.python.clone().map(PathBuf::into_os_string);
        let words: Vec<OsString> = script.into_iter().chain(options.program.iter().cloned()).collect();
        let parts = match python {
            Some(_) => vec![parts::Part { count: None, words: words.clone() }],
            None => parts::split(&words).map_err(LabError::Program)?,
        };
        for file in options.openmpi.iter().chain(&options.input) {
            if !file.is_file() {
                return Err(LabError::Program(format!("{} is no file", file.display())));
            }
        }
        if let [only] = &options.host[..] {
            return Err(LabError::OneHostNamed { host: only.clone() });
        }
        let refused = |why: &str| Err(LabError::Program(why.into()));
        if parts.len() > 1 && options.openmpi.is_some() {
            return refused(
                "--openmpi names one program, and `:` divides several. help: compare them without --openmpi",
            );
        }
        if parts.len() > 1 && !options.host.is_empty() {
            return refused(
                "`:` divides several programs, which --host cannot place. help: compare them on one host",
            );
        }
        Ok(Asked {
            processes: processes(options, &parts)?,
            words,
            parts,
            python,
            open_mpi: options.openmpi.clone(),
            check: options.check.clone(),
            input: options.input.clone(),
            patience: Some(Duration::from_secs(options.patience)).filter(|patience| !patience.is_zero()),
            budget: Duration::from_secs(options.budget.unwrap_or(BUDGET)),
            precision: options.precision,
            peers: options.peer.clone(),
            hosts: options.host.clone(),
        })
    }
}

/// The numbers of processes, in ascending order.
fn processes(options: &CompareOptions, parts: &[parts::Part]) -> Result<Vec<u32>, LabError> {
    let mut processes = options.processes.clone();
    match parts::fixed(parts) {
        Some(_) if !processes.is_empty() => {
            return Err(LabError::Program(
                "every part of the program has its own -n, and so has the command. help: leave one of them out".into(),
            ));
        }
        Some(all) => return Ok(vec![all]),
        None => {}
    }
    processes.sort_unstable();
    processes.dedup();
    if processes.is_empty() {
        let cores = (crate::host::cores::allowed().len() * options.host.len().max(1)) as u32;
        let all = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n <= cores.max(2));
        processes = all.filter(|n| parts::counts(parts, *n).is_ok()).collect();
    }
    let largest = processes.last().copied().unwrap_or(1);
    parts::counts(parts, processes.first().copied().unwrap_or(largest)).map_err(LabError::Program)?;
    Ok(processes)
}

/// Runs the program under each system, and writes the page. Ctrl-C ends the run that is under way, and all daemons.
pub fn compare(options: &CompareOptions) -> Result<Report, LabError> {
    until_interrupted(|interrupted| compare_until(options, interrupted))
}

fn compare_until(options: &CompareOptions, interrupted: &AtomicBool) -> Result<Report, LabError> {
    let mut asked = Asked::of(options)?;
    let kind = match asked.python.clone() {
        Some(program) => kind::Kind { program, library: Library::Executor },
        None => kind::of_parts(&mut asked.parts, options.built_for)?,
    };
    check_build(&asked, &kind)?;
    let (factors, own) = (Factors::record(), own_files(options));
    let scratch = Scratch::create()?;
    if let Some(check) = &asked.check {
        once::try_check(check, scratch.path()).map_err(LabError::Program)?;
    }
    asked.input = asked.input.or_else(|| once::own_input(scratch.path()));
    // Before minutes are spent on runs.
    let folder = dated(&options.out, &factors.date)?;
    let kept = measured_until(options, asked, kind, (factors, &own), &scratch, interrupted)
        .and_then(|judged| kept(options, &folder, &judged));
    if kept.as_ref().is_ok_and(|report| report.folder == folder) {
        return kept;
    }
    let _ = fs::remove_dir_all(&folder);
    // Nothing else is there if this comparison has made it.
    let _ = fs::remove_dir(&options.out);
    kept
}

/// Whether the build for Open MPI is one.
fn check_build(asked: &Asked, kind: &kind::Kind) -> Result<(), LabError> {
    let Some(build) = &asked.open_mpi else { return Ok(()) };
    let library = kind::of_binary(build).map_err(LabError::Program)?;
    let refused = |why: String| Err(LabError::Program(why));
    match (kind.library, library) {
        (kind::Library::Pvm, _) => {
            refused("--openmpi goes with programs of MPI, and this is one of PVM".into())
        }
        (_, Some(kind::Library::OpenMpi) | None) => Ok(()),
        (_, Some(other)) => refused(format!(
            "--openmpi {0}: this program was built for {other:?}, not for Open MPI. help: mpicc.openmpi builds it",
            build.display()
        )),
    }
}

/// All runs, and what they show.
fn measured_until(
    options: &CompareOptions,
    asked: Asked,
    kind: kind::Kind,
    (factors, own): (Factors, &crate::systems::peers::Own),
    scratch: &Scratch,
    interrupted: &AtomicBool,
) -> Result<Judged, LabError> {
    // Segments that a peer leaves behind go at the end.
    let _leftovers = Leftovers::before();
    let (mut ways, absent) = systems::find(&kind, &asked, own, scratch.path())?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let left = Left::new(scratch.path().file_name().and_then(|name| name.to_str()).unwrap_or_default());
    let measured = blocks::run(&asked, &mut ways, scratch.path(), &left, &mut Random::new(seed), interrupted);
    let profiles = profile::of_each(&asked, &ways, &measured, own, (scratch.path(), &left), interrupted);
    // Relaxed: a signal's handler sets it, and hands over nothing.
    if interrupted.load(Ordering::Relaxed) {
        return Err(LabError::Interrupted);
    }
    let names: Vec<systems::Named> = ways.iter().map(systems::Way::named).collect();
    // Daemons end before their folder goes.
    drop(ways);
    if !measured.has_any() {
        return Err(LabError::Program(advice::all_failed(&asked, &names, &measured, &absent)));
    }
    Ok(Judged { asked, kind, names, absent, measured, profiles, factors, seed })
}

/// Writes the page. If the disk is full, the page goes to the folder for temporary files: minutes of runs are not lost.
fn kept(options: &CompareOptions, folder: &Path, judged: &Judged) -> Result<Report, LabError> {
    let lines = table::summary(judged);
    let (mut folder, mut note) = (folder.to_owned(), String::new());
    if let Err(why) = write_all(&folder, judged, &lines) {
        folder = dated(&std::env::temp_dir().join("parvum-results"), &judged.factors.date)?;
        write_all(&folder, judged, &lines).inspect_err(|_| {
            let _ = fs::remove_dir_all(&folder);
        })?;
        note = format!("The results are in another folder, because {why}.\n");
    }
    let table = if options.json { array(&lines) } else { table::text(judged, &lines) + &note };
    Ok(Report { folder, rows: Vec::new(), goals: Vec::new(), table })
}

/// The files of a comparison.
fn write_all(folder: &Path, judged: &Judged, lines: &[table::Line]) -> Result<(), LabError> {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(LabError::file("write", path))
    };
    write("runs.jsonl", judged.measured.lines(&judged.names))?;
    write("summary.json", array(lines) + "\n")?;
    write("summary.csv", table::csv(lines))?;
    write("manifest.json", manifest(judged))?;
    write("report.html", page::page(judged, lines))
}

/// The command, the systems and the computer.
fn manifest(judged: &Judged) -> String {
    let shown = |words: Vec<OsString>| -> Vec<String> {
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    };
    let manifest = serde_json::json!({
        "format": FORMAT,
        "command": shown(std::env::args_os().collect()),
        "program": shown(judged.asked.words.clone()),
        "library": format!("{:?}", judged.kind.library),
        "processes": judged.asked.processes,
        "systems": judged.names.iter().map(|name| name.name.as_str()).collect::<Vec<_>>(),
        "absent": judged.absent,
        "seed": judged.seed,
        "disturbed_blocks": judged.measured.disturbed,
        "factors": judged.factors,
    });
    format!("{manifest:#}\n")
}

/// Everything that the page and the table are made of.
struct Judged {
    asked: Asked,
    kind: kind::Kind,
    names: Vec<systems::Named>,
    absent: Vec<String>,
    measured: Measured,
    /// One for each system, of the largest number of processes.
    profiles: Vec<profile::Profiled>,
    factors: Factors,
    seed: u64,
}
