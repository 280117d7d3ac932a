//! Telling tasks of what they asked to be told, exactly once.

use super::*;
use parvum_wire::control::Notice;

/// Who wants to know what.
#[derive(Default)]
pub(super) struct Watches {
    exits: BTreeMap<Tid, Vec<Watch>>,
    hosts: BTreeMap<Tid, Vec<Watch>>,
    /// Host additions: how many more to tell, -1 without end.
    additions: Vec<(Watch, i32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Watch {
    watcher: Tid,
    cookie: u64,
}

impl Watches {
    fn table(&mut self, about: Notice) -> &mut BTreeMap<Tid, Vec<Watch>> {
        if about == Notice::TaskExit { &mut self.exits } else { &mut self.hosts }
    }

    /// The tasks whose end somebody here wants to hear of.
    pub fn targets(&self) -> impl Iterator<Item = Tid> {
        self.exits.keys().copied()
    }

    fn held_by(&self, watcher: Tid) -> usize {
        let lists = self.exits.values().chain(self.hosts.values());
        lists.flatten().filter(|w| w.watcher == watcher).count()
    }

    fn forget(&mut self, watcher: Tid) {
        for table in [&mut self.exits, &mut self.hosts] {
            table.retain(|_, list| {
                list.retain(|w| w.watcher != watcher);
                !list.is_empty()
            });
        }
        self.additions.retain(|(w, _)| w.watcher != watcher);
    }
}

impl<F: Clone> Machine<F> {
    #[allow(clippy::too_many_arguments)] // one per field of the request
    pub(super) fn watch(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Tid,
        about: Notice,
        targets: Vec<Tid>,
        count: i32,
        cookie: u64,
    ) {
        let watch = Watch { watcher: me, cookie };
        if about == Notice::HostAdd {
            // A new request replaces the old one; zero ends it.
            self.watches.additions.retain(|(w, _)| *w != watch);
            if count != 0 {
                self.watches.additions.push((watch, count));
            }
            return self.reply(client, id, Reply::Done);
        }
        let valid = |t: &Tid| t.is_task() == (about == Notice::TaskExit) && t.0 > 0;
        if let Some(bad) = targets.iter().find(|t| !valid(t)) {
            let detail = format!("{bad} is not what can be watched");
            return self.refuse(client, id, Failure::new(ErrorKind::BadParameter, detail));
        }
        if self.watches.held_by(me) + targets.len() > self.config.limits.watches {
            return self.refuse(client, id, Failure::new(ErrorKind::OutOfResources, "too many watches"));
        }
        // The answer goes first: what is gone already is told right after it.
        self.reply(client, id, Reply::Done);
        for target in targets {
            let there = match about {
                Notice::TaskExit => {
                    self.exists(target) || self.is_ending(target) || self.must_watch(about, target)
                }
                _ => self.others.knows(target.host()),
            };
            if there {
                self.watches.table(about).entry(target).or_default().push(watch);
            } else {
                self.event(me, Event::Notified { cookie, about, tid: target }, Vec::new());
            }
        }
    }

    pub(super) fn unwatch(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Tid,
        about: Notice,
        targets: Vec<Tid>,
        cookie: u64,
    ) {
        self.reply(client, id, Reply::Done);
        let watch = Watch { watcher: me, cookie };
        if about == Notice::HostAdd {
            self.watches.additions.retain(|(w, _)| *w != watch);
            return;
        }
        let mut ended = Vec::new();
        self.watches.table(about).retain(|target, list| {
            if targets.is_empty() || targets.contains(target) {
                let before = list.len();
                list.retain(|w| *w != watch);
                ended.extend(std::iter::repeat_n(*target, before - list.len()));
            }
            !list.is_empty()
        });
        for tid in ended {
            self.event(me, Event::Notified { cookie, about, tid }, Vec::new());
        }
    }

    /// A host is gone.
    pub(super) fn notify_host_watchers(&mut self, tid: Tid) {
        for Watch { watcher, cookie } in self.watches.hosts.remove(&tid).unwrap_or_default() {
            self.event(watcher, Event::Notified { cookie, about: Notice::HostDelete, tid }, Vec::new());
        }
    }

    /// Hosts have been added.
    pub(super) fn notify_addition(&mut self, tid: Tid) {
        let mut watches = std::mem::take(&mut self.watches.additions);
        for (Watch { watcher, cookie }, left) in &mut watches {
            self.event(
                *watcher,
                Event::Notified { cookie: *cookie, about: Notice::HostAdd, tid },
                Vec::new(),
            );
            *left -= i32::from(*left > 0);
        }
        watches.retain(|(_, left)| *left != 0);
        self.watches.additions = watches;
    }

    /// `tid` is gone: it watches nothing any more, and its watchers are told.
    pub(super) fn notify_watchers(&mut self, tid: Tid) {
        self.watches.forget(tid);
        for Watch { watcher, cookie } in self.watches.exits.remove(&tid).unwrap_or_default() {
            self.event(watcher, Event::Notified { cookie, about: Notice::TaskExit, tid }, Vec::new());
        }
    }
}
