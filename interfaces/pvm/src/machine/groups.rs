//! Groups: `libgpvm3`. The daemon keeps membership and barriers; data goes between members directly.

use crate::errors::{Pvm, PvmError};
use crate::state::Locked;
use crate::trace::{Did, Value};
use parvum_api::{CoreApi, Status, call};
use parvum_collectives::plans::{Group, Plan};
use parvum_collectives::{Failure, Fault, Members, Memory, none, run};
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request};

/// Messages of reduce, gather and scatter have a context of their own, so that
/// no receive of the program takes them.
const CONTEXT: u32 = 0x4752_4f50;

impl Locked {
    /// Tells a tracer which group the call is about.
    fn about_group(&mut self, group: &str, more: &[(Did, i32)]) {
        self.about(|| {
            let name = (Did::Group, Value::Text(group.as_bytes().to_vec()));
            let more = more.iter().map(|(did, number)| (*did, Value::Number(*number)));
            std::iter::once(name).chain(more).collect()
        });
    }

    /// Fixes the members of a group, when `count` of them have asked; gives how many there are.
    pub(crate) fn freeze(&mut self, group: String, count: i32) -> Pvm<i32> {
        if count == 0 || count < -1 {
            return Err(PvmError::Mismatch);
        }
        let Reply::Members(members) =
            self.ask_in(&Request::Freeze { group: group.clone(), count }, call::BARRIER)?
        else {
            return Err(PvmError::DSysErr);
        };
        let size = members.len() as i32;
        self.frozen.retain(|(name, _)| *name != group);
        self.frozen.push((group, members));
        Ok(size)
    }

    /// The members of a group that this task knows to be fixed, without a request.
    fn frozen(&self, group: &str) -> Option<&[(u32, Tid)]> {
        self.frozen.iter().find(|(name, _)| name == group).map(|(_, members)| members.as_slice())
    }

    pub(crate) fn join(&mut self, group: String) -> Pvm<i32> {
        self.about_group(&group, &[]);
        number(self.ask(&Request::Join { group })?)
    }

    pub(crate) fn leave_group(&mut self, group: String) -> Pvm<i32> {
        let known = self.frozen.len();
        self.about_group(&group, &[]);
        self.frozen.retain(|(name, _)| *name != group);
        match self.ask(&Request::Leave { group }) {
            // Another has left before, and with that the fixed group was no more.
            Err(PvmError::NoGroup | PvmError::NotInGroup) if self.frozen.len() < known => Ok(0),
            left => left.map(|_| 0),
        }
    }

    pub(crate) fn group_tid(&mut self, group: String, instance: i32) -> Pvm<i32> {
        let instance = u32::try_from(instance).map_err(|_| PvmError::NoInst)?;
        if let Some((_, tid)) =
            self.frozen(&group).and_then(|members| members.iter().find(|m| m.0 == instance))
        {
            return Ok(tid.0);
        }
        match self.ask(&Request::GroupTid { group, instance })? {
            Reply::Task(tid) => Ok(tid.0),
            _ => Err(PvmError::DSysErr),
        }
    }

    pub(crate) fn group_instance(&mut self, group: String, tid: i32) -> Pvm<i32> {
        if !Tid(tid).is_task() {
            // A missing group is reported first.
            return self.group_size(group).and(Err(PvmError::NotInGroup));
        }
        if let Some((instance, _)) =
            self.frozen(&group).and_then(|members| members.iter().find(|m| m.1.0 == tid))
        {
            return Ok(*instance as i32);
        }
        number(self.ask(&Request::GroupInstance { group, tid: Tid(tid) })?)
    }

    pub(crate) fn group_size(&mut self, group: String) -> Pvm<i32> {
        self.about_group(&group, &[]);
        if let Some(members) = self.frozen(&group) {
            return Ok(members.len() as i32);
        }
        number(self.ask(&Request::GroupSize { group })?)
    }

    pub(crate) fn barrier(&mut self, group: String, count: i32) -> Pvm<i32> {
        self.about_group(&group, &[(Did::BarrierCount, count)]);
        if count == 0 || count < -1 {
            // A member cannot have asked for this number.
            return Err(PvmError::Mismatch);
        }
        self.ask_in(&Request::Barrier { group, count }, call::BARRIER).map(|_| 0)
    }

    /// Sends the active send buffer to all members but this task.
    pub(crate) fn broadcast(&mut self, group: String, tag: i32) -> Pvm<i32> {
        self.about_group(&group, &[(Did::Tag, tag), (Did::Context, self.context as i32)]);
        let (me, context) = (self.me()?.tid, self.context);
        let mut others = self.members(group)?;
        others.retain(|(_, tid)| tid.0 != me);
        if others.is_empty() {
            return Err(PvmError::NoInst);
        }
        if tag < 0 {
            return Err(PvmError::BadParam);
        }
        self.can_send()?;
        for (_, tid) in others {
            match self.send(tid.0, tag, context) {
                // It left while we sent to the others.
                Ok(_) | Err(PvmError::NoTask) => {}
                Err(why) => return Err(why),
            }
        }
        Ok(0)
    }

    fn members(&mut self, group: String) -> Pvm<Vec<(u32, Tid)>> {
        if let Some(members) = self.frozen(&group) {
            return Ok(members.to_vec());
        }
        match self.ask(&Request::GroupMembers { group })? {
            Reply::Members(members) => Ok(members),
            _ => Err(PvmError::DSysErr),
        }
    }

    /// This task, the members in the order of their instances, and the root's place among them.
    pub(crate) fn circle(&mut self, group: String, tag: i32, root: i32) -> Pvm<Circle> {
        if tag < 0 {
            return Err(PvmError::BadParam);
        }
        let me = self.me()?.tid;
        let members = self.members(group)?;
        let own = members.iter().position(|(_, tid)| tid.0 == me).ok_or(PvmError::NotInGroup)?;
        let root = members
            .iter()
            .position(|(instance, _)| i64::from(*instance) == i64::from(root))
            .ok_or(PvmError::NoInst)?;
        Ok(Circle { own, members: members.into_iter().map(|(_, tid)| tid.0).collect(), root })
    }

    /// Runs a plan of the members that combines nothing.
    pub(crate) fn run(
        &mut self,
        circle: &Circle,
        tag: i32,
        plan: &Plan,
        mine: &[u8],
        data: &mut [u8],
    ) -> Pvm<i32> {
        let mut members = circle.members(self.machine()?, tag);
        // Other threads may call PVM while this one waits for members.
        self.outside(|| run(&mut members, plan, Memory { mine, data, scratch: &mut [] }, &mut none))?;
        Ok(0)
    }
}

/// The members that take part in a collective call.
pub(crate) struct Circle {
    /// This task's place among the members.
    pub(crate) own: usize,
    /// In the order of their instances.
    pub(crate) members: Vec<i32>,
    /// The root's place.
    pub(crate) root: usize,
}

impl Circle {
    pub(crate) fn group(&self) -> Group {
        Group { own: self.own, size: self.members.len() }
    }

    pub(crate) fn is_root(&self) -> bool {
        self.own == self.root
    }

    /// The members, for a call with this tag.
    pub(crate) fn members(&self, api: CoreApi, tag: i32) -> Members<'_> {
        Members { api, tasks: &self.members, own: self.own, context: CONTEXT, tag, call: call::RECEIVE }
    }
}

impl From<Failure> for PvmError {
    fn from(failure: Failure) -> PvmError {
        match failure {
            Failure::Fault(Fault::Disagreed) => PvmError::Mismatch,
            _ => Status::from(failure).into(),
        }
    }
}

fn number(reply: Reply) -> Pvm<i32> {
    match reply {
        Reply::Number(number) => i32::try_from(number).map_err(|_| PvmError::Overflow),
        _ => Err(PvmError::DSysErr),
    }
}
