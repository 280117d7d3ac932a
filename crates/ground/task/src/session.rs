//! The session.

use crate::alive::{Daemon, Patience};
use crate::inherited::inherited;
use crate::start::{Options, start_daemon};
use parvum_socket::{Filled, Inbox, InboxError, MachineDirectory, PlaceError, Spares, send};
use parvum_wire::Tid;
use parvum_wire::control::{
    Call, CodecError, ErrorKind, Event, Failure, FromDaemon, HEADER_BYTES, PROTOCOL, Reply, Request,
    RequestId, Role, Ticket, decode, frame, header,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long [`Session::request`] waits for an answer that should come at once.
const ANSWER: Duration = Duration::from_secs(30);

/// What can go wrong with a session. Each text names one cause and one remedy;
/// the codes are explained in `docs/errors.md`.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// No daemon serves, and none was to be started.
    #[error("E-NODAEMON: no machine is up in {0}; help: `parvum up`")]
    NoDaemon(PathBuf),
    /// The `parvum` command, which holds the daemon, was not found.
    #[error("E-NOCOMMAND: the parvum command was not found{}; help: put it into PATH, or its path into PARVUM_BIN",
        .0.as_ref().map(|p| format!(" at {}", p.display())).unwrap_or_default())]
    NoCommand(Option<PathBuf>),
    /// The daemon said why it could not start.
    #[error("{0}")]
    Start(String),
    /// The daemon did not get ready in time.
    #[error("E-SLOWSTART: the daemon was not ready after {0:?}; help: read its log: {1}")]
    SlowStart(Duration, PathBuf),
    /// The directory cannot be used.
    #[error(transparent)]
    MachineDirectory(#[from] PlaceError),
    /// The daemon refused the request.
    #[error("{0}")]
    Refused(#[from] Failure),
    /// The daemon is gone, and with it the machine.
    #[error("E-LOST: the connection to the daemon is lost; help: `parvum up` starts the machine again")]
    Lost,
    /// The daemon is of another release.
    #[error(
        "E-VERSION: the daemon speaks protocol {theirs}, this program {PROTOCOL}; help: `parvum down`, then start the machine with \
         this release"
    )]
    Version {
        /// The daemon's protocol.
        theirs: u8,
    },
    /// What came is no control message.
    #[error(
        "E-PROTOCOL: the daemon sent what this program cannot read ({0}); help: use command and libraries of one release"
    )]
    Protocol(String),
    /// No answer in time.
    #[error("E-DEADLINE: the daemon did not answer for {} s: {daemon}", .waited.as_secs_f32().round())]
    Deadline {
        /// How long it was waited for.
        waited: Duration,
        /// What it is doing.
        daemon: Daemon,
    },
    /// The system refused.
    #[error("E-SYSTEM: could not {0}: {1}")]
    System(String, io::Error),
}

/// An answer and the descriptors that came with it.
#[derive(Debug)]
pub struct Answer {
    /// What the daemon says.
    pub reply: Result<Reply, Failure>,
    /// Attached descriptors, owned by the receiver.
    pub fds: Vec<OwnedFd>,
}

/// An event and the descriptors that came with it.
#[derive(Debug)]
pub struct Arrival {
    /// What happened.
    pub event: Event,
    /// Attached descriptors, owned by the receiver.
    pub fds: Vec<OwnedFd>,
}

/// Who one is.
#[derive(Debug)]
pub struct Enrolment {
    /// One's own id; a tool gets the daemon's.
    pub tid: Tid,
    /// Who spawned this task.
    pub parent: Option<Tid>,
    /// The host's name.
    pub host: String,
    /// Task page and eventfd; none for tools. The owner of the session may take
    /// them out.
    pub channel: Option<(OwnedFd, OwnedFd)>,
    /// Where this task writes down what it does, if its job is recorded.
    pub recording: Option<OwnedFd>,
    /// What its data connection must show.
    pub secret: [u8; 16],
}

/// A connection to the daemon, enrolled.
///
/// Requests that answer late (barriers, waiting mailbox reads) are made with
/// [`Session::start`]; then the owner calls [`Session::poll`] whenever the task
/// page's control counter has changed (or [`Session::fd`] is readable) and looks
/// for answers and events.
pub struct Session {
    socket: OwnedFd,
    place: MachineDirectory,
    inbox: Inbox,
    answers: HashMap<RequestId, Answer>,
    /// Requests whose answer nobody waits for any more.
    unwanted: HashSet<RequestId>,
    events: VecDeque<Arrival>,
    last_id: RequestId,
    lost: bool,
    /// What makes room for descriptors that the daemon sends.
    spares: Spares,
    /// A frame with descriptors has been taken in last, and the socket not been looked at since.
    has_more: bool,
    /// No daemon has started this process: what it spawns takes its limits from it.
    by_hand: bool,
    /// Who this is.
    pub me: Enrolment,
}

impl Session {
    /// Connects and enrols; starts the daemon when there is none and `options`
    /// permit it. Blocks for `options.deadline` at most.
    pub fn open(options: &Options) -> Result<Session, SessionError> {
        let until = Instant::now() + options.deadline;
        loop {
            match Session::try_open(options, until) {
                // A daemon on its way down makes room for the next one.
                Err(SessionError::Lost) if options.start && Instant::now() < until => {}
                Err(SessionError::Refused(Failure { kind: ErrorKind::GoingDown, .. }))
                    if options.start && Instant::now() < until => {}
                Err(SessionError::NoDaemon(dir)) if options.start => {
                    if Instant::now() >= until {
                        return Err(SessionError::NoDaemon(dir));
                    }
                    start_daemon(options, until)?;
                    match Session::try_open(options, until) {
                        // Another starter's daemon has the lock and not yet the socket.
                        Err(SessionError::NoDaemon(_) | SessionError::Lost) => {}
                        other => return other,
                    }
                }
                other => return other,
            }
            // Nothing tells when the other daemon has its socket, or is gone: look again.
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn try_open(options: &Options, until: Instant) -> Result<Session, SessionError> {
        let socket = connect(&options.place)?;
        let me = Enrolment {
            tid: Tid(0),
            parent: None,
            host: String::new(),
            channel: None,
            recording: None,
            secret: [0; 16],
        };
        let ticket = ticket().filter(|_| matches!(options.role, Role::Task | Role::Service));
        let mut session = Session {
            by_hand: ticket.is_none(),
            socket,
            place: options.place.clone(),
            inbox: Inbox::default(),
            answers: HashMap::new(),
            unwanted: HashSet::new(),
            events: VecDeque::new(),
            last_id: 0,
            lost: false,
            spares: Spares::default(),
            has_more: false,
            me,
        };
        let request = Request::Enrol {
            role: options.role,
            pid: std::process::id(),
            name: options.name.clone(),
            ticket,
            release: env!("CARGO_PKG_VERSION").into(),
        };
        let left = until.saturating_duration_since(Instant::now());
        let answer = session.ask(request, &[], left)?;
        let Reply::Enrolled { tid, parent, host, secret } = answer.reply? else {
            return Err(SessionError::Protocol("another answer than to enrol".into()));
        };
        let mut fds = answer.fds.into_iter();
        let channel = fds.next().zip(fds.next());
        let recording = fds.next();
        session.me = Enrolment { tid, parent, host, channel, recording, secret };
        session.keep_spares();
        Ok(session)
    }

    /// The socket, for poll(2): readable when [`Session::poll`] will find something.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Which machine this is.
    pub fn place(&self) -> &MachineDirectory {
        &self.place
    }

    /// Whether the daemon is gone. What it sent before is still to be had.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Sends a request without waiting for its answer.
    pub fn start(&mut self, request: Request) -> Result<RequestId, SessionError> {
        self.start_with(request, &[])
    }

    /// As [`Session::start`], with descriptors attached; they stay the caller's.
    pub fn start_with(
        &mut self,
        mut request: Request,
        fds: &[BorrowedFd<'_>],
    ) -> Result<RequestId, SessionError> {
        if self.lost {
            return Err(SessionError::Lost);
        }
        if let Request::Spawn(plan) = &mut request
            && self.by_hand
        {
            let host = self.me.tid.daemon();
            plan.details.inherited.get_or_insert_with(|| inherited(host));
        }
        self.last_id = self.last_id.wrapping_add(1);
        let id = self.last_id;
        let bytes = frame(&Call { id, request }, fds.len()).map_err(too_large)?;
        let (mut sent, mut patience) = (0, None);
        while sent < bytes.len() {
            let attached = if sent == 0 { fds } else { &[] };
            match send(&self.socket, &bytes[sent..], attached) {
                Ok(more) => sent += more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // The daemon may be waiting for us to read.
                    let left = self.next_of(patience.get_or_insert_with(|| Patience::new(ANSWER)))?;
                    self.wait(PollFlags::IN | PollFlags::OUT, Some(left))?;
                    self.poll()?;
                }
                Err(_) => {
                    // What it said before it closed may say why.
                    let _ = self.poll();
                    self.lost = true;
                    return Err(SessionError::Lost);
                }
            }
        }
        Ok(id)
    }

    /// Takes in whatever has arrived, without blocking; no more than one frame with descriptors at a time
    /// ([`Session::has_more`]), for there may be no room for those of a second one.
    pub fn poll(&mut self) -> Result<(), SessionError> {
        self.has_more = false;
        while !self.lost && !self.has_more {
            let Some(ahead) = self.inbox.ahead(&self.socket) else { break };
            self.has_more = ahead.descriptors;
            if self.has_more {
                self.spares.give_up();
            }
            match self.inbox.fill_with(&self.socket, ahead) {
                Ok(Filled::Empty) => break,
                Ok(Filled::Closed) => self.lost = true,
                Ok(Filled::Bytes(_)) => self.sort()?,
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(())
    }

    /// Whether [`Session::poll`] has stopped behind a frame with descriptors. It is called again when those have been used or
    /// closed.
    pub fn has_more(&self) -> bool {
        self.has_more && !self.lost
    }

    /// Occupies the descriptors again that were given up for those of a frame. False: this process may not have as many more.
    pub fn keep_spares(&mut self) -> bool {
        self.spares.keep(&self.socket)
    }

    /// Makes room for descriptors that the caller is about to open, and closes soon.
    pub fn give_up_spares(&mut self) {
        self.spares.give_up();
    }

    fn sort(&mut self) -> Result<(), SessionError> {
        loop {
            match self.inbox.take::<FromDaemon>() {
                Ok(None) => return Ok(()),
                // Number 0 answers nothing: it is the daemon's word before it closes.
                Ok(Some((FromDaemon::Reply(0, Err(why)), _))) => {
                    self.lost = true;
                    return Err(SessionError::Refused(why));
                }
                Ok(Some((FromDaemon::Reply(id, reply), fds))) => {
                    if !self.unwanted.remove(&id) {
                        self.answers.insert(id, Answer { reply, fds });
                    }
                }
                Ok(Some((FromDaemon::Event(event), fds))) => self.events.push_back(Arrival { event, fds }),
                Err(error) => return Err(self.broken(error)),
            }
        }
    }

    fn broken(&mut self, error: InboxError) -> SessionError {
        self.lost = true;
        match error {
            InboxError::Codec(CodecError::Protocol { theirs }) => SessionError::Version { theirs },
            InboxError::System(error) => SessionError::System("read from the daemon".into(), error),
            other => SessionError::Protocol(other.to_string()),
        }
    }

    /// The answer to a request, when it has arrived. Given once.
    pub fn take_reply(&mut self, id: RequestId) -> Option<Answer> {
        self.answers.remove(&id)
    }

    /// Nobody waits for the answer to a request any more.
    pub fn forget(&mut self, id: RequestId) {
        if self.answers.remove(&id).is_none() {
            self.unwanted.insert(id);
        }
    }

    /// The next event, in the order the daemon sent them.
    pub fn next_event(&mut self) -> Option<Arrival> {
        self.events.pop_front()
    }

    /// Asks and waits for the answer, for half a minute at most. Events that come
    /// meanwhile are kept.
    pub fn request(&mut self, request: Request) -> Result<Reply, SessionError> {
        Ok(self.ask(request, &[], ANSWER)?.reply?)
    }

    /// As [`Session::request`], with descriptors both ways and a time limit.
    pub fn ask(
        &mut self,
        request: Request,
        fds: &[BorrowedFd<'_>],
        limit: Duration,
    ) -> Result<Answer, SessionError> {
        let mut patience = Patience::new(limit);
        let id = self.start_with(request, fds)?;
        loop {
            self.poll()?;
            if let Some(answer) = self.take_reply(id) {
                return Ok(answer);
            }
            if self.lost {
                return Err(SessionError::Lost);
            }
            let left = self.next_of(&mut patience)?;
            self.wait(PollFlags::IN, Some(left))?;
        }
    }

    /// How long to wait now for the daemon.
    fn next_of(&self, patience: &mut Patience) -> Result<Duration, SessionError> {
        patience.next(self.fd()).map_err(|(waited, daemon)| SessionError::Deadline { waited, daemon })
    }

    /// The daemon's process.
    pub fn daemon(&self) -> Daemon {
        Daemon::behind(self.fd())
    }

    /// What opens the connection for routed frames, without the session.
    pub fn data_opener(&self) -> DataOpener {
        DataOpener { place: self.place.clone(), tid: self.me.tid, secret: self.me.secret }
    }

    /// Waits until the daemon has sent something, or the time is over.
    pub fn wait_readable(&self, limit: Option<Duration>) -> Result<(), SessionError> {
        self.wait(PollFlags::IN, limit)
    }

    fn wait(&self, flags: PollFlags, limit: Option<Duration>) -> Result<(), SessionError> {
        let limit = limit.map(|d| Timespec {
            tv_sec: d.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: d.subsec_nanos().into(),
        });
        match poll(&mut [PollFd::new(&self.socket, flags)], limit.as_ref()) {
            // A signal: the caller looks and waits again.
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(SessionError::System("wait for the daemon".into(), error.into())),
        }
    }
}

/// Opens the connection for routed frames of one task.
pub struct DataOpener {
    place: MachineDirectory,
    tid: Tid,
    secret: [u8; 16],
}

impl DataOpener {
    /// Opens it: `[u32 length][i32 tid][payload]`, see `parvum_wire::control::ROUTED_HEADER`. The socket blocks. Waits for the daemon
    /// for half a minute at most.
    pub fn open(&self) -> Result<OwnedFd, SessionError> {
        let socket = connect(&self.place)?;
        let request = Request::DataHello { tid: self.tid, secret: self.secret };
        let bytes = frame(&Call { id: 1, request }, 0).map_err(too_large)?;
        let stream = UnixStream::from(socket);
        let limited = |limit| stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit));
        let system = |error| SessionError::System("limit a wait for the daemon".into(), error);
        limited(Some(ANSWER)).map_err(system)?;
        let mut end = &stream;
        let answer = (|| {
            io::Write::write_all(&mut end, &bytes)?;
            // Read exactly the answer: routed frames may follow at once.
            let mut head = [0; HEADER_BYTES];
            io::Read::read_exact(&mut end, &mut head)?;
            let length = header(&head).ok().flatten().map_or(0, |h| h.length);
            let mut body = vec![0; length];
            io::Read::read_exact(&mut end, &mut body)?;
            Ok(body)
        })();
        let body = answer.map_err(|error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                SessionError::Deadline { waited: ANSWER, daemon: Daemon::behind(stream.as_fd()) }
            }
            _ => SessionError::Lost,
        })?;
        limited(None).map_err(system)?;
        match decode::<FromDaemon>(&body) {
            Ok(FromDaemon::Reply(_, Ok(Reply::Done))) => Ok(stream.into()),
            Ok(FromDaemon::Reply(_, Err(why))) => Err(why.into()),
            _ => Err(SessionError::Protocol("another answer than to the data connection".into())),
        }
    }
}

/// What this process has in its environment when the daemon has started it, or a process that it has started.
fn ticket() -> Option<Ticket> {
    Ticket::read(&std::env::var("PARVUM_TID").ok()?, &std::env::var("PARVUM_TICKET").ok()?)
}

fn connect(place: &MachineDirectory) -> Result<OwnedFd, SessionError> {
    let none = || SessionError::NoDaemon(place.dir().to_path_buf());
    match place.check() {
        Err(PlaceError::System { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            return Err(none());
        }
        other => other?,
    }
    match UnixStream::connect(place.socket()) {
        Ok(stream) => Ok(stream.into()),
        // Missing, or left behind by a daemon that died.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Err(none())
        }
        Err(error) => Err(SessionError::System(format!("reach {}", place.socket().display()), error)),
    }
}

fn too_large(error: CodecError) -> SessionError {
    SessionError::Refused(Failure::new(ErrorKind::TooLarge, error.to_string()))
}
