//! What two pictures of the machine say together: rates.

use crate::look::task;
use crate::look::views::{briefly, describe};
use parvum_control::{SENT_OVER, Times};
use parvum_wire::control::{HostRow, TaskRow};
use parvum_wire::{Counter, Tid};
use std::collections::BTreeMap;
use std::time::Duration;

/// The machine at one instant.
#[derive(Clone, Default)]
pub struct Picture {
    /// Its hosts.
    pub hosts: Vec<HostRow>,
    /// How busy they have said that they are, in hundredths of a processor.
    pub loads: Vec<(Tid, u32)>,
    /// Its tasks, with what their pages say.
    pub tasks: Vec<TaskRow>,
}

/// A line about a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostLine {
    pub name: String,
    pub cpus: u32,
    /// Of all its processors; `None` when it has not said yet.
    pub load: Option<f64>,
    pub tasks: usize,
    /// Bytes of its tasks.
    pub memory: u64,
}

/// A line about a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskLine {
    pub tid: Tid,
    pub name: String,
    pub host: String,
    /// Messages and bytes a second.
    pub sent: (f64, f64),
    pub arrived: (f64, f64),
    /// Messages here that no receive has taken, and sends that have not left.
    pub queued: (u64, u64),
    /// Parts of a hundred of the time between the pictures.
    pub cpu: f64,
    pub waiting: f64,
    pub communicating: f64,
    pub memory: u64,
    /// Over which routes it has sent, ever.
    pub routes: String,
    pub state: String,
    /// The same in few words.
    pub brief: String,
}

/// What to sort tasks by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Tid,
    Messages,
    Bytes,
    Waiting,
    Memory,
}

impl Order {
    /// The next one, round and round.
    pub fn next(self) -> Order {
        match self {
            Order::Tid => Order::Messages,
            Order::Messages => Order::Bytes,
            Order::Bytes => Order::Waiting,
            Order::Waiting => Order::Memory,
            Order::Memory => Order::Tid,
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Order::Tid => "task",
            Order::Messages => "messages",
            Order::Bytes => "bytes",
            Order::Waiting => "waiting",
            Order::Memory => "memory",
        }
    }
}

/// The hosts.
pub fn hosts(now: &Picture) -> Vec<HostLine> {
    let line = |host: &HostRow| {
        let tasks = now.tasks.iter().filter(|task| task.host == host.tid);
        let load = now.loads.iter().find(|(tid, _)| *tid == host.tid);
        HostLine {
            name: host.name.clone(),
            cpus: host.cpus,
            load: load.map(|(_, load)| f64::from(*load) / 100.0),
            tasks: tasks.clone().count(),
            memory: tasks.filter_map(|task| task.sight.as_ref()).map(|sight| sight.memory).sum(),
        }
    };
    now.hosts.iter().map(line).collect()
}

/// The tasks, with rates over the time between the pictures.
pub fn tasks(before: &Picture, now: &Picture, apart: Duration, order: Order) -> Vec<TaskLine> {
    let known: BTreeMap<Tid, &TaskRow> = before.tasks.iter().map(|row| (row.tid, row)).collect();
    let line = |row: &TaskRow| {
        // An id may have been given to another task meanwhile.
        let old = known.get(&row.tid).copied().filter(|old| old.pid == row.pid);
        task(old, row, apart, &now.hosts)
    };
    let mut lines: Vec<TaskLine> = now.tasks.iter().map(line).collect();
    let greatest_first =
        |key: fn(&TaskLine) -> f64| move |a: &TaskLine, b: &TaskLine| key(b).total_cmp(&key(a));
    match order {
        Order::Tid => lines.sort_by_key(|line| line.tid),
        Order::Messages => lines.sort_by(greatest_first(|line| line.sent.0 + line.arrived.0)),
        Order::Bytes => lines.sort_by(greatest_first(|line| line.sent.1 + line.arrived.1)),
        Order::Waiting => lines.sort_by(greatest_first(|line| line.waiting)),
        Order::Memory => lines.sort_by(greatest_first(|line| line.memory as f64)),
    }
    lines
}

fn task(old: Option<&TaskRow>, row: &TaskRow, apart: Duration, hosts: &[HostRow]) -> TaskLine {
    let seconds = apart.as_secs_f64().max(1e-3);
    let at = |row: &TaskRow, place: usize| row.counters.get(place).copied().unwrap_or(0);
    let rate = |places: &[usize]| {
        let sum = |row: &TaskRow| places.iter().map(|place| at(row, *place)).sum::<u64>();
        old.map_or(0.0, |old| sum(row).saturating_sub(sum(old)) as f64 / seconds)
    };
    let times = |row: &TaskRow| row.sight.as_ref().map_or(Times::default(), |sight| task::times(row, sight));
    let part = |of: fn(&Times) -> u64| {
        let spent = old.map_or(0, |old| of(&times(row)).saturating_sub(of(&times(old))));
        (spent as f64 / (seconds * 1e9) * 100.0).min(100.0)
    };
    let cpu = |row: &TaskRow| row.sight.as_ref().map_or(0, |sight| sight.cpu);
    let used = old.map_or(0, |old| cpu(row).saturating_sub(cpu(old)));
    let names = row.sight.iter().flat_map(|sight| &sight.routes).enumerate();
    let routes = names.filter(|(route, name)| !name.is_empty() && at(row, SENT_OVER + route) > 0);
    TaskLine {
        tid: row.tid,
        name: row.name.clone(),
        host: hosts.iter().find(|host| host.tid == row.host).map_or("?".into(), |host| host.name.clone()),
        sent: (rate(&[Counter::Sent as usize]), rate(&[Counter::SentBytes as usize])),
        arrived: (
            rate(&[Counter::Expected as usize, Counter::Unexpected as usize]),
            rate(&[Counter::ArrivedBytes as usize]),
        ),
        queued: (at(row, Counter::WaitingMessages as usize), at(row, Counter::WaitingSends as usize)),
        cpu: used as f64 / (seconds * 1e9) * 100.0,
        waiting: part(|times| times.waiting),
        communicating: part(|times| times.communicating),
        memory: row.sight.as_ref().map_or(0, |sight| sight.memory),
        routes: routes.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(" "),
        state: describe(row),
        brief: briefly(row),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use parvum_wire::control::{Sight, TaskState};

    pub fn picture(tasks: &[(i32, u64)], age: u64) -> Picture {
        let host = Tid::new(1, 0).expect("in range");
        let row = |&(tid, sent): &(i32, u64)| {
            let mut counters = vec![0; SENT_OVER + 8];
            counters[Counter::Sent as usize] = sent;
            counters[Counter::SentBytes as usize] = sent * 8;
            counters[Counter::Asleep as usize] = age / 4;
            counters[SENT_OVER + 1] = sent;
            TaskRow {
                tid: Tid(tid),
                parent: None,
                host,
                pid: tid as u32,
                name: "ring".into(),
                flag: 0,
                state: TaskState::Enrolled,
                waits: None,
                counters,
                spawned: true,
                held: false,
                rank: None,
                sight: Some(Box::new(Sight {
                    age,
                    memory: 1 << 20,
                    cpu: age / 2,
                    routes: ["itself", "shm"].map(String::from).to_vec(),
                    ..Sight::default()
                })),
            }
        };
        let (name, arch) = ("alpha".into(), "LINUX64".into());
        Picture {
            hosts: vec![HostRow { tid: host, name, arch, speed: 1000, cpus: 2 }],
            loads: vec![(host, 150)],
            tasks: tasks.iter().map(row).collect(),
        }
    }

    #[test]
    fn rates_come_from_two_snapshots() {
        let second = 1_000_000_000;
        let before = picture(&[(0x40001, 100), (0x40002, 0)], second);
        let now = picture(&[(0x40001, 300), (0x40002, 4000), (0x40003, 9)], 3 * second);
        let lines = tasks(&before, &now, Duration::from_secs(2), Order::Tid);
        assert_eq!(lines[0].sent, (100.0, 800.0));
        assert_eq!((lines[0].cpu, lines[0].waiting), (50.0, 25.0));
        assert_eq!(lines[0].routes, "shm");
        assert_eq!(lines[2].sent, (0.0, 0.0), "it is new: no rate yet");
        let lines = tasks(&before, &now, Duration::from_secs(2), Order::Messages);
        assert_eq!(lines[0].tid, Tid(0x40002));
        let host = hosts(&now);
        assert_eq!((host[0].load, host[0].tasks, host[0].memory), (Some(1.5), 3, 3 << 20));
    }

    #[test]
    fn top_treats_reused_task_id_as_new_task() {
        let before = picture(&[(0x40001, 100)], 5);
        let mut now = picture(&[(0x40001, 300)], 9);
        now.tasks[0].pid = 77;
        assert_eq!(tasks(&before, &now, Duration::from_secs(1), Order::Tid)[0].sent, (0.0, 0.0));
    }
}
