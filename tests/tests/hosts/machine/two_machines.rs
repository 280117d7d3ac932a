//! Two machines on the same hosts: of one user in two directories, and of two users.

use parvum_tests::bed::{Bed, Host};
use parvum_tests::running::Running;
use parvum_tests::{Lack, skip, stage};
use std::os::unix::fs::PermissionsExt;

/// Both hosts work with the machine in that directory from now on.
fn turn_to(bed: &Bed, directory: &str) {
    for host in bed.hosts() {
        host.set("PARVUM_DIR", host.folder.join(directory).to_str().expect("plain"));
    }
}

#[test]
fn machines_of_one_user_in_two_directories_are_separate() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    turn_to(&bed, "second");
    assert_eq!(bed[0].knows(), [""; 0]);
    bed[1].add(&["alpha"]);
    for directory in ["pv", "second"] {
        turn_to(&bed, directory);
        for host in bed.hosts() {
            host.await_hosts(&["alpha", "beta"]);
            host.check("across", &["together"], "auto");
        }
    }
    // They end apart.
    bed[0].succeed(&["parvum", "down"]);
    turn_to(&bed, "pv");
    assert_eq!(bed[1].knows(), ["alpha", "beta"]);
    bed[1].check("across", &["ring"], "tcp");
}

#[test]
fn port_of_another_machine_is_refused() {
    let Some(bed) = Bed::of(2) else { return };
    for host in bed.hosts() {
        host.set("PARVUM_PORT", "40404");
    }
    bed.join_all();
    turn_to(&bed, "second");
    let done = bed[0].parvum(&["add", "beta"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success());
    for word in ["E-BIND", "40404", "Address already in use", "free port"] {
        assert!(said.contains(word), "{word:?} is not said: {said}");
    }
    bed[0].succeed(&["parvum", "down"]);
    for host in bed.hosts() {
        host.set("PARVUM_PORT", "40405");
    }
    bed[0].add(&["beta"]);
    bed[1].await_hosts(&["alpha", "beta"]);
    turn_to(&bed, "pv");
    bed[1].check("across", &["ring"], "tcp");
}

/// nobody, as on any Debian.
const OTHER: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Runs a command to its end as the other user.
fn as_other(host: &Host, words: &[&str]) -> (bool, String) {
    let done = host.run(&[&OTHER, words].concat());
    let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (done.status.success(), said.concat())
}

#[test]
fn machines_of_two_users_are_separate() {
    let Some(bed) = Bed::of(2) else { return };
    // The other user goes through the bed's folder to start daemons on its hosts.
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    open(bed.root(), 0o711);
    for host in bed.hosts() {
        open(&host.folder.join("door"), 0o777);
        let own = host.folder.join("other");
        std::fs::create_dir(&own).expect("the bed's folder is writable");
        if host.run(&["chown", "65534:65534", own.to_str().expect("plain")]).status.success()
            && as_other(host, &["parvum", "--version"]).0
        {
            continue;
        }
        skip(Lack::Host, "no other user can run what was built");
        return;
    }
    bed.join_all();
    // The directory of one is not for the other.
    let (done, said) = as_other(&bed[0], &["parvum", "hosts"]);
    assert!(!done && said.contains("E-DIR") && said.contains("belongs to user 0"), "{said}");
    turn_to(&bed, "other/pv");
    bed[0].set("PARVUM_REMOTE", &[&OTHER[..], &["parvum"]].concat().join(" "));
    let (done, said) = as_other(&bed[0], &["parvum", "add", "beta"]);
    assert!(done, "{said}");
    let mut places = bed[1].command(OTHER[0]);
    places.args(&OTHER[1..]).arg(stage::program("across")).arg("together");
    Running::start(&mut places).finish(|| bed[1].log());
    let (done, said) = as_other(&bed[1], &["parvum", "hosts"]);
    assert!(done && said.contains("alpha") && said.contains("beta"), "{said}");
    assert!(as_other(&bed[1], &["parvum", "down"]).0);
    // The first user's machine has noticed nothing.
    turn_to(&bed, "pv");
    for host in bed.hosts() {
        assert_eq!(host.knows(), ["alpha", "beta"]);
        host.check("across", &["ring"], "routed");
    }
}
