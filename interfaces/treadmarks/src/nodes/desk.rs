//! The desk: requests of other processes. A thread serves them while the program computes, and the program during a wait.
//!
//! A letter is one byte for its kind, and the rest. Process 0 keeps the list of the heap's blocks. A process that
//! distributes a variable waits until all processes have it. Processes leave together, after all have agreed. Otherwise
//! a process could still need the pages of another, or take its end for a death.

use crate::errors::{Trouble, end};
use crate::memory::image;
use crate::nodes::letters::{NOTHING, kind, letter};
use crate::races::findings::decoded;
use crate::run::leaving::insert;
use crate::run::{Run, Sharing, run};
use parvum_service::Came;
use std::sync::atomic::Ordering;

/// A message that has come to the desk.
pub(crate) fn came(came: Came<'_>) {
    let Some(run) = run() else { return };
    match came {
        Came::Gone(service) => gone(run, service),
        Came::Lost => end(&Trouble::Machine("there is no memory for a request of another process".into())),
        Came::Question(service, letter) => {
            let Some(from) = run.peers.services.iter().position(|&other| other == service) else { return };
            if question(run, from, letter).is_none() {
                end(&Trouble::Malformed(from));
            }
        }
    }
}

fn gone(run: &Run, service: i32) {
    let Some(node) = run.peers.services.iter().position(|&other| other == service) else { return };
    if !run.replicas {
        run.peers.has_ended(node);
    }
    // Acquire: partner of the releases in `question`, `Run::look_who_leaves` and `Run::abandon`.
    let over = run.peers.all_leave.load(Ordering::Acquire);
    let keeper = run.peers.keeper();
    run.died(node);
    if over && node == keeper {
        run.may_go();
    }
}

/// `None`: the bytes are invalid.
fn question(run: &Run, from: usize, letter: &[u8]) -> Option<()> {
    let (&kind, bytes) = letter.split_first()?;
    let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    match kind {
        kind::CONSISTENCY => match &run.way {
            Sharing::Far(far) => far.question(&run.peers, from, bytes),
            Sharing::Host(host) => host.letter(&run.peers, from, bytes)?,
            Sharing::Near(_) => return None,
        },
        kind::TASK => {
            let Sharing::Host(host) = &run.way else { return None };
            host.question(&run.peers, from, bytes)?;
        }
        // A process that learns of a death earlier asks the heir, which may not know of the death yet.
        kind::ALLOCATE | kind::FREE | kind::GROW | kind::ALLOCATE_VIEW
            if run.peers.own == 0 || run.replicas =>
        {
            let (asked, site) = bytes.split_at_checked(8)?;
            let site = if site.is_empty() { None } else { Some(decoded(site)?) };
            answer(run, from, run.of_heap(from, (kind, number(asked)?), site));
        }
        kind::DISTRIBUTE => answer(run, from, distributed(bytes)?),
        kind::HOME => {
            let (first, count) = bytes.split_at_checked(4)?;
            let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?));
            let (first, count) = (number(first)?, number(count)?);
            let given = match &run.way {
                Sharing::Far(far) => {
                    far.give_home(&run.peers, first, count).is_ok() || far.is_stranded(&run.peers)
                }
                Sharing::Host(host) => host.give_home(&run.peers, first, count).is_ok(),
                Sharing::Near(_) => return None,
            };
            answer(run, from, if given { 0 } else { NOTHING });
        }
        kind::MAKE_VIEW => {
            let numbers: &[u8; 12] = bytes.try_into().ok()?;
            let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| numbers[at * 4 + byte]));
            let made = match &run.way {
                Sharing::Far(far) => far.make_view(&run.peers, number(0), number(1), number(2)),
                Sharing::Host(host) => host.make_view(&run.peers, number(0), number(1), number(2)),
                Sharing::Near(_) => return None,
            };
            answer(run, from, made.map_or(NOTHING, |()| 0));
        }
        kind::REDUCE if run.replicas => {
            let given = match &run.way {
                Sharing::Far(far) => run.reduces.gives(&run.peers, far, from, bytes),
                Sharing::Near(_) | Sharing::Host(_) => Err(Trouble::Malformed(from)),
            };
            if let Err(why) = given {
                end(&why);
            }
        }
        kind::LEAVING if run.peers.own == 0 || run.replicas => run.leaves(from, bytes).ok()?,
        kind::OVER if from == 0 || run.replicas => {
            // Release: partner of the acquires in `gone` and `Peers::has_ended`.
            run.peers.all_leave.store(true, Ordering::Release);
            run.tell(from, kind::KNOWN);
        }
        kind::KNOWN if run.peers.own == 0 || run.replicas => {
            insert(&run.leaving.known, from);
            run.look_who_leaves();
        }
        kind::GO if from == 0 || run.replicas => run.may_go(),
        _ => return None,
    }
    Some(())
}

fn answer(run: &Run, to: usize, number: u64) {
    // A process that is gone needs no answer.
    let _ = run.peers.post.answer(run.peers.services[to], letter(kind::NUMBER, &number.to_le_bytes()));
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
