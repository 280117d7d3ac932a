//! Hosts that are lost: cut off, switched off, their daemons killed.

use crate::machine::notices::{await_lines, host_of, told, watch};
use parvum_tests::bed::{Bed, Host};
use parvum_tests::eventually;

/// Loses beta in some way: the others know, and the tasks of others are told, once.
fn lost(lose: impl Fn(&Host)) -> Option<Bed> {
    let bed = Bed::of(3)?;
    bed.join_all();
    // Somebody who is not on the first host watches as well.
    let (mut first, tids) = watch(&bed[0], 3);
    let (mut third, other) = watch(&bed[2], 3);
    lose(&bed[1]);
    let gone = host_of(tids["beta"]);
    let news = |tid: u32| [format!("exited {tid}"), format!("ended {tid}"), format!("deleted {gone}")];
    await_lines(&mut first, &news(tids["beta"]));
    await_lines(&mut third, &news(other["beta"]));
    bed[0].await_hosts(&["alpha", "gamma"]);
    bed[2].await_hosts(&["alpha", "gamma"]);
    for (running, tids) in [(first, tids), (third, other)] {
        let counts = told(running);
        assert_eq!(counts[&format!("exited {}", tids["beta"])], 1, "{counts:?}");
        assert_eq!(counts[&format!("deleted {gone}")], 1, "{counts:?}");
        assert!(!counts.contains_key(&format!("exited {}", tids["alpha"])), "{counts:?}");
    }
    // Who is left works on.
    bed[0].check("across", &["ring"], "routed");
    bed[2].check("across", &["together"], "auto");
    bed[0].await_idle();
    Some(bed)
}

/// It may come back, as another.
fn comes_back(bed: &Bed) {
    bed[0].add(&["beta"]);
    for host in bed.hosts() {
        host.await_hosts(&["alpha", "beta", "gamma"]);
    }
    bed[0].check("across", &["places"], "auto");
}

#[test]
fn cut_off_host_is_removed_and_its_daemon_ends() {
    let Some(bed) = lost(Host::cut_off) else { return };
    // Over there it is the smaller part, and keeps still. When it reaches the others again it hears that they
    // have gone on without it, and its daemon ends.
    assert_eq!(bed[1].knows(), ["alpha", "beta", "gamma"]);
    bed[1].reconnect();
    eventually("its daemon has ended", || bed[1].daemon().is_none());
    comes_back(&bed);
}

/// The end of its tasks' output never comes.
#[test]
fn task_exits_despite_caught_output_on_lost_host() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    let said = bed[0].check("caught", &["beta"], "auto");
    assert!(said.contains("has left"), "{said}");
    bed[0].await_idle();
}

#[test]
fn unplugged_host_is_removed() {
    lost(Host::unplug);
}

#[test]
fn crashed_host_is_removed_and_comes_back() {
    let Some(bed) = lost(Host::crash) else { return };
    bed[1].boot().expect("as the first time");
    comes_back(&bed);
}

#[test]
fn host_with_killed_daemon_is_removed() {
    let Some(bed) = lost(Host::kill_daemon) else { return };
    // Its tasks go with it, and the keeper tidies up.
    eventually("its tasks have ended", || bed[1].processes("across").is_empty());
    comes_back(&bed);
}

#[test]
fn host_with_all_processes_killed_is_removed() {
    let Some(bed) = lost(Host::kill_all) else { return };
    comes_back(&bed);
}

#[test]
fn receive_from_task_of_lost_host_returns() {
    for route in ["tcp", "routed"] {
        let Some(bed) = Bed::of(2) else { return };
        bed.join_all();
        let mut sender = bed[1].start("actor", &["stay"]);
        let tid = sender.told("tid");
        let mut command = bed[0].program("actor");
        let mut waiting =
            parvum_tests::running::Running::start(command.args(["receive", &tid]).env("PARVUM_ROUTE", route));
        waiting.told("tid");
        bed[1].cut_off();
        assert_eq!(waiting.told("info"), "-31", "PvmNoTask");
        assert!(waiting.end().success());
        drop(sender);
    }
}

#[test]
fn sender_to_lost_host_is_not_blocked() {
    for route in ["tcp", "routed"] {
        let Some(bed) = Bed::of(2) else { return };
        bed.join_all();
        let mut receiver = bed[1].start("actor", &["stay"]);
        let tid = receiver.told("tid");
        let mut command = bed[0].program("actor");
        let mut sender = parvum_tests::running::Running::start(
            command.args(["stream", &tid, "100000", "2000"]).env("PARVUM_ROUTE", route),
        );
        sender.told("streaming");
        bed[1].cut_off();
        // All are sent, into the void; or the call says that the task is gone.
        sender.told("sent");
        sender.tell("end");
        assert!(sender.end().success());
        drop(receiver);
    }
}

#[test]
fn waiter_for_lost_host_sleeps() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    let tcp = |host: &Host, words: &[&str]| {
        let mut command = host.program("actor");
        parvum_tests::running::Running::start(command.args(words).env("PARVUM_ROUTE", "tcp"))
    };
    let mut receiver = tcp(&bed[0], &["drain", "0", "2", "100"]);
    let tid = receiver.told("tid");
    receiver.tell("begin");
    let mut sender = tcp(&bed[1], &["stream", &tid, "10", "1"]);
    sender.told("sent");
    let pid = bed[0].processes("actor drain").into_iter().max().expect("it runs");
    eventually("it waits for more", || parvum_tests::running::asleep(pid));
    // The kernel ends its connections at once; the daemons notice later.
    bed[1].kill_all();
    let asleep = parvum_tests::running::found_asleep(&[pid]);
    assert!(asleep >= 80, "it was found asleep {asleep} of 100 times");
    receiver.kill();
}

#[test]
fn machine_stays_consistent_after_cut_between_two_hosts() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    bed[1].check("across", &["places"], "auto");
    // One of the two must go, or be reached by another way; the machine is one.
    parvum_tests::bed::cut_between(&bed[1], &bed[2]);
    eventually("all that are left agree", || {
        let (home, others) = (bed[0].knows(), [bed[1].knows(), bed[2].knows()]);
        home.len() == 2 && others.iter().all(|known| *known == home || !known.contains(&"alpha".to_owned()))
    });
    bed[0].check("across", &["ring"], "routed");
}

/// The first host dies: the majority goes on.
#[test]
fn majority_continues_when_first_host_is_lost() {
    for lose in [Host::kill_daemon, Host::cut_off] {
        let Some(bed) = Bed::of(3) else { return };
        bed.join_all();
        let (mut watch, tids) = watch(&bed[1], 3);
        lose(&bed[0]);
        let gone = host_of(tids["alpha"]);
        await_lines(&mut watch, &[format!("exited {}", tids["alpha"]), format!("deleted {gone}")]);
        bed[1].await_hosts(&["beta", "gamma"]);
        bed[2].await_hosts(&["beta", "gamma"]);
        let counts = told(watch);
        assert_eq!(counts[&format!("deleted {gone}")], 1, "{counts:?}");
        bed[1].check("across", &["ring"], "routed");
        bed[2].check("across", &["together"], "auto");
    }
}
