//! Incoming messages: each goes to the file of its topic. Accesses and testimonies for the search of races come in here too.

use crate::message::{FurtherDiffs, FurtherPage, Message};
use crate::pages::memory::{Access, Memory};
use crate::races::{Race, Report, Site};
use crate::setup::{Fault, Progress};
use crate::stamp::Stamp;
use crate::state::Node;
use crate::state::habits::Leave;
use crate::state::work::Work;

impl Node {
    /// The program's present access to a page.
    pub fn access(&self, number: u32) -> Access {
        match self.view_of(number) {
            Some(view) => self.access_in_view(view, number),
            None => self.pages.get(&number).map_or(self.untouched(), |page| page.access),
        }
    }

    /// A message of another node has come.
    pub fn receive(&mut self, from: usize, bytes: &[u8], memory: &mut impl Memory) -> Result<(), Fault> {
        let message = Message::decode(bytes, self.setup.replicas);
        let message = message.filter(|_| from < self.setup.nodes && from != self.own);
        let (era, message) = message.ok_or(Fault::Malformed(from))?;
        self.hear(from, era, message, memory)?;
        self.settle(memory).map(drop)
    }

    pub(crate) fn take_in(
        &mut self,
        from: usize,
        message: Message,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let sound = |stamp: &Stamp| {
            if stamp.len() == self.setup.nodes { Ok(()) } else { Err(Fault::Malformed(from)) }
        };
        match message {
            Message::Acquire { lock, asks } => {
                sound(&asks.stamp)?;
                self.asked_for_lock(from, lock, asks)
            }
            Message::Forward { lock, to, asks } => {
                sound(&asks.stamp)?;
                self.next_for_lock(from, lock, (to as usize, asks), memory)
            }
            Message::Arrive { barrier, stamp, intervals, full, pushes, witnessed } => {
                self.arrived(from, (barrier, stamp, full, pushes, witnessed), intervals, memory)
            }
            Message::Collected => self.collected(from),
            Message::ViewWanted { view, version, writes } => {
                self.wanted_view(from, (view, version, writes), memory)
            }
            Message::ViewDone { view, writes, diffs } => {
                self.done_with_view(from, (view, writes, diffs), memory)
            }
            Message::ViewGrant { view, version, diffs } => {
                self.got_view(from, (view, version, diffs), memory)
            }
            Message::PageWanted { page, .. } | Message::Flush { page, .. } if self.may_become_home(page) => {
                self.meeting.early.push((from, message));
                Ok(())
            }
            Message::PageWanted { page, needs, further } => {
                self.asked_for_page(from, (page, needs), further, memory)
            }
            Message::DiffsWanted { page, alone, passed, has, wanted, further } => {
                let asked = FurtherDiffs { page, has, wanted };
                self.asked_for_diffs(from, (alone, passed), asked, further, memory)
            }
            Message::Flush { page, interval, diff } => self.flushed(from, page, (interval, diff), memory),
            Message::Page { page, has, data, further } => {
                self.got_page(from, FurtherPage { page, has, data }, further, memory)
            }
            Message::Diffs { page, orderly, records, missing, further } => {
                self.got_diffs(from, page, orderly, (records, missing, further), memory)
            }
            Message::Push { epoch, pages } => self.pushed(from, (epoch, pages), memory),
            Message::Stop { pages } => {
                self.stop(from, pages);
                Ok(())
            }
            Message::Grant { lock, intervals, clock, fulfilled } => {
                let is_sound = clock.iter().all(|clock| sound(&clock.stamp).is_ok());
                if !is_sound || !self.are_sound_with_lock(&fulfilled) || !self.wanted.contains(&lock) {
                    return Err(Fault::Malformed(from));
                }
                self.learn(from, intervals, memory)?;
                self.put_with_lock((from, lock), fulfilled, memory)?;
                self.wanted.remove(&lock);
                self.granted(lock, clock);
                Ok(())
            }
            Message::Replica { whole, fresh, last, pages } => {
                self.replica(from, (whole, fresh, last), pages, memory)
            }
            Message::Kept { whole } => self.kept(from, whole, memory),
            Message::KeptWanted { page } => self.asked_for_kept(from, page, memory),
            Message::KeptPage { page, data } => self.got_kept(from, page, &data, memory),
            Message::Whole { whole } => self.is_whole(from, whole, memory),
            Message::Regroup { dead, whole, waits } => self.regrouped(from, &dead, (whole, waits), memory),
            Message::Pass { dead, whole } => self.pass(from, dead as usize, whole, memory),
            Message::Restore { dead, whole, regions } => self.restore(from, &dead, whole, regions, memory),
            Message::Leave { intervals, collect, pushes, moves, carried } => match self.work {
                Some(Work::Barrier) => {
                    self.leave(Leave { from, intervals, collect, pushes, moves, carried }, memory)
                }
                _ => Err(Fault::Malformed(from)),
            },
            Message::Clean => match self.work {
                Some(Work::Clean) => {
                    self.throw_away(memory);
                    self.work = None;
                    Ok(())
                }
                _ => Err(Fault::Malformed(from)),
            },
        }
    }

    /// The program accesses these bytes of the memory. The race detector must call this for every access.
    pub fn touches(&mut self, byte: u64, length: u64, writes: bool, site: &Site) {
        // An access to a view that is not acquired is an error anyway.
        let page = (byte / self.setup.page_bytes as u64) as u32;
        if self.view_of(page).is_none()
            && let Some(witness) = &mut self.witness
        {
            witness.touches(byte, length, writes, site);
        }
    }

    /// At node 0: races found since this was last asked. Each pair of places in the program is reported once.
    pub fn races(&mut self) -> Vec<Race> {
        self.finder.take()
    }

    /// At node 0: how many pairs of places race, and how often that was seen.
    pub fn race_totals(&self) -> (u64, u64) {
        self.finder.totals()
    }

    /// Handles the messages of the node to itself.
    pub(crate) fn settle(&mut self, memory: &mut impl Memory) -> Result<Progress, Fault> {
        while let Some(message) = self.inbox.pop_front() {
            self.take_in(self.own, message, memory)?;
        }
        Ok(if self.is_waiting() { Progress::Wait } else { Progress::Done })
    }

    /// The accesses since the last barrier, for [`Node::hear`] of node 0 at the end of the run.
    pub fn testify(&mut self) -> Vec<u8> {
        let report = self.witness.as_mut().map(|witness| witness.report()).unwrap_or_default();
        postcard::to_stdvec(&report).expect("memory can be written to")
    }

    /// At node 0: the final report of a node. When all have, it is compared.
    pub fn on_testimony(&mut self, from: usize, bytes: &[u8]) -> Result<(), Fault> {
        let wrong = Fault::Malformed(from);
        let (report, rest): (Report, &[u8]) = postcard::take_from_bytes(bytes).map_err(|_| wrong)?;
        let nodes = self.setup.nodes;
        self.finder.ending.resize_with(nodes, || None);
        if !rest.is_empty() || from >= nodes || self.finder.ending[from].replace(report).is_some() {
            return Err(wrong);
        }
        if self.finder.ending.iter().any(Option::is_none) {
            return Ok(());
        }
        let reports = self.finder.ending.drain(..).flatten().collect();
        let words = self.words();
        if self.finder.compare(reports, None, words) { Ok(()) } else { Err(wrong) }
    }
}
