//! Nodes whose memory is a vector. A seed decides when messages arrive.

use crate::message::Message;
use crate::{Access, Counts, Fault, Letter, Memory, Node, Race, Setup, Site, WORD};
use std::collections::VecDeque;

/// Numbers from a seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        parvum_seed::next(&mut self.0)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True once in this number of times, on average.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// The pages of one node.
pub(super) struct Pages {
    page_bytes: usize,
    bytes: Vec<u8>,
    access: Vec<Access>,
}

impl Pages {
    pub(super) fn new(setup: &Setup, untouched: Access) -> Pages {
        let (page_bytes, pages) = (setup.page_bytes, setup.pages as usize);
        Pages { page_bytes, bytes: vec![0; page_bytes * pages], access: vec![untouched; pages] }
    }

    pub(super) fn access(&self, page: usize) -> Access {
        self.access[page]
    }

    pub(super) fn word(&self, word: usize) -> u32 {
        u32::from_le_bytes(self.bytes[word * WORD..(word + 1) * WORD].try_into().expect("a word"))
    }

    pub(super) fn set_word(&mut self, word: usize, value: u32) {
        self.bytes[word * WORD..(word + 1) * WORD].copy_from_slice(&value.to_le_bytes());
    }
}

impl Memory for Pages {
    fn load(&self, page: u32, out: &mut [u8]) {
        let at = page as usize * self.page_bytes;
        out.copy_from_slice(&self.bytes[at..at + self.page_bytes]);
    }

    fn store(&mut self, page: u32, offset: usize, data: &[u8]) {
        assert!(offset + data.len() <= self.page_bytes);
        let at = page as usize * self.page_bytes + offset;
        self.bytes[at..at + data.len()].copy_from_slice(data);
    }

    fn protect(&mut self, first: u32, count: u32, access: Access) {
        self.access[first as usize..(first + count) as usize].fill(access);
    }
}

/// The next step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Acquire(u32),
    Release(u32),
    AcquireView(u32, bool),
    ReleaseView(u32, bool),
    Barrier(u32),
    Read(usize),
    Write(usize, u32),
    /// All words of a page, from this one on, without fetching it.
    Overwrite(u32, u32),
}

struct One {
    node: Node,
    pages: Pages,
    lives: bool,
    /// Whose death it has not heard of yet.
    unheard: Vec<usize>,
}

/// All nodes, and what is under way between them.
pub(super) struct World {
    setup: Setup,
    nodes: Vec<One>,
    /// Letters by sender, receiver and kind; within one they keep their order.
    ways: Vec<VecDeque<Letter>>,
    /// Ways that have letters.
    busy: Vec<usize>,
    /// While this is set, questions from the first node to the second stay under way.
    pub(super) slow: Option<(usize, usize)>,
    /// The number of accesses: each access counts as a separate place in the program.
    pub(super) accesses: u64,
}

impl World {
    pub(super) fn new(setup: Setup) -> World {
        let words = setup.page_bytes * setup.pages as usize;
        let make = |own| {
            let node = Node::new(setup, own);
            let access = vec![node.untouched(); setup.pages as usize];
            let pages = Pages { page_bytes: setup.page_bytes, bytes: vec![0; words], access };
            One { node, pages, lives: true, unheard: Vec::new() }
        };
        let nodes = (0..setup.nodes).map(make).collect();
        let ways = vec![VecDeque::new(); 2 * setup.nodes * setup.nodes];
        World { setup, nodes, ways, busy: Vec::new(), slow: None, accesses: 0 }
    }

    /// Gives pages a home, at all nodes.
    pub(super) fn give_home(&mut self, first: u32, count: u32) {
        self.nodes.iter_mut().for_each(|one| one.node.give_home(first, count).expect("untouched"));
        // As pages of a home are not open to others from the beginning when node 0 has all.
    }

    /// Makes pages a view, at all nodes.
    pub(super) fn make_view(&mut self, view: u32, first: u32, count: u32) {
        for one in &mut self.nodes {
            one.node.make_view(view, first, count, &mut one.pages).expect("untouched");
        }
    }

    pub(super) fn is_waiting(&self, node: usize) -> bool {
        self.nodes[node].node.is_waiting()
    }

    pub(super) fn counts(&self, node: usize) -> Counts {
        self.nodes[node].node.counts()
    }

    pub(super) fn total(&self, of: impl Fn(Counts) -> u64) -> u64 {
        (0..self.setup.nodes).map(|node| of(self.counts(node))).sum()
    }

    /// Runs a step of a node that does not wait. Returns the value that was read, or `None` if there is no value yet.
    pub(super) fn step(&mut self, node: usize, step: Step) -> Result<Option<u32>, Fault> {
        let one = &mut self.nodes[node];
        let (it, pages) = (&mut one.node, &mut one.pages);
        let site = Site { file: String::new(), offset: self.accesses, caller: None };
        let mut touches = |it: &mut Node, word: usize, writes: bool| {
            it.touches((word * WORD) as u64, WORD as u64, writes, &site);
            self.accesses += 1;
        };
        let done = match step {
            Step::Acquire(lock) => it.acquire(lock, pages).map(|_| Some(0)),
            Step::Release(lock) => it.release(lock, pages).map(|_| Some(0)),
            Step::AcquireView(view, writes) => it.acquire_view(view, writes, pages).map(|_| Some(0)),
            Step::ReleaseView(view, writes) => it.release_view(view, writes, pages).map(|_| Some(0)),
            Step::Barrier(barrier) => it.barrier(barrier, pages).map(|_| Some(0)),
            Step::Read(word) => access(it, pages, word, Access::Read).map(|is_open| {
                if is_open {
                    touches(it, word, false);
                }
                let bytes = pages.bytes[word * WORD..(word + 1) * WORD].try_into().expect("a word");
                is_open.then_some(u32::from_le_bytes(bytes))
            }),
            Step::Write(word, value) => access(it, pages, word, Access::Write).map(|is_open| {
                if is_open {
                    touches(it, word, true);
                    pages.bytes[word * WORD..(word + 1) * WORD].copy_from_slice(&value.to_le_bytes());
                }
                is_open.then_some(value)
            }),
            Step::Overwrite(page, value) => it.overwrite(page, 1, pages).map(|()| {
                let words = pages.page_bytes / WORD;
                let (first, mut all) = (page as usize * words, true);
                for word in first..first + words {
                    // With a home it is fetched as ever.
                    let open =
                        access(it, pages, word, Access::Write).unwrap_or_else(|fault| panic!("{fault}"));
                    if !open {
                        all = false;
                        break;
                    }
                    touches(it, word, true);
                    pages.set_word(word, value.wrapping_add((word - first) as u32));
                }
                all.then_some(value)
            }),
        };
        self.post(node);
        done
    }

    fn post(&mut self, from: usize) {
        let nodes = self.setup.nodes;
        for letter in self.nodes[from].node.outbox() {
            assert_eq!(
                Message::decode(&letter.bytes, self.setup.replicas).expect("it is one").1.is_answer(),
                letter.answer
            );
            let way = (from * nodes + letter.to) * 2 + usize::from(letter.answer);
            if self.ways[way].is_empty() {
                self.busy.push(way);
            }
            self.ways[way].push_back(letter);
        }
    }

    /// Hands over one of the letters under way; `false`: there is none.
    pub(super) fn deliver(&mut self, dice: &mut Dice) -> Result<bool, Fault> {
        let slow = self.slow.map(|(from, to)| (from * self.setup.nodes + to) * 2);
        if self.busy.iter().all(|way| Some(*way) == slow) {
            return Ok(false);
        }
        let mut at = dice.below(self.busy.len());
        while Some(self.busy[at]) == slow {
            at = dice.below(self.busy.len());
        }
        let way = self.busy[at];
        let letter = self.ways[way].pop_front().expect("busy ways have letters");
        if self.ways[way].is_empty() {
            self.busy.swap_remove(at);
        }
        let from = way / 2 / self.setup.nodes;
        let one = &mut self.nodes[letter.to];
        if !one.lives {
            return Ok(true);
        }
        one.node.receive(from, &letter.bytes, &mut one.pages)?;
        self.post(letter.to);
        Ok(true)
    }

    /// The end of the run: all say what they have touched last. The races that were found.
    pub(super) fn races(&mut self) -> Vec<Race> {
        for node in 0..self.setup.nodes {
            let said = self.nodes[node].node.testify();
            self.nodes[0].node.on_testimony(node, &said).expect("it makes sense");
        }
        self.nodes[0].node.races()
    }

    /// A node dies at once. The last messages to each other node may be lost.
    pub(super) fn kill(&mut self, node: usize, dice: &mut Dice) {
        let nodes = self.setup.nodes;
        self.nodes[node].lives = false;
        for way in node * nodes * 2..(node + 1) * nodes * 2 {
            let left = dice.below(self.ways[way].len() + 1);
            self.ways[way].truncate(left);
        }
        self.busy.retain(|&way| !self.ways[way].is_empty());
        for one in self.nodes.iter_mut().filter(|one| one.lives) {
            one.unheard.push(node);
        }
    }

    pub(super) fn lives(&self, node: usize) -> bool {
        self.nodes[node].lives
    }

    /// Some node hears of some death; `false`: all have heard of all.
    pub(super) fn notify_death(&mut self, dice: &mut Dice) -> Result<bool, Fault> {
        let ears: Vec<usize> = (0..self.setup.nodes)
            .filter(|&node| self.nodes[node].lives && !self.nodes[node].unheard.is_empty())
            .collect();
        if ears.is_empty() {
            return Ok(false);
        }
        let node = ears[dice.below(ears.len())];
        let one = &mut self.nodes[node];
        let dead = one.unheard.swap_remove(dice.below(one.unheard.len()));
        one.node.gone(dead, &mut one.pages)?;
        self.post(node);
        Ok(true)
    }

    pub(super) fn node(&self, node: usize) -> &Node {
        &self.nodes[node].node
    }

    pub(super) fn has_letters(&self) -> bool {
        !self.busy.is_empty()
    }

    /// Takes a step of one node to its end, with all the messages that it takes; what it read.
    pub(super) fn whole(&mut self, node: usize, step: Step) -> u32 {
        let mut dice = Dice(1);
        loop {
            let done = self.step(node, step).expect("it is legal");
            while self.deliver(&mut dice).expect("nodes make sense") {}
            assert!(!self.is_waiting(node), "{step:?} does not end");
            if let Some(value) = done {
                return value;
            }
        }
    }

    /// All nodes pass a barrier.
    pub(super) fn all_pass(&mut self, barrier: u32) {
        for node in 0..self.setup.nodes {
            self.step(node, Step::Barrier(barrier)).expect("it is legal");
        }
        let mut dice = Dice(2);
        while self.deliver(&mut dice).expect("nodes make sense") {}
        assert!((0..self.setup.nodes).all(|node| !self.is_waiting(node)));
    }
}

/// Whether the program may access the word now; otherwise reports the fault.
fn access(node: &mut Node, pages: &mut Pages, word: usize, access: Access) -> Result<bool, Fault> {
    let page = word * WORD / pages.page_bytes;
    if pages.access[page] >= access {
        return Ok(true);
    }
    node.fault(page as u32, access, pages)?;
    Ok(!node.is_waiting() && pages.access[page] >= access)
}
