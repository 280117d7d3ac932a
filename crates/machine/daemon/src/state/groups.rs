//! Groups and barriers.
//!
//! A barrier of `count` opens when `count` different members have asked. Members
//! may still join while others wait, as in PVM; but when a member leaves or dies
//! and fewer than `count` remain, the waiters are told that the barrier is
//! broken, where PVM would let them wait for ever. So is a member that comes to
//! the barrier after such a death, until as many have joined as were lost.
//!
//! Members that have met here once are given a page in which they meet without asking. When the
//! group changes, or a member asks all the same, the page is closed: those who wait in it ask then.

use super::*;
use parvum_wire::control::GroupRow;
use serde::{Deserialize, Serialize};

/// More members than that always ask: the page counts them in fifteen bits.
const LARGEST_BARRIER: usize = 0x7fff;

/// For so long a task that was started may be about to join a group.
const FLEDGLING: Now = 50_000_000;

/// Who asks for a member that is not there yet.
pub(super) struct PendingMember {
    pub until: Now,
    client: ClientId,
    id: RequestId,
    name: String,
    instance: u32,
}

pub(super) type Groups = BTreeMap<String, Group>;

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Group {
    members: BTreeMap<u32, Tid>,
    count: u32,
    /// Members that ended without leaving, and that nobody has replaced.
    lost: u32,
    /// The first of them.
    first_lost: Option<Tid>,
    waiters: Vec<(ClientId, RequestId, Tid)>,
    /// Where the members may meet without asking: known to their host alone.
    #[serde(skip)]
    segment: Option<u64>,
    /// Members do not change any more until all have left.
    frozen: bool,
    freezers: Vec<(ClientId, RequestId, Tid)>,
    freeze_count: u32,
}

impl Group {
    fn instance(&self, tid: Tid) -> Option<u32> {
        self.members.iter().find(|(_, t)| **t == tid).map(|(i, _)| *i)
    }
}

impl<F: Clone> Machine<F> {
    pub(super) fn join(&mut self, client: ClientId, id: RequestId, me: Tid, name: String) {
        let result = self.joined(me, name);
        self.answer(client, id, result);
    }

    fn joined(&mut self, me: Tid, name: String) -> Result<Reply, Failure> {
        check_name(&name)?;
        if !self.groups.contains_key(&name) && self.groups.len() >= self.config.limits.groups {
            return Err(Failure::new(ErrorKind::OutOfResources, "too many groups"));
        }
        let group = self.groups.entry(name).or_default();
        if group.instance(me).is_some() {
            return Err(ErrorKind::DuplicateGroup.into());
        }
        if group.frozen {
            return Err(Failure::new(ErrorKind::NotInGroup, "its members were fixed before"));
        }
        let taken = group.members.keys().zip(0..).take_while(|(have, want)| **have == *want).count() as u32;
        group.members.insert(taken, me);
        let segment = group.segment.take();
        group.lost = group.lost.saturating_sub(1);
        group.first_lost = group.first_lost.filter(|_| group.lost > 0);
        self.close_segment(segment);
        self.grant_wishes();
        Ok(Reply::Number(taken))
    }

    pub(super) fn leave(&mut self, client: ClientId, id: RequestId, me: Tid, name: &str) {
        let result = self.member(name, me).map(|_| Reply::Done);
        let left = result.is_ok();
        self.answer(client, id, result);
        if left {
            self.take_out(name, me);
        }
    }

    pub(super) fn leave_all(&mut self, tid: Tid) {
        let names = self.groups.iter().filter(|(_, g)| g.instance(tid).is_some()).map(|(n, _)| n.clone());
        for name in names.collect::<Vec<_>>() {
            if let Some(group) = self.groups.get_mut(&name) {
                group.lost += 1;
                group.first_lost.get_or_insert(tid);
            }
            self.take_out(&name, tid);
        }
    }

    fn take_out(&mut self, name: &str, tid: Tid) {
        if self.groups.get(name).is_some_and(|group| group.frozen) {
            return self.dissolve(name, tid);
        }
        let Some(group) = self.groups.get_mut(name) else { return };
        let segment = group.segment.take();
        group.members.retain(|_, t| *t != tid);
        let left = group.members.len();
        let (mut unfrozen, rest) = std::mem::take(&mut group.freezers).into_iter().partition(|f| f.2 == tid);
        group.freezers = rest;
        if left < group.freeze_count as usize {
            unfrozen.append(&mut group.freezers);
        }
        let (mut gone, mut waiting) = (Vec::new(), std::mem::take(&mut group.waiters));
        waiting.retain(|waiter| {
            waiter.2 != tid || {
                gone.push(*waiter);
                false
            }
        });
        let broken = !waiting.is_empty() && group.members.len() < group.count as usize;
        if broken {
            gone.append(&mut waiting);
        }
        group.waiters = waiting;
        if group.members.is_empty() {
            self.groups.remove(name);
        }
        gone.append(&mut unfrozen);
        self.close_segment(segment);
        for (client, id, _) in gone {
            let detail = format!("{tid} left group {name}");
            self.refuse(client, id, Failure::new(ErrorKind::BarrierBroken, detail));
        }
    }

    /// A fixed group that somebody leaves is no more; its members keep what they know of it.
    fn dissolve(&mut self, name: &str, leaver: Tid) {
        let Some(group) = self.groups.remove(name) else { return };
        self.close_segment(group.segment);
        for (client, id, _) in group.waiters {
            let detail = format!("{leaver} left group {name}, whose members were fixed");
            self.refuse(client, id, Failure::new(ErrorKind::NoSuchGroup, detail));
        }
    }

    pub(super) fn barrier(&mut self, client: ClientId, id: RequestId, me: Tid, name: &str, count: i32) {
        match self.arrive(client, id, me, name, count) {
            Ok(waiters) if waiters.is_empty() => {}
            Ok(waiters) => self.open(name, waiters),
            Err(why) => self.refuse(client, id, why),
        }
    }

    /// A barrier opens. When all members are in it, they may meet by themselves from now on.
    fn open(&mut self, name: &str, waiters: Vec<(ClientId, RequestId, Tid)>) {
        let waiters: Vec<_> = waiters.into_iter().map(|(client, id, _)| (client, id)).collect();
        let members = self.groups.get(name).map_or(0, |group| group.members.len());
        let mut segment = None;
        if waiters.len() == members && members <= LARGEST_BARRIER && self.all_are_here(name) {
            self.last_segment += 1;
            segment = Some((self.last_segment, members as u32));
            self.groups.get_mut(name).expect("it has members").segment = Some(self.last_segment);
        }
        self.effects.push(Effect::Opened { waiters, segment });
    }

    /// Whether all members are tasks of this host, and can share a page.
    fn all_are_here(&self, name: &str) -> bool {
        self.groups.get(name).is_some_and(|group| group.members.values().all(|tid| self.is_own(*tid)))
    }

    /// The members of all groups.
    pub(super) fn members(&self) -> impl Iterator<Item = Tid> {
        self.groups.values().flat_map(|group| group.members.values().copied())
    }

    pub(super) fn close_segments(&mut self) {
        let segments: Vec<_> = self.groups.values_mut().map(|group| group.segment.take()).collect();
        segments.into_iter().for_each(|segment| self.close_segment(segment));
    }

    fn close_segment(&mut self, segment: Option<u64>) {
        self.effects.extend(segment.map(Effect::CloseSegment));
    }

    /// Returns those whose barrier opens: none, or all.
    fn arrive(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Tid,
        name: &str,
        count: i32,
    ) -> Result<Vec<(ClientId, RequestId, Tid)>, Failure> {
        self.member(name, me)?;
        // Who asks cannot meet the others elsewhere; so they must all ask.
        let segment = self.groups.get_mut(name).and_then(|group| group.segment.take());
        self.close_segment(segment);
        let group = self.groups.get_mut(name).expect("it has a member");
        let agreed = (!group.waiters.is_empty()).then_some(group.count);
        let count = awaited(count, agreed, group.members.len())?;
        if group.lost > 0 && group.members.len() < count as usize {
            let detail = format!("{} members of group {name} are gone", group.lost);
            return Err(Failure::new(ErrorKind::BarrierBroken, detail));
        }
        agree(count, agreed)?;
        group.count = count;
        if group.waiters.iter().any(|w| w.2 == me) {
            return Err(Failure::new(ErrorKind::BadParameter, "the task waits in this barrier already"));
        }
        group.waiters.push((client, id, me));
        let open = group.waiters.len() >= count as usize;
        Ok(if open { std::mem::take(&mut group.waiters) } else { Vec::new() })
    }

    /// A barrier after which the members stay as they are.
    pub(super) fn freeze(&mut self, client: ClientId, id: RequestId, me: Tid, name: &str, count: i32) {
        match self.arrive_to_freeze(client, id, me, name, count) {
            Ok(freezers) => {
                let members = self.members_of(name);
                for (client, id, _) in freezers {
                    self.reply(client, id, Reply::Members(members.clone()));
                }
            }
            Err(why) => self.refuse(client, id, why),
        }
    }

    fn arrive_to_freeze(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Tid,
        name: &str,
        count: i32,
    ) -> Result<Vec<(ClientId, RequestId, Tid)>, Failure> {
        if self.group(name)?.frozen {
            return Err(Failure::new(ErrorKind::DuplicateGroup, "its members are fixed already"));
        }
        self.member(name, me)?;
        let group = self.groups.get_mut(name).expect("it has a member");
        let agreed = (!group.freezers.is_empty()).then_some(group.freeze_count);
        let count = awaited(count, agreed, group.members.len())?;
        agree(count, agreed)?;
        group.freeze_count = count;
        group.freezers.push((client, id, me));
        if group.freezers.len() < count as usize {
            return Ok(Vec::new());
        }
        group.frozen = true;
        Ok(std::mem::take(&mut group.freezers))
    }

    fn members_of(&self, name: &str) -> Vec<(u32, Tid)> {
        let members = self.groups.get(name).map(|group| &group.members);
        members.into_iter().flatten().map(|(instance, tid)| (*instance, *tid)).collect()
    }

    pub(super) fn list_groups(&mut self, client: ClientId, id: RequestId) {
        let row = |(name, group): (&String, &Group)| GroupRow {
            name: name.clone(),
            members: group.members.iter().map(|(instance, tid)| (*instance, *tid)).collect(),
            awaited: (!group.waiters.is_empty()).then_some(group.count),
            waiting: group.waiters.len() as u32,
            lost: group.first_lost,
        };
        let rows = self.groups.iter().map(row).collect();
        self.reply(client, id, Reply::Groups(rows));
    }

    pub(super) fn group_tid(&mut self, client: ClientId, id: RequestId, name: &str, instance: u32) {
        let found = self.instance(name, instance);
        if found.is_err() && check_name(name).is_ok() && self.answers(client) && self.somebody_may_join() {
            let until = self.now + FLEDGLING;
            self.wishes.push(PendingMember { until, client, id, name: name.to_owned(), instance });
            self.deadline_changed = true;
            return;
        }
        self.answer(client, id, found.map(Reply::Task));
    }

    fn instance(&self, name: &str, instance: u32) -> Result<Tid, Failure> {
        let found = self.group(name)?.members.get(&instance).copied();
        found.ok_or(ErrorKind::NoSuchInstance.into())
    }

    /// Whether a task was started a moment ago. PVM takes so long to answer that tasks started
    /// together find one another; programs that do not, sleep for a second.
    fn somebody_may_join(&self) -> bool {
        !self.others.is_alone() || self.processes.values().any(|process| process.began + FLEDGLING > self.now)
    }

    /// Somebody has joined: perhaps who was asked for.
    fn grant_wishes(&mut self) {
        for wish in std::mem::take(&mut self.wishes) {
            match self.instance(&wish.name, wish.instance) {
                Ok(tid) => self.reply(wish.client, wish.id, Reply::Task(tid)),
                Err(_) => self.wishes.push(wish),
            }
        }
    }

    /// Refuses what was wished for too long.
    pub(super) fn give_up_wishes(&mut self) {
        for wish in std::mem::take(&mut self.wishes) {
            match self.instance(&wish.name, wish.instance) {
                Err(why) if wish.until <= self.now => self.refuse(wish.client, wish.id, why),
                _ => self.wishes.push(wish),
            }
        }
    }

    pub(super) fn group_instance(&mut self, client: ClientId, id: RequestId, name: &str, tid: Tid) {
        let result = self.member(name, tid).map(Reply::Number);
        self.answer(client, id, result);
    }

    pub(super) fn group_size(&mut self, client: ClientId, id: RequestId, name: &str) {
        let result = self.group(name).map(|g| Reply::Number(g.members.len() as u32));
        self.answer(client, id, result);
    }

    pub(super) fn group_members(&mut self, client: ClientId, id: RequestId, name: &str) {
        let members = self.group(name).map(|_| Reply::Members(self.members_of(name)));
        self.answer(client, id, members);
    }

    fn group(&self, name: &str) -> Result<&Group, Failure> {
        check_name(name)?;
        self.groups.get(name).ok_or_else(|| Failure::new(ErrorKind::NoSuchGroup, name))
    }

    fn member(&self, name: &str, tid: Tid) -> Result<u32, Failure> {
        self.group(name)?.instance(tid).ok_or_else(|| Failure::new(ErrorKind::NotInGroup, name))
    }
}

/// How many are awaited when somebody says `count` (-1: all), and those who came before agreed on a number.
fn awaited(count: i32, agreed: Option<u32>, members: usize) -> Result<u32, Failure> {
    match count {
        -1 => Ok(agreed.unwrap_or(members as u32)),
        1.. => Ok(count as u32),
        _ => Err(Failure::new(ErrorKind::BadParameter, format!("count {count}"))),
    }
}

/// All who wait together wait for the same number.
fn agree(count: u32, agreed: Option<u32>) -> Result<(), Failure> {
    match agreed {
        Some(other) if other != count => {
            let detail = format!("count {count}, but others wait for {other}");
            Err(Failure::new(ErrorKind::BadParameter, detail))
        }
        _ => Ok(()),
    }
}
