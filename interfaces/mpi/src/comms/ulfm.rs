//! What the survivors of a communicator agree on: one answer, the same for all who get one, whoever dies meanwhile.
//!
//! The machine's mailbox is the judge: its daemons agree on one order of changes, and of two entries under one name the first stays. Each
//! member says its part there. Who sees that every member has said something or is dead writes down what follows from that; if somebody
//! else was first, what stands there counts. It outlives whoever has written it. (Agreement and shrinking after ULFM: Bland and others,
//! 2013; the way is ours.)

use crate::comms::comm::{Comm, Remote};
use crate::comms::contexts::OwnContext;
use crate::comms::create::{duplicate_of, numbers, words};
use crate::comms::failure::dead;
use crate::comms::group::Group;
use crate::errors::{Error, Mpi, class};
use crate::process::this::Process;
use crate::requests::operations::Progress;
use crate::requests::outcome::Outcome;
use parvum_api::Request as Awaited;
use parvum_wire::control::{Blob, MailFlags, Reply, Request};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the members agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The bits that all have set.
    Flags(i32),
    /// Who is left, and their new context.
    Survivors,
}

/// One agreement, until it is reached.
struct Agreement {
    name: String,
    before: Option<String>,
    members: Arc<[i32]>,
    own: usize,
    question: Question,
    acknowledged: Vec<usize>,
    has_said: bool,
    /// A context that this process has proposed.
    proposed: Option<OwnContext>,
    next_look: Instant,
    pause: Duration,
}

/// What stands in the mailbox at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) flags: i32,
    pub(crate) context: u32,
    /// Somebody is dead whose death not all have acknowledged.
    pub(crate) is_news: bool,
    /// The places of those who live.
    pub(crate) living: Vec<usize>,
}

impl Decision {
    fn bytes(&self) -> Vec<u8> {
        let mut all = numbers([self.flags as u32, self.context, u32::from(self.is_news)]);
        all.extend(numbers(self.living.iter().map(|&place| place as u32)));
        all
    }

    fn read(bytes: &[u8]) -> Option<Decision> {
        let [flags, context, is_news, ref living @ ..] = words(bytes)[..] else { return None };
        let living = living.iter().map(|&place| place as usize).collect();
        Some(Decision { flags: flags as i32, context, is_news: is_news != 0, living })
    }
}

/// All members of a communicator, of both sides in one order; and this process's place.
fn members(comm: &Comm) -> (Arc<[i32]>, usize) {
    let Some(remote) = comm.remote() else { return (comm.group().tasks().clone(), comm.rank()) };
    let (here, there) = (comm.group().tasks(), remote.group.tasks());
    let (first, second) = if remote.is_first { (here, there) } else { (there, here) };
    let own = if remote.is_first { comm.rank() } else { there.len() + comm.rank() };
    (first.iter().chain(second.iter()).copied().collect(), own)
}

impl Agreement {
    fn new(comm: &Comm, question: Question) -> Agreement {
        let number = comm.next_agreement();
        let name = |number: u32| format!("MPI agreement {:x}:{number}", comm.context());
        let (members, own) = members(comm);
        Agreement {
            name: name(number),
            before: number.checked_sub(1).map(name),
            members,
            own,
            question,
            acknowledged: comm.acknowledged(),
            has_said: false,
            proposed: None,
            next_look: Instant::now(),
            pause: Duration::from_micros(50),
        }
    }

    /// The context of the decision, if it is the one that this process has of the machine; one that was not taken goes back.
    fn context_of(&mut self, decision: &Decision) -> Option<OwnContext> {
        self.proposed.take().filter(|proposed| proposed.number() == decision.context)
    }

    /// Goes on without waiting; what was agreed on, once it is.
    fn poll(&mut self, process: &Process) -> Option<Mpi<Decision>> {
        if Instant::now() < self.next_look {
            return None;
        }
        match self.step(process) {
            Ok(None) => {
                // The others come when they come.
                self.pause = (self.pause * 2).min(Duration::from_millis(20));
                self.next_look = Instant::now() + self.pause;
                None
            }
            Ok(Some(decision)) => {
                // Who takes part in this one has the one before; what was said here is in the decision.
                if let Some(before) = self.before.take() {
                    let _ = remove(process, &before);
                }
                let _ = remove(process, &self.said(self.own));
                Some(Ok(decision))
            }
            Err(error) => Some(Err(error)),
        }
    }

    fn said(&self, place: usize) -> String {
        format!("{} of {place}", self.name)
    }

    fn step(&mut self, process: &Process) -> Mpi<Option<Decision>> {
        if !self.has_said {
            let flags = match self.question {
                Question::Flags(flags) => flags,
                Question::Survivors => -1,
            };
            let mut part = numbers([flags as u32]);
            part.extend(numbers(self.acknowledged.iter().map(|&rank| rank as u32)));
            put(process, self.said(self.own), part, false)?;
            self.has_said = true;
        }
        if let Some(decision) = get(process, &self.name)? {
            return Decision::read(&decision).map(Some).ok_or_else(unreadable);
        }
        // The dead are looked up first: whoever dies afterwards has said its part, or is missed next time.
        let dead = dead(process, &self.members)?;
        let (mut flags, mut known) = (-1, dead.clone());
        for place in (0..self.members.len()).filter(|place| !dead.contains(place)) {
            let Some(part) = get(process, &self.said(place))? else { return Ok(None) };
            let [said, ref acknowledged @ ..] = words(&part)[..] else { return Err(unreadable()) };
            flags &= said as i32;
            known.retain(|place| acknowledged.contains(&(*place as u32)));
        }
        let context = match self.question {
            Question::Flags(_) => 0,
            Question::Survivors => match &self.proposed {
                Some(proposed) => proposed.number(),
                None => self.proposed.insert(OwnContext::new()?).number(),
            },
        };
        let living = (0..self.members.len()).filter(|place| !dead.contains(place)).collect();
        let decision = Decision { flags, context, is_news: known.len() < dead.len(), living };
        put(process, self.name.clone(), decision.bytes(), true)?;
        // Whatever was first.
        match get(process, &self.name)? {
            Some(decision) => Decision::read(&decision).map(Some).ok_or_else(unreadable),
            None => Ok(None),
        }
    }
}

/// What is done with what was agreed on.
pub(crate) type Then = Box<dyn FnOnce(Decision, Option<OwnContext>) -> Mpi + Send>;

/// An agreement as an operation, and what is done with what was agreed on.
pub(crate) struct Agreeing {
    agreement: Agreement,
    then: Option<Then>,
}

impl Agreeing {
    pub(crate) fn new(comm: &Comm, question: Question, then: Then) -> Agreeing {
        Agreeing { agreement: Agreement::new(comm, question), then: Some(then) }
    }
}

impl Progress for Agreeing {
    fn poll(&mut self, process: &Process) -> Option<Outcome> {
        let outcome = self.agreement.poll(process)?.and_then(|decision| {
            let own = self.agreement.context_of(&decision);
            self.then.take().map_or(Ok(()), |then| then(decision, own))
        });
        Some(outcome.map_or_else(Outcome::failed, |()| Outcome::EMPTY))
    }

    /// The mailbox is asked now and then: no message comes.
    fn awaited(&self, _: &mut Vec<Awaited>) {}
}

fn unreadable() -> Error {
    Error::new(class::INTERN, "the machine's mailbox has something else under the name of an agreement")
}

/// Puts an entry; that there is one already is no error.
fn put(process: &Process, name: String, bytes: Vec<u8>, outlives: bool) -> Mpi {
    let outliving = MailFlags::PERSISTENT.and(MailFlags::OF_JOB);
    let flags = if outlives { outliving } else { MailFlags(0) };
    let request = Request::MailPut { name, index: None, flags, data: Blob(bytes) };
    process.ask(&request).map(|_| ()).map_err(|status| process.failed(status, None))
}

fn get(process: &Process, name: &str) -> Mpi<Option<Vec<u8>>> {
    let request = Request::MailGet { name: name.to_owned(), index: 0, first: true, take: false, wait: false };
    match process.ask(&request).map_err(|status| process.failed(status, None))? {
        Ok(Reply::Mail { data, .. }) => Ok(Some(data.0)),
        _ => Ok(None),
    }
}

fn remove(process: &Process, name: &str) -> Mpi {
    let request = Request::MailRemove { name: name.to_owned(), index: 0 };
    process.ask(&request).map(|_| ()).map_err(|status| process.failed(status, None))
}

/// Whose deaths not all have acknowledged: the error of an agreement that was reached all the same.
pub(crate) fn news(decision: &Decision) -> Mpi {
    match decision.is_news {
        false => Ok(()),
        true => Err(Error::new(class::PROC_FAILED, "a process has died, and not all have acknowledged it")),
    }
}

/// The communicator of those who are left.
pub(crate) fn shrunk(
    process: &Process,
    comm: &Arc<Comm>,
    decision: &Decision,
    own: Option<OwnContext>,
) -> Mpi<Comm> {
    let (all, _) = members(comm);
    let lives = |task: &&i32| decision.living.iter().any(|&place| all[place] == **task);
    let living =
        |group: &Group| Group::new(group.tasks().iter().filter(lives).copied().collect(), process.me());
    let group = Arc::new(living(comm.group()));
    let remote = match comm.remote() {
        None => None,
        Some(remote) => {
            // The one side's own communicator is not spoken over while members may be dead: it gets a context by itself.
            let local = duplicate_of(&group, decision.context ^ SIDE);
            Some(Remote {
                group: Arc::new(living(&remote.group)),
                local: Arc::new(local),
                is_first: remote.is_first,
            })
        }
    };
    Ok(Comm::new(group, remote, decision.context).owning(own).like(comm))
}

/// In the context of the one side's own communicator: contexts from the first 2,047 hosts do not have this bit.
const SIDE: u32 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_reads_back_as_written() {
        let decision = Decision { flags: -7, context: 9, is_news: true, living: vec![0, 2, 5] };
        assert_eq!(Decision::read(&decision.bytes()), Some(decision));
        assert_eq!(Decision::read(&[1, 2, 3]), None);
    }
}
