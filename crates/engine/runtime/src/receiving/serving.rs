//! Taking in, while the program computes, what is to lie at the receiver.
//!
//! An interface whose messages are buffered at the receiver has a thread that calls `serve` again and again. Mostly it
//! sleeps on the task's eventfd. A sender whose data waits for this task wakes this thread (`summon`), if the task's
//! control block shows a serving thread and no wait. The thread then does the work of any call, and releases the lock.

use crate::endpoint::{Bells, Endpoint};
use crate::inside::{try_with, with};
use crate::runtime::Runtime;
use parvum_api::Status;
use parvum_wire::Tid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::time::Duration;

/// The time for which the thread leaves a task alone that is inside the library.
const PAUSE: Duration = Duration::from_micros(500);
/// The pause of a thread that cannot serve, because no descriptor is free or the virtual machine is lost, before it
/// asks again.
const IN_VAIN: Duration = Duration::from_millis(100);

pub(crate) extern "C" fn summon<E: Endpoint>(to: i32) {
    with::<E, _>((), |runtime| runtime.engine.summon(Tid(to)));
}

pub(crate) extern "C" fn notify<E: Endpoint>(to: i32) -> i32 {
    let heard = with::<E, _>(false, |runtime| runtime.engine.notify(Tid(to)));
    if heard { Status::Done as i32 } else { Status::Unknown as i32 }
}

pub(crate) extern "C" fn serve<E: Endpoint>(limit: i64, all: u32) -> i32 {
    let Some(bells) = E::place().bells.get() else {
        let opened = open::<E>();
        return if opened == Status::Done { opened } else { in_vain(limit, opened) } as i32;
    };
    if all != 0 {
        // Earlier messages do not wake the thread any more.
        match try_with::<E, _>(|runtime| work(runtime, bells, true)) {
            Some(Work::Nothing) => {}
            Some(Work::Moved) => return Status::Done as i32,
            Some(Work::Over) => return in_vain(limit, Status::Pending) as i32,
            None => return pause() as i32,
        }
    }
    let bell = if all == 0 { &bells.called } else { &bells.everything };
    let time = (limit >= 0).then(|| Duration::from_nanos(limit as u64));
    let time = time.map(|d| Timespec { tv_sec: d.as_secs() as i64, tv_nsec: d.subsec_nanos().into() });
    let mut wanted = [PollFd::new(bell, PollFlags::IN)];
    if !matches!(poll(&mut wanted, time.as_ref()), Ok(1)) {
        return Status::Pending as i32;
    }
    match try_with::<E, _>(|runtime| work(runtime, bells, all != 0)) {
        // The socket of a lost daemon is readable for ever.
        Some(Work::Over) => in_vain(limit, Status::Pending) as i32,
        Some(_) => Status::Done as i32,
        None => pause() as i32,
    }
}

/// Waits without work for the thread.
fn in_vain(limit: i64, why: Status) -> Status {
    let limit = u64::try_from(limit).map_or(IN_VAIN, Duration::from_nanos);
    std::thread::sleep(limit.min(IN_VAIN));
    why
}

/// The result of a look at the task.
enum Work {
    Nothing,
    Moved,
    /// Nothing will come any more.
    Over,
}

/// The task is served from now on.
fn open<E: Endpoint>() -> Status {
    let made = with::<E, _>(None, |runtime| {
        let called = runtime.identity.event.try_clone().ok()?;
        let everything = runtime.descriptor_for_all()?.try_clone_to_owned().ok()?;
        runtime.identity.control_block.set_attended();
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

/// Does what there is to do.
fn work(runtime: &mut Runtime, bells: &Bells, listens: bool) -> Work {
    let _ = rustix::io::read(&bells.called, &mut [0; 8]);
    let mut moved = false;
    while runtime.progress() {
        moved = true;
    }
    if listens {
        runtime.listen();
    }
    match moved {
        true => Work::Moved,
        false if runtime.is_over() => Work::Over,
        false => Work::Nothing,
    }
}

/// The program is inside, and does the work itself.
fn pause() -> Status {
    std::thread::sleep(PAUSE);
    Status::Pending
}
