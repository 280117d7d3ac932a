//! `parvum console`: orders line by line, in PVM's words.

use crate::look::{host_table, show, tasks};
use crate::{options, parse_tid, power};
use parvum_task::{Session, SessionError};
use parvum_wire::control::{Blob, Event, Output, Reply, Request, Role, SpawnRequest, TaskState};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{IsTerminal, Read, Write};
use std::os::unix::ffi::OsStringExt;

const HELP: &str = "\
add HOST ...        (one host in this release: not possible yet)
conf                list the hosts
halt                stop the machine and leave
help                this list
id                  show the console's task id
kill TID ...        end tasks
ps                  list the tasks
quit                leave; the machine and its tasks stay
reset               end all tasks
sig NUMBER TID ...  send a signal
spawn [-N] [->] PROGRAM [ARGUMENT ...]
                    start N tasks; with -> their output is shown here
version             show the version";

pub fn run() -> Result<(), SessionError> {
    let session = Session::open(&options(Role::Task, true))?;
    let terminal = std::io::stdin().is_terminal();
    Console { session, terminal }.serve()
}

struct Console {
    session: Session,
    terminal: bool,
}

enum Next {
    Go,
    Leave,
}

impl Console {
    fn serve(&mut self) -> Result<(), SessionError> {
        let mut typed = Vec::new();
        self.prompt();
        loop {
            self.wait();
            self.session.poll()?;
            self.show_events();
            if self.session.is_lost() {
                return Err(SessionError::Lost);
            }
            if !self.stdin_ready() {
                continue;
            }
            let mut chunk = [0; 4096];
            let length = std::io::stdin().lock().read(&mut chunk).unwrap_or(0);
            typed.extend_from_slice(&chunk[..length]);
            if length == 0 && !typed.is_empty() {
                typed.push(b'\n');
            }
            while let Some(end) = typed.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = typed.drain(..=end).collect();
                if let Next::Leave = self.obey(String::from_utf8_lossy(&line).trim())? {
                    return Ok(());
                }
                self.prompt();
            }
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn wait(&self) {
        let (stdin, session) = (std::io::stdin(), self.session.fd());
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&session, PollFlags::IN)];
        let _ = poll(&mut fds, None);
    }

    fn stdin_ready(&self) -> bool {
        let stdin = std::io::stdin();
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&now)).is_ok_and(|n| n > 0)
    }

    fn prompt(&self) {
        if self.terminal {
            print!("parvum> ");
            let _ = std::io::stdout().flush();
        }
    }

    fn show_events(&mut self) {
        while let Some(arrival) = self.session.next_event() {
            match arrival.event {
                Event::Output { tid, data, .. } => {
                    for line in data.lossy().lines() {
                        println!("[{tid}] {line}");
                    }
                }
                Event::Exited { tid, status } => println!("[{tid}] ended with code {}", status.shell_code()),
                _ => {}
            }
        }
    }

    /// Obeys one line. A refusal is shown and the console goes on.
    fn obey(&mut self, line: &str) -> Result<Next, SessionError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((command, rest)) = words.split_first() else { return Ok(Next::Go) };
        let done = match *command {
            "quit" | "exit" => return Ok(Next::Leave),
            "halt" => return power::stop(&mut self.session).map(|()| Next::Leave),
            "help" | "?" => {
                println!("{HELP}");
                Ok(())
            }
            "version" => {
                println!("parvum {}", env!("CARGO_PKG_VERSION"));
                Ok(())
            }
            "id" => {
                println!("{}", self.session.me.tid);
                Ok(())
            }
            "conf" => host_table(&mut self.session).map(|table| show(&table)),
            "ps" => tasks(&mut self.session).map(|table| show(&table)),
            "spawn" => self.spawn(rest),
            "kill" => self.signal(15, rest),
            "sig" => match rest.split_first().map(|(n, tids)| (n.parse(), tids)) {
                Some((Ok(number), tids)) => self.signal(number, tids),
                _ => {
                    println!("sig wants a number and task ids: sig 15 t40001");
                    Ok(())
                }
            },
            "reset" => self.reset(),
            "add" | "delete" => {
                println!("this release makes a machine of one host: there is nothing to {command}");
                Ok(())
            }
            other => {
                println!("{other}: no such command; {}", suggestion(other));
                Ok(())
            }
        };
        match done {
            Err(SessionError::Refused(why)) => println!("{why}"),
            other => other?,
        }
        Ok(Next::Go)
    }

    fn spawn(&mut self, words: &[&str]) -> Result<(), SessionError> {
        let (mut count, mut output, mut words) = (1, Output::Log, words);
        while let Some((option, rest)) = words.split_first() {
            match (*option, option.strip_prefix('-').map(str::parse::<u32>)) {
                ("->", _) => output = Output::Spawner,
                (_, Some(Ok(number))) => count = number,
                _ => break,
            }
            words = rest;
        }
        let Some((program, args)) = words.split_first() else {
            println!("spawn wants a program: spawn -2 -> /bin/echo hello");
            return Ok(());
        };
        let cwd = std::env::current_dir().ok().map(|dir| Blob(dir.into_os_string().into_vec()));
        let args = args.iter().map(|arg| Blob::from(*arg)).collect();
        let program = Blob::from(*program);
        let plan = SpawnRequest { program, args, count, cwd, output, orphan: true, ..Default::default() };
        if let Reply::Spawned(results) = self.session.request(Request::Spawn(plan))? {
            for result in results {
                match result {
                    Ok(task) => println!("{}", task.tid),
                    Err(why) => println!("{why}"),
                }
            }
        }
        Ok(())
    }

    fn signal(&mut self, signal: i32, tids: &[&str]) -> Result<(), SessionError> {
        if tids.is_empty() {
            println!("which task? `ps` lists them");
        }
        for text in tids {
            match parse_tid(text) {
                Ok(tid) => drop(self.session.request(Request::Signal { tid, signal })?),
                Err(why) => println!("{text}: {why}"),
            }
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), SessionError> {
        let Reply::Tasks(rows) = self.session.request(Request::Tasks { of: None })? else { return Ok(()) };
        let me = self.session.me.tid;
        for row in rows.iter().filter(|row| row.tid != me) {
            let signal = if row.state == TaskState::Started { 9 } else { 15 };
            // It may have ended meanwhile.
            let _ = self.session.request(Request::Signal { tid: row.tid, signal });
        }
        Ok(())
    }
}

/// What somebody may have meant.
fn suggestion(word: &str) -> String {
    const KNOWN: [&str; 12] =
        ["add", "conf", "halt", "help", "id", "kill", "ps", "quit", "reset", "sig", "spawn", "version"];
    // The letters of one stand in the other in the same order: one is short for it, or has a letter too many.
    let within = |few: &str, many: &str| {
        let mut many = many.chars();
        few.chars().all(|letter| many.any(|other| other == letter))
    };
    let near = KNOWN.iter().find(|known| within(word, known) || within(known, word));
    let same_letter = || KNOWN.iter().find(|known| known.chars().next() == word.chars().next());
    match near.or_else(same_letter) {
        Some(known) => format!("did you mean `{known}`? `help` lists all"),
        None => "`help` lists all".into(),
    }
}
