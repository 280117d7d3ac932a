//! The thread that serves other processes while the program computes, and what they ask of it besides consistency.
//!
//! A letter is one byte that says its kind, and the rest. Process 0 keeps the list of the heap's blocks. Whoever distributes a
//! variable waits until it is everywhere. Processes leave together: when all are about to leave they agree on it, so that none
//! is missed by another, which still needs its pages or would take its end for a death.

use crate::errors::{Trouble, end};
use crate::image;
use crate::races::Block;
use crate::run::{Run, Way, run};
use parvum_consistency::{Fault, Site};
use parvum_service::Came;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

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
    // Answers.
    pub(crate) const NUMBER: u8 = 1;
    pub(crate) const WAKE: u8 = 2;
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

fn gone(run: &Run, service: i32) {
    let Some(node) = run.services.iter().position(|&other| other == service) else { return };
    // Acquire: partner of the release in `question`.
    if !run.leaving.over.load(Ordering::Acquire) {
        let task = run.partition.task(node as i64).unwrap_or_default();
        end(&Trouble::Dead { node, task });
    }
    if node == 0 {
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
            Way::Near(_) => return None,
        },
        kind::ALLOCATE | kind::FREE | kind::GROW | kind::ALLOCATE_VIEW if run.own == 0 => {
            let (asked, site) = bytes.split_at_checked(8)?;
            let site = if site.is_empty() { None } else { Some(crate::races::decoded(site)?) };
            answer(run, from, of_heap(run, from, (kind, number(asked)?), site));
        }
        kind::DISTRIBUTE => answer(run, from, distributed(bytes)?),
        kind::HOME => {
            let (first, count) = bytes.split_at_checked(4)?;
            let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?));
            let Way::Far(far) = &run.way else { return None };
            answer(run, from, far.give_home(run, number(first)?, number(count)?).map_or(NOTHING, |()| 0));
        }
        kind::MAKE_VIEW => {
            let numbers: &[u8; 12] = bytes.try_into().ok()?;
            let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| numbers[at * 4 + byte]));
            let Way::Far(far) = &run.way else { return None };
            let made = far.make_view(run, number(0), number(1), number(2));
            answer(run, from, made.map_or(NOTHING, |()| 0));
        }
        kind::LEAVING if run.own == 0 => leaves(run, from, bytes).ok()?,
        kind::OVER if from == 0 => {
            run.leaving.over.store(true, Ordering::Release);
            tell(run, 0, kind::KNOWN);
        }
        kind::KNOWN if run.own == 0 => knows(run),
        kind::GO if from == 0 => run.may_go(),
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

/// At process 0: one more wants to leave; what it has touched last, when races are looked for.
pub(crate) fn leaves(run: &Run, from: usize, witnessed: &[u8]) -> Result<(), Fault> {
    let nodes = run.services.len();
    if let (Way::Far(far), Some(_)) = (&run.way, &run.races) {
        far.hear(run, from, witnessed)?;
    }
    // Relaxed: only the desk and, once, the program count, and who counts the last knows all.
    if run.leaving.want.fetch_add(1, Ordering::Relaxed) + 1 < nodes {
        return Ok(());
    }
    run.leaving.over.store(true, Ordering::Release);
    (1..nodes).for_each(|node| tell(run, node, kind::OVER));
    if nodes == 1 {
        run.may_go();
    }
    Ok(())
}

fn knows(run: &Run) {
    let nodes = run.services.len();
    if run.leaving.known.fetch_add(1, Ordering::Relaxed) + 2 == nodes {
        (1..nodes).for_each(|node| tell(run, node, kind::GO));
        run.may_go();
    }
}
