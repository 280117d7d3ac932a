//! PVM's console and daemon, as people and scripts call them.

mod commands;
mod daemon;
mod jobs;
mod real;
mod scripts;
mod terminal;

use parvum_tests::{PATIENCE, TestMachine};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

/// A machine of a user who has a home.
struct User {
    machine: TestMachine,
    home: PathBuf,
}

/// What a console said, and how it ended.
#[derive(Debug)]
struct Said {
    out: String,
    err: String,
    code: Option<i32>,
}

impl User {
    fn new() -> User {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let home = std::env::temp_dir().join(format!("parvum-home-{}-{number}", std::process::id()));
        std::fs::create_dir(&home).expect("a home");
        User { machine: TestMachine::new(), home }
    }

    /// The `parvum` command under one of its other names.
    fn call(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = self.machine.command(arguments);
        command.arg0(name).env("HOME", &self.home).current_dir(&self.home);
        for variable in [
            "PVMHOSTFILE",
            "PVM_EXPORT",
            "PVM_DEBUGGER",
            "PVM_ROOT",
            "XDG_STATE_HOME",
            "PARVUM_ROUTE",
            "PARVUM_CREDIT",
            "PARVUM_SINGLE_COPY",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// Lets a console obey a script.
    fn pvm(&self, arguments: &[&str], script: impl AsRef<[u8]>) -> Said {
        finish(&mut self.call("pvm", arguments), script.as_ref())
    }

    /// What a console answers to one line.
    fn answer(&self, line: &str) -> String {
        let said = self.pvm(&[], format!("{line}\n"));
        said.answer(line)
    }

    /// A file in the user's home.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.home.join(name);
        std::fs::write(&path, text).expect("it can be written");
        path.to_str().expect("a plain path").to_owned()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

impl Said {
    /// What came after a line's own prompt, up to the next one.
    fn answer(&self, line: &str) -> String {
        let shown = format!("pvm> {line}\n");
        let at = self.out.find(&shown).unwrap_or_else(|| panic!("no {shown:?} in {self:?}"));
        let rest = &self.out[at + shown.len()..];
        rest.split("pvm> ").next().unwrap_or_default().to_owned()
    }
}

fn finish(command: &mut Command, input: &[u8]) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let ended = child.wait_with_output().expect("it ends");
    writer.join().expect("a plain thread");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Said { out: text(ended.stdout), err: text(ended.stderr), code: ended.status.code() }
}

/// A console that somebody talks with.
struct Live {
    child: Child,
    input: Option<ChildStdin>,
    pieces: Receiver<Vec<u8>>,
    /// What it has said and nobody has asked for.
    heard: String,
}

impl Live {
    fn start(command: &mut Command) -> Live {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("it starts");
        let mut out = child.stdout.take().expect("piped");
        let input = child.stdin.take();
        let (sender, pieces) = channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Live { child, input, pieces, heard: String::new() }
    }

    fn tell(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("its input is open");
        input.write_all(&[line.as_ref(), b"\n"].concat()).expect("it reads");
    }

    /// Everything up to these words, and they.
    fn until(&mut self, words: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.heard.find(words) {
                let rest = self.heard.split_off(at + words.len());
                return std::mem::replace(&mut self.heard, rest);
            }
            match self.pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.heard += &String::from_utf8_lossy(&piece),
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    panic!("not in time: {words:?}; there is {:?}", self.heard);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("it ended without {words:?}; there is {:?}", self.heard)
                }
            }
        }
    }

    /// Closes its input and waits for its end.
    fn end(mut self) -> ExitStatus {
        drop(self.input.take());
        self.child.wait().expect("it is our child")
    }
}
