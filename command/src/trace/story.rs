//! What the recordings say together: one time for all, each wait with its end, each message with both.

use super::gather::{HostPart, Parts, TaskPart};
use parvum_control::Happening;
use parvum_wire::Tid;
use parvum_wire::calls::{self, KINDS, Word};
use std::collections::{BTreeMap, HashMap};

/// A job from its beginning to its end. Times are nanoseconds since the first task began, by our clock.
pub struct Story {
    pub program: String,
    pub hosts: Vec<Host>,
    pub tasks: Vec<Task>,
    /// The names of the routes of messages, by number; an empty one is of a number not in use.
    pub routes: Vec<String>,
    /// The words of the tasks' interfaces, each once; [`Wait::word`] is a place here.
    pub words: Vec<Word>,
    /// In the order sent.
    pub messages: Vec<Message>,
    /// What could not be had, in words.
    pub missing: Vec<String>,
    /// When all was over.
    pub end: i64,
}

pub struct Host {
    pub name: String,
    pub number: u32,
    pub ahead: i64,
    pub round_trip: u64,
}

pub struct Task {
    pub tid: Tid,
    pub name: String,
    /// Its place in [`Story::hosts`].
    pub host: usize,
    pub began: i64,
    pub ended: i64,
    /// It was still there when the recording was fetched.
    pub is_there: bool,
    /// The signal that has ended its process.
    pub killed_by: Option<i32>,
    /// Nothing is known of it before: the records were dropped.
    pub known_from: i64,
    pub dropped: u64,
    /// In order; none overlaps another.
    pub waits: Vec<Wait>,
}

pub struct Wait {
    pub from: i64,
    pub to: i64,
    /// Which kind of wait: a number of [`KINDS`].
    pub kind: u8,
    /// The interface's word for the call, if it has one.
    pub word: Option<usize>,
    pub peer: i32,
    pub tag: i32,
    /// It was not over when the task ended.
    pub is_cut: bool,
}

/// One end of a message: when it was, and when its task did the next thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub at: i64,
    pub next: i64,
}

pub struct Message {
    pub from: Tid,
    pub to: Tid,
    pub tag: i32,
    pub length: u64,
    /// By the engine's number; none when the sender's record was dropped.
    pub route: Option<u8>,
    pub sent: Option<Point>,
    pub received: Option<Point>,
}

impl Message {
    /// When it is first heard of.
    fn first(&self) -> i64 {
        self.sent.or(self.received).map_or(0, |point| point.at)
    }
}

/// The place of a wait's call among [`Story::calls`].
pub fn place(wait: &Wait) -> usize {
    wait.word.map_or(usize::from(wait.kind), |word| KINDS.len() + word)
}

/// What a task did with its time, and its messages.
#[derive(Default)]
pub struct Sums {
    pub waiting: i64,
    pub sent: (u64, u64),
    pub received: (u64, u64),
}

/// Turns a host's times into ours.
struct Times<'a> {
    host: &'a HostPart,
    zero: i64,
}

impl Times<'_> {
    /// From nanoseconds of the host's CLOCK_MONOTONIC.
    fn monotonic(&self, time: u64) -> i64 {
        let (_, monotonic, since_1970) = self.host.now;
        (time as i64).wrapping_sub(monotonic as i64).wrapping_add(since_1970 as i64)
            - self.host.ahead
            - self.zero
    }

    /// From a record's ticks: between the task's beginning and now they ran evenly.
    fn ticks(&self, ticks: u64, began: (u64, u64)) -> i64 {
        let passed = ticks.saturating_sub(began.0) as f64;
        let all = self.host.now.0.saturating_sub(began.0).max(1) as f64;
        let span = self.host.now.1.saturating_sub(began.1) as f64;
        self.monotonic(began.1) + (passed / all * span) as i64
    }
}

impl Story {
    /// `killed` are the tasks that a signal has ended.
    pub fn of(program: &str, parts: Parts, killed: &BTreeMap<Tid, i32>) -> Story {
        let beginnings = parts.hosts.iter().flat_map(|host| {
            let times = Times { host, zero: 0 };
            host.tasks.iter().map(move |task| times.monotonic(task.row.began.1))
        });
        let zero = beginnings.min().unwrap_or(0);
        let (mut hosts, mut tasks, mut mail) = (Vec::new(), Vec::new(), Mail::default());
        let mut words = Lexicon::default();
        for host in &parts.hosts {
            let times = Times { host, zero };
            let texts: Vec<_> = host.words.iter().map(|text| words.add(text)).collect();
            for task in &host.tasks {
                let numbered = texts.get(task.row.words as usize).cloned().unwrap_or_default();
                let killed_by = killed.get(&task.row.tid).copied();
                tasks.push(Task { killed_by, ..summarize(task, &times, hosts.len(), &mut mail, &numbered) });
            }
            let HostPart { name, daemon, ahead, round_trip, .. } = host;
            let (name, number) = (name.clone(), daemon.host());
            hosts.push(Host { name, number, ahead: *ahead, round_trip: *round_trip });
        }
        let mut messages = mail.messages;
        messages.sort_by_key(Message::first);
        let end = tasks.iter().map(|task: &Task| task.ended).max().unwrap_or(0);
        let routes = names_of_routes(&parts);
        let (program, words) = (program.to_owned(), words.0);
        Story { program, hosts, tasks, routes, words, messages, missing: parts.missing, end }
    }

    /// The name of a route, if any task has one for that number.
    pub fn route(&self, number: u8) -> Option<&str> {
        let name = self.routes.get(usize::from(number))?;
        Some(name.as_str()).filter(|name| !name.is_empty())
    }

    /// The name of a wait's call: its interface's word, or the kind of wait.
    pub fn call(&self, wait: &Wait) -> &str {
        self.calls().get(place(wait)).copied().filter(|call| !call.is_empty()).unwrap_or("?")
    }

    /// The names of all calls: the kinds of waits, and behind them the words.
    pub fn calls(&self) -> Vec<&str> {
        KINDS.into_iter().chain(self.words.iter().map(|word| word.name.as_str())).collect()
    }

    /// What must be known about a wait's call beside its name.
    pub fn mark(&self, wait: &Wait) -> &str {
        wait.word.map_or("", |word| &self.words[word].mark)
    }

    /// The sums of each task, in the order of the tasks.
    pub fn sums(&self) -> Vec<Sums> {
        let place: HashMap<Tid, usize> =
            self.tasks.iter().enumerate().map(|(at, task)| (task.tid, at)).collect();
        let waiting =
            |task: &Task| Sums { waiting: task.waits.iter().map(|w| w.to - w.from).sum(), ..Sums::default() };
        let mut sums: Vec<Sums> = self.tasks.iter().map(waiting).collect();
        let add =
            |(count, bytes): &mut (u64, u64), length: u64| (*count, *bytes) = (*count + 1, *bytes + length);
        for message in &self.messages {
            if let (Some(&at), Some(_)) = (place.get(&message.from), message.sent) {
                add(&mut sums[at].sent, message.length);
            }
            if let (Some(&at), Some(_)) = (place.get(&message.to), message.received) {
                add(&mut sums[at].received, message.length);
            }
        }
        sums
    }
}

/// What the tasks call their routes. Numbers stand for the same in all of them.
fn names_of_routes(parts: &Parts) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for task in parts.hosts.iter().flat_map(|host| &host.tasks) {
        all.resize(all.len().max(task.row.routes.len()), String::new());
        for (name, told) in all.iter_mut().zip(&task.row.routes).filter(|(name, _)| name.is_empty()) {
            name.clone_from(told);
        }
    }
    all
}

/// All words, each once.
#[derive(Default)]
struct Lexicon(Vec<Word>);

impl Lexicon {
    /// The places of a text's words, by their numbers less one.
    fn add(&mut self, text: &str) -> Vec<usize> {
        let place = |word: Word| {
            self.0.iter().position(|known| *known == word).unwrap_or_else(|| {
                self.0.push(word);
                self.0.len() - 1
            })
        };
        calls::words(text).map(place).collect()
    }
}

/// Messages, by sender, receiver and number.
#[derive(Default)]
struct Mail {
    messages: Vec<Message>,
    places: HashMap<(Tid, Tid, u32), usize>,
}

impl Mail {
    fn message(&mut self, from: Tid, to: Tid, order: u32, tag: i32, length: u64) -> &mut Message {
        let place = *self.places.entry((from, to, order)).or_insert_with(|| {
            self.messages.push(Message { from, to, tag, length, route: None, sent: None, received: None });
            self.messages.len() - 1
        });
        &mut self.messages[place]
    }
}

fn summarize(part: &TaskPart, times: &Times<'_>, host: usize, mail: &mut Mail, numbered: &[usize]) -> Task {
    let row = &part.row;
    let records: Vec<(i64, Happening)> = part
        .records
        .iter()
        .filter_map(|record| Happening::read(*record))
        .map(|(ticks, what)| (times.ticks(ticks, row.began), what))
        .collect();
    let is_there = row.ended == 0;
    let last = records.last().map_or(i64::MIN, |(at, _)| *at);
    let ended = times.monotonic(if is_there { times.host.now.1 } else { row.ended }).max(last);
    let (mut waits, mut open) = (Vec::new(), None);
    for (place, (at, what)) in records.iter().enumerate() {
        let at = *at;
        let point = Point { at, next: records.get(place + 1).map_or(ended, |(next, _)| *next) };
        match *what {
            Happening::Sent { peer, route, tag, order, length } => {
                let message = mail.message(row.tid, Tid(peer), order, tag, length);
                (message.sent, message.route) = (Some(point), Some(route));
            }
            Happening::Received { peer, tag, order, length } => {
                mail.message(Tid(peer), row.tid, order, tag, length).received = Some(point);
            }
            Happening::Waits { kind, word, peer, tag } => {
                let word = (word as usize).checked_sub(1).and_then(|place| numbered.get(place)).copied();
                open = Some(Wait { from: at, to: ended, kind, word, peer, tag, is_cut: true });
            }
            Happening::GoesOn => {
                waits.extend(open.take().map(|wait| Wait { to: at, is_cut: false, ..wait }));
            }
        }
    }
    waits.extend(open);
    let began = times.monotonic(row.began.1);
    let known_from = if part.dropped > 0 { records.first().map_or(ended, |(at, _)| *at) } else { began };
    let (tid, name) = (row.tid, row.name.clone());
    Task {
        tid,
        name,
        host,
        began,
        ended,
        is_there,
        killed_by: None,
        known_from,
        dropped: part.dropped,
        waits,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use parvum_wire::control::RecordedTask;

    /// A task whose ticks are half nanoseconds since its host began.
    pub fn task(tid: i32, name: &str, ended: u64, dropped: u64, what: &[(u64, Happening)]) -> TaskPart {
        let records: Vec<_> = what.iter().map(|(at, what)| what.words(2 * at)).collect();
        let written = dropped + records.len() as u64;
        let routes = ["itself", "shm", "tcp"].map(String::from).to_vec();
        let row = RecordedTask {
            tid: Tid(tid),
            name: name.into(),
            began: (0, 0),
            ended,
            written,
            kept: 1 << 10,
            routes,
            words: 0,
        };
        TaskPart { row, dropped, records }
    }

    pub fn host(name: &str, number: u32, ahead: i64, tasks: Vec<TaskPart>) -> HostPart {
        let daemon = Tid::new(number, 0).expect("in range");
        let now = (20_000, 10_000, (1_000_000_000 + ahead) as u64);
        let words = vec!["interface test\ncall:far shout\nfunction MPI_Barrier\n".to_owned()];
        HostPart { name: name.into(), daemon, ahead, round_trip: 500, now, thrown_away: 0, tasks, words }
    }

    /// Two hosts whose clocks differ, three tasks: one waits for ever, of one the first records are dropped.
    pub fn example() -> Story {
        let sent = |peer, order| Happening::Sent { peer, route: 2, tag: 7, order, length: 100 };
        let received = |peer, order| Happening::Received { peer, tag: 7, order, length: 100 };
        let waits = Happening::Waits { kind: 1, word: 0, peer: -1, tag: 7 };
        let a = [
            (10, sent(0x80001, 0)),
            (20, sent(0x80001, 1)),
            (30, waits),
            (60, received(0x80001, 0)),
            (61, Happening::GoesOn),
        ];
        let b = [
            (15, waits),
            (40, received(0x40001, 0)),
            (41, Happening::GoesOn),
            (50, sent(0x40001, 0)),
            (70, waits),
        ];
        let c = [(80, Happening::GoesOn), (90, received(0x40001, 9))];
        let hosts = vec![
            host("alpha", 1, 0, vec![task(0x40001, "a</script>", 100, 0, &a)]),
            host("beta", 2, 5_000_000, vec![task(0x80001, "b", 90, 0, &b), task(0x80002, "c", 0, 55, &c)]),
        ];
        let killed = BTreeMap::from([(Tid(0x80001), 9)]);
        Story::of("ring", Parts { hosts, missing: vec!["nothing of gamma".into()] }, &killed)
    }

    #[test]
    fn message_ends_match_across_hosts() {
        let story = example();
        let ends = |message: &Message| (message.sent.map(|p| p.at), message.received.map(|p| p.at));
        let told: Vec<_> = story.messages.iter().map(|m| (m.from.0, m.to.0, ends(m))).collect();
        assert_eq!(
            told,
            [
                (0x40001, 0x80001, (Some(10), Some(40))),
                (0x40001, 0x80001, (Some(20), None)),
                (0x80001, 0x40001, (Some(50), Some(60))),
                (0x40001, 0x80002, (None, Some(90))),
            ]
        );
        assert_eq!(story.messages[0].sent, Some(Point { at: 10, next: 20 }));
        assert_eq!(story.messages[0].route.and_then(|route| story.route(route)), Some("tcp"));
    }

    #[test]
    fn story_cuts_wait_at_task_end_and_counts_drops() {
        let story = example();
        let waits = |at: usize| -> Vec<_> {
            story.tasks[at].waits.iter().map(|wait| (wait.from, wait.to, wait.is_cut)).collect()
        };
        assert_eq!(waits(0), [(30, 61, false)]);
        assert_eq!(waits(1), [(15, 41, false), (70, 90, true)]);
        assert_eq!(waits(2), [], "its beginning is not known");
        let c = &story.tasks[2];
        assert_eq!((c.dropped, c.known_from, c.is_there, c.ended), (55, 80, true, 10_000));
        let sums = story.sums();
        assert_eq!((sums[0].waiting, sums[0].sent, sums[0].received), (31, (2, 200), (1, 100)));
        assert_eq!((sums[1].waiting, sums[2].received), (46, (1, 100)));
        assert_eq!(story.end, 10_000);
    }

    #[test]
    fn wait_shows_word_of_its_interface() {
        let at = |at, word| (at, Happening::Waits { kind: 4, word, peer: -1, tag: 0 });
        let over = |at| (at, Happening::GoesOn);
        let what = [at(10, 0), over(11), at(20, 1), over(21), at(30, 2), over(31), at(40, 3), over(41)];
        let hosts = vec![host("alpha", 1, 0, vec![task(0x40001, "a", 100, 0, &what)])];
        let story = Story::of("words", Parts { hosts, missing: Vec::new() }, &BTreeMap::new());
        let waits = &story.tasks[0].waits;
        let told: Vec<_> = waits.iter().map(|wait| (story.call(wait), story.mark(wait))).collect();
        assert_eq!(told, [("wait", ""), ("shout", "far"), ("MPI_Barrier", ""), ("wait", "")]);
        assert_eq!(waits.iter().map(|wait| story.calls()[place(wait)]).nth(2), Some("MPI_Barrier"));
    }
}
