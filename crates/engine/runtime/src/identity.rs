//! The identity of this task: its session with the daemon, its control block, and the memory that tools read.

use crate::errors::StartError;
use crate::status::account;
use crate::status::recording;
use crate::status::words;
use parvum_control::{ControlBlock, CounterBook, Recording};
use parvum_engine::Counters;
use parvum_task::{Options, Session};
use parvum_wire::Tid;
use parvum_wire::control::Role;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The identity of a task.
pub(crate) struct Identity {
    pub(crate) session: Session,
    pub(crate) control_block: Arc<ControlBlock>,
    pub(crate) event: OwnedFd,
    /// The recording of this task, if its job is recorded.
    pub(crate) recording: Option<Arc<Recording>>,
    pub(crate) parent: Option<Tid>,
    /// The control block's control counter when the session was last looked at.
    control_seen: u32,
}

impl Identity {
    /// Enrols in this role, and starts the virtual machine if there is none. Also returns the ledger for the engine.
    /// `beside` is where this library lies.
    pub(crate) fn enrol(
        role: Role,
        interface: &str,
        beside: Option<PathBuf>,
        routes: &[(u8, &'static str)],
    ) -> Result<(Identity, Counters), StartError> {
        let mut session = Session::open(&Options { beside, ..Options::new(role, own_name()) })?;
        if let Ok(daemon) = rustix::net::sockopt::socket_peercred(session.fd()) {
            crate::process::trust(daemon.pid.as_raw_nonzero().get());
        }
        let (control_block, event) = session.me.channel.take().ok_or(StartError::NoPage)?;
        let book = CounterBook::open(&control_block)?;
        let control_block = Arc::new(ControlBlock::open(control_block)?);
        control_block.set_interface(interface);
        control_block.door().set_scheduled_in(crate::waiting::scheduling::group());
        if crate::waiting::scheduling::threads() == Some(1) {
            parvum_sync::global_fences::join();
            parvum_sync::fences::ask_for_fences();
        }
        control_block.name_routes(routes);
        let recording = session.me.recording.take().map(recording::open).transpose()?;
        if let Some(recording) = &recording {
            recording.name_routes(routes);
        }
        let ledger = ledger_in(&control_block, book, role, recording.as_ref());
        let parent = session.me.parent;
        let control_seen = control_block.door().control_count().wrapping_sub(1);
        Ok((Identity { session, control_block, event, recording, parent, control_seen }, ledger))
    }

    /// Whether the daemon has sent an event since the last look.
    #[inline]
    pub(crate) fn has_news(&mut self) -> bool {
        let control = self.control_block.door().control_count();
        let has = control != self.control_seen;
        if has {
            self.control_seen = control;
        }
        has
    }
}

impl AsFd for Identity {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// The name of this program.
fn own_name() -> String {
    let program = std::env::current_exe().ok();
    let name = program.as_deref().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| "?".into())
}

/// A ledger whose cells are in the control block, and in the book behind it. From now on the program may read the
/// counters of its own task.
fn ledger_in(
    control_block: &Arc<ControlBlock>,
    book: CounterBook,
    role: Role,
    recording: Option<&Arc<Recording>>,
) -> Counters {
    /// These objects are never dropped, because the process's engine has references to them. A look for leaks finds it
    /// here, and so reports none.
    static KEPT: Mutex<Vec<&'static (Arc<ControlBlock>, CounterBook)>> = Mutex::new(Vec::new());
    let kept: &'static (Arc<ControlBlock>, CounterBook) = Box::leak(Box::new((control_block.clone(), book)));
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
    let (control_block, book): (&'static ControlBlock, &'static CounterBook) = (&kept.0, &kept.1);
    if role == Role::Task {
        account::open(control_block, book, recording.cloned());
    }
    // This comes last: a description at the same time already finds the account.
    words::publish(book, recording.map(|recording| &**recording));
    let counters = control_block.counters().first_chunk().expect("a page has more counters than a ledger");
    Counters::new(counters, book.pairs(), &control_block.layout().unmatched)
}
