//! Hosts that cannot be added: each refusal names the host, the step, the command, how that ended and
//! what it said; the machine goes on.

use parvum_tests::bed::{Bed, profile};
use parvum_tests::eventually;

/// What `parvum add` says on standard error, which must be a failure.
fn refused(bed: &Bed, name: &str) -> String {
    let done = bed[0].parvum(&["add", name]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success(), "{name} was added: {said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("parvum: ")).count(), 1, "one failure: {said}");
    assert_eq!(bed[0].knows(), ["alpha"]);
    said
}

fn says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "{word:?} is not said: {said}");
    }
}

#[test]
fn add_refuses_unknown_host_name() {
    let Some(bed) = Bed::over_ssh(1) else { return };
    let said = refused(&bed, "nowhere");
    let begins = "parvum: E-NOHOST: cannot add nowhere: ssh cannot resolve the name, by `ssh ";
    assert!(said.starts_with(begins), "{said}");
    says(
        &said,
        &[
            "parvum join",
            "exit code 255",
            "Could not resolve",
            "; help: check that `ssh nowhere true` works\n",
        ],
    );
}

#[test]
fn add_fails_for_host_that_does_not_answer() {
    let Some(bed) = Bed::over_ssh(2) else { return };
    bed[1].cut_off();
    // Packets to it go nowhere, and nothing says so: ssh by itself would try for as long as the kernel does, two minutes
    // and more. It is told to give up, and does.
    let said = refused(&bed, "beta");
    says(&said, &["E-", "beta", "start", "ssh", "ConnectTimeout=", "exit code 255", "connect to host beta"]);
    // Once it can be reached it can be added.
    bed[1].reconnect();
    bed[0].add(&["beta"]);
    bed[1].await_hosts(&["alpha", "beta"]);
}

#[test]
fn add_reports_ssh_refusal_of_unknown_key() {
    let Some(bed) = Bed::over_ssh(2) else { return };
    std::fs::write(bed[1].folder.join("ssh/authorized_keys"), "").expect("it is there");
    let said = refused(&bed, "beta");
    says(&said, &["beta", "ssh", "exit code 255", "Permission denied"]);
}

#[test]
fn add_refuses_host_with_changed_host_key() {
    let Some(bed) = Bed::over_ssh(3) else { return };
    // Beta answers with a key that is known as gamma's.
    let file = bed[0].folder.join("ssh/known_hosts");
    let known = std::fs::read_to_string(&file).expect("it is there");
    let swapped = known.replace("beta,", "x,").replace("gamma,", "beta,").replace("x,", "gamma,");
    std::fs::write(&file, swapped).expect("it is there");
    let said = refused(&bed, "beta");
    says(&said, &["E-CANTSTART", "beta", "ssh", "exit code 255", "Host key verification failed"]);
    std::fs::write(&file, known).expect("it is there");
    bed[0].add(&["beta"]);
}

#[test]
fn add_reports_missing_parvum_on_host() {
    for ssh in [false, true] {
        let Some(bed) = (if ssh { Bed::over_ssh(2) } else { Bed::of(2) }) else { return };
        bed[0].set("PARVUM_REMOTE", "/no/such/parvum");
        let said = refused(&bed, "beta");
        says(&said, &["E-", "beta", "/no/such/parvum join", "exit code 127", "the command said: "]);
    }
}

/// A host whose `parvum` is this script.
fn with_fake(script: &str) -> Option<(Bed, String)> {
    let bed = Bed::of(2)?;
    let fake = bed.root().join("fake");
    std::fs::write(&fake, format!("#!/bin/sh\n{script}\n")).expect("the bed's folder is writable");
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
    bed[0].set("PARVUM_REMOTE", fake.to_str().expect("plain"));
    let said = refused(&bed, "beta");
    Some((bed, said))
}

#[test]
fn add_refuses_host_with_another_release() {
    // It is what a daemon of another protocol hears that counts: the invitation's is changed on the way.
    let parvum = parvum_tests::parvum().display();
    let script = format!(
        "read line\nline=$(echo \"$line\" | sed 's/\"protocol\":[0-9]*/\"protocol\":200/;s/\"release\":\"[^\"]*\"/\"release\":\"9.9.9\"/')\n\
         echo \"$line\" | {parvum} join"
    );
    let Some((bed, said)) = with_fake(&script) else { return };
    says(&said, &["E-VERSION", "beta", "9.9.9", "protocol 200", env!("CARGO_PKG_VERSION")]);
    eventually("no daemon is left there", || bed[1].daemon().is_none());
    assert!(!bed[1].folder.join("pv").exists());
}

#[test]
fn daemon_with_other_mesh_protocol_is_refused() {
    let Some(bed) = Bed::of(2) else { return };
    // It is invited in words that both know, and then connects as a later release.
    let newcomer = profile().join("newcomer");
    bed[0].set("PARVUM_REMOTE", newcomer.to_str().expect("plain"));
    let said = refused(&bed, "beta");
    let ours = format!("protocol {} (release {})", parvum_mesh::PROTOCOL, env!("CARGO_PKG_VERSION"));
    let theirs = format!("protocol {} (release 9.9.9)", parvum_mesh::PROTOCOL + 1);
    says(&said, &["E-VERSION", "beta", "connect", &ours, &theirs, "one release on all hosts"]);
    // The other end has it on record.
    says(&bed[0].log(), &["refused, stranger", "E-VERSION", &ours, &theirs]);
    bed[0].set("PARVUM_REMOTE", "parvum");
    bed[0].succeed(&["parvum", "down"]);
    bed.join_all();
}

#[test]
fn foreign_program_named_parvum_is_reported() {
    let Some((_bed, said)) = with_fake("echo usage: parvum FILE; echo 'no file' >&2; exit 3") else { return };
    says(&said, &["E-", "beta", "fake join", "exit code 3", "no file"]);
}

#[test]
fn add_times_out_on_silent_host() {
    let Some((bed, said)) = with_fake("echo hello; exec sleep 600") else { return };
    says(&said, &["E-", "beta", "no answer within"]);
    // What was started over there is nobody's child here; the command that started it is gone.
    eventually("the command has ended", || bed[0].processes("fake join").is_empty());
}

#[test]
fn add_fails_for_host_with_endless_output() {
    let Some((_bed, said)) = with_fake("yes 'welcome to this fine host' | head -c 300000000") else { return };
    says(&said, &["E-", "beta"]);
}

#[test]
fn daemons_that_cannot_connect_are_refused() {
    let Some(bed) = Bed::of(2) else { return };
    // The command gets through, packets do not: a firewall.
    bed[1].cut_off();
    let said = refused(&bed, "beta");
    says(&said, &["E-", "beta", "connect"]);
    eventually("no daemon is left there", || bed[1].daemon().is_none());
    bed[1].reconnect();
    bed[0].add(&["beta"]);
}

#[test]
fn add_of_many_continues_when_one_host_fails() {
    let Some(bed) = Bed::of(3) else { return };
    let done = bed[0].parvum(&["add", "beta", "nowhere", "gamma"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success());
    says(&said, &["nowhere", "cannot add nowhere: "]);
    assert_eq!(said.lines().count(), 1, "{said}");
    bed[0].await_hosts(&["alpha", "beta", "gamma"]);
}

#[test]
fn add_refuses_own_host_and_duplicate() {
    let Some(bed) = Bed::of(2) else { return };
    bed[0].add(&["beta"]);
    for name in ["beta", "alpha", "localhost"] {
        let done = bed[0].parvum(&["add", name]);
        assert!(!done.status.success(), "{name}");
        says(&String::from_utf8_lossy(&done.stderr), &["E-DUPHOST", name]);
    }
    assert_eq!(bed[0].knows(), ["alpha", "beta"]);
}

#[test]
fn add_refuses_host_of_another_machine() {
    let Some(bed) = Bed::of(2) else { return };
    bed[1].succeed(&["parvum", "up"]);
    let said = refused(&bed, "beta");
    says(&said, &["E-RUNNING", "beta"]);
    assert_eq!(bed[1].knows(), ["beta"], "its machine goes on");
}

#[test]
fn join_without_invitation_is_refused() {
    let Some(bed) = Bed::of(1) else { return };
    // No other daemon speaks on standard input.
    for words in [&["join"][..], &["join", "--invited"]] {
        let done = bed[0].parvum(words);
        says(&String::from_utf8_lossy(&done.stdout), &["E-PROTOCOL"]);
    }
    eventually("no daemon is left", || bed[0].daemon().is_none());
}
