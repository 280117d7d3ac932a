//! The mailbox: messages kept under a name for whoever asks.
//!
//! An entry belongs to the task that put it, or to the job of that task. Others may read it; they may
//! replace or delete it only when it was put overwritable. When the owner goes,
//! its entries go too, except the persistent ones, which then belong to nobody.
//! Classes are listed in the order of their first entries, as PVM lists them.

use super::*;
use parvum_wire::control::{Blob, MailClass, MailEntry, MailFlags};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Mailbox {
    classes: HashMap<String, Class>,
    /// How many classes there have been.
    made: u64,
    bytes: usize,
    waiting: VecDeque<PendingRead>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Class {
    /// When it was made, among all classes.
    number: u64,
    entries: BTreeMap<u32, Entry>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    owner: Option<Tid>,
    flags: MailFlags,
    data: Blob,
}

impl Entry {
    /// What is a job's is no single task's.
    fn yields_to(&self, tid: Tid) -> bool {
        let is_tasks_own = self.owner == Some(tid) && !self.flags.has(MailFlags::OF_JOB);
        self.flags.has(MailFlags::OVERWRITABLE) || is_tasks_own
    }

    /// What an entry costs, about: its bytes and its keeping.
    fn cost(name: &str, data: &Blob) -> usize {
        name.len() + data.0.len() + 64
    }
}

/// A read that is wanted.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct PendingRead {
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

    /// Whose entries there are.
    pub fn owners(&self) -> impl Iterator<Item = Tid> {
        let entries = self.classes.values().flat_map(|class| class.entries.values());
        entries.filter_map(|entry| entry.owner).chain(self.waiting.iter().map(|wish| wish.me))
    }

    /// What a tracer of all tasks has put, as long as it lives.
    pub fn tracer(&self) -> Option<Blob> {
        let entry = self.classes.get("###_PVM_TRACER_###")?.entries.get(&0)?;
        entry.owner.map(|_| entry.data.clone())
    }

    pub fn list(&self) -> Vec<MailClass> {
        let row = |(index, e): (&u32, &Entry)| MailEntry { index: *index, owner: e.owner, flags: e.flags };
        let mut classes: Vec<_> = self.classes.iter().collect();
        classes.sort_unstable_by_key(|(_, class)| class.number);
        let shown = |(name, class): (&String, &Class)| MailClass {
            name: name.clone(),
            entries: class.entries.iter().map(row).collect(),
        };
        classes.into_iter().map(shown).collect()
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
        let entries = self.classes.get(&name).map(|class| &class.entries);
        let wanted = index.unwrap_or(0);
        let index = if flags.has(MailFlags::MULTI) {
            // Beside the others: the first free index from the wanted one on.
            let taken = entries.into_iter().flat_map(|entries| entries.range(wanted..).map(|(at, _)| *at));
            wanted + taken.zip(wanted..).take_while(|(have, want)| have == want).count() as u32
        } else {
            wanted
        };
        if entries.and_then(|entries| entries.get(&index)).is_some_and(|old| !old.yields_to(me)) {
            return Err(Failure::new(ErrorKind::Denied, name));
        }
        self.remove(&name, index);
        self.bytes += cost;
        let made = &mut self.made;
        let class = self.classes.entry(name).or_insert_with(|| {
            *made += 1;
            Class { number: *made, entries: BTreeMap::new() }
        });
        class.entries.insert(index, Entry { owner: Some(me), flags, data });
        Ok(index)
    }

    fn remove(&mut self, name: &str, index: u32) {
        let Some(class) = self.classes.get_mut(name) else { return };
        if let Some(entry) = class.entries.remove(&index) {
            self.bytes -= Entry::cost(name, &entry.data);
        }
        if class.entries.is_empty() {
            self.classes.remove(name);
        }
    }

    /// `Ok(None)` when there is no such entry.
    fn read(&mut self, wish: &PendingRead) -> Result<Option<Reply>, Failure> {
        let Some(Class { entries, .. }) = self.classes.get(&wish.name) else { return Ok(None) };
        let found =
            if wish.first { entries.range(wish.index..).next() } else { entries.get_key_value(&wish.index) };
        let Some((&index, entry)) = found else { return Ok(None) };
        if wish.take && !entry.yields_to(wish.me) {
            return Err(Failure::new(ErrorKind::Denied, &wish.name));
        }
        let Entry { owner, flags, data } = entry.clone();
        if wish.take {
            self.remove(&wish.name, index);
        }
        Ok(Some(Reply::Mail { index, owner, flags, data }))
    }

    /// Puts an entry back where it was, or at the next free index: nothing is replaced, and no limit keeps it out.
    fn put_back(&mut self, name: String, wanted: u32, entry: Entry) -> u32 {
        self.bytes += Entry::cost(&name, &entry.data);
        let made = &mut self.made;
        let class = self.classes.entry(name).or_insert_with(|| {
            *made += 1;
            Class { number: *made, entries: BTreeMap::new() }
        });
        let index = (wanted..).find(|index| !class.entries.contains_key(index)).unwrap_or(wanted);
        class.entries.insert(index, entry);
        index
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
        if flags.has(MailFlags::OF_JOB) {
            // Its runner may have ended before the machine heard of the entry.
            self.drop_mail_if_dead(me);
        }
        self.serve_mail_wishes();
    }

    /// A task has taken an entry, and was interrupted before it had it. The entry goes back, unless it has gone with its owner.
    #[allow(clippy::too_many_arguments)] // one per field of the request
    pub(super) fn mail_put_back(
        &mut self,
        client: ClientId,
        id: RequestId,
        name: String,
        index: u32,
        owner: Option<Tid>,
        flags: MailFlags,
        data: Blob,
    ) {
        if let Err(why) = check_name(&name) {
            return self.refuse(client, id, why);
        }
        // That a task of a host which is there has ended is told by its host, once it sees the entry.
        let owner = owner.filter(|owner| self.others.knows(owner.host()));
        if owner.is_none() && !flags.has(MailFlags::PERSISTENT) {
            return self.reply(client, id, Reply::Number(index));
        }
        let index = self.mailbox.put_back(name, index, Entry { owner, flags, data });
        self.reply(client, id, Reply::Number(index));
        if let Some(owner) = owner {
            self.drop_mail_if_dead(owner);
        }
        self.serve_mail_wishes();
    }

    fn serve_mail_wishes(&mut self) {
        for wish in std::mem::take(&mut self.mailbox.waiting) {
            self.mail_get(wish, true);
        }
    }

    pub(super) fn mail_get(&mut self, wish: PendingRead, wait: bool) {
        match self.mailbox.read(&wish) {
            Ok(Some(mail)) => self.reply(wish.client, wish.id, mail),
            Ok(None) if wait && check_name(&wish.name).is_ok() => self.mailbox.waiting.push_back(wish),
            Ok(None) => {
                let why = Failure::new(ErrorKind::NoSuchEntry, wish.name);
                self.refuse(wish.client, wish.id, why);
            }
            Err(why) => self.refuse(wish.client, wish.id, why),
        }
    }

    pub(super) fn mail_remove(&mut self, client: ClientId, id: RequestId, me: Tid, name: &str, index: u32) {
        let entry = self.mailbox.classes.get(name).and_then(|class| class.entries.get(&index));
        let result = match entry {
            None => Err(Failure::new(ErrorKind::NoSuchEntry, name)),
            Some(entry) if !entry.yields_to(me) => Err(Failure::new(ErrorKind::Denied, name)),
            Some(_) => {
                self.mailbox.remove(name, index);
                Ok(Reply::Done)
            }
        };
        self.answer(client, id, result);
    }

    /// Deletes what is nobody's any more: for whoever tidies up, such as the console.
    pub(super) fn mail_tidy(&mut self, client: ClientId, id: RequestId, name: &str, index: u32) {
        let entry = self.mailbox.classes.get(name).and_then(|class| class.entries.get(&index));
        let result = match entry {
            None => Err(Failure::new(ErrorKind::NoSuchEntry, name)),
            Some(entry) if entry.owner.is_some() => Err(Failure::new(ErrorKind::Denied, name)),
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
            for (index, entry) in class.entries.iter_mut().filter(|(_, e)| e.owner == Some(tid)) {
                entry.owner = None;
                if !entry.flags.has(MailFlags::PERSISTENT) {
                    doomed.push((name.clone(), *index));
                }
            }
        }
        for (name, index) in doomed {
            self.mailbox.remove(&name, index);
        }
    }
}
