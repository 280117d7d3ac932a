//! `parvum predict`: how long a program's tasks would take on other machines, from what they computed and sent on this one.

use crate::shown::shown;
use crate::terminal::out;
use clap::Args;
use parvum_lab::stats::costs;
use replay::group::Operation;
use replay::{FRAME, Machine, Route, Trace, play, simgrid};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A message takes some 100 bytes here.
const MOST_MESSAGES: u64 = 20_000_000;

#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum trace --replay app.replay -n 8 ./app", "record a run"),
    ("parvum predict app.replay --costs costs.json --hosts 8", "its time on eight hosts"),
    ("parvum predict --operation MPI_Allreduce --tasks 64 --costs costs.json", "one collective"),
]))]
pub struct PredictArgs {
    /// A file of `parvum trace --replay FILE`
    #[arg(required_unless_present = "operation", conflicts_with = "operation")]
    trace: Option<PathBuf>,
    /// Predict one collective instead of a trace
    #[arg(long, value_name = "NAME", value_parser = operation, requires = "tasks")]
    operation: Option<Operation>,
    /// Predict for N tasks
    #[arg(long, value_name = "N", requires = "operation", value_parser = clap::value_parser!(u32).range(1..=16384))]
    tasks: Option<u32>,
    /// Use N bytes for each task
    ///
    /// In an alltoall, this is the number of bytes that each task sends to every other task.
    #[arg(long, value_name = "N", requires = "operation", default_value_t = 8)]
    bytes: u64,
    /// Repeat the collective N times
    #[arg(long, value_name = "N", requires = "operation", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
    /// Read the costs of messages between hosts from FILE
    ///
    /// The program `loggp`, run on two hosts, writes FILE: `parvum compare --suite loggp`.
    #[arg(long, value_name = "FILE")]
    costs: PathBuf,
    /// Read the costs within a host from FILE [default: --costs]
    #[arg(long, value_name = "FILE")]
    within: Option<PathBuf>,
    /// Put the tasks on N hosts, in blocks [default: a host for each]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    hosts: Option<u32>,
    /// Give each host N processors
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    processors: u32,
    /// Let all hosts share these processors, as emulated hosts do
    #[arg(long)]
    share_processors: bool,
    /// Let all hosts share one cable instead of a switch
    #[arg(long)]
    share_medium: bool,
    /// Replay with SimGrid's smpirun too (Debian: libsimgrid-dev)
    #[arg(long)]
    simgrid: bool,
}

/// Plays the trace, and prints how long it takes and who waits.
pub fn predict(args: &PredictArgs) -> Result<(), String> {
    let trace = trace(args)?;
    let between = costs::read(&args.costs).map_err(|error| format!("E-REPLAY: {error}"))?;
    let within = match &args.within {
        Some(file) => costs::read(file).map_err(|error| format!("E-REPLAY: {error}"))?,
        None => between,
    };
    let tasks = trace.tasks.len();
    let machine = Machine {
        hosts: args.hosts.map_or(tasks, |hosts| hosts as usize),
        processors: args.processors as usize,
        shared_processors: args.share_processors,
        within,
        between: between.with_frame(FRAME),
        shared_medium: args.share_medium,
    };
    if machine.hosts > tasks {
        return Err(format!(
            "E-USAGE: --hosts {}: the {tasks} tasks need no more than a host each",
            machine.hosts
        ));
    }
    let played = play(&trace, &machine);
    let (messages, bytes) = trace.messages();
    let mut text = format!(
        "{tasks} tasks on {} host{} of {} processor{}{}; {messages} messages, {bytes} bytes\nbetween hosts  {}\n",
        machine.hosts,
        if machine.hosts == 1 { "" } else { "s" },
        machine.processors,
        if machine.processors == 1 { "" } else { "s" },
        if machine.shared_processors { " that all share" } else { "" },
        words(&between),
    );
    if args.within.is_some() {
        text.push_str(&format!("within a host  {}\n", words(&machine.within)));
    }
    let waited = played.waited.iter().copied().fold(0.0, f64::max);
    text.push_str(&format!(
        "predicted      {:.6} s; all tasks together compute {:.6} s, one waits {:.6} s at most\n",
        played.time / 1e9,
        trace.computing() / 1e9,
        waited / 1e9,
    ));
    if !played.stuck.is_empty() {
        let names: Vec<String> = played.stuck.iter().take(8).map(usize::to_string).collect();
        text.push_str(&format!(
            "never ended: tasks {}, which wait for messages that nobody sent\n",
            names.join(", ")
        ));
    }
    if args.simgrid {
        text.push_str(&format!("SimGrid        {:.6} s\n", by_simgrid(&trace, &machine)?));
    }
    out::line(text.trim_end()).map_err(|error| error.to_string())
}

fn operation(word: &str) -> Result<Operation, String> {
    let known = Operation::ALL.map(Operation::name);
    Operation::ALL
        .into_iter()
        .find(|operation| operation.name() == word)
        .ok_or_else(|| format!("the operations are {}", known.join(", ")))
}

/// The trace that was named, or the operation's.
fn trace(args: &PredictArgs) -> Result<Trace, String> {
    let Some(path) = &args.trace else {
        let (Some(operation), Some(tasks)) = (args.operation, args.tasks) else {
            return Err("E-USAGE: a trace, or --operation".into());
        };
        let messages =
            if operation == Operation::Alltoall { u64::from(tasks).pow(2) } else { u64::from(tasks) * 16 };
        if messages * u64::from(args.times) > MOST_MESSAGES {
            return Err(format!(
                "E-USAGE: {} of {tasks} tasks has too many messages to keep in memory; help: use fewer --tasks or --times",
                operation.name()
            ));
        }
        return Ok(operation.trace(tasks as usize, args.bytes as usize, args.times as usize));
    };
    let name = path.display();
    let file = File::open(path).map_err(|error| {
        format!(
            "E-REPLAY: cannot read {name}: {error}; help: `parvum trace --replay {name} -n 2 ./program` writes it"
        )
    })?;
    Trace::read(BufReader::new(file)).map_err(|why| format!("{why}, in {name}"))
}

fn words(route: &Route) -> String {
    let us = |ns: f64| format!("{:.2}", ns / 1000.0);
    format!(
        "L {} us, o {} us to send and {} to receive, g {} us, G {:.3} ns a byte ({:.1} MB/s); a byte costs its ends {:.3} and {:.3} ns besides",
        us(route.latency),
        us(route.send.message),
        us(route.receive.message),
        us(route.gap),
        route.byte,
        1000.0 / route.byte.max(1e-9),
        route.send.byte,
        route.receive.byte,
    )
}

/// The seconds that SimGrid's replay of the same trace takes, on a platform of the same costs.
fn by_simgrid(trace: &Trace, machine: &Machine) -> Result<f64, String> {
    if machine.shared_processors && machine.hosts > 1 {
        return Err(
            "E-USAGE: --simgrid: its hosts have processors of their own; help: leave out --share-processors"
                .into(),
        );
    }
    let folder = std::env::temp_dir().join(format!("parvum-simgrid-{}", std::process::id()));
    fs::create_dir(&folder)
        .map_err(|error| format!("E-REPLAY: cannot make {}: {error}", folder.display()))?;
    let told = replayed(&folder, trace, machine);
    let _ = fs::remove_dir_all(&folder);
    told
}

fn replayed(folder: &Path, trace: &Trace, machine: &Machine) -> Result<f64, String> {
    let mut actions = Vec::new();
    trace.write(&[], &mut actions).map_err(|error| error.to_string())?;
    let tasks = trace.tasks.len();
    for (name, text) in [
        ("platform.xml", simgrid::platform(machine).into_bytes()),
        ("hosts", simgrid::hostfile(machine, tasks).into_bytes()),
        ("traces", b"actions\n".to_vec()),
        ("actions", actions),
    ] {
        fs::write(folder.join(name), text)
            .map_err(|error| format!("E-REPLAY: {}: {error}", folder.display()))?;
    }
    let mut smpirun = Command::new("smpirun");
    smpirun.current_dir(folder).args(["-np", &tasks.to_string(), "-platform", "platform.xml"]);
    // The costs are all in the platform: no factors of SimGrid's own for protocols of an MPI of 2010.
    smpirun.args(["-hostfile", "hosts", "-replay", "traces", "--cfg=network/model:LV08"]);
    smpirun.args(["--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1"]);
    smpirun.args(["--cfg=smpi/host-speed:1Gf"]);
    let done = smpirun.output().map_err(|error| {
        format!(
            "E-REPLAY: SimGrid's smpirun does not start ({error}); help: `apt-get install libsimgrid-dev`; help: leave out --simgrid"
        )
    })?;
    let said = format!("{}{}", shown(&done.stdout), shown(&done.stderr));
    simgrid::told(&said).ok_or_else(|| {
        let last: Vec<&str> = said.lines().rev().take(3).collect();
        format!("E-REPLAY: SimGrid's smpirun ended without an answer: {}", last.join("; "))
    })
}
