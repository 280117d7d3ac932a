//! The judge: compares what tasks wrote down, and counts the damage.

use super::damage::{Damage, Damages};
use super::ledger::{Entry, Ledger, Notice, Record};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A host that came: its tid, and between which times of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct HostAdded {
    /// Its daemon's tid.
    pub tid: u64,
    /// It was not there before.
    pub begun: u64,
    /// It was there after.
    pub done: u64,
}

/// What the tasks do not know.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// The names of tasks that were killed, or whose host was lost.
    pub killed: HashSet<String>,
    /// The names of tasks that still lived at the end and had not settled.
    pub hung: HashSet<String>,
    /// Hosts of the machine at the end, by tid.
    pub hosts: BTreeSet<u64>,
    /// Hosts that came.
    pub added: Vec<HostAdded>,
}

/// A stream of messages: the sender's name, the receiver's tid, the epoch.
type Stream<'a> = (&'a str, u32, u32);

/// Who came to a barrier, when, and when it left.
type Visit<'a> = (&'a str, u64, Option<u64>);

/// All damage that the ledger shows.
pub fn judge(ledger: &Ledger, outside: &Outside) -> Damages {
    let mut judge = Judge { ledger, outside, damages: Damages::default() };
    judge.deaths();
    judge.messages();
    for record in ledger.records.iter().filter(|record| record.is_settled()) {
        judge.notices(record);
    }
    for record in &ledger.records {
        judge.work(record);
    }
    judge.barriers();
    judge.damages
}

struct Judge<'a> {
    ledger: &'a Ledger,
    outside: &'a Outside,
    damages: Damages,
}

impl<'a> Judge<'a> {
    /// Who was not killed has settled, or says why not.
    fn deaths(&mut self) {
        for record in &self.ledger.records {
            let Record { name, host, run, role, .. } = record;
            let is_explained = self.outside.killed.contains(name) || self.outside.hung.contains(name);
            if !record.is_settled() && record.over().is_none() && !is_explained {
                self.damages.add(Damage::TaskDied, format!("{role} {name} of {run} on {host}"));
            }
            if record.over() == Some("receiving failed") && !self.outside.killed.contains(name) {
                self.damages
                    .add(Damage::TaskDied, format!("{role} {name} of {run} on {host}: receiving failed"));
            }
        }
    }

    /// The task of a run that has a tid and lived to the end.
    fn survivor(&self, run: &str, tid: u32) -> Option<&'a Record> {
        self.ledger
            .records
            .iter()
            .find(|record| record.tid == tid && record.run == run && record.is_settled())
    }

    /// Whether a task of a run with that tid was there at the end.
    fn lives(&self, run: &str, tid: u32) -> bool {
        let is_it = |record: &&Record| record.tid == tid && record.run == run;
        let there = |record: &Record| record.is_settled() || self.outside.hung.contains(&record.name);
        self.ledger.records.iter().filter(is_it).any(there)
    }

    fn messages(&mut self) {
        let mut sent: BTreeMap<Stream<'a>, Vec<u32>> = BTreeMap::new();
        let mut got: BTreeMap<Stream<'a>, Vec<(&'a Record, u64, u32)>> = BTreeMap::new();
        for record in &self.ledger.records {
            for entry in &record.entries {
                match entry {
                    Entry::Sent { to, epoch, sum, .. } => {
                        sent.entry((&record.name, *to, *epoch)).or_default().push(*sum);
                    }
                    Entry::Unsent { to, epoch, code, .. } => {
                        sent.entry((&record.name, *to, *epoch)).or_default().pop();
                        if record.is_settled() && self.ends_with(record, *to, *epoch).is_some() {
                            let words = format!("{} to {to:x}: the call gives {code}", record.name);
                            self.damages.add(Damage::Refused, words);
                        }
                    }
                    Entry::Got { from, epoch, n, sum } => {
                        got.entry((from, record.tid, *epoch)).or_default().push((record, *n, *sum));
                    }
                    _ => {}
                }
            }
        }
        let none = Vec::new();
        let streams: BTreeSet<Stream<'a>> = sent.keys().chain(got.keys()).copied().collect();
        for stream in streams {
            let sent = sent.get(&stream).unwrap_or(&none);
            self.stream(stream, sent, got.get(&stream).map(Vec::as_slice).unwrap_or_default());
        }
    }

    /// The survivor to which what the task sent to that tid in that epoch must have come.
    fn ends_with(&self, sender: &Record, to: u32, epoch: u32) -> Option<&'a Record> {
        let told = Entry::Told(Notice::Exit, to.into());
        let ends = sender.entries.iter().filter(|entry| **entry == told).count();
        if ends > epoch as usize {
            return None;
        }
        self.survivor(&sender.run, to)
    }

    fn stream(&mut self, (from, to, epoch): Stream<'a>, sent: &[u32], got: &[(&'a Record, u64, u32)]) {
        let words = |n: u64| format!("message {n} from {from} to {to:x} ({epoch})");
        let sender = self.ledger.records.iter().find(|record| record.name == from);
        let (mut next, mut missing) = (0, BTreeSet::new());
        for (receiver, n, sum) in got {
            if receiver.name != got[0].0.name || sender.is_some_and(|sender| sender.run != receiver.run) {
                self.damages.add(Damage::Misdelivered, format!("{} came to {}", words(*n), receiver.name));
                continue;
            }
            if sent.get(*n as usize) != Some(sum) {
                self.damages.add(Damage::Changed, words(*n));
            }
            if *n >= next {
                missing.extend(next..*n);
                next = n + 1;
            } else if missing.remove(n) {
                self.damages.add(Damage::Reordered, words(*n));
            } else {
                self.damages.add(Damage::Doubled, words(*n));
            }
        }
        let survives = sender
            .filter(|sender| sender.is_settled())
            .and_then(|sender| self.ends_with(sender, to, epoch))
            .is_some();
        if survives {
            missing.extend(next..sent.len() as u64);
        }
        for n in missing {
            let how = if survives { "both live" } else { "one is dead, and later ones came" };
            self.damages.add(Damage::Lost, format!("{}; {how}", words(n)));
        }
    }

    fn notices(&mut self, record: &Record) {
        let mut counts: BTreeMap<(Notice, u64), (usize, usize)> = BTreeMap::new();
        let mut since = None;
        for entry in &record.entries {
            match entry {
                Entry::Asked(Notice::Add, time) => since = Some(*time),
                Entry::Asked(about, target) => counts.entry((*about, *target)).or_default().0 += 1,
                Entry::Told(about, target) => counts.entry((*about, *target)).or_default().1 += 1,
                _ => {}
            }
        }
        for ((about, target), (asked, told)) in counts {
            if about == Notice::Add {
                continue;
            }
            let lives = match about {
                Notice::Exit => self.lives(&record.run, target as u32),
                _ => self.outside.hosts.contains(&target),
            };
            let wanted = asked - usize::from(lives && asked > 0);
            self.compare(record, about, target, told, (wanted, wanted), lives);
        }
        if let Some(since) = since {
            self.additions(record, since);
        }
    }

    fn additions(&mut self, record: &Record, since: u64) {
        let mut wanted: HashMap<u64, (usize, usize)> = HashMap::new();
        for host in &self.outside.added {
            let (least, most) = wanted.entry(host.tid).or_default();
            // One that came while it asked may be told or not.
            *least += usize::from(host.begun > since);
            *most += usize::from(host.done > since);
        }
        let told = |tid: u64| record.entries.iter().filter(|e| **e == Entry::Told(Notice::Add, tid)).count();
        let unknown = record.entries.iter().filter_map(|entry| match entry {
            Entry::Told(Notice::Add, tid) => Some((*tid, (0, 0))),
            _ => None,
        });
        for (tid, bounds) in unknown.chain(wanted).collect::<BTreeMap<_, _>>() {
            self.compare(record, Notice::Add, tid, told(tid), bounds, false);
        }
    }

    fn compare(
        &mut self,
        record: &Record,
        about: Notice,
        target: u64,
        told: usize,
        (least, most): (usize, usize),
        lives: bool,
    ) {
        let words = format!(
            "{} {} on {}: {about:?} {target:x} told {told} times, not {least}",
            record.role, record.name, record.host
        );
        for _ in told..least {
            self.damages.add(Damage::NoticeMissing, words.clone());
        }
        for _ in most..told {
            let damage = if lives { Damage::NoticeFalse } else { Damage::NoticeDoubled };
            self.damages.add(damage, words.clone());
        }
    }

    /// Each unit of a farm is accepted once; of one that lived to the end all are.
    fn work(&mut self, record: &Record) {
        let mut accepted = BTreeSet::new();
        for entry in &record.entries {
            match entry {
                Entry::Accept(unit) if !accepted.insert(*unit) => {
                    self.damages.add(Damage::UnitDoubled, format!("unit {unit} of {}", record.name));
                }
                Entry::Wrong(unit) => {
                    self.damages.add(Damage::UnitWrong, format!("unit {unit} of {}", record.name));
                    accepted.insert(*unit);
                }
                _ => {}
            }
        }
        let all = accepted.last().map_or(0, |last| last + 1);
        for unit in (0..all).filter(|unit| record.is_settled() && !accepted.contains(unit)) {
            self.damages.add(Damage::UnitLost, format!("unit {unit} of {}", record.name));
        }
    }

    /// Nobody leaves a barrier before every survivor that comes to it has come.
    fn barriers(&mut self) {
        let mut rounds: BTreeMap<(&str, u64), Vec<Visit>> = BTreeMap::new();
        for record in self.ledger.records.iter().filter(|record| record.is_settled()) {
            for entry in &record.entries {
                match entry {
                    Entry::Enter(round, time) => {
                        rounds.entry((&record.run, *round)).or_default().push((&record.name, *time, None));
                    }
                    Entry::Leave(round, time) => {
                        let came = rounds.entry((&record.run, *round)).or_default();
                        if let Some(mine) = came.iter_mut().find(|one| one.0 == record.name) {
                            mine.2 = Some(*time);
                        }
                    }
                    _ => {}
                }
            }
        }
        for ((run, round), came) in rounds {
            let last = came.iter().map(|one| one.1).max().unwrap_or(0);
            for (name, _, left) in came {
                if left.is_some_and(|left| left < last) {
                    self.damages.add(Damage::BarrierEarly, format!("{name} left round {round} of {run}"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tasks of a run, 40001 and 80001, that lived to the end, and what else they wrote.
    fn two(first: &str, second: &str) -> Ledger {
        both(&format!("{first}settled\n"), &format!("{second}settled\n"))
    }

    fn both(first: &str, second: &str) -> Ledger {
        let record = |tid: u32, lines: &str| {
            let text = format!("task {tid:x}.1 {tid:x} 7 alpha run1 ring\n{lines}");
            Record::parse(&text).expect("a ledger")
        };
        Ledger { records: vec![record(0x40001, first), record(0x80001, second)] }
    }

    /// The damage, all of it.
    fn found(ledger: &Ledger, outside: &Outside) -> Vec<(Damage, usize)> {
        let damages = judge(ledger, outside);
        let counts = Damage::ALL.into_iter().map(|damage| (damage, damages.count(damage)));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    fn sent(count: u32) -> String {
        (0..count).map(|n| format!("sent 80001 0 {n} {}\n", 100 + n)).collect()
    }

    fn got(numbers: &[u32]) -> String {
        numbers.iter().map(|n| format!("got 40001.1 0 {n} {}\n", 100 + n)).collect()
    }

    fn killed(name: &str) -> Outside {
        Outside { killed: [name.to_owned()].into(), ..Outside::default() }
    }

    #[test]
    fn judge_finds_no_damage_in_intact_run() {
        assert_eq!(found(&two(&sent(4), &got(&[0, 1, 2, 3])), &Outside::default()), []);
    }

    #[test]
    fn judge_finds_lost_message() {
        let outside = Outside::default();
        assert_eq!(found(&two(&sent(4), &got(&[0, 1, 3])), &outside), [(Damage::Lost, 1)]);
        assert_eq!(found(&two(&sent(4), &got(&[0, 1])), &outside), [(Damage::Lost, 2)]);
        assert_eq!(found(&two(&sent(1), ""), &outside), [(Damage::Lost, 1)], "the only one");
    }

    #[test]
    fn judge_allows_only_last_messages_of_dead_pair_missing() {
        let dead = |numbers: &[u32]| both(&sent(4), &format!("{}settled\n", got(numbers)));
        assert_eq!(found(&dead(&[0, 1]), &killed("40001.1")), []);
        assert_eq!(found(&dead(&[0, 2]), &killed("40001.1")), [(Damage::Lost, 1)]);
        let dead = both(&format!("{}settled\n", sent(4)), &got(&[0]));
        assert_eq!(found(&dead, &killed("80001.1")), []);
    }

    #[test]
    fn judge_finds_doubled_message() {
        assert_eq!(found(&two(&sent(2), &got(&[0, 1, 1])), &Outside::default()), [(Damage::Doubled, 1)]);
        let dead = both(&sent(2), &format!("{}settled\n", got(&[0, 0])));
        assert_eq!(found(&dead, &killed("40001.1")), [(Damage::Doubled, 1)]);
    }

    #[test]
    fn judge_finds_reordered_message() {
        assert_eq!(found(&two(&sent(3), &got(&[0, 2, 1])), &Outside::default()), [(Damage::Reordered, 1)]);
    }

    #[test]
    fn judge_finds_wrong_checksum_and_unsent_message() {
        let changed = two(&sent(1), "got 40001.1 0 0 99\n");
        assert_eq!(found(&changed, &Outside::default()), [(Damage::Changed, 1)]);
        assert_eq!(found(&two("", &got(&[0])), &Outside::default()), [(Damage::Changed, 1)]);
    }

    #[test]
    fn judge_finds_message_delivered_to_reused_tid() {
        let mut ledger = two(&sent(1), &got(&[0]));
        ledger.records[1].run = "run2".to_owned();
        assert_eq!(found(&ledger, &Outside::default()), [(Damage::Misdelivered, 1)]);
    }

    #[test]
    fn judge_finds_send_refused_to_living_receiver() {
        let refused = two("sent 80001 0 0 1\nunsent 80001 0 0 -31\n", "");
        assert_eq!(found(&refused, &Outside::default()), [(Damage::Refused, 1)]);
        let dead = both("sent 80001 0 0 1\nunsent 80001 0 0 -31\nsettled\n", "");
        assert_eq!(found(&dead, &killed("80001.1")), []);
    }

    #[test]
    fn judge_checks_task_notices() {
        let watch = |told: &str| both(&format!("asked exit 80001\n{told}settled\n"), "");
        let (once, outside) = ("told exit 80001\n", killed("80001.1"));
        assert_eq!(found(&watch(once), &outside), []);
        assert_eq!(found(&watch(""), &outside), [(Damage::NoticeMissing, 1)]);
        assert_eq!(found(&watch(&once.repeat(2)), &outside), [(Damage::NoticeDoubled, 1)]);
        let lives = two(&format!("asked exit 80001\n{once}"), "");
        assert_eq!(found(&lives, &Outside::default()), [(Damage::NoticeFalse, 1)]);
        // One that hangs lives, and is counted elsewhere.
        let hung = Outside { hung: ["80001.1".to_owned()].into(), ..Outside::default() };
        assert_eq!(found(&watch(once), &hung), [(Damage::NoticeFalse, 1)]);
        assert_eq!(found(&watch(""), &hung), []);
    }

    #[test]
    fn judge_checks_host_notices() {
        let watch = |told: &str| two(&format!("asked add 64\nasked delete 80000\n{told}"), "");
        let came = HostAdded { tid: 0xc0000, begun: 200, done: 300 };
        let gone = Outside { added: vec![came], ..Outside::default() };
        let there = Outside { hosts: [0x80000].into(), ..Outside::default() };
        let (both, one) = ("told delete 80000\ntold add c0000\n", "told delete 80000\n");
        assert_eq!(found(&watch(both), &gone), []);
        assert_eq!(found(&watch(one), &gone), [(Damage::NoticeMissing, 1)]);
        assert_eq!(found(&watch(&both.repeat(2)), &gone), [(Damage::NoticeDoubled, 2)]);
        assert_eq!(found(&watch(""), &there), []);
        assert_eq!(found(&watch(one), &there), [(Damage::NoticeFalse, 1)]);
        // One that came while it asked may be told or not.
        let meanwhile = HostAdded { begun: 50, ..came };
        let meanwhile = Outside { added: vec![meanwhile], ..Outside::default() };
        assert_eq!(found(&watch(one), &meanwhile), []);
        assert_eq!(found(&watch(both), &meanwhile), []);
    }

    #[test]
    fn judge_checks_units_of_work() {
        let farm = |lines: &str| found(&two(lines, ""), &Outside::default());
        assert_eq!(farm("accept 0\naccept 2\naccept 1\n"), []);
        assert_eq!(farm("accept 0\naccept 2\n"), [(Damage::UnitLost, 1)]);
        assert_eq!(farm("accept 0\naccept 0\n"), [(Damage::UnitDoubled, 1)]);
        assert_eq!(farm("accept 0\nwrong 1\n"), [(Damage::UnitWrong, 1)]);
    }

    #[test]
    fn judge_checks_barriers() {
        let meet = |first: &str, second: &str| found(&two(first, second), &Outside::default());
        assert_eq!(meet("enter 0 10\nleave 0 21\n", "enter 0 20\nleave 0 22\n"), []);
        assert_eq!(meet("enter 0 10\nleave 0 19\n", "enter 0 20\n"), [(Damage::BarrierEarly, 1)]);
    }

    #[test]
    fn judge_finds_task_that_died_unasked() {
        let died = both("", "settled\n");
        assert_eq!(found(&died, &Outside::default()), [(Damage::TaskDied, 1)]);
        assert_eq!(found(&died, &killed("40001.1")), []);
        assert_eq!(found(&both("over the head is gone\n", "settled\n"), &Outside::default()), []);
        let failed = both("over receiving failed\n", "settled\n");
        assert_eq!(found(&failed, &Outside::default()), [(Damage::TaskDied, 1)]);
    }
}
