//! The ledgers of a task's pairs, behind its control block.

use crate::block::{ControlBlock, ControlError, check_shape};
use crate::layout::{FILE_BYTES, Layout, MEMORY, MEMORY_WAY, PAIR_PEER, PAIRS, PairCells, SENT_OVER};
use crate::map::BehindMap;
use crate::routes::ROUTES;
use rustix::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why messages to a peer take a route or do not. The numbers are what the control block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Taken {
    /// Nothing was sent there.
    Unknown = 0,
    /// It is in use.
    InUse = 1,
    /// The peer is on another host.
    OtherHost = 2,
    /// There is a better one.
    NotNeeded = 3,
    /// Another was asked for.
    AskedOther = 4,
    /// It could not be connected. (5 was once that the machine encrypts.)
    Refused = 6,
    /// It is in use, but the peer has not let the connection in yet.
    Unanswered = 7,
}

impl Taken {
    /// In words.
    pub fn text(number: u8) -> &'static str {
        match number {
            1 => "in use",
            2 => "no: the peer is on another host, and hosts share no memory",
            3 => "not needed: there is a better way",
            4 => "no: another was asked for, by PARVUM_ROUTE or the program",
            6 => "no: the connection was refused or did not come about",
            7 => "in use, but the peer has not let the connection in yet",
            _ => "nothing was sent there yet",
        }
    }
}

/// A pair's ledger, as read at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairCounters {
    /// The peer's id; 0 for all that had no ledger of their own.
    pub peer: i32,
    /// The route, by the engine's number.
    pub route: u8,
    /// Counters, by number.
    pub counters: Vec<u64>,
    /// Why each route is in use or not, by the route's number: a number of [`Taken`].
    pub reasons: [u8; ROUTES],
    /// Nanoseconds for which the task slept to wait for this peer.
    pub waited: u64,
}

/// A message that no receive has taken, as read at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// Who sent it.
    pub from: i32,
    /// Its tag.
    pub tag: i32,
    /// Its context.
    pub context: u32,
    /// Bytes of data.
    pub length: u64,
    /// Counts all messages that have become visible to receives.
    pub order: u64,
}

/// The mapped ledgers.
pub struct CounterBook {
    map: BehindMap,
}

impl CounterBook {
    /// Maps the ledgers of the control block behind `file`, which may be closed afterwards.
    pub fn open(file: impl AsFd) -> Result<CounterBook, ControlError> {
        let file = file.as_fd();
        check_shape(file, FILE_BYTES)?;
        Ok(CounterBook { map: BehindMap::new(file)? })
    }

    /// The ledgers themselves, for the task that keeps them.
    pub fn pairs(&self) -> &[PairCells; PAIRS] {
        &self.map.behind().pairs
    }

    /// Writes down the words of the interfaces that the task uses. A later text begins with the earlier one.
    pub fn write_words(&self, text: &str) {
        self.map.behind().words.write(text);
    }

    /// Those words: see `parvum_wire::calls`.
    pub fn words(&self) -> String {
        self.map.behind().words.read()
    }

    /// Those in use.
    pub fn read(&self) -> Vec<PairCounters> {
        let used = |cells: &&PairCells| word(&cells[PAIR_PEER]) != 0;
        let (last, own) = self.pairs().split_last().expect("there are some");
        // They are taken into use from the first on.
        own.iter().take_while(used).chain(Some(last).filter(used)).map(read_pair).collect()
    }
}

fn word(cell: &AtomicU64) -> u64 {
    // Relaxed: the task writes cell by cell, and readers want a recent picture.
    cell.load(Ordering::Relaxed)
}

fn read_pair(cells: &PairCells) -> PairCounters {
    let who = word(&cells[PAIR_PEER]);
    PairCounters {
        peer: who as u32 as i32,
        route: (who >> 32) as u8,
        counters: cells[..PAIR_PEER].iter().map(word).collect(),
        reasons: word(&cells[PAIR_PEER + 1]).to_le_bytes(),
        waited: word(&cells[PAIR_PEER + 2]),
    }
}

/// In [`COUNTER_NAMES`](crate::COUNTER_NAMES): messages sent.
const SENT: usize = 0;

/// All counters of a task by number: its own, and the sums over its pairs; from [`SENT_OVER`] on what went over each route,
/// from [`MEMORY`] on what it shows of shared memory, if it shares any.
pub fn totals(layout: &Layout, pairs: &[PairCounters]) -> Vec<u64> {
    let mut all: Vec<u64> = layout.counters[..SENT_OVER].iter().map(word).collect();
    all.resize(MEMORY, 0);
    if word(&layout.counters[MEMORY_WAY]) != 0 {
        all.extend(layout.counters[MEMORY..].iter().map(word));
    }
    for pair in pairs {
        for (total, count) in all.iter_mut().zip(&pair.counters) {
            // A task may write into its control block what it likes: a sum that makes no sense is its own affair.
            *total = total.wrapping_add(*count);
        }
        // What stands for several peers stands for several routes.
        if let Some(over) = all[SENT_OVER..MEMORY].get_mut(usize::from(pair.route)).filter(|_| pair.peer != 0)
        {
            *over = over.wrapping_add(pair.counters[SENT]);
        }
    }
    all
}

impl ControlBlock {
    /// Messages that no receive has taken, in order of arrival; the oldest ones when there are many.
    pub fn unmatched(&self) -> Vec<Unmatched> {
        let shown = self.layout().unmatched.iter().filter_map(|cells| {
            let [who, what, length, order] = cells.each_ref().map(word);
            (what >> 63 != 0).then_some(Unmatched {
                from: who as u32 as i32,
                tag: (who >> 32) as u32 as i32,
                context: what as u32,
                length,
                order,
            })
        });
        let mut shown: Vec<_> = shown.collect();
        shown.sort_by_key(|message| message.order);
        shown
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::layout::COUNTERS;

    #[test]
    fn control_block_with_garbage_is_readable() {
        let (control_block, file) = ControlBlock::create().expect("memory");
        let book = CounterBook::open(&file).expect("the same file");
        for cell in book.pairs().iter().flatten().chain(control_block.counters()) {
            cell.store(u64::MAX, Ordering::Relaxed);
        }
        let pairs = book.read();
        assert_eq!(pairs.len(), PAIRS);
        // It says that it shares memory too, and shows what of that makes no sense either.
        assert_eq!(totals(control_block.layout(), &pairs).len(), COUNTERS);
        control_block.unmatched();
        assert!(book.words().is_empty(), "nothing was written there");
    }
}
