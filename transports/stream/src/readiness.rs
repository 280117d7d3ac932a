//! Which of a task's connections have brought something: the kernel is asked once for all of them, not by a read of each.
//!
//! A waiting task checks its links again and again, and a read without data costs as much as any system call. Each link
//! therefore has a [`Gate`]. A read without data shuts the gate, and a link with a shut gate is not read. Later data,
//! or the end of the connection, is an event of an edge-triggered epoll instance, and [`Readiness::ask`] opens the gate
//! again. No edge can be missed: a gate shuts only when the kernel reports that there is no data, and later data is a
//! new edge.
//!
//! A gate without a [`Readiness`] never shuts: for a single connection, a read is as good as a query.

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::time::Timespec;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};

/// The maximum number of events in one query; further events come in the next query.
const AT_ONCE: usize = 32;

const UNGUARDED: u8 = 0;
const OPEN: u8 = 1;
const SHUT: u8 = 2;

/// Whether a look at a connection may find something.
#[derive(Clone, Debug)]
pub struct Gate(Arc<AtomicU8>);

impl Default for Gate {
    fn default() -> Gate {
        Gate(Arc::new(AtomicU8::new(UNGUARDED)))
    }
}

// Relaxed, everywhere: a link and what asks for it are of one task, and of whichever of its threads has the turn.
impl Gate {
    /// Whether a read would find nothing.
    #[inline]
    pub fn is_shut(&self) -> bool {
        self.0.load(Ordering::Relaxed) == SHUT
    }

    /// The kernel has reported that there is no data.
    #[inline]
    pub fn shut(&self) {
        if self.0.load(Ordering::Relaxed) == OPEN {
            self.0.store(SHUT, Ordering::Relaxed);
        }
    }

    /// A read may find data that no query has shown yet.
    pub fn open(&self) {
        if self.is_shut() {
            self.0.store(OPEN, Ordering::Relaxed);
        }
    }
}

/// The connections that are asked for together.
pub struct Readiness {
    epoll: OwnedFd,
    /// By the number that their events bear. A gate whose link is gone is empty, and the next gate gets its number.
    gates: Vec<Weak<AtomicU8>>,
}

impl Readiness {
    /// Of no connection yet. Fails where there is no descriptor left.
    pub fn new() -> io::Result<Readiness> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Readiness { epoll, gates: Vec::new() })
    }

    /// Adds a connection: its gate is shut and opened from now on. `socket` is it or a duplicate, and need not stay. On
    /// an error it is read at each look, as before.
    pub fn take_in(&mut self, socket: BorrowedFd<'_>, gate: &Gate) -> io::Result<()> {
        let free = self.gates.iter().position(|known| known.strong_count() == 0);
        let at = free.unwrap_or(self.gates.len());
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, socket, EventData::new_u64(at as u64), flags)?;
        let known = Arc::downgrade(&gate.0);
        match self.gates.get_mut(at) {
            Some(place) => *place = known,
            None => self.gates.push(known),
        }
        // Earlier data is an edge too. Until this edge is read, the gate stays open.
        gate.0.store(OPEN, Ordering::Relaxed);
        Ok(())
    }

    /// Opens the gates of links with new data. Never blocks.
    #[inline]
    pub fn ask(&mut self) {
        const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut room = [const { MaybeUninit::<Event>::uninit() }; AT_ONCE];
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut room[..], Some(&NOW)) else {
            // It cannot be, but for a signal. No task may wait for ever behind a gate.
            return self.open_all();
        };
        for event in events {
            // One of a connection that is no more may bear the number of another: that is looked at in vain.
            if let Some(gate) = self.gates.get(event.data.u64() as usize).and_then(Weak::upgrade) {
                gate.store(OPEN, Ordering::Relaxed);
            }
        }
    }

    #[cold]
    fn open_all(&self) {
        self.gates.iter().filter_map(Weak::upgrade).for_each(|gate| gate.store(OPEN, Ordering::Relaxed));
    }
}
