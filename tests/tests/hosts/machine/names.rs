//! Names that lead elsewhere than meant, and hosts that have only IPv6.

use parvum_tests::bed::{Bed, Host, Plan};

/// Changes what a host knows of names.
fn edit_names(host: &Host, edit: impl FnOnce(String) -> String) {
    let file = host.folder.join("hosts");
    let before = std::fs::read_to_string(&file).expect("the bed wrote it");
    std::fs::write(&file, edit(before)).expect("the bed's folder is writable");
}

/// What `parvum add` says on standard error, which must be a failure.
fn refused(host: &Host, name: &str) -> String {
    let before = host.knows();
    let done = host.parvum(&["add", name]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success(), "{name} was added: {said}");
    assert_eq!(host.knows(), before);
    said
}

fn says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "{word:?} is not said: {said}");
    }
}

/// Lets ssh take the key of a host under another name as well.
fn trust(host: &Host, name: &str, known_as: &str) {
    let file = host.folder.join("ssh/known_hosts");
    let known = std::fs::read_to_string(&file).expect("the bed wrote it");
    let line = known.lines().find(|line| line.starts_with(known_as)).expect("it is known");
    let key = line.split_once(' ').expect("names and a key").1;
    std::fs::write(&file, format!("{known}{name} {key}\n")).expect("the bed's folder is writable");
}

#[test]
fn add_refuses_name_that_resolves_to_own_host() {
    let Some(bed) = Bed::over_ssh(2) else { return };
    bed[0].succeed(&["parvum", "up"]);
    for address in ["127.0.0.1", "127.0.1.1", "::1"] {
        edit_names(&bed[0], |names| {
            let others = names.lines().filter(|line| !line.ends_with(" loop"));
            others.map(|line| format!("{line}\n")).collect::<String>() + &format!("{address} loop\n")
        });
        trust(&bed[0], "loop", "alpha");
        says(&refused(&bed[0], "loop"), &["E-DUPHOST", "loop leads to alpha", "ssh"]);
    }
    // The same in a machine of several hosts.
    bed[0].add(&["beta"]);
    says(&refused(&bed[0], "loop"), &["E-DUPHOST", "loop leads to alpha"]);
    assert_eq!(bed[0].knows(), ["alpha", "beta"]);
}

#[test]
fn host_is_added_by_another_of_its_names() {
    let Some(bed) = Bed::over_ssh(3) else { return };
    bed.join_all();
    let address = bed[1].addresses()[0].clone();
    edit_names(&bed[0], |names| format!("{names}{address} beta.example.org\n"));
    trust(&bed[0], "beta.example.org", "beta");
    says(&refused(&bed[0], "beta.example.org"), &["E-DUPHOST", "beta.example.org leads to beta"]);
    // By its address too: that is a name like any other.
    says(&refused(&bed[0], &address), &["E-DUPHOST", "leads to beta"]);
    // The machine is as it was.
    bed[2].check("across", &["places"], "auto");
}

#[test]
fn hosts_named_by_loopback_address_join() {
    let Some(bed) = Bed::over_ssh(3) else { return };
    for host in bed.hosts() {
        // As Debian's installer writes it.
        edit_names(host, |names| {
            let others = names.lines().filter(|line| !line.ends_with(&format!(" {}", host.name)));
            let others: String = others.map(|line| format!("{line}\n")).collect();
            format!("{others}127.0.1.1 {}\n", host.name)
        });
        assert!(host.succeed(&["getent", "hosts", &host.name]).starts_with("127.0.1.1"));
    }
    bed.join_all();
    for host in bed.hosts() {
        host.await_hosts(&["alpha", "beta", "gamma"]);
        for route in ["tcp", "routed"] {
            host.check("across", &["ring"], route);
        }
    }
}

#[test]
fn hosts_with_only_ipv6_join() {
    let plan = Plan { ssh: true, ipv6_only: true, ..Plan::of(3) };
    let Some(bed) = Bed::or_skip(&plan) else { return };
    bed.join_all();
    for route in ["tcp", "routed"] {
        bed[1].check("across", &["ring"], route);
    }
    bed[2].check("across", &["together"], "auto");
    bed[1].kill_daemon();
    bed[0].await_hosts(&["alpha", "gamma"]);
    bed[2].add(&["beta"]);
    bed[1].await_hosts(&["alpha", "beta", "gamma"]);
    bed[1].check("across", &["places"], "tcp");
}
