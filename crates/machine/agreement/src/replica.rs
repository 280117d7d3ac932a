//! One task for each member: takes every word from the daemon, the others and openraft, and looks what follows.

use crate::log::Log;
use crate::members::{is_majority, next_step, take};
use crate::messages::{Answer, Envelope, Message, Question};
use crate::network::Network;
use crate::order::{Current, Order};
use crate::peers::Peers;
use crate::pending::Pending;
use crate::succession::Succession;
use crate::types::{ChangeKind, LogId, Membership, Metrics, Proposal, Raft, Snapshot, StoredMembership};
use crate::{BeginError, Keeper, Member, Settings, Standing};
use bytes::Bytes;
use openraft::{Config, ServerState, SnapshotPolicy};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// The log is cut when it takes more than this, and more than the snapshot that replaces it.
const LOG_BYTES: usize = 16 << 20;
const LOG_ENTRIES: usize = 65_536;
/// So many entries stay when it is cut, for members that are behind: one that needs a snapshot instead cannot
/// say what became of what its clients had asked. 64 tasks that look each other up make 4096 entries in a moment.
const LOG_KEPT: u64 = 32_768;

/// What was proposed and not agreed for so long is proposed again, whatever the reason.
const AGAIN: Duration = Duration::from_secs(2);
/// For so long the next step waits for members that have not heard of the last one.
const STEP_HEARD: Duration = Duration::from_secs(2);
/// After a step towards other members that was refused the next is tried so much later.
const STEP_AGAIN: Duration = Duration::from_millis(200);

pub(crate) enum Input {
    Propose(Bytes),
    Heard(u32, Bytes),
    Lost(u32),
    Found(u32),
    Members(Vec<Member>),
    /// A step to other members was taken, or was not.
    Stepped,
}

pub(crate) struct Replica {
    me: Member,
    settings: Settings,
    raft: Raft,
    metrics: watch::Receiver<Metrics>,
    peers: Rc<Peers>,
    pending: Rc<RefCell<Pending>>,
    log: Log,
    snapshot: Current,
    /// Who shall be members, as the daemon says.
    members: Vec<Member>,
    /// Says that a step was taken.
    stepped: mpsc::UnboundedSender<Input>,
    steps: bool,
    /// When the last one was taken.
    step_at: Option<Instant>,
    /// The members are as they shall be, by the membership of this entry of the log.
    settled: Option<Option<LogId>>,
    succession: Succession,
    standing: Standing,
    /// Who votes, as the daemon knows it.
    voters: BTreeSet<u64>,
    /// Since when nothing can be agreed here.
    waits_since: Option<Instant>,
    /// The life that has written last what it led to agree on, and its host: this member may not have read yet that it is one.
    led_by: Option<(u64, u32)>,
    /// To whom, in which term, everything pending was proposed.
    proposed_to: Option<(u64, u64)>,
    again_at: Option<Instant>,
    /// Up to where a snapshot was asked for.
    cut_at: Option<u64>,
}

/// What matters here of what openraft says of itself. The rest of it grows with the machine.
struct Seen {
    term: u64,
    leader: Option<u64>,
    /// This member leads.
    leads: bool,
    members: Arc<StoredMembership>,
    applied: Option<LogId>,
    snapshot: Option<LogId>,
}

impl Seen {
    fn of(metrics: &Metrics) -> Seen {
        Seen {
            term: metrics.current_term,
            leader: metrics.current_leader,
            leads: metrics.current_leader == Some(metrics.id) && metrics.state == ServerState::Leader,
            members: metrics.membership_config.clone(),
            applied: metrics.last_applied,
            snapshot: metrics.snapshot,
        }
    }
}

impl Replica {
    pub async fn run(
        me: Member,
        keeper: Rc<dyn Keeper>,
        settings: Settings,
        founds: bool,
        heard: mpsc::UnboundedReceiver<Input>,
    ) {
        match Replica::begin(me, keeper.clone(), settings, founds).await {
            Ok((replica, steps)) => replica.work(heard, steps).await,
            Err(why) => keeper.failed(why.to_string()),
        }
    }

    async fn begin(
        me: Member,
        keeper: Rc<dyn Keeper>,
        settings: Settings,
        founds: bool,
    ) -> Result<(Replica, mpsc::UnboundedReceiver<Input>), BeginError> {
        let wrong = |why: &dyn std::fmt::Display| BeginError(why.to_string());
        let peers = Rc::new(Peers::new(me, keeper.clone()));
        let pending = Rc::new(RefCell::new(Pending::new(me.life)));
        let (log, snapshot) = (Log::default(), Current::default());
        let order = Order::new(me.life, keeper.clone(), pending.clone(), snapshot.clone());
        let network = Network(peers.clone());
        let raft = Raft::new(me.life, Arc::new(config()), network, log.clone(), order);
        let raft = raft.await.map_err(|error| wrong(&error))?;
        if founds {
            pending.borrow_mut().add(ChangeKind::Beginning(keeper.snapshot().into()));
            let alone = BTreeMap::from([(me.life, me.host)]);
            raft.initialize(alone).await.map_err(|error| wrong(&error))?;
        }
        let (stepped, steps) = mpsc::unbounded_channel();
        let replica = Replica {
            me,
            settings,
            metrics: raft.metrics(),
            raft,
            peers,
            pending,
            log,
            snapshot,
            members: vec![me],
            stepped,
            steps: false,
            step_at: None,
            settled: None,
            succession: Succession::default(),
            standing: Standing::Waiting,
            voters: BTreeSet::new(),
            waits_since: None,
            led_by: None,
            proposed_to: None,
            again_at: None,
            cut_at: None,
        };
        Ok((replica, steps))
    }

    async fn work(
        mut self,
        mut heard: mpsc::UnboundedReceiver<Input>,
        mut steps: mpsc::UnboundedReceiver<Input>,
    ) {
        loop {
            self.react().await;
            let next = [self.succession.stands_at, self.again_at, self.minority_at(), self.heard_at()];
            let next = next.into_iter().flatten().min();
            let word = tokio::select! {
                // In this order, so that a simulation from one seed is one story; each turn looks at everything anyway.
                biased;
                word = heard.recv() => word,
                word = steps.recv() => word,
                changed = self.metrics.changed() => match changed {
                    Ok(()) => continue,
                    Err(_) => {
                        let why = self.metrics.borrow().running_state.clone();
                        let why = why.err().map_or_else(String::new, |why| why.to_string());
                        return self.peers.keeper.failed(why);
                    }
                },
                () = tokio::time::sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => continue,
            };
            match word {
                Some(word) => self.hear(word).await,
                // The daemon has dropped its agreement.
                None => break,
            }
        }
        // Openraft ends by itself when it is not told to; its own tasks only sooner so.
        let _ = self.raft.shutdown().await;
    }

    async fn hear(&mut self, word: Input) {
        match word {
            Input::Propose(_) if self.standing == Standing::Minority => {}
            Input::Propose(change) => {
                let proposal = self.pending.borrow_mut().add(ChangeKind::Change(change));
                self.propose(proposal).await;
            }
            Input::Heard(host, piece) => {
                if let Some(envelope) = self.peers.receive(host, &piece) {
                    self.read(host, envelope).await;
                }
            }
            Input::Lost(host) => self.peers.mark_lost(host),
            Input::Found(host) => self.find(host).await,
            Input::Members(members) => (self.members, self.settled) = (members, None),
            Input::Stepped => (self.steps, self.step_at) = (false, Some(Instant::now())),
        }
    }

    async fn read(&mut self, host: u32, Envelope { from, message, .. }: Envelope) {
        match message {
            Message::Question(number, question) => {
                if matches!(question, Question::Append(_) | Question::Snapshot(..)) {
                    self.led_by = Some((from, host));
                }
                let (raft, peers, log) = (self.raft.clone(), self.peers.clone(), self.log.clone());
                tokio::task::spawn_local(async move {
                    let answer = answer(&raft, &log, question).await;
                    peers.write(Member { life: from, host }, Message::Answer(number, answer));
                });
            }
            Message::Answer(number, answer) => self.peers.answered(number, answer),
            Message::Proposal(proposal) => self.write_down(proposal).await,
            Message::Leaderless(leaderless) => self.succession.hear(from, leaderless),
        }
    }

    async fn find(&mut self, host: u32) {
        self.peers.mark_found(host);
        let seen = Seen::of(&self.metrics.borrow());
        let there = seen.members.membership();
        let found = there.nodes().find(|(_, at)| **at == host).map(|(life, _)| *life);
        if let Some(life) = found {
            // What was said meanwhile it has not heard.
            if let Some(leaderless) = self.succession.says_again(self.me.life, there, life) {
                self.peers.write(Member { life, host }, Message::Leaderless(leaderless));
            }
            if seen.leader == Some(life) {
                self.proposed_to = None;
            }
        }
        if seen.leader == Some(self.me.life) {
            // It hears what is agreed; or this member hears that another leads.
            let _ = self.raft.trigger().heartbeat().await;
        }
    }

    /// Hands a proposal to the one that leads.
    async fn propose(&mut self, proposal: Proposal) {
        self.again_at.get_or_insert(Instant::now() + AGAIN);
        let (leader, host) = {
            let metrics = self.metrics.borrow();
            let Some(leader) = metrics.current_leader else { return };
            (leader, metrics.membership_config.membership().get_node(&leader).copied())
        };
        match host {
            _ if leader == self.me.life => self.write_down(proposal).await,
            Some(host) if self.peers.reaches(host) => {
                self.peers.write(Member { life: leader, host }, Message::Proposal(proposal));
            }
            _ => {}
        }
    }

    /// Whether it comes into the log openraft knows: if not, who proposed it does it again when it hears who leads.
    async fn write_down(&self, proposal: Proposal) {
        let _ = self.raft.client_write_ff(proposal).await;
    }

    async fn propose_again(&mut self) {
        self.again_at = None;
        let all = self.pending.borrow().all();
        for proposal in all {
            self.propose(proposal).await;
        }
    }

    /// Looks how things are, and does what follows.
    async fn react(&mut self) {
        let seen = Seen::of(&self.metrics.borrow_and_update());
        let membership = seen.members.membership();
        let me = self.me.life;
        let peers = self.peers.clone();
        let reaches =
            |life: u64| life == me || membership.get_node(&life).is_none_or(|host| peers.reaches(*host));
        let (leader, leads) = (seen.leader, seen.leads);
        // One that comes reads of the beginnings first, and may lose who leads before it has read of it.
        let is_unread_and_lost = |leader: u64| {
            let written =
                self.led_by.filter(|(life, _)| *life == leader && membership.get_node(life).is_none());
            written.is_some_and(|(_, host)| !peers.reaches(host))
        };
        // One that has taken itself out says nothing any more.
        let is_out =
            |leader: u64| membership.get_node(&me).is_some() && membership.get_node(&leader).is_none();
        let leaderless = match leader {
            Some(_) if leads => !is_majority(membership, reaches),
            Some(leader) => {
                leader == me
                    || is_out(leader)
                    || !reaches(leader)
                    || is_unread_and_lost(leader)
                    || self.succession.is_leaderless(leader)
            }
            None => true,
        };
        self.succession.find(leaderless, leads || self.standing == Standing::Leading);
        for (life, host, leaderless) in self.succession.news(me, membership, reaches) {
            self.peers.write(Member { life, host }, Message::Leaderless(leaderless));
        }
        if self.succession.update(me, membership, reaches, self.settings.step) {
            let _ = self.raft.trigger().elect().await;
        }
        self.name_voters(membership);
        self.stand(leads, leader.filter(|_| !leaderless), membership);
        let to = leader.map(|leader| (leader, seen.term)).filter(|_| !leaderless);
        if to != self.proposed_to || self.again_at.is_some_and(|at| at <= Instant::now()) {
            self.proposed_to = to;
            self.propose_again().await;
        }
        if self.pending.borrow().is_empty() {
            self.again_at = None;
        }
        let settled = Some(*seen.members.log_id());
        if leads && !leaderless && !self.steps && self.settled != settled && self.is_heard(&seen.members) {
            self.settled = if self.step(membership) { None } else { settled };
        }
        self.cut_log(&seen).await;
    }

    /// The daemon hears who votes.
    fn name_voters(&mut self, membership: &Membership) {
        if !membership.voter_ids().eq(self.voters.iter().copied()) {
            self.voters = membership.voter_ids().collect();
            let member = |life: &u64| Some(Member { life: *life, host: *membership.get_node(life)? });
            self.peers.keeper.voters(self.voters.iter().filter_map(member).collect());
        }
    }

    /// When a step is taken whoever has not heard of the last one.
    fn heard_at(&self) -> Option<Instant> {
        let at = self.step_at? + STEP_HEARD;
        (self.standing == Standing::Leading && self.settled.is_none() && !self.steps && at > Instant::now())
            .then_some(at)
    }

    fn minority_at(&self) -> Option<Instant> {
        self.waits_since
            .filter(|_| self.standing != Standing::Minority)
            .map(|since| since + self.settings.patience)
    }

    fn stand(&mut self, leads: bool, leader: Option<u64>, membership: &Membership) {
        let leaderless = leader.is_none();
        // Who leads is a member for all who know it, or will be when they have read on.
        let host = leader.and_then(|leader| membership.get_node(&leader)).copied();
        // One that waits to be taken in, by somebody it still reaches, is in no minority.
        let waits_to_join = membership.get_node(&self.me.life).is_none() && !self.peers.has_lost_any();
        if !leaderless || waits_to_join {
            self.waits_since = None;
        } else {
            self.waits_since.get_or_insert_with(Instant::now);
        }
        let standing = match leaderless {
            false if leads => Standing::Leading,
            false => host.map_or(self.standing, Standing::Following),
            true if self.standing == Standing::Minority => Standing::Minority,
            true if self.minority_at().is_some_and(|at| at <= Instant::now()) => Standing::Minority,
            true => Standing::Waiting,
        };
        if std::mem::replace(&mut self.standing, standing) != standing {
            if standing == Standing::Minority {
                self.pending.borrow_mut().give_up();
            }
            self.peers.keeper.stands(standing);
        }
    }

    /// Whether the members that are reached know of the last step. Each step makes openraft send anew to all what is on its
    /// way, and to those who come that is all there is.
    fn is_heard(&self, members: &StoredMembership) -> bool {
        let late = self.step_at.is_some_and(|at| at + STEP_HEARD <= Instant::now());
        let metrics = self.metrics.borrow();
        let Some(replication) = metrics.replication.as_ref().filter(|_| !late) else { return true };
        let membership = members.membership();
        // A lost voter is replaced at once.
        membership.voter_ids().any(|life| !self.reaches(membership, life))
            || replication
                .iter()
                .filter(|(life, _)| **life != self.me.life && self.reaches(membership, **life))
                .all(|(_, matching)| *matching >= *members.log_id())
    }

    fn reaches(&self, membership: &Membership, life: u64) -> bool {
        membership.get_node(&life).is_none_or(|host| self.peers.reaches(*host))
    }

    /// The leader makes the members what the daemon says that they shall be, step by step. False: they are.
    fn step(&mut self, membership: &Membership) -> bool {
        let Some(step) = next_step(&self.members, membership, self.me.life) else { return false };
        self.steps = true;
        let (raft, stepped) = (self.raft.clone(), self.stepped.clone());
        tokio::task::spawn_local(async move {
            if !take(raft, step).await {
                // Most likely it leads no more, or an earlier step is not agreed yet.
                tokio::time::sleep(STEP_AGAIN).await;
            }
            let _ = stepped.send(Input::Stepped);
        });
        true
    }

    async fn cut_log(&mut self, seen: &Seen) {
        let (entries, bytes) = self.log.size();
        let replaced = self.snapshot.borrow().as_ref().map_or(0, |Snapshot { snapshot, .. }| snapshot.len());
        let applied = seen.applied.map(|at| at.index);
        if let Some(snapshot) = seen.snapshot.filter(|_| bytes > LOG_BYTES) {
            // Large entries are not kept for those behind.
            let _ = self.raft.trigger().purge_log(snapshot.index).await;
        }
        let under_way = self.cut_at.is_some() && seen.snapshot.map(|at| at.index) < self.cut_at;
        if (bytes > LOG_BYTES.max(replaced) || entries > LOG_ENTRIES) && !under_way && applied > self.cut_at {
            self.cut_at = applied;
            let _ = self.raft.trigger().snapshot().await;
        }
    }
}

async fn answer(raft: &Raft, log: &Log, question: Question) -> Answer {
    match question {
        Question::Has(index) => Answer::Has(log.last_until(index)),
        Question::Append(request) => Answer::Append(raft.append_entries(request).await.ok()),
        Question::Vote(request) => Answer::Vote(raft.vote(request).await.ok()),
        Question::Snapshot(vote, meta, bytes) => {
            let snapshot = Snapshot { meta, snapshot: Box::new(bytes) };
            Answer::Snapshot(raft.install_full_snapshot(vote, snapshot).await.ok())
        }
    }
}

/// No ticks, and so no heartbeats and elections but those that are asked for.
fn config() -> Config {
    Config {
        cluster_name: "parvum".into(),
        enable_tick: false,
        enable_heartbeat: false,
        enable_elect: false,
        // How long an answer may take. That a host is lost the mesh says; this is for what nobody has thought of.
        heartbeat_interval: 20_000,
        // A vote is refused for so long after a word of the leader's.
        election_timeout_min: 50,
        election_timeout_max: 100,
        snapshot_policy: SnapshotPolicy::Never,
        // For members that are slow: without these they would need the whole snapshot.
        max_in_snapshot_log_to_keep: LOG_KEPT,
        replication_lag_threshold: LOG_ENTRIES as u64,
        ..Config::default()
    }
}
