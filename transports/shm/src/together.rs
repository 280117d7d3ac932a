//! The receiver's side of a copy that both ends make: see [`share`](crate::share).

use crate::share::{Broken, Share, SharedCopy, Written};
use crate::single_copy;
use parvum_transport::{PullRefused, RemoteMemory};
use std::io::IoSliceMut;
use std::time::Duration;

/// The number of times that the receiver checks at once whether the sender has written its last piece. After that it
/// naps between checks.
const LOOKS: u32 = 20_000;
const NAP: Duration = Duration::from_micros(50);
/// The number of short naps. Then it sleeps longer, and looks whether the sender is stopped.
const SHORT_NAPS: u32 = 2_000;
const LONG_NAP: Duration = Duration::from_millis(5);
/// The number of long naps in a wait for a running sender: 30 seconds.
const LONG_NAPS: u32 = 6_000;

/// Reads the data at these places, which is the data of an offer from some byte on, to `into`. A waiting sender writes
/// a part of it.
pub(crate) fn read(
    pid: u32,
    share: &Share,
    number: u32,
    (cookie, at): (u64, u64),
    from: &[RemoteMemory],
    into: &mut [u8],
) -> Result<(), PullRefused> {
    let length = into.len() as u64;
    share.open(number, SharedCopy { cookie, from: at, into: into.as_mut_ptr() as u64, length });
    let (mut failed, mut mine) = (None, 0u64);
    while let Some(piece) = share.take_first(number, length, mine).map_err(broken)? {
        mine = mine.saturating_add(1);
        // The rest is not needed, but the receiver takes it anyway, so that the sender takes none of it.
        if failed.is_none() {
            failed = read_piece(pid, piece, from, into).err();
        }
    }
    let rest = last_of_the_sender(pid, share, number, (length, mine), from);
    share.close();
    match (failed, rest?) {
        (Some(why), _) => Err(why),
        (None, Some(piece)) => read_piece(pid, piece, from, into),
        (None, None) => Ok(()),
    }
}

/// A peer that writes nonsense into the memory of the pair is as good as gone.
fn broken(_: Broken) -> PullRefused {
    PullRefused::Gone
}

/// Waits for the piece that the sender is writing, as long as it is stopped or has not run for long. A piece that it could not write.
fn last_of_the_sender(
    pid: u32,
    share: &Share,
    number: u32,
    (length, mine): (u64, u64),
    from: &[RemoteMemory],
) -> Result<Option<(u64, u64)>, PullRefused> {
    let mut looks = 0u32;
    let mut naps = 0u32;
    loop {
        match share.what_is_written(number, length, mine).map_err(broken)? {
            Written::All => return Ok(None),
            Written::AllBut(piece) => return Ok(Some(piece)),
            Written::NotYet if looks < LOOKS => {
                looks = looks.saturating_add(1);
                std::hint::spin_loop();
            }
            // The sender does not run at the moment, or has died during the copy, and then it writes no more.
            Written::NotYet => {
                std::thread::sleep(if naps < SHORT_NAPS { NAP } else { LONG_NAP });
                if let Err(PullRefused::Gone) = read_piece(pid, (0, 1), from, &mut [0]) {
                    return Err(PullRefused::Gone);
                }
                naps = naps.saturating_add(u32::from(naps < SHORT_NAPS || !is_stopped(pid)));
                // To write a piece takes a tenth of a millisecond. A running sender that has not written the piece by
                // now never will.
                if naps >= SHORT_NAPS + LONG_NAPS {
                    return Err(PullRefused::Gone);
                }
            }
        }
    }
}

/// Whether the process is stopped, by a signal or a debugger.
fn is_stopped(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The name in brackets may have any characters.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

fn read_piece(
    pid: u32,
    (begin, end): (u64, u64),
    from: &[RemoteMemory],
    into: &mut [u8],
) -> Result<(), PullRefused> {
    let places = part_of(from, begin as usize, end.saturating_sub(begin) as usize);
    let room = into.get_mut(begin as usize..end as usize).ok_or(PullRefused::Gone)?;
    let wanted = room.len();
    match single_copy::read(pid, &places, &mut [IoSliceMut::new(room)])? {
        got if got == wanted => Ok(()),
        _ => Err(PullRefused::NotPermitted),
    }
}

/// The places of `length` bytes from `skip` on.
fn part_of(from: &[RemoteMemory], mut skip: usize, mut length: usize) -> Vec<RemoteMemory> {
    let mut part = Vec::with_capacity(1);
    for place in from {
        let Some(left) = place.length.checked_sub(skip).filter(|left| *left > 0) else {
            skip = skip.saturating_sub(place.length);
            continue;
        };
        let take = length.min(left);
        part.push(RemoteMemory { address: place.address.wrapping_add(skip as u64), length: take });
        (skip, length) = (0, length.saturating_sub(take));
        if length == 0 {
            break;
        }
    }
    part
}
