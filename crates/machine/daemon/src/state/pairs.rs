//! Bringing two tasks together: ends of links that are handed over, and calls. Only tasks know what the routes are.

use super::*;

impl<F: Clone> Machine<F> {
    /// `me` offers `to` the other end of a link. All offers pass here, so of two that cross
    /// exactly one counts: the first.
    pub(super) fn connect(&mut self, client: ClientId, id: RequestId, pair: Pair, fds: Vec<F>) {
        let (me, to, route) = pair;
        if fds.len() != 1 || me == to {
            let detail = "one end of a link, for another task, is expected";
            return self.refuse(client, id, Failure::new(ErrorKind::BadParameter, detail));
        }
        let Some(other) = self.tasks.get(&to).filter(|t| t.channel.is_some()) else {
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchTask, to.to_string()));
        };
        if self.offers.contains(&(to, me, route)) {
            return self.reply(client, id, Reply::AlreadyOffered);
        }
        if self.offers.contains(&pair) {
            return self.refuse(client, id, ErrorKind::AlreadyConnected);
        }
        let theirs = other.channel.as_ref().expect("filtered").fds();
        let pid = other.pid;
        let mine = &self.tasks[&me];
        let mut attached = fds;
        attached.extend(mine.channel.as_ref().expect("an enrolled task has one").fds());
        if !self.event(to, Event::Offered { from: me, pid: mine.pid, route }, attached) {
            let detail = format!("{to} has too many events waiting");
            return self.refuse(client, id, Failure::new(ErrorKind::OutOfResources, detail));
        }
        self.offers.insert(pair);
        self.link(me, to);
        self.reply_with(client, id, Reply::Connected { pid }, theirs);
    }

    /// `me` would call a listener of `to`.
    pub(super) fn call_for(&mut self, client: ClientId, id: RequestId, pair: Pair) {
        let (me, to, route) = pair;
        // Of two that would connect to each other exactly one does: the first.
        if self.calls.contains(&(to, me, route)) && self.may_exist(to) {
            return self.reply(client, id, Reply::AlreadyOffered);
        }
        let for_others = !self.is_own(me);
        let Some(other) = self.tasks.get_mut(&to).filter(|t| t.channel.is_some() && me != to) else {
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchTask, to.to_string()));
        };
        if for_others && other.listeners.get(&route).is_some_and(|addr| addr.starts_with("127.")) {
            // It was for tasks of this host: another one is needed.
            other.listeners.remove(&route);
        }
        self.calls.insert(pair);
        let is_first = other.awaiting_listener.iter().all(|(.., awaited)| *awaited != route);
        other.awaiting_listener.push((client, id, me, route));
        if other.listeners.contains_key(&route) {
            self.admit_calls(to, route);
        } else if is_first {
            self.effects.push(Effect::Listen(to, route));
        }
    }

    /// The connection that `me` was to make to `to` has failed. Whoever of the two asks next may be told to connect again, and `to`
    /// waits no longer.
    pub(super) fn not_connected(&mut self, client: ClientId, id: RequestId, pair: Pair) {
        let (me, to, route) = pair;
        self.calls.remove(&pair);
        self.offers.remove(&pair);
        if self.tasks.contains_key(&to) {
            self.event(to, Event::NotConnected { from: me, route }, Vec::new());
        }
        self.reply(client, id, Reply::Done);
    }

    pub(super) fn listening(&mut self, tid: Tid, route: u8, result: Result<(String, F), Failure>) {
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        match result {
            Ok((addr, listener)) => {
                task.listeners.insert(route, addr.clone());
                self.event(tid, Event::Listen { addr, route }, vec![listener]);
                self.admit_calls(tid, route);
            }
            Err(why) => {
                let refused = task.awaiting_listener.extract_if(.., |(.., awaited)| *awaited == route);
                for (client, id, ..) in refused.collect::<Vec<_>>() {
                    self.refuse(client, id, why.clone());
                }
            }
        }
    }

    /// Gives everybody who waits for that listener of `to` the address and a
    /// token, and `to` the same token.
    fn admit_calls(&mut self, to: Tid, route: u8) {
        let Some(task) = self.tasks.get_mut(&to) else { return };
        let Some(addr) = task.listeners.get(&route).cloned() else { return };
        let awaiting = task.awaiting_listener.extract_if(.., |(.., awaited)| *awaited == route);
        for (client, id, from, _) in awaiting.collect::<Vec<_>>() {
            let token = (self.config.entropy)();
            let encrypted = self.config.encrypt && from.host() != to.host();
            if !self.event(to, Event::Expect { from, route, token, encrypted }, Vec::new()) {
                self.refuse(client, id, Failure::new(ErrorKind::OutOfResources, format!("{to} is too busy")));
                continue;
            }
            self.link(from, to);
            self.reply(client, id, Reply::Listener { addr: addr.clone(), token, encrypted });
        }
    }
}
