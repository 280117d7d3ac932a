//! A person at a terminal.

use crate::User;
use parvum_tests::{PATIENCE, eventually};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, ExitStatus};
use std::time::Instant;

/// A console behind a pseudo-terminal.
struct Terminal {
    master: OwnedFd,
    /// Our end of what the console reads and writes: so that the terminal stays when it is gone.
    slave: std::fs::File,
    child: Child,
    heard: String,
}

impl Terminal {
    fn open(user: &User, kind: &str) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it is ours");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let name = std::ffi::OsStr::from_bytes(name.as_bytes());
        let slave = OpenOptions::new().read(true).write(true).open(name).expect("the other end");
        let end = || slave.try_clone().expect("a descriptor");
        let mut command = user.call("pvm", &["-nhere"]);
        command.env("TERM", kind).stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().expect("it starts");
        Terminal { master, slave, child, heard: String::new() }
    }

    fn type_in(&self, keys: &str) {
        rustix::io::write(&self.master, keys.as_bytes()).expect("there is room");
    }

    /// Everything up to these words, and they.
    fn until(&mut self, words: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.heard.find(words) {
                let rest = self.heard.split_off(at + words.len());
                return std::mem::replace(&mut self.heard, rest);
            }
            let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
            let second = Timespec { tv_sec: 1, tv_nsec: 0 };
            if poll(&mut fds, Some(&second)).is_ok_and(|ready| ready > 0) {
                let mut piece = [0; 4096];
                let length = rustix::io::read(&self.master, &mut piece).expect("the terminal is there");
                self.heard += &String::from_utf8_lossy(&piece[..length]);
            }
            if Instant::now() > until {
                let _ = self.child.kill();
                panic!("not in time: {words:?}; there is {:?}", self.heard);
            }
        }
    }

    fn end(&mut self) -> ExitStatus {
        eventually("the console ends", || self.child.try_wait().expect("it is our child").is_some());
        self.child.wait().expect("it is our child")
    }

    /// Whether it shows again what is typed.
    fn echoes(&self) -> bool {
        tcgetattr(&self.slave)
            .expect("a terminal")
            .local_modes
            .contains(LocalModes::ECHO | LocalModes::ICANON)
    }
}

#[test]
fn terminal_line_is_edited_completed_and_remembered() {
    let user = User::new();
    let mut terminal = Terminal::open(&user, "xterm");
    terminal.until("pvm> ");
    // Tab completes commands and task ids; two letters are wiped out.
    terminal.type_in("echoo\x7f wordss\x7f\r");
    terminal.until("\nwords\r\n");
    terminal.until("pvm> ");
    terminal.type_in("pst\tt4\t\r");
    terminal.until("t   40001  run\r\n");
    terminal.until("pvm> ");
    terminal.type_in("mst\th\t\r");
    terminal.until("here  ok\r\n");
    terminal.until("pvm> ");
    // Ctrl-C drops the line, and nothing else.
    terminal.type_in("halt\x03");
    terminal.until("pvm> ");
    terminal.type_in("\x1b[A\x1b[A\x1b[A\r");
    terminal.until("\nwords\r\n");
    terminal.until("pvm> ");
    terminal.type_in("\x04");
    terminal.until("pvmd still running.\r\n");
    assert!(terminal.end().success());
    assert!(terminal.echoes());
    let history = std::fs::read_to_string(user.home.join(".local/state/parvum/history")).expect("it is kept");
    assert!(history.contains("\necho words\n") && history.contains("\nmstat here \n"), "{history}");
    assert!(!history.contains("halt"), "{history}");
    // The next console knows it.
    let mut terminal = Terminal::open(&user, "xterm");
    terminal.until("pvmd already running.\r\n");
    terminal.until("pvm> ");
    terminal.type_in("\x1b[A\r");
    terminal.until("\nwords\r\n");
    terminal.until("pvm> ");
    terminal.type_in("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn jobs_print_while_user_types_a_line() {
    let user = User::new();
    let fifo = user.home.join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .expect("a fifo");
    let mut terminal = Terminal::open(&user, "xterm");
    terminal.until("pvm> ");
    terminal.type_in("spawn -> /bin/cat fifo\r");
    terminal.until("1 successful\r\n");
    terminal.until("pvm> ");
    terminal.type_in("echo begun");
    terminal.until("echo begun");
    // The job waits for the test, and then speaks above the line.
    std::fs::write(&fifo, "spoken\n").expect("the job reads");
    terminal.until("[1:t40002] spoken\r\n");
    terminal.until("[1] finished\r\n");
    terminal.until("echo begun");
    terminal.type_in(" and ended\r");
    terminal.until("\nbegun and ended\r\n");
    terminal.type_in("halt\r");
    assert!(terminal.end().success());
}

#[test]
fn terminal_is_restored_when_machine_is_halted() {
    let user = User::new();
    let mut terminal = Terminal::open(&user, "xterm");
    terminal.until("pvm> ");
    terminal.type_in("ec");
    terminal.until("ec");
    assert!(!terminal.echoes(), "the editor has it");
    user.pvm(&[], "halt\n");
    terminal.until("the machine is being stopped");
    assert_eq!(terminal.end().code(), Some(143));
    assert!(terminal.echoes());
}

#[test]
fn dumb_terminal_gets_plain_lines() {
    let user = User::new();
    let mut terminal = Terminal::open(&user, "dumb");
    terminal.until("pvm> ");
    terminal.type_in("id\n");
    let said = terminal.until("t40001\r\n");
    assert!(!said.contains('\x1b'), "{said:?}");
    terminal.type_in("\x04");
    terminal.until("pvmd still running.\r\n");
    assert!(terminal.end().success());
}
