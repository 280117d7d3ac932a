//! Taking in, while the program computes, what is to lie at the receiver.
//!
//! An interface whose messages are buffered at the receiver has a thread that calls `serve` again and again. Mostly it sleeps
//! on the task's eventfd. A sender whose data waits for this task rings there (`summon`) when the task says in its page that
//! it is attended and waits for nothing: then the thread does what any call does, and gives the lock back.

use crate::endpoint::{Bells, Endpoint};
use crate::inside::{try_with, with};
use crate::runtime::Runtime;
use parvum_waist::Status;
use parvum_wire::Tid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::time::Duration;

/// So long the thread leaves a task alone that is inside the library.
const PAUSE: Duration = Duration::from_micros(500);

pub(crate) extern "C" fn summon<E: Endpoint>(to: i32) {
    with::<E, _>((), |runtime| runtime.engine.summon(Tid(to)));
}

pub(crate) extern "C" fn notify<E: Endpoint>(to: i32) -> i32 {
    let heard = with::<E, _>(false, |runtime| runtime.engine.notify(Tid(to)));
    if heard { Status::Done as i32 } else { Status::Unknown as i32 }
}

pub(crate) extern "C" fn serve<E: Endpoint>(limit: i64, all: u32) -> i32 {
    let Some(bells) = E::place().bells.get() else { return open::<E>() as i32 };
    if all != 0 {
        // What came while nobody listened rings no more.
        match try_with::<E, _>(|runtime| work(runtime, bells, true)) {
            Some(false) => {}
            Some(true) => return Status::Done as i32,
            None => return pause() as i32,
        }
    }
    let bell = if all == 0 { &bells.called } else { &bells.everything };
    let limit = (limit >= 0).then(|| Duration::from_nanos(limit as u64));
    let limit = limit.map(|d| Timespec { tv_sec: d.as_secs() as i64, tv_nsec: d.subsec_nanos().into() });
    let mut wanted = [PollFd::new(bell, PollFlags::IN)];
    if !matches!(poll(&mut wanted, limit.as_ref()), Ok(1)) {
        return Status::Pending as i32;
    }
    let served = try_with::<E, _>(|runtime| work(runtime, bells, all != 0));
    served.map_or_else(pause, |_| Status::Done) as i32
}

/// The task is served from now on.
fn open<E: Endpoint>() -> Status {
    let made = with::<E, _>(None, |runtime| {
        let called = runtime.identity.event.try_clone().ok()?;
        let everything = runtime.descriptor_for_all()?.try_clone_to_owned().ok()?;
        runtime.identity.page.set_attended();
        Some(Bells { called, everything })
    });
    match made {
        Some(bells) => {
            // Another thread's are as good.
            let _ = E::place().bells.set(bells);
            Status::Done
        }
        None => Status::NoMemory,
    }
}

/// Does what there is to do; whether anything was.
fn work(runtime: &mut Runtime, bells: &Bells, listens: bool) -> bool {
    let _ = rustix::io::read(&bells.called, &mut [0; 8]);
    let mut moved = false;
    while runtime.progress() {
        moved = true;
    }
    if listens {
        runtime.listen();
    }
    moved
}

/// The program is inside, and does the work itself.
fn pause() -> Status {
    std::thread::sleep(PAUSE);
    Status::Pending
}
