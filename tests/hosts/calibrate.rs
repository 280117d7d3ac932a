//! `./x hosts --calibrate [NETWORK...]`: what emulated networks give to sockets, beside what Fatoohi's hosts got of theirs.

use crate::compile::{compile, compile_of};
use parvum_tests::bed::emulated::{Emulated, KNOWN, Known};
use parvum_tests::bed::{Bed, Host, Plan, Rival, possible};
use parvum_tests::figures::{self, Table};
use parvum_tests::running::Running;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const PORT: &str = "5001";
/// A message of his experiments, and how long one of ours lasts.
const MESSAGE: &str = "32768";
const SECONDS: &str = "3";
const MIB: f64 = 1_048_576.0;
/// By how much an emulated network may differ.
const WITHIN: f64 = 0.1;

/// Measures these networks, or all of the paper's and the relay's own limit.
pub fn run(words: &[String]) -> Result<(), String> {
    let mut table = Table::new(figures::load());
    possible()?;
    let networks = match words {
        [] => KNOWN
            .iter()
            .map(|known| Emulated::find(known.name))
            .chain([unlimited()])
            .collect::<Result<Vec<_>, _>>()?,
        some => some.iter().map(|word| Emulated::find(word)).collect::<Result<Vec<_>, _>>()?,
    };
    println!(
        "Sockets: TCP in messages of 32 KiB for {SECONDS} s, MiB/s of a link; UDP of 8 bytes, half a round trip."
    );
    println!("PVM and Parvum: messages of 128 KiB to and fro, direct, MiB/s.\n");
    println!(
        "{:11} {:>12} {:>6} {:>12} {:>12} {:>12} {:>7}",
        "network", "one way", "both", "4 machines", "8 B, us", "PVM 3.4.6", "Parvum"
    );
    let mut missed = Vec::new();
    for network in &networks {
        let known = KNOWN.iter().find(|known| known.name == network.name);
        let found = measure(network, known)?;
        found.enter(&mut table, &network.name);
        let digits = |value: f64| if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") };
        let beside = |value: f64, paper: Option<f64>| {
            paper.map_or(digits(value), |paper| format!("{} ({paper})", digits(value)))
        };
        println!(
            "{:11} {:>12} {:>6} {:>12} {:>12} {:>12} {:>7}",
            network.name,
            beside(found.one_way, known.map(|known| known.r_max)),
            digits(found.both_ways),
            beside(found.four, known.map(|known| known.four)),
            beside(found.t_zero, known.map(|known| known.t_zero)),
            found.pvm.map_or("-".to_owned(), |pvm| beside(pvm, known.map(|known| known.pvm))),
            digits(found.parvum),
        );
        if let Some(known) = known {
            let near = |value: f64, paper: f64| (value / paper - 1.0).abs() <= WITHIN;
            if !near(found.one_way, known.r_max) || !near(found.t_zero, known.t_zero) {
                missed.push(network.name.clone());
            }
        }
    }
    println!(
        "\nIn brackets what Fatoohi's hosts got (Tables 1 to 3). His PVM was held up by the hosts, but for Ethernet."
    );
    table.keep("hosts-calibration")?;
    match missed.is_empty() {
        true => Ok(()),
        false => Err(format!("more than 10 % off: {}; on a busy machine run it again", missed.join(", "))),
    }
}

/// The relay without a limit of its own choice: what it can relay.
fn unlimited() -> Result<Emulated, String> {
    Emulated::parse("no limit", "mtu = 1500")
}

/// What a network gave.
struct Found {
    one_way: f64,
    both_ways: f64,
    four: f64,
    t_zero: f64,
    /// Where it is installed.
    pvm: Option<f64>,
    parvum: f64,
}

impl Found {
    fn enter(&self, table: &mut Table, network: &str) {
        let mut add = |what: &str, unit: &str, system: &str, value: f64| {
            table.add(&format!("{network}, {what}"), unit, system, value);
        };
        add("one way", "MiB/s", "sockets", self.one_way);
        add("both ways", "MiB/s", "sockets", self.both_ways);
        add("4 machines", "MiB/s", "sockets", self.four);
        add("8 B, half a round trip", "us", "sockets", self.t_zero);
        if let Some(pvm) = self.pvm {
            add("128 KiB to and fro", "MiB/s", "PVM 3.4.6", pvm);
        }
        add("128 KiB to and fro", "MiB/s", "Parvum", self.parvum);
    }
}

fn measure(network: &Emulated, known: Option<&Known>) -> Result<Found, String> {
    let plan = Plan { network: Some(network.clone()), ..Plan::of_this_build(4) };
    let bed = Bed::make(&plan)?;
    let apps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps");
    let sources = [apps.join("floors/sockets.c"), apps.join("common/bench.c")];
    let program = compile_of(bed.root(), "sockets", &[&sources[0], &sources[1]], false)?;
    let buffer = known.map_or(0, |known| known.buffer * 1024).to_string();
    let mut servers: Vec<Running> = Vec::new();
    for host in bed.hosts() {
        let mut server = Running::start(&mut host_command(host, &program, &["serve", PORT, &buffer]));
        server.told("ready");
        servers.push(server);
    }
    let sender = Sender { bed: &bed, program, buffer };
    let found = (|| {
        let t_zero =
            number(first(&bed[0], &sender.program, &["echo", &bed[1].name, PORT, "8", "400"]))? / 1000.0;
        let one_way = sender.streams(&[(0, 1)])?;
        let both_ways = sender.streams(&[(0, 1), (1, 0)])?;
        let four = sender.streams(&[(0, 1), (2, 3)])?;
        let (pvm, parvum) = passed(&bed)?;
        Ok(Found { one_way, both_ways, four, t_zero, pvm, parvum })
    })();
    for server in &mut servers {
        server.kill();
    }
    found
}

/// Long messages on PVM 3.4.6 and on Parvum, in MiB/s.
fn passed(bed: &Bed) -> Result<(Option<f64>, f64), String> {
    // Without PVM's library there is nothing to link with.
    let Ok(far) = compile(bed.root(), "far", true) else { return Ok((None, f64::NAN)) };
    let words = ["pingpong", "direct", "131072", "2", &bed[1].name];
    let rate = |us: f64| 131_072.0 / MIB * 1e6 / us;
    let pvm = match Rival::over(bed) {
        Some(rival) => {
            let mut command =
                rival.command(&bed[0], far.to_str().ok_or("the bed's folder has no plain name")?);
            command.args(words);
            Some(rate(number(command)?))
        }
        None => None,
    };
    bed[0].succeed(&["parvum", "up"]);
    bed[0].add(&[&bed[1].name]);
    let mut command = bed[0].command(&far);
    command.args(words);
    let parvum = number(command).map(rate);
    bed[0].succeed(&["parvum", "down"]);
    Ok((pvm, parvum?))
}

struct Sender<'a> {
    bed: &'a Bed,
    program: PathBuf,
    buffer: String,
}

impl Sender<'_> {
    /// Streams at the same time; MiB/s of the slowest.
    fn streams(&self, pairs: &[(usize, usize)]) -> Result<f64, String> {
        let start = |(from, to): &(usize, usize)| {
            let words = ["stream", &self.bed[*to].name, PORT, MESSAGE, &self.buffer, SECONDS];
            let mut command = host_command(&self.bed[*from], &self.program, &words);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|why| why.to_string())
        };
        let children: Vec<Child> = pairs.iter().map(start).collect::<Result<_, _>>()?;
        let mut slowest = f64::INFINITY;
        for child in children {
            let done = child.wait_with_output().map_err(|why| why.to_string())?;
            slowest = slowest.min(parsed(&done)? / MIB);
        }
        Ok(slowest)
    }
}

fn host_command(host: &Host, program: &Path, words: &[&str]) -> Command {
    let mut command = host.command(program);
    command.args(words);
    command
}

/// Before what else this machine does, where that is allowed: who is late to its turn passes for a slow network. Not for streams, whose ends
/// would not let each other work.
fn first(host: &Host, program: &Path, words: &[&str]) -> Command {
    let chrt = ["chrt", "-f", "10"];
    let may = Command::new(chrt[0]).args(&chrt[1..]).arg("true").stderr(Stdio::null()).status();
    if !may.is_ok_and(|status| status.success()) {
        return host_command(host, program, words);
    }
    let mut command = host.command(chrt[0]);
    command.args(&chrt[1..]).arg(program).args(words);
    command
}

fn number(mut command: Command) -> Result<f64, String> {
    parsed(&command.output().map_err(|why| why.to_string())?)
}

fn parsed(done: &std::process::Output) -> Result<f64, String> {
    let said = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    said.trim().parse().map_err(|_| format!("sockets: {}: {said}{errors}", done.status))
}
