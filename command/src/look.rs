//! `parvum ps`, `hosts`, `info` and `kill`.

use crate::tool;
use parvum_page::CALLS;
use parvum_task::{Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{LinkRow, Reply, Request, TaskRow, TaskState, Waits};
use std::io::Write;

pub fn ps() -> Result<(), SessionError> {
    show(&tasks(&mut tool()?)?);
    Ok(())
}

pub fn hosts(verbose: bool) -> Result<(), SessionError> {
    let mut session = tool()?;
    show(&host_table(&mut session)?);
    if verbose {
        println!();
        show(&link_table(&mut session)?);
    }
    Ok(())
}

/// How this host reaches the others.
fn link_table(session: &mut Session) -> Result<Vec<Vec<String>>, SessionError> {
    let Reply::Links(links) = session.request(Request::Links)? else { return Err(odd()) };
    let Reply::Hosts(hosts) = session.request(Request::Hosts)? else { return Err(odd()) };
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

/// What programs started from here take from the environment, with defaults; `docs/options.md` says more.
const OPTIONS: [(&str, &str, &str); 7] = [
    ("PARVUM_ROUTE", "auto", "way of messages: auto, shm, tcp, routed"),
    ("PARVUM_CREDIT", "67108864", "bytes one receiver may have unconsumed before sends to it wait"),
    ("PARVUM_SINGLE_COPY", "on", "copy long messages straight between tasks: on, off"),
    ("PARVUM_BIN", "beside the library", "the command with which a program starts the machine"),
    ("PARVUM_ENCRYPT", "no", "nothing passes between hosts in clear; read by the first daemon"),
    ("PVM_ROOT", "none", "spawned PVM programs are looked for in its bin/$PVM_ARCH"),
    ("PVM_EXPORT", "none", "variables that spawned PVM tasks get"),
];

/// One option as this shell has it.
fn option(&(name, default, help): &(&str, &str, &str)) -> Vec<String> {
    let set = std::env::var_os(name).filter(|value| !value.is_empty());
    let (value, source) = match set {
        Some(value) => (value.to_string_lossy().into_owned(), "environment"),
        None => (default.to_owned(), "default"),
    };
    vec![name.into(), value, source.into(), help.into()]
}

/// Whether the kernel lets one task of a user read another's memory.
fn single_copy() -> Vec<String> {
    const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";
    let scope = std::fs::read_to_string(YAMA).map(|text| text.trim().to_owned());
    let (value, source) = match scope.as_deref() {
        Ok("0") => ("permitted", YAMA),
        Ok(_) => ("refused by Yama", YAMA),
        Err(_) => ("permitted", "no Yama"),
    };
    let help = "long messages are copied once; tried for each pair, and streamed where it fails";
    ["single copy", value, source, help].map(String::from).to_vec()
}

pub fn info() -> Result<(), SessionError> {
    let mut session = tool()?;
    let Reply::Info(rows) = session.request(Request::Info)? else { return Err(odd()) };
    let mut table = vec![["WHAT", "VALUE", "SOURCE", "MEANING"].map(String::from).to_vec()];
    let command = ["command release", env!("CARGO_PKG_VERSION"), "built in", "version of this command"];
    table.push(command.map(String::from).to_vec());
    table.extend(rows.into_iter().map(|r| vec![r.name, r.value, r.source, r.help]));
    table.push(single_copy());
    table.extend(OPTIONS.iter().map(option));
    show(&table);
    Ok(())
}

/// The tasks, as a table.
pub fn tasks(session: &mut Session) -> Result<Vec<Vec<String>>, SessionError> {
    let Reply::Tasks(rows) = session.request(Request::Tasks { of: None, deep: false })? else {
        return Err(odd());
    };
    let mut table = vec![["TID", "PARENT", "PID", "NAME", "STATE"].map(String::from).to_vec()];
    for row in rows {
        let state = describe(&row);
        let parent = row.parent.map_or("-".into(), |p| p.to_string());
        table.push(vec![row.tid.to_string(), parent, row.pid.to_string(), row.name, state]);
    }
    Ok(table)
}

/// The hosts, as a table.
pub fn host_table(session: &mut Session) -> Result<Vec<Vec<String>>, SessionError> {
    let Reply::Hosts(rows) = session.request(Request::Hosts)? else { return Err(odd()) };
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
    let call =
        CALLS.get(waits.call as usize).map_or_else(|| format!("call {}", waits.call), |c| c.to_string());
    let since = waits.for_ms as f64 / 1000.0;
    if let Some(barrier) = &waits.barrier {
        return format!("waiting {since:.1} s in {} {call}: group {}", waits.interface, barrier.group);
    }
    let peer = if waits.peer < 0 { "anyone".into() } else { Tid(waits.peer).to_string() };
    let tag = if waits.tag < 0 { "any".into() } else { waits.tag.to_string() };
    format!("waiting {since:.1} s in {} {call}: {peer}, tag {tag}", waits.interface)
}

pub fn odd() -> SessionError {
    SessionError::Protocol("another answer than asked for".into())
}

/// Prints rows in columns, the last column as it is.
pub fn show(table: &[Vec<String>]) {
    let columns = table.first().map_or(0, Vec::len);
    let width = |c: usize| table.iter().filter_map(|row| row.get(c)).map(|t| t.chars().count()).max();
    let widths: Vec<_> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let mut out = std::io::stdout().lock();
    for row in table {
        let cells = row.iter().zip(&widths).map(|(text, width)| format!("{text:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        // Whoever reads may have seen enough.
        if writeln!(out, "{}", line.trim_end()).is_err() {
            return;
        }
    }
}
