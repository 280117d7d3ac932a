//! The link over a segment.

use crate::arena::{self, Lender, Reader};
use crate::ring::{Consumer, Producer};
use crate::segment::{Direction, Segment, SingleCopy};
use crate::single_copy;
use parvum_page::{Bell, TaskPage};
use parvum_transport::{
    Gather, Kept, Limits, Link, Loan, Needs, Place, PullRefused, Refused, Route, Sink, Transport,
};
use parvum_wire::Header;
use rustix::fd::OwnedFd;
use std::io::IoSliceMut;
use std::sync::Arc;

/// How to wake the peer.
pub struct Peer {
    /// Its page.
    pub page: Arc<TaskPage>,
    /// What wakes it where it sleeps in poll(2).
    pub bell: PeerBell,
}

/// What wakes a peer that sleeps in poll(2).
pub enum PeerBell {
    /// Its eventfd.
    Event(OwnedFd),
    /// Somebody else, who is called so: this process has no descriptor for it.
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

/// Messages up to this length go through the ring. Longer ones are worth the
/// system call of a single copy.
const EAGER: usize = 16 << 10;

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
    producer: Producer,
    consumer: Consumer,
    peer: Peer,
    /// Whether single copies may be tried at all.
    single_copy: bool,
    /// The arenas, once they were needed: ours, theirs.
    lender: Option<Lender>,
    reader: Option<Reader>,
}

impl ShmLink {
    /// A link over `segment` to that task.
    pub fn new(segment: Segment, peer: Peer, single_copy: bool) -> ShmLink {
        segment.try_single_copy(single_copy);
        let (producer, consumer) = Default::default();
        ShmLink { segment, producer, consumer, peer, single_copy, lender: None, reader: None }
    }

    /// Goes on without a descriptor, for this process may have no more: the peer is woken by `call`, and what is mapped
    /// later else is mapped now. This end lends no memory then.
    pub fn keep_no_descriptors(&mut self, call: Arc<dyn Fn() + Send + Sync>) {
        self.arena();
        self.segment.close_file();
        self.peer.bell = PeerBell::Called(call);
    }

    /// The peer's arena, mapped when it is first needed.
    fn arena(&mut self) -> Option<&Reader> {
        if self.reader.is_none() {
            self.reader = self.segment.reader().ok();
        }
        self.reader.as_ref()
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
        self.peer.page.announce(|| self.segment.peer_place(), &self.peer.bell);
        Ok(())
    }

    #[inline]
    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        let ring = self.segment.incoming();
        let taken = self.consumer.receive(ring, most, sink)?;
        if taken > 0 && ring.relieve() {
            self.peer.page.ring(&self.peer.bell);
        }
        Ok(taken)
    }

    #[inline]
    fn is_attended(&self) -> bool {
        self.peer.page.is_attended()
    }

    fn summon(&self) {
        self.peer.page.summon(&self.peer.bell);
    }

    fn notify(&self) -> bool {
        self.peer.page.notify();
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

    fn pull(&mut self, from: &[Place], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
        if let [Place { address, length }] = *from
            && arena::is_here(address)
        {
            return self.arena().ok_or(PullRefused::NotPermitted)?.scatter(address, length, into);
        }
        match (self.segment.try_single_copy(self.single_copy), self.segment.peer_pid()) {
            (SingleCopy::Works, Some(pid)) => single_copy::read(pid, from, into),
            _ => Err(PullRefused::NotPermitted),
        }
    }

    fn show(&mut self, from: Place, take: &mut dyn FnMut(&[u8])) -> Result<usize, PullRefused> {
        if arena::is_here(from.address) {
            return self.arena().ok_or(PullRefused::NotPermitted)?.show(from.address, from.length, take);
        }
        parvum_transport::show_by_portions(self, from, take)
    }

    fn can_pull(&self, address: u64) -> bool {
        !arena::is_here(address) && self.segment.try_single_copy(self.single_copy) == SingleCopy::Works
    }

    fn lends(&self, address: u64) -> bool {
        arena::is_here(address) && self.reader.is_some()
    }

    fn kept(&mut self, address: u64, length: usize) -> Option<Arc<dyn Kept>> {
        if !arena::is_here(address) {
            return None;
        }
        self.arena()?.kept(address, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_transport::conformance::{self, Pair};
    use rustix::event::{EventfdFlags, eventfd};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn peer() -> Peer {
        let (page, _file) = TaskPage::create().expect("a page");
        let event = eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd");
        Peer { page: Arc::new(page), bell: PeerBell::Event(event) }
    }

    fn pair() -> (ShmLink, ShmLink) {
        let (made, file) = Segment::create().expect("memory");
        let opened = Segment::open(file).expect("a segment");
        (ShmLink::new(made, peer(), true), ShmLink::new(opened, peer(), true))
    }

    #[test]
    fn keeps_the_contract() {
        conformance::run(&TRANSPORT, || {
            let (left, right) = pair();
            Pair { left: Box::new(left), right: Box::new(right), keep: Box::new(()) }
        });
    }

    #[test]
    fn keeps_the_contract_without_descriptors() {
        conformance::run(&TRANSPORT, || {
            let (left, mut right) = pair();
            right.keep_no_descriptors(Arc::new(|| ()));
            Pair { left: Box::new(left), right: Box::new(right), keep: Box::new(()) }
        });
    }

    #[test]
    fn a_peer_that_sleeps_in_poll_is_woken_by_a_call_where_there_is_no_descriptor() {
        let (page, _file) = TaskPage::create().expect("a page");
        let page = Arc::new(page);
        let (made, file) = Segment::create().expect("memory");
        let other = Segment::open(file).expect("a segment");
        let bell = PeerBell::Event(eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd"));
        let mut link = ShmLink::new(made, Peer { page: page.clone(), bell }, true);
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        // Relaxed: one thread.
        link.keep_no_descriptors(Arc::new(move || _ = count.fetch_add(1, Ordering::Relaxed)));
        page.fall_asleep_in_poll();
        let header = Header::answer(parvum_wire::Kind::Credit, 0, 1);
        link.send(&header, Gather::new(&[])).expect("room");
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert_eq!(Consumer::default().receive(other.incoming(), 9, &mut |_: &Header, _: &[u8]| {}), Ok(1));
    }

    #[test]
    fn keeps_the_contract_between_threads() {
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
    fn a_pull_reads_the_other_end() {
        let (_left, mut right) = pair();
        let data = vec![5u8; 100_000];
        let mut out = vec![0u8; 100_000];
        let place = Place { address: data.as_ptr() as u64, length: data.len() };
        assert_eq!(right.pull(&[place], &mut [IoSliceMut::new(&mut out)]), Ok(data.len()));
        assert_eq!(out, data);
    }
}
