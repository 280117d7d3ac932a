//! The files of a report.

use crate::processes;
use crate::shown::shown;
use parvum_task::MachineDirectory;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A question of the report has so long.
const PATIENCE: Duration = Duration::from_secs(30);
/// The end of a log counts.
const LOG: u64 = 1 << 20;
/// Of more tasks the first ones tell enough.
const TASKS: usize = 64;
/// Variables of the environment that change what Parvum does begin so.
const VARIABLES: [&str; 9] =
    ["PARVUM_", "PVM_", "TMK_", "MPI", "OMPI_", "SLURM_", "PBS_", "LD_LIBRARY_PATH", "PATH"];

/// A file of the report.
pub struct File {
    pub name: String,
    pub text: String,
}

/// All files.
pub fn all() -> Vec<File> {
    let place = MachineDirectory::from_env();
    let own = |words: &[&str]| match std::env::current_exe() {
        Ok(command) => output(Command::new(command).args(words)),
        Err(why) => why.to_string(),
    };
    let mut all = Vec::new();
    let mut add = |name: &str, text: String| all.push(File { name: name.into(), text });
    add("versions.txt", versions(&own(&["--version"])));
    add("doctor.json", format!("{:#}\n", crate::doctor::for_report()));
    add("info.json", own(&["info", "--json"]));
    add("hosts.json", own(&["hosts", "-v", "--json"]));
    let tasks = own(&["ps", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&tasks).unwrap_or_default();
    add("tasks.json", tasks);
    for tid in rows.as_array().into_iter().flatten().take(TASKS).filter_map(|row| row["tid"].as_str()) {
        add(&format!("task-{tid}.json"), own(&["info", tid, "--json"]));
    }
    add("why.txt", own(&["why"]));
    for name in ["daemon.log", "daemon.log.old"] {
        if let Some(text) = end_of(&place.dir().join(name)) {
            add(name, text);
        }
    }
    add("environment.txt", environment());
    let settings = crate::settings::configuration::shown();
    let text = if settings == "none" { String::new() } else { read(Path::new(&settings)) };
    add("settings.txt", format!("{settings}\n{text}"));
    for (name, path) in [
        ("limits.txt", "/proc/self/limits"),
        ("cgroup.txt", "/proc/self/cgroup"),
        ("memory.txt", "/proc/meminfo"),
        ("mounts.txt", "/proc/self/mounts"),
    ] {
        add(name, read(Path::new(path)));
    }
    all
}

fn versions(own: &str) -> String {
    let kernel = rustix::system::uname();
    let words = [kernel.sysname(), kernel.release(), kernel.version(), kernel.machine()]
        .map(|word| shown(word.to_bytes()).into_owned());
    let release = read(Path::new("/etc/os-release"));
    let libc = output(Command::new("ldd").arg("--version"));
    let python = output(Command::new("python3").args(["-c", "import sys; print(sys.version)"]));
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let model = read(Path::new("/proc/cpuinfo"));
    let model =
        model.lines().find(|line| line.starts_with("model name")).unwrap_or("model name: unknown").to_owned();
    format!(
        "{}\n{}\n{}\n{}\npython3: {}\n{cpus} CPUs, {model}\n",
        own.trim(),
        words.join(" "),
        release.trim(),
        first(&libc),
        first(&python)
    )
}

fn environment() -> String {
    let mut all: Vec<String> = std::env::vars_os()
        .map(|(name, value)| (name.display().to_string(), value.display().to_string()))
        // A ticket lets its holder act as a task.
        .filter(|(name, _)| name != "PARVUM_TICKET" && VARIABLES.iter().any(|begin| name.starts_with(begin)))
        .map(|(name, value)| format!("{name}={value}\n"))
        .collect();
    all.sort();
    all.concat()
}

fn read(path: &Path) -> String {
    fs::read(path).map_or_else(|why| format!("{}: {why}\n", path.display()), |text| shown(&text).into_owned())
}

/// The end of a log, if there is one.
fn end_of(path: &Path) -> Option<String> {
    let mut file = fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG))).ok()?;
    let mut text = Vec::new();
    file.take(LOG).read_to_end(&mut text).ok()?;
    Some(shown(&text).into_owned())
}

/// Returns both outputs of a command. A code other than 0 is written behind.
fn output(command: &mut Command) -> String {
    let name = command.get_program().display().to_string();
    match processes::output(command, PATIENCE) {
        Ok(done) => {
            let text = format!("{}{}", shown(&done.stdout), shown(&done.stderr));
            if done.status.success() { text } else { format!("{text}({})\n", done.status) }
        }
        Err(why) => format!("{name}: {why}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_or_missing_command_is_recorded() {
        assert_eq!(output(Command::new("sh").args(["-c", "echo a; exit 3"])), "a\n(exit status: 3)\n");
        assert!(output(&mut Command::new("/no/such/command")).starts_with("/no/such/command: "));
    }
}
