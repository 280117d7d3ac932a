//! `./x hosts N [-- COMMAND...]`: N hosts on this machine, for trying things out.
//!
//! Also the programs that a bed is made of: `hosts hold` and `hosts rsh`.

#![forbid(unsafe_code)]

mod calibrate;
mod compile;
mod speed;

use parvum_tests::bed::emulated::Emulated;
use parvum_tests::bed::{Bed, Plan, holder, possible, relay};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: hosts N [--ssh] [--network NAME|FILE] [-- COMMAND...]
       hosts --calibrate [NAME|FILE...]
       hosts --speed [ROUNDS]
       hosts --encryption [ROUNDS]

Makes N hosts out of namespaces. With a COMMAND, runs it on the first of them and takes the hosts
away when it ends. Without one, keeps them until standard input ends (Control-D) and says how to use
them. With --ssh each host runs an sshd, and `parvum add` uses ssh.

With --network they are joined by another network than this machine's own speed: ethernet10, fddi,
fddi-switch, hippi, atm, fc, allnode, gigabit, lan, wan, or what a file says (docs/project/emulated-hosts.md).
--calibrate measures such networks by sockets, and holds those of Fatoohi's Table 1 against what he got.

With --speed, measures messages between hosts on Parvum and on PVM 3.4.6, in turns. With --encryption,
measures them encrypted and in clear.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("hold") => {
            holder::hold(option(&words, "--door"), option(&words, "--remove"));
            ExitCode::SUCCESS
        }
        Some("relay") if words.len() == 2 => {
            relay::run(&words[1]).map_or_else(refuse, |()| ExitCode::SUCCESS)
        }
        Some("--calibrate") => calibrate::run(&words[1..]).map_or_else(refuse, |()| ExitCode::SUCCESS),
        Some("rsh") if words.len() > 3 => {
            let code = holder::call(Path::new(&words[1]), &words[2], &words[3..]);
            ExitCode::from(code as u8)
        }
        Some(what @ ("--speed" | "--encryption")) => {
            let rounds = words.get(1).map_or(Ok(3), |rounds| rounds.parse());
            let measure = if what == "--speed" { speed::compare } else { speed::compare_encryption };
            let done = rounds.map_err(|_| USAGE.to_owned()).and_then(measure);
            done.map_or_else(refuse, |()| ExitCode::SUCCESS)
        }
        _ => match parse(&words).and_then(|(plan, command)| make(&plan, &command)) {
            Ok(code) => code,
            Err(why) => refuse(why),
        },
    }
}

fn refuse(why: String) -> ExitCode {
    eprintln!("hosts: {why}");
    ExitCode::FAILURE
}

fn option(words: &[String], name: &str) -> Option<PathBuf> {
    let at = words.iter().position(|word| word == name)?;
    words.get(at + 1).map(PathBuf::from)
}

fn parse(words: &[String]) -> Result<(Plan, Vec<String>), String> {
    let mut parts = words.splitn(2, |word| word == "--");
    let (before, command) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (mut hosts, mut ssh, mut network) = (None, false, None);
    let mut before = before.iter();
    while let Some(word) = before.next() {
        match word.parse::<usize>() {
            Ok(number) if (1..=250).contains(&number) => hosts = Some(number),
            _ if word == "--ssh" => ssh = true,
            _ if word == "--network" => network = Some(Emulated::find(before.next().ok_or(USAGE)?)?),
            _ => return Err(format!("{word}?\n{USAGE}")),
        }
    }
    let hosts = hosts.ok_or(USAGE)?;
    let plan = Plan { ssh, network, ..Plan::of_this_build(hosts) };
    Ok((plan, command.to_vec()))
}

fn make(plan: &Plan, command: &[String]) -> Result<ExitCode, String> {
    possible()?;
    let bed = Bed::make(plan)?;
    if let Some((program, words)) = command.split_first() {
        // Whoever enters a host is in its root.
        let here = std::env::current_dir().map_err(|why| why.to_string())?;
        let mut command = bed[0].command("env");
        command.arg("-C").arg(here).arg(program).args(words).stdin(std::process::Stdio::inherit());
        let status = command.status().map_err(|why| why.to_string())?;
        return Ok(ExitCode::from(status.code().unwrap_or(255) as u8));
    }
    println!("{} hosts, in {}:\n", plan.hosts, bed.root().display());
    for host in bed.hosts() {
        println!("    {:10} {}", host.name, host.addresses().join("  "));
    }
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    println!(
        "\nA command on the first, from another terminal:\n\n    {program} rsh {root} {first} parvum add {others}\n\n\
         They go away at the end of standard input (Control-D).",
        program = program.display(),
        root = bed.root().display(),
        first = bed[0].name,
        others = bed.others().join(" "),
    );
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    Ok(ExitCode::SUCCESS)
}
