//! What all daemons keep, and how it changes: by changes that they agree on, made by each in the same order.
//!
//! A request that concerns no single host is a change, even one that only reads: so it sees what was there when it was
//! asked, wherever that was done. Every daemon does it; the one whose client has asked answers. The first
//! host of a machine that has no others yet makes each change at once.
//!
//! So what is done here must come out the same on all hosts: it looks at what all keep, and at nothing else.

use super::passing::agreed_name;
use super::table::Table;
use super::*;
use crate::state::parts::Parts;
use parvum_wire::control::{MailFlags, Part};
use serde::{Deserialize, Serialize};

/// A change of what all keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "each change is in a box of its own wherever it goes")]
pub enum Change {
    /// A client of the host that proposes asks.
    Asked {
        /// Who.
        client: ClientId,
        /// Comes back with the answer.
        id: RequestId,
        /// The task that asks, if it is one.
        me: Option<Tid>,
        /// What.
        request: Request,
    },
    /// A task is gone of which something is kept.
    Ended(Tid),
    /// Hosts that were being started are ready to join, or will not be.
    Fetched(Vec<Fetched>),
    /// These hosts, number and life, have all that is kept.
    Arrived(Vec<(u32, u64)>),
    /// These hosts, number and life, do not answer the one that leads.
    Lost(Vec<(u32, u64)>),
}

/// What came of a host that was being started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fetched {
    /// Its number.
    pub number: u32,
    /// Its life.
    pub life: u64,
    /// What others know of it, or why not.
    pub result: Result<Rc<HostRecord>, Failure>,
}

/// All that is kept, as bytes.
#[derive(Serialize, Deserialize)]
struct Snapshot {
    table: Table,
    groups: super::groups::Groups,
    mailbox: super::mailbox::Mailbox,
    names: super::names::Names,
    parts: Parts,
}

/// Whether a request concerns no single host.
fn is_for_all(request: &Request) -> bool {
    let changes = matches!(
        request,
        Request::Join { .. }
            | Request::Leave { .. }
            | Request::Barrier { .. }
            | Request::Freeze { .. }
            | Request::MailPut { .. }
            | Request::MailGet { .. }
            | Request::MailPutBack { .. }
            | Request::MailRemove { .. }
            | Request::MailTidy { .. }
            | Request::NamesBind { .. }
            | Request::NamesUnbind { .. }
            | Request::Register { .. }
            | Request::HandOver { .. }
            | Request::AddHosts { .. }
            | Request::Admit { .. }
            | Request::HostsStarted { .. }
            | Request::RemoveHosts { .. }
    );
    changes || only_reads(request)
}

fn only_reads(request: &Request) -> bool {
    matches!(
        request,
        Request::Groups
            | Request::GroupTid { .. }
            | Request::GroupInstance { .. }
            | Request::GroupSize { .. }
            | Request::GroupMembers { .. }
            | Request::MailList
            | Request::NamesFind { .. }
            | Request::NamesOf { .. }
    )
}

impl<F: Clone> Machine<F> {
    /// Takes a request that concerns no single host. Gives back one that does.
    pub(in crate::state) fn ask_all(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Option<Tid>,
        request: Request,
    ) -> Option<Request> {
        if !is_for_all(&request) {
            return Some(request);
        }
        let (me, request) = self.on_behalf(me, request);
        let guest = match &request {
            Request::Admit { guest, .. } => Some(*guest),
            _ => None,
        };
        if let Err(why) = self.may_ask(me, &request) {
            self.turn_away(guest, &why);
            self.refuse(client, id, why);
        } else if !self.is_in_minority() {
            if self.others.agrees {
                self.others.proposed.insert((client, id));
            }
            self.propose(Change::Asked { client, id, me, request });
        } else if only_reads(&request) {
            // As it was when the others were lost.
            self.perform(client, id, me, request, Vec::new());
        } else {
            self.turn_away(guest, &ErrorKind::Minority.into());
            self.refuse(client, id, ErrorKind::Minority);
        }
        None
    }

    /// Tells a host that has shown a token that it cannot join.
    fn turn_away(&mut self, guest: Option<u64>, why: &Failure) {
        self.effects.extend(guest.map(|guest| Effect::TurnAway { guest, why: why.clone() }));
    }

    /// Who has what a request makes. The runner stands for its job, which only the asker's host knows.
    fn on_behalf(&self, me: Option<Tid>, request: Request) -> (Option<Tid>, Request) {
        let job = me.and_then(|me| self.tasks.get(&me)?.job);
        match (request, job) {
            (Request::MailPut { name, index, flags, data }, Some(job)) if flags.has(MailFlags::OF_JOB) => {
                let flags = flags.without(MailFlags::PERSISTENT);
                (Some(job), Request::MailPut { name, index, flags, data })
            }
            (Request::MailPut { name, index, flags, data }, None) => {
                let flags = flags.without(MailFlags::OF_JOB);
                (me, Request::MailPut { name, index, flags, data })
            }
            (request, _) => (me, request),
        }
    }

    /// What only the asker's host knows to speak against it.
    fn may_ask(&self, me: Option<Tid>, request: &Request) -> Result<(), Failure> {
        match request {
            Request::AddHosts { .. } | Request::Admit { .. } if self.halting.is_some() => {
                Err(ErrorKind::GoingDown.into())
            }
            Request::HandOver { part, to } if me.is_some() && self.player(*part) == me => {
                let known = match self.tasks.get(to) {
                    Some(task) => task.client.is_some(),
                    None => !self.is_own(*to) && self.may_exist(*to),
                };
                known.then_some(()).ok_or_else(|| Failure::new(ErrorKind::NoSuchTask, to.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn player(&self, part: Part) -> Option<Tid> {
        match part {
            Part::Manager => self.parts.manager,
            Part::Tasker => self.parts.tasker,
            Part::Hoster => self.parts.hoster,
        }
    }

    pub(super) fn propose(&mut self, change: Change) {
        if !self.others.agrees {
            let life = self.config.life;
            self.agreed(life, life, change);
        } else if !self.is_in_minority() {
            self.effects.push(Effect::Propose(Box::new(change)));
        }
        // A minority proposes nothing; what is still so when it is none any more it proposes then.
    }

    /// From now on changes are agreed with others.
    pub(in crate::state) fn start_to_agree(&mut self) {
        self.others.agrees = true;
    }

    /// A change of the life `by` is agreed; that of `leader` led.
    pub(in crate::state) fn agreed(&mut self, by: u64, leader: u64, change: Change) {
        // One that is out of the table changes nothing any more.
        let Some(host) = self.others.agreed.hosts.number_of(by) else { return };
        self.others.leader = leader;
        match change {
            Change::Asked { client, id, me, request } => self.do_for_all(host, client, id, me, request),
            Change::Ended(tid) => {
                self.forget_task(tid);
                if let Some(runner) = self.others.ending.remove(&tid) {
                    self.notify_end(tid, runner);
                }
            }
            Change::Fetched(fetched) => self.have_fetched(fetched),
            Change::Arrived(hosts) => self.have_arrived(&hosts),
            // Who leads no more cannot say who is lost.
            Change::Lost(hosts) if by == leader => self.take_out_hosts(&hosts),
            Change::Lost(_) => {}
        }
    }

    fn do_for_all(&mut self, host: u32, client: ClientId, id: RequestId, me: Option<Tid>, request: Request) {
        let name = agreed_name(host, client);
        let own = host == self.config.number && self.others.agrees;
        // Own clients have small numbers that those of other hosts have as well.
        let was_refused = own && !self.others.proposed.remove(&(client, id));
        self.perform(name, id, me, request, Vec::new());
        if was_refused {
            self.effects.retain(
                |effect| !matches!(effect, Effect::Reply { client: c, id: i, .. } if (*c, *i) == (name, id)),
            );
        }
        // It may have ended while the others agreed.
        self.report_the_dead();
    }

    /// A task of this host is gone. Who hears of it may count on that it is in no group any more: so
    /// nobody hears of it before that is agreed.
    pub(in crate::state) fn report_end(&mut self, tid: Tid, runner: bool) {
        if !self.is_kept(tid) || self.is_in_minority() || self.halting.is_some() {
            return self.notify_end(tid, runner);
        }
        self.others.ending.insert(tid, runner);
        self.propose(Change::Ended(tid));
    }

    /// Whether it is gone and nobody was told.
    pub(in crate::state) fn is_ending(&self, tid: Tid) -> bool {
        self.others.ending.contains_key(&tid)
    }

    fn notify_end(&mut self, tid: Tid, runner: bool) {
        self.notify_watchers(tid);
        self.notify_others_of_end(tid, runner);
        self.finish_process(tid);
    }

    /// Nothing will be agreed for now: everybody hears of the ends all the same.
    pub(in crate::state) fn notify_all_ends(&mut self) {
        for (tid, runner) in std::mem::take(&mut self.others.ending) {
            self.notify_end(tid, runner);
        }
    }

    /// What another host has kept may know of ends already.
    fn notify_known_ends(&mut self) {
        for (tid, runner) in std::mem::take(&mut self.others.ending) {
            if self.is_kept(tid) {
                self.others.ending.insert(tid, runner);
            } else {
                self.notify_end(tid, runner);
            }
        }
    }

    /// Tasks of this host of which something is kept although they are gone: their end was no change, because there was
    /// nothing of them yet, or too few to agree.
    pub(super) fn report_the_dead(&mut self) {
        if !self.others.agrees || !self.others.arrived {
            return;
        }
        let dead = |tid: &Tid| self.is_own(*tid) && !self.exists(*tid) && !self.is_ending(*tid);
        for tid in self.kept_tasks().filter(dead).collect::<BTreeSet<_>>() {
            self.report_end(tid, false);
        }
    }

    /// An entry of the mailbox was put back whose owner may have ended meanwhile. Several hosts agree on that end:
    /// [`Machine::report_the_dead`].
    pub(in crate::state) fn drop_mail_if_dead(&mut self, owner: Tid) {
        if !self.others.agrees && !self.exists(owner) {
            self.drop_mail_of(owner);
        }
    }

    /// Tasks of which something is kept.
    pub(super) fn kept_tasks(&self) -> impl Iterator<Item = Tid> {
        let players = [self.parts.manager, self.parts.tasker, self.parts.hoster].into_iter().flatten();
        self.members().chain(self.mailbox.owners()).chain(self.names.owners()).chain(players)
    }

    fn is_kept(&self, tid: Tid) -> bool {
        self.kept_tasks().any(|kept| kept == tid)
    }

    /// It is in no group any more, plays no part, and its entries are nobody's.
    pub(super) fn forget_task(&mut self, tid: Tid) {
        self.leave_all(tid);
        self.drop_mail_of(tid);
        self.drop_names_of(tid);
        self.leave_parts(tid);
    }

    /// All that is kept, for a host that comes.
    pub fn snapshot(&self) -> Vec<u8> {
        let kept = Snapshot {
            table: self.others.agreed.clone(),
            groups: self.groups.clone(),
            mailbox: self.mailbox.clone(),
            names: self.names.clone(),
            parts: self.parts.clone(),
        };
        // Plain data of ours always has a form in bytes.
        postcard::to_stdvec(&kept).unwrap_or_default()
    }

    /// Keeps what another host has kept, instead of what is kept here.
    pub(in crate::state) fn install(&mut self, snapshot: &[u8]) {
        let Ok(kept) = postcard::from_bytes::<Snapshot>(snapshot) else { return };
        self.close_segments();
        let Snapshot { table, groups, mailbox, names, parts } = kept;
        (self.groups, self.mailbox, self.names) = (groups, mailbox, names);
        let manager = std::mem::replace(&mut self.parts, parts).manager;
        if self.parts.manager != manager {
            self.announce_manager();
        }
        let coming = self.coming();
        let Table { hosts, last_life, fetching, additions } = table;
        let agreed = &mut self.others.agreed;
        (agreed.last_life, agreed.fetching, agreed.additions) = (last_life, fetching, additions);
        self.replace_table(hosts);
        for (host, life) in coming {
            // It has arrived meanwhile.
            let record = self.others.agreed.hosts.get(host).filter(|record| record.life == life);
            if let Some(tid) = record.map(|record| record.row.tid).filter(|_| !self.is_coming(host)) {
                self.notify_addition(tid);
            }
        }
        // What became of these is not known here.
        for (client, id) in std::mem::take(&mut self.others.proposed) {
            let why = "the answer was lost while this host was cut off; note: the request may have been done; help: look, then ask again";
            self.refuse(client, id, Failure::new(ErrorKind::HostLost, why));
        }
        self.notify_known_ends();
        self.report_the_dead();
    }
}
