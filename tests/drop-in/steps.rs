//! Plays a case on a machine: starts its programs, feeds them, and collects what they say and how they end.

use crate::machines::{Machine, Place, files};
use crate::table::{Case, End, Input, Step};
use rustix::process::{Pid, Signal};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long output may come after the end of the program: from its children.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// A program that serves has answered everything when it has said nothing for so long.
const QUIET: Duration = Duration::from_millis(100);

/// What one program said, and how it ended.
pub struct Heard {
    pub line: &'static str,
    pub said: String,
    pub ended: End,
    pub expected: End,
}

/// What came of a case.
pub struct Outcome {
    pub took: Duration,
    pub heard: Vec<Heard>,
}

/// Plays all steps of a case.
pub fn play(case: &'static Case, machine: &Machine, place: &Place) -> Result<Outcome, String> {
    let begun = Instant::now();
    let mut running: Vec<Running> = Vec::new();
    for step in case.steps {
        let mut program = Running::start(step, machine, place)?;
        match step.beside {
            Some(ready) => {
                let _ = program.await_words(ready, 1, Instant::now() + Duration::from_secs(step.limit));
            }
            None => program.finish(),
        }
        running.push(program);
    }
    let heard = running.into_iter().map(Running::heard).collect();
    Ok(Outcome { took: begun.elapsed(), heard })
}

/// A program of a case.
struct Running {
    step: &'static Step,
    child: Child,
    group: Pid,
    said: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
    terminal: Option<File>,
    ended: Option<End>,
}

impl Running {
    fn start(step: &'static Step, machine: &Machine, place: &Place) -> Result<Running, String> {
        let mut words = step.line.split_whitespace().map(|word| match word.strip_prefix("FILES/") {
            Some(name) => files().join(name).into_os_string(),
            None => word.into(),
        });
        let program = words.next().expect("a program");
        // Looked for in the user's PATH, not in ours.
        let found = [place.root.join("bin"), "/usr/bin".into()]
            .iter()
            .map(|dir| dir.join(&program))
            .find(|p| p.exists());
        let found = if program == "mpiexec" { Some(machine.launcher.clone()) } else { found };
        let mut command = machine.command(found.unwrap_or(program.into()));
        command.args(words).process_group(0);
        let (reader, terminal) = match step.input {
            Input::Terminal(_) => on_terminal(&mut command).map_err(|why| format!("a terminal: {why}"))?,
            _ => (on_pipe(&mut command).map_err(|why| format!("a pipe: {why}"))?, None),
        };
        if matches!(step.input, Input::Text(_)) {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().map_err(|why| format!("{}: {why}", step.line))?;
        // Its ends of pipe and terminal are its own now.
        drop(command);
        if let (Input::Text(text), Some(mut input)) = (step.input, child.stdin.take()) {
            // A program that ends without reading is heard by its end.
            let _ = input.write_all(text.as_bytes());
        }
        let group = Pid::from_child(&child);
        let said = Arc::new(Mutex::new(Vec::new()));
        let reader = std::thread::spawn({
            let said = Arc::clone(&said);
            move || listen(reader, &said)
        });
        Ok(Running { step, child, group, said, reader: Some(reader), terminal, ended: None })
    }

    fn words(&self) -> String {
        String::from_utf8_lossy(&self.said.lock().expect("readers do not panic")).into_owned()
    }

    /// Waits until it has said this so many times; false when it does not.
    fn await_words(&mut self, words: &str, times: usize, until: Instant) -> bool {
        while self.words().matches(words).count() < times {
            if Instant::now() > until || matches!(self.child.try_wait(), Ok(Some(_))) {
                // What it said last may still be on its way.
                std::thread::sleep(Duration::from_millis(5));
                return self.words().matches(words).count() >= times;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        true
    }

    /// Answers its questions, and waits for its end.
    fn finish(&mut self) {
        let until = Instant::now() + Duration::from_secs(self.step.limit);
        if let Input::Terminal(dialogue) = self.step.input {
            for (at, (question, answer)) in dialogue.iter().enumerate() {
                let times = 1 + dialogue[..at].iter().filter(|(before, _)| before == question).count();
                if !self.await_words(question, times, until) {
                    break;
                }
                let _ = self.terminal.as_mut().expect("it has one").write_all(answer.as_bytes());
            }
        }
        if self.step.ends == End::Stopped {
            return self.await_quiet(until);
        }
        while self.ended.is_none() {
            match self.child.try_wait() {
                Ok(Some(status)) => self.ended = Some(end_of(status)),
                _ if Instant::now() > until => self.ended = Some(End::Overdue),
                _ => std::thread::sleep(Duration::from_micros(200)),
            }
        }
    }

    fn await_quiet(&self, until: Instant) {
        let (mut length, mut since) = (0, Instant::now());
        while since.elapsed() < QUIET && Instant::now() < until {
            let now = self.said.lock().expect("readers do not panic").len();
            if now != length {
                (length, since) = (now, Instant::now());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for a program that ran beside the others, ends what does not end, and gives what was said.
    fn heard(mut self) -> Heard {
        if self.ended.is_none() {
            self.finish();
        }
        let ended = self.ended.unwrap_or(End::Stopped);
        let until = Instant::now() + AFTERWARDS;
        while !self.reader.as_ref().is_none_or(JoinHandle::is_finished)
            && Instant::now() < until
            && may_speak(ended)
        {
            std::thread::sleep(Duration::from_micros(200));
        }
        let _ = rustix::process::kill_process_group(self.group, Signal::KILL);
        let _ = self.child.wait();
        Heard { line: self.step.line, said: self.words(), ended, expected: self.step.ends }
    }
}

/// A program that was ended by force says no more.
fn may_speak(ended: End) -> bool {
    !matches!(ended, End::Overdue | End::Stopped)
}

fn end_of(status: std::process::ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

/// Output and errors into one pipe, as a person sees them.
fn on_pipe(command: &mut Command) -> std::io::Result<File> {
    let (reader, writer) = std::io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    Ok(File::from(OwnedFd::from(reader)))
}

/// All three of the program's streams on a terminal of its own.
fn on_terminal(command: &mut Command) -> std::io::Result<(File, Option<File>)> {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?.into_string().expect("/dev/pts has plain names");
    let theirs = rustix::fs::open(
        name.as_str(),
        rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )?;
    command.stdin(theirs.try_clone()?).stdout(theirs.try_clone()?).stderr(theirs);
    Ok((File::from(ours.try_clone()?), Some(File::from(ours))))
}

/// Reads to the end; a terminal ends with an error.
fn listen(mut reader: File, said: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = reader.read(&mut bytes) {
        said.lock().expect("nobody panics with it").extend_from_slice(&bytes[..count]);
    }
}
