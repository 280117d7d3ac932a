//! `./x simulate`: the daemons' own logic in virtual time, for machines of 2 to 4095 hosts.

#![forbid(unsafe_code)]

mod daemon;
mod net;
mod report;
mod story;
mod world;

use parvum_lab::host::factors::date_and_time;
use parvum_lab::run::record::dated;
use parvum_wire::Tid;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: simulate [--hosts N] [--seed N] [--out DIR]

Simulates machines of 2, 4, 8 ... N hosts (4095, for which task ids have room): all come by one `parvum add`, then a tenth dies at one moment, then the
leader and a tenth of the rest. Prints how long they took to agree and what they sent, and leaves the table and a page with
the curves in a dated folder of DIR (results).";

/// A machine of so many hosts.
struct Size {
    hosts: usize,
    measured: story::Measured,
    /// Seconds of real time that it took.
    wall: f64,
}

struct Settings {
    hosts: usize,
    seed: u64,
    out: PathBuf,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match parse(&words).and_then(|settings| simulate(&settings)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("simulate: {why}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Result<Settings, String> {
    let mut settings = Settings { hosts: Tid::MAX_HOST as usize, seed: 1, out: "results".into() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(USAGE)?;
        match word.as_str() {
            "--hosts" => settings.hosts = value.parse().map_err(|_| USAGE)?,
            "--seed" => settings.seed = value.parse().map_err(|_| USAGE)?,
            "--out" => settings.out = value.into(),
            _ => return Err(USAGE.into()),
        }
    }
    if !(2..=Tid::MAX_HOST as usize).contains(&settings.hosts) {
        return Err(USAGE.into());
    }
    Ok(settings)
}

fn simulate(settings: &Settings) -> Result<(), String> {
    println!("{}", report::heading());
    let mut all = Vec::new();
    let mut hosts = 2;
    loop {
        let began = Instant::now();
        let measured = story::measure(hosts, settings.seed)?;
        let size = Size { hosts, measured, wall: began.elapsed().as_secs_f64() };
        println!("{}", report::line(&size));
        all.push(size);
        if hosts == settings.hosts {
            break;
        }
        hosts = (2 * hosts).min(settings.hosts);
    }
    println!("\n{}", report::growths(&all));
    let date = date_and_time();
    let folder = dated(&settings.out, &format!("{date} simulation")).map_err(|error| error.to_string())?;
    let csv = report::csv(&all);
    let page = report::page(&all, &csv, &date, settings.seed);
    for (name, text) in [("simulation.csv", csv), ("simulation.html", page)] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    println!("{}", folder.join("simulation.html").display());
    Ok(())
}
