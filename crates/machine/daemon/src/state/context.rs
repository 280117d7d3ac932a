//! Contexts: tags of one context are not seen in another.
//!
//! Each context has an owner, a task or a whole job, and is free again when the owner ends. No owner may hold more contexts than are
//! left for the others, so one job cannot starve another.

use super::*;
use std::collections::HashMap;

/// The first number given out: above those that programs choose themselves.
const FIRST: u32 = 1;
/// Numbers of one host: PVM's own begin above.
const LAST: u32 = 0x3_ffff;

/// The contexts that are in use.
#[derive(Default)]
pub(super) struct Contexts {
    /// The owner of each number in use.
    owners: HashMap<u32, Tid>,
    /// The numbers of each owner.
    of: HashMap<Tid, Vec<u32>>,
    last: u32,
}

impl Contexts {
    /// The contexts of a daemon's life. The first begins as PVM does. A daemon that starts anew begins elsewhere: tasks of other hosts
    /// may still send in contexts that its predecessor gave out.
    pub(super) fn new(life: u64) -> Contexts {
        // A multiplier of linear congruence: lives that follow each other are far apart.
        let last = (life.saturating_sub(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 % LAST;
        Contexts { last, ..Contexts::default() }
    }

    /// A number that is not in use, for that owner. Numbers go round, so a number that is free again is given out last: what was
    /// sent in the old context has come long before.
    pub(super) fn take(&mut self, owner: Tid, bound: usize) -> Result<u32, usize> {
        let bound = bound.min((LAST - FIRST + 1) as usize);
        let own = self.of.get(&owner).map_or(0, Vec::len);
        if own >= bound.saturating_sub(self.owners.len()) {
            return Err(own);
        }
        loop {
            self.last = if self.last >= LAST { FIRST } else { self.last + 1 };
            if let std::collections::hash_map::Entry::Vacant(free) = self.owners.entry(self.last) {
                free.insert(owner);
                self.of.entry(owner).or_default().push(self.last);
                return Ok(self.last);
            }
        }
    }

    /// Frees a number. Whether it was in use.
    fn free(&mut self, number: u32) -> bool {
        let Some(owner) = self.owners.remove(&number) else { return false };
        if let Some(numbers) = self.of.get_mut(&owner) {
            // What was made last is mostly freed first.
            if let Some(at) = numbers.iter().rposition(|own| *own == number) {
                numbers.swap_remove(at);
            }
            if numbers.is_empty() {
                self.of.remove(&owner);
            }
        }
        true
    }

    /// Frees all that a task or a job has.
    pub(super) fn free_all(&mut self, owner: Tid) {
        for number in self.of.remove(&owner).unwrap_or_default() {
            self.owners.remove(&number);
        }
    }

    /// Frees all of owners on that host: it is out of the machine.
    pub(super) fn free_all_of_host(&mut self, host: u32) {
        let lost: Vec<Tid> = self.of.keys().copied().filter(|owner| owner.host() == host).collect();
        lost.into_iter().for_each(|owner| self.free_all(owner));
    }

    /// How many are in use.
    pub(super) fn in_use(&self) -> usize {
        self.owners.len()
    }
}

impl<F: Clone> Machine<F> {
    /// `shared`: the context is for all tasks of the caller's job, and stays when the caller ends.
    pub(super) fn new_context(&mut self, client: ClientId, id: RequestId, me: Tid, shared: bool) {
        // The host's bits above, as PVM has them: two hosts never give the same.
        let host = me.daemon().0 as u32;
        let job = self.tasks.get(&me).and_then(|task| task.job).filter(|_| shared);
        let result = match self.contexts.take(job.unwrap_or(me), self.config.limits.contexts) {
            Ok(number) => Ok(Reply::Number(host | number)),
            Err(own) => {
                let who = if job.is_some() { "this job" } else { "this task" };
                let detail = format!(
                    "{who} has {own} contexts, and no more are left than other jobs may need; help: free some (MPI_Comm_free, pvm_freecontext)"
                );
                Err(Failure::new(ErrorKind::OutOfResources, detail))
            }
        };
        self.answer(client, id, result);
    }

    /// Frees a context of the caller or of its job. `job` is what the caller's own daemon says, if that is another.
    pub(super) fn free_context(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Tid,
        context: u32,
        job: Option<Tid>,
    ) {
        let host = self.daemon_tid().0 as u32;
        let job = self.tasks.get(&me).map_or(job, |task| task.job);
        let number = context & LAST;
        let owner = self.contexts.owners.get(&number).filter(|_| context & !LAST == host);
        let may = owner.is_some_and(|owner| *owner == me || Some(*owner) == job);
        let result = if may && self.contexts.free(number) {
            Ok(Reply::Done)
        } else {
            let detail = format!("context {context} is not one that {me} or its job has made");
            Err(Failure::new(ErrorKind::NoSuchEntry, detail))
        };
        self.answer(client, id, result);
    }
}
