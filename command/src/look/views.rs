//! `parvum ps`, `hosts`, `info` and `kill`.

use crate::doctor::{YAMA, ptrace_scope};
use crate::{look::json, settings::configuration, terminal::out, tool};
use parvum_task::{Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{HostRow, LinkRow, OptionRow, Reply, Request, TaskRow, TaskState, Waits};
use serde_json::{Value, json as value};

pub fn ps(as_json: bool) -> Result<(), SessionError> {
    let mut session = tool()?;
    if !as_json {
        return out::table(&tasks(&mut session)?);
    }
    let hosts = host_rows(&mut session)?;
    out::json(&task_rows(&mut session)?.iter().map(|row| json::task(row, &hosts)).collect())
}

pub fn hosts(verbose: bool, as_json: bool) -> Result<(), SessionError> {
    let mut session = tool()?;
    if as_json {
        let rows = host_rows(&mut session)?;
        let hosts: Value = rows.iter().map(json::host).collect();
        if !verbose {
            return out::json(&hosts);
        }
        let Reply::Links(links) = session.request(Request::Links)? else { return Err(odd()) };
        let links: Value = links.iter().map(|link| json::link(link, &rows)).collect();
        let encrypted = encrypts(&mut session)?;
        return out::json(&value!({ "hosts": hosts, "links": links, "encrypted": encrypted }));
    }
    out::table(&host_table(&mut session)?)?;
    if verbose {
        out::line("")?;
        out::table(&link_table(&mut session)?)?;
        out::line("")?;
        out::line(match encrypts(&mut session)? {
            true => "All that passes between hosts is encrypted: what daemons say to each other, and tasks.",
            false => {
                "Daemons encrypt what they say to each other; tasks of two hosts speak in clear (PARVUM_ENCRYPT=no)."
            }
        })?;
    }
    Ok(())
}

/// Whether tasks of two hosts encrypt what they send to each other.
fn encrypts(session: &mut Session) -> Result<bool, SessionError> {
    let Reply::Info(machine) = session.request(Request::Info)? else { return Err(odd()) };
    Ok(machine.iter().any(|row| row.name == "PARVUM_ENCRYPT" && row.value == "yes"))
}

/// The hosts of the machine.
pub fn host_rows(session: &mut Session) -> Result<Vec<HostRow>, SessionError> {
    match session.request(Request::Hosts)? {
        Reply::Hosts(rows) => Ok(rows),
        _ => Err(odd()),
    }
}

/// The tasks of the machine.
fn task_rows(session: &mut Session) -> Result<Vec<TaskRow>, SessionError> {
    match session.request(Request::Tasks { of: None, deep: false })? {
        Reply::Tasks(rows) => Ok(rows),
        _ => Err(odd()),
    }
}

/// How this host reaches the others.
fn link_table(session: &mut Session) -> Result<Vec<Vec<String>>, SessionError> {
    let Reply::Links(links) = session.request(Request::Links)? else { return Err(odd()) };
    let hosts = host_rows(session)?;
    let head = ["FROM HERE TO", "ADDRESS", "ROUND TRIP", "SENT", "RECEIVED", "LOST", "WHAT IT DID"];
    let mut table = vec![head.map(String::from).to_vec()];
    for LinkRow { host, address, round_trip, sent, received, lost, tried } in links {
        let known = hosts.iter().find(|row| row.tid == host);
        let name = known.map_or_else(|| host.to_string(), |row| row.name.clone());
        let in_use = |what: String| {
            let (sent, received) = (bytes(sent), bytes(received));
            let round_trip = format!("{round_trip} us");
            vec![name.clone(), address.clone(), round_trip, sent, received, lost.to_string(), what]
        };
        if !tried.iter().any(|one| one.0 == address) {
            table.push(in_use("in use, the other host has called".into()));
        }
        for (one, what) in tried {
            table.push(match one == address {
                true => in_use(what),
                false => [&name, &one, "", "", "", "", &what].map(String::from).to_vec(),
            });
        }
    }
    Ok(table)
}

/// A number of bytes in a unit that fits.
pub fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} B"),
        10_000..10_000_000 => format!("{} kB", count / 1000),
        10_000_000..10_000_000_000 => format!("{} MB", count / 1_000_000),
        _ => format!("{} GB", count / 1_000_000_000),
    }
}

pub fn kill(tid: Tid, signal: i32) -> Result<(), SessionError> {
    tool()?.request(Request::Signal { tid, signal }).map(drop)
}

/// Variables of programs that you start from this shell: name, default and meaning in a few words. The daemon reports
/// its own options. `parvum explain NAME` says more.
const OPTIONS: [(&str, &str, &str); 8] = [
    ("PARVUM_ROUTE", "auto", "transport of messages: auto, or the name of one"),
    ("PARVUM_FABRIC", "none", "provider of libfabric for messages between hosts"),
    (
        "PARVUM_CREDIT",
        "67108864",
        "sent bytes that one receiver has not received; beyond this number, sends wait",
    ),
    ("PARVUM_MEMORY", "a quarter", "bytes for messages of senders that wait for each other"),
    ("PARVUM_SINGLE_COPY", "on", "copy long messages straight between tasks: on, off"),
    ("PARVUM_BIN", "beside the library", "the command that a program runs to start a virtual machine"),
    ("PVM_ROOT", "none", "bin/$PVM_ARCH in it is searched for spawned PVM programs"),
    ("PVM_EXPORT", "none", "variables that spawned PVM tasks inherit"),
];

/// One option as this shell has it.
fn option(&(name, default, help): &(&str, &str, &str)) -> OptionRow {
    let set = std::env::var_os(name).filter(|value| !value.is_empty());
    let (value, source) = match set {
        Some(value) => (value.display().to_string(), "this shell"),
        None => (default.to_owned(), "default"),
    };
    row(name, value, source, help)
}

/// Whether the kernel lets one task of a user read another's memory.
fn single_copy() -> OptionRow {
    let (value, source) = match ptrace_scope().as_deref() {
        Ok("0") => ("permitted", YAMA),
        Ok(_) => ("refused by Yama", YAMA),
        Err(_) => ("permitted", "no Yama"),
    };
    let help = "long messages are copied once; tried for each pair, and streamed where it fails";
    row("single copy", value.into(), source, help)
}

fn row(name: &str, value: String, source: &str, help: &str) -> OptionRow {
    OptionRow { name: name.into(), value, source: source.into(), help: help.into() }
}

pub fn info(as_json: bool) -> Result<(), SessionError> {
    let mut session = tool()?;
    let Reply::Info(machine) = session.request(Request::Info)? else { return Err(odd()) };
    let file = configuration::shown();
    let own = [
        row("command release", env!("COMMAND_VERSION").into(), "built in", "version of this command"),
        row("settings", file, "this shell", "the file with what command line and environment do not say"),
    ];
    let all: Vec<OptionRow> =
        own.into_iter().chain(machine).chain([single_copy()]).chain(OPTIONS.iter().map(option)).collect();
    if as_json {
        return out::json(&all.iter().map(json::option).collect());
    }
    let mut table = vec![["WHAT", "VALUE", "SOURCE", "MEANING"].map(String::from).to_vec()];
    table.extend(all.into_iter().map(|r| vec![r.name, r.value, r.source, r.help]));
    out::table(&table)
}

/// The tasks, as a table.
pub fn tasks(session: &mut Session) -> Result<Vec<Vec<String>>, SessionError> {
    let head = ["TID", "PARENT", "RANK", "PID", "NAME", "STATE"];
    let mut table = vec![head.map(String::from).to_vec()];
    for row in task_rows(session)? {
        let state = describe(&row);
        let parent = row.parent.map_or("-".into(), |p| p.to_string());
        let rank = row.rank.map_or("-".into(), |rank| rank.to_string());
        table.push(vec![row.tid.to_string(), parent, rank, row.pid.to_string(), row.name, state]);
    }
    Ok(table)
}

/// The hosts, as a table.
pub fn host_table(session: &mut Session) -> Result<Vec<Vec<String>>, SessionError> {
    let rows = host_rows(session)?;
    let mut table = vec![["HOST", "DTID", "ARCH", "CPUS", "SPEED"].map(String::from).to_vec()];
    for row in rows {
        table.push(vec![
            row.name,
            row.tid.to_string(),
            row.arch,
            row.cpus.to_string(),
            row.speed.to_string(),
        ]);
    }
    Ok(table)
}

pub fn describe(row: &TaskRow) -> String {
    if row.held {
        return "stopped: another gang's turn".into();
    }
    match (row.state, &row.waits) {
        (TaskState::Started, _) => "running, has not enrolled".into(),
        (TaskState::Departed, _) => "running, has left the machine".into(),
        (TaskState::Enrolled, None) => "running".into(),
        (TaskState::Enrolled, Some(waits)) => waiting(waits),
    }
}

fn waiting(waits: &Waits) -> String {
    // A function of the program says itself whose it is.
    let call =
        waits.function().map_or_else(|| format!("{} {}", waits.interface, waits.name()), str::to_owned);
    let since = waits.for_ms as f64 / 1000.0;
    if let Some(what) = shared(waits) {
        return format!("waiting {since:.1} s in {what}");
    }
    if let Some(barrier) = &waits.barrier {
        return format!("waiting {since:.1} s in {call}: group {}", barrier.group);
    }
    let peer = if waits.peer < 0 { "anyone".into() } else { Tid(waits.peer).to_string() };
    let tag = if waits.tag < 0 { "any".into() } else { waits.tag.to_string() };
    if waits.operation.as_ref().is_some_and(|does| does.turn >= 0) {
        return format!("waiting {since:.1} s in {call}: {peer}");
    }
    format!("waiting {since:.1} s in {call}: {peer}, tag {tag}")
}

/// What a task waits for at shared memory: a call of TreadMarks', and which lock, barrier or page.
fn shared(waits: &Waits) -> Option<String> {
    let call = Some(waits.name()).filter(|_| waits.is_of_shared_memory())?;
    Some(if waits.tag < 0 { call.to_owned() } else { format!("{call} {}", waits.tag) })
}

/// The same where there is little room: whom it waits for, then how long.
pub fn briefly(row: &TaskRow) -> String {
    let Some(waits) = row.waits.as_ref().filter(|_| !row.held && row.state == TaskState::Enrolled) else {
        return describe(row);
    };
    let since = waits.for_ms / 1000;
    if let Some(what) = shared(waits) {
        return format!("{what}, {since} s");
    }
    if let Some(barrier) = &waits.barrier {
        return format!("{}, {since} s", barrier.group);
    }
    let peer = if waits.peer < 0 { "anyone".into() } else { Tid(waits.peer).to_string() };
    match waits.function() {
        Some(function) => format!("{function}, {since} s"),
        None if waits.tag < 0 => format!("{peer}, {since} s"),
        None => format!("{peer}, tag {}, {since} s", waits.tag),
    }
}

pub fn odd() -> SessionError {
    SessionError::Protocol("another answer than asked for".into())
}
