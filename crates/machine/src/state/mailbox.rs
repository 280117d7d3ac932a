//! The mailbox: messages kept under a name for whoever asks.
//!
//! An entry belongs to the task that put it. Others may read it; they may
//! replace or delete it only when it was put overwritable. When the owner goes,
//! its entries go too, except the persistent ones, which then belong to nobody
//! and which anybody may delete.

use super::*;
use parvum_wire::control::{Blob, MailClass, MailEntry, MailFlags};
use std::collections::VecDeque;

#[derive(Default)]
pub(super) struct Mailbox {
    classes: BTreeMap<String, BTreeMap<u32, Entry>>,
    bytes: usize,
    waiting: VecDeque<Wish>,
}

struct Entry {
    owner: Option<Tid>,
    flags: MailFlags,
    data: Blob,
}

impl Entry {
    fn yields_to(&self, tid: Tid) -> bool {
        self.flags.overwritable || self.owner == Some(tid)
    }

    /// What an entry costs, about: its bytes and its keeping.
    fn cost(name: &str, data: &Blob) -> usize {
        name.len() + data.0.len() + 64
    }
}

/// A read that is wanted.
pub(super) struct Wish {
    pub client: ClientId,
    pub id: RequestId,
    pub me: Tid,
    pub name: String,
    pub index: u32,
    pub first: bool,
    pub take: bool,
}

impl Mailbox {
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn list(&self) -> Vec<MailClass> {
        let row = |(index, e): (&u32, &Entry)| MailEntry { index: *index, owner: e.owner, flags: e.flags };
        let class = |(name, entries): (&String, &BTreeMap<u32, Entry>)| MailClass {
            name: name.clone(),
            entries: entries.iter().map(row).collect(),
        };
        self.classes.iter().map(class).collect()
    }

    fn put(
        &mut self,
        me: Tid,
        name: String,
        index: Option<u32>,
        flags: MailFlags,
        data: Blob,
        limit: usize,
    ) -> Result<u32, Failure> {
        check_name(&name)?;
        let cost = Entry::cost(&name, &data);
        if self.bytes + cost > limit {
            let detail = format!("{} of {limit} bytes are in use", self.bytes);
            return Err(Failure::new(ErrorKind::TooLarge, detail));
        }
        let class = self.classes.get(&name);
        let multi = class.and_then(|c| c.values().next()).map(|e| e.flags.multi);
        let index = match (index, multi) {
            (Some(index), _) => index,
            (None, None) => 0,
            (None, Some(true)) if flags.multi => {
                let taken = class.into_iter().flat_map(|c| c.keys()).zip(0..);
                taken.take_while(|(have, want)| **have == *want).count() as u32
            }
            // Of several instances none is "the" one to be replaced.
            (None, Some(true)) => return Err(Failure::new(ErrorKind::EntryExists, name)),
            (None, Some(false)) => 0,
        };
        if let Some(old) = class.and_then(|c| c.get(&index)) {
            if !old.flags.overwritable {
                let wanted = flags.overwritable || old.owner != Some(me);
                let kind = if wanted { ErrorKind::Denied } else { ErrorKind::EntryExists };
                return Err(Failure::new(kind, name));
            }
            self.remove(&name, index);
        }
        self.bytes += cost;
        self.classes.entry(name).or_default().insert(index, Entry { owner: Some(me), flags, data });
        Ok(index)
    }

    fn remove(&mut self, name: &str, index: u32) {
        let Some(class) = self.classes.get_mut(name) else { return };
        if let Some(entry) = class.remove(&index) {
            self.bytes -= Entry::cost(name, &entry.data);
        }
        if class.is_empty() {
            self.classes.remove(name);
        }
    }

    /// `Ok(None)` when there is no such entry.
    fn read(&mut self, wish: &Wish) -> Result<Option<(u32, Blob)>, Failure> {
        let Some(class) = self.classes.get(&wish.name) else { return Ok(None) };
        let found =
            if wish.first { class.range(wish.index..).next() } else { class.get_key_value(&wish.index) };
        let Some((&index, entry)) = found else { return Ok(None) };
        if wish.take && !entry.yields_to(wish.me) {
            return Err(Failure::new(ErrorKind::Denied, &wish.name));
        }
        let data = entry.data.clone();
        if wish.take {
            self.remove(&wish.name, index);
        }
        Ok(Some((index, data)))
    }
}

impl<F: Clone> Machine<F> {
    #[allow(clippy::too_many_arguments)] // one per field of the request
    pub(super) fn mail_put(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Tid,
        name: String,
        index: Option<u32>,
        flags: MailFlags,
        data: Blob,
    ) {
        let limit = self.config.limits.mailbox_bytes;
        let result = self.mailbox.put(me, name, index, flags, data, limit).map(Reply::Number);
        self.answer(client, id, result);
        for wish in std::mem::take(&mut self.mailbox.waiting) {
            self.mail_get(wish, true);
        }
    }

    pub(super) fn mail_get(&mut self, wish: Wish, wait: bool) {
        match self.mailbox.read(&wish) {
            Ok(Some((index, data))) => self.reply(wish.client, wish.id, Reply::Mail { index, data }),
            Ok(None) if wait && check_name(&wish.name).is_ok() => self.mailbox.waiting.push_back(wish),
            Ok(None) => {
                let why = Failure::new(ErrorKind::NoSuchEntry, wish.name);
                self.refuse(wish.client, wish.id, why);
            }
            Err(why) => self.refuse(wish.client, wish.id, why),
        }
    }

    pub(super) fn mail_remove(&mut self, client: ClientId, id: RequestId, me: Tid, name: &str, index: u32) {
        let entry = self.mailbox.classes.get(name).and_then(|c| c.get(&index));
        let result = match entry {
            None => Err(Failure::new(ErrorKind::NoSuchEntry, name)),
            // What is nobody's any more anybody may tidy away.
            Some(entry) if entry.owner.is_some() && !entry.yields_to(me) => {
                Err(Failure::new(ErrorKind::Denied, name))
            }
            Some(_) => {
                self.mailbox.remove(name, index);
                Ok(Reply::Done)
            }
        };
        self.answer(client, id, result);
    }

    /// Its owner is gone.
    pub(super) fn drop_mail_of(&mut self, tid: Tid) {
        self.mailbox.waiting.retain(|wish| wish.me != tid);
        let mut doomed = Vec::new();
        for (name, class) in &mut self.mailbox.classes {
            for (index, entry) in class.iter_mut().filter(|(_, e)| e.owner == Some(tid)) {
                entry.owner = None;
                if !entry.flags.persistent {
                    doomed.push((name.clone(), *index));
                }
            }
        }
        for (name, index) in doomed {
            self.mailbox.remove(&name, index);
        }
    }
}
