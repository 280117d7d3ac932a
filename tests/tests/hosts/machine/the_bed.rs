//! The bed itself: hosts are apart, can be cut off, killed and booted again, and nothing is left.

use parvum_tests::bed::{Bed, Plan, cut_between, heal_between};
use parvum_tests::{eventually, gone};
use std::process::Output;

type Host = parvum_tests::bed::Host;

/// Whether one host reaches another by TCP, however busy both are.
fn reaches(from: &Host, to: &Host, address: &str) -> bool {
    hears(from, to, address, 40.0)
}

/// Whether it hears nothing of it for a while.
fn is_apart(from: &Host, to: &Host, address: &str) -> bool {
    !hears(from, to, address, 0.5)
}

/// Whether a listener there says a word in so many seconds.
fn hears(from: &Host, to: &Host, address: &str, patience: f32) -> bool {
    let listen = "import socket,sys
s=socket.create_server((sys.argv[1],7),family=socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET)
print('listens',flush=True)
c,_=s.accept()
c.send(b'word')";
    let call = "import socket,sys
c=socket.create_connection((sys.argv[1],7),timeout=float(sys.argv[2]))
assert c.recv(9)==b'word'";
    // It listens as long as it takes to call: how long that is the caller alone decides.
    let mut command = to.command("python3");
    let mut listener = parvum_tests::running::Running::start(command.args(["-c", listen, address]));
    listener.told("listens");
    let Output { status, .. } = from.run(&["python3", "-c", call, address, &patience.to_string()]);
    listener.kill();
    status.success()
}

#[test]
fn bed_hosts_are_separate_and_reach_each_other() {
    let Some(bed) = Bed::of(2) else { return };
    for host in bed.hosts() {
        assert_eq!(host.succeed(&["hostname"]).trim(), host.name);
        assert_eq!(
            host.succeed(&["sh", "-c", "echo $HOME"]).trim(),
            host.folder.join("home").to_str().expect("plain")
        );
        // Its own processes, and none of anybody else's.
        assert!(host.succeed(&["ps", "-e"]).lines().count() <= 4);
    }
    for address in bed[1].addresses() {
        assert!(reaches(&bed[0], &bed[1], &address), "{address}");
    }
}

#[test]
fn bed_cuts_are_silent_and_heal() {
    let Some(bed) = Bed::of(3) else { return };
    let (a, b, c) = (&bed[0], &bed[1], &bed[2]);
    for address in [0, 1] {
        let to = |host: &parvum_tests::bed::Host| host.addresses()[address].clone();
        cut_between(a, b);
        assert!(is_apart(a, b, &to(b)) && reaches(a, c, &to(c)) && reaches(b, c, &to(c)));
        heal_between(a, b);
        assert!(reaches(a, b, &to(b)));
        c.cut_off();
        assert!(is_apart(a, c, &to(c)) && reaches(a, b, &to(b)));
        c.reconnect();
        assert!(reaches(a, c, &to(c)));
    }
    c.unplug();
    assert!(is_apart(a, c, &c.addresses()[0]));
    c.reconnect();
    assert!(reaches(a, c, &c.addresses()[0]));
}

#[test]
fn crashed_host_loses_its_processes_and_boots_again() {
    let Some(bed) = Bed::of(2) else { return };
    let host = &bed[1];
    host.succeed(&["sh", "-c", "sleep 600 </dev/null >/dev/null 2>&1 &"]);
    eventually("the program runs", || host.processes("sleep 600").len() == 1);
    host.crash();
    assert!(!host.is_up());
    host.boot().expect("as the first time");
    assert_eq!(host.processes("sleep 600").len(), 0);
    // The switch may still be learning where the new interface is.
    eventually("the host is reached", || reaches(&bed[0], host, &host.addresses()[0]));
}

#[test]
fn bed_leaves_nothing_after_panic_or_kill() {
    let Some(bed) = Bed::of(1) else { return };
    let root = bed.root().to_path_buf();
    let hook = std::thread::spawn(move || {
        let bed = Bed::of(1).expect("as before");
        let root = bed.root().to_path_buf();
        std::panic::resume_unwind(Box::new(root));
    });
    let left = hook.join().expect_err("it panics").downcast::<std::path::PathBuf>().expect("its folder");
    assert!(!left.exists(), "{}", left.display());
    drop(bed);
    assert!(!root.exists(), "{}", root.display());
    // Whoever made it is killed: it goes by itself.
    let program = parvum_tests::bed::profile().join("hosts");
    let mut command = std::process::Command::new(program);
    command.args(["1", "--", "sh", "-c", "echo folder ${PARVUM_DIR%/*/*}; exec sleep 600"]);
    let mut running = parvum_tests::running::Running::start(&mut command);
    let folder = std::path::PathBuf::from(running.told("folder"));
    assert!(folder.exists());
    running.kill();
    eventually("the folder is gone", || !folder.exists());
    gone(running.pid());
}

#[test]
fn ssh_reaches_each_host_without_password() {
    let Some(bed) = Bed::over_ssh(2) else { return };
    for (from, to) in [(0, 1), (1, 0), (0, 0)] {
        let said =
            bed[from].succeed(&["ssh", "-o", "BatchMode=yes", &bed[to].name, "hostname; echo $PARVUM_DIR"]);
        let folder = bed[to].folder.join("pv");
        assert_eq!(said, format!("{}\n{}\n", bed[to].name, folder.display()));
    }
}

#[test]
fn bed_hosts_may_have_no_ipv4() {
    let Some(bed) = Bed::or_skip(&Plan { ipv6_only: true, ..Plan::of(2) }) else { return };
    assert_eq!(bed[1].addresses().len(), 1);
    assert!(reaches(&bed[0], &bed[1], &bed[1].addresses()[0]));
    bed.join_all();
    bed[0].check("across", &["places"], "auto");
}
