//! `./x hosts --speed [ROUNDS]`: messages between hosts on Parvum and on PVM, on the same hosts and in turns.

use crate::compile::compile;
use parvum_tests::bed::{Bed, Host, Plan, Rival, possible};
use parvum_tests::figures::{self, Row};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The first, and eight to be added; a multicast goes to seven.
const HOSTS: usize = 9;
const PVM: &str = "PVM 3.4.6";
const TCP: &str = "bare TCP";

/// What `far` is asked for, and how much better than PVM it is to be.
struct Case {
    what: &'static str,
    unit: &'static str,
    words: [&'static str; 4],
    to: usize,
    goal: f64,
    more: bool,
}

const fn case(what: &'static str, unit: &'static str, words: [&'static str; 4], goal: f64) -> Case {
    let more = matches!(unit.as_bytes(), b"Mbit/s");
    let to = if matches!(words[0].as_bytes(), b"mcast") { 7 } else { 1 };
    Case { what, unit, words, to, goal, more }
}

const CASES: [Case; 7] = [
    case("direct, 8 B, half a round trip", "us", ["pingpong", "direct", "8", "5000"], 1.5),
    case("direct, 1 MiB, half a round trip", "us", ["pingpong", "direct", "1048576", "200"], 3.0),
    case("direct, 1 MiB, one way", "Mbit/s", ["stream", "direct", "1048576", "300"], 3.0),
    case("routed, 8 B, half a round trip", "us", ["pingpong", "routed", "8", "2000"], 1.5),
    case("routed, 1 MiB, half a round trip", "us", ["pingpong", "routed", "1048576", "30"], 3.0),
    case("routed, 1 MiB, one way", "Mbit/s", ["stream", "routed", "1048576", "30"], 3.0),
    case("multicast, 1 MiB to 7 hosts", "ms", ["mcast", "default", "1048576", "10"], 4.0),
];

/// Measures in turns, prints the medians, and keeps every number in `results/`.
pub fn compare(rounds: u32) -> Result<(), String> {
    let load = figures::load();
    possible()?;
    let bed = Bed::make(&Plan::of_this_build(HOSTS))?;
    let (far, wire) = (compile(bed.root(), "far", true)?, compile(bed.root(), "wire", false)?);
    let pvm = Rival::over(&bed).ok_or("PVM 3.4.6 is needed: ./x peers")?;
    let mut rows: Vec<Row> =
        CASES.iter().map(|case| Row::new(case.what, case.unit, PVM, case.goal, case.more)).collect();
    // Within 15 % of bare TCP, 90 % of iperf3, 1.5 times as long for eight hosts as for one.
    let mut floor = Row::new(CASES[0].what, CASES[0].unit, TCP, 0.87, false);
    let mut width = Row::new(CASES[2].what, CASES[2].unit, "iperf3", 0.9, true);
    let mut adding = Row::new("adding 8 hosts, against adding one", "ms", "one host", 0.67, false);
    let mut distant = Row::new("adding 8 hosts half a second away", "ms", "one host", 0.67, false);
    for round in 0..rounds {
        println!("round {} of {rounds}", round + 1);
        let first = &bed[0];
        adding.theirs.push(add(first, &bed.others()[..1])?);
        first.succeed(&["parvum", "down"]);
        adding.ours.push(add(first, &bed.others())?);
        let usual = far_away(&bed)?;
        first.succeed(&["parvum", "down"]);
        distant.theirs.push(add(first, &bed.others()[..1])?);
        first.succeed(&["parvum", "down"]);
        distant.ours.push(add(first, &bed.others())?);
        first.set("PARVUM_START_BY", &usual);
        for (case, row) in CASES.iter().zip(&mut rows) {
            let targets: Vec<&str> = bed.others()[..case.to].to_vec();
            let words = || case.words.iter().chain(&targets);
            // Who goes first changes, so that neither always meets a warm or a busy machine.
            for ours in if round % 2 == 0 { [false, true] } else { [true, false] } {
                let mut command = if ours { first.command(&far) } else { pvm.command(first, text(&far)) };
                let figure = number(command.args(words())).map_err(|why| format!("{}: {why}", case.what))?;
                if ours { &mut row.ours } else { &mut row.theirs }.push(figure);
            }
        }
        floor.theirs.push(bare(&bed, &wire)?);
        width.theirs.push(iperf(&bed)?);
        first.succeed(&["parvum", "down"]);
    }
    let encrypted = encryption(&bed, &far, rounds)?;
    // Bare TCP and iperf3 do not encrypt.
    floor.ours.clone_from(&encrypted[0].theirs);
    width.ours.clone_from(&encrypted[2].theirs);
    rows.extend([floor, width]);
    rows.extend(encrypted);
    rows.extend([adding, distant, gangs(&bed, rounds)?]);
    figures::show(&rows, "hosts-speed", load)
}

/// What encryption costs, by itself.
pub fn compare_encryption(rounds: u32) -> Result<(), String> {
    let load = figures::load();
    possible()?;
    let bed = Bed::make(&Plan::of_this_build(2))?;
    let far = compile(bed.root(), "far", true)?;
    figures::show(&encryption(&bed, &far, rounds)?, "hosts-encryption", load)
}

/// What encryption costs: the direct cases, with it and without. PVM is not asked.
fn encryption(bed: &Bed, far: &Path, rounds: u32) -> Result<Vec<Row>, String> {
    let (first, other) = (&bed[0], bed.others()[0]);
    let cases = &CASES[..3];
    let name = |case: &Case| format!("{}, encrypted", case.what).leak() as &'static str;
    // A message of 8 bytes may take half as long again, what is long 85 % of the width.
    let goal = |case: &Case| if case.words[2] == "8" { 0.67 } else { 0.85 };
    let mut rows: Vec<Row> =
        cases.iter().map(|case| Row::new(name(case), case.unit, "in clear", goal(case), case.more)).collect();
    for round in 0..rounds {
        for encrypts in if round % 2 == 0 { [false, true] } else { [true, false] } {
            first.set("PARVUM_ENCRYPT", if encrypts { "yes" } else { "no" });
            add(first, &[other])?;
            for (case, row) in cases.iter().zip(&mut rows) {
                let figure = number(first.command(far).args(case.words).arg(other))?;
                if encrypts { &mut row.ours } else { &mut row.theirs }.push(figure);
            }
            first.succeed(&["parvum", "down"]);
        }
    }
    first.set("PARVUM_ENCRYPT", "yes");
    Ok(rows)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the bed's folder has a plain name")
}

/// The number that a command prints.
fn number(command: &mut Command) -> Result<f64, String> {
    let done = command.output().map_err(|why| why.to_string())?;
    let said = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    said.trim().parse().map_err(|_| format!("{}: {said}{errors}", done.status))
}

/// Two fine-grained jobs of two tasks on one host: by how much equal parts of them differ in time, without gangs and as gangs.
fn gangs(bed: &Bed, rounds: u32) -> Result<Row, String> {
    let grain = compile(bed.root(), "grain", true)?;
    let first = &bed[0];
    first.succeed(&["parvum", "up"]);
    let mut row = Row::new("two jobs of 2 tasks, variation", "%", "no gangs", 5.0, false);
    for _ in 0..rounds {
        for gang in [false, true] {
            let start = || {
                let mut command = first.command("parvum");
                command.arg("run").args(gang.then_some("--gang")).args(["-n", "2", text(&grain)]);
                command
                    .args(["16", "12000", "20"])
                    .stdout(Stdio::piped())
                    .spawn()
                    .map_err(|why| why.to_string())
            };
            let jobs = [start()?, start()?];
            for job in jobs {
                let done = job.wait_with_output().map_err(|why| why.to_string())?;
                let said = String::from_utf8_lossy(&done.stdout);
                // At its ends a job may be alone.
                let parts: Vec<f64> = said.lines().filter_map(|line| line.parse().ok()).collect();
                let parts = parts.get(2..14).ok_or(format!("grain: {} {said}", done.status))?;
                if gang { &mut row.ours } else { &mut row.theirs }.push(100.0 * figures::variation(parts));
                println!("gang {gang}: a part takes {:.0} ms", figures::median(parts));
            }
        }
    }
    first.succeed(&["parvum", "down"]);
    Ok(row)
}

/// Milliseconds to add hosts.
fn add(first: &Host, names: &[&str]) -> Result<f64, String> {
    first.succeed(&["parvum", "up"]);
    let began = Instant::now();
    let done = first.command("parvum").arg("add").args(names).output().map_err(|why| why.to_string())?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    let errors = String::from_utf8_lossy(&done.stderr);
    if done.status.success() { Ok(took) } else { Err(format!("parvum add: {errors}")) }
}

/// Makes the other hosts slow to start anything, as hosts of a real network are; what was usual.
///
/// Here all hosts share a few processors, and eight daemons take eight times the processor time of one.
fn far_away(bed: &Bed) -> Result<String, String> {
    let usual = bed[0].settings_named("PARVUM_START_BY").ok_or("the bed does not say how daemons start")?;
    let script = bed.root().join("far-away");
    let way = usual.replace("{host}", "\"$host\"");
    std::fs::write(&script, format!("#!/bin/sh\nhost=$1\nshift\nsleep 0.5\nexec {way} \"$@\"\n"))
        .and_then(|()| std::fs::set_permissions(&script, Permissions::from_mode(0o755)))
        .map_err(|why| why.to_string())?;
    bed[0].set("PARVUM_START_BY", &format!("{} {{host}}", text(&script)));
    Ok(usual)
}

/// Half a round trip of 8 bytes with nothing but TCP between.
fn bare(bed: &Bed, wire: &Path) -> Result<f64, String> {
    let mut server = bed[1].command(wire).args(["serve", "7777"]).spawn().map_err(|why| why.to_string())?;
    let address = &bed[1].addresses()[0];
    let figure = patiently(|| number(bed[0].command(wire).args([address, "7777", "8", "5000"])));
    let _ = server.kill();
    let _ = server.wait();
    figure
}

/// Megabits per second of one TCP connection, as iperf3 finds.
fn iperf(bed: &Bed) -> Result<f64, String> {
    let mut server = bed[1].command("iperf3").args(["-s", "-1"]).stdout(Stdio::null()).spawn();
    let server = server.as_mut().map_err(|why| format!("iperf3: {why}"))?;
    let address = &bed[1].addresses()[0];
    let script =
        format!("iperf3 -c {address} -t 1 -l 1M -f m | sed -n 's/.* \\([0-9.]*\\) Mbits.*receiver.*/\\1/p'");
    let figure = patiently(|| number(bed[0].command("sh").args(["-c", &script])));
    let _ = server.kill();
    let _ = server.wait();
    figure
}

/// The server may not listen yet.
fn patiently(mut ask: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        match ask() {
            Err(_) if Instant::now() < end => std::thread::sleep(Duration::from_millis(20)),
            done => return done,
        }
    }
}
