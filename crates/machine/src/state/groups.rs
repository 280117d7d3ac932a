//! Groups and barriers.
//!
//! A barrier of `count` opens when `count` different members have asked. Members
//! may still join while others wait, as in PVM; but when a member leaves or dies
//! and fewer than `count` remain, the waiters are told that the barrier is
//! broken, where PVM would let them wait for ever. So is a member that comes to
//! the barrier after such a death, until as many have joined as were lost.

use super::*;

pub(super) type Groups = BTreeMap<String, Group>;

#[derive(Default)]
pub(super) struct Group {
    members: BTreeMap<u32, Tid>,
    count: u32,
    /// Members that ended without leaving, and that nobody has replaced.
    lost: u32,
    waiters: Vec<(ClientId, RequestId, Tid)>,
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
        let taken = group.members.keys().zip(0..).take_while(|(have, want)| **have == *want).count() as u32;
        group.members.insert(taken, me);
        group.lost = group.lost.saturating_sub(1);
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
            }
            self.take_out(&name, tid);
        }
    }

    fn take_out(&mut self, name: &str, tid: Tid) {
        let Some(group) = self.groups.get_mut(name) else { return };
        group.members.retain(|_, t| *t != tid);
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
        for (client, id, _) in gone {
            let detail = format!("{tid} left group {name}");
            self.refuse(client, id, Failure::new(ErrorKind::BarrierBroken, detail));
        }
    }

    pub(super) fn barrier(&mut self, client: ClientId, id: RequestId, me: Tid, name: &str, count: i32) {
        match self.arrive(client, id, me, name, count) {
            Ok(waiters) => {
                for (client, id, _) in waiters {
                    self.reply(client, id, Reply::Done);
                }
            }
            Err(why) => self.refuse(client, id, why),
        }
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
        let group = self.groups.get_mut(name).expect("it has a member");
        let first = group.waiters.is_empty();
        let count = match count {
            -1 if first => group.members.len() as u32,
            -1 => group.count,
            1.. => count as u32,
            _ => return Err(Failure::new(ErrorKind::BadParameter, format!("count {count}"))),
        };
        if group.lost > 0 && group.members.len() < count as usize {
            let detail = format!("{} members of group {name} are gone", group.lost);
            return Err(Failure::new(ErrorKind::BarrierBroken, detail));
        }
        if first {
            group.count = count;
        } else if group.count != count {
            let detail = format!("count {count}, but others wait for {}", group.count);
            return Err(Failure::new(ErrorKind::BadParameter, detail));
        }
        if group.waiters.iter().any(|w| w.2 == me) {
            return Err(Failure::new(ErrorKind::BadParameter, "the task waits in this barrier already"));
        }
        group.waiters.push((client, id, me));
        let open = group.waiters.len() >= count as usize;
        Ok(if open { std::mem::take(&mut group.waiters) } else { Vec::new() })
    }

    pub(super) fn group_tid(&mut self, client: ClientId, id: RequestId, name: &str, instance: u32) {
        let found = self.group(name).map(|g| g.members.get(&instance).copied());
        let found = found.and_then(|tid| tid.ok_or(ErrorKind::NoSuchInstance.into()));
        self.answer(client, id, found.map(Reply::Task));
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
        let members = self.group(name).map(|g| g.members.iter().map(|(i, t)| (*i, *t)).collect());
        self.answer(client, id, members.map(Reply::Members));
    }

    fn group(&self, name: &str) -> Result<&Group, Failure> {
        check_name(name)?;
        self.groups.get(name).ok_or_else(|| Failure::new(ErrorKind::NoSuchGroup, name))
    }

    fn member(&self, name: &str, tid: Tid) -> Result<u32, Failure> {
        self.group(name)?.instance(tid).ok_or_else(|| Failure::new(ErrorKind::NotInGroup, name))
    }
}
