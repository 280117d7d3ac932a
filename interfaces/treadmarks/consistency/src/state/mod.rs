//! The state of one node. The files of this folder hold its parts. The files above it hold calls and messages, one topic each.

pub(crate) mod barriers;
pub(crate) mod habits;
pub(crate) mod locks;
pub(crate) mod replicas;
pub(crate) mod streams;
pub(crate) mod work;

use crate::counts::Counts;
use crate::message::{Interval, Message};
use crate::node::ahead::Ahead;
use crate::pages::memory::Access;
use crate::pages::page::Page;
use crate::races::{Finder, Witness};
use crate::setup::{Fault, Homes, Letter, Setup, Start};
use crate::stamp::Stamp;
use barriers::{BarrierState, Gone};
use habits::Habits;
use locks::{Lock, View, Wishes};
use replicas::Replicas;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use streams::Streams;
use work::Work;

/// One node.
pub struct Node {
    pub(crate) setup: Setup,
    pub(crate) own: usize,
    /// What it knows.
    pub(crate) stamp: Stamp,
    /// For each node, the known intervals that were not discarded, in order.
    pub(crate) intervals: Vec<VecDeque<Arc<Interval>>>,
    /// All nodes have discarded the intervals up to these.
    pub(crate) thrown: Stamp,
    pub(crate) pages: FxHashMap<u32, Page>,
    /// Pages written to in the open interval.
    pub(crate) dirty: Vec<u32>,
    /// The pages among them that were opened before the first access.
    pub(crate) ahead: Vec<Ahead>,
    /// A barrier has announced the node's own intervals up to this one.
    pub(crate) told: u32,
    pub(crate) locks: FxHashMap<u32, Lock>,
    pub(crate) views: FxHashMap<u32, View>,
    /// The views that other nodes may have now: the node, the view, and its version there.
    pub(crate) grants: Vec<(usize, u32, u32)>,
    pub(crate) habits: Habits,
    pub(crate) wishes: Wishes,
    /// Runs of missed pages, and runs of written pages.
    pub(crate) streams: Streams,
    pub(crate) written: Streams,
    pub(crate) meeting: BarrierState,
    pub(crate) gone_homes: Gone,
    pub(crate) work: Option<Work>,
    /// Locks that are asked for. One at a time, unless several tasks share the node.
    pub(crate) wanted: BTreeSet<u32>,
    /// Views, to write or to read, likewise.
    pub(crate) views_wanted: BTreeMap<u32, bool>,
    /// Regions whose pages have homes: first page, and how many.
    pub(crate) regions: Vec<(u32, u32)>,
    /// All nodes, except dead nodes after a recovery.
    pub(crate) living: Vec<usize>,
    /// When pages are kept twice.
    pub(crate) replicas: Option<Box<Replicas>>,
    outbox: Vec<Letter>,
    /// Messages of the node to itself.
    pub(crate) inbox: VecDeque<Message>,
    pub(crate) counts: Counts,
    /// When races are looked for.
    pub(crate) witness: Option<Box<Witness>>,
    pub(crate) finder: Finder,
}

impl Node {
    /// Node number `own`.
    ///
    /// # Panics
    /// When the setup is invalid.
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
            streams: Streams::default(),
            written: Streams::default(),
            meeting: BarrierState::default(),
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

    /// The program's access to a page before the first use.
    pub fn untouched(&self) -> Access {
        let has_copy = self.setup.start == Start::Everybody || self.own == 0;
        if has_copy { Access::Read } else { Access::None }
    }

    /// Gives pages a home: the first of them to the first node, and so on. The program calls this on all nodes, before
    /// a node accesses these pages.
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

    /// The state of a page, which this call creates if necessary.
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

    /// The counters of the node.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How many words the memory has.
    pub(crate) fn words(&self) -> u64 {
        u64::from(self.setup.pages) * (self.setup.page_bytes / crate::WORD) as u64
    }

    /// The program calls: it may not while another call waits.
    pub(crate) fn begin(&self) -> Result<(), Fault> {
        if self.is_waiting() { Err(Fault::Busy) } else { Ok(()) }
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

    /// Counts more bytes in twins and records.
    pub(crate) fn hold(&mut self, bytes: usize) {
        self.counts.held += bytes as u64;
        self.counts.most_held = self.counts.most_held.max(self.counts.held);
    }

    pub(crate) fn release_held(&mut self, bytes: usize) {
        self.counts.held -= bytes as u64;
    }
}
