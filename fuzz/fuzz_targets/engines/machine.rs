//! What tasks ask of a daemon, what the daemons of other hosts say to it, and what they agree on and hand over: each
//! decoded as the daemon does, and given to its state.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_machine::state::{Channel, Config, Effect, Input, Limits, Machine};
use parvum_wire::Tid;
use parvum_wire::control::{Between, Call, ErrorKind, Failure, HostRecord, HostRow, Request, Role};
use std::collections::VecDeque;

const CHANNEL: Channel<u32> = Channel { page: 1, bell: 2, recording: None };

/// The machine, and the shell around it: it starts processes that are none.
struct Daemon {
    machine: Machine<u32>,
    now: u64,
    pids: u32,
}

impl Daemon {
    fn handle(&mut self, input: Input<u32>) {
        let mut effects: VecDeque<_> = self.machine.handle(self.now, input).into();
        while let Some(effect) = effects.pop_front() {
            let input = match effect {
                Effect::Spawn { tid, .. } => {
                    self.pids += 1;
                    // One in four does not start.
                    let refused = Failure::new(ErrorKind::System, "no luck");
                    let result =
                        if self.pids.is_multiple_of(4) { Err(refused) } else { Ok((self.pids, CHANNEL)) };
                    Input::Spawned { tid, result }
                }
                Effect::Listen(tid, route) => Input::Listening { tid, route, result: Ok(("10.0.0.1:1".to_owned(), 3)) },
                _ => continue,
            };
            effects.extend(self.machine.handle(self.now, input));
        }
    }

    fn call(&mut self, client: u64, call: Call) {
        let channel = self.machine.wants_channel(client, &call.request).then_some(CHANNEL);
        let pid = 100 + client as u32;
        self.handle(Input::Call { client, pid, call: Box::new(call), fds: vec![5], channel });
    }
}

fn host(number: u32) -> HostRecord {
    let tid = Tid::new(number, 0).expect("in range");
    let name = format!("h{number}");
    let row = HostRow { tid, name, arch: "LINUX64".to_owned(), speed: 1000, cpus: 2 };
    HostRecord { number, life: number.into(), row, addresses: vec![format!("10.0.0.{number}:9")] }
}

fn daemon(others: Vec<HostRecord>) -> Daemon {
    let mut last = 0u8;
    let entropy = move || {
        last = last.wrapping_add(1);
        [last; 16]
    };
    let config = Config {
        number: 1,
        life: 1,
        addresses: Vec::new(),
        hosts: others,
        host: "h1".to_owned(),
        arch: "LINUX64".to_owned(),
        cpus: 2,
        clock: Box::new(|| (1, 2)),
        encrypt: false,
        settings: Default::default(),
        entropy: Box::new(entropy),
        limits: Limits {
            tasks: 200,
            queued_events: 50,
            mailbox_bytes: 1 << 16,
            names_bytes: 1 << 16,
            watches: 200,
            groups: 40,
            contexts: 40,
        },
    };
    Daemon { machine: Machine::new(config), now: 1, pids: 1000 }
}

fuzz_target!(|input: &[u8]| {
    let Some((first, mut rest)) = input.split_first() else { return };
    let mut daemon = daemon(if first & 1 == 0 { Vec::new() } else { vec![host(2), host(3)] });
    for (client, role) in [(1, Role::Task), (2, Role::Task), (3, Role::Runner)] {
        let name = format!("client {client}");
        let request =
            Request::Enrol { role, pid: 100 + client as u32, name, ticket: None, release: String::new() };
        daemon.call(client, Call { id: 1, request });
    }
    // What is done, by whom, and how many bytes say it.
    while let Some(([what, who, length], behind)) = rest.split_first_chunk::<3>() {
        let (body, behind) = behind.split_at(behind.len().min(usize::from(*length)));
        rest = behind;
        daemon.now += 1 + u64::from(*who) * 1_000_000;
        let (client, peer) = (u64::from(who % 5), 2 + u32::from(who % 3));
        match what % 8 {
            0..3 => {
                if let Ok(call) = postcard::from_bytes(body) {
                    daemon.call(client, call);
                }
            }
            3..5 => {
                if let Ok(word) = postcard::from_bytes::<Between>(body) {
                    daemon.handle(Input::Heard { host: peer, word: Box::new(word) });
                }
            }
            5 => {
                if let Ok(change) = postcard::from_bytes(body) {
                    let (by, leader) = (u64::from(peer), u64::from(who / 64));
                    daemon.handle(Input::Agreed { by, leader, change: Box::new(change) });
                }
            }
            6 => daemon.handle(Input::Install(body.to_vec())),
            _ => daemon.handle(match who % 8 {
                0 => Input::Closed(client),
                1 => Input::HostLost(peer),
                2 => Input::HostFound(peer),
                3 => Input::Agreeing,
                4 => Input::Removed,
                _ => Input::Tick,
            }),
        }
    }
    daemon.machine.snapshot();
});
