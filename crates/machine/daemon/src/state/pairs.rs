//! Bringing two tasks together: shared segments and TCP.

use super::*;

impl<F: Clone> Machine<F> {
    /// `me` offers a segment to `to`. All offers pass here, so of two that cross
    /// exactly one counts: the first.
    pub(super) fn connect(&mut self, client: ClientId, id: RequestId, me: Tid, to: Tid, fds: Vec<F>) {
        if fds.len() != 1 || me == to {
            let detail = "one segment, for another task, is expected";
            return self.refuse(client, id, Failure::new(ErrorKind::BadParameter, detail));
        }
        let Some(other) = self.tasks.get(&to).filter(|t| t.channel.is_some()) else {
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchTask, to.to_string()));
        };
        if self.offers.contains(&(to, me)) {
            return self.reply(client, id, Reply::AlreadyOffered);
        }
        if self.offers.contains(&(me, to)) {
            return self.refuse(client, id, ErrorKind::AlreadyConnected);
        }
        let theirs = other.channel.as_ref().expect("filtered").fds();
        let pid = other.pid;
        let mine = &self.tasks[&me];
        let mut attached = fds;
        attached.extend(mine.channel.as_ref().expect("an enrolled task has one").fds());
        if !self.event(to, Event::Offered { from: me, pid: mine.pid }, attached) {
            let detail = format!("{to} has too many events waiting");
            return self.refuse(client, id, Failure::new(ErrorKind::OutOfResources, detail));
        }
        self.offers.insert((me, to));
        self.link(me, to);
        self.reply_with(client, id, Reply::Connected { pid }, theirs);
    }

    pub(super) fn connect_tcp(&mut self, client: ClientId, id: RequestId, me: Tid, to: Tid) {
        // Of two that would connect to each other exactly one does: the first.
        if self.tcp_pairs.contains(&(to, me)) && self.may_exist(to) {
            return self.reply(client, id, Reply::AlreadyOffered);
        }
        let for_others = !self.is_own(me);
        let Some(other) = self.tasks.get_mut(&to).filter(|t| t.channel.is_some() && me != to) else {
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchTask, to.to_string()));
        };
        if for_others && other.listener.as_ref().is_some_and(|addr| addr.starts_with("127.")) {
            // It was for tasks of this host: another one is needed.
            other.listener = None;
        }
        self.tcp_pairs.insert((me, to));
        other.awaiting_listener.push((client, id, me));
        if other.listener.is_some() {
            self.admit_tcp(to);
        } else if other.awaiting_listener.len() == 1 {
            self.effects.push(Effect::Listen(to));
        }
    }

    /// The connection that `me` was to make to `to` has failed. Whoever of the two asks next may be told to connect again, and `to`
    /// waits no longer.
    pub(super) fn not_connected(&mut self, client: ClientId, id: RequestId, me: Tid, to: Tid) {
        self.tcp_pairs.remove(&(me, to));
        self.offers.remove(&(me, to));
        if self.tasks.contains_key(&to) {
            self.event(to, Event::NotConnected { from: me }, Vec::new());
        }
        self.reply(client, id, Reply::Done);
    }

    pub(super) fn listening(&mut self, tid: Tid, result: Result<(String, F), Failure>) {
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        match result {
            Ok((addr, listener)) => {
                task.listener = Some(addr.clone());
                self.event(tid, Event::Listen { addr }, vec![listener]);
                self.admit_tcp(tid);
            }
            Err(why) => {
                for (client, id, _) in std::mem::take(&mut task.awaiting_listener) {
                    self.refuse(client, id, why.clone());
                }
            }
        }
    }

    /// Gives everybody who waits for the listener of `to` the address and a
    /// token, and `to` the same token.
    fn admit_tcp(&mut self, to: Tid) {
        let Some(task) = self.tasks.get_mut(&to) else { return };
        let Some(addr) = task.listener.clone() else { return };
        for (client, id, from) in std::mem::take(&mut task.awaiting_listener) {
            let token = (self.config.entropy)();
            let encrypted = self.config.encrypt && from.host() != to.host();
            if !self.event(to, Event::Expect { from, token, encrypted }, Vec::new()) {
                self.refuse(client, id, Failure::new(ErrorKind::OutOfResources, format!("{to} is too busy")));
                continue;
            }
            self.link(from, to);
            self.reply(client, id, Reply::TcpAddress { addr: addr.clone(), token, encrypted });
        }
    }
}
