//! The one shell: everything the daemon owns.

use crate::daemon::awake::Awake;
use crate::daemon::hosts::lateness::Lateness;
use crate::daemon::hosts::network::Network;
use crate::daemon::life::keeper::Keeper;
use crate::daemon::life::log::Log;
use crate::daemon::life::options::Options;
use crate::daemon::processes::child::{self, Surroundings};
use crate::daemon::processes::on_its_way::OnItsWay;
use crate::daemon::processes::output;
use crate::daemon::processes::programs::Programs;
use crate::daemon::tasks::client::{ClientIo, OUTBOX_FULL};
use crate::daemon::tasks::io::{AsMessages, Fd, TaskIo};
use crate::daemon::tasks::port::{PORT_LIMIT, Port, Source};
use crate::daemon::tasks::recordings::Recordings;
use crate::daemon::tasks::serving::{handle, turn_away};
use crate::daemon::watch::watch;
use crate::state::{Channel, ClientId, Config, Effect, Input, Limits, Machine, Prepared};
use crate::{daemon::hosts::fetch, daemon::hosts::hosted, daemon::processes::foreign};
use parvum_agreement::Agreement;
use parvum_control::{A_GROUP, CALLS, Operation, PairLedger, TaskPage, Unmatched, monotonic_ns, totals};
use parvum_mesh::Farewell;
use parvum_segment::MeetingPage;
use parvum_socket::Place;
use parvum_wire::control::{
    BarrierRow, Blob, Call, ErrorKind, Event, Failure, FromDaemon, HostRecord, MAX_FRAME, OperationRow,
    OptionRow, PROTOCOL, PairRow, Recorder, Reply, Request, RequestId, Sight, SpawnRequest, TaskRow, Ticket,
    UnmatchedRow, Waits,
};
use parvum_wire::{Tid, functions};
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::net::UnixListener;
use tokio::sync::{Notify, oneshot};

/// How much of a pipe is read at once.
const PIPE_HOLDS: usize = 64 * 1024;

pub(super) struct Shell {
    pub log: Log,
    pub keeper: Keeper,
    pub place: Place,
    machine: RefCell<Machine<Fd>>,
    clients: RefCell<HashMap<ClientId, Rc<ClientIo>>>,
    tasks: RefCell<HashMap<Tid, Rc<TaskIo>>>,
    ports: RefCell<HashMap<Tid, Rc<Port>>>,
    meetings: RefCell<HashMap<u64, MeetingPage>>,
    around: Surroundings,
    /// What a task has written, on its way from a pipe to a client.
    pub buffer: RefCell<Box<[u8]>>,
    last_client: Cell<ClientId>,
    limits: Limits,
    began: u64,
    timer: Notify,
    stop: Notify,
    pub(super) network: RefCell<Option<Rc<Network>>>,
    pub(super) agreement: RefCell<Option<Agreement>>,
    pub(super) on_its_way: RefCell<HashMap<Tid, Rc<OnItsWay>>>,
    /// Who waits for what the hoster says of a host, by its number.
    pub(super) hosted: RefCell<HashMap<u32, oneshot::Sender<Blob>>>,
    /// The programs of processes that may never join.
    pub(super) programs: RefCell<Programs>,
    pub(super) awake: Rc<Awake>,
    pub(super) recordings: RefCell<Recordings>,
    pub(super) lateness: Lateness,
    /// What writes to the standard input of processes that have one.
    pub(super) inputs: RefCell<HashMap<Tid, Rc<OwnedFd>>>,
}

/// So often in a row a connection may find no descriptor before those who wait are told: for a second.
const PATIENT: u32 = 20;

/// A descriptor that can be given up when there are no others.
fn spare_descriptor() -> Option<OwnedFd> {
    eventfd(0, EventfdFlags::CLOEXEC).ok()
}

/// Takes the connection that waits longest, if one does, and says that there is no room for it.
fn turn_one_away(listener: &UnixListener) -> bool {
    let Ok(socket) = rustix::net::accept_with(listener, rustix::net::SocketFlags::CLOEXEC) else {
        return false;
    };
    let detail = "the daemon has as many descriptors open as it may";
    turn_away(&socket, Failure::new(ErrorKind::OutOfResources, detail));
    true
}

impl Shell {
    pub fn new(place: Place, log: Log, keeper: Keeper, around: Surroundings, config: Config) -> Shell {
        Shell {
            log,
            keeper,
            place,
            limits: config.limits,
            machine: RefCell::new(Machine::new(config)),
            clients: Default::default(),
            tasks: Default::default(),
            ports: Default::default(),
            meetings: Default::default(),
            around,
            buffer: RefCell::new(vec![0; PIPE_HOLDS].into()),
            last_client: Cell::new(0),
            lateness: Lateness::new(Instant::now()),
            began: monotonic_ns(),
            timer: Notify::new(),
            stop: Notify::new(),
            network: RefCell::new(None),
            agreement: RefCell::new(None),
            on_its_way: Default::default(),
            hosted: Default::default(),
            programs: Default::default(),
            awake: Default::default(),
            recordings: Default::default(),
            inputs: Default::default(),
        }
    }

    /// Serves until the machine is stopped, or somebody signals the daemon.
    pub async fn run(self: Rc<Shell>, listener: UnixListener) -> io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        // The terminal of a daemon in the foreground may close.
        let mut hangup = signal(SignalKind::hangup())?;
        tokio::task::spawn_local(self.clone().accept(listener));
        tokio::task::spawn_local(self.clone().keep_time());
        let halt = |shell: &Rc<Shell>| {
            shell.log.line("stopped by a signal");
            shell.stop_machine();
        };
        loop {
            tokio::select! {
                _ = self.stop.notified() => break,
                _ = term.recv() => halt(&self),
                _ = int.recv() => halt(&self),
                _ = hangup.recv() => halt(&self),
            }
        }
        self.say_goodbye().await;
        self.agreement.borrow_mut().take();
        let network = self.network.borrow_mut().take();
        if let Some(network) = network.and_then(Rc::into_inner) {
            // A second each for those that do not answer any more.
            let _ =
                tokio::time::timeout(Duration::from_secs(2), network.mesh.shut_down(Farewell::Leaving)).await;
        }
        Ok(())
    }

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

    /// What the environment said when the daemon began.
    pub fn options(&self) -> &Options {
        &self.around.options
    }

    /// Whether nothing passes between hosts in clear.
    pub fn encrypts(&self) -> bool {
        self.machine.borrow().encrypts()
    }

    /// The number, the life and the name of this host.
    pub fn identity(&self) -> (u32, u64, String) {
        self.machine.borrow().identity()
    }

    /// The record of a host of the machine.
    pub fn record_of(&self, host: u32) -> Option<HostRecord> {
        self.machine.borrow().host(host)
    }

    /// The host that is adding this one, which has not arrived yet.
    pub fn home(&self) -> Option<HostRecord> {
        self.machine.borrow().home()
    }

    /// Hosts of the machine that do not answer.
    pub fn silent_hosts(&self) -> Vec<HostRecord> {
        self.machine.borrow().silent_hosts()
    }

    /// All that the daemons keep together.
    pub fn snapshot(&self) -> Vec<u8> {
        self.machine.borrow().snapshot()
    }

    /// Other daemons reach this one there.
    pub fn set_addresses(&self, addresses: Vec<String>) {
        self.machine.borrow_mut().set_addresses(addresses);
    }

    /// Gives everybody a moment to take what is queued.
    async fn say_goodbye(&self) {
        let clients: Vec<_> = self.clients.borrow().values().cloned().collect();
        let flushed = async {
            for client in &clients {
                while !client.is_flushed() {
                    client.room.notified().await;
                }
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), flushed).await;
    }

    async fn accept(self: Rc<Shell>, listener: UnixListener) {
        let mut spare = spare_descriptor();
        let mut refused = 0;
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    self.log.refusal("connection", &error.to_string());
                    // Out of descriptors, most likely: others will close theirs. When they do not, whoever waits is
                    // told, for which the one kept back is there.
                    refused += 1;
                    let told = refused > PATIENT && spare.take().is_some() && turn_one_away(&listener);
                    spare = spare.or_else(spare_descriptor);
                    if !told {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                    continue;
                }
            };
            (spare, refused) = (spare.or_else(spare_descriptor), 0);
            let opened = stream.into_std().and_then(|s| self.admit(s.into()));
            if let Err(error) = opened {
                self.log.refusal("connection", &error.to_string());
            }
        }
    }

    fn admit(self: &Rc<Shell>, socket: OwnedFd) -> io::Result<()> {
        let peer = rustix::net::sockopt::socket_peercred(&socket)?;
        if peer.uid != rustix::process::geteuid() {
            let text = format!("user {}, process {}", peer.uid.as_raw(), peer.pid.as_raw_nonzero());
            self.log.refusal("another user's connection", &text);
            turn_away(&socket, ErrorKind::OtherUser.into());
            return Ok(());
        }
        let id = self.last_client.get() + 1;
        self.last_client.set(id);
        let pid = peer.pid.as_raw_nonzero().get() as u32;
        let client = Rc::new(ClientIo::new(id, pid, watch(socket)?));
        self.clients.borrow_mut().insert(id, client.clone());
        tokio::task::spawn_local(handle(self.clone(), client));
        Ok(())
    }

    async fn keep_time(self: Rc<Shell>) {
        loop {
            let deadline = self.machine.borrow().next_deadline();
            let wait = deadline.map(|at| Duration::from_nanos(at.saturating_sub(monotonic_ns())));
            match wait {
                None => self.timer.notified().await,
                Some(wait) => tokio::select! {
                    _ = self.timer.notified() => continue,
                    _ = tokio::time::sleep(wait) => self.input(Input::Tick),
                },
            }
        }
    }

    /// One call of a client.
    pub fn call(self: &Rc<Shell>, client: &ClientIo, call: Call, fds: Vec<OwnedFd>) {
        let id = client.id;
        let own = match call.request {
            Request::Info => Some(Reply::Info(self.info())),
            Request::Links => Some(Reply::Links(self.network().map(|it| it.rows()).unwrap_or_default())),
            _ => None,
        };
        if let Some(reply) = own.filter(|_| self.machine.borrow().knows(id)) {
            let _ = client.post(&FromDaemon::Reply(call.id, Ok(reply)), Vec::new());
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
            Effect::Opened { waiters, meeting } => self.open_barrier(waiters, meeting),
            Effect::CloseMeeting(number) => {
                if let Some(meeting) = self.meetings.borrow_mut().remove(&number) {
                    meeting.close();
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
            Effect::Listen(tid) => {
                let result = listen(self.network().is_some())
                    .map_err(|e| Failure::new(ErrorKind::System, e.to_string()));
                return Some(Input::Listening { tid, result });
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
            Effect::HosterGone => self.hosted.borrow_mut().clear(),
            Effect::Forget { host, life } => self.part_with(host, life),
            Effect::Propose(change) => self.propose(&change),
            Effect::Members(members) => self.have_members(members),
            Effect::Stop => self.stop.notify_one(),
        }
        None
    }

    fn open_barrier(&self, waiters: Vec<(ClientId, RequestId)>, meeting: Option<(u64, u32)>) {
        let mut fds = Vec::new();
        if let Some((number, members)) = meeting
            && let Ok((page, file)) = MeetingPage::create(members)
        {
            // Without a page they go on asking.
            self.meetings.borrow_mut().insert(number, page);
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
            loads.push((own, (crate::daemon::hosts::load::load() * 100.0) as u32));
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

    fn spawn(self: &Rc<Shell>, tid: Tid, plan: &SpawnRequest) -> Result<(u32, Channel<Fd>), Failure> {
        let system = |error: io::Error| Failure::new(ErrorKind::OutOfResources, error.to_string());
        let recording = self.begin_recording(tid, &plan.program.lossy());
        let channel = self.new_channel(recording).map_err(system)?;
        let io = TaskIo::open(&channel).map_err(|e| Failure::new(ErrorKind::System, e.to_string()))?;
        let debugger = self.machine.borrow().settings().debugger.clone();
        let child = child::start(self.ticket(tid), plan, &self.around, debugger)?;
        let pid = child.pid;
        self.keeper.add(pid);
        io.page.identify(tid.0, pid, &plan.program.lossy());
        self.tasks.borrow_mut().insert(tid, Rc::new(io));
        if let Err(error) = output::attend(self, tid, child) {
            send_signal(pid, true, 9);
            self.tasks.borrow_mut().remove(&tid);
            return Err(system(error));
        }
        foreign::begins(self, tid, pid);
        Ok((pid, channel))
    }

    /// The parent of a task that was spawned and has not joined, if the task is one.
    pub(super) fn unjoined_child(&self, tid: Tid) -> Option<Option<Tid>> {
        self.machine.borrow().unjoined_child(tid)
    }

    /// What a tasker needs to start a program as the daemon would.
    fn prepare(&self, tid: Tid, plan: &SpawnRequest) -> Result<Prepared<Fd>, Failure> {
        let system = |error: io::Error| Failure::new(ErrorKind::OutOfResources, error.to_string());
        let recording = self.begin_recording(tid, &plan.program.lossy());
        let channel = self.new_channel(recording).map_err(system)?;
        let io = TaskIo::open(&channel).map_err(|e| Failure::new(ErrorKind::System, e.to_string()))?;
        let (path, env) = child::prepare(self.ticket(tid), plan, &self.around)?;
        io.page.identify(tid.0, 0, &plan.program.lossy());
        self.tasks.borrow_mut().insert(tid, Rc::new(io));
        let args = plan.args.iter().map(|arg| arg.0.clone()).collect();
        Ok(Prepared { path, args, flag: plan.flag, env, channel })
    }

    /// A task's page and bell, as long as somebody holds them.
    pub(super) fn io_of(&self, tid: Tid) -> Option<Rc<TaskIo>> {
        self.tasks.borrow().get(&tid).cloned()
    }

    fn ticket(&self, tid: Tid) -> Ticket {
        self.machine.borrow().ticket(tid).expect("made with the task, before its process was asked for")
    }

    fn new_channel(&self, recording: Option<Fd>) -> io::Result<Channel<Fd>> {
        let (_, page) = TaskPage::create()?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Channel { page: Rc::new(page), bell: Rc::new(bell), recording })
    }

    /// Adds what the task's page says to its row.
    pub(super) fn look_at(&self, row: &mut TaskRow) {
        let tasks = self.tasks.borrow();
        let Some(task) = tasks.get(&row.tid) else { return };
        row.waits =
            task.page.waiting_for().map(|w| (w, functions::apart(w.call))).map(|(w, (call, function))| {
                Waits {
                    call,
                    interface: task.page.interface(),
                    peer: w.peer,
                    tag: w.tag,
                    context: w.context,
                    for_ms: monotonic_ns().saturating_sub(w.since) / 1_000_000,
                    since: w.since,
                    ends: w.until != 0,
                    barrier: (CALLS.get(call as usize) == Some(&"barrier") || w.peer == A_GROUP).then(|| {
                        let (group, count) = task.page.barrier();
                        BarrierRow { group, count }
                    }),
                    function,
                    threads: w.call & functions::THREADS != 0,
                    operation: Some(task.page.operation())
                        .filter(|it| {
                            function != 0 && (it.function, it.context as i32) == (function, w.context)
                        })
                        .map(operation_row),
                }
            });
        let pairs = task.book.read();
        row.counters = totals(task.page.layout(), &pairs);
        if let Some(sight) = &mut row.sight {
            // Relaxed: written once, before the task could be asked for.
            let began = task.page.identity().started.load(std::sync::atomic::Ordering::Relaxed);
            let (memory, cpu) = used_by(row.pid);
            **sight = Sight {
                memory,
                cpu,
                cpus: processors_of(row.pid),
                pairs: pairs.into_iter().map(pair_row).collect(),
                routes: task.page.routes(),
                unmatched: task.page.unmatched().into_iter().map(unmatched_row).collect(),
                age: monotonic_ns().saturating_sub(began),
            };
        }
    }

    fn info(&self) -> Vec<OptionRow> {
        let row = |name: &str, value: String, source: &str, help: &str| OptionRow {
            name: name.into(),
            value,
            source: source.into(),
            help: help.into(),
        };
        let mib = |bytes: usize| format!("{} KiB", bytes / 1024);
        let limits = self.limits;
        let up = Duration::from_nanos(monotonic_ns() - self.began).as_secs();
        let mut rows = vec![
            row("release", env!("CARGO_PKG_VERSION").into(), "built in", "version of the daemon"),
            row("protocol", PROTOCOL.to_string(), "built in", "version of the control protocol"),
            row(
                "directory",
                self.place.dir().display().to_string(),
                self.place.source(),
                "where the machine lives",
            ),
            row("daemon process", getpid().as_raw_nonzero().to_string(), "now", "pid of the daemon"),
            row("up", format!("{up} s"), "now", "time since the daemon began"),
            row("task limit", limits.tasks.to_string(), "built in", "tasks and processes on this host"),
            row("mailbox limit", mib(limits.mailbox_bytes), "built in", "bytes in the mailbox"),
            row("names limit", mib(limits.names_bytes), "built in", "bytes of names bound to containers"),
            row("control frame limit", mib(MAX_FRAME), "built in", "the largest request, entry or answer"),
            row(
                "output limit",
                mib(OUTBOX_FULL),
                "built in",
                "output waiting for one reader; then its writer waits",
            ),
            row(
                "route limit",
                mib(PORT_LIMIT),
                "built in",
                "routed bytes waiting for one task; then senders wait",
            ),
        ];
        let port = self.network().map(|network| network.mesh.port());
        rows.extend(self.options().rows(port, self.encrypts()));
        let settings = self.machine.borrow().settings().clone();
        let search: Vec<_> = settings.search.iter().map(Blob::lossy).collect();
        let (debugger, source) = child::debugger(settings.debugger);
        let none = || "none".to_owned();
        let debugger = debugger.map_or_else(none, |path| path.display().to_string());
        let cwd = settings.cwd.map_or_else(|| "HOME".into(), |cwd| cwd.lossy());
        let search = if search.is_empty() { none() } else { search.join(":") };
        rows.push(row("ep", search, "hostfile", "where spawned programs are looked for first"));
        rows.push(row("wd", cwd, "hostfile", "where spawned programs begin"));
        rows.push(row("bx", debugger, source, "what starts a task to be debugged"));
        for (name, count) in self.machine.borrow().counts() {
            rows.push(row(name, count.to_string(), "now", "in use"));
        }
        let clients = self.clients.borrow().len();
        rows.push(row("connections", clients.to_string(), "now", "control connections"));
        for (name, count) in self.log.counts() {
            rows.push(row(&name, count.to_string(), "counted", "since the daemon began"));
        }
        rows
    }

    /// The task that a ticket is of.
    pub fn shown(&self, ticket: Ticket) -> Option<Tid> {
        self.machine.borrow().shown(ticket)
    }

    /// A task's job, if that is recorded, and in how many bytes.
    pub fn recording_of(&self, tid: Tid) -> Option<(Tid, Recorder)> {
        self.machine.borrow().recording_of(tid)
    }

    pub fn client(&self, id: ClientId) -> Option<Rc<ClientIo>> {
        self.clients.borrow().get(&id).cloned()
    }

    pub fn forget(&self, id: ClientId) {
        self.clients.borrow_mut().remove(&id);
    }

    pub fn closing(&self, id: ClientId) {
        self.machine.borrow_mut().closing(id);
    }

    pub fn tid_of(&self, id: ClientId) -> Option<Tid> {
        self.machine.borrow().tid_of(id)
    }

    pub fn exists(&self, tid: Tid) -> bool {
        self.machine.borrow().exists(tid)
    }

    /// The task of another host that gets the output of a process, and in which form.
    pub fn output_elsewhere(&self, tid: Tid) -> Option<(Tid, AsMessages)> {
        self.machine.borrow().output_elsewhere(tid)
    }

    /// The connection of a task of this host.
    pub fn client_of(&self, tid: Tid) -> Option<Rc<ClientIo>> {
        let id = self.machine.borrow().client_of(tid)?;
        self.client(id)
    }

    /// Whether the task, if it is there, is a task of another host.
    pub fn is_elsewhere(&self, tid: Tid) -> bool {
        !self.exists(tid) && self.machine.borrow().may_exist(tid)
    }

    pub fn houses_others(&self, tid: Tid) -> bool {
        self.machine.borrow().houses_others(tid)
    }

    pub fn link(&self, a: Tid, b: Tid) {
        self.machine.borrow_mut().link_routed(a, b);
    }

    /// Whether the two exchange routed frames, and neither is known to be gone.
    pub fn is_linked(&self, a: Tid, b: Tid) -> bool {
        self.machine.borrow().is_routed(a, b)
    }

    /// Who gets the output of a process, and as which messages if so; nobody means the log.
    pub fn output_client(&self, tid: Tid) -> Option<(Rc<ClientIo>, AsMessages)> {
        let (id, as_messages) = self.machine.borrow().output_client(tid)?;
        Some((self.client(id)?, as_messages))
    }

    pub fn may_carry(&self, tid: Tid, secret: [u8; 16]) -> bool {
        self.machine.borrow().secret(tid).is_some_and(|s| s == secret)
    }

    /// Ties the data connection to the task's control connection; false when the
    /// task has one already, or is gone.
    pub fn attach_data(&self, tid: Tid, source: Rc<Source>) -> bool {
        let clients = self.clients.borrow();
        let machine = self.machine.borrow();
        let Some(client) = clients.values().find(|c| machine.tid_of(c.id) == Some(tid)) else { return false };
        let mut data = client.data.borrow_mut();
        data.is_none() && data.replace(source).is_none()
    }

    /// The port of a task that exists.
    pub fn port(&self, tid: Tid) -> Rc<Port> {
        let make = || Rc::new(Port::new(self.tasks.borrow().get(&tid).cloned()));
        self.ports.borrow_mut().entry(tid).or_insert_with(make).clone()
    }

    pub fn find_port(&self, tid: Tid) -> Option<Rc<Port>> {
        self.ports.borrow().get(&tid).cloned()
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

fn send_signal(pid: u32, group: bool, signal: i32) {
    let Some(pid) = Pid::from_raw(pid as i32) else { return };
    let Some(signal) = Signal::from_named_raw(signal) else { return };
    // The process may have ended a moment ago: nothing to be done about it.
    let _ = if group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
}

/// Bytes of memory, and nanoseconds of processor time, of a process; zeros when it is gone.
fn used_by(pid: u32) -> (u64, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may hold anything; behind its bracket stand numbers, the third of all first.
    let Some((_, rest)) = stat.rsplit_once(')') else { return (0, 0) };
    let field =
        |number: usize| rest.split_whitespace().nth(number - 3).and_then(|word| word.parse::<u64>().ok());
    let (user, system, pages) = (field(14).unwrap_or(0), field(15).unwrap_or(0), field(24).unwrap_or(0));
    let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    (pages * rustix::param::page_size() as u64, (user + system) * tick)
}

/// The processors that a process may run on, as the system lists them.
fn processors_of(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.map(|list| list.trim().to_owned()).unwrap_or_default()
}

fn pair_row(pair: PairLedger) -> PairRow {
    let PairLedger { peer, route, counters, reasons, waited } = pair;
    PairRow { peer: Tid(peer), route, counters, reasons, waited }
}

fn operation_row(does: Operation) -> OperationRow {
    let Operation { rank, size, root, turn, bytes, .. } = does;
    OperationRow { name: does.name(), rank, size, root, turn, bytes }
}

fn unmatched_row(message: Unmatched) -> UnmatchedRow {
    let Unmatched { from, tag, context, length, order } = message;
    UnmatchedRow { from: Tid(from), tag, context, length, order }
}
