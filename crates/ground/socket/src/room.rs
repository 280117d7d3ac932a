//! Room for descriptors. Each peer costs a task a few, and a program's limit may be far below what the system allows it.
//!
//! The limit is raised only when it is needed: a program that uses select(2) must have no descriptor above 1023, and one
//! with few peers never gets one because of us.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::fd::{AsFd, AsRawFd};

/// Makes sure that there is room for more descriptors than this one, which was opened last: the system gives the lowest
/// that is free. As long as the system allows it, there is room for as many again.
pub fn keep_room_beyond(newest: impl AsFd) {
    let Rlimit { current: Some(current), .. } = getrlimit(Resource::Nofile) else { return };
    if newest.as_fd().as_raw_fd() as u64 >= current / 2 {
        // Where it fails, opening will fail, and say so.
        make_room();
    }
}

/// Makes room for four times as many descriptors, or as many as the system allows. False: it allows no more.
pub fn make_room() -> bool {
    let Rlimit { current: Some(current), maximum } = getrlimit(Resource::Nofile) else { return false };
    let wanted = maximum.map_or(4 * current, |most| most.min(4 * current));
    wanted > current && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).is_ok()
}
