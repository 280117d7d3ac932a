//! Members of a segment read each other's memory, without the process lock.
//!
//! They find out once, when the segment is opened, that all of them can. Each member shows its process and the address of a number, and
//! reads the numbers of all others. Members in containers may share a segment and have process numbers that the others do not know.

use crate::connecting::transports::parts::single_copy;
use crate::endpoint::Endpoint;
use crate::inside::{Inside, with};
use parvum_api::{Notes, Piece, Status, segment as came};
use parvum_engine::{Counter, PullRefused};
use parvum_transport::RemoteMemory;
use std::io::IoSliceMut;

/// The words of members that know the result.
const REACHES_ALL: u32 = 3;
const REACHES_NOT: u32 = 2;

/// The bytes that are read at a time into the library's own memory, if the kernel does not write to the caller's
/// memory.
const BOUNCE: usize = 64 << 10;

/// The identity of a member for members that read its memory.
pub(crate) struct Introduction {
    /// Its own number at `place`, which is no other task's.
    probe: Box<u64>,
}

impl Introduction {
    pub(crate) fn new(tid: i32) -> Introduction {
        Introduction { probe: Box::new(u64::from(std::process::id()) << 32 | u64::from(tid as u32)) }
    }

    pub(crate) fn bytes(&self) -> [u8; 16] {
        let place = std::ptr::from_ref(&*self.probe) as u64;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.probe.to_ne_bytes());
        bytes[8..].copy_from_slice(&place.to_ne_bytes());
        bytes
    }
}

/// The process that has so introduced itself, if its memory can be read.
fn process_of(bytes: [u8; 16]) -> Option<u32> {
    let number = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let (probe, address) = (number(0), number(8));
    let pid = (probe >> 32) as u32;
    let mut seen = [0; 8];
    let read =
        single_copy::read(pid, &[RemoteMemory { address, length: 8 }], &mut [IoSliceMut::new(&mut seen)])
            .ok()?;
    (read == 8 && u64::from_ne_bytes(seen) == probe).then_some(pid)
}

impl Inside {
    /// Finds out whether all members of a new segment can read the memory of all others. The members have introduced
    /// themselves in its last round. Returns the outcome of the round for this.
    pub(crate) fn agree_on_reach(&mut self, number: u64, notes: &Notes) -> i64 {
        let is_allowed = self.connections.single_copy;
        let Some(segment) = self.segment(number) else { return came::CLOSED };
        let process = |member: u32| {
            let mut bytes = [0; 16];
            let is_shown = segment.shared.read(member, segment.round - 1, 0, &mut bytes);
            is_shown.then(|| process_of(bytes)).flatten()
        };
        let processes: Option<Box<[u32]>> =
            if is_allowed { (0..segment.members).map(process).collect() } else { None };
        let word = if processes.is_some() { REACHES_ALL } else { REACHES_NOT };
        let answer = self.take_segment_round(number, word, &[], &[], notes);
        match (answer, self.segment(number)) {
            (came::COME, Some(segment)) => segment.processes = processes.unwrap_or_default(),
            (came::DISAGREED, _) => return came::COME,
            _ => {}
        }
        answer
    }
}

pub(crate) extern "C" fn board_reaches<E: Endpoint>(segment: u64) -> i32 {
    with::<E, _>(0, |inside| {
        inside.segment(segment).is_some_and(|segment| !segment.processes.is_empty()).into()
    })
}

pub(crate) unsafe extern "C" fn board_fetch<E: Endpoint>(
    segment: u64,
    member: u32,
    address: u64,
    out: *mut u8,
    length: usize,
) -> i32 {
    if length == 0 {
        return Status::Done as i32;
    }
    let pid = with::<E, _>(None, |inside| {
        let pid = *inside.segment(segment)?.processes.get(member as usize)?;
        inside.engine.ledger().add(Counter::PulledBytes, length as u64);
        Some(pid)
    });
    let Some(pid) = pid else { return Status::BadArgument as i32 };
    // SAFETY: writable for so many bytes, by the table's contract.
    let out = unsafe { std::slice::from_raw_parts_mut(out, length) };
    // Other threads may work during this time.
    match fetch(pid, address, out) {
        Ok(()) => Status::Done as i32,
        Err(PullRefused::Gone) => Status::Gone as i32,
        Err(PullRefused::NotPermitted) => Status::BadArgument as i32,
    }
}

fn fetch(pid: u32, address: u64, out: &mut [u8]) -> Result<(), PullRefused> {
    match read(pid, address, out) {
        // Memory that faults for the kernel may be the program's to mend: a copy of our own runs into its handler.
        Err(PullRefused::NotPermitted) => {}
        done => return done,
    }
    let mut bounce = vec![0; BOUNCE.min(out.len())];
    let mut at = address;
    for piece in out.chunks_mut(BOUNCE) {
        let bounce = &mut bounce[..piece.len()];
        read(pid, at, bounce)?;
        piece.copy_from_slice(bounce);
        at += piece.len() as u64;
    }
    Ok(())
}

/// Reads all of it, or fails.
fn read(pid: u32, mut address: u64, mut out: &mut [u8]) -> Result<(), PullRefused> {
    while !out.is_empty() {
        let place = RemoteMemory { address, length: out.len() };
        let got = single_copy::read(pid, &[place], &mut [IoSliceMut::new(out)])?;
        address += got as u64;
        out = &mut out[got..];
    }
    Ok(())
}

/// A piece of these bytes.
pub(crate) fn piece_of(bytes: &[u8]) -> Piece {
    Piece { start: bytes.as_ptr(), length: bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn introduction_identifies_its_process_only() {
        let introduction = Introduction::new(7);
        let bytes = introduction.bytes();
        assert_eq!(process_of(bytes), Some(std::process::id()));
        let mut another = bytes;
        another[0] ^= 1;
        assert_eq!(process_of(another), None, "another task's number");
        let mut nowhere = bytes;
        nowhere[8..].copy_from_slice(&8u64.to_ne_bytes());
        assert_eq!(process_of(nowhere), None, "an address of nobody");
        assert_eq!(process_of([0; 16]), None, "who has not introduced itself");
    }

    #[test]
    fn fetch_copies_whole_memory_of_process() {
        let data: Vec<u8> = (0..200_000u32).map(|at| (at % 251) as u8).collect();
        let mut out = vec![0; data.len()];
        assert!(fetch(std::process::id(), data.as_ptr() as u64, &mut out).is_ok());
        assert_eq!(out, data);
        assert!(fetch(std::process::id(), 8, &mut out).is_err(), "an address of nobody");
    }
}
