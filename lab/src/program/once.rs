//! One run of the program: its files for input and output, the user's own judge, and what a run that hangs waits for.

use super::Asked;
use crate::run::launch::Launch;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// A run may be silent for so long before anybody asks what it waits for.
const CALM: Duration = Duration::from_secs(4);
/// Between two such questions, and between two looks whether the user interrupts.
const ASK: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);
/// The limit of time for an answer.
const ANSWER: Duration = Duration::from_secs(10);
/// `parvum why` ends like this if it has found a deadlock.
const DEADLOCK: &str = "exit status: 3";
/// A disk with less is full.
const FULL: u64 = 1 << 20;

/// Runs a launch with its own standard input; its output is in `out`. The error says why the run failed.
pub fn run_once(launch: &Launch, asked: &Asked, out: &Path, interrupted: &AtomicBool) -> Result<(), String> {
    let errors = out.with_extension("err");
    let mut launch = launch.clone();
    // The shell joins the files; the words of the program go on as they are.
    let words: Vec<_> =
        std::iter::once(launch.program.clone().into_os_string()).chain(launch.arguments).collect();
    launch.program = "/bin/sh".into();
    let input = asked.input.clone().unwrap_or_else(|| "/dev/null".into());
    let script = "out=$1 in=$2; shift 2; exec \"$@\" <\"$in\" >\"$out\"";
    launch.arguments = ["-c".into(), script.into(), "sh".into(), out.into(), input.into()]
        .into_iter()
        .chain(words)
        .collect();
    match launch.run_unless(&errors, interrupted).failure {
        None => Ok(()),
        Some(why) => Err(concise(&why) + &ending_words(out) + &full_disk(out)),
    }
}

/// A failure without what Parvum says to users of `mpiexec`.
fn concise(why: &str) -> String {
    const BEGIN: &str = "; note: the others are told to end";
    const END: &str = "lets them go on";
    match why.split_once(BEGIN).map(|(before, rest)| (before, rest.split_once(END))) {
        Some((before, rest)) => format!("{before}{}", rest.map_or("", |one| one.1)),
        None => why.to_owned(),
    }
}

/// MPICH's launcher prints these lines about the end of a process into the output of the program.
fn ending_words(out: &Path) -> String {
    let mut tail = Vec::new();
    if let Ok(mut file) = File::open(out) {
        let _ = file.seek(SeekFrom::End(-4096)).or_else(|_| file.rewind().map(|()| 0));
        let _ = file.take(4096).read_to_end(&mut tail);
    }
    let text = String::from_utf8_lossy(&tail);
    let words = text.lines().find_map(|line| line.split_once("EXIT STRING:")).map(|one| one.1.trim());
    words.map_or_else(String::new, |words| format!(": {words}"))
}

/// A remark if a disk is full that the program writes to: programs seldom name the disk.
fn full_disk(out: &Path) -> String {
    let is_full = |folder: &Path| {
        rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < FULL)
    };
    let (scratch, here) = (out.parent().unwrap_or(Path::new("/")), Path::new("."));
    if is_full(here) {
        let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
        format!("; the disk of {} is full", here.display())
    } else if is_full(scratch) {
        format!("; the disk of {} is full (TMPDIR=FOLDER moves the output)", scratch.display())
    } else {
        String::new()
    }
}

/// The command that explains why a run under Parvum hangs.
#[derive(Debug, Clone)]
pub struct Why {
    /// `parvum`.
    pub command: PathBuf,
    /// With the folder of its daemon.
    pub environment: Vec<(String, std::ffi::OsString)>,
}

impl Why {
    /// Whether the run is in a deadlock, and the first line about the run. `None` stands for no answer in time. The answer goes to a file
    /// beside the output of the run.
    fn ask(&self, out: &Path, interrupted: &AtomicBool) -> Option<(bool, String)> {
        let words = ["-c".into(), "exec \"$1\" why 2>/dev/null".into(), "sh".into()];
        let launch = Launch {
            program: "/bin/sh".into(),
            arguments: words.into_iter().chain([self.command.clone().into_os_string()]).collect(),
            environment: self.environment.clone(),
            deadline: ANSWER,
        };
        let answer = out.with_extension("why");
        let failure = launch.run_unless(&answer, interrupted).failure;
        if failure.as_deref().is_some_and(is_unfinished) {
            return None;
        }
        let text = std::fs::read(&answer).ok()?;
        let line = String::from_utf8_lossy(&text).lines().next()?.trim().to_owned();
        Some((failure.is_some_and(|how| how.starts_with(DEADLOCK)), line))
    }
}

/// The same as `run_once`, for the first run of a program. A deadlock under Parvum ends the
/// run at once, and the failure names the waits.
pub fn run_first(
    launch: &Launch,
    asked: &Asked,
    out: &Path,
    interrupted: &AtomicBool,
    why: Option<&Why>,
) -> Result<(), String> {
    let Some(why) = why else { return run_once(launch, asked, out, interrupted) };
    let stop = AtomicBool::new(false);
    let (over, is_over) = mpsc::channel::<()>();
    let (ended, said) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(why, out, interrupted, &stop, is_over));
        let ended = run_once(launch, asked, out, &stop);
        drop(over);
        (ended, watcher.join().ok().flatten())
    });
    match (ended, said) {
        (Err(_), Some((true, line)))
            if stop.load(Ordering::Relaxed) && !interrupted.load(Ordering::Relaxed) =>
        {
            Err(line.trim_end_matches('.').to_owned())
        }
        (Err(failure), Some((_, line))) if is_unfinished(&failure) => Err(format!("{failure}; {line}")),
        (ended, _) => ended,
    }
}

/// Asks now and then what a run waits for, until the other end of `is_over` is gone. A deadlock or an interruption sets `stop`.
fn watch(
    why: &Why,
    out: &Path,
    interrupted: &AtomicBool,
    stop: &AtomicBool,
    is_over: Receiver<()>,
) -> Option<(bool, String)> {
    let mut said: Option<(bool, String)> = None;
    let mut next = Instant::now() + CALM;
    // The end of the run wakes this thread. A handler of a signal sets `interrupted` and wakes nobody, so there is a look now and then.
    while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        // Relaxed, here and below: the flags hand nothing over.
        let is_interrupted = interrupted.load(Ordering::Relaxed);
        let mut is_deadlock = false;
        if Instant::now() >= next && !is_interrupted {
            let found = why.ask(out, interrupted);
            // Twice: a message that is on its way at the first look has arrived at the second.
            is_deadlock = matches!((&said, &found), (Some((true, _)), Some((true, _))));
            said = found.or(said);
            next = Instant::now() + ASK;
        }
        if is_interrupted || is_deadlock {
            stop.store(true, Ordering::Relaxed);
        }
    }
    said
}

/// Whether a run failed because its time was over.
pub fn is_unfinished(failure: &str) -> bool {
    failure.starts_with("not finished") || failure.starts_with("DEADLOCK")
}

/// Asks the user's command whether an output is right; nothing if so.
pub fn refused_by(check: &str, output: &Path, patience: Duration) -> Option<String> {
    let judge = Launch {
        program: "/bin/sh".into(),
        arguments: vec![
            "-c".into(),
            "in=$1; eval \"$2\" <\"$in\"".into(),
            "sh".into(),
            output.into(),
            check.into(),
        ],
        environment: Vec::new(),
        deadline: patience,
    };
    let failure = judge.run(&output.with_extension("check")).failure?;
    Some(match is_unfinished(&failure) {
        true => format!("--check has {failure}"),
        false => format!("--check says that the output is wrong: {failure}"),
    })
}

/// Whether the user's command can be run at all: a shell ends with 126 or 127 if not.
pub fn try_check(check: &str, folder: &Path) -> Result<(), String> {
    let out = folder.join("nothing");
    let failure = File::create(&out).ok().and_then(|_| refused_by(check, &out, Duration::from_secs(10)));
    let words = failure.as_deref().and_then(|why| why.split_once(": exit status: 12"));
    match words {
        Some((_, code)) if code.starts_with(['6', '7']) => {
            Err(format!("--check {check}: the shell cannot run this command (exit status 12{code})"))
        }
        _ => Ok(()),
    }
}

/// Standard input of this command, if it is a file: every run gets a copy.
pub fn own_input(folder: &Path) -> Option<PathBuf> {
    let mut input = File::from(std::os::fd::AsFd::as_fd(&std::io::stdin()).try_clone_to_owned().ok()?);
    if !input.metadata().ok()?.is_file() {
        return None;
    }
    let copy = folder.join("input");
    std::io::copy(&mut input, &mut File::create(&copy).ok()?).ok()?;
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn place(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("parvum-once-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    /// A command that says what `parvum why` would.
    fn why(folder: &Path, line: &str, code: i32) -> Why {
        use std::os::unix::fs::PermissionsExt;
        let command = folder.join("why");
        fs::write(&command, format!("#!/bin/sh\necho '{line}'\nexit {code}\n")).expect("a file");
        fs::set_permissions(&command, fs::Permissions::from_mode(0o700)).expect("our file");
        Why { command, environment: Vec::new() }
    }

    fn sleeps(deadline: u64) -> Launch {
        Launch {
            program: "sleep".into(),
            arguments: vec!["300".into()],
            environment: Vec::new(),
            deadline: Duration::from_secs(deadline),
        }
    }

    #[test]
    fn deadlock_ends_a_run_before_its_time() {
        let folder = place("deadlock");
        let (asked, never) = (Asked::default(), AtomicBool::new(false));
        let why = why(&folder, "DEADLOCK: rank 0 waits for rank 0", 3);
        let ended = run_first(&sleeps(300), &asked, &folder.join("out"), &never, Some(&why));
        assert_eq!(ended, Err("DEADLOCK: rank 0 waits for rank 0".to_owned()));
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn run_that_is_too_long_says_what_it_waits_for() {
        let folder = place("long");
        let (asked, never) = (Asked::default(), AtomicBool::new(false));
        let why = why(&folder, "rank 0 is busy", 0);
        let ended = run_first(&sleeps(12), &asked, &folder.join("out"), &never, Some(&why));
        assert_eq!(ended, Err("not finished after 12 s; rank 0 is busy".to_owned()));
        let ended = run_first(&sleeps(300), &asked, &folder.join("out"), &AtomicBool::new(true), Some(&why));
        assert!(ended.is_err_and(|why| why.starts_with("interrupted")));
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn question_without_an_answer_ends_when_the_user_interrupts() {
        let folder = place("silent");
        let mut why = why(&folder, "nothing", 0);
        assert_eq!(
            why.ask(&folder.join("out"), &AtomicBool::new(false)),
            Some((false, "nothing".to_owned()))
        );
        why.command = folder.join("silent");
        fs::write(&why.command, "#!/bin/sh\nexec sleep 300\n").expect("a file");
        fs::set_permissions(&why.command, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .expect("our file");
        assert_eq!(why.ask(&folder.join("out"), &AtomicBool::new(true)), None);
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn failure_has_the_cause_alone() {
        let long = "exit status: 137: parvum: E-TASKFAILED: rank 1 was killed by SIGKILL (9); note: the others are told to end; help: \
                    `-disable-auto-cleanup` lets them go on; rank 0 ends";
        assert_eq!(
            concise(long),
            "exit status: 137: parvum: E-TASKFAILED: rank 1 was killed by SIGKILL (9); rank 0 ends"
        );
        let folder = place("cause");
        let out = folder.join("out");
        fs::write(&out, "x\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n")
            .expect("a file");
        assert_eq!(ending_words(&out), ": Killed (signal 9)");
        fs::write(&out, "x\n").expect("a file");
        assert_eq!(ending_words(&out), "");
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn check_judges_an_output_and_a_missing_command_is_refused() {
        let folder = place("check");
        let out = folder.join("out");
        fs::write(&out, "sum 7\n").expect("a file");
        let patience = Duration::from_secs(60);
        assert_eq!(refused_by("grep -q 'sum 7'", &out, patience), None);
        let wrong = refused_by("echo no sum 8 >&2; exit 4", &out, patience).expect("refused");
        assert_eq!(wrong, "--check says that the output is wrong: exit status: 4: no sum 8");
        let slow = refused_by("exec sleep 300", &out, Duration::from_secs(1)).expect("refused");
        assert_eq!(slow, "--check has not finished after 1 s");
        assert_eq!(try_check("grep -q sum", &folder), Ok(()));
        let missing = try_check("no-such-command-here", &folder).expect_err("missing");
        assert!(missing.starts_with("--check no-such-command-here: the shell cannot run"), "{missing}");
        fs::remove_dir_all(folder).expect("removed");
    }
}
