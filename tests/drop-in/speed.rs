//! The same binaries on PVM and on Parvum in one run, in turns: how long they take.

use crate::machines::{Kind, Machine, Place, await_end};
use parvum_tests::figures::{self, Row, median};
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

/// How `NPpvm` is run: its name here, and its options.
const MODES: [(&str, &[&str]); 2] = [("there and back", &[]), ("one way", &["-s"])];
const LONG: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(120);

/// Measures in turns, prints the medians, and keeps every number in `results/`.
pub fn compare(place: &Place, rounds: u32) -> Result<(), String> {
    let (load, mut rows) = (figures::load(), rows());
    for round in 0..rounds {
        println!("round {} of {rounds}", round + 1);
        // Who goes first changes, so that neither always meets a warm or a busy machine.
        let both = if round % 2 == 0 { [Kind::Pvm, Kind::Parvum] } else { [Kind::Parvum, Kind::Pvm] };
        for kind in both {
            let numbers = measure(place, kind)?;
            for (row, number) in rows.iter_mut().zip(numbers) {
                if kind == Kind::Pvm { &mut row.theirs } else { &mut row.ours }.push(number);
            }
        }
    }
    figures::show(&rows, "drop-in-speed", load)
}

fn rows() -> Vec<Row> {
    let row = |what, unit, goal, more| Row::new(what, unit, "PVM 3.4.6", goal, more);
    vec![
        row("NPpvm, there and back, 8 bytes", "us", 12.0, false),
        row("NPpvm, there and back, 1 MiB", "Mbit/s", 5.0, true),
        row("NPpvm, one way, 8 bytes", "us", 12.0, false),
        row("NPpvm, one way, 1 MiB", "Mbit/s", 5.0, true),
        row("16 tasks, spawn to first messages", "ms", 2.0, false),
        row("barrier of 64 tasks", "us", 5.0, false),
    ]
}

/// One number for each row.
fn measure(place: &Place, kind: Kind) -> Result<Vec<f64>, String> {
    let mut numbers = Vec::new();
    for (mode, options) in MODES {
        let machine = place.start(kind)?;
        let points = netpipe(&machine, options).map_err(|why| format!("NPpvm {mode}: {why}"))?;
        machine.stop()?;
        let at = |bytes: u64| {
            let point = points.iter().find(|point| point.0 == bytes);
            point.ok_or(format!("NPpvm {mode} has no point for {bytes} bytes"))
        };
        numbers.push(at(8)?.2 * 1e6);
        numbers.push(at(LONG)?.1);
    }
    for words in [["spawn", "16", "5"], ["barrier", "64", "3"]] {
        let machine = place.start(kind)?;
        let said = run(&machine, "pace", &words)?;
        machine.stop()?;
        let rounds: Vec<f64> = said.lines().filter_map(|line| line.trim().parse().ok()).collect();
        if rounds.is_empty() {
            return Err(format!("pace {} said nothing", words.join(" ")));
        }
        numbers.push(median(&rounds));
    }
    Ok(numbers)
}

/// Bytes, megabits per second and seconds of each point.
fn netpipe(machine: &Machine, options: &[&str]) -> Result<Vec<(u64, f64, f64)>, String> {
    let limit = (LONG + 4).to_string();
    // As many times at each length: by itself it repeats for seconds where PVM is slow.
    let common = ["-u", limit.as_str(), "-n", "100"];
    let mut receiver = machine.command("NPpvm");
    receiver.args(options).args(common).args(["-o", "np.receiver"]);
    let receiver = receiver.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut receiver = receiver.map_err(|why| why.to_string())?;
    // It is found as the other task of the machine.
    std::thread::sleep(Duration::from_millis(500));
    let arguments = [options, &common, &["-h", "127.0.0.1", "-o", "np.sender"]].concat();
    run(machine, "NPpvm", &arguments)?;
    await_end(&mut receiver, Duration::from_secs(5));
    let file = machine.home.join("np.sender");
    let text = std::fs::read_to_string(&file).map_err(|why| format!("{}: {why}", file.display()))?;
    let point = |line: &str| {
        let mut words = line.split_whitespace();
        let mut next = || words.next();
        Some((next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?))
    };
    Ok(text.lines().filter_map(point).collect())
}

fn run(machine: &Machine, program: &str, arguments: &[&str]) -> Result<String, String> {
    let mut command = machine.command(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|why| format!("{program}: {why}"))?;
    let mut pipe = child.stdout.take().expect("asked for");
    let reader = std::thread::spawn(move || {
        let mut said = String::new();
        let _ = pipe.read_to_string(&mut said);
        said
    });
    let status = await_end(&mut child, PATIENCE);
    if status.is_none_or(|status| !status.success()) {
        return Err(format!("{program} {} ended with {status:?}", arguments.join(" ")));
    }
    Ok(reader.join().unwrap_or_default())
}
