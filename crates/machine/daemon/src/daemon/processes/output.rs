//! A spawned process: its output, by one pipe or two, and its end.

use crate::daemon::processes::exec::Started;
use crate::daemon::processes::foreign;
use crate::daemon::processes::on_its_way::OnItsWay;
use crate::daemon::shell::Shell;
use crate::daemon::tasks::client::OUTBOX_FULL;
use crate::daemon::tasks::io::TaskIo;
use crate::daemon::watch::{room, watch};
use crate::state::Input;
use parvum_wire::Tid;
use parvum_wire::control::{
    Between, Blob, ErrorKind, Event, ExitStatus, Failure, FromDaemon, OutputNews, Stream,
};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::cell::Cell;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

struct Life {
    tid: Tid,
    ended: Cell<bool>,
    end: Notify,
    pipes: Cell<u8>,
}

/// Attends the process until it and its output are at an end.
pub(crate) fn attend(shell: &Rc<Shell>, tid: Tid, child: Started) -> std::io::Result<()> {
    let pipes = Cell::new(1 + u8::from(child.err.is_some()));
    let life = Rc::new(Life { tid, ended: Cell::new(false), end: Notify::new(), pipes });
    let (out, err, pidfd) = (watch(child.out)?, child.err.map(watch).transpose()?, watch(child.pidfd)?);
    if let Some(input) = child.input {
        shell.inputs.borrow_mut().insert(tid, Rc::new(input));
    }
    tokio::task::spawn_local(carry(shell.clone(), life.clone(), Stream::Out, out));
    if let Some(err) = err {
        tokio::task::spawn_local(carry(shell.clone(), life.clone(), Stream::Err, err));
    }
    let io = shell.io_of(tid);
    tokio::task::spawn_local(wait(shell.clone(), life, io, pidfd, child.pid));
    Ok(())
}

/// What is said for a program that can say nothing any more.
const UNSAID: &str = "the program has ended by _exit without MPI_Finalize, so the job fails with exit code 1\n    \
                      call MPI_Finalize on every rank before the program ends\n";

async fn wait(shell: Rc<Shell>, life: Rc<Life>, io: Option<Rc<TaskIo>>, pidfd: AsyncFd<OwnedFd>, pid: u32) {
    let status = loop {
        let Ok(mut guard) = pidfd.readable().await else { break ExitStatus::Code(255) };
        // What the process left behind in its group goes with it. This comes
        // before reaping: until then the group's number cannot be another's.
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        if let Ok(None) = waitid(WaitId::PidFd(pidfd.as_fd()), peek) {
            guard.clear_ready();
            continue;
        }
        if !shell.houses_others(life.tid)
            && let Some(group) = Pid::from_raw(pid as i32)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        match waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED) {
            Ok(Some(status)) => {
                let code = status.exit_status().map(ExitStatus::Code);
                let signal = || status.terminating_signal().map(ExitStatus::Signal);
                break code.or_else(signal).unwrap_or(ExitStatus::Code(255));
            }
            _ => break ExitStatus::Code(255),
        }
    };
    let status = match status {
        // Its own end said nothing: it was by _exit, or the like. Others may wait for it without end.
        ExitStatus::Code(0) if io.is_some_and(|io| io.owes_end()) => {
            deliver(&shell, life.tid, Stream::Err, UNSAID.as_bytes());
            ExitStatus::Code(1)
        }
        status => status,
    };
    foreign::ends(&shell, life.tid).await;
    shell.keeper.remove(pid);
    shell.inputs.borrow_mut().remove(&life.tid);
    life.ended.set(true);
    life.end.notify_waiters();
    shell.input(Input::ProcessExited { tid: life.tid, status });
}

/// Writes to the standard input of a process, as fast as it reads; nothing to write is the end of it.
pub(crate) async fn feed(shell: Rc<Shell>, tid: Tid, data: Blob) -> Result<(), Failure> {
    let nobody = || Failure::new(ErrorKind::NoSuchTask, format!("{tid} reads no input"));
    if data.0.is_empty() {
        shell.inputs.borrow_mut().remove(&tid);
        return Ok(());
    }
    let mut rest = &data.0[..];
    while !rest.is_empty() {
        // Looked up anew each time: the process may have ended.
        let Some(pipe) = shell.inputs.borrow().get(&tid).cloned() else { return Err(nobody()) };
        match rustix::io::write(&*pipe, rest) {
            Ok(taken) => rest = &rest[taken..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => room(&*pipe).await.map_err(|_| nobody())?,
            Err(_) => return Err(nobody()),
        }
    }
    Ok(())
}

/// Hands on what the process writes, as fast as the reader takes it.
async fn carry(shell: Rc<Shell>, life: Rc<Life>, stream: Stream, pipe: AsyncFd<OwnedFd>) {
    loop {
        while let Some((client, _)) = shell.output_client(life.tid).filter(|(client, _)| client.is_full()) {
            client.room.notified().await;
        }
        let full = |way: &Rc<OnItsWay>| way.bytes.get() > OUTBOX_FULL as u64;
        while let Some(way) = shell.output_on_its_way(life.tid).filter(full) {
            way.changed.notified().await;
        }
        // Borrowed only until it is delivered: tasks that write nothing need no buffer of their own.
        let read = rustix::io::read(&pipe, &mut shell.buffer.borrow_mut()[..]);
        match read {
            Ok(0) => break,
            Ok(length) => {
                deliver(&shell, life.tid, stream, &shell.buffer.borrow()[..length]);
                // A task that writes without end must not starve the others.
                tokio::task::yield_now().await;
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                // Empty, and the writer dead: whoever else holds the pipe is none
                // of ours.
                if life.ended.get() && !shell.houses_others(life.tid) {
                    break;
                }
                tokio::select! {
                    guard = pipe.readable() => match guard {
                        Ok(mut guard) => guard.clear_ready(),
                        Err(_) => break,
                    },
                    _ = life.end.notified(), if !life.ended.get() => {}
                }
            }
            Err(_) => break,
        }
    }
    life.pipes.set(life.pipes.get() - 1);
    if life.pipes.get() == 0 {
        shell.log.output_ends(life.tid);
        shell.input(Input::OutputEnded(life.tid));
    }
}

fn deliver(shell: &Rc<Shell>, tid: Tid, stream: Stream, data: &[u8]) {
    let event = |as_messages: Option<(u32, i32)>| {
        let data = Blob(data.to_vec());
        match as_messages {
            Some((context, tag)) => Event::TaskOutput { tid, context, tag, news: OutputNews::Wrote(data) },
            None => Event::Output { tid, stream, data },
        }
    };
    if let Some((client, as_messages)) = shell.output_client(tid) {
        // A chunk is far below the bound of a frame.
        let _ = client.post(&FromDaemon::Event(event(as_messages)), Vec::new());
    } else if let Some((to, as_messages)) = shell.output_elsewhere(tid) {
        shell.send_output(tid, data.len() as u64);
        shell.send_event(to, event(as_messages));
    } else {
        shell.log.output(tid, stream, data);
    }
}

impl Shell {
    fn output_on_its_way(&self, tid: Tid) -> Option<Rc<OnItsWay>> {
        // Nobody will say that it was taken when its reader's host is gone.
        self.output_elsewhere(tid)?;
        self.on_its_way.borrow().get(&tid).cloned()
    }

    fn send_output(&self, tid: Tid, bytes: u64) {
        let mut all = self.on_its_way.borrow_mut();
        let way = all.entry(tid).or_default();
        way.bytes.set(way.bytes.get() + bytes);
    }

    /// The daemon of another host has handed so much on.
    pub(crate) fn output_taken(&self, tid: Tid, bytes: u64) {
        let mut all = self.on_its_way.borrow_mut();
        let Some(way) = all.get(&tid) else { return };
        way.bytes.set(way.bytes.get().saturating_sub(bytes));
        way.changed.notify_waiters();
        if way.bytes.get() == 0 {
            all.remove(&tid);
        }
    }

    /// A host is gone: who waits for it to take output waits no more.
    pub(crate) fn release_output(&self) {
        self.on_its_way.borrow().values().for_each(|way| way.changed.notify_waiters());
    }

    /// Tells the daemon of another host, when the reader has room, that this much of its output was
    /// handed on.
    pub(crate) fn acknowledge_output(self: &Rc<Shell>, host: u32, reader: Tid, tid: Tid, bytes: u64) {
        let shell = self.clone();
        tokio::task::spawn_local(async move {
            while let Some(client) = shell.client_of(reader).filter(|client| client.is_full()) {
                client.room.notified().await;
            }
            shell.say(host, Between::Took { tid, bytes });
        });
    }
}
