//! One node: what it is made of, and where calls and messages come in.

use crate::locks::managers::Lock;
use crate::locks::views::View;
use crate::locks::wishes::Wishes;
use crate::message::{Interval, Message};
use crate::node::barrier::SegmentBarrier;
use crate::node::counts::Counts;
use crate::node::miss::Miss;
use crate::node::pushing::{Habits, Leave};
use crate::node::replicas::Replicas;
use crate::pages::memory::{Access, Memory};
use crate::pages::moving::Gone;
use crate::pages::page::Page;
use crate::races::{Finder, Race, Report, Site, Witness};
use crate::stamp::Stamp;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Who has a copy of a page that nobody has written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Everybody: memory begins as zeros.
    Everybody,
    /// Node 0, from which the others fetch it, as TreadMarks did.
    First,
}

/// Which pages have a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Homes {
    /// Those of regions alone ([`Node::give_home`]).
    None,
    /// All others too, in turn.
    InTurn,
}

/// What all nodes must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many nodes there are.
    pub nodes: usize,
    /// Bytes of a page: a multiple of a word, at most 65536 words.
    pub page_bytes: usize,
    /// How many pages there are.
    pub pages: u32,
    /// Locks are numbered below this.
    pub locks: u32,
    /// Barriers too.
    pub barriers: u32,
    /// And views.
    pub views: u32,
    /// Who begins with copies.
    pub start: Start,
    /// Which pages have homes.
    pub homes: Homes,
    /// Homes move to who alone writes to a page. Not with replicas.
    pub move_homes: bool,
    /// An answer has all diffs of a page as one.
    pub fold: bool,
    /// More bytes of twins and records than these are thrown away at the next barrier.
    pub room: u64,
    /// After so many times in a row that a page was asked for its changes are sent unasked, if at all.
    pub push: Option<u32>,
    /// Accesses are told ([`Node::touches`]) and compared.
    pub races: bool,
    /// The pages of a node are kept by the next, and deaths are told ([`Node::gone`]). Every page has a home then, everybody
    /// begins with copies, and nothing is pushed or looked for races in.
    pub replicas: bool,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is over.
    Done,
    /// It waits for answers: until [`Node::is_waiting`] says no more.
    Wait,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Fault {
    #[error("there is no lock {0}")]
    NoSuchLock(u32),
    #[error("there is no barrier {0}")]
    NoSuchBarrier(u32),
    #[error("there is no page {0}")]
    NoSuchPage(u32),
    #[error("there is no view {0}, or there is one already")]
    NoSuchView(u32),
    #[error("view {0} is held already by who wants it")]
    ViewHeldAlready(u32),
    #[error("view {0} is not held by who touches or releases it, or not so")]
    ViewNotHeld(u32),
    #[error("view {0} is held to be read by who writes to it")]
    ViewReadOnly(u32),
    #[error("lock {0} is held already by who wants it")]
    HeldAlready(u32),
    #[error("lock {0} is not held by who releases it")]
    NotHeld(u32),
    #[error("node {} is at barrier {}, and node {} at barrier {}", nodes.0, at.0, nodes.1, at.1)]
    DifferentBarriers { nodes: (usize, usize), at: (u32, u32) },
    #[error("another call of the node is under way")]
    Busy,
    #[error("node {0} sent what this program cannot read")]
    Malformed(usize),
    #[error("views are not kept by other nodes")]
    ViewsAreNotKept,
    #[error("node {node} has died, and node {keeper}, which kept its pages, has too")]
    Unkept { node: usize, keeper: usize },
    #[error("pages have a home from before anybody touches them, or not at all")]
    TouchedAlready,
}

impl Fault {
    /// For the task of a node whose call it was, in another process.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("memory can be written to")
    }

    /// What was encoded so.
    pub fn decode(bytes: &[u8]) -> Option<Fault> {
        postcard::from_bytes(bytes).ok()
    }
}

/// A message to another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// To whom.
    pub to: usize,
    /// Whether that node's program waits for it. Otherwise it is to be taken in at any time; of one node to another such
    /// letters must keep their order.
    pub answer: bool,
    /// For [`Node::receive`].
    pub bytes: Vec<u8>,
}

/// What the program waits for.
pub(crate) enum Work {
    Barrier,
    Miss(Miss),
    /// After a barrier: these pages are still to be brought up to date.
    Collect(Vec<u32>),
    /// That everybody has.
    Clean,
    /// A page that will be put back anyway.
    Stranded(u32, Access),
}

/// One node.
pub struct Node {
    pub(crate) setup: Setup,
    pub(crate) own: usize,
    /// What it knows.
    pub(crate) stamp: Stamp,
    /// Of each node the intervals known that were not thrown away, in a row.
    pub(crate) intervals: Vec<VecDeque<Arc<Interval>>>,
    /// The intervals up to these were thrown away, at all nodes.
    pub(crate) thrown: Stamp,
    pub(crate) pages: FxHashMap<u32, Page>,
    /// Pages written to in the open interval.
    pub(crate) dirty: Vec<u32>,
    /// Those of them that were opened before anybody touched them.
    pub(crate) ahead: Vec<u32>,
    /// The own intervals up to this one were told at a barrier.
    pub(crate) told: u32,
    pub(crate) locks: FxHashMap<u32, Lock>,
    pub(crate) views: FxHashMap<u32, View>,
    /// Views that others may have now: who, which, and the version there.
    pub(crate) grants: Vec<(usize, u32, u32)>,
    pub(crate) habits: Habits,
    pub(crate) wishes: Wishes,
    pub(crate) meeting: SegmentBarrier,
    pub(crate) gone_homes: Gone,
    pub(crate) work: Option<Work>,
    /// Locks that are asked for. One at a time, unless several tasks share the node.
    pub(crate) wanted: BTreeSet<u32>,
    /// Views, to write or to read, likewise.
    pub(crate) views_wanted: BTreeMap<u32, bool>,
    /// Regions whose pages have homes: first page, and how many.
    pub(crate) regions: Vec<(u32, u32)>,
    /// All nodes, but those that died and were recovered from.
    pub(crate) living: Vec<usize>,
    /// When pages are kept twice.
    pub(crate) replicas: Option<Box<Replicas>>,
    outbox: Vec<Letter>,
    /// What it says to itself.
    inbox: VecDeque<Message>,
    pub(crate) counts: Counts,
    /// When races are looked for.
    pub(crate) witness: Option<Box<Witness>>,
    pub(crate) finder: Finder,
}

impl Node {
    /// Node number `own`.
    ///
    /// # Panics
    /// When the setup makes no sense.
    pub fn new(setup: Setup, own: usize) -> Node {
        let bytes = setup.page_bytes;
        let fits = setup.homes == Homes::InTurn
            && setup.start == Start::Everybody
            && setup.push.is_none()
            && !setup.move_homes;
        assert!(!setup.replicas || fits && !setup.races);
        assert!(own < setup.nodes && bytes.is_multiple_of(crate::WORD) && bytes / crate::WORD <= 1 << 16);
        Node {
            setup,
            own,
            stamp: Stamp::new(setup.nodes),
            intervals: vec![VecDeque::new(); setup.nodes],
            thrown: Stamp::new(setup.nodes),
            pages: FxHashMap::default(),
            dirty: Vec::new(),
            ahead: Vec::new(),
            told: 0,
            locks: FxHashMap::default(),
            views: FxHashMap::default(),
            grants: Vec::new(),
            habits: Habits::default(),
            wishes: Wishes::default(),
            meeting: SegmentBarrier::default(),
            gone_homes: Gone::default(),
            work: None,
            wanted: BTreeSet::new(),
            views_wanted: BTreeMap::new(),
            regions: Vec::new(),
            living: (0..setup.nodes).collect(),
            replicas: setup.replicas.then(|| Box::new(Replicas::new(setup.nodes))),
            outbox: Vec::new(),
            inbox: VecDeque::new(),
            counts: Counts::default(),
            witness: setup.races.then(|| Box::new(Witness::new(setup.nodes, own))),
            finder: Finder::default(),
        }
    }

    /// What the program may do to a page that nobody has touched yet.
    pub fn untouched(&self) -> Access {
        let has_copy = self.setup.start == Start::Everybody || self.own == 0;
        if has_copy { Access::Read } else { Access::None }
    }

    /// What the program may do to a page now.
    pub fn access(&self, number: u32) -> Access {
        match self.view_of(number) {
            Some(view) => self.access_in_view(view, number),
            None => self.pages.get(&number).map_or(self.untouched(), |page| page.access),
        }
    }

    /// Gives pages a home: the first of them to the first node, and so on. All nodes are told, before any of them touches one.
    pub fn give_home(&mut self, first: u32, count: u32) -> Result<(), Fault> {
        let end = first.checked_add(count).filter(|&end| end <= self.setup.pages);
        let end = end.ok_or(Fault::NoSuchPage(self.setup.pages))?;
        if self.pages.keys().any(|page| (first..end).contains(page)) {
            return Err(Fault::TouchedAlready);
        }
        self.regions.push((first, count));
        Ok(())
    }

    pub(crate) fn home(&self, number: u32) -> Option<usize> {
        let first = self.first_home(number)?;
        Some(self.replicas.as_ref().map_or(first, |replicas| replicas.heirs_now[first]))
    }

    /// The same, in the beginning.
    pub(crate) fn first_home(&self, number: u32) -> Option<usize> {
        let nodes = self.setup.nodes;
        let region =
            self.regions.iter().rev().find(|(first, count)| (*first..first + count).contains(&number));
        match region {
            // Neighbours have one home, as they mostly have one writer.
            Some(&(first, count)) => {
                Some(((u64::from(number - first) * nodes as u64) / u64::from(count)) as usize)
            }
            None if self.setup.homes == Homes::InTurn => Some(number as usize % nodes),
            None => None,
        }
    }

    /// What is known of a page; begins to know it.
    pub(crate) fn page(&mut self, number: u32) -> &mut Page {
        if !self.pages.contains_key(&number) {
            let copy = self.untouched() == Access::Read;
            let home = self.home(number);
            let mut page = Page::new(self.setup.nodes, copy, home);
            if home == Some(self.own) && !copy {
                // The home has its pages from the beginning, and opens them at the first touch.
                page.copy = true;
            }
            self.pages.insert(number, page);
        }
        self.pages.get_mut(&number).expect("it was put there")
    }

    /// Messages to others, to be sent in this order. They are taken out.
    pub fn outbox(&mut self) -> Vec<Letter> {
        std::mem::take(&mut self.outbox)
    }

    /// Whether the program's call waits for answers.
    pub fn is_waiting(&self) -> bool {
        self.work.is_some() || !self.wanted.is_empty() || !self.views_wanted.is_empty()
    }

    /// Whether a page is being fetched, or a barrier is under way.
    pub(crate) fn is_at_work(&self) -> bool {
        self.work.is_some()
    }

    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        self.counts
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
            Message::PageWanted { page, needs } => self.asked_for_page(from, page, needs, memory),
            Message::DiffsWanted { page, alone, passed, has, wanted } => {
                self.asked_for_diffs(from, page, (alone, passed), (has, wanted), memory)
            }
            Message::Flush { page, interval, diff } => self.flushed(from, page, (interval, diff), memory),
            Message::Page { page, has, data } => self.got_page(from, page, (has, data), memory),
            Message::Diffs { page, orderly, records, missing } => {
                self.got_diffs(from, page, orderly, (records, missing), memory)
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

    /// The program touches these bytes of the memory: to be told of every access when races are looked for.
    pub fn touches(&mut self, byte: u64, length: u64, writes: bool, site: &Site) {
        // Who touches a view without having acquired it is stopped anyway.
        let page = (byte / self.setup.page_bytes as u64) as u32;
        if self.view_of(page).is_none()
            && let Some(witness) = &mut self.witness
        {
            witness.touches(byte, length, writes, site);
        }
    }

    /// At node 0: races found since this was last asked. Each pair of places in the program is told once.
    pub fn races(&mut self) -> Vec<Race> {
        self.finder.take()
    }

    /// At node 0: how many pairs of places race, and how often that was seen.
    pub fn race_totals(&self) -> (u64, u64) {
        self.finder.totals()
    }

    /// How many words the memory has.
    pub(crate) fn words(&self) -> u64 {
        u64::from(self.setup.pages) * (self.setup.page_bytes / crate::WORD) as u64
    }

    /// What was touched behind the last barrier, for [`Node::hear`] of node 0 when the run ends.
    pub fn testify(&mut self) -> Vec<u8> {
        let report = self.witness.as_mut().map(|witness| witness.report()).unwrap_or_default();
        postcard::to_stdvec(&report).expect("memory can be written to")
    }

    /// At node 0: what a node has said in the end. When all have, it is compared.
    pub fn hear_testimony(&mut self, from: usize, bytes: &[u8]) -> Result<(), Fault> {
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

    /// The program calls: it may not while another call waits.
    pub(crate) fn begin(&self) -> Result<(), Fault> {
        if self.is_waiting() { Err(Fault::Busy) } else { Ok(()) }
    }

    /// Takes in what the node has said to itself.
    pub(crate) fn settle(&mut self, memory: &mut impl Memory) -> Result<Progress, Fault> {
        while let Some(message) = self.inbox.pop_front() {
            self.take_in(self.own, message, memory)?;
        }
        Ok(if self.is_waiting() { Progress::Wait } else { Progress::Done })
    }

    pub(crate) fn say(&mut self, to: usize, message: Message) {
        if to == self.own {
            return self.inbox.push_back(message);
        }
        let era = self.replicas.as_ref().map(|replicas| replicas.era);
        let (answer, bytes) = (message.is_answer(), message.encode(era));
        self.counts.messages += 1;
        self.counts.bytes += bytes.len() as u64;
        self.outbox.push(Letter { to, answer, bytes });
    }

    /// So many bytes more are held in twins and records.
    pub(crate) fn hold(&mut self, bytes: usize) {
        self.counts.held += bytes as u64;
        self.counts.most_held = self.counts.most_held.max(self.counts.held);
    }

    pub(crate) fn release_held(&mut self, bytes: usize) {
        self.counts.held -= bytes as u64;
    }
}
