//! The link over a segment.

use crate::arena::{self, Lender};
use crate::pulls::Pulls;
use crate::ring::{Consumer, Producer};
use crate::segment::{Direction, Segment, SingleCopy};
use crate::share::Taken;
use crate::single_copy;
use parvum_control::{Bell, ControlBlock};
use parvum_transport::{
    Gather, Kept, Limits, Link, Loan, Needs, PullRefused, Puller, Refused, RemoteMemory, Route, Sink,
    Transport,
};
use parvum_wire::{EAGER, Header};
use rustix::fd::OwnedFd;
use std::io::IoSliceMut;
use std::sync::Arc;

/// How to wake the peer.
pub struct Peer {
    /// Its control block.
    pub control_block: Arc<ControlBlock>,
    /// The bell that wakes the peer in poll(2).
    pub bell: PeerBell,
}

/// The bell that wakes a peer in poll(2).
pub enum PeerBell {
    /// Its eventfd.
    Event(OwnedFd),
    /// Another waker, by this call: this process has no descriptor for the bell.
    Called(Arc<dyn Fn() + Send + Sync>),
}

impl Bell for &PeerBell {
    fn ring(&self) {
        match self {
            PeerBell::Event(event) => event.ring(),
            PeerBell::Called(call) => call(),
        }
    }
}

/// The transport.
pub const TRANSPORT: Transport = Transport {
    route: Route::new(1),
    name: "shm",
    limits: Limits { frame: Direction::FRAME, eager: EAGER, single_copy: true, buffered: false },
    needs: Needs { one_host: true, daemons: false },
};

/// One end of a pair's shared memory.
pub struct ShmLink {
    segment: Segment,
    pulls: Arc<Pulls>,
    producer: Producer,
    consumer: Consumer,
    peer: Peer,
    /// Whether single copies may be tried at all.
    single_copy: bool,
    /// This end's arena, after its first use.
    lender: Option<Lender>,
    /// A part of a copy of the peer's, which this end is about to write.
    part: Option<Taken>,
    /// Whether this end may write to the peer's memory, as far as it knows.
    helps: bool,
}

impl ShmLink {
    /// A link over `segment` to that task.
    pub fn new(segment: Segment, peer: Peer, single_copy: bool) -> ShmLink {
        let pulls = Arc::new(Pulls::new(segment.clone(), single_copy));
        let (producer, consumer) = Default::default();
        let (lender, part, helps) = (None, None, single_copy);
        ShmLink { segment, pulls, producer, consumer, peer, single_copy, lender, part, helps }
    }

    /// Continues without a descriptor, because this process is at its limit. `call` wakes the peer, and the link now
    /// maps everything that it would otherwise map later. This end lends no memory then.
    pub fn keep_no_descriptors(&mut self, call: Arc<dyn Fn() + Send + Sync>) {
        self.pulls.arena();
        self.segment.close_file();
        self.peer.bell = PeerBell::Called(call);
    }
}

impl Link for ShmLink {
    fn limits(&self) -> Limits {
        // The peer pulls what we offer, so its permission counts; untried is worth a try.
        let single_copy = self.single_copy && self.segment.peer_single_copy() != SingleCopy::Refused;
        Limits { single_copy, ..TRANSPORT.limits }
    }

    #[inline]
    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        self.producer.send(self.segment.outgoing(), header, payload)?;
        self.peer.control_block.announce(|| self.segment.peer_place(), &self.peer.bell);
        Ok(())
    }

    #[inline]
    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        let ring = self.segment.incoming();
        let taken = self.consumer.receive(ring, most, sink)?;
        if taken > 0 && ring.relieve() {
            self.peer.control_block.ring(&self.peer.bell);
        }
        Ok(taken)
    }

    #[inline]
    fn is_attended(&self) -> bool {
        self.peer.control_block.is_attended()
    }

    fn summon(&self) {
        self.peer.control_block.summon(&self.peer.bell);
    }

    fn notify(&self) -> bool {
        self.peer.control_block.notify();
        true
    }

    #[inline]
    fn await_message(&mut self, word: u64) {
        self.segment.set_awaited(word);
    }

    #[inline]
    fn awaited(&self) -> u64 {
        self.segment.peer_awaits()
    }

    fn want_message(&mut self, word: u64) {
        self.segment.set_wanted(word);
    }

    fn wanted(&self) -> u64 {
        self.segment.peer_wants()
    }

    fn lend(&mut self, length: usize) -> Option<Arc<dyn Loan>> {
        if self.lender.is_none() {
            self.lender = self.segment.lender().ok();
        }
        self.lender.as_ref()?.lend(length)
    }

    fn lent(&self) -> usize {
        self.lender.as_ref().map_or(0, Lender::lent)
    }

    fn set_place(&mut self, place: u32) -> bool {
        self.segment.set_place(place);
        true
    }

    fn rest(&mut self) {
        if let Some(lender) = &self.lender {
            lender.rest();
        }
        self.segment.rest(&mut self.producer);
    }

    fn pull(&mut self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
        self.pulls.pull(from, into)
    }

    fn pull_together(
        &mut self,
        cookie: u64,
        at: u64,
        from: &[RemoteMemory],
        into: &mut [u8],
    ) -> Result<(), PullRefused> {
        self.pulls.pull_together(cookie, at, from, into)
    }

    fn puller(&mut self) -> Option<Arc<dyn Puller>> {
        Some(self.pulls.clone())
    }

    fn part_to_put(&mut self, cookie: u64) -> Option<(u64, usize)> {
        if !self.helps || self.part.is_some() {
            return None;
        }
        let taken = self.segment.peer_share().take_last(cookie)?;
        self.part = Some(taken);
        let (from, to) = taken.piece;
        Some((taken.what.from.wrapping_add(from), to.saturating_sub(from) as usize))
    }

    fn put_part(&mut self, part: Option<Gather<'_>>) {
        let Some(taken) = self.part.take() else { return };
        let into = taken.what.into.wrapping_add(taken.piece.0);
        let length = taken.piece.1.saturating_sub(taken.piece.0);
        let is_whole = |part: &Gather<'_>| part.len() as u64 == length;
        let is_written = match (part.filter(is_whole), self.segment.peer_pid()) {
            (Some(part), Some(pid)) => single_copy::write(pid, part, into).is_ok(),
            _ => false,
        };
        self.helps &= is_written;
        self.segment.peer_share().written(&taken, is_written);
    }

    fn show(&mut self, from: RemoteMemory, take: &mut dyn FnMut(&[u8])) -> Result<usize, PullRefused> {
        self.pulls.show(from, take)
    }

    fn can_pull(&self, address: u64) -> bool {
        self.pulls.can_pull(address)
    }

    fn lends(&self, address: u64) -> bool {
        arena::is_here(address) && self.pulls.has_arena()
    }

    fn kept(&mut self, address: u64, length: usize) -> Option<Arc<dyn Kept>> {
        if !arena::is_here(address) {
            return None;
        }
        self.pulls.kept(address, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_transport::conformance::{self, Pair};
    use rustix::event::{EventfdFlags, eventfd};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn peer() -> Peer {
        let (control_block, _file) = ControlBlock::create().expect("a page");
        let event = eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd");
        Peer { control_block: Arc::new(control_block), bell: PeerBell::Event(event) }
    }

    fn pair() -> (ShmLink, ShmLink) {
        let (made, file) = Segment::create().expect("memory");
        let opened = Segment::open(file).expect("a segment");
        (ShmLink::new(made, peer(), true), ShmLink::new(opened, peer(), true))
    }

    #[test]
    fn shm_transport_passes_conformance() {
        conformance::run(&TRANSPORT, || {
            let (left, right) = pair();
            Pair { left: Box::new(left), right: Box::new(right), keep: Box::new(()) }
        });
    }

    #[test]
    fn shm_transport_without_descriptors_passes_conformance() {
        conformance::run(&TRANSPORT, || {
            let (left, mut right) = pair();
            right.keep_no_descriptors(Arc::new(|| ()));
            Pair { left: Box::new(left), right: Box::new(right), keep: Box::new(()) }
        });
    }

    #[test]
    fn peer_sleeping_in_poll_wakes_without_descriptor() {
        let (control_block, _file) = ControlBlock::create().expect("a page");
        let control_block = Arc::new(control_block);
        let (made, file) = Segment::create().expect("memory");
        let other = Segment::open(file).expect("a segment");
        let bell = PeerBell::Event(eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd"));
        let mut link = ShmLink::new(made, Peer { control_block: control_block.clone(), bell }, true);
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        // Relaxed: one thread.
        link.keep_no_descriptors(Arc::new(move || _ = count.fetch_add(1, Ordering::Relaxed)));
        control_block.fall_asleep_in_poll();
        let header = Header::answer(parvum_wire::Kind::Credit, 0, 1);
        link.send(&header, Gather::new(&[])).expect("room");
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert_eq!(Consumer::default().receive(other.incoming(), 9, &mut |_: &Header, _: &[u8]| {}), Ok(1));
    }

    #[test]
    fn shm_transport_between_threads_passes_conformance() {
        let (mut left, mut right) = pair();
        let data: Vec<u8> = (0..5000u32).map(|i| i as u8).collect();
        let frames = 20_000u32;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for order in 0..frames {
                    let length = (order as usize * 37) % data.len();
                    let header = Header::answer(parvum_wire::Kind::Credit, length as u64, order);
                    while left.send(&header, Gather::new(&[&data[..length]])).is_err() {
                        std::thread::yield_now();
                    }
                }
            });
            let mut next = 0u32;
            while next < frames {
                let got = right.receive(8, &mut |header: &Header, payload: &[u8]| {
                    assert_eq!(header.order, next);
                    assert_eq!(payload, &data[..header.length as usize]);
                    next += 1;
                });
                if got == Ok(0) {
                    std::thread::yield_now();
                }
            }
        });
    }

    #[test]
    fn pull_reads_memory_of_other_end() {
        let (_left, mut right) = pair();
        let data = vec![5u8; 100_000];
        let mut out = vec![0u8; 100_000];
        let place = RemoteMemory { address: data.as_ptr() as u64, length: data.len() };
        assert_eq!(right.pull(&[place], &mut [IoSliceMut::new(&mut out)]), Ok(data.len()));
        assert_eq!(out, data);
    }

    /// Data in three places, its bytes one behind the other, and where it lies.
    fn three_places() -> (Vec<Vec<u8>>, Vec<u8>, Vec<RemoteMemory>) {
        let part =
            |from: u32, length: u32| (from..from + length).map(|i| (i % 251) as u8).collect::<Vec<u8>>();
        let parts = vec![part(0, 1_000_003), part(7, 400_000), part(9, 2_000_001)];
        let places = parts
            .iter()
            .map(|part| RemoteMemory { address: part.as_ptr() as u64, length: part.len() })
            .collect();
        let whole = parts.concat();
        (parts, whole, places)
    }

    #[test]
    fn pull_is_shared_by_both_ends() {
        let (mut sender, mut receiver) = pair();
        let (parts, whole, places) = three_places();
        let pieces: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let (over, put) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while over.load(Ordering::Relaxed) == 0 {
                    assert_eq!(sender.part_to_put(8), None, "another offer");
                    if let Some((from, length)) = sender.part_to_put(7) {
                        sender.put_part(Some(Gather::new(&pieces).part(from as usize, length)));
                        put.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
            // Until the other has helped at least once.
            while put.load(Ordering::Relaxed) == 0 {
                let mut out = vec![0u8; whole.len()];
                receiver.pull_together(7, 0, &places, &mut out).expect("permitted");
                assert!(out == whole);
            }
            // From the middle on.
            let mut out = vec![0u8; 400_000];
            let middle = [places[1]];
            receiver.pull_together(7, 1_000_003, &middle, &mut out).expect("permitted");
            assert_eq!(out, parts[1]);
            over.store(1, Ordering::Relaxed);
        });
    }

    #[test]
    fn pull_copies_what_other_end_cannot_put() {
        let (mut sender, mut receiver) = pair();
        let (_parts, whole, places) = three_places();
        let (over, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while over.load(Ordering::Relaxed) == 0 {
                    if sender.part_to_put(7).is_some() {
                        sender.put_part(None);
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
            while failed.load(Ordering::Relaxed) == 0 {
                let mut out = vec![0u8; whole.len()];
                receiver.pull_together(7, 0, &places, &mut out).expect("permitted");
                assert!(out == whole);
            }
            over.store(1, Ordering::Relaxed);
        });
        assert_eq!(failed.load(Ordering::Relaxed), 1, "it does not try again");
    }
}
