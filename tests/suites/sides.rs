//! A system that tests run on: MPICH, or Parvum with the same programs.

use crate::lists::{Judge, Test};
use crate::source::{Interface, Source, pypi};
use crate::verdicts::{Outcome, Verdicts};
use crate::{rooms, stopping};
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The launcher ends the job at the limit; it gets so much longer to do that.
const GRACE: Duration = Duration::from_secs(10);
/// By this variable a test's processes are known.
const MARK: &str = "PARVUM_SUITES_TEST";

/// Installed names, and the files of the build that they are.
const LIBRARIES: [(&str, &str); 4] = [
    ("libparvum.so.0", "libparvum.so"),
    ("libmpi.so.12", "libmpi.so"),
    ("libmpich.so.12", "libmpi.so"),
    ("libmpi_abi.so.1", "libmpi_abi.so"),
];

/// One system.
pub struct Side {
    name: &'static str,
    root: PathBuf,
    outputs: PathBuf,
    launcher: PathBuf,
    environment: Vec<(&'static str, OsString)>,
    /// Its verdicts of earlier runs.
    verdicts: Verdicts,
    /// It answers from memory, or says that tests pass.
    is_silent: bool,
    /// Parvum's folder: its machine, its libraries.
    room: Option<PathBuf>,
}

impl Side {
    /// MPICH.
    pub fn mpich(source: &Source, fresh: bool, is_silent: bool) -> Result<Side, String> {
        let verdicts = Verdicts::open(source.outputs().join("verdicts"), fresh)?;
        let (launcher, library) = match source.interface {
            Interface::Mpich => (PathBuf::from("/usr/bin/mpiexec.mpich"), None),
            Interface::Standard => (pypi()?.join("bin/mpiexec"), Some(pypi()?.join("lib"))),
        };
        let environment =
            library.map(|path| ("LD_LIBRARY_PATH", path.into_os_string())).into_iter().collect();
        Ok(Side {
            name: "mpich",
            root: source.root.clone(),
            outputs: source.outputs(),
            launcher,
            environment,
            verdicts,
            is_silent,
            room: None,
        })
    }

    /// Parvum, on a machine of its own. Its verdicts of an earlier run count if that one is continued.
    pub fn parvum(source: &Source, continued: bool) -> Result<Side, String> {
        let me = std::env::current_exe().map_err(|why| why.to_string())?;
        let built = me.parent().expect("a program lies in a folder").to_path_buf();
        let verdicts = Verdicts::open(built.join(format!("suites-{}.verdicts", source.name)), !continued)?;
        rooms::clear(&built.join("parvum"));
        let room = rooms::mine();
        let fill = || {
            fs::DirBuilder::new().mode(0o700).create(&room)?;
            fs::create_dir(room.join("lib"))?;
            for (name, file) in LIBRARIES {
                symlink(built.join(file), room.join("lib").join(name))?;
            }
            // It finds the libraries beside it.
            symlink(built.join("parvum"), room.join("mpiexec"))
        };
        fill().map_err(|why: std::io::Error| format!("{}: {why}", room.display()))?;
        let side = Side {
            name: "parvum",
            root: source.root.clone(),
            outputs: source.outputs(),
            launcher: room.join("mpiexec"),
            environment: vec![
                ("LD_LIBRARY_PATH", room.join("lib").into_os_string()),
                ("PARVUM_DIR", room.join("machine").into_os_string()),
                ("PARVUM_BIN", built.join("parvum").into_os_string()),
            ],
            verdicts,
            is_silent: false,
            room: Some(room),
        };
        side.parvum_command(&["up"])?;
        Ok(side)
    }

    /// Why a test cannot be run here.
    pub fn lacks(&self, test: &Test) -> Option<String> {
        if !self.root.join(&test.folder).join(&test.program).is_file() {
            return Some("its program was not made".to_owned());
        }
        let available = available().unwrap_or(f64::MAX);
        (test.memory > available)
            .then(|| format!("it needs {} GiB of memory, {available:.1} are free", test.memory))
    }

    /// What came of a test, if that is known without running it.
    pub fn known(&self, test: &Test) -> Option<Outcome> {
        self.verdicts.of(&test.key()).or_else(|| self.is_silent.then_some(Outcome::Passed))
    }

    /// Keeps what came of a test for later runs.
    pub fn keep(&mut self, test: &Test, outcome: &Outcome) -> Result<(), String> {
        if self.is_silent { Ok(()) } else { self.verdicts.keep(&test.key(), outcome) }
    }

    /// Runs a test.
    pub fn run(&self, test: &Test, limit: u64) -> Result<Outcome, String> {
        let limit = test.limit.unwrap_or(limit);
        let mark = format!("{}-{}", std::process::id(), self.name);
        let said = self.outputs.join(format!("{}.{}.txt", file_name(&test.key()), self.name));
        let output = File::create(&said).map_err(|why| format!("{}: {why}", said.display()))?;
        let mut command = self.command(&self.launcher);
        command.current_dir(self.root.join(&test.folder)).process_group(0);
        command.env("MPIEXEC_TIMEOUT", limit.to_string()).env(MARK, &mark);
        command.envs(test.environment.iter().map(|(name, value)| (name, value)));
        command.args(["-n", &test.ranks.to_string()]).args(&test.launcher);
        command.arg(format!("./{}", test.program)).args(&test.arguments);
        command.stdout(output.try_clone().map_err(|why| why.to_string())?).stderr(output);
        let begun = Instant::now();
        let mut child = command.spawn().map_err(|why| format!("{}: {why}", self.launcher.display()))?;
        let ended = stopping::await_end(&mut child, Some(Duration::from_secs(limit) + GRACE));
        if ended.is_none() {
            self.clear(&mark)?;
        }
        stopping::refuse()?;
        let text = String::from_utf8_lossy(&fs::read(&said).unwrap_or_default()).into_owned();
        // A launcher that has ended the job in time was still too late. What must fail may fail so.
        let late = begun.elapsed() >= Duration::from_secs(limit) && test.judge != Judge::Fatal;
        Ok(match ended {
            Some(status) if !late => judged(test.judge, &text, status),
            _ => Outcome::Overdue,
        })
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        command.env("HOME", std::env::var_os("HOME").unwrap_or("/".into()));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn parvum_command(&self, words: &[&str]) -> Result<(), String> {
        let Some((_, parvum)) = self.environment.iter().find(|(name, _)| *name == "PARVUM_BIN") else {
            return Ok(());
        };
        let said = self.command(Path::new(parvum)).args(words).output().map_err(|why| why.to_string())?;
        if said.status.success() {
            return Ok(());
        }
        Err(format!("parvum {}: {}", words.join(" "), String::from_utf8_lossy(&said.stderr).trim()))
    }

    /// Ends what a test has left running.
    fn clear(&self, mark: &str) -> Result<(), String> {
        if self.room.is_some() {
            self.parvum_command(&["down"])?;
        }
        marked(mark).into_iter().for_each(kill);
        if self.room.is_some() && !stopping::is_asked() { self.parvum_command(&["up"]) } else { Ok(()) }
    }

    /// Ends Parvum's machine.
    pub fn end(self) -> Result<(), String> {
        self.parvum_command(&["down"])
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        if let Some(room) = &self.room {
            // The machine of a run that was given up.
            let _ = self.parvum_command(&["down"]);
            let _ = fs::remove_dir_all(room);
        }
    }
}

/// As the suite itself judges.
fn judged(judge: Judge, said: &str, status: ExitStatus) -> Outcome {
    // A library that MPICH is built on says what it has not freed.
    let lines: Vec<&str> =
        said.lines().filter(|line| !line.contains("yaksa") && !line.contains("FORTRAN STOP")).collect();
    let is_fine = |line: &str| matches!(line.trim(), "No Errors" | "No errors" | "Test Passed");
    let passed = lines.iter().any(|line| line.trim().eq_ignore_ascii_case("no errors"));
    let fails = |why: String| Outcome::Failed(why);
    match judge {
        Judge::Fatal | Judge::Status if status.success() => fails("exit code 0".to_owned()),
        Judge::StatusNoErrors if status.success() => fails("exit code 0".to_owned()),
        Judge::StatusNoErrors if !passed => fails("it never says No Errors".to_owned()),
        Judge::Fatal | Judge::Status | Judge::StatusNoErrors => Outcome::Passed,
        Judge::NoErrors => {
            if let Some(line) = lines.iter().find(|line| !is_fine(line)) {
                return fails(format!("it says: {}", line.trim().chars().take(160).collect::<String>()));
            }
            match (passed, status.code()) {
                (false, _) => fails("it never says No Errors".to_owned()),
                (true, Some(0)) => Outcome::Passed,
                (true, Some(code)) => fails(format!("exit code {code}")),
                (true, None) => fails(format!("signal {}", status.signal().unwrap_or(0))),
            }
        }
    }
}

/// A file name for a test; long ones are told apart by a sum of their letters.
fn file_name(key: &str) -> String {
    let plain: String =
        key.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    if plain.len() <= 100 {
        return plain;
    }
    let sum = key.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("{}-{sum:08x}", &plain[..100])
}

/// Free memory, in GiB.
fn available() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / f64::from(1 << 20))
}

/// Processes with this mark in their environment.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}").into_bytes();
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|word| word == wanted)
    })
    .collect()
}

fn kill(pid: u32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid as i32) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    #[test]
    fn suite_test_is_judged_by_its_output_rule() {
        assert_eq!(judged(Judge::NoErrors, " No Errors\n", ended(0)), Outcome::Passed);
        assert_eq!(
            judged(Judge::NoErrors, "[WARNING] yaksa: 1 leaked\n No Errors\n", ended(0)),
            Outcome::Passed
        );
        assert!(matches!(judged(Judge::NoErrors, " No Errors\n", ended(1)), Outcome::Failed(_)));
        assert!(matches!(judged(Judge::NoErrors, "", ended(0)), Outcome::Failed(_)));
        assert!(matches!(judged(Judge::NoErrors, "oh\n No Errors\n", ended(0)), Outcome::Failed(_)));
        assert_eq!(judged(Judge::Fatal, "anything", ended(15)), Outcome::Passed);
        assert!(matches!(judged(Judge::Fatal, "", ended(0)), Outcome::Failed(_)));
        assert_eq!(judged(Judge::StatusNoErrors, " No Errors\n", ended(9)), Outcome::Passed);
        assert!(matches!(judged(Judge::StatusNoErrors, "", ended(9)), Outcome::Failed(_)));
    }

    #[test]
    fn long_names_give_different_file_names() {
        let (one, other) = ("a".repeat(200), format!("{}b", "a".repeat(199)));
        assert_ne!(file_name(&one), file_name(&other));
        assert!(file_name(&one).len() < 120);
    }
}
