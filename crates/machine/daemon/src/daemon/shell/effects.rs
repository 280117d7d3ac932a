//! Effects: the shell feeds the machine with inputs, and carries out its effects.

use super::processes::send_signal;
use super::{Origin, Shell};
use crate::daemon::hosts::{fetch, gate, hosted, load::load};
use crate::daemon::processes::output;
use crate::daemon::tasks::client::ClientIo;
use crate::daemon::tasks::io::{Fd, TaskIo};
use crate::state::{Channel, ClientId, Effect, Input};
use parvum_control::monotonic_ns;
use parvum_segment::GroupSegment;
use parvum_wire::Tid;
use parvum_wire::control::{
    Call, ErrorKind, Event, Failure, FromDaemon, OptionRow, Reply, Request, RequestId,
};
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

impl Shell {
    /// Stops the machine as if a client had asked for it.
    pub fn stop_machine(self: &Rc<Shell>) {
        self.ask_for_itself(Request::Halt);
    }

    /// The daemon itself wants something done.
    pub fn ask_for_itself(self: &Rc<Shell>, request: Request) {
        let call = Box::new(Call { id: 0, request });
        // Client 0 does not exist: nobody waits for the answer.
        self.input(Input::Call { client: 0, pid: 0, call, fds: Vec::new(), channel: None });
    }

    /// One call of a client.
    pub fn call(self: &Rc<Shell>, client: &ClientIo, call: Call, fds: Vec<OwnedFd>) {
        let id = client.id;
        let knows = self.machine.borrow().knows(id);
        let own = match call.request {
            _ if !knows => None,
            Request::Info => Some(Ok(Reply::Info(self.info()))),
            Request::Links => Some(Ok(Reply::Links(self.network().map(|it| it.rows()).unwrap_or_default()))),
            Request::Invite { seconds, uses } => Some(gate::invite(self, seconds, uses)),
            Request::Revoke => {
                self.gate.revoke();
                Some(Ok(Reply::Done))
            }
            _ => None,
        };
        if let Some(reply) = own {
            let _ = client.post(&FromDaemon::Reply(call.id, reply), Vec::new());
            return;
        }
        if matches!(call.request, Request::Dump) && self.machine.borrow().knows(id) {
            for OptionRow { name, value, .. } in self.info() {
                self.log.line(&format!("{name}: {value}"));
            }
        }
        let wants = self.machine.borrow().wants_channel(id, &call.request);
        let recording = || self.recording_inside(&call.request);
        let channel = if wants { self.new_channel(recording()).ok() } else { None };
        let fds = fds.into_iter().map(Rc::new).collect();
        self.input(Input::Call { client: id, pid: client.pid, call: Box::new(call), fds, channel });
    }

    /// Feeds the machine and does what it says.
    pub fn input(self: &Rc<Shell>, input: Input<Fd>) {
        let effects = self.machine.borrow_mut().handle(monotonic_ns(), input);
        self.carry_out(effects);
    }

    /// Tells a task something the shell found out.
    pub fn send_event(self: &Rc<Shell>, tid: Tid, event: Event) {
        let effects = self.machine.borrow_mut().send_event(tid, event);
        self.carry_out(effects);
    }

    fn carry_out(self: &Rc<Shell>, effects: Vec<Effect<Fd>>) {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            if let Some(input) = self.apply(effect) {
                effects.extend(self.machine.borrow_mut().handle(monotonic_ns(), input));
            }
        }
        if self.machine.borrow_mut().take_deadline_changed() {
            self.timer.notify_one();
        }
    }

    fn apply(self: &Rc<Shell>, effect: Effect<Fd>) -> Option<Input<Fd>> {
        match effect {
            Effect::Reply { client, id, reply, fds } => self.answer(client, id, *reply, fds),
            Effect::Event { client, event, fds } => {
                if let Some(client) = self.client(client) {
                    let _ = client.post(&FromDaemon::Event(event), fds);
                }
            }
            Effect::Opened { waiters, segment } => self.open_barrier(waiters, segment),
            Effect::CloseSegment(number) => {
                if let Some(segment) = self.segments.borrow_mut().remove(&number) {
                    segment.close();
                }
            }
            Effect::Enrolled { client, tid, pid, name, channel } => {
                self.enrolled(client, tid, pid, &name, &channel)
            }
            Effect::TaskGone(tid) => {
                self.tasks.borrow_mut().remove(&tid);
                self.end_recording(tid);
                if let Some(port) = self.ports.borrow_mut().remove(&tid) {
                    port.close();
                }
            }
            Effect::ForgetRecordings(job) => self.forget_recordings(job),
            Effect::Spawn { tid, plan } => {
                let result = self.spawn(tid, &plan).inspect_err(|_| self.drop_recording(tid));
                return Some(Input::Spawned { tid, result });
            }
            Effect::Feed { tid, data, client, id } => {
                let shell = self.clone();
                tokio::task::spawn_local(async move {
                    let result = output::feed(shell.clone(), tid, data).await;
                    shell.input(Input::Fed { client, id, result });
                });
            }
            Effect::Prepare { tid, plan } => {
                let result = self.prepare(tid, &plan).inspect_err(|_| self.drop_recording(tid));
                return Some(Input::Prepared { tid, result });
            }
            Effect::Listen(tid, route) => {
                let result = listen(self.network().is_some())
                    .map_err(|e| Failure::new(ErrorKind::System, e.to_string()));
                return Some(Input::Listening { tid, route, result });
            }
            Effect::Wake(tid) => {
                if let Some(task) = self.io_of(tid) {
                    task.wake();
                }
            }
            Effect::Signal { pid, group, signal } => send_signal(pid, group, signal),
            Effect::Close(client) => {
                if let Some(client) = self.client(client) {
                    client.close();
                }
            }
            Effect::Say { host, word } => self.say(host, *word),
            Effect::Fetch(wanted) => {
                tokio::task::spawn_local(fetch::fetch(self.clone(), *wanted));
            }
            Effect::Host(hosts) => {
                tokio::task::spawn_local(hosted::fetch_all(self.clone(), hosts));
            }
            Effect::Hosted { number, said } => {
                // Others wait for none, or no more.
                let waiting = self.hosted.borrow_mut().remove(&number);
                let _ = waiting.map(|waiting| waiting.send(said));
            }
            Effect::Admit(admitted) => gate::admitted(self, *admitted),
            Effect::TurnAway { guest, why } => gate::turn_away(self, guest, why),
            Effect::HosterGone => self.hosted.borrow_mut().clear(),
            Effect::Forget { host, life } => self.part_with(host, life),
            Effect::Probe(hosts) => self.probe(&hosts),
            Effect::Propose(change) => self.propose(&change),
            Effect::Members(members) => {
                self.have_members(members);
                self.members_changed.notify_waiters();
                if self.origin.get() == Origin::Joined {
                    self.call_hosts();
                }
            }
            Effect::Stop => self.stop.notify_one(),
        }
        None
    }

    fn open_barrier(&self, waiters: Vec<(ClientId, RequestId)>, segment: Option<(u64, u32)>) {
        let mut fds = Vec::new();
        if let Some((number, members)) = segment
            && let Ok((page, file)) = GroupSegment::create(members)
        {
            // Without a page they go on asking.
            self.segments.borrow_mut().insert(number, page);
            fds.push(Rc::new(file));
        }
        for (client, id) in waiters {
            self.answer(client, id, Ok(Reply::Done), fds.clone());
        }
    }

    fn answer(&self, client: ClientId, id: RequestId, mut reply: Result<Reply, Failure>, fds: Vec<Fd>) {
        let Some(client) = self.client(client) else { return };
        if let Ok(reply) = &mut reply {
            self.fill_in(reply);
        }
        if let Ok(Reply::Loads(loads)) = &mut reply {
            // One that is alone measures its load for nobody else.
            let own = self.machine.borrow().daemon_tid();
            loads.retain(|(host, _)| *host != own);
            loads.push((own, (load() * 100.0) as u32));
        }
        if let Err(error) = client.post(&FromDaemon::Reply(id, reply), fds) {
            let why = Failure::new(ErrorKind::TooLarge, error.to_string());
            let _ = client.post(&FromDaemon::Reply(id, Err(why)), Vec::new());
        }
    }

    fn enrolled(&self, client: ClientId, tid: Tid, pid: u32, name: &str, channel: &Channel<Fd>) {
        let mut tasks = self.tasks.borrow_mut();
        if let Entry::Vacant(slot) = tasks.entry(tid) {
            match TaskIo::open(channel) {
                Ok(task) => {
                    slot.insert(Rc::new(task));
                }
                Err(error) => self.log.line(&format!("task {tid}: {error}")),
            }
        }
        let Some(task) = tasks.get(&tid) else { return };
        task.page.identify(tid.0, pid, name);
        self.adopt_recording(tid, name, channel.recording.as_ref());
        if let Some(client) = self.client(client) {
            *client.task.borrow_mut() = Some(task.clone());
        }
    }
}

/// A listener for a task: for tasks of this host, or of others too.
fn listen(for_others: bool) -> io::Result<(String, Fd)> {
    let listener = match for_others {
        // Both families at once, or the old one alone where there is no new one.
        true => {
            std::net::TcpListener::bind(("::", 0)).or_else(|_| std::net::TcpListener::bind(("0.0.0.0", 0)))?
        }
        false => std::net::TcpListener::bind(("127.0.0.1", 0))?,
    };
    listener.set_nonblocking(true)?;
    Ok((listener.local_addr()?.to_string(), Rc::new(listener.into())))
}
