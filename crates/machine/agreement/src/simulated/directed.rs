//! What must happen in one case or another.

use super::world::World;
use crate::Standing;
use tokio::task::LocalSet;

/// Runs a test of a world in paused time.
fn simulate(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    LocalSet::new().block_on(&runtime.expect("a runtime"), test);
}

#[test]
fn hosts_apply_same_entries_in_same_order() {
    simulate(async {
        let world = World::of(1, 4).await;
        for round in 0..20 {
            for host in 1..=4 {
                world.node(host).say(format!("{host}.{round}"));
            }
        }
        world.pass(1000).await;
        world.check_whole();
        assert_eq!(world.node(4).list.borrow().len(), 1 + 3 + 80);
        assert_eq!(world.node(4).list.borrow()[0], "before", "what was there before the others came");
    });
}

#[test]
fn hosts_send_nothing_when_idle() {
    simulate(async {
        let world = World::of(2, 3).await;
        world.node(2).say("x".into());
        world.pass(60_000).await;
        let before = world.net.borrow().dice_thrown();
        world.pass(3_600_000).await;
        assert_eq!(world.net.borrow().dice_thrown(), before, "each message throws the dice");
    });
}

#[test]
fn dead_leader_is_replaced() {
    for seed in 0..20 {
        simulate(async move {
            let world = World::of(seed, 3).await;
            // Under way when the leader dies.
            for host in 1..=3 {
                world.node(host).say(format!("{host}"));
            }
            world.pass(seed).await;
            world.kill(1);
            world.pass(1500).await;
            let leader = world.leader().expect("somebody leads");
            assert_eq!(leader.members.borrow().len(), 2);
            world.node(2).say("after".into());
            world.pass(1000).await;
            world.check_whole();
            let list = world.node(3).list.borrow().clone();
            assert!(["2", "3", "after"].iter().all(|text| list.contains(&(*text).into())), "{list:?}");
        });
    }
}

#[test]
fn minority_agrees_on_nothing_and_reports_it() {
    simulate(async {
        let world = World::of(3, 5).await;
        world.cut_off(&[1, 2]);
        world.node(1).say("by the old leader".into());
        world.node(2).say("by its follower".into());
        world.pass(5000).await;
        for host in [1, 2] {
            assert_eq!(world.node(host).standing.get(), Standing::Minority);
            assert_eq!(world.node(host).members.borrow().len(), 5);
        }
        let leader = world.leader().expect("the others go on");
        assert_eq!(leader.members.borrow().len(), 3);
        leader.say("by the others".into());
        world.pass(1000).await;
        world.check_order();
        world.heal().await;
        world.pass(5000).await;
        assert_eq!(world.alive(), [3, 4, 5], "the others have gone on without them");
        world.check_whole();
        assert!(!world.seen.borrow().contains("by the old leader"));
    });
}

#[test]
fn second_of_two_hosts_stops_and_first_continues() {
    simulate(async {
        let world = World::of(4, 2).await;
        world.cut(1, 2);
        world.pass(5000).await;
        assert_eq!(world.node(1).standing.get(), Standing::Leading);
        assert_eq!(world.node(1).members.borrow().len(), 1);
        assert_eq!(world.node(2).standing.get(), Standing::Minority);
    });
}

#[test]
fn cut_between_two_followers_changes_nothing() {
    simulate(async {
        let world = World::of(5, 3).await;
        world.cut(2, 3);
        world.pass(5000).await;
        world.node(3).say("x".into());
        world.pass(500).await;
        assert_eq!(world.leader().expect("as before").me.host, 1);
        world.check_whole();
    });
}

#[test]
fn follower_that_lost_leader_alone_does_not_replace_leader() {
    simulate(async {
        let world = World::of(6, 5).await;
        world.cut(1, 3);
        world.pass(5000).await;
        assert_eq!(world.leader().expect("as before").me.host, 1);
        assert_eq!(world.alive(), [1, 2, 4, 5], "one is out, and hears it from the others");
    });
}

#[test]
fn late_host_gets_whole_state_and_log_stays_short() {
    simulate(async {
        let world = World::of(7, 3).await;
        for number in 0..6000 {
            world.node(2).say(format!("{number}"));
            if number % 200 == 0 {
                world.pass(200).await;
            }
        }
        world.pass(5000).await;
        let late = world.come();
        world.pass(3000).await;
        assert_eq!(world.node(late).list.borrow().len(), world.node(1).list.borrow().len());
        world.check_whole();
    });
}

#[test]
fn entry_longer_than_any_message_arrives() {
    simulate(async {
        let world = World::of(8, 3).await;
        world.node(3).say("x".repeat(5 << 20));
        world.pass(2000).await;
        world.check_whole();
        assert_eq!(world.node(1).list.borrow().last().map(String::len), Some(5 << 20));
    });
}

#[test]
fn hosts_may_all_be_removed_but_one() {
    simulate(async {
        let world = World::of(9, 4).await;
        for host in 2..=4 {
            world.node(4).say(format!("-{host}"));
        }
        world.pass(5000).await;
        assert_eq!(world.alive(), [1]);
        assert_eq!(world.node(1).standing.get(), Standing::Leading);
    });
}

#[test]
fn leader_may_be_removed() {
    for count in [2, 3, 4, 7] {
        simulate(async move {
            let world = World::of(10, count).await;
            while world.alive().len() > 1 {
                let leader = world.leader().expect("somebody leads").me.host;
                // By another, and the second time by itself; meanwhile the others go on.
                let last = *world.alive().iter().rfind(|host| **host != leader).expect("two are left");
                let by = if leader == 1 { last } else { leader };
                world.node(by).say(format!("~{leader}"));
                world.node(last).say(format!("while {leader} goes"));
                world.pass(1000).await;
                assert!(!world.alive().contains(&leader), "{leader} of {count} has heard that it is out");
                world.node(last).say(format!("after {leader}"));
                world.pass(1000).await;
                world.check_whole();
            }
            let last = world.leader().expect("somebody leads");
            assert_eq!(last.members.borrow().len(), 1);
            assert!(!last.was_minority.get());
        });
    }
}

#[test]
fn new_leader_resends_nothing_that_all_have() {
    simulate(async {
        let world = World::of(3, 5).await;
        for at in 0..40 {
            world.node(2).say(format!("{at}{}", "x".repeat(1000)));
        }
        world.pass(2000).await;
        world.check_whole();
        let before = world.net.borrow().bytes;
        world.kill(1);
        world.pass(5000).await;
        world.check_whole();
        assert_eq!(world.leader().expect("somebody leads").members.borrow().len(), 4);
        let sent = world.net.borrow().bytes - before;
        assert!(sent < 20_000, "{sent} bytes, and the log has 40 thousand for each of three");
    });
}

#[test]
fn host_that_lost_leader_before_joining_is_in_minority() {
    simulate(async {
        let world = World::of(11, 1).await;
        // More than is sent at once, all of it agreed before the one was there that leads in the end.
        for number in 0..400 {
            world.node(1).say(format!("{number}"));
        }
        world.pass(2000).await;
        for _ in 0..3 {
            world.come();
            world.pass(2000).await;
        }
        world.kill(1);
        world.pass(2000).await;
        let leader = world.leader().expect("somebody leads").me.host;
        let late = world.come();
        let read = || world.node(late).list.borrow().len();
        while read() == 0 {
            world.pass(1).await;
        }
        assert!(read() < 400, "{} are read", read());
        assert!(world.node(late).members.borrow().iter().all(|member| member.host != leader));
        world.cut_off(&[late]);
        world.pass(5000).await;
        assert_eq!(world.node(late).standing.get(), Standing::Minority);
    });
}
