//! Disks without room: what cannot be done is said, what need not be written is not missed, and nothing that was
//! begun is in the way when there is room again.

use parvum_tests::bed::{Bed, Host};
use parvum_tests::eventually;
use std::path::{Path, PathBuf};

/// Gives a host a small disk for all that it writes; its folder.
fn small_disk(host: &Host, size: &str) -> PathBuf {
    let disk = host.folder.join("disk");
    std::fs::create_dir_all(&disk).expect("the bed's folder is writable");
    let name = disk.to_str().expect("plain");
    host.succeed(&["mount", "-t", "tmpfs", "-o", size, "none", name]);
    for (variable, folder) in [("PARVUM_DIR", "pv"), ("HOME", ""), ("TMPDIR", ""), ("XDG_DATA_HOME", "data")]
    {
        host.set(variable, disk.join(folder).to_str().expect("plain"));
    }
    disk
}

/// Makes it larger.
fn make_room(host: &Host, size: &str) {
    let disk = host.folder.join("disk");
    host.succeed(&["mount", "-o", &format!("remount,{size}"), disk.to_str().expect("plain")]);
}

fn fill(host: &Host) {
    let file = host.folder.join("disk/fill");
    let done = host.run(&["dd", "if=/dev/zero", &format!("of={}", file.display()), "bs=4096"]);
    assert!(String::from_utf8_lossy(&done.stderr).contains("No space left"), "{done:?}");
}

/// The files on the disk, as the host sees it.
fn files(host: &Host) -> String {
    let disk = host.folder.join("disk");
    host.succeed(&["find", disk.to_str().expect("plain"), "-mindepth", "1", "-not", "-name", "fill"])
}

fn says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "{word:?} is not said: {said}");
    }
}

#[test]
fn machine_with_full_disks_continues() {
    let Some(bed) = Bed::of(2) else { return };
    for host in bed.hosts() {
        small_disk(host, "size=64k");
        fill(host);
    }
    bed[0].succeed(&["parvum", "up"]);
    bed.join_all();
    bed[1].await_hosts(&["alpha", "beta"]);
    for words in [&["places"][..], &["output"], &["ring"], &["together"]] {
        bed[0].check("across", words, "auto");
    }
    let said = bed[1].succeed(&["parvum", "run", "-n", "2", "echo", "printed"]);
    assert_eq!(said.lines().filter(|line| line.contains("printed")).count(), 2, "{said}");
    // Only the log is poorer, and says so.
    let info = bed[1].succeed(&["parvum", "info"]);
    let lost = info.lines().find(|line| line.contains("log lines lost")).expect("it is counted");
    assert!(lost.split_whitespace().any(|word| word.parse::<u64>().is_ok_and(|count| count > 0)), "{lost}");
    // With room it goes on where it is.
    let log = bed[0].folder.join("disk/pv/daemon.log");
    let log = || bed[0].succeed(&["cat", log.to_str().expect("plain")]);
    assert_eq!(log(), "");
    make_room(&bed[0], "size=1m");
    bed[0].succeed(&["parvum", "remove", "beta"]);
    bed[0].add(&["beta"]);
    says(&log(), &["has joined"]);
    bed[0].succeed(&["parvum", "down"]);
    for host in bed.hosts() {
        eventually("nothing is left", || files(host).is_empty());
    }
}

#[test]
fn disk_without_free_inodes_is_reported() {
    let Some(bed) = Bed::of(2) else { return };
    let ends = |host: &Host| eventually("no daemon is left", || host.processes("parvum daemon").is_empty());
    small_disk(&bed[1], "nr_inodes=64");
    small_disk(&bed[0], "nr_inodes=64");
    let mut refusals = 0;
    // Its root is the first; then directory, lock, socket, log: each may be the one that is missing.
    for room in 1..8 {
        make_room(&bed[0], &format!("nr_inodes={room}"));
        let done = bed[0].parvum(&["up"]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.success() {
            bed[0].succeed(&["parvum", "down"]);
        } else {
            refusals += 1;
            says(&said, &["E-DIR", "No space left on device", "make room"]);
        }
        ends(&bed[0]);
        assert_eq!(files(&bed[0]), "", "with {room}");
    }
    assert!(refusals >= 3, "{refusals}");
    make_room(&bed[0], "nr_inodes=64");
    refusals = 0;
    for room in 1..8 {
        make_room(&bed[1], &format!("nr_inodes={room}"));
        let done = bed[0].parvum(&["add", "beta"]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.success() {
            bed[1].await_hosts(&["alpha", "beta"]);
            bed[0].succeed(&["parvum", "remove", "beta"]);
        } else {
            refusals += 1;
            says(&said, &["E-CANTSTART", "beta", "parvum join", "E-DIR", "No space left on device"]);
        }
        ends(&bed[1]);
        assert_eq!(files(&bed[1]), "", "with {room}");
    }
    assert!(refusals >= 3, "{refusals}");
    make_room(&bed[1], "nr_inodes=64");
    bed[0].add(&["beta"]);
    bed[1].check("across", &["places"], "auto");
}

#[test]
fn push_to_host_without_room_is_refused() {
    let Some(bed) = Bed::of(2) else { return };
    small_disk(&bed[1], "size=1m");
    bed[1].set("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    let refused = || {
        let done = bed[0].parvum(&["add", "--push", "beta"]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success());
        says(&said, &["E-CANTSTART", "beta", "could not copy", "the command said: tar: "]);
    };
    refused();
    let half = |name: &str| files(&bed[1]).lines().any(|line| line.ends_with(name));
    assert!(!half("bin/parvum"), "half a copy is left: {}", files(&bed[1]));
    // An earlier copy is as it was.
    let copy = bed[1].folder.join("disk/data/parvum").join(env!("CARGO_PKG_VERSION"));
    let older = copy.join("older");
    bed[1].succeed(&["sh", "-c", &format!("mkdir -p {} && echo x >{}", copy.display(), older.display())]);
    refused();
    assert!(half("older") && !half("bin/parvum"), "{}", files(&bed[1]));
    make_room(&bed[1], "size=1g");
    bed[0].succeed(&["parvum", "add", "--push", "beta"]);
    // The name of a copy goes on with the checksum of what is in it.
    let begins = format!("/{}-", env!("CARGO_PKG_VERSION"));
    let there = files(&bed[1]);
    let made = there.lines().find(|line| line.contains(&begins) && line.ends_with("/bin/parvum"));
    bed[1].await_hosts_by(Path::new(made.expect("the copy")), &["alpha", "beta"]);
    assert!(half("older"), "what is not this copy stays");
}
