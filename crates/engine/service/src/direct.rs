//! The way without a message: between tasks of one host that may reach each other's memory the kernel copies.
//!
//! A window is described once. Before each copy the target must still exist, so this process holds a descriptor of the
//! target's process. A token in the target's memory has shown that the process with this number is the process that
//! answered. (Two tasks may number processes differently.) If the kernel refuses, or the user turns this off
//! (`PARVUM_SINGLE_COPY=off`), all requests use messages.

use crate::client::{Limit, Service};
use crate::memory::{Copied, Process};
use crate::question::{Question, Trouble, Window};
use crate::windows::Range;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// The windows of others, as far as they are known.
#[derive(Default)]
pub(crate) struct Direct(Mutex<HashMap<(i32, Window), Arc<WindowAccess>>>);

/// The way to a window.
enum WindowAccess {
    /// The kernel copies.
    Copy { process: Process, alive: OwnedFd, range: Range },
    /// Nothing but messages.
    Message,
}

impl Direct {
    /// Writes to a window. `None`: that takes messages.
    pub(crate) fn put(
        &self,
        service: &Service,
        to: i32,
        window: Window,
        offset: u64,
        data: &[u8],
        limit: Limit,
    ) -> Option<Result<(), Trouble>> {
        self.copy(service, (to, window), (offset, data.len()), limit, |process, address| {
            process.copy_to(address, data)
        })
    }

    /// Reads from a window. `None`: that takes messages.
    pub(crate) fn get(
        &self,
        service: &Service,
        to: i32,
        window: Window,
        offset: u64,
        out: &mut [u8],
        limit: Limit,
    ) -> Option<Result<(), Trouble>> {
        self.copy(service, (to, window), (offset, out.len()), limit, |process, address| {
            process.copy_from(address, out)
        })
    }

    fn copy(
        &self,
        service: &Service,
        target: (i32, Window),
        (offset, length): (u64, usize),
        limit: Limit,
        copy: impl FnOnce(&Process, u64) -> Copied,
    ) -> Option<Result<(), Trouble>> {
        if !service.is_near(target.0) || !is_permitted() {
            return None;
        }
        let way = match self.way(service, target, limit) {
            Ok(way) => way?,
            Err(why) => return Some(Err(why)),
        };
        let WindowAccess::Copy { process, alive, range } = &*way else { return None };
        let address = match range.address(offset, length as u64) {
            Ok(address) => address,
            Err(why) => return Some(Err(why)),
        };
        let copied = if has_ended(alive) { Copied::Refused } else { copy(process, address) };
        match copied {
            Copied::Whole => Some(Ok(())),
            // Or the target is about to end, and its memory went first: its server knows.
            Copied::Protected => None,
            Copied::Refused if has_ended(alive) => {
                self.forget(target.0, None);
                Some(Err(Trouble::Gone))
            }
            Copied::Refused => None,
        }
    }

    /// The way to a window, found out at the first use. `Ok(None)`: this call uses messages, because it has interrupted
    /// another call that uses the list.
    fn way(
        &self,
        service: &Service,
        target: (i32, Window),
        limit: Limit,
    ) -> Result<Option<Arc<WindowAccess>>, Trouble> {
        match self.0.try_lock() {
            Ok(known) => {
                if let Some(way) = known.get(&target) {
                    return Ok(Some(way.clone()));
                }
            }
            Err(_) => return Ok(None),
        }
        let (to, window) = target;
        let words = service.ask(to, &Question::Describe { window }, &[], limit)?;
        let way = Arc::new(found(&words)?);
        if let Ok(mut known) = self.0.try_lock() {
            known.insert(target, way.clone());
        }
        Ok(Some(way))
    }

    /// Forgets a window; without one all of a task, which is gone.
    pub(crate) fn forget(&self, to: i32, window: Option<Window>) {
        if let Ok(mut known) = self.0.try_lock() {
            known.retain(|(task, other), _| *task != to || window.is_some_and(|window| window != *other));
        }
    }
}

/// Whether the user lets tasks copy out of each other.
fn is_permitted() -> bool {
    static PERMITTED: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("PARVUM_SINGLE_COPY").is_none_or(|word| word != "off"));
    *PERMITTED
}

/// The access that a description allows.
fn found(words: &[u8]) -> Result<WindowAccess, Trouble> {
    let (numbers, token) = words.split_first_chunk::<32>().ok_or(Trouble::Malformed)?;
    let token: &[u8; 16] = token.try_into().map_err(|_| Trouble::Malformed)?;
    let mut words = numbers.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight")));
    let mut next = || words.next().expect("four words");
    let (range, pid, address) = (Range { start: next(), length: next() }, next(), next());
    let Some((pid, raw)) = u32::try_from(pid).ok().and_then(|pid| Some((pid, Pid::from_raw(pid as i32)?)))
    else {
        return Err(Trouble::Malformed);
    };
    let Ok(alive) = pidfd_open(raw, PidfdFlags::empty()) else { return Ok(WindowAccess::Message) };
    let (process, mut seen) = (Process(pid), [0; 16]);
    let is_it = process.copy_from(address, &mut seen) == Copied::Whole && seen == *token;
    Ok(if is_it { WindowAccess::Copy { process, alive, range } } else { WindowAccess::Message })
}

/// Whether a process has ended: then its number may soon be another's.
fn has_ended(process: &OwnedFd) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    !matches!(poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&at_once)), Ok(0))
}
