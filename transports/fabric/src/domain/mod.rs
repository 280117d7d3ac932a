//! One endpoint for all links of a process: buffers, and whose frame has come.

mod end;
mod long_buffers;
mod prefix;
mod receiving;
mod sending;

pub use prefix::Prefix;
pub use sending::Filled;

use crate::flow::{TELLING, WINDOW};
use crate::ofi::{Endpoint, FabricError, TOGETHER};
use end::{End, Long};
use long_buffers::LongBuffers;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use std::collections::{HashMap, VecDeque};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The variable that names a provider.
pub const PROVIDER: &str = "PARVUM_FABRIC";

// Each link adds buffers for all that may come to it.
const _: () = assert!(TOGETHER >= WINDOW + TELLING);

/// How often the endpoint is polled before a sleep, at most.
const ROUNDS: u32 = 64;

/// The endpoint of this process, and the process: a child by fork has a copy.
static SHARED: Mutex<Option<(u32, Arc<Domain>)>> = Mutex::new(None);

/// The endpoint that links of this process share.
pub struct Domain(Mutex<Shared>);

/// What the links share. One thread at a time drives them.
pub struct Shared {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Free buffers to send messages from.
    free: Vec<u32>,
    /// The link that sends from a buffer.
    senders: HashMap<u32, u32>,
    /// Buffers whose sends outlived their link and may never end.
    lost: u32,
    /// Buffers to send long payloads from.
    long_out: LongBuffers,
    /// Buffers to receive long payloads into.
    long_in: LongBuffers,
    /// Buffers that are to receive, and that the library did not take yet.
    idle: Vec<u32>,
    /// The link whose long payload comes into a buffer.
    askers: HashMap<u32, u32>,
    /// Links with a long payload that nobody has asked for yet.
    unasked: VecDeque<u32>,
    links: HashMap<u32, End>,
    /// The number of the next link.
    next: u32,
    /// Blocks of buffers to receive into.
    blocks: usize,
    /// Readable while frames wait at links. A sleeper watches it: the endpoint is not readable for frames that were read.
    ready: OwnedFd,
    shows: bool,
    /// Links with a message to take.
    ready_links: usize,
    /// How often the endpoint was polled.
    polls: u64,
    is_broken: bool,
}

impl Domain {
    /// Opens the endpoint that all links of this process share. The first call takes the library a tenth of a second.
    pub fn prepare() -> Result<(), FabricError> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if shared.as_ref().is_some_and(|(owner, _)| *owner == process) {
            return Ok(());
        }
        // A child by fork has a copy. To close the copy would disturb the parent, whose sockets these are.
        std::mem::forget(shared.take());
        let choice = std::env::var(PROVIDER).ok().filter(|name| !name.is_empty());
        *shared = Some((process, Arc::new(Domain::open(choice.as_deref())?)));
        Ok(())
    }

    /// The endpoint that [`prepare`](Self::prepare) has opened. A link opens none: it is made under the lock of the process.
    pub fn prepared() -> Result<Arc<Domain>, FabricError> {
        let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let own = shared.as_ref().filter(|(owner, _)| *owner == std::process::id());
        own.map(|(_, domain)| Arc::clone(domain)).ok_or(FabricError::NotAsked)
    }

    /// A new endpoint of the provider with this name, or of the best.
    pub fn open(provider: Option<&str>) -> Result<Domain, FabricError> {
        let mut endpoint = Endpoint::open(provider)?;
        let first = endpoint.add_buffers()?;
        let no_event =
            |error: rustix::io::Errno| FabricError::Call { call: "eventfd", why: error.to_string() };
        let ready = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(no_event)?;
        Ok(Domain(Mutex::new(Shared {
            endpoint,
            free: (first..first + TOGETHER).collect(),
            senders: HashMap::new(),
            lost: 0,
            long_out: LongBuffers::default(),
            long_in: LongBuffers::default(),
            idle: Vec::new(),
            askers: HashMap::new(),
            unasked: VecDeque::new(),
            links: HashMap::new(),
            next: 1,
            blocks: 0,
            ready,
            shows: false,
            ready_links: 0,
            polls: 0,
            is_broken: false,
        })))
    }

    /// The turn of one thread.
    pub fn turn(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// A new link, whose peer will know this key: its number.
    pub fn join(&mut self, key: u64) -> Result<u32, FabricError> {
        if self.blocks <= self.links.len() {
            let first = self.endpoint.add_buffers()?;
            self.blocks += 1;
            self.idle.extend(first..first + TOGETHER);
            self.post();
        }
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.links.insert(number, End::new(key));
        Ok(number)
    }

    /// The link is no more. Its buffers serve the next link.
    pub fn leave(&mut self, number: u32) {
        let Some(end) = self.links.remove(&number) else { return };
        end.uncount(&mut self.ready_links);
        self.idle.extend(end.messages.iter().map(|message| message.slot));
        for long in end.longs {
            match long {
                Long::Announced { .. } => {}
                Long::Coming { slot } => {
                    self.endpoint.cancel(slot);
                    self.long_in.lost += 1;
                }
                Long::Come { slot, .. } => self.long_in.free.push(slot),
            }
        }
        // The peer may be dead, and some providers never tell how a send to it ended.
        let [short, long] = end.sending;
        self.lost += short;
        self.long_out.lost += long;
        self.post();
        self.show_waiting();
    }

    /// The two descriptors that a sleeper watches.
    pub fn descriptors(&self) -> [Option<BorrowedFd<'_>>; 2] {
        [self.endpoint.descriptor(), Some(self.ready.as_fd())]
    }

    /// Sends of the link that have not ended.
    pub fn sending(&self, number: u32) -> u32 {
        self.links.get(&number).map_or(0, |end| end.sending.iter().sum())
    }

    /// Whether nothing more can come to the link or from it.
    pub fn has_failed(&self, number: u32) -> bool {
        self.is_broken || self.links.get(&number).is_none_or(|end| end.has_failed)
    }

    /// Polls the endpoint for a link, unless another link has polled since this one did: `seen` is the link's. A round over all links
    /// polls once.
    pub fn poll_for(&mut self, seen: &mut u64) {
        if *seen == self.polls {
            self.polls += 1;
            self.poll();
        }
        *seen = self.polls;
    }

    /// The link takes messages from now on.
    pub fn open_link(&mut self, number: u32) {
        if let Some(end) = self.links.get_mut(&number) {
            end.is_open = true;
            end.count(&mut self.ready_links);
        }
    }

    /// Prepares the descriptor of the endpoint for a sleep, and takes what came before.
    pub fn arm(&mut self) {
        // Each round takes what keeps the endpoint from being armed. A flood of messages ends the sleep anyway.
        for _ in 0..ROUNDS {
            if self.endpoint.arm() {
                break;
            }
            self.poll();
        }
        self.show_waiting();
    }

    /// Shows sleepers whether frames wait at links. A link calls this after it took its own: most frames never show there.
    pub fn show_waiting(&mut self) {
        if (self.ready_links > 0) == self.shows {
            return;
        }
        self.shows = !self.shows;
        // The counter of an event takes one, and gives it back; neither can fail.
        let _ = match self.shows {
            true => rustix::io::write(&self.ready, &1u64.to_ne_bytes()),
            false => rustix::io::read(&self.ready, &mut [0; 8]),
        };
    }

    /// Whether sleepers see that a frame waits.
    #[cfg(test)]
    pub fn shows_waiting(&self) -> bool {
        self.shows
    }
}
