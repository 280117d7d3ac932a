//! The runtime: engine, session and transports of one process, and the step that moves them on.

use crate::board::Board;
use crate::callers::{Early, Expected, Silent};
use crate::events::Leaving;
use crate::inside::Inside;
use crate::ledger;
use crate::lending::Kept;
use crate::patience::{Crowd, Patience};
use crate::recording;
use crate::routes::RoutePolicy;
use crate::time::Time;
use crate::transports;
use crate::waiters::Waiters;
use crate::waiting::NAP;
use crate::watching::Noticed;
use parvum_engine::{Block, Engine, Ledger, Remote, Settings};
use parvum_page::{Book, MeetingPage, Recording, TaskPage};
use parvum_shm::PageInbox;
use parvum_task::{Options, Session, SessionError};
use parvum_transport::Route;
use parvum_waist::Notes;
use parvum_wire::Tid;
use parvum_wire::control::{Request, Role};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Memory that no message has used for so long is given back, at the latest after twice that time.
const REST: Duration = Duration::from_millis(400);

/// Everything a task has while it is part of a machine.
pub(crate) struct Runtime {
    pub(crate) engine: Engine,
    pub(crate) session: Session,
    pub(crate) page: Arc<TaskPage>,
    pub(crate) event: OwnedFd,
    /// What this task does, if its job is recorded.
    pub(crate) recording: Option<Arc<Recording>>,
    pub(crate) parent: Option<Tid>,
    /// The page's control counter when the session was last looked at.
    control_seen: u32,
    pub(crate) patience: Patience,
    /// Where the time goes, as far as it is measured.
    pub(crate) time: Time,
    /// How long it has slept, and how often it has asked in vain, since it last looked for the daemon.
    pub(crate) slept_unlooked: Duration,
    pub(crate) asked_unlooked: u32,
    /// When memory that nobody uses was last looked for.
    rested: Instant,
    /// The tasks of this host that this one talks to.
    pub(crate) crowd: Crowd,
    pub(crate) routes: RoutePolicy,
    pub(crate) single_copy: bool,
    /// Sockets of links, to be watched while the task sleeps.
    pub(crate) watched: Vec<(Tid, OwnedFd)>,
    pub(crate) routed: Option<parvum_routed::Hub>,
    pub(crate) listener: Option<OwnedFd>,
    pub(crate) expected: Vec<Expected>,
    /// Connections that came before the daemon said so.
    pub(crate) early: Vec<Early>,
    /// When the machine said last that a task is gone.
    pub(crate) gone_at: HashMap<Tid, Instant>,
    pub(crate) silent: Vec<Silent>,
    /// Tasks that this one has connected to, that have not let it in yet.
    pub(crate) unanswered: Vec<(Tid, Route)>,
    /// Tasks that are gone and have routed frames on their way to us.
    pub(crate) leaving: Vec<Leaving>,
    /// Tasks whose end the daemon was asked to tell, though there is no link to them.
    pub(crate) looked_after: HashSet<Tid>,
    /// The receiver of long messages that did not catch up when it was waited for.
    pub(crate) slow: Option<Tid>,
    /// The one descriptor that stands for all others, if the program waits for descriptors itself.
    pub(crate) all: Option<OwnedFd>,
    /// What the program knows of its messages when it waits for descriptors.
    pub(crate) noticed: Noticed,
    /// The pages in which the members of groups meet, by the group's name.
    pub(crate) meetings: Vec<(String, Arc<MeetingPage>)>,
    /// The boards in use, by number less one.
    pub(crate) boards: Vec<Option<Board>>,
    /// The barrier that the page names.
    pub(crate) shown_barrier: (String, i32),
    /// The resource manager, if a task plays it.
    pub(crate) manager: Option<Tid>,
    /// What a tracer of all tasks wants, in its interface's words.
    pub(crate) tracer: Option<Vec<u8>>,
    /// Blocks lent to interfaces, by handle.
    pub(crate) lent: Kept<Block>,
    /// Data that is still with its sender, by handle.
    pub(crate) remotes: Kept<Remote>,
    /// How many bytes may be kept for peers beyond the credit, once it was asked or looked up.
    pub(crate) memory: Option<u64>,
    /// The threads that wait.
    pub(crate) waiters: Waiters,
    /// The task has left the machine; what is here stays for the threads that still wait.
    pub(crate) has_left: bool,
}

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("E-OPTION: {name}={value} makes no sense; use {use_one_of}")]
    Option { name: &'static str, value: String, use_one_of: String },
    #[error("E-PROTOCOL: the daemon gave this task no page; use command and libraries of one release")]
    NoPage,
    #[error("E-PROTOCOL: {0}")]
    Page(#[from] parvum_page::PageError),
}

impl Runtime {
    /// Joins the machine in this role, starting it if there is none. `beside` is where this library lies.
    pub(crate) fn start(role: Role, interface: &str, beside: Option<PathBuf>) -> Result<Runtime, StartError> {
        let routes = route_policy()?;
        let credit = number_option("PARVUM_CREDIT", Settings::default().credit)?;
        let memory = match number_option("PARVUM_MEMORY", 0)? {
            0 => None,
            bytes => Some(bytes),
        };
        let single_copy = match std::env::var("PARVUM_SINGLE_COPY").as_deref() {
            Err(_) | Ok("" | "on") => true,
            Ok("off") => false,
            Ok(other) => {
                let value = other.to_owned();
                return Err(StartError::Option {
                    name: "PARVUM_SINGLE_COPY",
                    value,
                    use_one_of: "on or off".into(),
                });
            }
        };
        let name = std::env::current_exe()
            .ok()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .unwrap_or_else(|| "?".into());
        let mut session = Session::open(&Options { beside, ..Options::new(role, name) })?;
        if let Ok(daemon) = rustix::net::sockopt::socket_peercred(session.fd()) {
            crate::process::trust(daemon.pid.as_raw_nonzero().get());
        }
        let (page, event) = session.me.channel.take().ok_or(StartError::NoPage)?;
        let book = Book::open(&page)?;
        let page = Arc::new(TaskPage::open(page)?);
        page.set_interface(interface);
        page.door().set_scheduled_in(crate::scheduling::group());
        page.name_routes(&routes.names());
        let settings = Settings { credit };
        let recording = session.me.recording.take().map(recording::open).transpose()?;
        if let Some(recording) = &recording {
            recording.name_routes(&routes.names());
        }
        let mut engine = Engine::new(session.me.tid, settings, ledger_in(&page, book, role));
        engine.set_inbox(Box::new(PageInbox::new(page.clone())));
        if let Some(recording) = &recording {
            engine.record_to(Box::new(recording::Messages(recording.clone())));
        }
        Ok(Runtime {
            engine,
            parent: session.me.parent,
            session,
            control_seen: page.door().control_count().wrapping_sub(1),
            page,
            event,
            recording,
            patience: Patience::new(),
            time: Time::default(),
            slept_unlooked: Duration::ZERO,
            asked_unlooked: 0,
            rested: Instant::now(),
            crowd: Crowd::new(),
            routes,
            single_copy,
            watched: Vec::new(),
            routed: None,
            listener: None,
            expected: Vec::new(),
            early: Vec::new(),
            silent: Vec::new(),
            unanswered: Vec::new(),
            gone_at: HashMap::new(),
            leaving: Vec::new(),
            looked_after: HashSet::new(),
            slow: None,
            all: None,
            noticed: Noticed::default(),
            meetings: Vec::new(),
            boards: Vec::new(),
            shown_barrier: Default::default(),
            memory,
            waiters: Waiters::default(),
            has_left: false,
            manager: None,
            tracer: None,
            lent: Kept::new(),
            remotes: Kept::new(),
        })
    }

    /// Moves everything on. Whether anything moved. Never blocks.
    #[inline]
    pub(crate) fn progress(&mut self) -> bool {
        let moved = self.engine.progress();
        self.waiters.stirred |= moved;
        let control = self.page.door().control_count();
        if control != self.control_seen {
            self.control_seen = control;
            self.attend();
            return true;
        }
        if self.has_sockets() {
            return self.tend_sockets(moved) || moved;
        }
        moved
    }

    /// Whether something may come that no door is rung for.
    #[inline]
    pub(crate) fn has_sockets(&self) -> bool {
        !self.watched.is_empty() || !self.expected.is_empty() || !self.silent.is_empty()
    }

    /// How many sockets a thread that sleeps in poll(2) watches, the daemon's apart.
    pub(crate) fn sockets_to_watch(&self) -> usize {
        self.watched.len() + self.silent.len() + self.expected.len()
    }

    /// Whether nothing will come any more: the daemon is lost, or the task has left.
    pub(crate) fn is_over(&self) -> bool {
        self.session.is_lost() || self.has_left
    }

    /// Gives back memory of pairs that are idle, now and then. A pair that is used more often than that keeps it,
    /// even if its tasks sleep before each message.
    pub(crate) fn rest(&mut self, now: Instant) {
        if now.saturating_duration_since(self.rested) >= REST {
            self.rested = now;
            self.engine.rest();
        }
    }

    fn is_unacknowledged(&self) -> bool {
        let open = |peer: Tid| self.engine.is_attached(peer, parvum_tcp::TRANSPORT.route);
        let mut sockets = self.watched.iter();
        sockets.any(|(peer, socket)| open(*peer) && crate::process::unacknowledged(socket.as_fd()) > 0)
    }
}

impl Inside {
    /// Asks the daemon, going on with messages meanwhile.
    pub(crate) fn ask(
        &mut self,
        request: Request,
        fds: &[BorrowedFd<'_>],
        notes: &Notes,
    ) -> Result<parvum_task::Answer, AskError> {
        let id = self.session.start_with(request, fds).map_err(AskError::Lost)?;
        let answer = self.wait_until(notes, |runtime| {
            if let Some(answer) = runtime.session.take_reply(id) {
                return Some(Ok(answer));
            }
            runtime.session.is_lost().then(|| Err(AskError::Lost(SessionError::Lost)))
        });
        match answer {
            Some(answer) => answer,
            None if self.session.is_lost() => Err(AskError::Lost(SessionError::Lost)),
            None => Err(AskError::Late),
        }
    }

    /// Hands over everything that was sent, then tells the daemon that this task leaves.
    pub(crate) fn depart(&mut self) {
        let notes = Notes { limit: -1, call: parvum_waist::call::EXIT, peer: -1, tag: -1, context: -1 };
        self.engine.hand_over();
        let flushed = |runtime: &mut Runtime| (runtime.engine.unfinished() == 0).then_some(());
        self.wait_until(&notes, flushed);
        self.await_acknowledgements(&notes);
        if !self.session.is_lost()
            && let Ok(id) = self.session.start(Request::Depart)
        {
            let brief = Notes { limit: 1_000_000_000, ..notes };
            self.wait_until(&brief, |runtime| {
                (runtime.session.take_reply(id).is_some() || runtime.session.is_lost()).then_some(())
            });
        }
    }

    /// Waits until the systems of the peers have what was sent by TCP. A socket that is closed
    /// while something unread lies in it, or comes later, takes back what is still in its buffer.
    fn await_acknowledgements(&mut self, notes: &Notes) {
        // Nothing rings for an acknowledgement.
        let nap = Notes { limit: NAP.as_nanos() as i64, ..*notes };
        let arrived = |runtime: &mut Runtime| (!runtime.is_unacknowledged()).then_some(());
        while self.wait_until(&nap, arrived).is_none() && !self.session.is_lost() {}
    }
}

/// Why the daemon gave no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The time was over.
    Late,
    /// The session is no more.
    Lost(SessionError),
}

/// A ledger whose cells are those of the page, and of the book behind it. The program may ask for those of its own task from now on.
fn ledger_in(page: &Arc<TaskPage>, book: Book, role: Role) -> Ledger {
    // Both must outlive the process's engine: these references are never dropped.
    let page: &'static TaskPage = Box::leak(Box::new(page.clone()));
    let book: &'static Book = Box::leak(Box::new(book));
    if role == Role::Task {
        ledger::open(page, book);
    }
    let counters = page.counters().first_chunk().expect("a page has more counters than a ledger");
    Ledger::new(counters, book.pairs(), &page.layout().unmatched)
}

fn route_policy() -> Result<RoutePolicy, StartError> {
    let name = std::env::var("PARVUM_ROUTE").ok().filter(|name| !name.is_empty() && name != "auto");
    RoutePolicy::new(&transports::ALL, name.as_deref()).map_err(|use_one_of| StartError::Option {
        name: "PARVUM_ROUTE",
        value: name.unwrap_or_default(),
        use_one_of,
    })
}

fn number_option(name: &'static str, default: u64) -> Result<u64, StartError> {
    match std::env::var(name) {
        Err(_) => Ok(default),
        Ok(text) => match text.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => {
                let use_one_of = "a positive number of bytes".into();
                Err(StartError::Option { name, value: text, use_one_of })
            }
        },
    }
}

impl AsFd for Runtime {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use parvum_engine::Counter;
    use parvum_page::COUNTER_NAMES;

    #[test]
    fn the_page_names_the_counters_as_the_engine_numbers_them() {
        for (counter, name) in [
            (Counter::Sent, "messages sent"),
            (Counter::PulledBytes, "bytes fetched from their sender"),
            (Counter::Unexpected, "messages that found none"),
            (Counter::BufferedAtSender, "bytes buffered here, at the sender"),
            (Counter::CreditStalls, "sends that waited for credit"),
            (Counter::Refused, "single copies the system refused"),
            (Counter::WaitingSends, "sends under way now"),
            (Counter::CopiedFromHere, "bytes copied out of what was buffered here"),
        ] {
            assert_eq!(COUNTER_NAMES[counter as usize], name);
        }
    }
}
