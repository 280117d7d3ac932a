//! Taking in, while the program computes, what is to lie at the receiver.
//!
//! An interface whose messages are buffered at the receiver has a thread that calls `serve` again and again. Mostly it sleeps
//! on the task's eventfd. A sender whose data waits for this task rings there (`summon`) when the task says in its page that
//! it is attended and waits for nothing: then the thread does what any call does, and gives the lock back.

use crate::abi::{try_with, with};
use parvum_waist::Status;
use parvum_wire::Tid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What the serving thread listens to; it is the only one that does.
static BELLS: Mutex<Option<Bells>> = Mutex::new(None);

struct Bells {
    /// Rung by who waits for this task.
    called: OwnedFd,
    /// Readable when anything comes.
    everything: OwnedFd,
}

/// So long the thread leaves a task alone that is inside the library.
const PAUSE: Duration = Duration::from_micros(500);

pub(crate) extern "C" fn summon(to: i32) {
    with((), |runtime| runtime.engine.summon(Tid(to)));
}

pub(crate) extern "C" fn serve(limit: i64, all: u32) -> i32 {
    let mut bells = BELLS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(bells) = &*bells else {
        *bells = with(None, |runtime| {
            let called = runtime.event.try_clone().ok()?;
            let everything = runtime.descriptor_for_all()?.try_clone_to_owned().ok()?;
            runtime.page.set_attended();
            Some(Bells { called, everything })
        });
        return if bells.is_some() { Status::Done } else { Status::NoMemory } as i32;
    };
    let bell = if all == 0 { &bells.called } else { &bells.everything };
    let limit = (limit >= 0).then(|| Duration::from_nanos(limit as u64));
    let limit = limit.map(|d| Timespec { tv_sec: d.as_secs() as i64, tv_nsec: d.subsec_nanos().into() });
    let mut wanted = [PollFd::new(bell, PollFlags::IN)];
    if !matches!(poll(&mut wanted, limit.as_ref()), Ok(1)) {
        return Status::Pending as i32;
    }
    let served = try_with(|runtime| {
        let _ = rustix::io::read(bells.called.as_fd(), &mut [0; 8]);
        while runtime.progress() {}
        runtime.attend();
        if all != 0 {
            runtime.listen();
        }
    });
    match served {
        Some(()) => Status::Done as i32,
        None => {
            std::thread::sleep(PAUSE);
            Status::Pending as i32
        }
    }
}
