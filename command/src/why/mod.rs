//! `parvum why`: why does it hang, or where does its time go? It reads the pages of the tasks, and asks nothing of them.

mod barrier;
mod containers;
mod costs;
mod graph;
mod mpi;
mod performance;
mod shared;
mod words;

use crate::terminal::out::{self, note};
use crate::{complain, tool};
use clap::Args;
use containers::Names;
use costs::Costs;
use graph::{Finding, Picture};
use parvum_task::{Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{
    ErrorKind, Failure, GroupRow, HostRow, Reply, Request, TaskRow, TaskState, Waits,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

/// Between two pictures, which must be alike before anything is called a deadlock.
const APART: Duration = Duration::from_millis(300);
/// A wait that began sooner is no reason to look twice.
const LONG: u64 = 200;

/// How to ask.
#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum why", "what every task waits for; exit code 3: a deadlock"),
    ("parvum why t40002", "what one task waits for"),
    ("parvum why --watch", "prints a deadlock when it happens"),
    ("parvum why --performance t40002", "how its messages travel"),
    ("parvum why --json", "the same for a program"),
]))]
pub struct WhyArgs {
    /// Explain one task, such as t40002 [default: all]
    #[arg(value_parser = crate::parse_tid)]
    task: Option<Tid>,
    /// Keep watching, and print each deadlock within a second
    #[arg(long)]
    watch: bool,
    /// Say how messages travelled, and what other protocols cost here
    ///
    /// The costs are of the host where this command runs. The first call measures them, and keeps them in ~/.cache/parvum.
    #[arg(long, conflicts_with = "watch")]
    performance: bool,
    /// Measure the costs of this host again
    #[arg(long, requires = "performance")]
    measure: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "watch")]
    json: bool,
}

/// A sentence about tasks that do not move, and what it rests on.
struct Told {
    /// `mismatch` (of collectives), `deadlock`, `perhaps`, or `behind`.
    kind: &'static str,
    tasks: Vec<Tid>,
    /// The sentence first.
    lines: Vec<String>,
}

/// Says why. The exit code is 3 when something hangs for certain.
pub fn why(args: &WhyArgs) -> Result<ExitCode, SessionError> {
    let mut session = tool()?;
    if args.watch {
        return watch(&mut session, args.task);
    }
    if args.performance {
        return tell_performance(&mut session, args);
    }
    let (picture, stuck) = standstill(&mut session)?;
    let of = |tid: Tid| args.task.is_none_or(|wanted| wanted == tid);
    if let Some(task) = args.task
        && picture.task(task).is_none()
    {
        return Ok(complain(&Failure::new(ErrorKind::NoSuchTask, task.to_string())));
    }
    let known = Known::ask(&mut session, &picture);
    if args.json {
        let hosts = crate::look::views::host_rows(&mut session)?;
        return as_json(&picture, &known, &stuck, &hosts, of);
    }
    let hangs = print_hangs(&picture, &known, &stuck, of)?;
    for row in picture.tasks().filter(|row| of(row.tid) && !stuck.all.contains(&row.tid)) {
        tell_task(&picture, &known, row).iter().try_for_each(out::words)?;
    }
    if picture.tasks().next().is_none() {
        out::words("No task is on the machine.")?;
    } else if !hangs && args.task.is_none() {
        out::words("Nothing hangs for certain.")?;
    }
    Ok(if hangs { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// Says how the messages of one task or of all travelled.
fn tell_performance(session: &mut Session, args: &WhyArgs) -> Result<ExitCode, SessionError> {
    let rows = rows(session)?;
    let of = |row: &&TaskRow| args.task.is_none_or(|wanted| wanted == row.tid) && !is_runner(row);
    let told: Vec<_> = rows.iter().filter(of).collect();
    if let Some(task) = args.task
        && told.is_empty()
    {
        return Ok(complain(&Failure::new(ErrorKind::NoSuchTask, task.to_string())));
    }
    let costs = Costs::of_this_host(args.measure);
    if let Err(why) = &costs {
        note(format!("the costs of this host are unknown: {why}"));
    }
    let costs = costs.as_ref().ok();
    // Tasks of other hosts may have other processors.
    let here = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let hosts = crate::look::views::host_rows(session)?;
    let is_here = |row: &TaskRow| hosts.iter().any(|host| host.tid == row.host && host.name == here);
    let costs_of = |row: &TaskRow| costs.filter(|_| is_here(row));
    if args.json {
        let tasks = told.iter().map(|row| performance::as_json(row, costs_of(row)));
        out::json(&json!({ "tasks": tasks.collect::<Value>() }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if told.is_empty() {
        out::words("No task is on the machine.")?;
    }
    for row in &told {
        performance::lines(row, &rows, costs_of(row)).iter().try_for_each(out::words)?;
    }
    if let Some(costs) = costs {
        out::line("")?;
        out::words("One message between two tasks of this host, data written before and read after:")?;
        out::table(&performance::table(costs))?;
        if costs.is_rough {
            out::words("These costs are rough: other tasks used the cores while they were measured.")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The same for programs: what hangs, and what each task does.
fn as_json(
    picture: &Picture,
    known: &Known,
    stuck: &Stuck,
    hosts: &[HostRow],
    of: impl Fn(Tid) -> bool,
) -> Result<ExitCode, SessionError> {
    let (hangs, told) = hangs(picture, stuck, &of);
    let findings = told.iter().map(|Told { kind, tasks, lines }| {
        let tasks: Vec<String> = tasks.iter().map(Tid::to_string).collect();
        json!({ "kind": kind, "tasks": tasks, "text": lines.join(" ") })
    });
    let tasks = picture.tasks().filter(|row| of(row.tid)).map(|row| {
        let mut task = crate::look::json::task(row, hosts);
        let lines = tell_task(picture, known, row);
        task["why"] = lines.iter().map(|line| Value::from(line.trim())).collect();
        task["hangs"] = stuck.surely.contains(&row.tid).into();
        task
    });
    let [findings, tasks]: [Value; 2] = [findings.collect(), tasks.collect()];
    out::json(&json!({ "deadlock": hangs, "findings": findings, "tasks": tasks }))?;
    Ok(if hangs { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// Waits for something to hang, and says so once; ends with the machine.
fn watch(session: &mut Session, task: Option<Tid>) -> Result<ExitCode, SessionError> {
    let mut told = BTreeSet::new();
    loop {
        let (picture, stuck) = standstill(session)?;
        let fresh: BTreeSet<Tid> = stuck.surely.iter().copied().filter(|tid| !told.contains(tid)).collect();
        if fresh.iter().any(|tid| task.is_none_or(|wanted| wanted == *tid)) {
            let known = Known::ask(session, &picture);
            print_hangs(&picture, &known, &stuck, |tid| stuck.surely.contains(&tid))?;
        }
        told = stuck.surely;
        // So that two pictures fit into a second, whatever the daemons take for each.
        std::thread::sleep(APART / 3);
    }
}

/// Tasks that do not move.
#[derive(Default)]
struct Stuck {
    /// No task that is there will end their waits.
    all: BTreeSet<Tid>,
    /// And none that may still come could.
    surely: BTreeSet<Tid>,
}

/// A picture, and which tasks are stuck in it and in one before, unmoved.
fn standstill(session: &mut Session) -> Result<(Picture, Stuck), SessionError> {
    let first = picture(session)?;
    let mut stuck = first.stuck();
    if stuck.is_empty() {
        return Ok((first, Stuck::default()));
    }
    std::thread::sleep(APART);
    let second = picture(session)?;
    let still = second.stuck();
    stuck.retain(|tid| still.contains(tid) && first.stands_still(&second, *tid));
    // The rest must hang without those that moved.
    let all = second.that_hang(stuck);
    let closed = all.iter().copied().filter(|tid| !second.may_be_helped(*tid)).collect();
    let surely = second.that_hang(closed);
    Ok((second, Stuck { all, surely }))
}

fn picture(session: &mut Session) -> Result<Picture, SessionError> {
    rows(session).map(Picture::of)
}

/// All tasks, with what their pages show.
fn rows(session: &mut Session) -> Result<Vec<TaskRow>, SessionError> {
    match session.request(Request::Tasks { of: None, deep: true })? {
        Reply::Tasks(rows) => Ok(rows),
        _ => Err(SessionError::Protocol("another answer than asked for".into())),
    }
}

/// What the machine knows besides what tasks show.
struct Known {
    groups: Option<Vec<GroupRow>>,
    names: Names,
}

impl Known {
    fn ask(session: &mut Session, picture: &Picture) -> Known {
        Known { groups: groups(session, picture), names: Names::ask(session, picture) }
    }
}

/// The groups, if a task waits in a barrier. A part of a machine without a majority knows nothing certain of them.
fn groups(session: &mut Session, picture: &Picture) -> Option<Vec<GroupRow>> {
    let is_in_barrier = |waits: &Waits| waits.barrier.is_some() && !waits.is_of_shared_memory();
    let waits_in_barrier = |row: &TaskRow| row.waits.as_ref().is_some_and(is_in_barrier);
    if !picture.tasks().any(waits_in_barrier) {
        return None;
    }
    match session.request(Request::Groups) {
        Ok(Reply::Groups(groups)) => Some(groups),
        _ => None,
    }
}

/// Tells what does not move. Whether anything hangs for certain.
fn print_hangs(
    picture: &Picture,
    known: &Known,
    stuck: &Stuck,
    of: impl Fn(Tid) -> bool,
) -> Result<bool, SessionError> {
    let (any, told) = hangs(picture, stuck, of);
    for Told { kind, lines, tasks } in told {
        lines.iter().try_for_each(out::words)?;
        // What members of a collective do follows with the cycles and waits that come of it.
        let named = tasks.iter().filter(|_| kind != "mismatch");
        for row in named.filter_map(|tid| picture.task(*tid)) {
            tell_task(picture, known, row).iter().try_for_each(out::words)?;
        }
    }
    Ok(any)
}

/// What does not move. Whether anything hangs for certain.
fn hangs(picture: &Picture, stuck: &Stuck, of: impl Fn(Tid) -> bool) -> (bool, Vec<Told>) {
    let mut told = Vec::new();
    let named = |tid: &Tid| who(picture, *tid);
    let list = |tids: &[Tid]| tids.iter().map(named).collect::<Vec<_>>().join(", ");
    let mut any = false;
    for (members, said) in mpi::at_odds(picture, &stuck.all) {
        if members.iter().any(|tid| of(*tid)) {
            any = true;
            told.push(Told {
                kind: "mismatch",
                tasks: members.into_iter().collect(),
                lines: vec![format!("DEADLOCK: {said}")],
            });
        }
    }
    for finding in picture.findings(&stuck.all) {
        let members = match &finding {
            Finding::Circle(tids) | Finding::Nobody(tids) => tids.clone(),
            Finding::Dead(tid, _) | Finding::Behind(tid, _) => vec![*tid],
        };
        if !members.iter().any(|tid| of(*tid)) {
            continue;
        }
        let surely = members.iter().all(|tid| stuck.surely.contains(tid));
        any |= surely;
        let mut lines = vec![match &finding {
            Finding::Circle(tids) => {
                let around: Vec<Tid> = tids.iter().chain(tids.first()).copied().collect();
                let chain = around.iter().map(named).collect::<Vec<_>>().join(" waits for ");
                format!("DEADLOCK: {chain}, and nothing is on its way between them.")
            }
            Finding::Dead(tid, peer) => {
                format!("DEADLOCK: {} waits for {peer}, which is not there any more.", named(tid))
            }
            Finding::Nobody(tids) if !surely => {
                let verb = if tids.len() == 1 { "waits" } else { "wait" };
                format!(
                    "PERHAPS A DEADLOCK: {} {verb}, and no task that is there will send; one that is still to be started \
                     could: a server without clients looks like this.",
                    list(tids)
                )
            }
            Finding::Nobody(tids) if tids.len() == 1 => {
                format!("DEADLOCK: {} waits, and nobody is left who could send to it.", list(tids))
            }
            Finding::Nobody(tids) => {
                format!("DEADLOCK: {} wait for one another: nobody is left who could send.", list(tids))
            }
            Finding::Behind(tid, peer) => {
                let perhaps = if surely { "" } else { "perhaps " };
                format!("{} waits for {}, which {perhaps}hangs.", named(tid), named(peer))
            }
        }];
        if let Finding::Circle(tids) = &finding
            && let Some(more) =
                mpi::about_circle(picture, tids).or_else(|| shared::about_circle(picture, tids))
        {
            lines.push(more);
        }
        let kind = match &finding {
            Finding::Behind(..) => "behind",
            Finding::Nobody(_) if !surely => "perhaps",
            _ => "deadlock",
        };
        told.push(Told { kind, tasks: members, lines });
    }
    (any, told)
}

/// A task: by its rank, if that is how its interface names it.
fn who(picture: &Picture, tid: Tid) -> String {
    if picture.task(tid).is_some_and(shared::shares) {
        shared::who(picture, tid)
    } else {
        mpi::who(picture, tid)
    }
}

/// `parvum run` or `parvum trace`: it came by itself, under the command's own name.
fn is_runner(row: &TaskRow) -> bool {
    !row.spawned && row.name == "parvum"
}

/// One line of what a task does, and more of what is near to what it waits for.
fn tell_task(picture: &Picture, known: &Known, row: &TaskRow) -> Vec<String> {
    let rank = row.rank.map_or(String::new(), |rank| format!(" rank {rank}"));
    let who = format!("  {} {}{rank}", row.tid, row.name);
    let what = match (row.state, &row.waits) {
        _ if row.held => "is stopped: it is another gang's turn".into(),
        (TaskState::Started, _) => "runs, and has not enrolled".into(),
        (TaskState::Departed, _) => "runs, and has left the machine".into(),
        (TaskState::Enrolled, None) if is_runner(row) => "waits for the tasks of its job".into(),
        (TaskState::Enrolled, None) => format!("computes{}", shared::holds(picture, row)),
        (TaskState::Enrolled, Some(waits)) => {
            let limit = if waits.ends { ", for a limited time" } else { "" };
            let group = waits.barrier.as_ref().filter(|_| !waits.is_of_shared_memory());
            let of = group.map(|barrier| barrier::gathered(picture, known.groups.as_deref(), barrier));
            let of = of.map_or(String::new(), |gathered| format!(" of {gathered}"));
            let doing = known.names.doing(row.tid, waits).or_else(|| mpi::doing(picture, waits));
            let doing = doing.or_else(|| shared::doing(picture, row, waits));
            let doing = doing.unwrap_or_else(|| words::doing(waits));
            format!("{doing}{of}, for {}{limit}", words::lasted(waits.for_ms))
        }
    };
    let mut lines = vec![format!("{who} {what}")];
    if row.waits.as_ref().is_none_or(|waits| waits.for_ms < LONG) {
        return lines;
    }
    let not_let_in = picture.not_let_in(row.tid);
    for (from, to, route, messages) in not_let_in.iter().take(4) {
        let (messages, verb) =
            (out::counted(*messages as usize, "message"), if *messages == 1 { "is" } else { "are" });
        lines.push(format!(
            "      {messages} from {from} to {to} {verb} on the way over {route}: {to} has not let that connection in. It does when \
             it calls. If it waits already, it has no descriptor left (`ulimit -n` where it was started), or something else \
             answers at its address: PARVUM_ROUTE=routed goes by the daemons"
        ));
    }
    if not_let_in.len() > 4 {
        lines.push(format!("      and {} connections more", not_let_in.len() - 4));
    }
    let near = picture.near_matches(row.tid, &known.names);
    for (_, how) in near.iter().take(4) {
        lines.push(format!("      has come, and is not what it waits for: {how}"));
    }
    let waiting = row.sight.as_ref().map_or(0, |sight| sight.unmatched.len());
    if near.len() > 4 || waiting > near.len() {
        let (messages, verb) =
            (out::counted(waiting, "message"), if waiting == 1 { "waits" } else { "wait" });
        lines.push(format!("      {messages} {verb} here that it has not asked for"));
    }
    lines
}
