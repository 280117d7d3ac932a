//! `./x chaos MINUTES`: kills tasks, daemons and hosts while jobs run, and counts the damage.

#![forbid(unsafe_code)]

use parvum_tests::bed::{Plan, possible};
use parvum_tests::chaos::{Settings, run};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

const USAGE: &str = "usage: chaos MINUTES [--seed N] [--hosts N]

Makes hosts (5, and never fewer than 3) out of namespaces, runs task farms, rings and group barriers on them, and kills
tasks, daemons and hosts meanwhile. Prints its seed, what was done, and what damage there is; fails on any damage.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match parse(&words).and_then(|settings| storm(&settings)) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("chaos: {why}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Result<Settings, String> {
    let (mut minutes, mut seed, mut hosts) = (None, None, 5);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse::<u64>().ok()).ok_or(USAGE);
        match word.as_str() {
            "--seed" => seed = Some(number()?),
            "--hosts" => hosts = number()? as usize,
            _ => minutes = Some(word.parse::<f64>().map_err(|_| USAGE)?),
        }
    }
    let minutes = minutes.filter(|minutes| *minutes > 0.0 && *minutes < 1e4).ok_or(USAGE)?;
    if !(3..=250).contains(&hosts) {
        return Err(USAGE.to_owned());
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = seed.unwrap_or(now.as_millis() as u64 % 1_000_000);
    let detect = std::env::var("PARVUM_DETECT").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    Ok(Settings {
        seed,
        time: Duration::from_secs_f64(minutes * 60.0),
        least: 0,
        plan: Plan::of_this_build(hosts),
        detect: Duration::from_millis(detect),
        keep: Some(std::env::temp_dir().join(format!("parvum-chaos-{seed}"))),
    })
}

fn storm(settings: &Settings) -> Result<ExitCode, String> {
    possible()?;
    println!("seed {}", settings.seed);
    let report = run(settings, &mut |line| println!("{line}"))?;
    println!("\n{report}");
    if report.damages.is_empty() {
        println!("no damage");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(keep) = &settings.keep {
        println!("ledgers and logs are in {}", keep.display());
    }
    Ok(ExitCode::FAILURE)
}
