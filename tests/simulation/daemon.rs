//! A simulated host: the daemon's own logic and its part in the agreement, with the simulated network instead of a shell.

use super::net::Now;
use super::world::{Event, World};
use parvum_agreement::{Agreed, Agreement, Bytes, Keeper, Member, Settings, Standing};
use parvum_machine::state::{Change, Config, Effect, Input, Limits, Machine, Wanted};
use parvum_wire::control::{Between, Blob, Call, HostRecord, Reply, Request, Role};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

/// The client that adds hosts.
const ADDER: u64 = 1;

pub struct Daemon {
    pub host: u32,
    world: Weak<World>,
    machine: RefCell<Machine<u32>>,
    agreement: RefCell<Option<Agreement>>,
    /// For when the next tick is scheduled.
    ticks_at: Cell<Option<Now>>,
    pub standing: Cell<Standing>,
    /// How many hosts its table has.
    pub known: Cell<usize>,
}

impl Daemon {
    pub fn new(world: &Rc<World>, host: u32, life: u64, name: &str, hosts: Vec<HostRecord>) -> Rc<Daemon> {
        let mut last = u64::from(host);
        let config = Config {
            number: host,
            life,
            addresses: vec![
                format!("10.0.{}.{}:{}", host / 256, host % 256, 40_000 + host),
                format!("[fd00::{host:x}]:{}", 40_000 + host),
            ],
            hosts,
            host: name.into(),
            arch: "LINUX64".into(),
            cpus: 32,
            clock: Box::new(|| (0, 0)),
            encrypt: false,
            settings: Default::default(),
            entropy: Box::new(move || {
                last += 1;
                u128::from(last).to_le_bytes()
            }),
            limits: Limits::default(),
        };
        Rc::new(Daemon {
            host,
            world: Rc::downgrade(world),
            machine: RefCell::new(Machine::new(config)),
            agreement: Default::default(),
            ticks_at: Cell::new(None),
            standing: Cell::new(Standing::Waiting),
            known: Cell::new(1),
        })
    }

    fn world(&self) -> Rc<World> {
        self.world.upgrade().expect("a world outlives its hosts")
    }

    /// What others know of this host.
    pub fn record(&self) -> HostRecord {
        self.machine.borrow().host(self.host).expect("a host knows itself")
    }

    /// Agrees with others from now on.
    pub fn start_to_agree(self: &Rc<Daemon>, founds: bool) {
        let (host, life, _) = self.machine.borrow().identity();
        let begin = if founds { Agreement::found } else { Agreement::join };
        *self.agreement.borrow_mut() = Some(begin(Member { life, host }, self.clone(), Settings::default()));
        self.input(Input::Agreeing);
    }

    /// The host is dead.
    pub fn end(&self) {
        self.agreement.borrow_mut().take();
    }

    /// A person at this host adds others.
    pub fn add(self: &Rc<Daemon>, hosts: Vec<String>) {
        let (name, release) = (String::new(), "0".into());
        self.call(Request::Enrol { role: Role::Tool, pid: 1, name, ticket: None, release });
        self.call(Request::AddHosts { hosts });
    }

    fn call(self: &Rc<Daemon>, request: Request) {
        let call = Box::new(Call { id: 1, request });
        self.input(Input::Call { client: ADDER, pid: 1, call, fds: Vec::new(), channel: None });
    }

    fn tell(&self, tell: impl FnOnce(&Agreement)) {
        if let Some(agreement) = &*self.agreement.borrow() {
            tell(agreement);
        }
    }

    pub fn hear(self: &Rc<Daemon>, from: u32, bytes: &[u8]) {
        match postcard::from_bytes(bytes).expect("a word of ours") {
            Between::Agreement(Blob(piece)) => self.tell(|agreement| agreement.heard(from, piece.into())),
            word => self.input(Input::Heard { host: from, word: Box::new(word) }),
        }
    }

    pub fn lose(self: &Rc<Daemon>, host: u32) {
        self.tell(|agreement| agreement.lost(host));
        self.input(Input::HostLost(host));
    }

    pub fn doubt(self: &Rc<Daemon>, host: u32) {
        self.input(Input::HostDoubtful(host));
    }

    /// The time for which a tick was scheduled.
    pub fn tick(self: &Rc<Daemon>, now: Now) {
        if self.ticks_at.get() == Some(now) {
            self.ticks_at.set(None);
            self.input(Input::Tick);
        }
    }

    pub fn input(self: &Rc<Daemon>, input: Input<u32>) {
        let world = self.world();
        let (effects, deadline) = {
            let mut machine = self.machine.borrow_mut();
            let effects = machine.handle(world.now(), input);
            let deadline = machine.take_deadline_changed().then(|| machine.next_deadline()).flatten();
            (effects, deadline)
        };
        let watched = self.machine.borrow_mut().take_watched();
        if let Some(watched) = watched {
            world.watch(self.host, watched);
        }
        if let Some(at) = deadline.map(|at| at.max(world.now()))
            && self.ticks_at.get().is_none_or(|next| at < next)
        {
            self.ticks_at.set(Some(at));
            world.schedule(at, Event::Tick(self.host));
        }
        for effect in effects {
            self.carry_out(&world, effect);
        }
    }

    fn carry_out(self: &Rc<Daemon>, world: &Rc<World>, effect: Effect<u32>) {
        match effect {
            Effect::Say { host, word } => self.say(world, host, &word),
            Effect::Probe(hosts) => world.probe(self.host, &hosts),
            Effect::Propose(change) => {
                let bytes = postcard::to_stdvec(&change).expect("plain data");
                self.tell(|agreement| agreement.propose(bytes));
            }
            Effect::Members(members) => {
                self.known.set(members.len());
                world.look_at(self);
                self.tell(|agreement| agreement.members(members));
            }
            Effect::Fetch(wanted) => {
                let Wanted { number, life, name, .. } = *wanted;
                if self.agreement.borrow().is_none() {
                    self.start_to_agree(true);
                }
                world.start(self.host, number, life, name);
            }
            Effect::Reply { reply, .. } => {
                if let Ok(Reply::HostResults(results)) = *reply {
                    world.answered(results.iter().filter(|result| result.is_ok()).count());
                }
            }
            _ => {}
        }
    }

    fn say(&self, world: &Rc<World>, host: u32, word: &Between) {
        world.send(self.host, host, postcard::to_stdvec(word).expect("plain data").into());
    }
}

impl Keeper for Daemon {
    fn agreed(&self, Agreed { index, by, leader, change }: Agreed) {
        let world = self.world();
        // All read the same change: it is decoded for all of them once.
        let change =
            world.decoded(index, || postcard::from_bytes::<Change>(&change).expect("a change of ours"));
        if let Some(me) = world.host(self.host) {
            me.input(Input::Agreed { by, leader, change: Box::new(Change::clone(&change)) });
        }
    }

    fn snapshot(&self) -> Vec<u8> {
        self.machine.borrow().snapshot()
    }

    fn install(&self, snapshot: &[u8]) {
        if let Some(me) = self.world().host(self.host) {
            me.input(Input::Install(snapshot.to_vec()));
        }
    }

    fn send(&self, host: u32, bytes: Bytes) {
        let word = Between::Agreement(Blob(bytes.into()));
        self.say(&self.world(), host, &word);
    }

    fn released(&self, _: Member) {}

    fn stands(&self, standing: Standing) {
        self.standing.set(standing);
        if let Some(me) = self.world().host(self.host) {
            me.input(Input::Stands(standing));
        }
    }

    fn voters(&self, voters: Vec<Member>) {
        if let Some(me) = self.world().host(self.host) {
            me.input(Input::Voters(voters.into_iter().map(|member| member.host).collect()));
        }
    }

    fn failed(&self, why: String) {
        assert!(self.world().host(self.host).is_none(), "host {}: {why}", self.host);
    }
}
