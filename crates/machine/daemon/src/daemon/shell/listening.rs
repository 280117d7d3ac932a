//! Listening: the shell serves until it is stopped, and admits connections of this user.

use super::processes::send_signal;
use super::{Origin, Shell};
use crate::daemon::tasks::client::ClientIo;
use crate::daemon::tasks::serving::{handle, turn_away};
use crate::daemon::watch::watch;
use crate::state::Input;
use parvum_control::monotonic_ns;
use parvum_mesh::Farewell;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, Request};
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::UnixListener;

/// So often in a row a connection may find no descriptor before those who wait are told: for a second.
const PATIENT: u32 = 20;

/// A daemon that a signal ends waits for the other hosts for this time.
const TO_LEAVE: Duration = Duration::from_secs(2);

/// A descriptor that can be given up when there are no others.
fn spare_descriptor() -> Option<OwnedFd> {
    eventfd(0, EventfdFlags::CLOEXEC).ok()
}

/// Takes the connection that waits longest, if one does, and says that there is no room for it.
fn turn_one_away(listener: &UnixListener) -> bool {
    let Ok(socket) = rustix::net::accept_with(listener, rustix::net::SocketFlags::CLOEXEC) else {
        return false;
    };
    let detail = "the daemon has as many descriptors open as it may";
    turn_away(&socket, Failure::new(ErrorKind::OutOfResources, detail));
    true
}

impl Shell {
    /// Serves until the machine is stopped, or somebody signals the daemon.
    pub async fn run(self: Rc<Shell>, listener: UnixListener) -> io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        // The terminal of a daemon in the foreground may close.
        let mut hangup = signal(SignalKind::hangup())?;
        for kind in [SignalKind::user_defined1(), SignalKind::user_defined2(), SignalKind::alarm()] {
            tokio::task::spawn_local(self.clone().pass_on(signal(kind)?, kind.as_raw_value()));
        }
        tokio::task::spawn_local(self.clone().accept(listener));
        tokio::task::spawn_local(self.clone().keep_time());
        let halt = |shell: &Rc<Shell>| {
            shell.log.line("stopped by a signal");
            shell.end_by_signal();
        };
        loop {
            tokio::select! {
                _ = self.stop.notified() => break,
                _ = term.recv() => halt(&self),
                _ = int.recv() => halt(&self),
                _ = hangup.recv() => halt(&self),
            }
        }
        self.say_goodbye().await;
        self.agreement.borrow_mut().take();
        let network = self.network.borrow_mut().take();
        if let Some(network) = network.and_then(Rc::into_inner) {
            // A second each for those that do not answer any more.
            let _ =
                tokio::time::timeout(Duration::from_secs(2), network.mesh.shut_down(Farewell::Leaving)).await;
        }
        Ok(())
    }

    /// A batch system sends a signal to the processes that it has started: to this daemon. The signal is for the tasks. Outside a
    /// job of a batch system, the daemon ignores the signal.
    async fn pass_on(self: Rc<Shell>, mut signals: tokio::signal::unix::Signal, number: i32) {
        let in_job = std::env::var_os("SLURM_JOB_ID").is_some();
        while signals.recv().await.is_some() {
            let pids: Vec<u32> = self.machine.borrow().running().collect();
            self.log.line(&format!("signal {number}; processes of tasks: {}", pids.len()));
            if in_job {
                pids.into_iter().for_each(|pid| send_signal(pid, true, number));
            }
        }
    }

    /// Ends the daemon. Its keeper ends the tasks.
    pub fn leave_at_once(&self) {
        self.stop.notify_one();
    }

    /// Ends what a signal to this daemon ends: the machine if it began here, else only this host.
    fn end_by_signal(self: &Rc<Shell>) {
        // The last host of a machine cannot be removed from it.
        if self.origin.get() == Origin::First || self.hosts().len() == 1 {
            return self.stop_machine();
        }
        let (number, _, _) = self.identity();
        let own = Tid::new(number, 0).map(|tid| tid.0.to_string());
        self.ask_for_itself(Request::RemoveHosts { hosts: own.into_iter().collect() });
        let shell = self.clone();
        tokio::task::spawn_local(async move {
            // Without a majority no host can be removed. The keeper ends the tasks of a daemon that has ended.
            tokio::time::sleep(TO_LEAVE).await;
            shell
                .log
                .line(&format!("the other hosts have not answered within {TO_LEAVE:?}: the daemon ends"));
            shell.stop.notify_one();
        });
    }

    /// Gives everybody a moment to take what is queued.
    async fn say_goodbye(&self) {
        let clients: Vec<_> = self.clients.borrow().values().cloned().collect();
        let flushed = async {
            for client in &clients {
                while !client.is_flushed() {
                    client.room.notified().await;
                }
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), flushed).await;
    }

    async fn accept(self: Rc<Shell>, listener: UnixListener) {
        let mut spare = spare_descriptor();
        let mut refused = 0;
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    self.log.refusal("connection", &error.to_string());
                    // Out of descriptors, most likely: others will close theirs. When they do not, whoever waits is
                    // told, for which the one kept back is there.
                    refused += 1;
                    let told = refused > PATIENT && spare.take().is_some() && turn_one_away(&listener);
                    spare = spare.or_else(spare_descriptor);
                    if !told {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                    continue;
                }
            };
            (spare, refused) = (spare.or_else(spare_descriptor), 0);
            let opened = stream.into_std().and_then(|s| self.admit(s.into()));
            if let Err(error) = opened {
                self.log.refusal("connection", &error.to_string());
            }
        }
    }

    fn admit(self: &Rc<Shell>, socket: OwnedFd) -> io::Result<()> {
        let peer = rustix::net::sockopt::socket_peercred(&socket)?;
        if peer.uid != rustix::process::geteuid() {
            let text = format!("user {}, process {}", peer.uid.as_raw(), peer.pid.as_raw_nonzero());
            self.log.refusal("another user's connection", &text);
            turn_away(&socket, ErrorKind::OtherUser.into());
            return Ok(());
        }
        let id = self.last_client.get() + 1;
        self.last_client.set(id);
        let pid = peer.pid.as_raw_nonzero().get() as u32;
        let client = Rc::new(ClientIo::new(id, pid, watch(socket)?));
        self.clients.borrow_mut().insert(id, client.clone());
        tokio::task::spawn_local(handle(self.clone(), client));
        Ok(())
    }

    async fn keep_time(self: Rc<Shell>) {
        loop {
            let deadline = self.machine.borrow().next_deadline();
            let wait = deadline.map(|at| Duration::from_nanos(at.saturating_sub(monotonic_ns())));
            match wait {
                None => self.timer.notified().await,
                Some(wait) => tokio::select! {
                    _ = self.timer.notified() => continue,
                    _ = tokio::time::sleep(wait) => self.input(Input::Tick),
                },
            }
        }
    }
}
