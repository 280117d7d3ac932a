//! Members of a simulated machine, and the daemons' part of it: who is lost is taken out, who comes is
//! taken in.

use super::net::{Net, pair};
use crate::{Agreed, Agreement, Bytes, Keeper, Member, Settings, Standing};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};
use std::time::Duration;

/// So long after a link breaks both ends know.
const DETECT: u64 = 300;
/// So long the leader waits before it takes out who is lost.
const TOGETHER: Duration = Duration::from_millis(250);

pub struct World {
    pub net: RefCell<Net>,
    pub nodes: RefCell<BTreeMap<u32, Rc<Node>>>,
    /// All that anybody was ever told to be agreed.
    pub seen: RefCell<BTreeSet<String>>,
    next: Cell<u32>,
}

pub struct Node {
    pub me: Member,
    world: Weak<World>,
    pub agreement: RefCell<Option<Agreement>>,
    /// What was agreed, in order.
    pub list: RefCell<Vec<String>>,
    pub members: RefCell<Vec<Member>>,
    pub standing: Cell<Standing>,
    pub was_minority: Cell<bool>,
    pub proposed: RefCell<Vec<String>>,
    /// Hosts it cannot reach.
    lost: RefCell<BTreeSet<u32>>,
    /// Hosts that were members.
    released: RefCell<BTreeSet<u32>>,
}

impl World {
    pub fn new(seed: u64, slowest: u64) -> Rc<World> {
        let world = World {
            net: RefCell::new(Net::new(seed, slowest)),
            nodes: Default::default(),
            seen: Default::default(),
            next: Cell::new(1),
        };
        Rc::new(world)
    }

    /// A machine of so many members that all know one another.
    pub async fn of(seed: u64, count: u32) -> Rc<World> {
        let world = World::new(seed, 20);
        for _ in 0..count {
            world.come();
            world.pass(2000).await;
        }
        assert_eq!(world.node(count).members.borrow().len(), count as usize);
        world
    }

    pub async fn pass(&self, milliseconds: u64) {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    pub fn node(&self, host: u32) -> Rc<Node> {
        self.nodes.borrow()[&host].clone()
    }

    pub fn alive(&self) -> Vec<u32> {
        self.nodes.borrow().keys().copied().collect()
    }

    pub fn leader(&self) -> Option<Rc<Node>> {
        self.nodes.borrow().values().find(|node| node.standing.get() == Standing::Leading).cloned()
    }

    /// A new host; the first founds the machine, others are taken in by the leader.
    pub fn come(self: &Rc<World>) -> u32 {
        let host = self.next.replace(self.next.get() + 1);
        let me = Member { life: u64::from(host), host };
        let node = Rc::new(Node {
            me,
            world: Rc::downgrade(self),
            agreement: Default::default(),
            list: Default::default(),
            members: RefCell::new(vec![me]),
            standing: Cell::new(Standing::Waiting),
            was_minority: Cell::new(false),
            proposed: Default::default(),
            lost: Default::default(),
            released: Default::default(),
        });
        let begin = if host == 1 { Agreement::found } else { Agreement::join };
        if host == 1 {
            node.list.borrow_mut().push("before".into());
        }
        *node.agreement.borrow_mut() = Some(begin(me, node.clone(), Settings::default()));
        self.nodes.borrow_mut().insert(host, node);
        if let Some(leader) = self.leader() {
            leader.say(format!("+{host}"));
        }
        host
    }

    /// The host is dead: it says nothing any more, and the others hear nothing.
    pub fn kill(self: &Rc<World>, host: u32) {
        let Some(node) = self.nodes.borrow_mut().remove(&host) else { return };
        node.agreement.borrow_mut().take();
        for other in self.alive() {
            self.cut(host, other);
        }
    }

    pub fn cut(self: &Rc<World>, a: u32, b: u32) {
        if !self.net.borrow_mut().cut(a, b) {
            return;
        }
        let world = self.clone();
        let wait = 1 + self.net.borrow_mut().dice.below(DETECT);
        tokio::task::spawn_local(async move {
            world.pass(wait).await;
            for (at, other) in [(a, b), (b, a)] {
                if let Some(node) = world.nodes.borrow().get(&at) {
                    node.lose(other);
                }
            }
        });
    }

    /// Cuts these hosts off from all others.
    pub fn cut_off(self: &Rc<World>, hosts: &[u32]) {
        for a in hosts {
            for b in self.alive().into_iter().filter(|host| !hosts.contains(host)) {
                self.cut(*a, b);
            }
        }
    }

    /// All links that are broken, and known to be, are whole again. Whoever was taken out meanwhile hears
    /// so, and ends.
    pub async fn heal(self: &Rc<World>) {
        self.pass(DETECT + 1).await;
        let alive = self.alive();
        for a in &alive {
            for b in alive.iter().filter(|b| a < *b) {
                if self.net.borrow_mut().broken.remove(&pair(*a, *b)) {
                    self.meet(*a, *b);
                }
            }
        }
    }

    fn meet(self: &Rc<World>, a: u32, b: u32) {
        for (at, other) in [(a, b), (b, a)] {
            let Some(node) = self.nodes.borrow().get(&at).cloned() else { return };
            node.lost.borrow_mut().remove(&other);
            node.tell(|agreement| agreement.found_again(other));
            if node.released.borrow().contains(&other) {
                self.kill(other);
                return;
            }
        }
    }

    /// What is agreed is in one order: of any two lists one begins with the other.
    pub fn check_order(&self) {
        let nodes = self.nodes.borrow();
        let longest = nodes.values().max_by_key(|node| node.list.borrow().len()).expect("somebody lives");
        for node in nodes.values() {
            let (list, longest) = (node.list.borrow(), longest.list.borrow());
            assert!(
                longest.starts_with(&list),
                "host {}: {list:?} is not the beginning of {longest:?}",
                node.me.host
            );
        }
    }

    /// Everybody who is left has the same, nothing is missing, and nothing is there twice.
    pub fn check_whole(&self) {
        self.check_order();
        let nodes = self.nodes.borrow();
        let first = nodes.values().next().expect("somebody lives").list.borrow().clone();
        let once: BTreeSet<String> = first.iter().cloned().collect();
        assert_eq!(once.len(), first.len(), "something was done twice: {first:?}");
        for node in nodes.values() {
            assert_eq!(*node.list.borrow(), first, "host {} is behind", node.me.host);
            assert_ne!(node.standing.get(), Standing::Minority, "host {}", node.me.host);
            if !node.was_minority.get() {
                for mine in node.proposed.borrow().iter() {
                    assert!(
                        once.contains(mine),
                        "host {} proposed {mine}, and it is not there",
                        node.me.host
                    );
                }
            }
        }
        for agreed in self.seen.borrow().iter() {
            assert!(once.contains(agreed), "{agreed} was agreed and is lost");
        }
    }
}

fn is_of_hosts(text: &str) -> bool {
    text.starts_with(['+', '-', '~'])
}

impl Node {
    pub fn tell(&self, tell: impl Fn(&Agreement)) {
        if let Some(agreement) = &*self.agreement.borrow() {
            tell(agreement);
        }
    }

    pub fn say(&self, text: String) {
        self.tell(|agreement| agreement.propose(text.clone().into_bytes()));
        if !is_of_hosts(&text) && self.standing.get() != Standing::Minority {
            self.proposed.borrow_mut().push(text);
        }
    }

    fn lose(&self, host: u32) {
        self.lost.borrow_mut().insert(host);
        self.tell(|agreement| agreement.lost(host));
        self.look_later();
    }

    /// What is lost together is counted together.
    fn look_later(&self) {
        let (world, host) = (self.world.clone(), self.me.host);
        tokio::task::spawn_local(async move {
            tokio::time::sleep(TOGETHER).await;
            let node = world.upgrade().and_then(|world| world.nodes.borrow().get(&host).cloned());
            if let Some(node) = node {
                node.take_out_the_lost();
            }
        });
    }

    /// The daemon of the leader takes out who is lost.
    fn take_out_the_lost(&self) {
        if self.standing.get() == Standing::Leading {
            for host in self.lost.borrow().iter() {
                if self.members.borrow().iter().any(|member| member.host == *host) {
                    self.say(format!("-{host}"));
                }
            }
        }
    }

    /// `+3` has come, `-3` is lost, `~3` is to go.
    fn take(&self, text: &str) {
        if let Some(host) = text.strip_prefix('+').and_then(|host| host.parse().ok()) {
            self.members.borrow_mut().push(Member { life: u64::from(host), host });
        }
        if let Some(host) = text.strip_prefix(['-', '~']).and_then(|host| host.parse::<u32>().ok()) {
            self.members.borrow_mut().retain(|member| member.host != host);
        }
        let members = self.members.borrow().clone();
        self.tell(|agreement| agreement.members(members.clone()));
    }
}

impl Keeper for Node {
    fn agreed(&self, agreed: Agreed) {
        let text = String::from_utf8(agreed.change.to_vec()).expect("we wrote it");
        // As the machine does: who has taken out or taken in before is not heard again.
        let again = self.list.borrow().contains(&text) && is_of_hosts(&text);
        let leader = text == format!("-{}", agreed.leader);
        if !again && !leader {
            self.world.upgrade().expect("it lives").seen.borrow_mut().insert(text.clone());
            self.list.borrow_mut().push(text.clone());
            self.take(&text);
        }
    }

    fn snapshot(&self) -> Vec<u8> {
        let members: Vec<Member> = self.members.borrow().clone();
        postcard::to_stdvec(&(&*self.list.borrow(), members)).expect("it is plain data")
    }

    fn install(&self, snapshot: &[u8]) {
        let (list, members): (Vec<String>, Vec<Member>) = postcard::from_bytes(snapshot).expect("ours");
        *self.list.borrow_mut() = list;
        *self.members.borrow_mut() = members.clone();
        self.tell(|agreement| agreement.members(members.clone()));
    }

    fn send(&self, host: u32, bytes: Bytes) {
        let Some(world) = self.world.upgrade() else { return };
        let me = self.me.host;
        let Some((delay, epoch)) = world.net.borrow_mut().deliver(me, host, bytes) else { return };
        tokio::task::spawn_local(async move {
            tokio::time::sleep(delay).await;
            let arrived = world.net.borrow_mut().arrive(me, host, epoch);
            if let Some(bytes) = arrived
                && let Some(node) = world.nodes.borrow().get(&host)
            {
                node.tell(|agreement| agreement.heard(me, bytes.clone()));
            }
        });
    }

    fn released(&self, member: Member) {
        self.released.borrow_mut().insert(member.host);
        let world = self.world.upgrade().expect("it outlives its members");
        if world.net.borrow().talks(self.me.host, member.host) && member != self.me {
            world.kill(member.host);
        }
    }

    fn stands(&self, standing: Standing) {
        self.standing.set(standing);
        self.was_minority.set(self.was_minority.get() || standing == Standing::Minority);
        self.look_later();
    }

    fn voters(&self, _: Vec<Member>) {}

    fn failed(&self, why: String) {
        // A member that was killed ends so.
        assert!(self.agreement.borrow().is_none(), "host {}: {why}", self.me.host);
    }
}
