//! The resource manager, the tasker and the hoster: pvm_reg_rm(3), pvm_reg_tasker(3), pvm_reg_hoster(3).
//!
//! While a task plays the manager, `pvm_spawn`, `pvm_config`, `pvm_tasks`, `pvm_addhosts`, `pvm_delhosts` and
//! `pvm_notify` of other tasks become messages to it. The manager's own library decodes the messages of the manager to
//! a daemon, and sends requests in the daemon's own protocol. It turns the daemon's answer into the message that PVM's
//! daemon would send.

use crate::buffers::buffer::{Buffer, WAIT_ID};
use crate::buffers::words::{Reading, Words};
use crate::errors::{Pvm, PvmError};
use crate::state::Locked;
use parvum_api::{Buffering, Completion};
use parvum_api::{Message, Notes, Pattern, Receiving, SendTo, Status, TagKind, call};
use parvum_wire::control::{Blob, ExitStatus, Output, OutputMessages, Part, Reply, Request, SpawnRequest};
use parvum_wire::{Tid, encoding};

/// PVM's tags between tasks, manager, tasker and daemons.
pub(crate) mod tag {
    const FIRST: i32 = 0x8004_0001_u32 as i32;
    pub(crate) const SPAWN: i32 = FIRST;
    pub(crate) const EXEC: i32 = FIRST + 1;
    pub(crate) const EXEC_ACK: i32 = FIRST + 2;
    pub(crate) const TASK: i32 = FIRST + 3;
    pub(crate) const CONFIG: i32 = FIRST + 4;
    pub(crate) const ADD_HOSTS: i32 = FIRST + 5;
    pub(crate) const DELETE_HOSTS: i32 = FIRST + 6;
    pub(crate) const ADD: i32 = FIRST + 7;
    pub(crate) const ADD_ACK: i32 = FIRST + 8;
    pub(crate) const NOTIFY: i32 = FIRST + 9;
    pub(crate) const TASK_ENDED: i32 = FIRST + 10;
    pub(crate) const HAND_OFF: i32 = FIRST + 12;
    pub(crate) const HOSTS_STARTED: i32 = FIRST + 15;
}

const CONTEXT: u32 = 0;

/// The manager's record of a task.
pub(crate) struct ManagedTask {
    pub(crate) tid: i32,
    pub(crate) parent: i32,
    pub(crate) host: i32,
    pub(crate) flag: i32,
    pub(crate) program: Vec<u8>,
    pub(crate) pid: i32,
}

/// The manager's record of a host.
pub(crate) struct ManagedHost {
    pub(crate) tid: i32,
    pub(crate) name: Vec<u8>,
    pub(crate) arch: Vec<u8>,
    pub(crate) speed: i32,
    pub(crate) dsig: i32,
}

impl Locked {
    /// The manager to be asked instead of the daemon, if there is one and it is another task.
    pub(crate) fn manager(&mut self) -> Pvm<Option<i32>> {
        let me = self.me()?.tid;
        let manager = self.machine()?.manager();
        crate::calls::publish_manager(manager.unwrap_or(0));
        Ok(manager.filter(|manager| *manager != me))
    }

    /// Asks the manager and reads its answer; `None` if the manager died during the call.
    fn consult<T>(
        &mut self,
        manager: i32,
        tag: i32,
        question: Words,
        read: impl FnOnce(&mut Reading) -> Pvm<T>,
    ) -> Pvm<Option<T>> {
        self.bring_all();
        let api = self.machine()?;
        self.last_question = self.last_question % 0x7fff + 1;
        let meta = encoding::XDR | WAIT_ID | (self.last_question as u32) << 16;
        let how = SendTo {
            to: manager,
            tag,
            context: CONTEXT,
            meta,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        let notes = Notes { limit: -1, call: call::MACHINE, peer: manager, tag, context: CONTEXT as i32 };
        let gone = |status: Status| matches!(status, Status::Gone | Status::Unknown);
        match api.send(how, &[&question.0], &notes) {
            Ok(()) => {}
            Err(status) if gone(status) => return Ok(None),
            Err(status) => return Err(status.into()),
        }
        let pattern =
            Pattern { from: manager, tags: TagKind::Exactly, tag, other: 0, context: CONTEXT.into() };
        match api.receive(&pattern, Receiving::Block, &notes) {
            Ok(answer) => {
                let result = read(&mut Reading::new(crate::calls::bytes_of(&answer)));
                api.give_back(&answer);
                result.map(Some)
            }
            Err(status) if gone(status) => Ok(None),
            Err(status) => Err(status.into()),
        }
    }

    /// Has the manager start tasks: a tid or an error code for each. Nothing: it died.
    pub(crate) fn spawn_by_manager(&mut self, manager: i32, plan: &SpawnRequest) -> Pvm<Option<Vec<i32>>> {
        let place = match &plan.place {
            parvum_wire::control::SpawnWhere::Anywhere => String::new(),
            parvum_wire::control::SpawnWhere::Host(name)
            | parvum_wire::control::SpawnWhere::Arch(name)
            | parvum_wire::control::SpawnWhere::NotHost(name)
            | parvum_wire::control::SpawnWhere::NotArch(name) => name.clone(),
        };
        let (to, context, tag) = match plan.output {
            Output::Messages(OutputMessages { to, context, tag }) => (to.0, context as i32, tag),
            _ => (0, 0, 0),
        };
        let question = Words::default()
            .text(&plan.program.0)
            .number(plan.flag)
            .text(place.as_bytes())
            .number(plan.count as i32)
            .list(plan.args.iter().map(|arg| &arg.0[..]))
            .numbers(&[to, context, tag, 0, 0, 0])
            .list(plan.env_add.iter().map(|variable| &variable.0[..]));
        self.consult(manager, tag::SPAWN, question, |answer| {
            let count = answer.number()?;
            if count < 0 {
                return Err(PvmError::from_code(count));
            }
            (0..count).map(|_| answer.number()).collect()
        })
    }

    /// The hosts and the number of architectures, as the manager reports them.
    pub(crate) fn hosts_by_manager(&mut self, manager: i32) -> Pvm<Option<(Vec<ManagedHost>, i32)>> {
        self.consult(manager, tag::CONFIG, Words::default(), |answer| {
            let (count, archs) = (answer.number()?, answer.number()?);
            let host = |answer: &mut Reading| {
                Ok(ManagedHost {
                    tid: answer.number()?,
                    name: answer.text()?,
                    arch: answer.text()?,
                    speed: answer.number()?,
                    dsig: answer.number()?,
                })
            };
            Ok(((0..count).map(|_| host(answer)).collect::<Pvm<Vec<_>>>()?, archs))
        })
    }

    /// The tasks, as the manager tells them.
    pub(crate) fn tasks_by_manager(&mut self, manager: i32, of: i32) -> Pvm<Option<Vec<ManagedTask>>> {
        self.consult(manager, tag::TASK, Words::default().number(of), |answer| {
            let status = answer.number()?;
            if status < 0 {
                return Err(PvmError::from_code(status));
            }
            let mut tasks = Vec::new();
            // To the end of the message: it does not say how many.
            while let Ok(tid) = answer.number() {
                tasks.push(ManagedTask {
                    tid,
                    parent: answer.number()?,
                    host: answer.number()?,
                    flag: answer.number()?,
                    program: answer.text()?,
                    pid: answer.number()?,
                });
            }
            Ok(tasks)
        })
    }

    /// Has the manager add or delete hosts: a tid, 0 or an error code for each.
    pub(crate) fn hosts_change_by_manager(
        &mut self,
        manager: i32,
        names: &[String],
        add: bool,
    ) -> Pvm<Option<Vec<i32>>> {
        let question = Words::default().list(names.iter().map(|name| name.as_bytes()));
        let tag = if add { tag::ADD_HOSTS } else { tag::DELETE_HOSTS };
        self.consult(manager, tag, question, |answer| {
            let count = answer.number()?;
            if count < 0 {
                return Err(PvmError::from_code(count));
            }
            if add {
                answer.number()?;
            }
            let result = |answer: &mut Reading| {
                let tid = answer.number()?;
                if add {
                    // Its name, architecture, speed and data format.
                    answer.text()?;
                    answer.text()?;
                    answer.number()?;
                    answer.number()?;
                }
                Ok(tid)
            };
            (0..count).map(|_| result(answer)).collect()
        })
    }

    /// Asks the manager for a notification. The answer of the manager is the notice itself.
    pub(crate) fn notify_by_manager(
        &mut self,
        manager: i32,
        what: i32,
        tag: i32,
        count: i32,
        tids: &[Tid],
    ) -> Pvm<i32> {
        let context = self.context as i32;
        let words = Words::default().numbers(&[what, context, tag, count]);
        let Words(data) = tids.iter().fold(words, |words, tid| words.number(tid.0));
        let tag = tag::NOTIFY;
        let how = SendTo {
            to: manager,
            tag,
            context: CONTEXT,
            meta: encoding::XDR,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        let notes = Notes { limit: -1, call: call::SEND, peer: manager, tag, context: CONTEXT as i32 };
        Ok(self.machine()?.send(how, &[&data], &notes).map(|()| 0)?)
    }

    /// Becomes the manager, the tasker or the hoster.
    pub(crate) fn play(&mut self, part: Part) -> Pvm<i32> {
        self.ask(&Request::Register { part }).map(|_| 0)
    }

    /// Does what the active send buffer, sent to a daemon, orders it to do.
    pub(crate) fn order_daemon(&mut self, tag: i32) -> Pvm<i32> {
        let id = self.sending;
        let wait_id = self.info(id)?.wait_id;
        let bytes = match self.buffer(id)? {
            Buffer::Packed(packed) => crate::calls::with_pieces(packed, |pieces| pieces.concat()),
            Buffer::Arrived(arrived) => crate::calls::bytes_of(&arrived.message).to_vec(),
            Buffer::Found(_) => return Err(PvmError::NoBuf),
        };
        let mut order = Reading::new(&bytes);
        let answer = match tag {
            tag::EXEC => (tag::EXEC_ACK, self.start_for(&mut order)?),
            tag::ADD => (tag::ADD_ACK, self.add_for(&mut order)?),
            tag::HAND_OFF => {
                let to = Tid(order.number()?);
                return self.ask(&Request::HandOver { part: Part::Manager, to }).map(|_| 0);
            }
            tag::TASK_ENDED => {
                let (tid, status) = (Tid(order.number()?), exit_status(order.number()?));
                return self.ask(&Request::TaskEnded { tid, status }).map(|_| 0);
            }
            tag::HOSTS_STARTED => {
                let mut results = Vec::new();
                // In PVM's manual the number of hosts is implied, but PVM's daemon expects it in front. A host's id is
                // larger than any number of hosts, so both forms can be distinguished.
                let mut next = order.number()?;
                if next < Tid::new(1, 0).map_or(0, |first| first.0) {
                    next = order.number()?;
                }
                loop {
                    results.push((Tid(next), Blob(order.text()?)));
                    match order.number() {
                        Ok(tid) => next = tid,
                        Err(_) => break,
                    }
                }
                return self.ask(&Request::HostsStarted { results }).map(|_| 0);
            }
            _ => return Err(PvmError::BadParam),
        };
        let (tag, Words(data)) = answer;
        let meta = encoding::XDR | WAIT_ID | (wait_id as u32 & 0xffff) << 16;
        let envelope = Message { from: Tid::LOCAL_DAEMON.0, tag, context: CONTEXT, meta, ..Message::NONE };
        self.machine()?.inject(&envelope, &data)?;
        Ok(0)
    }

    /// Starts tasks for another task.
    fn start_for(&mut self, order: &mut Reading) -> Pvm<Words> {
        let behalf = order.number()?;
        let program = Blob(order.text()?);
        let (flag, count) = (order.number()?, order.number()?);
        let args = order.list()?;
        let [to, context, tag, ..] = read_numbers::<6>(order)?;
        let env = order.list()?;
        let output = match to {
            0 => Output::Inherit,
            to => Output::Messages(OutputMessages { to: Tid(to), context: context as u32, tag }),
        };
        let request = Request::Spawn(SpawnRequest {
            program,
            args: args.into_iter().map(Blob).collect(),
            count: u32::try_from(count).map_err(|_| PvmError::BadParam)?,
            search: crate::calls::search_path(),
            env_add: env.into_iter().map(Blob).collect(),
            output,
            flag,
            behalf: (behalf > 0).then_some(Tid(behalf)),
            ..SpawnRequest::default()
        });
        let results = match self.ask(&request) {
            Ok(Reply::Spawned(results)) => results,
            Ok(_) => return Err(PvmError::DSysErr),
            // All of them failed in the same way.
            Err(why) => {
                return Ok((0..count).fold(Words::default().number(count), |w, _| w.number(why as i32)));
            }
        };
        let code =
            |result: &Result<parvum_wire::control::Spawned, parvum_wire::control::Failure>| match result {
                Ok(spawned) => spawned.tid.0,
                Err(why) => PvmError::from(why.kind) as i32,
            };
        let words = Words::default().number(results.len() as i32);
        Ok(results.iter().fold(words, |words, result| words.number(code(result))))
    }

    /// Adds hosts for another task.
    fn add_for(&mut self, order: &mut Reading) -> Pvm<Words> {
        let text = |name: Vec<u8>| String::from_utf8(name).map_err(|_| PvmError::BadParam);
        let hosts = order.list()?.into_iter().map(text).collect::<Pvm<Vec<String>>>()?;
        let Reply::HostResults(results) = self.ask(&Request::AddHosts { hosts })? else {
            return Err(PvmError::DSysErr);
        };
        let Reply::Hosts(rows) = self.ask(&Request::Hosts)? else { return Err(PvmError::DSysErr) };
        let words = Words::default().numbers(&[results.len() as i32, 0]);
        Ok(results.iter().fold(words, |words, result| {
            let row = result.as_ref().map(|tid| rows.iter().find(|row| row.tid == *tid));
            match row {
                Ok(Some(row)) => {
                    let words = words.number(row.tid.0).text(row.name.as_bytes()).text(row.arch.as_bytes());
                    words.numbers(&[row.speed, crate::buffers::buffer::DATA_SIGNATURE])
                }
                // Gone again.
                Ok(None) => words.number(PvmError::HostFail as i32).text(b"").text(b"").numbers(&[0, 0]),
                Err(why) => {
                    words.number(PvmError::from(why.kind) as i32).text(b"").text(b"").numbers(&[0, 0])
                }
            }
        }))
    }
}

fn read_numbers<const COUNT: usize>(order: &mut Reading) -> Pvm<[i32; COUNT]> {
    let mut numbers = [0; COUNT];
    for number in &mut numbers {
        *number = order.number()?;
    }
    Ok(numbers)
}

/// The end of a process from its status of wait(2).
fn exit_status(status: i32) -> ExitStatus {
    match status & 0x7f {
        0 => ExitStatus::Code(status >> 8 & 0xff),
        signal => ExitStatus::Signal(signal),
    }
}
