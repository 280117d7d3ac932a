//! The options of a hostfile that are for other hosts: each counts, or an error says which does not.

use parvum_tests::bed::{Bed, Host, profile};
use parvum_tests::eventually;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// An executable script.
fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the bed's folder is writable");
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("the bed's folder is writable");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// What the console prints on that host for these orders.
fn console(host: &Host, orders: &str) -> String {
    let mut command = host.command("parvum");
    command.args(["console"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("nsenter runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(orders.as_bytes()).expect("the console reads");
    drop(input);
    let done = child.wait_with_output().expect("it is our child");
    [done.stdout, done.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat()
}

/// The speed that `conf` shows of a host.
fn speed(host: &Host, name: &str) -> Option<String> {
    let said = console(host, "conf\nquit\n");
    let line = said.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    line.split_whitespace().nth(3).map(str::to_owned)
}

/// A program in `ep/`, which writes down where it runs; and the file that it writes.
fn whereami(bed: &Bed) -> (PathBuf, PathBuf) {
    let (folder, told) = (bed.root().join("ep"), bed.root().join("told"));
    script(&folder.join("whereami"), &format!("echo \"$(hostname) $(pwd)\" >>{}", told.display()));
    (folder, told)
}

fn await_line(file: &Path, line: &str) {
    eventually(&format!("{line:?} is written"), || {
        std::fs::read_to_string(file).unwrap_or_default().lines().any(|known| known == line)
    });
}

#[test]
fn hosts_apply_options_of_hostfile() {
    let Some(bed) = Bed::of(4) else { return };
    let (folder, told) = whereami(&bed);
    let (one, two) = (bed.root().join("one"), bed.root().join("two"));
    for wd in [&one, &two] {
        std::fs::create_dir(wd).expect("the bed's folder is writable");
    }
    // A value with a variable is the other host's: beta has another home than alpha.
    let home = bed[1].settings_named("HOME").expect("the bed sets it");
    let file = bed.root().join("hosts");
    let text = format!(
        "* ep={}\nalpha sp=500\nbeta sp=2000 wd=$HOME\n* ep={} wd={} sp=7\n& gamma wd={}\n",
        folder.display(),
        folder.display(),
        one.display(),
        two.display()
    );
    std::fs::write(&file, text).expect("the bed's folder is writable");
    let said = bed[0].succeed(&["parvum", "up", file.to_str().expect("a plain name")]);
    assert!(said.contains("is up"), "{said}");
    bed[0].await_hosts(&["alpha", "beta"]);
    // Known hosts have their lines, others the last defaults, and what is said with the name goes over both.
    console(&bed[0], "add gamma \"delta sp=9\"\nquit\n");
    bed[0].await_hosts(&["alpha", "beta", "gamma", "delta"]);
    let speeds = ["alpha", "beta", "gamma", "delta"].map(|name| speed(&bed[0], name));
    assert_eq!(speeds, ["500", "2000", "7", "9"].map(|speed| Some(speed.to_owned())));
    console(&bed[0], "spawn -beta whereami\nspawn -gamma whereami\nspawn -delta whereami\nquit\n");
    await_line(&told, &format!("beta {home}"));
    await_line(&told, &format!("gamma {}", two.display()));
    await_line(&told, &format!("delta {}", one.display()));
}

#[test]
fn host_line_sets_login_address_and_command() {
    let Some(bed) = Bed::of(3) else { return };
    let way = bed[0].settings_named("PARVUM_START_BY").expect("the bed sets it");
    let (door, logins) = (bed.root().join("door.sh"), bed.root().join("logins"));
    let way = way.replace("{host}", "\"$host\"");
    let text = format!("echo \"$1 $2\" >>{}\nhost=$2; shift 2\nexec {way} \"$@\"", logins.display());
    script(&door, &text);
    bed[0].set("PARVUM_START_BY", &format!("{} {{login}} {{host}}", door.display()));
    bed[0].set("PARVUM_REMOTE", "/nowhere/parvum");
    let daemon = profile().join("parvum");
    // The name is not the address.
    bed[0].add(&[&format!("other lo=guest ip=beta dx={}", daemon.display())]);
    bed[0].await_hosts(&["alpha", "other"]);
    await_line(&logins, "guest beta");
    bed[0].succeed(&["parvum", "remove", "other"]);
    // Without a place for it a login cannot be honoured.
    bed[0].set("PARVUM_START_BY", &format!("{} nobody {{host}}", door.display()));
    bed[0].succeed(&["parvum", "down"]);
    let refused = bed[0].parvum(&["add", "gamma lo=guest"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && why.contains("gamma: lo=guest") && why.contains("{login}"), "{why}");
}

#[test]
fn unsupported_host_option_is_named_with_its_line() {
    let Some(bed) = Bed::of(2) else { return };
    let file = bed.root().join("hosts");
    std::fs::write(&file, "# by hand\ndelta so=ms\n& gamma so=pw\n").expect("the bed's folder is writable");
    let file = file.to_str().expect("a plain name");
    let done = bed[0].parvum(&["up", file]);
    let why = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && why.contains("hosts:2: delta is not added: so=ms"), "{why}");
    bed[0].await_hosts(&["alpha"]);
    // The machine is up: the file would not count.
    let done = bed[0].parvum(&["up", file]);
    let why = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && why.contains("E-RUNNING"), "{why}");
    for (host, named) in [
        ("gamma", "gamma: so=pw"),
        ("beta dx=/usr/lib/pvm3/lib/pvmd", "beta: dx=/usr/lib/pvm3/lib/pvmd"),
        ("beta id=two", "beta: id=two"),
        ("beta sp=fast", "beta: sp=fast"),
        ("beta zz=1", "beta: zz="),
        ("beta wd=$NOT_SET_OVER_THERE", "wd=$NOT_SET_OVER_THERE"),
    ] {
        let done = bed[0].parvum(&["add", host]);
        let why = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && why.contains(named), "{host}: {why}");
        bed[0].await_hosts(&["alpha"]);
    }
    // A program hears the same, with PVM's code.
    let said = bed[0].start("growing", &["--refused", "beta so=pw"]).errors();
    assert!(said.contains("pvm_addhosts()") && said.contains("beta: so=pw"), "{said}");
}

#[test]
fn program_adds_hosts_with_options() {
    let Some(bed) = Bed::of(2) else { return };
    bed[0].succeed(&["parvum", "up"]);
    bed[0].check("growing", &["beta sp=77"], "auto");
    bed[0].await_hosts(&["alpha"]);
}
