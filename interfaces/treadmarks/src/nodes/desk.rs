//! The thread that serves other processes while the program computes, and what they ask of it besides consistency.
//!
//! A letter is one byte that says its kind, and the rest. Process 0 keeps the list of the heap's blocks. Whoever distributes a
//! variable waits until it is everywhere. Processes leave together: when all are about to leave they agree on it, so that none
//! is missed by another, which still needs its pages or would take its end for a death.

use crate::errors::{Trouble, end};
use crate::memory::image;
use crate::races::findings::Block;
use crate::run::{Run, Way, run};
use parvum_consistency::{Fault, Site};
use parvum_service::Came;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Kinds of letters.
pub(crate) mod kind {
    /// Question or answer of the protocol.
    pub(crate) const CONSISTENCY: u8 = 0;
    // Questions.
    pub(crate) const ALLOCATE: u8 = 1;
    pub(crate) const FREE: u8 = 2;
    pub(crate) const GROW: u8 = 3;
    pub(crate) const DISTRIBUTE: u8 = 4;
    pub(crate) const HOME: u8 = 5;
    /// To process 0: this one wants to leave.
    pub(crate) const LEAVING: u8 = 6;
    /// From there: all do.
    pub(crate) const OVER: u8 = 7;
    /// To there: this one knows.
    pub(crate) const KNOWN: u8 = 8;
    /// From there: all know.
    pub(crate) const GO: u8 = 9;
    /// To process 0: room for a view.
    pub(crate) const ALLOCATE_VIEW: u8 = 10;
    /// Which pages it has.
    pub(crate) const MAKE_VIEW: u8 = 11;
    /// To the first that lives: an array to be combined.
    pub(crate) const REDUCE: u8 = 12;
    /// To the first task of a host: a call of another.
    pub(crate) const TASK: u8 = 13;
    // Answers.
    pub(crate) const NUMBER: u8 = 1;
    pub(crate) const WAKE: u8 = 2;
    /// From there: what came of it.
    pub(crate) const REDUCED: u8 = 3;
    /// From the first task of a host: a call is over.
    pub(crate) const DONE: u8 = 4;
}

/// What a number answers.
pub(crate) const NOTHING: u64 = u64::MAX;

pub(crate) fn letter(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut letter = Vec::with_capacity(1 + bytes.len());
    letter.push(kind);
    letter.extend_from_slice(bytes);
    letter
}

/// What has come to the thread.
pub(crate) fn came(came: Came<'_>) {
    let Some(run) = run() else { return };
    match came {
        Came::Gone(service) => gone(run, service),
        Came::Question(service, letter) => {
            let Some(from) = run.services.iter().position(|&other| other == service) else { return };
            if question(run, from, letter).is_none() {
                end(&Trouble::Malformed(from));
            }
        }
    }
}

/// A process has ended whose end nobody bears, unless all leave.
pub(crate) fn has_ended(run: &Run, node: usize) {
    // Acquire: partner of the release in `question`.
    if !run.leaving.over.load(Ordering::Acquire) {
        let task = run.partition.task(node as i64).unwrap_or_default();
        end(&Trouble::Dead { node, task });
    }
}

fn gone(run: &Run, service: i32) {
    let Some(node) = run.services.iter().position(|&other| other == service) else { return };
    if !run.replicas {
        has_ended(run, node);
    }
    // As above.
    let over = run.leaving.over.load(Ordering::Acquire);
    let keeper = run.keeper();
    run.died(node);
    if over && node == keeper {
        run.may_go();
    }
}

/// `None`: it makes no sense.
fn question(run: &Run, from: usize, letter: &[u8]) -> Option<()> {
    let (&kind, bytes) = letter.split_first()?;
    let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    match kind {
        kind::CONSISTENCY => match &run.way {
            Way::Far(far) => far.question(run, from, bytes),
            Way::Host(host) => host.letter(run, from, bytes)?,
            Way::Near(_) => return None,
        },
        kind::TASK => {
            let Way::Host(host) = &run.way else { return None };
            host.question(run, from, bytes)?;
        }
        // Who knows of a death sooner asks the heir, who perhaps does not know yet.
        kind::ALLOCATE | kind::FREE | kind::GROW | kind::ALLOCATE_VIEW if run.own == 0 || run.replicas => {
            let (asked, site) = bytes.split_at_checked(8)?;
            let site = if site.is_empty() { None } else { Some(crate::races::findings::decoded(site)?) };
            answer(run, from, of_heap(run, from, (kind, number(asked)?), site));
        }
        kind::DISTRIBUTE => answer(run, from, distributed(bytes)?),
        kind::HOME => {
            let (first, count) = bytes.split_at_checked(4)?;
            let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?));
            let (first, count) = (number(first)?, number(count)?);
            let given = match &run.way {
                Way::Far(far) => far.give_home(run, first, count).is_ok() || far.is_stranded(run),
                Way::Host(host) => host.give_home(run, first, count).is_ok(),
                Way::Near(_) => return None,
            };
            answer(run, from, if given { 0 } else { NOTHING });
        }
        kind::MAKE_VIEW => {
            let numbers: &[u8; 12] = bytes.try_into().ok()?;
            let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| numbers[at * 4 + byte]));
            let made = match &run.way {
                Way::Far(far) => far.make_view(run, number(0), number(1), number(2)),
                Way::Host(host) => host.make_view(run, number(0), number(1), number(2)),
                Way::Near(_) => return None,
            };
            answer(run, from, made.map_or(NOTHING, |()| 0));
        }
        kind::REDUCE if run.replicas => {
            if let Err(why) = crate::nodes::reduce::gives(run, from, bytes) {
                end(&why);
            }
        }
        kind::LEAVING if run.own == 0 || run.replicas => leaves(run, from, bytes).ok()?,
        kind::OVER if from == 0 || run.replicas => {
            run.leaving.over.store(true, Ordering::Release);
            tell(run, from, kind::KNOWN);
        }
        kind::KNOWN if run.own == 0 || run.replicas => {
            insert(&run.leaving.known, from);
            look_who_leaves(run);
        }
        kind::GO if from == 0 || run.replicas => run.may_go(),
        _ => return None,
    }
    Some(())
}

fn answer(run: &Run, to: usize, number: u64) {
    // Who is gone wants no answer.
    let _ = run.post.answer(run.services[to], letter(kind::NUMBER, &number.to_le_bytes()));
}

fn tell(run: &Run, to: usize, kind: u8) {
    // Who is gone is told of by the machine.
    let _ = run.post.ask(run.services[to], letter(kind, &[]));
}

/// At process 0: the heap's blocks.
pub(crate) fn of_heap(run: &Run, from: usize, (kind, number): (u8, u64), site: Option<Site>) -> u64 {
    let mut allocator = run.allocator.lock().unwrap_or_else(PoisonError::into_inner);
    let place = match kind {
        kind::ALLOCATE => allocator.take(number).unwrap_or(NOTHING),
        kind::ALLOCATE_VIEW => allocator.take_for_good(number).unwrap_or(NOTHING),
        kind::GROW => allocator.grow(number).unwrap_or(NOTHING),
        _ if allocator.give_back(number) => return 0,
        _ => NOTHING,
    };
    if let (Some(races), Some(site), true) = (&run.races, site, place != NOTHING) {
        races.allocated(place, Block { size: number, node: from, site });
    }
    place
}

/// A variable, as it travels.
pub(crate) fn variable(file: &str, offset: u64, data: &[u8]) -> Vec<u8> {
    let mut letter = vec![kind::DISTRIBUTE];
    letter.extend_from_slice(&offset.to_le_bytes());
    letter.extend_from_slice(&(file.len() as u32).to_le_bytes());
    letter.extend_from_slice(file.as_bytes());
    letter.extend_from_slice(data);
    letter
}

fn distributed(bytes: &[u8]) -> Option<u64> {
    let (offset, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (file, data) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let place = image::address_of(std::str::from_utf8(file).ok()?, u64::from_le_bytes(*offset), data.len());
    Some(match place {
        Some(address) => {
            image::write(address, data);
            0
        }
        None => NOTHING,
    })
}

/// At who keeps the list: one more wants to leave; what it has touched last, when races are looked for.
pub(crate) fn leaves(run: &Run, from: usize, witnessed: &[u8]) -> Result<(), Fault> {
    if let (Way::Far(far), Some(_)) = (&run.way, &run.races) {
        far.hear(run, from, witnessed)?;
    }
    insert(&run.leaving.want, from);
    look_who_leaves(run);
    Ok(())
}

/// At the same: tells all when all that live want to leave, and lets them go when all know it.
pub(crate) fn look_who_leaves(run: &Run) {
    if run.keeper() != run.own {
        return;
    }
    let others = || run.living().filter(|&node| node != run.own);
    let all_are_in = |set: &Mutex<BTreeSet<usize>>, with_own: bool| {
        let set = set.lock().unwrap_or_else(PoisonError::into_inner);
        others().chain(with_own.then_some(run.own)).all(|node| set.contains(&node))
    };
    if !all_are_in(&run.leaving.want, true) {
        return;
    }
    // Release: partner of the acquire in `gone`.
    if !run.leaving.over.swap(true, Ordering::Release) {
        others().for_each(|node| tell(run, node, kind::OVER));
    }
    // Relaxed: it is asked for alone. Who has been told is perhaps gone already.
    if all_are_in(&run.leaving.known, false) && !run.leaving.told.swap(true, Ordering::Relaxed) {
        others().for_each(|node| tell(run, node, kind::GO));
        run.may_go();
    }
}

fn insert(set: &Mutex<BTreeSet<usize>>, node: usize) {
    set.lock().unwrap_or_else(PoisonError::into_inner).insert(node);
}
