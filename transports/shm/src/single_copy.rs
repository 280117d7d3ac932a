//! Copying straight out of another process.

use libc::{c_void, iovec};
use parvum_transport::{Gather, PullRefused, RemoteMemory};
use std::io::IoSliceMut;

/// The maximum number of ranges of each side in one system call.
const RANGES: usize = 256;

const NOTHING: iovec = iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };

/// Copies what lies in these places of process `pid`, one behind the other, as far as both sides reach; how many bytes.
pub fn read(pid: u32, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
    let (mut there, mut here) = ([NOTHING; RANGES], [NOTHING; RANGES]);
    let (mut places, mut rooms) = (Cursor::default(), Cursor::default());
    let mut done = 0usize;
    loop {
        let remote = places.list(&mut there, |at| {
            let RemoteMemory { address, length } = *from.get(at)?;
            Some((std::ptr::without_provenance_mut(address as usize), length))
        });
        let local = rooms.list(&mut here, |at| {
            let room = into.get_mut(at)?;
            Some((room.as_mut_ptr().cast(), room.len()))
        });
        if remote == 0 || local == 0 {
            return Ok(done);
        }
        // SAFETY: `here` lists memory that is exclusively borrowed; the kernel checks what `there` lists, which belongs
        // to another process.
        let got = unsafe {
            let (local, remote) = (local as libc::c_ulong, remote as libc::c_ulong);
            libc::process_vm_readv(pid as libc::pid_t, here.as_ptr(), local, there.as_ptr(), remote, 0)
        };
        match usize::try_from(got) {
            Ok(0) => return Err(PullRefused::Gone),
            Ok(got) => {
                done = done.saturating_add(got);
                places.pass(got, |at| from.get(at).map(|place| place.length));
                rooms.pass(got, |at| into.get(at).map(|room| room.len()));
            }
            Err(_) => return Err(why(std::io::Error::last_os_error())),
        }
    }
}

/// Copies this data to memory of process `pid`.
pub fn write(pid: u32, from: Gather<'_>, into: u64) -> Result<(), PullRefused> {
    let mut done = 0usize;
    while done < from.len() {
        let mut here = [NOTHING; RANGES];
        let rest = from.part(done, usize::MAX);
        let mut count: libc::c_ulong = 0;
        for (range, piece) in here.iter_mut().zip(rest.pieces()) {
            *range = iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() };
            count = count.saturating_add(1);
        }
        let address = std::ptr::without_provenance_mut((into as usize).wrapping_add(done));
        let there = iovec { iov_base: address, iov_len: rest.len() };
        // SAFETY: `here` lists memory that is borrowed, and is only read; the kernel checks `there`, which belongs to another process.
        let put = unsafe { libc::process_vm_writev(pid as libc::pid_t, here.as_ptr(), count, &there, 1, 0) };
        match usize::try_from(put) {
            Ok(0) => return Err(PullRefused::Gone),
            Ok(put) => done = done.saturating_add(put),
            Err(_) => return Err(why(std::io::Error::last_os_error())),
        }
    }
    Ok(())
}

/// How far the ranges of one side are done.
#[derive(Default)]
struct Cursor {
    /// The first that is not done whole.
    at: usize,
    /// The number of its bytes that are done.
    within: usize,
}

impl Cursor {
    /// Lists what is left of the ranges, as far as there is room for it; how many were listed.
    fn list(
        &self,
        out: &mut [iovec; RANGES],
        mut range: impl FnMut(usize) -> Option<(*mut c_void, usize)>,
    ) -> usize {
        let mut slots = out.iter_mut();
        for at in self.at.. {
            let Some((start, length)) = range(at) else { break };
            let skip = if at == self.at { self.within } else { 0 };
            let left = length.saturating_sub(skip);
            if left == 0 {
                continue;
            }
            let Some(slot) = slots.next() else { break };
            *slot = iovec { iov_base: start.wrapping_byte_add(skip), iov_len: left };
        }
        RANGES.saturating_sub(slots.len())
    }

    /// Advances over this number of bytes, which are done.
    fn pass(&mut self, mut bytes: usize, length: impl Fn(usize) -> Option<usize>) {
        while bytes > 0
            && let Some(length) = length(self.at)
        {
            let Some(rest) = bytes.checked_sub(length.saturating_sub(self.within)) else {
                self.within = self.within.saturating_add(bytes);
                return;
            };
            bytes = rest;
            (self.at, self.within) = (self.at.saturating_add(1), 0);
        }
    }
}

fn why(error: std::io::Error) -> PullRefused {
    match error.raw_os_error() {
        // The process has ended.
        Some(libc::ESRCH) => PullRefused::Gone,
        // The reason is Yama, a seccomp filter, another user namespace, or a missing system call. It may also be
        // memory, on either side, that its process protects at the moment. A streamed copy runs into this protection
        // itself, as any copy does.
        _ => PullRefused::NotPermitted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(pid: u32, address: u64, out: &mut [u8]) -> Result<usize, PullRefused> {
        let from = [RemoteMemory { address, length: out.len() }];
        read(pid, &from, &mut [IoSliceMut::new(out)])
    }

    #[test]
    fn single_copy_reads_own_process() {
        let data = [7u8; 10_000];
        let mut out = [0u8; 10_000];
        assert_eq!(read_one(std::process::id(), data.as_ptr() as u64, &mut out), Ok(out.len()));
        assert_eq!(out, data);
    }

    #[test]
    fn single_copy_writes_several_pieces() {
        let data: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        let pieces: Vec<&[u8]> = data.chunks(300).collect();
        assert!(pieces.len() > RANGES);
        let mut out = vec![0u8; data.len()];
        let into = out.as_mut_ptr() as u64;
        assert_eq!(write(std::process::id(), Gather::new(&pieces), into), Ok(()));
        assert_eq!(out, data);
        assert_eq!(write(std::process::id(), Gather::new(&pieces), 8), Err(PullRefused::NotPermitted));
    }

    #[test]
    fn single_copy_handles_more_ranges_than_kernel_limit() {
        let data: Vec<u8> = (0..90_000u32).map(|i| (i % 251) as u8).collect();
        // Ranges of 0 to 96 bytes there, of 0 to 30 here.
        let mut from = Vec::new();
        let mut at = 0;
        while at < data.len() {
            let length = (from.len() * 7 % 97).min(data.len() - at);
            from.push(RemoteMemory { address: data[at..].as_ptr() as u64, length });
            at += length;
        }
        let mut out = vec![0; data.len()];
        let (mut into, mut rest) = (Vec::new(), &mut out[..]);
        while !rest.is_empty() {
            let length = (into.len() * 11 % 31).min(rest.len());
            let (room, behind) = rest.split_at_mut(length);
            into.push(IoSliceMut::new(room));
            rest = behind;
        }
        assert!(from.len() > RANGES && into.len() > RANGES);
        assert_eq!(read(std::process::id(), &from, &mut into), Ok(data.len()));
        assert_eq!(out, data);
    }

    #[test]
    fn copy_ends_with_shorter_side() {
        let data = [5u8; 100];
        let (mut short, mut long) = ([0u8; 40], [0u8; 200]);
        let place = RemoteMemory { address: data.as_ptr() as u64, length: 100 };
        let own = std::process::id();
        assert_eq!(read(own, &[place], &mut [IoSliceMut::new(&mut short)]), Ok(40));
        assert_eq!(read(own, &[place], &mut [IoSliceMut::new(&mut long)]), Ok(100));
        assert_eq!(read(own, &[], &mut [IoSliceMut::new(&mut long)]), Ok(0));
        assert_eq!((short, &long[..100], &long[100..]), ([5; 40], &data[..], &[0; 100][..]));
    }

    #[test]
    fn single_copy_distinguishes_gone_from_forbidden() {
        let mut out = [0u8; 8];
        assert_eq!(
            read_one(std::process::id(), 8, &mut out),
            Err(PullRefused::NotPermitted),
            "an address of nobody"
        );
        assert_eq!(read_one(0x7fff_fff0, 8, &mut out), Err(PullRefused::Gone), "a process that never was");
    }
}
