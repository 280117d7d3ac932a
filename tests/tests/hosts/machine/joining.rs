//! Hosts that join by themselves, with a token.

use parvum_tests::bed::{Bed, Host};
use parvum_tests::eventually;
use std::process::Output;

/// An invitation: the address of the gate, and the token.
struct Invited {
    address: String,
    token: String,
}

impl Invited {
    fn by(host: &Host, options: &[&str]) -> Invited {
        let said = host.succeed(&[&["parvum", "invite", "--json"], options].concat());
        let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
        Invited { address: text(&said["addresses"][0]), token: text(&said["token"]) }
    }

    fn variable(&self) -> String {
        format!("parvum://{}#{}", self.address, self.token)
    }

    /// Joins by the variable.
    fn join(&self, host: &Host, options: &[&str]) -> Output {
        let mut command = host.command("parvum");
        command.arg("join").args(options).env("PARVUM_JOIN", self.variable());
        command.output().expect("it runs")
    }

    fn joins(&self, host: &Host) {
        let done = self.join(host, &[]);
        assert!(done.status.success(), "{}: {done:?}", host.name);
    }

    /// The error of a `parvum join` that must fail. No daemon stays.
    fn refused(&self, host: &Host, options: &[&str]) -> String {
        let done = self.join(host, options);
        assert!(!done.status.success(), "{done:?}");
        eventually("no daemon stays", || host.daemon().is_none());
        String::from_utf8_lossy(&done.stderr).into_owned()
    }
}

#[test]
fn host_joins_by_token_file_and_leaves() {
    let Some(bed) = Bed::of(3) else { return };
    let file = bed.root().join("token");
    let path = file.to_str().expect("a plain path");
    let line = bed[0].succeed(&["parvum", "invite", "--to", path]);
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[..2], ["parvum", "join"], "the line is ready to run: {line}");
    assert!(!line.contains("pvt1_"), "the token is in the file only: {line}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(bed[1].succeed(&words), "beta is in the machine as t80000\n");
    bed[0].await_hosts(&["alpha", "beta"]);
    bed[1].await_hosts(&["alpha", "beta"]);
    // A host that has joined is a host as any other: it can invite, and its tasks reach all others.
    Invited::by(&bed[1], &[]).joins(&bed[2]);
    for host in bed.hosts() {
        host.await_hosts(&["alpha", "beta", "gamma"]);
        host.check("across", &["places"], "auto");
    }
    assert_eq!(bed[1].succeed(&["parvum", "leave"]), "this host has left the machine\n");
    bed[0].await_hosts(&["alpha", "gamma"]);
    eventually("the daemon has ended", || bed[1].daemon().is_none());
    // The file was for one host.
    let said = bed[1].run(&[&words[..], &["--timeout", "1"]].concat());
    assert!(!said.status.success() && String::from_utf8_lossy(&said.stderr).contains("E-"), "{said:?}");
}

#[test]
fn token_has_the_uses_and_the_time_that_were_said() {
    let Some(bed) = Bed::of(4) else { return };
    let two = Invited::by(&bed[0], &["--uses", "2"]);
    // Three hosts at the same time.
    let done = std::thread::scope(|scope| {
        let joins: Vec<_> = bed.hosts()[1..]
            .iter()
            .map(|host| {
                let mut command = host.command("parvum");
                command.args(["join", "--timeout", "1"]).env("PARVUM_JOIN", two.variable());
                scope.spawn(move || command.output().expect("it runs"))
            })
            .collect();
        joins.into_iter().map(|join| join.join().expect("it ends")).collect::<Vec<_>>()
    });
    let refused: Vec<_> = done.iter().filter(|done| !done.status.success()).collect();
    assert_eq!(refused.len(), 1, "{done:?}");
    let said = String::from_utf8_lossy(&refused[0].stderr);
    // The gate may be closed by now.
    assert!(said.contains("E-TOKEN") || said.contains("E-UNREACHED"), "{said}");
    eventually("two have joined", || bed[0].knows().len() == 3);
    let last = bed.hosts()[1..].iter().find(|host| host.daemon().is_none()).expect("one is left");
    let short = Invited::by(&bed[0], &["--for", "1s"]);
    let _open = Invited::by(&bed[0], &[]);
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let said = short.refused(last, &[]);
    assert!(said.contains("E-TOKEN") && said.contains("expired"), "{said}");
    let revoked = Invited::by(&bed[0], &[]);
    bed[0].succeed(&["parvum", "invite", "--revoke"]);
    let said = revoked.refused(last, &["--timeout", "1"]);
    assert!(said.contains("E-TOKEN") || said.contains("E-UNREACHED"), "{said}");
    Invited::by(&bed[0], &[]).joins(last);
}

#[test]
fn wrong_secret_number_and_name_are_refused() {
    let Some(bed) = Bed::of(2) else { return };
    let good = Invited::by(&bed[0], &[]);
    let end = good.token.len() - 1;
    let other = if good.token.ends_with('0') { "1" } else { "0" };
    let guessed = Invited { token: format!("{}{other}", &good.token[..end]), address: good.address.clone() };
    let said = guessed.refused(&bed[1], &[]);
    assert!(said.contains("E-TOKEN: the secret of the token is wrong"), "{said}");
    let cut = Invited { token: good.token[..end].to_owned(), address: good.address.clone() };
    let said = cut.refused(&bed[1], &[]);
    assert!(said.contains("E-TOKEN: the text is not a token") && !said.contains(&cut.token), "{said}");
    for (name, code) in
        [("alpha", "E-DUPHOST"), ("localhost", "E-BADPARAM"), ("a b", "E-BADPARAM"), ("", "E-BADPARAM")]
    {
        let said = good.refused(&bed[1], &["--name", name]);
        assert!(said.contains(code) && said.contains("--name"), "{name}: {said}");
    }
    // None of these has used the token up.
    assert_eq!(bed[0].knows(), ["alpha"]);
    let done = good.join(&bed[1], &["--name", "second"]);
    assert!(done.status.success(), "{done:?}");
    bed[0].await_hosts(&["alpha", "second"]);
    // A host that has a machine keeps this machine.
    let said = Invited::by(&bed[0], &[]).join(&bed[1], &[]);
    assert!(String::from_utf8_lossy(&said.stderr).contains("E-RUNNING"), "{said:?}");
    bed[0].await_hosts(&["alpha", "second"]);
}

#[test]
fn strangers_at_the_gate_are_turned_away() {
    let Some(bed) = Bed::of(2) else { return };
    let good = Invited::by(&bed[0], &[]);
    let (host, port) = good.address.rsplit_once(':').expect("HOST:PORT");
    // Floods, silence, half a line, another protocol.
    let script = format!(
        "import socket, time
def call(data):
    peer = socket.create_connection(({host:?}, {port}))
    peer.settimeout(10)
    if data:
        peer.sendall(data)
    return peer
silent = [call(b'') for _ in range(100)]
for data in (b'GET / HTTP/1.0\\r\\n\\r\\n', b'x' * 1000000, b'\\n', b'{{}}\\n', b'\\xff' * 5000):
    try:
        peer = call(data)
        assert peer.recv(100) == b'', data[:10]
    except (ConnectionResetError, BrokenPipeError):
        pass
print('done')
"
    );
    assert_eq!(bed[1].succeed(&["python3", "-c", &script]), "done\n");
    good.joins(&bed[1]);
    bed[0].await_hosts(&["alpha", "beta"]);
}

#[test]
fn signal_to_a_joined_daemon_ends_its_host_only() {
    let Some(bed) = Bed::of(3) else { return };
    let two = Invited::by(&bed[0], &["--uses", "2"]);
    two.joins(&bed[1]);
    // In the foreground, as in a container.
    let mut command = bed[2].command("parvum");
    let mut stays =
        command.args(["join", "--stay"]).env("PARVUM_JOIN", two.variable()).spawn().expect("it runs");
    bed[0].await_hosts(&["alpha", "beta", "gamma"]);
    for host in &bed.hosts()[1..] {
        let daemon = host.daemon().expect("it serves").to_string();
        // A batch system sends this signal to all processes of a job.
        host.succeed(&["kill", "-USR1", &daemon]);
        host.succeed(&["kill", "-TERM", &daemon]);
        eventually("the daemon has ended", || host.daemon().is_none());
    }
    assert!(stays.wait().expect("it ends").success());
    bed[0].await_hosts(&["alpha"]);
    bed[0].await_idle();
}

/// A host behind a router: it can call others, and nobody can call it.
#[test]
fn host_that_nobody_can_call_joins_and_works() {
    let Some(bed) = Bed::of(3) else { return };
    if !std::path::Path::new("/usr/sbin/nft").exists() {
        return parvum_tests::skip(parvum_tests::Lack::Tools, "nft is missing (nftables)");
    }
    let rules = "table inet router { chain input { type filter hook input priority 0; iif lo accept; ct state new drop; } }";
    let rules = format!("echo '{rules}' | /usr/sbin/nft -f -");
    let done = bed[2].run(&["sh", "-c", &rules]);
    if !done.status.success() {
        return parvum_tests::skip(parvum_tests::Lack::Host, format!("nft cannot set a rule: {done:?}"));
    }
    let two = Invited::by(&bed[0], &["--uses", "2"]);
    two.joins(&bed[1]);
    two.joins(&bed[2]);
    // Longer than two hosts that cannot reach each other both stay.
    std::thread::sleep(std::time::Duration::from_secs(4));
    for host in bed.hosts() {
        host.await_hosts(&["alpha", "beta", "gamma"]);
        host.check("across", &["places"], "auto");
    }
    bed[0].await_idle();
}

#[test]
fn up_waits_for_expected_hosts() {
    let Some(bed) = Bed::of(2) else { return };
    let mut command = bed[0].command("parvum");
    let done = command.args(["up", "--expect", "2", "--timeout", "1"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && said.contains("E-EXPECT: 1 of 2 hosts"), "{said}");
    let invited = Invited::by(&bed[0], &[]);
    let mut command = bed[0].command("parvum");
    let mut waits = command.args(["up", "--expect", "2"]).spawn().expect("it runs");
    invited.joins(&bed[1]);
    assert!(waits.wait().expect("it ends").success());
}

#[test]
fn host_that_dies_while_it_joins_leaves_nothing() {
    let Some(bed) = Bed::of(2) else { return };
    let invited = Invited::by(&bed[0], &[]);
    for _ in 0..5 {
        let mut command = bed[1].command("parvum");
        let mut joins =
            command.args(["join", "--stay"]).env("PARVUM_JOIN", invited.variable()).spawn().expect("it runs");
        std::thread::sleep(std::time::Duration::from_millis(15));
        bed[1].kill_all();
        let _ = joins.wait();
        eventually("the host is not in the machine", || bed[0].knows() == ["alpha"]);
        if bed[0].log().contains("gate for hosts with a token is closed") {
            // The host had joined before its death.
            return;
        }
    }
    // The use still counts.
    invited.joins(&bed[1]);
    bed[0].await_hosts(&["alpha", "beta"]);
}
