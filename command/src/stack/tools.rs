//! Programs that print call stacks: py-spy for Python, else eu-stack or gdb.

use crate::processes::in_path;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A program, and its arguments before and after the process number.
struct Tool {
    name: &'static str,
    arguments: fn(&str) -> Vec<String>,
}

const PYTHON: Tool =
    Tool { name: "py-spy", arguments: |pid| words(&["dump", "--nonblocking", "--pid", pid]) };
const NATIVE: [Tool; 2] = [
    Tool { name: "eu-stack", arguments: |pid| words(&["-p", pid]) },
    Tool {
        name: "gdb",
        arguments: |pid| words(&["--batch", "-nx", "-p", pid, "-ex", "thread apply all backtrace"]),
    },
];

/// A tool that does not end within this time is killed: the task must go on.
const LIMIT: Duration = Duration::from_secs(20);

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The call stacks of all threads, by the first tool that is installed and succeeds. Else the reasons.
pub fn stacks(pid: u32) -> Result<String, String> {
    let is_python = std::fs::read_link(format!("/proc/{pid}/exe"))
        .is_ok_and(|program| program.file_name().is_some_and(|name| name.as_bytes().starts_with(b"python")));
    let tools = is_python.then_some(&PYTHON).into_iter().chain(&NATIVE);
    let mut reasons = Vec::new();
    for tool in tools {
        match in_path(Path::new(tool.name)) {
            None => reasons.push(format!("{} is not installed", tool.name)),
            Some(path) => match run(&path, tool, pid) {
                Ok(text) => return Ok(text),
                Err(why) => reasons.push(format!("{}: {why}", tool.name)),
            },
        }
    }
    let reasons = reasons.join("; ");
    Err(format!(
        "E-STACK: no call stacks, only the kernel's view of the threads: {reasons}; help: install elfutils or gdb, and py-spy for \
         Python; `parvum doctor` shows whether this system allows it"
    ))
}

fn run(path: &Path, tool: &Tool, pid: u32) -> Result<String, String> {
    let mut command = Command::new(path);
    // A download of debug information would hold the task.
    command.args((tool.arguments)(&pid.to_string())).env_remove("DEBUGINFOD_URLS");
    let done = crate::processes::output(&mut command, LIMIT)?;
    let text = crate::shown::shown(&done.stdout).into_owned();
    // eu-stack ends with 1 if it has no symbols for some frame: the stacks are there all the same.
    if text.lines().any(|line| line.trim_start().starts_with('#') || line.contains("Thread")) {
        return Ok(text);
    }
    let error = crate::shown::shown(&done.stderr).into_owned();
    let first = error.lines().find(|line| !line.trim().is_empty()).unwrap_or("no output");
    Err(first.trim().to_owned())
}
