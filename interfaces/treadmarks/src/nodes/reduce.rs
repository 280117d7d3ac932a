//! `Tmk_reduce` when a process may die (`TMK_REPLICAS`): by letters, for the operations of all nodes are of all that began.
//!
//! All give their arrays to the first that lives, which combines them in the order of nodes and gives all the result.
//! Operations are numbered from the last death that a barrier has reported, so that old contributions are not confused
//! with repeated contributions. A stranded process leaves without a result, because its work will be undone.

use crate::errors::Trouble;
use crate::nodes::far::Far;
use crate::nodes::letters::{kind, letter};
use crate::nodes::peers::Peers;
use parvum_collectives::operators::{Combine, Kind, Operator, combine};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of deaths that barriers have reported, and the number of operations since.
type Turn = u64;

/// Bytes before the data: which operation, of what type, and how.
const HEAD: usize = 8 + 2;

#[derive(Default)]
pub(crate) struct Reduces {
    next: AtomicU64,
    /// At the first that lives: what has been given.
    given: Mutex<BTreeMap<Turn, BTreeMap<usize, Vec<u8>>>>,
}

/// The meaning of the numbers in `Tmk.h`; `None`: nothing.
pub(crate) fn operation(type_: i32, op: i32) -> Option<(Kind, Operator)> {
    let kinds = [Kind::I32, Kind::I64, Kind::F32, Kind::F64];
    let operators = [Operator::Sum, Operator::Product, Operator::Min, Operator::Max];
    let at = |number: i32| usize::try_from(number).ok()?.checked_sub(1);
    Some((*kinds.get(at(type_)?)?, *operators.get(at(op)?)?))
}

fn combining(type_: u8, op: u8) -> Option<Combine> {
    let (kind, operator) = operation(type_.into(), op.into())?;
    combine(operator, kind)
}

impl Reduces {
    /// A barrier has reported this total number of deaths.
    pub(crate) fn recovered(&self, deaths: u32) {
        let turn = u64::from(deaths) << 32;
        // Relaxed: calls are of one thread at a time.
        self.next.store(turn, Ordering::Relaxed);
        self.lock().retain(|&other, _| other >= turn);
    }

    /// The program's call. `type_` and `op` make sense.
    pub(crate) fn reduce(
        &self,
        peers: &Peers,
        far: &Far,
        data: &mut [u8],
        (type_, op): (u8, u8),
    ) -> Result<(), Trouble> {
        let _alone = peers.program()?;
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let mut given = turn.to_le_bytes().to_vec();
        given.extend([type_, op]);
        given.extend_from_slice(data);
        match peers.keeper() {
            keeper if keeper == peers.own => self.gives(peers, far, keeper, &given)?,
            // The virtual machine reports processes that are gone.
            keeper => _ = peers.post.ask(peers.services[keeper], letter(kind::REDUCE, &given)),
        }
        while !far.is_stranded(peers) {
            let (from, letter) = peers.next_answer()?;
            let Some((&kind::REDUCED, result)) = letter.split_first() else { continue };
            match result.split_first_chunk() {
                Some((of, result)) if *of == turn.to_le_bytes() => {
                    if result.len() != data.len() {
                        return Err(Trouble::Malformed(from));
                    }
                    data.copy_from_slice(result);
                    return Ok(());
                }
                // An answer that this process did not wait for, because another process had died.
                _ => {}
            }
        }
        Ok(())
    }

    /// At the first that lives: one more has given its array. With the last, this process's among them, all get the result.
    pub(crate) fn gives(&self, peers: &Peers, far: &Far, from: usize, bytes: &[u8]) -> Result<(), Trouble> {
        let wrong = Trouble::Malformed(from);
        let Some((turn, _)) = bytes.split_first_chunk().filter(|_| bytes.len() >= HEAD) else {
            return Err(wrong);
        };
        let turn = Turn::from_le_bytes(*turn);
        let members = far.living(peers);
        let all = {
            let mut given = self.lock();
            let of_turn = given.entry(turn).or_default();
            of_turn.insert(from, bytes.to_vec());
            // Others may have recovered from a death that this process has yet to hear of.
            let is_of_now = turn >> 32 == u64::from(far.recovered_from(peers));
            if !is_of_now || !members.iter().all(|node| of_turn.contains_key(node)) {
                return Ok(());
            }
            given.remove(&turn).unwrap_or_default()
        };
        let mut all = all.into_iter().filter(|(node, _)| members.contains(node));
        let Some((_, first)) = all.next() else { return Ok(()) };
        let combine = combining(first[8], first[9]).ok_or(Trouble::Malformed(from))?;
        let mut result = first[HEAD..].to_vec();
        for (node, other) in all {
            if other.len() != first.len() || other[8..HEAD] != first[8..HEAD] {
                return Err(Trouble::DifferentReduces(node));
            }
            combine(&mut result, &other[HEAD..]);
        }
        let reduced = [&turn.to_le_bytes()[..], &result].concat();
        for node in members {
            let _ = peers.post.answer(peers.services[node], letter(kind::REDUCED, &reduced));
        }
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Turn, BTreeMap<usize, Vec<u8>>>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
