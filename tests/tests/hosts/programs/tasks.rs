//! Tasks of other hosts: started, listed, killed, heard, in groups.

use parvum_tests::bed::Bed;
use parvum_tests::eventually;

#[test]
fn tasks_start_on_wanted_hosts() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    for host in bed.hosts() {
        host.check("across", &["places"], "auto");
    }
}

#[test]
fn tasks_are_listed_and_killed_on_all_hosts() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    for host in bed.hosts() {
        host.check("across", &["tasks"], "auto");
        host.check("across", &["kill"], "auto");
    }
    bed[0].await_idle();
}

#[test]
fn ps_and_kill_reach_tasks_of_any_host() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    let mut watch = bed[0].start("across", &["watch"]);
    let mut tids = Vec::new();
    for host in bed.hosts() {
        let (name, tid) =
            watch.told("task").split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("two");
        assert_eq!(name, host.name);
        tids.push(tid.parse::<u32>().expect("a number"));
    }
    watch.told("watching");
    for host in bed.hosts() {
        let said = host.succeed(&["parvum", "ps"]);
        for tid in &tids {
            assert!(said.contains(&format!("t{tid:x} ")), "{tid:x} on {}: {said}", host.name);
        }
        eventually("three wait for a word, and one for all", || {
            host.succeed(&["parvum", "ps"]).matches("waiting").count() == 4
        });
    }
    bed[2].succeed(&["parvum", "kill", &format!("t{:x}", tids[1])]);
    assert_eq!(watch.told("exited"), tids[1].to_string());
    eventually("it is gone", || bed[1].processes("across").is_empty());
    watch.tell("end");
    watch.told("done");
    assert!(watch.end().success());
}

#[test]
fn task_output_reaches_the_starting_host() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    let said = bed[0].check("across", &["output"], "auto");
    for host in bed.hosts() {
        for line in [format!("from {}", host.name), format!("complaint of {}", host.name)] {
            assert_eq!(said.matches(&line).count(), 1, "{line}: {said}");
        }
    }
    // A runner has the output of its whole job, and the exit code.
    let program = parvum_tests::stage::program("across");
    let program = program.to_str().expect("plain");
    // How many each host gets depends on how busy it seems; no host is so busy that it is left out of so many.
    let said =
        bed[1].succeed(&["parvum", "run", "-n", "12", "sh", "-c", "echo here $(hostname); echo there >&2"]);
    let from = bed.hosts().iter().filter(|host| said.contains(&format!("here {}\n", host.name))).count();
    assert!(from >= 2, "{said}");
    assert_eq!(said.lines().count(), 12, "{said}");
    let failed = bed[0].parvum(&["run", "-n", "12", "sh", "-c", "test $(hostname) = alpha || exit 7"]);
    assert_eq!(failed.status.code(), Some(7), "{failed:?}");
    bed[0].succeed(&["parvum", "run", program, "places"]);
}

#[test]
fn groups_and_mailbox_work_across_hosts() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    for route in ["auto", "tcp", "routed"] {
        // The home of groups is one host; members may begin on any.
        bed[0].check("across", &["together"], route);
        bed[2].check("across", &["together"], route);
        bed[1].check("groups", &["5"], route);
    }
    bed[1].check("mailbox", &[], "auto");
}
