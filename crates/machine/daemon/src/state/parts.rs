//! Parts that one task plays for all others: the resource manager, the tasker and the hoster.
//!
//! The manager is asked by the tasks themselves (their library knows of it), and told of tasks that
//! come and go. The tasker starts processes where the daemon would, the hoster daemons. When the player of a part is
//! gone the machine goes on without one: PVM's daemon would wait for a dead manager for ever.

use super::*;
use parvum_wire::control::{Blob, Part};
use parvum_wire::words::Words;
use serde::{Deserialize, Serialize};

/// PVM's tags of what the daemon says to the players.
const EXEC_ACK: i32 = 0x8004_0003_u32 as i32;
const TASK_ENDED: i32 = 0x8004_000b_u32 as i32;
const HOST_GONE: i32 = 0x8004_000c_u32 as i32;
const START_TASK: i32 = 0x8004_0011_u32 as i32;
const START_HOSTS: i32 = 0x8004_000f_u32 as i32;
const CONTEXT: u32 = 0;

/// Who plays which part.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Parts {
    pub manager: Option<Tid>,
    pub tasker: Option<Tid>,
    pub hoster: Option<Tid>,
}

impl Parts {
    pub(super) fn of(&mut self, part: Part) -> &mut Option<Tid> {
        match part {
            Part::Manager => &mut self.manager,
            Part::Tasker => &mut self.tasker,
            Part::Hoster => &mut self.hoster,
        }
    }
}

/// To whom, in which context and with which tag events go: the first words of a tracer's entry.
fn tracer_in(mail: &Blob) -> Option<OutputMessages> {
    let word = |at: usize| Some(i32::from_be_bytes(*mail.0.get(4 * at..)?.first_chunk()?));
    Some(OutputMessages { to: Tid(word(1)?), context: word(2)? as u32, tag: word(3)? })
}

impl<F: Clone> Machine<F> {
    pub(super) fn register(&mut self, client: ClientId, id: RequestId, me: Tid, part: Part) {
        let player = self.parts.of(part);
        if let Some(other) = player.filter(|other| *other != me) {
            return self.refuse(client, id, Failure::new(ErrorKind::PartTaken, other.to_string()));
        }
        *player = Some(me);
        self.reply(client, id, Reply::Done);
        if part == Part::Manager {
            self.announce_manager();
        }
    }

    pub(super) fn hand_part_over(&mut self, client: ClientId, id: RequestId, me: Tid, part: Part, to: Tid) {
        if *self.parts.of(part) != Some(me) {
            return self.refuse(client, id, Failure::new(ErrorKind::Denied, "the part is not yours"));
        }
        *self.parts.of(part) = Some(to);
        self.reply(client, id, Reply::Done);
        if part == Part::Manager {
            self.announce_manager();
        }
    }

    /// A task is gone: the manager hears of it.
    pub(super) fn notify_manager_of_end(&mut self, tid: Tid) {
        if let Some(manager) = self.parts.manager.filter(|manager| *manager != tid) {
            let data = (0..5).fold(Words::default().number(tid.0), |words, _| words.number(0));
            self.say_to_player(manager, TASK_ENDED, data);
        }
    }

    /// A host is gone: the manager hears of its daemon.
    pub(super) fn notify_manager_of_host(&mut self, host: Tid) {
        const DAEMON: u32 = 0x8000_0000;
        if let Some(manager) = self.parts.manager.filter(|manager| self.is_own(*manager)) {
            self.say_to_player(manager, HOST_GONE, Words::default().number((host.0 as u32 | DAEMON) as i32));
        }
    }

    /// A task plays no part any more.
    pub(super) fn leave_parts(&mut self, tid: Tid) {
        if self.parts.manager == Some(tid) {
            self.parts.manager = None;
            self.announce_manager();
        }
        if self.parts.tasker == Some(tid) {
            self.parts.tasker = None;
        }
        if self.parts.hoster == Some(tid) {
            self.parts.hoster = None;
            self.effects.push(Effect::HosterGone);
        }
    }

    /// A task is gone that may have been the tasker: nobody will tell how its processes end.
    pub(super) fn end_processes_of_tasker(&mut self, tid: Tid) {
        let orphans = self.processes.iter().filter(|(_, process)| process.tasker == Some(tid));
        for tid in orphans.map(|(tid, _)| *tid).collect::<Vec<_>>() {
            self.end_delegated(tid, ExitStatus::Code(255));
        }
    }

    pub(super) fn announce_manager(&mut self) {
        let manager = self.parts.manager;
        let listeners =
            self.tasks.iter().filter(|(_, task)| task.client.is_some() && task.role == Role::Task);
        for tid in listeners.map(|(tid, _)| *tid).collect::<Vec<_>>() {
            self.event(tid, Event::Manager(manager), Vec::new());
        }
    }

    /// A task has enrolled: it hears of the manager, and the manager of it.
    pub(super) fn notify_manager_of_arrival(&mut self, tid: Tid) {
        if let Some(mail) = self.mailbox.tracer().filter(|_| self.tasks[&tid].role == Role::Task) {
            if let Some(tracer) = tracer_in(&mail) {
                self.trace_guest(tracer, tid);
            }
            self.event(tid, Event::Tracer(mail), Vec::new());
        }
        let Some(manager) = self.parts.manager.filter(|manager| *manager != tid) else { return };
        self.event(tid, Event::Manager(Some(manager)), Vec::new());
        if self.tasks[&tid].process == Some(tid) {
            // The manager had it started.
            return;
        }
        self.say_to_player(manager, EXEC_ACK, Words::default().number(1).number(tid.0));
    }

    fn say_to_player(&mut self, to: Tid, tag: i32, Words(data): Words) {
        self.event(to, Event::Word { context: CONTEXT, tag, data: Blob(data) }, Vec::new());
    }

    /// The hoster hears which hosts it is to start.
    pub(super) fn hosting(&mut self, hosts: &[Hosting]) {
        let Some(hoster) = self.parts.hoster else { return self.effects.push(Effect::HosterGone) };
        let words = hosts.iter().fold(Words::default().number(hosts.len() as i32), |words, host| {
            let tid = Tid::new(host.number, 0).expect("the machine chose it in range");
            let words = words.number(tid.0).text(host.start.as_bytes());
            let words = words.text(host.login.as_bytes()).text(host.command.as_bytes());
            // The last two are in no manual, but PVM sends them: the command for another system, and its name of the machine.
            words.text(host.other.as_bytes()).text(host.machine.as_bytes())
        });
        self.say_to_player(hoster, START_HOSTS, words);
    }

    /// The hoster says what came of hosts: whichever daemon waits for one hears it.
    pub(super) fn hosts_started(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Option<Tid>,
        results: Vec<(Tid, Blob)>,
    ) {
        if me.is_none() || self.parts.hoster != me {
            return self.refuse(client, id, Failure::new(ErrorKind::Denied, "the part is not yours"));
        }
        let said = results.into_iter().map(|(tid, said)| Effect::Hosted { number: tid.host(), said });
        self.effects.extend(said);
        self.reply(client, id, Reply::Done);
    }

    /// What a tasker is to start was found, or not.
    pub(super) fn prepared(&mut self, tid: Tid, result: Result<Prepared<F>, Failure>) {
        let tasker = self.processes.get(&tid).and_then(|process| process.tasker);
        let result = result.and_then(|prepared| match tasker {
            Some(tasker) if self.exists(tasker) => Ok((tasker, prepared)),
            _ => Err(Failure::new(ErrorKind::NoSuchTask, "the tasker is gone")),
        });
        match result {
            Ok((tasker, Prepared { path, args, flag, env, channel })) => {
                self.spawned(tid, Ok((0, channel)));
                // As execv takes them: the first is the program's own name.
                let args: Vec<&[u8]> = std::iter::once(&path).chain(&args).map(Vec::as_slice).collect();
                let among = self.processes.get(&tid).map_or([0; 3], |process| process.among);
                // The numbers at the end are in no manual, but PVM sends them.
                let words = Words::default()
                    .number(tid.0)
                    .number(flag)
                    .text(&path)
                    .list(args.into_iter())
                    .list(env.iter().map(Vec::as_slice))
                    .numbers(&among.map(|number| number as i32));
                self.say_to_player(tasker, START_TASK, words);
            }
            Err(why) => self.spawned(tid, Err(why)),
        }
    }

    pub(super) fn task_ended(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Tid,
        tid: Tid,
        status: ExitStatus,
    ) {
        if self.processes.get(&tid).is_none_or(|process| process.tasker != Some(me)) {
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchTask, tid.to_string()));
        }
        self.end_delegated(tid, status);
        self.reply(client, id, Reply::Done);
    }

    /// A process that a tasker started has ended; its output was never the daemon's.
    fn end_delegated(&mut self, tid: Tid, status: ExitStatus) {
        self.process_exited(tid, status);
        self.output_ended(tid);
    }
}
