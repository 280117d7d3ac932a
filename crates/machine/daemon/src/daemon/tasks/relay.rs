//! Routed messages: task, daemon, task.
//!
//! A task's data connection carries frames: length, destination, payload. The
//! daemon writes the source over the destination, where the frame lies in its
//! buffer, and passes runs of frames for one destination on with one write. What
//! the destination's socket does not take waits in its port, up to a bound; then
//! the source is left unread until there is room.
//!
//! What a task sends to several is kept when it first comes (`wire::routed::Share`), so that it
//! crosses the task's connection, and the link to each other host, once.
//!
//! A frame without payload is never sent by a task. The daemon sends one, in the
//! name of a source that has closed its data connection, after everything it
//! sent: the end of that route.
//!
//! A task's end is told only after its last words are on their way. So nothing that stands still may hold them up: when
//! the source ends, full ports and streams take them beyond their bounds.

use crate::daemon::shell::Shell;
use crate::daemon::tasks::port::{PORT_LIMIT, Port, Socket, Source};
use bytes::{Bytes, BytesMut};
use parvum_mesh::{StreamReader, StreamSender};
use parvum_wire::Tid;
use parvum_wire::control::{Event, MAX_ROUTED, ROUTED_HEADER};
use parvum_wire::routed::{BARE, Framed, RUN_HEADER, Share, frame_at, run_at, run_header, with_data};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// Receive buffer of a source: at least one frame fits, small ones come in bulk.
const BUFFER: usize = 2 * MAX_ROUTED;

/// How often a reader of another host's frames asks whether their sender is gone, while one of its receivers takes nothing.
const ASKS: Duration = Duration::from_millis(100);

/// Serves the data connection of task `me`.
pub(crate) async fn relay(shell: Rc<Shell>, me: Tid, fd: AsyncFd<OwnedFd>, first: Vec<u8>) {
    let source = Rc::new(Source::default());
    if !shell.attach_data(me, source.clone()) {
        return;
    }
    let socket = Rc::new(fd);
    let port = shell.port(me);
    *port.socket.borrow_mut() = Some(socket.clone());
    let writer = tokio::task::spawn_local({
        let (port, socket) = (port.clone(), socket.clone());
        async move { port.write(&socket).await }
    });
    let mut reader = Reader { source: Some(source.clone()), ..Reader::of(&shell, me) };
    if let Err(fault) = reader.read(&socket, &source, first).await {
        shell.log.refusal("bad routed frame", &format!("task {me}: {fault}"));
        // Whoever breaks the framing cannot be understood any more.
        let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Both);
    }
    for to in std::mem::take(&mut reader.known) {
        if shell.is_elsewhere(to) {
            reader.send_far(to, &end_of(me), None).await;
        } else if let Some(port) = shell.find_port(to) {
            reader.pass(to, &port, &end_of(me)).await;
        }
    }
    for (_, far) in reader.far.drain() {
        far.stream.finish();
    }
    source.finished.set(true);
    source.changed.notify_waiters();
    // The other direction lives on until the task is gone.
    let _ = writer.await;
}

/// Until the source ends; for ever for one of another host, whose end comes by another way.
async fn ends(source: Option<&Source>) {
    match source {
        Some(source) if source.finishing.get() => {}
        Some(source) => source.changed.notified().await,
        None => std::future::pending().await,
    }
}

struct Reader<'a> {
    shell: &'a Rc<Shell>,
    me: Tid,
    /// The connection of a source of this host.
    source: Option<Rc<Source>>,
    /// The source is known to be gone.
    is_over: bool,
    /// Destinations that have had frames.
    known: HashSet<Tid>,
    /// Destinations whose absence has been told.
    told: HashSet<Tid>,
    /// The streams to other hosts.
    far: HashMap<u32, Far>,
    /// What the source sends to several.
    kept: SharedFrame,
}

/// A stream to another host.
struct Far {
    stream: StreamSender,
    /// Which shared data that host keeps.
    keeps: u64,
}

/// Data that is put into several frames.
#[derive(Clone, Default)]
struct SharedFrame {
    /// Which it is, counted for each source.
    number: u64,
    data: Bytes,
}

/// The last frame of a task: one without payload.
fn end_of(from: Tid) -> [u8; ROUTED_HEADER] {
    let mut end = [0; ROUTED_HEADER];
    end[..4].copy_from_slice(&4u32.to_le_bytes());
    end[4..].copy_from_slice(&from.0.to_le_bytes());
    end
}

/// Takes in what a task of another host has sent to tasks of this one.
pub(crate) async fn receive(shell: Rc<Shell>, host: u32, header: Bytes, mut stream: StreamReader) {
    let from = header.first_chunk().map(|bytes| Tid(i32::from_le_bytes(*bytes)));
    let Some(from) = from.filter(|from| from.is_task() && from.host() == host) else {
        return shell.log.refusal("bad stream", &format!("host {host}"));
    };
    let mut reader = Reader::of(&shell, from);
    let mut buffer = BytesMut::new();
    loop {
        loop {
            let run = match run_at(&buffer, PORT_LIMIT) {
                Ok(Some(run)) => run,
                Ok(None) => break,
                Err(fault) => return shell.log.refusal("bad stream", &format!("host {host}: {fault}")),
            };
            let _ = buffer.split_to(RUN_HEADER);
            let frames = buffer.split_to(run.length).freeze();
            if let Err(fault) = reader.relay_run(run, frames).await {
                return shell.log.refusal("bad stream", &format!("host {host}: {fault}"));
            }
        }
        match stream.next(BUFFER).await {
            Ok(Some(bytes)) => {
                shell.awake.frames();
                buffer.extend_from_slice(&bytes);
            }
            // Its end, or its host's: the machine says the rest.
            _ => return,
        }
    }
}

impl<'a> Reader<'a> {
    fn of(shell: &'a Rc<Shell>, me: Tid) -> Reader<'a> {
        Reader {
            shell,
            me,
            source: None,
            is_over: false,
            known: HashSet::new(),
            told: HashSet::new(),
            far: HashMap::new(),
            kept: SharedFrame::default(),
        }
    }

    async fn read(&mut self, socket: &Socket, source: &Source, first: Vec<u8>) -> Result<(), String> {
        let mut buffer = vec![0; BUFFER.max(first.len())];
        buffer[..first.len()].copy_from_slice(&first);
        let (mut start, mut end) = (0, first.len());
        drop(first);
        let mut drained = false;
        loop {
            start += self.hand_on(&mut buffer[start..end]).await?;
            if start == end {
                (start, end) = (0, 0);
            } else if start > MAX_ROUTED / 2 {
                buffer.copy_within(start..end, 0);
                (start, end) = (0, end - start);
            }
            // The guard is older than the read: what arrives after the read is
            // not forgotten when the guard is cleared.
            let mut guard = None;
            if drained && !source.finishing.get() {
                tokio::select! {
                    ready = socket.readable() => guard = Some(ready.map_err(|e| e.to_string())?),
                    _ = source.changed.notified() => {}
                }
            } else {
                // So that a flood does not starve the other connections.
                tokio::task::consume_budget().await;
            }
            let room = buffer.len() - end;
            match recv(socket, &mut buffer[end..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Ok(()),
                Ok((length, _)) => {
                    self.shell.awake.frames();
                    end += length;
                    // A short read has emptied the socket: no need to ask again.
                    drained = length < room;
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) if source.finishing.get() => return Ok(()),
                Err(Errno::AGAIN) => drained = true,
                Err(_) => return Ok(()),
            }
            if let Some(mut guard) = guard.filter(|_| drained) {
                guard.clear_ready();
            }
        }
    }

    /// Hands on the whole frames at the front of `bytes`; returns how many bytes
    /// they took.
    async fn hand_on(&mut self, bytes: &mut [u8]) -> Result<usize, String> {
        let mut done = 0;
        // A run: frames for one destination, one after the other.
        let mut run: Option<(Tid, usize)> = None;
        loop {
            let frame = frame_at(&bytes[done..])?;
            if let Some((to, from)) = run
                && frame.is_none_or(|next| !next.joins(to) || done + next.length - from > PORT_LIMIT / 4)
            {
                self.relay(to, &bytes[from..done], None).await;
                run = None;
            }
            let Some(frame) = frame else { return Ok(done) };
            bytes[done + 4..done + 8].copy_from_slice(&self.me.0.to_le_bytes());
            if frame.share == Share::No {
                run.get_or_insert((frame.to, done));
            } else {
                let bytes = &mut bytes[done..done + frame.length];
                bytes[..4].copy_from_slice(&(frame.length as u32 - 4).to_le_bytes());
                let data = Bytes::copy_from_slice(&bytes[BARE..]);
                self.relay_shared(frame, bytes, data).await?;
            }
            done += frame.length;
        }
    }

    /// Hands on what another daemon has sent for one task.
    async fn relay_run(&mut self, run: Framed, frames: Bytes) -> Result<(), String> {
        if run.share == Share::No {
            self.relay(run.to, &frames, None).await;
            return Ok(());
        }
        self.relay_shared(run, &frames, frames.slice(BARE..)).await
    }

    /// Hands on a frame whose data is to be kept, or was kept before.
    async fn relay_shared(&mut self, frame: Framed, bytes: &[u8], data: Bytes) -> Result<(), String> {
        if frame.share == Share::Keep {
            self.kept = SharedFrame { number: self.kept.number + 1, data };
            self.relay(frame.to, bytes, Some(self.kept.clone())).await;
        } else if self.kept.number == 0 {
            return Err("data that was never sent is to be sent again".into());
        } else {
            let kept = self.kept.clone();
            self.relay(frame.to, &with_data(bytes, &kept.data), Some(kept)).await;
        }
        Ok(())
    }

    /// Hands on frames for one task; of a single one, `kept` is the data when others get it too.
    async fn relay(&mut self, to: Tid, frames: &[u8], kept: Option<SharedFrame>) {
        if !self.shell.exists(to) && self.shell.is_elsewhere(to) {
            return self.send_far(to, frames, kept).await;
        }
        let port = if self.shell.exists(to) { Some(self.shell.port(to)) } else { None };
        let Some(port) = port else { return self.undeliverable(to) };
        if self.known.insert(to) && !self.is_over {
            self.shell.link(self.me, to);
        }
        if port.socket.borrow().is_none() && !port.told_to_open.replace(true) {
            self.shell.send_event(to, Event::OpenData);
        }
        if !self.pass(to, &port, frames).await {
            self.undeliverable(to);
        }
    }

    /// Sends a run of frames to the daemon of another host; waits while that is behind.
    async fn send_far(&mut self, to: Tid, frames: &[u8], kept: Option<SharedFrame>) {
        let host = to.host();
        if self.known.insert(to) {
            self.shell.link(self.me, to);
        }
        if !self.far.contains_key(&host) {
            let header = Bytes::copy_from_slice(&self.me.0.to_le_bytes());
            match self.shell.open_stream(host, header).await {
                Some(stream) => self.far.insert(host, Far { stream, keeps: 0 }),
                None => return self.undeliverable(to),
            };
        }
        let Some(far) = self.far.get_mut(&host) else { return };
        let (share, frames) = match kept {
            None => (Share::No, frames),
            Some(kept) if kept.number == far.keeps => (Share::Again, &frames[..BARE]),
            Some(kept) => {
                far.keeps = kept.number;
                (Share::Keep, frames)
            }
        };
        let mut bytes = BytesMut::with_capacity(RUN_HEADER + frames.len());
        bytes.extend_from_slice(&run_header(to, frames.len() as u32, share));
        bytes.extend_from_slice(frames);
        let bytes = bytes.freeze();
        let sent = tokio::select! {
            biased;
            sent = far.stream.send(bytes.clone()) => sent,
            () = ends(self.source.as_deref()) => far.stream.push(bytes),
        };
        if sent.is_err() {
            self.far.remove(&host);
            self.undeliverable(to);
        }
    }

    /// False when the destination is gone.
    async fn pass(&mut self, to: Tid, port: &Port, frames: &[u8]) -> bool {
        while !port.gone.get() {
            let ending = self.source.as_ref().is_some_and(|source| source.finishing.get());
            if port.offer(frames, ending || self.is_over) {
                return true;
            }
            tokio::select! {
                () = port.room.notified() => {}
                () = ends(self.source.as_deref()) => {}
                // The end of a task of another host comes by another way than its frames, perhaps before them.
                () = tokio::time::sleep(ASKS), if self.source.is_none() => {
                    self.is_over |= !self.shell.is_linked(self.me, to);
                }
            }
        }
        false
    }

    fn undeliverable(&mut self, to: Tid) {
        if self.told.insert(to) {
            self.shell.send_event(self.me, Event::Undeliverable { to });
        }
    }
}
