//! Hosts that are lost, and those who are left.

use super::*;

#[test]
fn host_death_ends_its_tasks_and_notifies() {
    let mut several = Several::new(3);
    several.enrol(2, 5);
    let lost = several.enrol(3, 6);
    let host = lost.daemon();
    for (about, target, cookie) in [(Notice::TaskExit, lost, 1), (Notice::HostDelete, host, 2)] {
        several.call(2, 5, Request::Notify { about, targets: vec![target], count: 1, cookie });
    }
    several.call(2, 5, Request::Notify { about: Notice::HostAdd, targets: Vec::new(), count: -1, cookie: 3 });
    several.take(2, 5);
    several.kill(3);
    let mut told = several.take(2, 5);
    told.sort_by_key(|told| format!("{told:?}"));
    let notified = |cookie, about, tid| Heard::Event(Event::Notified { cookie, about, tid });
    assert_eq!(told, [notified(1, Notice::TaskExit, lost), notified(2, Notice::HostDelete, host)]);
    assert_eq!(several.names(2), ["here", "h2"]);
    // The next one has a number of its own.
    several.add("again");
    let next = Tid::new(4, 0).expect("in range");
    assert_eq!(several.take(2, 5), [notified(3, Notice::HostAdd, next)]);
}

#[test]
fn first_host_death_keeps_shared_state() {
    let mut several = Several::new(4);
    for host in 2..=4 {
        several.enrol(host, 5);
        several.call(host, 5, Request::Join { group: "g".into() });
        several.take(host, 5);
    }
    let (name, data): (String, Blob) = ("box".into(), "content".into());
    let put =
        Request::MailPut { name: name.clone(), index: None, flags: Default::default(), data: data.clone() };
    several.call(4, 5, put);
    several.take(4, 5);
    // Two wait already; the third comes when another keeps the barrier.
    for host in 2..=3 {
        several.call(host, 5, Request::Barrier { group: "g".into(), count: 3 });
    }
    several.kill(1);
    assert_eq!(several.names(4), ["h2", "h3", "h4"]);
    several.call(4, 5, Request::Barrier { group: "g".into(), count: 3 });
    for host in 2..=4 {
        assert_eq!(several.take(host, 5), done(), "host {host}");
    }
    several.call(3, 5, Request::MailGet { name, index: 0, first: false, take: false, wait: false });
    assert!(
        matches!(&several.take(3, 5)[..], [Heard::Reply(Ok(Reply::Mail { data: found, .. }))] if *found == data)
    );
    // And hosts can be added there.
    several.call(3, 5, Request::AddHosts { hosts: vec!["h9".into()] });
    assert!(several.names(4).contains(&"h9".to_owned()));
}

#[test]
fn request_during_leader_death_is_done_once() {
    let mut several = Several::new(3);
    several.enrol(2, 5);
    several.leader = None;
    several.call(2, 5, Request::Join { group: "g".into() });
    assert_eq!(several.take(2, 5), [], "nobody leads");
    several.kill(1);
    assert_eq!(several.take(2, 5), [Heard::Reply(Ok(Reply::Number(0)))]);
    several.call(2, 5, Request::GroupSize { group: "g".into() });
    assert_eq!(several.take(2, 5), [Heard::Reply(Ok(Reply::Number(1)))]);
}

#[test]
fn minority_changes_nothing_and_reports_it() {
    let mut several = Several::new(3);
    several.enrol(3, 5);
    several.call(3, 5, Request::Join { group: "g".into() });
    several.take(3, 5);
    several.leader = None;
    several.input(3, Input::Stands(Standing::Waiting));
    several.call(3, 5, Request::Join { group: "other".into() });
    assert_eq!(several.take(3, 5), [], "somebody may lead soon");
    several.input(3, Input::Stands(Standing::Minority));
    let is_refused =
        |told: &[Heard]| matches!(told, [Heard::Reply(Err(why))] if why.kind == ErrorKind::Minority);
    assert!(is_refused(&several.take(3, 5)));
    several.call(3, 5, Request::Leave { group: "g".into() });
    assert!(is_refused(&several.take(3, 5)));
    several.call(3, 5, Request::GroupSize { group: "g".into() });
    assert_eq!(several.take(3, 5), [Heard::Reply(Ok(Reply::Number(1)))], "it may be read");
}

#[test]
fn task_ended_in_minority_is_removed_after_heal() {
    let mut several = Several::new(3);
    let gone = several.enrol(3, 5);
    several.enrol(1, 6);
    several.call(3, 5, Request::Join { group: "g".into() });
    several.input(3, Input::Stands(Standing::Minority));
    several.input(3, Input::Closed(5));
    several.call(1, 6, Request::GroupMembers { group: "g".into() });
    assert_eq!(several.take(1, 6), [Heard::Reply(Ok(Reply::Members(vec![(0, gone)])))]);
    several.input(3, Input::Stands(Standing::Following(1)));
    several.call(1, 6, Request::GroupMembers { group: "g".into() });
    assert!(
        matches!(&several.take(1, 6)[..], [Heard::Reply(Err(why))] if why.kind == ErrorKind::NoSuchGroup)
    );
}

#[test]
fn leader_without_majority_removes_no_host() {
    let mut several = Several::new(3);
    several.input(1, Input::HostLost(2));
    several.input(1, Input::HostLost(3));
    several.input(1, Input::Stands(Standing::Waiting));
    several.pass_time(1, 300_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"]);
    several.input(1, Input::HostFound(3));
    several.input(1, Input::Stands(Standing::Leading));
    several.pass_time(1, 300_000_000);
    assert_eq!(several.names(1), ["here", "h3"]);
}

#[test]
fn younger_of_two_unreachable_hosts_is_removed() {
    let mut several = Several::new(4);
    several.input(4, Input::HostLost(2));
    several.input(2, Input::HostLost(4));
    for host in [2, 4] {
        several.pass_time(host, 600_000_000);
    }
    several.pass_time(1, 2_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"], "they may find each other again");
    several.pass_time(1, 2_000_000_000);
    assert_eq!(several.names(2), ["here", "h2", "h3"]);
}

#[test]
fn hosts_that_reconnect_in_time_stay() {
    let mut several = Several::new(3);
    several.input(3, Input::HostLost(2));
    several.pass_time(3, 600_000_000);
    several.pass_time(1, 1_000_000_000);
    several.input(3, Input::HostFound(2));
    several.pass_time(1, 10_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"]);
}

#[test]
fn resource_manager_survives_leader_death() {
    let mut several = Several::new(3);
    let manager = several.enrol(2, 5);
    several.enrol(3, 6);
    several.call(2, 5, Request::Register { part: parvum_wire::control::Part::Manager });
    assert!(several.take(3, 6).contains(&Heard::Event(Event::Manager(Some(manager)))));
    several.kill(1);
    several.call(3, 6, Request::Register { part: parvum_wire::control::Part::Manager });
    let told = several.take(3, 6);
    assert!(matches!(&told[..], [Heard::Reply(Err(why))] if why.kind == ErrorKind::PartTaken), "{told:?}");
    several.input(2, Input::Closed(5));
    assert_eq!(several.take(3, 6), [Heard::Event(Event::Manager(None))]);
}

#[test]
fn follower_does_not_report_what_leader_detects() {
    let mut several = Several::new(3);
    let follower = several.hosts.get_mut(&2).expect("alive");
    assert_eq!(follower.input(Input::HostLost(3)), []);
    follower.now += 500_000_000;
    let tells = Between::Silent { hosts: vec![3], silent: true };
    assert_eq!(
        follower.input(Input::Tick),
        [Effect::Say { host: 1, word: Box::new(tells) }],
        "it is still there"
    );
    let mut several = Several::new(4);
    several.kill(3);
    several.pass_time(2, 500_000_000);
    let silence = several.hosts.get_mut(&2).expect("alive").input(Input::Tick);
    assert_eq!(silence, [], "it is out");
}

#[test]
fn late_report_of_lost_host_does_not_remove_reporter() {
    let mut several = Several::new(4);
    several.kill(4);
    let late = Between::Silent { hosts: vec![4], silent: true };
    several.input(1, Input::Heard { host: 3, word: Box::new(late) });
    several.pass_time(1, 10_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"]);
}

#[test]
fn busy_host_waits_longer_before_removing_others() {
    let mut several = Several::new(3);
    several.input(1, Input::Late(1_000_000_000));
    several.input(1, Input::HostLost(3));
    several.pass_time(1, 3_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"], "it may be as slow as this one");
    // Said again, as it is as long as it does not answer, it makes the wait no longer.
    several.input(1, Input::HostLost(3));
    several.pass_time(1, 2_000_000_000);
    assert_eq!(several.names(1), ["here", "h2"]);
    several.input(1, Input::Late(0));
    several.input(1, Input::HostLost(2));
    several.pass_time(1, 300_000_000);
    assert_eq!(several.names(1), ["here"]);
}

#[test]
fn host_stopped_without_leader_is_not_removed_for_another() {
    let mut several = Several::new(4);
    several.input(1, Input::HostLost(2));
    several.input(4, Input::HostLost(2));
    several.input(1, Input::Stands(Standing::Minority));
    several.pass_time(4, 600_000_000);
    several.pass_time(1, 5_000_000_000);
    // It goes on, and is found by the one first, by the other a moment later.
    several.input(1, Input::HostFound(2));
    several.input(1, Input::Stands(Standing::Leading));
    several.pass_time(1, 300_000_000);
    several.input(4, Input::HostFound(2));
    several.pass_time(1, 10_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"]);
}

#[test]
fn host_that_nobody_reaches_is_removed_not_its_reporter() {
    let mut several = Several::new(4);
    several.input(1, Input::Late(10_000_000_000));
    several.input(1, Input::HostLost(2));
    several.input(4, Input::HostLost(2));
    several.pass_time(4, 600_000_000);
    several.input(1, Input::Late(0));
    several.pass_time(1, 9_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"], "the leader is patient with the silent one");
    several.pass_time(1, 2_000_000_000);
    assert_eq!(several.names(1), ["here", "h3", "h4"]);
}

#[test]
fn crowded_host_is_waited_for_longer() {
    let mut several = Several::new(4);
    for host in 1..=4 {
        several.input(host, Input::Voters(vec![1, 2, 3]));
    }
    several.input(3, Input::Load(100_000));
    several.input(1, Input::HostLost(3));
    several.pass_time(1, 2_900_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"], "it may be slow");
    several.input(1, Input::HostFound(3));
    several.pass_time(1, 10_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"]);
    several.input(1, Input::HostLost(4));
    several.pass_time(1, 300_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"], "others are not");
    several.input(1, Input::HostLost(3));
    several.pass_time(1, 3_300_000_000);
    assert_eq!(several.names(1), ["here", "h2"], "nor for ever");
}

#[test]
fn daemon_watches_its_neighbours_and_voters_watch_the_leader() {
    let mut several = Several::new(9);
    let watched = |several: &mut Several, host: u32| {
        several.hosts.get_mut(&host).expect("alive").machine.take_watched()
    };
    let of = |hosts: &[u32]| Some(hosts.iter().copied().collect());
    assert_eq!(watched(&mut several, 5), of(&[6, 7]));
    assert_eq!(watched(&mut several, 9), of(&[1, 2]), "the ring goes round");
    assert_eq!(watched(&mut several, 5), None, "nothing has changed");
    several.input(5, Input::Voters(vec![1, 3, 4]));
    assert_eq!(watched(&mut several, 5), None, "it does not vote");
    several.input(5, Input::Voters(vec![1, 5, 9]));
    assert_eq!(watched(&mut several, 5), of(&[1, 6, 7]));
    several.kill(6);
    assert_eq!(watched(&mut several, 5), of(&[1, 7, 8]));
}

#[test]
fn leader_hears_doubt_asks_the_doubtful_host_and_then_all() {
    let mut several = Several::new(5);
    several.input(4, Input::Voters(vec![1, 2, 3]));
    let follower = several.hosts.get_mut(&4).expect("alive");
    let doubt = Effect::Say { host: 1, word: Box::new(Between::Doubt(5)) };
    assert_eq!(follower.input(Input::HostDoubtful(5)), [doubt, Effect::Probe(vec![1, 2, 3])]);
    assert_eq!(follower.input(Input::HostDoubtful(77)), [], "it is not in the table");
    let leader = several.hosts.get_mut(&1).expect("alive");
    leader.now += 60_000_000_000;
    let said = Input::Heard { host: 4, word: Box::new(Between::Doubt(5)) };
    assert_eq!(leader.input(said), [Effect::Probe(vec![5])]);
    assert_eq!(leader.input(Input::HostDoubtful(5)), [Effect::Probe(vec![2, 3, 4, 5])]);
    assert_eq!(leader.input(Input::HostDoubtful(3)), [], "all have been asked just now");
    several.input(3, Input::Voters(vec![1, 2, 3]));
    let next = several.hosts.get_mut(&3).expect("alive");
    let passed = Effect::Say { host: 2, word: Box::new(Between::Doubt(1)) };
    assert_eq!(
        next.input(Input::HostDoubtful(1)),
        [passed, Effect::Probe(vec![1, 2, 4, 5])],
        "it may lead next"
    );
}

/// The hosts of a rack may be cut off together, and a voter from the leader alone.
#[test]
fn doubt_about_voter_reaches_hosts_that_would_not_notice() {
    let mut several = Several::new(9);
    (1..=9).for_each(|host| several.input(host, Input::Voters(vec![1, 2, 3])));
    let say = |host, word| Effect::Say { host, word: Box::new(word) };
    let hear = |host, word| Input::Heard { host, word: Box::new(word) };
    let host = several.hosts.get_mut(&7).expect("alive");
    host.now += 60_000_000_000;
    let doubt = |host| say(host, Between::Doubt(2));
    assert_eq!(host.input(Input::HostDoubtful(2)), [doubt(5), doubt(6), doubt(1), Effect::Probe(vec![1, 3])]);
    let rarely = [say(1, Between::Doubt(3)), Effect::Probe(vec![1, 2])];
    assert_eq!(host.input(Input::HostDoubtful(3)), rarely);
    let before = several.hosts.get_mut(&5).expect("alive");
    assert_eq!(before.input(hear(7, Between::Doubt(2))), [Effect::Probe(vec![1, 2, 3])]);
    assert_eq!(before.input(hear(7, Between::Doubt(8))), []);
    // The leader still reaches this voter, which tells it about the other.
    let voter = several.hosts.get_mut(&2).expect("alive");
    assert_eq!(
        voter.input(hear(3, Between::Doubt(1))),
        [say(1, Between::Doubt(3)), Effect::Probe(vec![1])],
        "it asks the other voters, without host 3"
    );
}
