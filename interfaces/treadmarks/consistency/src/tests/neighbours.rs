//! Nodes with several tasks. The tasks take locks without the node if they may, and a seed decides when messages
//! arrive.

use super::simulated::{Dice, Pages};
use crate::{Access, Counts, Fault, Letter, Memory, Setup, Tasks, WORD};
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Acquire(u32),
    Release(u32),
    AcquireView(u32, bool),
    ReleaseView(u32, bool),
    Barrier,
    Read(usize),
    Write(usize, u32),
    /// All words of a page, from this one on, without fetching it.
    Overwrite(u32, u32),
}

/// A lock, as tasks see it that take it by themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Away,
    Free,
    Taken(usize),
    /// And another wants it.
    Wanted(usize),
}

/// The pages of a node, and its keys.
pub(super) struct Shared {
    pages: Pages,
    keys: Vec<Key>,
    taken: Vec<(u32, usize)>,
    /// Pages that were written to since they were opened.
    written: BTreeSet<u32>,
    /// Whether tasks take locks by themselves.
    has_keys: bool,
}

impl Shared {
    /// Whether a task has it now, without the node.
    fn take(&mut self, task: usize, lock: u32) -> bool {
        match self.keys.get_mut(lock as usize) {
            Some(key) if *key == Key::Free => {
                *key = Key::Taken(task);
                true
            }
            _ => false,
        }
    }

    /// Whether that was all.
    fn give_back(&mut self, task: usize, lock: u32) -> bool {
        match self.keys.get_mut(lock as usize) {
            Some(key) if *key == Key::Taken(task) => {
                *key = Key::Free;
                true
            }
            Some(key) if *key == Key::Wanted(task) => {
                *key = Key::Away;
                false
            }
            _ => false,
        }
    }
}

impl Memory for Shared {
    fn load(&self, page: u32, out: &mut [u8]) {
        self.pages.load(page, out);
    }

    fn store(&mut self, page: u32, offset: usize, data: &[u8]) {
        self.pages.store(page, offset, data);
    }

    fn protect(&mut self, first: u32, count: u32, access: Access) {
        self.pages.protect(first, count, access);
        self.written.retain(|page| !(first..first + count).contains(page));
    }

    fn withdraw(&mut self, page: u32) -> bool {
        let is_written = self.written.contains(&page);
        self.protect(page, 1, Access::Read);
        is_written
    }

    fn is_free(&mut self, lock: u32) -> bool {
        let key = &mut self.keys[lock as usize];
        match *key {
            Key::Taken(task) => {
                *key = Key::Wanted(task);
                self.taken.push((lock, task));
                false
            }
            Key::Wanted(_) => unreachable!("the node knows"),
            Key::Free | Key::Away => {
                *key = Key::Away;
                true
            }
        }
    }

    fn taken(&mut self) -> Vec<(u32, usize)> {
        std::mem::take(&mut self.taken)
    }
}

/// Nodes with tasks, and what is under way between them.
pub(super) struct World {
    pub(super) nodes: Vec<(Tasks, Shared)>,
    tasks: usize,
    page_bytes: usize,
    /// Letters by sender, receiver and kind.
    ways: Vec<VecDeque<Letter>>,
    /// How often a lock was taken or given back without the node.
    pub(super) by_key: u64,
}

impl World {
    pub(super) fn new(setup: Setup, tasks: usize, has_keys: bool) -> World {
        let make = |own| {
            let node = Tasks::new(setup, own, tasks);
            let pages = Pages::new(&setup, node.untouched());
            let keys = vec![Key::Away; setup.locks as usize];
            (node, Shared { pages, keys, taken: Vec::new(), written: BTreeSet::new(), has_keys })
        };
        World {
            nodes: (0..setup.nodes).map(make).collect(),
            tasks,
            page_bytes: setup.page_bytes,
            ways: vec![VecDeque::new(); 2 * setup.nodes * setup.nodes],
            by_key: 0,
        }
    }

    pub(super) fn is_waiting(&self, task: usize) -> bool {
        self.nodes[task / self.tasks].0.is_waiting(task % self.tasks)
    }

    /// Makes pages a view, at all nodes.
    pub(super) fn make_view(&mut self, view: u32, first: u32, count: u32) {
        for (node, pages) in &mut self.nodes {
            node.make_view(view, first, count, pages).expect("untouched");
        }
    }

    /// A step of a task that does not wait. Returns the value that was read, or `None` if the step must be repeated.
    pub(super) fn step(&mut self, task: usize, step: Step) -> Result<Option<u32>, Fault> {
        let (node, own) = (task / self.tasks, task % self.tasks);
        let page_bytes = self.page_bytes;
        let (it, pages) = &mut self.nodes[node];
        let by_itself = match step {
            Step::Acquire(lock) => pages.take(own, lock),
            Step::Release(lock) => pages.give_back(own, lock),
            _ => false,
        };
        if by_itself {
            self.by_key += 1;
            return Ok(Some(0));
        }
        if let Step::Overwrite(page, _) = step {
            it.overwrite(own, (page, 1), pages)?;
        }
        let mut is_open = |word: usize, access: Access| {
            let page = word * WORD / page_bytes;
            if pages.pages.access(page) < access {
                it.fault(own, page as u32, access, pages)?;
            }
            Ok(!it.is_waiting(own) && pages.pages.access(page) >= access)
        };
        let done = match step {
            Step::Acquire(lock) => it.acquire(own, lock, pages).map(|_| Some(0)),
            Step::Release(lock) => it.release(own, lock, pages).map(|_| {
                if pages.has_keys && it.keeps(lock) {
                    pages.keys[lock as usize] = Key::Free;
                }
                Some(0)
            }),
            Step::AcquireView(view, writes) => it.acquire_view(own, view, writes, pages).map(|_| Some(0)),
            Step::ReleaseView(view, writes) => it.release_view(own, view, writes, pages).map(|_| Some(0)),
            Step::Barrier => it.barrier(own, 0, pages).map(|_| Some(0)),
            Step::Read(word) => is_open(word, Access::Read).map(|open| open.then(|| pages.pages.word(word))),
            Step::Write(word, value) => is_open(word, Access::Write).map(|open| {
                open.then(|| {
                    pages.pages.set_word(word, value);
                    pages.written.insert((word * WORD / page_bytes) as u32);
                    value
                })
            }),
            Step::Overwrite(page, value) => {
                is_open(page as usize * page_bytes / WORD, Access::Write).map(|open| {
                    open.then(|| {
                        let words = page_bytes / WORD;
                        for word in 0..words {
                            pages
                                .pages
                                .set_word(page as usize * words + word, value.wrapping_add(word as u32));
                        }
                        pages.written.insert(page);
                        value
                    })
                })
            }
        };
        self.post(node);
        done
    }

    fn post(&mut self, from: usize) {
        for letter in self.nodes[from].0.outbox() {
            let way = (from * self.nodes.len() + letter.to) * 2 + usize::from(letter.answer);
            self.ways[way].push_back(letter);
        }
    }

    /// Hands over a letter; `false`: there is none.
    pub(super) fn deliver(&mut self, dice: &mut Dice) -> Result<bool, Fault> {
        let busy: Vec<usize> = (0..self.ways.len()).filter(|&way| !self.ways[way].is_empty()).collect();
        if busy.is_empty() {
            return Ok(false);
        }
        let way = busy[dice.below(busy.len())];
        let letter = self.ways[way].pop_front().expect("it is busy");
        let from = way / 2 / self.nodes.len();
        let (node, pages) = &mut self.nodes[letter.to];
        node.receive(from, &letter.bytes, pages)?;
        self.post(letter.to);
        Ok(true)
    }

    pub(super) fn total(&self, of: impl Fn(Counts) -> u64) -> u64 {
        self.nodes.iter().map(|(node, _)| of(node.counts())).sum()
    }

    pub(super) fn whole(&mut self, task: usize, step: Step) -> u32 {
        let mut dice = Dice(7);
        loop {
            let done = self.step(task, step).expect("it is legal");
            while self.deliver(&mut dice).expect("nodes make sense") {}
            if let Some(value) = done {
                return value;
            }
        }
    }

    pub(super) fn all_pass(&mut self) {
        for task in 0..self.nodes.len() * self.tasks {
            self.step(task, Step::Barrier).expect("it is legal");
        }
        while self.deliver(&mut Dice(3)).expect("nodes make sense") {}
        assert!((0..self.nodes.len() * self.tasks).all(|task| !self.is_waiting(task)));
    }
}
