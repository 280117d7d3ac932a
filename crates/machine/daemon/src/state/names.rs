//! The name server: where a name leads, for whoever asks.
//!
//! A name is bound by one task, or is the name of a group and bound by each of its members. A binding goes when its
//! task takes it back or is gone. There may be a million names, so each is kept small, and names come by the list.

use super::*;
use parvum_wire::control::Spot;
use serde::{Deserialize, Serialize};

/// What a binding costs besides the name itself, about: measured with a million of them.
const KEEPING: usize = 96;

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Names {
    bound: HashMap<Box<str>, Bound>,
    /// How many bindings each task has.
    owners: BTreeMap<Tid, u32>,
    bytes: usize,
}

#[derive(Clone, Serialize, Deserialize)]
enum Bound {
    One(Tid, Spot),
    /// In the order in which they came.
    Group(Vec<(Tid, Spot)>),
}

impl Names {
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Who has bound names.
    pub fn owners(&self) -> impl Iterator<Item = Tid> {
        self.owners.keys().copied()
    }

    /// All of them, or none.
    fn bind(
        &mut self,
        me: Tid,
        names: Vec<(String, Spot)>,
        group: bool,
        limit: usize,
    ) -> Result<(), Failure> {
        let mut cost = 0;
        let mut these = HashSet::new();
        for (name, spot) in &names {
            check_name(name)?;
            let taken = match self.bound.get(name.as_str()) {
                None => !group && !these.insert(name.as_str()),
                Some(Bound::Group(members)) if group => members.contains(&(me, *spot)),
                Some(_) => true,
            };
            if taken {
                return Err(Failure::new(ErrorKind::NameTaken, name));
            }
            cost += name.len() + KEEPING;
        }
        if self.bytes + cost > limit {
            let detail = format!("{} of {limit} bytes for names are in use", self.bytes);
            return Err(Failure::new(ErrorKind::TooLarge, detail));
        }
        self.bytes += cost;
        *self.owners.entry(me).or_default() += names.len() as u32;
        for (name, spot) in names {
            if !group {
                self.bound.insert(name.into(), Bound::One(me, spot));
                continue;
            }
            let empty = || Bound::Group(Vec::new());
            if let Bound::Group(members) = self.bound.entry(name.into()).or_insert_with(empty) {
                members.push((me, spot));
            }
        }
        Ok(())
    }

    /// Gives how many bindings were taken back.
    fn unbind(&mut self, me: Tid, names: &[String], number: Option<i32>) -> u32 {
        let is_it = |tid: Tid, spot: &Spot| tid == me && number.is_none_or(|number| spot.number == number);
        let mut count = 0;
        for name in names {
            let Some(bound) = self.bound.get_mut(name.as_str()) else { continue };
            let (removed, left) = match bound {
                Bound::One(tid, spot) => {
                    let mine = is_it(*tid, spot);
                    (usize::from(mine), usize::from(!mine))
                }
                Bound::Group(members) => {
                    let before = members.len();
                    members.retain(|(tid, spot)| !is_it(*tid, spot));
                    (before - members.len(), members.len())
                }
            };
            if left == 0 {
                self.bound.remove(name.as_str());
            }
            self.bytes -= removed * (name.len() + KEEPING);
            count += removed as u32;
        }
        if let Some(has) = self.owners.get_mut(&me) {
            *has -= count;
            if *has == 0 {
                self.owners.remove(&me);
            }
        }
        count
    }

    fn find(&self, name: &str) -> Vec<(Tid, Spot)> {
        match self.bound.get(name) {
            None => Vec::new(),
            Some(Bound::One(tid, spot)) => vec![(*tid, *spot)],
            Some(Bound::Group(members)) => members.clone(),
        }
    }

    /// Goes through all names: a person asks, seldom.
    fn of(&self, places: &[(Tid, i32, u32)]) -> Vec<String> {
        let mut found: HashMap<(Tid, i32, u32), (bool, &str)> =
            places.iter().map(|place| (*place, (true, ""))).collect();
        for (name, bound) in &self.bound {
            let (is_group, all) = match bound {
                Bound::One(tid, spot) => (false, &[(*tid, *spot)][..]),
                Bound::Group(members) => (true, &members[..]),
            };
            for (tid, spot) in all {
                if let Some(best) = found.get_mut(&(*tid, spot.number, spot.context))
                    && (best.1.is_empty() || (is_group, &**name) < *best)
                {
                    *best = (is_group, name);
                }
            }
        }
        places
            .iter()
            .map(|place| found.get(place).map_or_else(String::new, |best| best.1.to_owned()))
            .collect()
    }

    fn forget(&mut self, gone: Tid) {
        if self.owners.remove(&gone).is_none() {
            return;
        }
        let bytes = &mut self.bytes;
        self.bound.retain(|name, bound| {
            let (removed, left) = match bound {
                Bound::One(tid, _) => (usize::from(*tid == gone), usize::from(*tid != gone)),
                Bound::Group(members) => {
                    let before = members.len();
                    members.retain(|(tid, _)| *tid != gone);
                    (before - members.len(), members.len())
                }
            };
            *bytes -= removed * (name.len() + KEEPING);
            left > 0
        });
    }
}

impl<F: Clone> Machine<F> {
    pub(super) fn names_bind(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Tid,
        names: Vec<(String, Spot)>,
        group: bool,
    ) {
        let limit = self.config.limits.names_bytes;
        let result = self.names.bind(me, names, group, limit).map(|()| Reply::Done);
        self.answer(client, id, result);
    }

    pub(super) fn names_unbind(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Tid,
        names: &[String],
        number: Option<i32>,
    ) {
        let count = self.names.unbind(me, names, number);
        self.reply(client, id, Reply::Number(count));
    }

    pub(super) fn names_find(&mut self, client: ClientId, id: RequestId, names: &[String]) {
        let found = names.iter().map(|name| self.names.find(name)).collect();
        self.reply(client, id, Reply::Names(found));
    }

    pub(super) fn names_of(&mut self, client: ClientId, id: RequestId, places: &[(Tid, i32, u32)]) {
        let names = self.names.of(places);
        self.reply(client, id, Reply::NamesOf(names));
    }

    /// Its owner is gone.
    pub(super) fn drop_names_of(&mut self, tid: Tid) {
        self.names.forget(tid);
    }
}
