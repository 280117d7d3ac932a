//! Who waits for whom, and what follows from it. Nothing here asks anybody: it works on what the tasks' pages said.

use super::containers::Names;
use super::{shared, words};
use crate::look::task::route;
use parvum_control::{MEMORY, Taken};
use parvum_wire::control::{PairRow, TaskRow, TaskState, UnmatchedRow, Waits};
use parvum_wire::{Counter, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of messages that arrive.
const ARRIVED: [usize; 3] =
    [Counter::Expected as usize, Counter::Unexpected as usize, Counter::Discarded as usize];

/// Whom a task waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum For {
    /// Nobody: it runs, or its wait ends by itself, or the daemon answers.
    Nobody,
    /// One task.
    One(Tid),
    /// Whoever it may be.
    Anyone,
}

/// What hangs, and why.
#[derive(Debug, PartialEq, Eq)]
pub enum Finding {
    /// Each waits for the next, and the last for the first; nothing is on its way between them.
    Circle(Vec<Tid>),
    /// It waits for a task that is not there.
    Dead(Tid, Tid),
    /// They wait for one another, or for anyone, and nobody is left who could send.
    Nobody(Vec<Tid>),
    /// It waits for one that hangs.
    Behind(Tid, Tid),
}

/// All tasks of the machine at one instant.
pub struct Picture {
    tasks: BTreeMap<Tid, TaskRow>,
}

impl Picture {
    /// What the daemons answered.
    pub fn of(rows: Vec<TaskRow>) -> Picture {
        Picture { tasks: rows.into_iter().map(|row| (row.tid, row)).collect() }
    }

    /// The tasks.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskRow> {
        self.tasks.values()
    }

    /// One task.
    pub fn task(&self, tid: Tid) -> Option<&TaskRow> {
        self.tasks.get(&tid)
    }

    /// Those of the tasks that hang by what the others among them do, or do not do any more.
    pub fn that_hang(&self, mut among: BTreeSet<Tid>) -> BTreeSet<Tid> {
        loop {
            let hangs = |tid: &Tid| match self.awaited(*tid) {
                For::One(peer) => among.contains(&peer) || self.task(peer).is_none(),
                For::Anyone => self.senders().all(|other| among.contains(&other)),
                For::Nobody => false,
            };
            let free: Vec<Tid> = among.iter().copied().filter(|tid| !hangs(tid)).collect();
            if free.is_empty() {
                return among;
            }
            among.retain(|tid| !free.contains(tid));
        }
    }

    /// Whether a task that is still to be started could end its wait: it waits for anyone, and anybody may send to it or
    /// join its group. A run of NX or CMMD has all its nodes from the beginning, and a communicator of MPI its members.
    pub fn may_be_helped(&self, tid: Tid) -> bool {
        // Only members of a communicator send there, but anybody may come to a port.
        let closed = |waits: &Waits| {
            waits.closed || waits.mark() == "only-members" && matches!(waits.kind_name(), "receive" | "probe")
        };
        self.awaited(tid) == For::Anyone && !self.waits(tid).is_some_and(closed)
    }

    /// The tasks that may send: all but `parvum run`, which only attends its job.
    fn senders(&self) -> impl Iterator<Item = Tid> {
        self.tasks.values().filter(|row| row.spawned || row.name != "parvum").map(|row| row.tid)
    }

    /// What a task waits for, unless its wait ends by itself, or another thread of it may go on.
    pub fn waits(&self, tid: Tid) -> Option<&Waits> {
        let row = self.tasks.get(&tid).filter(|row| row.state == TaskState::Enrolled && !row.held)?;
        row.waits.as_ref().filter(|waits| !waits.ends && !waits.threads && !is_between_daemons(waits))
    }

    /// Whom a task waits for.
    pub fn awaited(&self, tid: Tid) -> For {
        match self.waits(tid) {
            None => For::Nobody,
            Some(waits) if waits.is_of_shared_memory() => shared::awaited(self, tid, waits),
            // The last to come into a barrier may be any.
            Some(waits) if waits.kind_name() == "barrier" => For::Anyone,
            Some(waits) if Tid(waits.peer).is_task() => For::One(Tid(waits.peer)),
            Some(_) => For::Anyone,
        }
    }

    /// Whether both pictures show the task in the same wait, with nothing received or sent meanwhile.
    pub fn stands_still(&self, later: &Picture, tid: Tid) -> bool {
        let (Some(before), Some(after)) = (self.tasks.get(&tid), later.tasks.get(&tid)) else { return false };
        let same_wait = match (&before.waits, &after.waits) {
            (Some(a), Some(b)) => {
                (a.since, a.kind, &a.word, a.peer, a.tag) == (b.since, b.kind, &b.word, b.peer, b.tag)
            }
            _ => false,
        };
        // Others' requests for shared memory are served whatever the program waits for.
        let counted = |row: &TaskRow| row.counters.iter().take(MEMORY).copied().collect::<Vec<_>>();
        same_wait && counted(before) == counted(after)
    }

    /// Messages that one task has sent to another and that have not arrived there. What a sender that waits for credit
    /// has sent too much does not count: it does not leave before the receiver has taken others.
    fn on_their_way(&self, from: Tid, to: Tid) -> u64 {
        if self.waits(from).is_some_and(|waits| waits.name() == "send" && waits.peer == to.0) {
            return 0;
        }
        let with = |at: Tid, peer: Tid, cells: &[usize]| -> u64 {
            let row = self.tasks.get(&at);
            let pairs = row.and_then(|row| row.sight.as_ref()).map_or(&[][..], |sight| &sight.pairs);
            let of_peer = pairs.iter().filter(|pair| pair.peer == peer);
            of_peer.map(|pair| cells.iter().map(|cell| count(pair, *cell)).sum::<u64>()).sum()
        };
        with(from, to, &[Counter::Sent as usize]).saturating_sub(with(to, from, &ARRIVED))
    }

    /// What a task has sent, or was sent, over connections that have not been let in: who to whom, over which route, and how many
    /// messages are on their way.
    pub fn not_let_in(&self, of: Tid) -> Vec<(Tid, Tid, &str, u64)> {
        let from_each = self.tasks.values().flat_map(|row| {
            let sight = row.sight.iter();
            sight
                .flat_map(|sight| sight.pairs.iter().map(move |pair| (&**sight, pair)))
                .map(|(sight, pair)| (row.tid, sight, pair))
        });
        let unanswered =
            |pair: &PairRow| pair.reasons.get(usize::from(pair.route)) == Some(&(Taken::Unanswered as u8));
        from_each
            .filter(|(from, _, pair)| (*from == of || pair.peer == of) && unanswered(pair))
            .map(|(from, sight, pair)| {
                (from, pair.peer, route(sight, pair), self.on_their_way(from, pair.peer))
            })
            .filter(|(_, _, _, messages)| *messages > 0)
            .collect()
    }

    /// Tasks that will never go on by what the tasks do that are on the machine now: each is in a wait without end, and whoever
    /// could end it is one of them or not there. Whether they stand still only a second picture can tell.
    pub fn stuck(&self) -> BTreeSet<Tid> {
        let mut stuck: BTreeSet<Tid> =
            self.tasks.keys().copied().filter(|tid| self.awaited(*tid) != For::Nobody).collect();
        loop {
            let goes_on = |tid: &Tid| match self.awaited(*tid) {
                For::Nobody => true,
                For::One(peer) => {
                    let lives = self.tasks.contains_key(&peer) && !stuck.contains(&peer);
                    lives || self.on_their_way(peer, *tid) > 0
                }
                For::Anyone => {
                    let others = self.senders().filter(|other| other != tid);
                    let mut others = others.map(|other| (!stuck.contains(&other), other));
                    others.any(|(lives, other)| lives || self.on_their_way(other, *tid) > 0)
                }
            };
            let free: Vec<Tid> = stuck.iter().copied().filter(goes_on).collect();
            if free.is_empty() {
                return stuck;
            }
            stuck.retain(|tid| !free.contains(tid));
        }
    }

    /// Why the stuck tasks are: circles and the dead first, then who waits for those.
    pub fn findings(&self, stuck: &BTreeSet<Tid>) -> Vec<Finding> {
        let (mut found, mut told) = (Vec::new(), BTreeSet::new());
        for &tid in stuck {
            if let For::One(peer) = self.awaited(tid)
                && !self.tasks.contains_key(&peer)
            {
                found.push(Finding::Dead(tid, peer));
                told.insert(tid);
            }
        }
        for &tid in stuck {
            if let Some(circle) = self.circle_from(tid).filter(|circle| !told.contains(&circle[0])) {
                told.extend(&circle);
                found.push(Finding::Circle(circle));
            }
        }
        let (behind, rest): (Vec<Tid>, Vec<Tid>) = stuck
            .iter()
            .filter(|tid| !told.contains(tid))
            .partition(|tid| matches!(self.awaited(**tid), For::One(_)));
        if !rest.is_empty() {
            found.push(Finding::Nobody(rest));
        }
        for tid in behind {
            if let For::One(peer) = self.awaited(tid) {
                found.push(Finding::Behind(tid, peer));
            }
        }
        found
    }

    /// The circle that the task is part of, from its lowest task on.
    fn circle_from(&self, tid: Tid) -> Option<Vec<Tid>> {
        let mut path = vec![tid];
        while let For::One(next) = self.awaited(*path.last()?) {
            if next == tid {
                let lowest = path.iter().enumerate().min_by_key(|(_, tid)| **tid)?.0;
                path.rotate_left(lowest);
                return Some(path);
            }
            if path.contains(&next) {
                return None;
            }
            path.push(next);
        }
        None
    }

    /// Messages that have come to a waiting task and are not what it waits for, though nearly.
    pub fn near_matches(&self, tid: Tid, names: &Names) -> Vec<(UnmatchedRow, String)> {
        let Some(waits) = self.tasks.get(&tid).and_then(|row| row.waits.as_ref()) else { return Vec::new() };
        // The messages of a collective operation are not the program's, and come in no order that it knows.
        let is_collective = waits.operation.as_ref().is_some_and(|does| does.turn >= 0);
        if is_collective
            || waits.is_of_shared_memory()
            || !matches!(waits.kind_name(), "receive" | "probe" | "wait")
        {
            return Vec::new();
        }
        let sight = self.tasks.get(&tid).and_then(|row| row.sight.as_ref());
        let unmatched = sight.map_or(&[][..], |sight| &sight.unmatched);
        unmatched
            .iter()
            .filter_map(|message| {
                let how = names.near(tid, waits, message).or_else(|| words::near(waits, message));
                how.map(|how| (*message, how))
            })
            .collect()
    }
}

/// Whether a wait ends by what daemons do, and within a minute.
fn is_between_daemons(waits: &Waits) -> bool {
    matches!(waits.kind_name(), "machine" | "join")
}

fn count(pair: &PairRow, cell: usize) -> u64 {
    pair.counters.get(cell).copied().unwrap_or(0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use parvum_wire::calls::{Sort, Word};
    use parvum_wire::control::Sight;

    const RECEIVE: u32 = 1;

    pub(in crate::why) fn tid(local: u32) -> Tid {
        Tid::new(1, local).expect("in range")
    }

    pub(in crate::why) fn row(local: u32, waits: Option<(u32, i32, i32)>) -> TaskRow {
        let waits = waits.map(|(kind, peer, tag)| Waits {
            kind,
            interface: "pvm".into(),
            word: None,
            closed: false,
            peer,
            tag,
            context: 0,
            for_ms: 5000,
            since: u64::from(local),
            ends: false,
            barrier: None,
            threads: false,
            operation: None,
        });
        TaskRow {
            tid: tid(local),
            parent: None,
            host: Tid::new(1, 0).expect("in range"),
            pid: 1,
            name: "test".into(),
            flag: 0,
            state: TaskState::Enrolled,
            waits,
            counters: vec![0; 29],
            spawned: true,
            held: false,
            rank: None,
            sight: Some(Box::default()),
        }
    }

    pub(in crate::why) fn word(sort: Sort, mark: &str, name: &str) -> Word {
        Word { sort, mark: mark.into(), name: name.into() }
    }

    fn waiting(local: u32, peer: u32) -> TaskRow {
        row(local, Some((RECEIVE, tid(peer).0, 7)))
    }

    fn pair(peer: u32, cell: usize, count: u64) -> PairRow {
        let mut counters = vec![0; 24];
        counters[cell] = count;
        PairRow { peer: tid(peer), route: 1, counters, reasons: [0; 8], waited: 0 }
    }

    fn told(rows: Vec<TaskRow>) -> Vec<Finding> {
        let picture = Picture::of(rows);
        picture.findings(&picture.stuck())
    }

    #[test]
    fn deadlock_is_found_with_tasks_waiting_behind_it() {
        assert_eq!(told(vec![waiting(1, 2), waiting(2, 1)]), [Finding::Circle(vec![tid(1), tid(2)])]);
        let three = vec![waiting(3, 1), waiting(1, 2), waiting(2, 3), waiting(4, 3), row(5, None)];
        let circle = Finding::Circle(vec![tid(1), tid(2), tid(3)]);
        assert_eq!(told(three), [circle, Finding::Behind(tid(4), tid(3))]);
    }

    #[test]
    fn waiter_for_running_task_is_not_stuck() {
        assert_eq!(told(vec![waiting(1, 2), row(2, None)]), []);
        assert_eq!(told(vec![row(1, Some((RECEIVE, -1, 7))), row(2, None)]), [], "it may send");
        let mut patient = waiting(2, 1);
        patient.waits.as_mut().expect("it waits").ends = true;
        assert_eq!(told(vec![waiting(1, 2), patient]), [], "one of them gives up");
        let mut held = waiting(2, 1);
        held.held = true;
        assert_eq!(told(vec![waiting(1, 2), held]), [], "it is another gang's turn");
        assert_eq!(told(vec![waiting(1, 2), row(2, Some((6, -1, -1)))]), [], "the daemon answers");
        let mut several = waiting(2, 1);
        several.waits.as_mut().expect("it waits").threads = true;
        assert_eq!(told(vec![waiting(1, 2), several]), [], "another thread of it may send");
    }

    #[test]
    fn waiter_for_dead_task_is_reported() {
        assert_eq!(
            told(vec![waiting(1, 9), waiting(2, 1)]),
            [Finding::Dead(tid(1), tid(9)), Finding::Behind(tid(2), tid(1)),]
        );
    }

    #[test]
    fn tasks_that_all_receive_from_any_sender_are_reported() {
        let any = |local| row(local, Some((RECEIVE, -1, 7)));
        assert_eq!(told(vec![any(1), any(2)]), [Finding::Nobody(vec![tid(1), tid(2)])]);
        assert_eq!(told(vec![any(1)]), [Finding::Nobody(vec![tid(1)])], "it is alone");
    }

    #[test]
    fn deadlock_is_certain_only_without_outside_senders() {
        let any = |local, interface: &str| {
            let mut row = row(local, Some((RECEIVE, -1, 7)));
            let waits = row.waits.as_mut().expect("it waits");
            (waits.interface, waits.closed) = (interface.into(), interface == "nx");
            row
        };
        let surely = |rows: Vec<TaskRow>| {
            let picture = Picture::of(rows);
            let all = picture.stuck();
            let closed = all.iter().copied().filter(|tid| !picture.may_be_helped(*tid)).collect();
            (all.len(), picture.that_hang(closed).len())
        };
        assert_eq!(surely(vec![any(1, "pvm")]), (1, 0), "a server");
        assert_eq!(surely(vec![any(1, "pvm"), waiting(2, 1)]), (2, 0), "and who waits for it");
        assert_eq!(surely(vec![any(1, "pvm"), waiting(2, 3), waiting(3, 2)]), (3, 2), "a circle beside it");
        assert_eq!(surely(vec![any(1, "nx"), any(2, "nx")]), (2, 2), "nobody joins a run of NX");
        let within = |mark: &str| {
            let mut row = any(1, "MPI");
            row.waits.as_mut().expect("it waits").word = Some(word(Sort::Function, mark, "MPI_Recv"));
            row
        };
        assert_eq!(surely(vec![within("only-members")]), (1, 1), "nobody joins a communicator");
        assert_eq!(surely(vec![within("")]), (1, 0), "somebody may come to a port");
        let mut runner = row(3, None);
        (runner.name, runner.spawned) = ("parvum".into(), false);
        assert_eq!(surely(vec![any(1, "nx"), runner]), (1, 1), "`parvum run` sends nothing");
    }

    #[test]
    fn unanswered_connection_is_reported_for_sender_and_receiver() {
        let (mut sender, receiver) = (waiting(1, 2), waiting(2, 1));
        let mut sent = pair(2, Counter::Sent as usize, 3);
        sent.reasons[1] = Taken::Unanswered as u8;
        let routes = ["itself", "shm"].map(String::from).to_vec();
        sender.sight = Some(Box::new(Sight { pairs: vec![sent.clone()], routes, ..Sight::default() }));
        let picture = Picture::of(vec![sender.clone(), receiver.clone()]);
        let wanted = vec![(tid(1), tid(2), "shm", 3)];
        assert_eq!((picture.not_let_in(tid(1)), picture.not_let_in(tid(2))), (wanted.clone(), wanted));
        assert_eq!(picture.not_let_in(tid(3)), []);
        assert_eq!(picture.stuck(), BTreeSet::new(), "they may arrive");
        sent.reasons[1] = Taken::InUse as u8;
        sender.sight.as_mut().expect("it has one").pairs = vec![sent];
        assert_eq!(Picture::of(vec![sender, receiver]).not_let_in(tid(1)), []);
    }

    #[test]
    fn message_in_flight_prevents_deadlock_report() {
        let (mut a, mut b) = (waiting(1, 2), waiting(2, 1));
        let sight = |row: &mut TaskRow, pair| {
            **row.sight.as_mut().expect("deep") = Sight { pairs: vec![pair], ..Sight::default() }
        };
        sight(&mut a, pair(2, Counter::Sent as usize, 3));
        sight(&mut b, pair(1, Counter::Expected as usize, 2));
        assert_eq!(told(vec![a.clone(), b.clone()]), [], "two of three have come");
        sight(&mut b, pair(1, Counter::Unexpected as usize, 3));
        assert_eq!(told(vec![a, b]), [Finding::Circle(vec![tid(1), tid(2)])]);
    }

    #[test]
    fn sender_without_credit_is_part_of_deadlock() {
        let (mut sender, receiver) = (row(1, Some((2, tid(2).0, 8))), waiting(2, 1));
        **sender.sight.as_mut().expect("deep") =
            Sight { pairs: vec![pair(2, Counter::Sent as usize, 9)], ..Sight::default() };
        assert_eq!(told(vec![sender, receiver]), [Finding::Circle(vec![tid(1), tid(2)])]);
    }

    #[test]
    fn task_that_moved_between_snapshots_is_not_stuck() {
        let first = Picture::of(vec![waiting(1, 2), waiting(2, 1)]);
        let mut moved = waiting(2, 1);
        moved.waits.as_mut().expect("it waits").since = 99;
        let mut received = waiting(1, 2);
        received.counters[2] = 1;
        let later = Picture::of(vec![received, moved]);
        assert!(!first.stands_still(&later, tid(1)) && !first.stands_still(&later, tid(2)));
        assert!(first.stands_still(&first, tid(1)));
    }
}
