//! Collective operations that go on beside the program: plans that are run step by step, as messages come.

use crate::comms::revocation::{self, revoked};
use crate::errors::{Error, Mpi, class};
use crate::objects::combine::Combine;
use crate::process::machine::{LOOK, gone};
use crate::process::this::{Process, process};
use crate::requests::operations::Progress;
use crate::requests::outcome::Outcome;
use parvum_api::Buffering;
use parvum_api::{Request, Status as Answer, call};
use parvum_collectives::plans::{Area, Group, Plan};
use parvum_collectives::{Course, Exchange, Failure, Fault, Members, Memory, Next, run};
use std::collections::VecDeque;
use std::sync::Arc;

/// Memory of a stage: the program's, or the operation's own.
pub(crate) enum Bytes {
    Program(*mut u8, usize),
    Own(Vec<u8>),
}

// SAFETY: the program promises its memory to the operation until that is over.
unsafe impl Send for Bytes {}

impl Bytes {
    pub(crate) const NONE: Bytes = Bytes::Own(Vec::new());

    pub(crate) fn length(&self) -> usize {
        match self {
            Bytes::Program(_, length) => *length,
            Bytes::Own(bytes) => bytes.len(),
        }
    }

    pub(crate) fn slice(&self) -> &[u8] {
        match self {
            Bytes::Program(_, 0) => &[],
            // SAFETY: see `Send`.
            Bytes::Program(start, length) => unsafe { std::slice::from_raw_parts(*start, *length) },
            Bytes::Own(bytes) => bytes,
        }
    }

    pub(crate) fn slice_mut(&mut self) -> &mut [u8] {
        match self {
            Bytes::Program(_, 0) => &mut [],
            // SAFETY: see `Send`.
            Bytes::Program(start, length) => unsafe { std::slice::from_raw_parts_mut(*start, *length) },
            Bytes::Own(bytes) => bytes,
        }
    }
}

/// One plan among some tasks.
pub(crate) struct Stage {
    pub(crate) plan: Plan,
    pub(crate) tasks: Arc<[i32]>,
    pub(crate) own: usize,
}

/// What the stages of an operation share.
pub(crate) struct Areas {
    pub(crate) mine: Bytes,
    pub(crate) data: Bytes,
}

impl Areas {
    /// Whether a plan's pieces lie within them.
    fn hold(&self, plan: &Plan) -> bool {
        plan.needs(Area::Mine) <= self.mine.length() && plan.needs(Area::Data) <= self.data.length()
    }

    /// Memory of its own for a plan.
    fn made_for(plan: &Plan) -> Areas {
        let [mine, data] = [Area::Mine, Area::Data].map(|area| Bytes::Own(vec![0; plan.needs(area)]));
        Areas { mine, data }
    }
}

/// What is done with the areas between stages, and at the end.
pub(crate) type Then = Box<dyn FnOnce(&mut Areas) + Send>;
/// The same of what may fail.
pub(crate) type Try = Box<dyn FnOnce(&mut Areas) -> Mpi + Send>;

/// A part of an operation.
pub(crate) enum Part {
    Stage(Stage),
    Then(Then),
    /// It is left out when something has failed before.
    Try(Try),
}

/// A collective operation.
pub(crate) struct Schedule {
    parts: VecDeque<Part>,
    areas: Areas,
    /// What a stage uses that does not fit in them: see [`Course::unfit`].
    stand_in: Option<Areas>,
    scratch: Vec<u8>,
    combine: Combine,
    context: u32,
    tag: i32,
    course: Option<(Course<Plan>, Arc<[i32]>, usize)>,
    pending: Option<Request>,
    fault: Option<Error>,
    /// The names of members, for errors: the rank of a task.
    ranks: Arc<dyn Fn(i32) -> Option<usize> + Send + Sync>,
}

impl Schedule {
    pub(crate) fn new(
        parts: Vec<Part>,
        areas: Areas,
        combine: Combine,
        (context, tag): (u32, i32),
        ranks: Arc<dyn Fn(i32) -> Option<usize> + Send + Sync>,
    ) -> Schedule {
        Schedule {
            parts: parts.into(),
            areas,
            stand_in: None,
            scratch: Vec::new(),
            combine,
            context,
            tag,
            course: None,
            pending: None,
            fault: None,
            ranks,
        }
    }

    /// Runs it to its end, waiting.
    pub(crate) fn finish(mut self, process: &Process) -> Mpi {
        while let Some(part) = self.parts.pop_front() {
            match part {
                Part::Then(then) => then(&mut self.areas),
                Part::Try(attempt) => self.attempt(attempt),
                Part::Stage(stage) => {
                    let outcome = self.run_stage(process, &stage);
                    self.note(&stage.tasks, outcome);
                }
            }
        }
        self.fault.map_or(Ok(()), Err)
    }

    fn run_stage(&mut self, process: &Process, Stage { plan, tasks, own }: &Stage) -> Result<(), Failure> {
        let members = Members {
            api: process.api,
            tasks,
            own: *own,
            context: self.context,
            tag: self.tag,
            call: crate::process::introspect::now(call::WAIT),
        };
        self.scratch.resize(self.scratch.len().max(plan.needs(Area::Scratch)), 0);
        let memory = Memory {
            mine: self.areas.mine.slice(),
            data: self.areas.data.slice_mut(),
            scratch: &mut self.scratch,
        };
        run(&mut Guarded(members), plan, memory, &mut |first, second| self.combine.apply(first, second))
    }

    fn attempt(&mut self, attempt: Try) {
        if self.fault.is_none() {
            self.fault = attempt(&mut self.areas).err();
        }
    }

    /// Remembers what went wrong first; the later stages go on, so that nobody waits for this process.
    fn note(&mut self, tasks: &[i32], outcome: Result<(), Failure>) {
        if let Err(failure) = outcome {
            self.fault.get_or_insert_with(|| named(failure, tasks, &*self.ranks));
        }
    }

    /// One step of the course; whether it can go on.
    fn step(&mut self, process: &Process) -> bool {
        let Some((course, tasks, own)) = &mut self.course else { return true };
        let members = Members {
            api: process.api,
            tasks,
            own: *own,
            context: self.context,
            tag: self.tag,
            call: call::WAIT,
        };
        let areas = self.stand_in.as_mut().unwrap_or(&mut self.areas);
        let mut memory =
            Memory { mine: areas.mine.slice(), data: areas.data.slice_mut(), scratch: &mut self.scratch };
        let done = match course.next(&mut memory, &mut |first, second| self.combine.apply(first, second)) {
            Next::Over => {
                let outcome = course.outcome().map_err(Failure::Fault);
                let tasks = tasks.clone();
                self.course = None;
                self.stand_in = None;
                self.note(&tasks, outcome);
                return true;
            }
            Next::Send { to, piece, word } => {
                let begun = match self.pending.take() {
                    Some(request) => Ok(Some(request)),
                    // SAFETY: the memory stays with the schedule, and no later step comes before this request is over.
                    None => unsafe {
                        process.api.start_pieces(&members.outgoing(to, word), &[memory.piece(piece)])
                    },
                };
                match begun {
                    Ok(None) => {
                        course.sent();
                        Ok(())
                    }
                    Ok(Some(request)) => match process.api.wait(request, &LOOK) {
                        Err(Answer::Pending) => {
                            self.pending = Some(request);
                            return false;
                        }
                        outcome => outcome.map(|_| course.sent()),
                    },
                    Err(status) => Err(status),
                }
            }
            Next::Receive { from, piece } => {
                let request = self.pending.take().unwrap_or_else(|| {
                    let room = memory.room(piece);
                    // SAFETY: as above.
                    unsafe { process.api.post_into(&members.pattern(from), room.as_mut_ptr(), room.len(), 0) }
                });
                match process.api.wait_seen(request, &LOOK) {
                    Err(Answer::Pending) => {
                        self.pending = Some(request);
                        return false;
                    }
                    outcome => outcome.map(|message| course.received(message.meta, message.length)),
                }
            }
        };
        match done {
            Ok(()) => {}
            Err(Answer::Gone | Answer::Unknown) => course.gone(),
            Err(other) => {
                let tasks = tasks.clone();
                self.course = None;
                self.stand_in = None;
                self.note(&tasks, Err(Failure::Engine(other)));
            }
        }
        true
    }
}

impl Progress for Schedule {
    fn poll(&mut self, process: &Process) -> Option<Outcome> {
        loop {
            if revocation::is_revoked(self.context - 1) {
                if let Some(request) = self.pending.take() {
                    process.api.cancel(request);
                }
                return Some(Outcome::failed(revoked()));
            }
            if self.course.is_none() {
                match self.parts.pop_front() {
                    None => return Some(Outcome { error: self.fault.take(), ..Outcome::EMPTY }),
                    Some(Part::Then(then)) => then(&mut self.areas),
                    Some(Part::Try(attempt)) => self.attempt(attempt),
                    Some(Part::Stage(Stage { plan, tasks, own })) => {
                        self.scratch.resize(self.scratch.len().max(plan.needs(Area::Scratch)), 0);
                        let size = tasks.len();
                        let course = if self.areas.hold(&plan) {
                            Course::new(plan, size)
                        } else {
                            self.stand_in = Some(Areas::made_for(&plan));
                            Course::unfit(plan, size)
                        };
                        self.course = Some((course, tasks, own));
                    }
                }
                continue;
            }
            if !self.step(process) {
                return None;
            }
        }
    }

    fn awaited(&self, requests: &mut Vec<Request>) {
        requests.extend(self.pending);
    }

    fn is_collective(&self) -> bool {
        true
    }
}

/// What went wrong, by the rank of who is to blame.
pub(crate) fn named(failure: Failure, tasks: &[i32], rank_of: &dyn Fn(i32) -> Option<usize>) -> Error {
    match failure {
        Failure::Fault(Fault::Gone(member)) => {
            let task = tasks.get(member).copied().unwrap_or_default();
            let who = rank_of(task).map_or(format!("task t{task:x}"), |rank| format!("rank {rank}"));
            gone(&who)
        }
        Failure::Fault(Fault::Disagreed) => {
            let text = "the ranks do not agree on what they do, or how much data there is: compare the calls, counts and datatypes on all of them";
            Error::new(class::TRUNCATE, text)
        }
        Failure::Engine(Answer::Cancelled) => revoked(),
        Failure::Engine(Answer::NoMachine) => Error::new(class::OTHER, "the machine is lost"),
        Failure::Engine(Answer::Refused) => Error::new(class::OTHER, refusal()),
        Failure::Engine(status) => Error::new(class::INTERN, format!("the engine answered {status:?}")),
    }
}

/// Why the engine has refused the last call of this thread.
fn refusal() -> String {
    process().map_or_else(|_| "the engine refused the message".to_owned(), |process| process.api.last_error())
}

/// The members, waiting for whom moves everything else that is under way.
pub(crate) struct Guarded<'m>(pub(crate) Members<'m>);

impl Exchange for Guarded<'_> {
    fn group(&self) -> Group {
        self.0.group()
    }

    #[inline]
    fn send(&mut self, to: usize, word: u32, data: &[u8]) -> Result<(), Answer> {
        debug_assert_eq!(self.0.outgoing(to, word).buffering, Buffering::AtSender);
        self.0.send(to, word, data)
    }

    #[inline]
    fn receive(&mut self, from: usize, room: &mut [u8]) -> Result<(u32, u64), Answer> {
        if crate::requests::progress::is_quiet() && revocation::news().is_none() {
            return self.0.receive(from, room);
        }
        let Ok(process) = crate::process::this::process() else { return Err(Answer::NoMachine) };
        // SAFETY: the memory is borrowed until this returns, and the request is over then.
        let request =
            unsafe { process.api.post_into(&self.0.pattern(from), room.as_mut_ptr(), room.len(), 0) };
        let notes = self.0.notes(from);
        let mut requests = Vec::new();
        loop {
            crate::requests::progress::move_all(process);
            match process.api.wait_seen(request, &LOOK) {
                Err(Answer::Pending) => {}
                outcome => return outcome.map(|message| (message.meta, message.length)),
            }
            // The context of collective operations is behind the communicator's own.
            if revocation::is_revoked(self.0.context - 1) {
                process.api.cancel(request);
                return Err(Answer::Cancelled);
            }
            requests.clear();
            requests.push(request);
            crate::requests::progress::awaited_by_all(&mut requests);
            process.api.wait_any(&requests, u64::MAX, &notes);
            if process.api.progress().lost {
                return Err(Answer::NoMachine);
            }
        }
    }
}
