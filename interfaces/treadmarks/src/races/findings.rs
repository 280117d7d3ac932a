//! Races: the records of each process about its instructions, and at process 0 the blocks of the heap and the final
//! report.

use crate::memory::heap::Heap;
use crate::nodes::far::Far;
use crate::nodes::peers::Peers;
use crate::options::LogTarget;
use crate::races::places::Places;
use crate::races::sites::Files;
use parvum_consistency::{Race, Side, Site, WORD};
use parvum_sync::without_signals;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// A block of the heap: the process that requested it, and the place in the program.
pub(crate) struct Block {
    pub(crate) size: u64,
    pub(crate) node: usize,
    pub(crate) site: Site,
}

pub(crate) struct Races {
    told: LogTarget,
    heap: Heap,
    /// For each instruction that faulted: the number of bytes that it accesses, and its place, if it belongs to the
    /// program.
    known: Mutex<HashMap<usize, (usize, Option<Site>)>>,
    files: Mutex<Files>,
    /// At process 0: blocks by address. Freed blocks stay until other blocks are at their address.
    blocks: Mutex<BTreeMap<u64, Block>>,
    /// The number of reported races.
    count: Mutex<u64>,
}

pub(crate) fn encoded(site: &Site) -> Vec<u8> {
    let caller = site.caller.as_ref();
    let text = [site.file.as_str(), caller.map_or("", |(file, _)| file)].join("\0");
    let numbers = [site.offset, caller.map_or(u64::MAX, |(_, offset)| *offset)];
    [numbers.map(u64::to_le_bytes).as_flattened(), text.as_bytes()].concat()
}

/// `None`: the bytes are invalid.
pub(crate) fn decoded(bytes: &[u8]) -> Option<Site> {
    let (offset, rest) = bytes.split_first_chunk()?;
    let (caller, text) = rest.split_first_chunk()?;
    let (file, its) = std::str::from_utf8(text).ok()?.split_once('\0')?;
    let caller = Some(u64::from_le_bytes(*caller)).filter(|&caller| caller != u64::MAX);
    Some(Site {
        file: file.to_owned(),
        offset: u64::from_le_bytes(*offset),
        caller: caller.map(|offset| (its.to_owned(), offset)),
    })
}

impl Races {
    pub(crate) fn new(told: LogTarget, heap: Heap) -> Races {
        Races {
            told,
            heap,
            known: Mutex::default(),
            files: Mutex::new(Files::loaded()),
            blocks: Mutex::default(),
            count: Mutex::new(0),
        }
    }

    /// The number of bytes that an instruction touches, and its place in the program. For the handler of faults.
    pub(crate) fn instruction(&self, pc: usize, width: impl FnOnce() -> usize) -> (usize, Site) {
        without_signals(|| {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            let (width, site) = known.entry(pc).or_insert_with(|| {
                // A library may have been loaded since.
                let site = files.of_program(pc).or_else(|| {
                    *files = Files::loaded();
                    files.of_program(pc)
                });
                (width(), site)
            });
            (*width, site.clone().unwrap_or_else(|| files.of_library(pc)))
        })
    }

    /// The place in the program of the running call.
    pub(crate) fn site_of_call(&self) -> Site {
        without_signals(|| self.files.lock().unwrap_or_else(PoisonError::into_inner).of_call())
    }

    /// At process 0.
    pub(crate) fn allocated(&self, place: u64, block: Block) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let end = place + block.size.max(1);
        let mut over: Vec<u64> = blocks.range(place..end).map(|(&at, _)| at).collect();
        over.extend(
            blocks.range(..place).next_back().filter(|(at, old)| *at + old.size > place).map(|(&at, _)| at),
        );
        over.iter().for_each(|at| drop(blocks.remove(at)));
        blocks.insert(place, block);
    }

    /// At process 0, behind a barrier and in the end: tells what was found.
    pub(crate) fn tell(&self, peers: &Peers, far: &Far) {
        if peers.own != 0 {
            return;
        }
        let (found, _) = far.races(peers);
        let mut places = Places::default();
        for race in found {
            let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            let text = self.words(peers, &race, *count, &mut places);
            self.put_out(peers, &text);
        }
    }

    /// In the end.
    pub(crate) fn sum_up(&self, peers: &Peers, far: &Far) {
        let (_, (kinds, times)) = far.races(peers);
        self.put_out(
            peers,
            &match kinds {
                0 => "no races: what was touched was ordered by locks and barriers\n".to_owned(),
                1 => format!("1 race, {}\n", often(times)),
                _ => format!("{kinds} races, {}\n", often(times)),
            },
        );
    }

    fn put_out(&self, peers: &Peers, text: &str) {
        use std::io::Write;
        if let LogTarget::Mailbox(name) = &self.told
            && peers.post.leave(name, text.as_bytes()).is_ok()
        {
            return;
        }
        if let LogTarget::File(path) = &self.told
            && let Ok(mut file) = std::fs::File::options().append(true).open(path)
            && file.write_all(text.as_bytes()).is_ok()
        {
            return;
        }
        for line in text.lines() {
            eprintln!("libTmk: {line}");
        }
    }

    fn words(&self, peers: &Peers, race: &Race, number: u64, places: &mut Places) -> String {
        let [one, other] = &race.sides;
        let what = match (one.writes, other.writes) {
            (true, true) => "two writes",
            _ => "a write and a read",
        };
        let mut text =
            format!("race {number}: {what} that nothing orders, at {}\n", self.variable(race, places));
        for side in [one, other] {
            let task = peers.partition.task(side.node as i64).unwrap_or_default();
            let does = if side.writes { "writes" } else { "reads" };
            let _ = writeln!(
                text,
                "    node {} (task t{task:x}) {does} at {}, holding {}",
                side.node,
                place(side, places),
                locks(&side.held)
            );
        }
        let after = race.after.map_or("Tmk_startup".into(), |id| format!("barrier {id}"));
        let number = race.turn + 1;
        let before =
            race.before.map_or("Tmk_exit".into(), |id| format!("barrier {id}, number {number} of the run"));
        let _ = writeln!(
            text,
            "    both after {after} and before {before}; no lock that one released came to the other in between"
        );
        text
    }

    /// The word, and of which block.
    fn variable(&self, race: &Race, places: &mut Places) -> String {
        let place = race.word * WORD as u64;
        let address = self.heap.start as u64 + place;
        let blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        match blocks.range(..=place).next_back().filter(|(at, block)| place - *at < block.size) {
            Some((at, block)) => format!(
                "{address:#x}, byte {} of the {} that node {} allocated at {}",
                place - at,
                block.size,
                block.node,
                words(&block.site, places)
            ),
            None => format!("{address:#x}, which no block has"),
        }
    }
}

fn often(times: u64) -> String {
    if times == 1 { "seen once".into() } else { format!("seen {times} times") }
}

fn place(side: &Side, places: &mut Places) -> String {
    words(&side.site, places)
}

fn words(site: &Site, places: &mut Places) -> String {
    match &site.caller {
        Some((file, offset)) => {
            format!("{}, called at {}", places.function(&site.file, site.offset), places.words(file, *offset))
        }
        None => places.words(&site.file, site.offset),
    }
}

fn locks(held: &[u32]) -> String {
    match held {
        [] => "no lock".into(),
        [one] => format!("lock {one}"),
        several => format!("locks {}", several.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn race_sites_round_trip_and_invalid_ones_are_refused() {
        for caller in [None, Some((String::new(), 7)), Some(("libx.so".to_owned(), 0))] {
            let site = Site { file: "libc.so.6".into(), offset: 0x1234, caller };
            assert_eq!(decoded(&encoded(&site)), Some(site));
        }
        assert_eq!(decoded(&[1, 2, 3]), None);
        assert_eq!(decoded(&[0; 16]), None, "no names");
    }
}
