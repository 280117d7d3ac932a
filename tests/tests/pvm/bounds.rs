//! Memory: a fast sender is slowed, and nobody's memory passes its stated bound. And the processor: who only waits sleeps.
//!
//! 10 GB are offered over shm in large messages; over the slower routes less, unless `PARVUM_LONG`
//! is set.

use parvum_tests::running::{Running, asleep, found_asleep, status_kib};
use parvum_tests::{TestMachine, eventually};

const MIB: u64 = 1 << 20;
/// A task's own cost, and that of each peer, in bytes.
const OWN: u64 = 8 * MIB;
const EACH_PEER: u64 = 256 << 10;

/// Most memory that the process ever had, its program files apart.
fn most(pid: u32) -> u64 {
    1024 * (status_kib(pid, "VmHWM") - status_kib(pid, "RssFile"))
}

/// Memory of its own that the process has now.
fn own(pid: u32) -> u64 {
    1024 * (status_kib(pid, "RssAnon") + status_kib(pid, "RssShmem"))
}

/// Offers `total` bytes in messages of `size` to a receiver that takes them in bursts.
fn flood(route: &str, size: u64, total: u64, credit: u64, single_copy: &str) {
    let machine = TestMachine::up();
    let count = total.div_ceil(size).to_string();
    let start = |args: &[&str]| {
        let mut command = machine.program("actor");
        command.args(args).env("PARVUM_ROUTE", route).env("PARVUM_SINGLE_COPY", single_copy);
        let mut running = Running::start(command.env("PARVUM_CREDIT", credit.to_string()));
        let tid = running.told("tid");
        (running, tid)
    };
    let (mut receiver, tid) = start(&["drain", "-1", &count, "100"]);
    let (mut sender, _) = start(&["stream", &tid, &size.to_string(), &count]);
    // Nobody receives yet: the sender comes to a stop.
    eventually("the sender is stopped", || asleep(sender.pid()));
    receiver.tell("begin");
    sender.told("streaming");
    assert_eq!(receiver.told("info"), "0");
    assert_eq!(sender.told("sent"), count);
    let bound = credit + OWN + EACH_PEER + size;
    let what = format!("messages of {size} over {route}, single copy {single_copy}");
    for (who, pid) in [("receiver", receiver.pid()), ("daemon", machine.daemon_pid())] {
        let most = most(pid);
        eprintln!("{what}: {who} {} of {} KiB", most >> 10, bound >> 10);
        assert!(most <= bound, "{what}: the {who} had {most} bytes, more than {bound}");
    }
    // The program's own copy of its message is not ours.
    let most = most(sender.pid()).saturating_sub(size);
    eprintln!("{what}: sender {} of {} KiB", most >> 10, bound >> 10);
    assert!(most <= bound, "{what}: the sender had {most} bytes, more than {bound}");
    receiver.tell("end");
    sender.tell("end");
    assert!(receiver.end().success() && sender.end().success());
}

fn offered(usually: u64) -> u64 {
    if std::env::var_os("PARVUM_LONG").is_some() { 10_000_000_000 } else { usually }
}

#[test]
fn shm_flood_of_ten_gigabytes_stays_in_bounds() {
    flood("shm", 4 * MIB, 10_000_000_000, 64 * MIB, "on");
}

#[test]
fn pipelined_large_messages_stay_in_bounds() {
    flood("shm", MIB, offered(1_000_000_000), 16 * MIB, "off");
}

#[test]
fn short_messages_over_shm_stay_in_bounds() {
    flood("shm", 4000, 300_000_000, 4 * MIB, "on");
}

#[test]
fn tcp_flood_stays_in_bounds() {
    flood("tcp", MIB, offered(1_000_000_000), 16 * MIB, "on");
    flood("tcp", 4000, 100_000_000, 4 * MIB, "on");
}

#[test]
fn routed_flood_stays_in_bounds() {
    flood("routed", MIB, offered(500_000_000), 16 * MIB, "on");
    flood("routed", 4000, 50_000_000, 4 * MIB, "on");
}

#[test]
fn task_memory_is_small_and_grows_little_per_peer() {
    let machine = TestMachine::up();
    for route in ["shm", "tcp", "routed"] {
        let mut idle = Running::start(machine.program("actor").arg("stay").env("PARVUM_ROUTE", route));
        idle.told("tid");
        let alone = own(idle.pid());
        assert!(alone <= OWN, "{alone} bytes alone");
        idle.tell("end");
        assert!(idle.end().success());
        for peers in [1, 16] {
            let count = peers.to_string();
            let mut command = machine.program("actor");
            let mut talker = Running::start(command.args(["talk", &count]).env("PARVUM_ROUTE", route));
            talker.told("talked");
            let cost = own(talker.pid());
            eprintln!("{route}: {} KiB alone, {} KiB with {peers} peers", alone >> 10, cost >> 10);
            assert!(cost <= OWN + peers * EACH_PEER, "{cost} bytes with {peers} peers over {route}");
            talker.tell("end");
            assert!(talker.end().success());
        }
    }
}

#[test]
fn idle_pair_shares_little_memory() {
    let machine = TestMachine::up();
    let said = machine.check(machine.program("idle").env("PARVUM_ROUTE", "shm"));
    eprintln!("bytes of a pair: {said}");
}

/// Twice as many as there are cores and one more, so that no core is left to take one of them away from the others.
#[test]
fn waiting_tasks_sleep_even_beyond_core_count() {
    let machine = TestMachine::up();
    let count = 2 * std::thread::available_parallelism().map_or(1, usize::from) + 2;
    let mut first = Running::start(machine.program("waiters").arg(count.to_string()));
    first.told("wait");
    let waiting: Vec<u32> =
        machine.tasks().iter().map(|task| task.pid).filter(|pid| *pid != first.pid()).collect();
    assert_eq!(waiting.len(), count - 1);
    eventually("they all sleep", || waiting.iter().all(|pid| asleep(*pid)));
    let found = found_asleep(&waiting);
    assert!(found >= 80, "they were found all asleep {found} of 100 times");
    first.tell("end");
    assert!(first.end().success());
}
