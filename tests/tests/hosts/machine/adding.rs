//! Hosts come, go, and come again.

use crate::machine::notices::{await_lines, host_of, told, watch};
use parvum_tests::bed::Bed;
use parvum_tests::eventually;

/// The ids of the hosts, as one of them lists them.
fn ids(host: &parvum_tests::bed::Host) -> Vec<String> {
    let said = host.succeed(&["parvum", "hosts"]);
    said.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)).map(str::to_owned).collect()
}

#[test]
fn added_host_is_known_to_both_hosts() {
    let Some(bed) = Bed::of(2) else { return };
    let said = bed[0].succeed(&["parvum", "add", "beta"]);
    assert_eq!(said, "beta is in the machine as t80000\n");
    bed[0].await_hosts(&["alpha", "beta"]);
    bed[1].await_hosts(&["alpha", "beta"]);
    assert_eq!(ids(&bed[0]), ids(&bed[1]));
}

#[test]
fn hosts_are_added_in_parallel_and_by_other_hosts() {
    let Some(bed) = Bed::of(5) else { return };
    bed[0].add(&["beta", "gamma", "delta"]);
    for host in &bed.hosts()[..4] {
        host.await_hosts(&["alpha", "beta", "gamma", "delta"]);
    }
    bed[2].add(&["epsilon"]);
    for host in bed.hosts() {
        host.await_hosts(&["alpha", "beta", "gamma", "delta", "epsilon"]);
    }
    // Each reaches each, also those that have not talked yet.
    for host in bed.hosts() {
        host.check("across", &["places"], "auto");
    }
}

#[test]
fn ssh_starts_daemons() {
    let Some(bed) = Bed::over_ssh(3) else { return };
    bed[0].add(&["beta", "gamma"]);
    for host in bed.hosts() {
        host.await_hosts(&["alpha", "beta", "gamma"]);
    }
    // The connection has served its purpose.
    for host in bed.hosts() {
        eventually("no ssh is left", || host.processes("BatchMode").is_empty());
    }
    bed[0].check("across", &["places"], "auto");
}

#[test]
fn removed_host_ends_its_tasks() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    let mut watch = bed[0].start("across", &["watch"]);
    watch.told("watching");
    bed[0].succeed(&["parvum", "remove", "beta"]);
    bed[0].await_hosts(&["alpha", "gamma"]);
    bed[2].await_hosts(&["alpha", "gamma"]);
    watch.told("deleted");
    eventually("the daemon has ended", || bed[1].daemon().is_none());
    eventually("its tasks have ended", || bed[1].processes("across").is_empty());
    assert!(!bed[1].folder.join("pv").exists());
    watch.tell("end");
    watch.told("done");
    assert!(watch.end().success());
}

#[test]
fn host_is_added_again_while_old_daemon_ends() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    // Its number is one of its host's, which has a process tree of its own.
    let daemon = bed[1].daemon().expect("it serves").to_string();
    // It hears late that its host was removed.
    bed[1].succeed(&["kill", "-STOP", &daemon]);
    bed[0].succeed(&["parvum", "remove", "beta"]);
    bed[0].await_hosts(&["alpha", "gamma"]);
    let mut adding = bed[0].command("parvum");
    let mut adding = adding.args(["add", "beta"]).spawn().expect("it runs");
    eventually("the new daemon waits for the old one", || !bed[1].processes("join").is_empty());
    bed[1].succeed(&["kill", "-CONT", &daemon]);
    assert!(adding.wait().expect("it ends").success());
    for host in bed.hosts() {
        host.await_hosts(&["alpha", "beta", "gamma"]);
    }
}

#[test]
fn leader_is_removed_like_any_host() {
    let Some(bed) = Bed::of(3) else { return };
    // By another host, and by itself.
    for by in [2, 0] {
        if by == 2 {
            bed.join_all();
        }
        let (mut watch, tids) = watch(&bed[1], 3);
        bed[by].succeed(&["parvum", "remove", "alpha"]);
        let gone = host_of(tids["alpha"]);
        await_lines(&mut watch, &[format!("exited {}", tids["alpha"]), format!("deleted {gone}")]);
        bed[1].await_hosts(&["beta", "gamma"]);
        bed[2].await_hosts(&["beta", "gamma"]);
        eventually("the daemon has ended", || bed[0].daemon().is_none());
        eventually("its tasks have ended", || bed[0].processes("across").is_empty());
        let counts = told(watch);
        assert_eq!(counts[&format!("deleted {gone}")], 1, "{counts:?}");
        assert!(!counts.contains_key(&format!("exited {}", tids["gamma"])), "{counts:?}");
        // The others agree on what comes next.
        bed[2].check("across", &["together"], "auto");
        bed[1].add(&["alpha"]);
        for host in bed.hosts() {
            host.await_hosts(&["alpha", "beta", "gamma"]);
        }
        // So that it leads again.
        for name in ["beta", "gamma"] {
            bed[0].succeed(&["parvum", "remove", name]);
            bed[0].succeed(&["parvum", "add", name]);
        }
        for host in bed.hosts() {
            host.await_hosts(&["alpha", "beta", "gamma"]);
        }
    }
}

#[test]
fn last_host_cannot_be_removed() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    bed[0].succeed(&["parvum", "remove", "alpha"]);
    bed[1].await_hosts(&["beta"]);
    let done = bed[1].parvum(&["remove", "beta"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && said.contains("E-BADPARAM") && said.contains("parvum down"), "{said}");
    assert_eq!(bed[1].knows(), ["beta"]);
    // It goes on, and leads.
    bed[1].add(&["alpha"]);
    bed[0].await_hosts(&["alpha", "beta"]);
    bed[0].check("across", &["together"], "auto");
}

#[test]
fn host_added_again_is_a_new_host() {
    let Some(bed) = Bed::of(2) else { return };
    for _ in 0..3 {
        bed[0].add(&["beta"]);
        bed[1].await_hosts(&["alpha", "beta"]);
        bed[0].check("across", &["places"], "auto");
        bed[0].check("across", &["ring"], "routed");
        bed[0].succeed(&["parvum", "remove", "beta"]);
        bed[0].await_hosts(&["alpha"]);
        eventually("the daemon has ended", || bed[1].daemon().is_none());
    }
}

#[test]
fn down_on_any_host_ends_all_daemons() {
    let Some(bed) = Bed::of(3) else { return };
    for from in [0, 2] {
        bed.join_all();
        let mut watch = bed[0].start("across", &["watch"]);
        watch.told("watching");
        bed[from].succeed(&["parvum", "down"]);
        for host in bed.hosts() {
            eventually("the daemon has ended", || host.daemon().is_none());
            eventually("the tasks have ended", || host.processes("across").is_empty());
            assert!(!host.folder.join("pv").exists(), "{} is left", host.name);
        }
        drop(watch);
    }
}

#[test]
fn programs_add_and_delete_hosts() {
    let Some(bed) = Bed::of(3) else { return };
    bed[0].succeed(&["parvum", "up"]);
    bed[0].check("growing", &["beta", "gamma"], "auto");
    bed[0].await_hosts(&["alpha"]);
}

#[test]
fn hosts_command_shows_routes_between_hosts() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    let ways = |at: usize| bed[at].succeed(&["parvum", "hosts", "-v"]);
    let here = &bed[0].addresses()[0];
    // The one that was added has tried all addresses of the first.
    let said = ways(1);
    let used = said.lines().find(|line| line.contains("in use")).unwrap_or_else(|| panic!("{said}"));
    assert!(used.starts_with("alpha ") && used.contains(here) && used.contains(" us "), "{said}");
    assert!(said.lines().filter(|line| line.starts_with("alpha ")).count() > 2, "others were tried: {said}");
    assert!(ways(0).lines().any(|line| line.starts_with("beta ") && line.contains("in use")), "{}", ways(0));
}

#[test]
fn add_push_installs_parvum_on_host() {
    let Some(bed) = Bed::of(2) else { return };
    let data = bed[1].folder.join("data");
    bed[1].set("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    bed[1].set("XDG_DATA_HOME", data.to_str().expect("a plain name"));
    let refused = bed[0].parvum(&["add", "beta"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && why.contains("E-CANTSTART"), "{why}");
    bed[0].succeed(&["parvum", "add", "--push", "beta"]);
    bed[1].await_hosts_by(&copy_in(&data).join("bin/parvum"), &["alpha", "beta"]);
    bed[0].succeed(&["parvum", "run", "-n", "2", "hostname"]);
    // One that cannot be reached is said, and the others come.
    let partly = bed[0].parvum(&["add", "--push", "nobody"]);
    let why = String::from_utf8_lossy(&partly.stderr).into_owned();
    assert!(!partly.status.success() && why.contains("nobody: could not make a folder"), "{why}");
}

/// The one copy of this release in a host's folder of data.
fn copy_in(data: &std::path::Path) -> std::path::PathBuf {
    let begins = format!("{}-", env!("CARGO_PKG_VERSION"));
    let entries = std::fs::read_dir(data.join("parvum")).expect("it was made").flatten();
    let copies: Vec<_> =
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&begins)).collect();
    let [copy] = &copies[..] else { panic!("not one copy: {copies:?}") };
    copy.path()
}

#[test]
fn hosts_sharing_home_get_one_copy() {
    let Some(bed) = Bed::of(4) else { return };
    let data = bed.root().join("data");
    for host in &bed.hosts()[1..] {
        host.set("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        host.set("XDG_DATA_HOME", data.to_str().expect("a plain name"));
    }
    // What an older release has put there, and may be using.
    let older = data.join(format!("parvum/{}/bin", env!("CARGO_PKG_VERSION")));
    std::fs::create_dir_all(&older).expect("the bed's folder is writable");
    std::fs::write(older.join("parvum"), "older").expect("the bed's folder is writable");
    bed[0].succeed(&["parvum", "add", "--push", "beta", "gamma", "delta"]);
    bed[0].await_hosts(&["alpha", "beta", "gamma", "delta"]);
    let copy = copy_in(&data);
    let there = || std::fs::read_dir(data.join("parvum")).expect("it is there").count();
    assert_eq!(there(), 2, "the older release, this one, and nothing else");
    assert_eq!(std::fs::read(older.join("parvum")).expect("it stays"), b"older");
    let inode = || std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&copy).expect("it is there"));
    let first = inode();
    // A second time nothing is copied.
    bed[0].succeed(&["parvum", "remove", "gamma"]);
    bed[0].succeed(&["parvum", "add", "--push", "gamma"]);
    assert_eq!(inode(), first);
    // A damaged copy is replaced.
    bed[0].succeed(&["parvum", "remove", "gamma"]);
    let library = std::fs::read_dir(copy.join("lib")).ok().and_then(|mut files| files.next()?.ok());
    let file = library.map_or_else(|| copy.join("MANIFEST"), |file| file.path());
    std::fs::remove_file(&file).expect("it is ours");
    bed[0].succeed(&["parvum", "add", "--push", "gamma"]);
    assert!(file.exists());
    bed[0].await_hosts(&["alpha", "beta", "gamma", "delta"]);
}

#[test]
fn start_command_can_be_replaced() {
    let Some(bed) = Bed::of(2) else { return };
    let way = bed[0].settings_named("PARVUM_START_BY").expect("the bed sets it");
    bed[0].set("PARVUM_START_BY", "/bin/false");
    assert!(!bed[0].parvum(&["add", "beta"]).status.success());
    bed[0].succeed(&["parvum", "add", "--start-by", &way, "--remote", "parvum", "beta"]);
    bed[1].await_hosts(&["alpha", "beta"]);
}
