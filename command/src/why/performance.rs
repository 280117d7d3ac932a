//! `parvum why --performance`: which protocol each task's messages took, what the other protocols would have cost on this
//! host, and what the program can change.

mod json;
mod sent;

use super::costs::Costs;
use crate::look::task::{route, times};
use crate::look::views::bytes;
use crate::terminal::out::counted;
use parvum_control::Taken;
use parvum_layers::protocols::Protocol;
use parvum_wire::Counter;
use parvum_wire::control::{PairRow, Sight, TaskRow};
use sent::{Sent, busiest, count};

pub use json::as_json;

/// The number of peers that are shown, the busiest first.
const PEERS: usize = 5;
/// Parts of a whole that are worth a sentence.
const NOTABLE: f64 = 0.1;
/// A number of bytes copied once more that is worth a sentence.
const MUCH: u64 = 1 << 20;

/// The sentences about a task. `costs`: of the host of the task, or `None`.
pub fn lines(row: &TaskRow, all: &[TaskRow], costs: Option<&Costs>) -> Vec<String> {
    let Some(sight) = &row.sight else {
        return vec![format!("{} {} has not enrolled yet, so its messages are unknown.", row.tid, row.name)];
    };
    let mut lines = vec![where_time_goes(row, sight)];
    let pairs = busiest(sight);
    if pairs.is_empty() {
        lines.push("  It has exchanged no messages.".to_owned());
    }
    for pair in pairs.iter().take(PEERS) {
        about_pair(row, sight, pair, all, costs, &mut lines);
    }
    if pairs.len() > PEERS {
        lines.push(format!(
            "  {} more: `parvum info {}` lists all.",
            counted(pairs.len() - PEERS, "peer"),
            row.tid
        ));
    }
    lines
}

fn where_time_goes(row: &TaskRow, sight: &Sight) -> String {
    let times = times(row, sight);
    let part = |time: u64| 100.0 * time as f64 / times.age.max(1) as f64;
    format!(
        "{} {}: computes {:.0} % of its time, waits {:.0} %, and sends and receives {:.0} %.",
        row.tid,
        row.name,
        part(times.computing()),
        part(times.waiting),
        part(times.communicating)
    )
}

fn about_pair(
    row: &TaskRow,
    sight: &Sight,
    pair: &PairRow,
    all: &[TaskRow],
    costs: Option<&Costs>,
    lines: &mut Vec<String>,
) {
    let peer = who(pair, all);
    let way = route(sight, pair);
    let is_shm = way == "shm";
    let costs = costs.filter(|_| is_shm);
    let sent = Sent::of(pair, is_shm);
    let messages = count(pair, Counter::Sent);
    if messages > 0 {
        let total = bytes(count(pair, Counter::SentBytes));
        lines.push(format!("  To {peer} over {way}: {}, {total}.", counted(messages as usize, "message")));
        if !is_shm && let Some(reason) = why_not_shm(sight, pair) {
            lines.push(format!("    Shared memory: {reason}."));
        }
        about_short(&sent, is_shm, costs, lines);
        about_long(&sent, costs, lines);
    }
    about_arrivals(pair, &peer, lines);
    let stalls = count(pair, Counter::CreditStalls);
    if stalls > 0 {
        lines.push(format!(
            "    {} waited, because {peer} had not received earlier messages.",
            counted(stalls as usize, "send")
        ));
    }
    if count(pair, Counter::Refused) > 0 {
        lines.push(
            "    The kernel let no task read the memory of the other, so data went in frames: `parvum doctor` says why."
                .to_owned(),
        );
    }
    let slept = pair.waited as f64 / sight.age.max(1) as f64;
    if slept >= NOTABLE {
        lines.push(format!(
            "    {} slept {:.0} % of its time for messages of {peer}.",
            row.tid,
            100.0 * slept
        ));
    }
}

fn about_short(sent: &Sent, is_shm: bool, costs: Option<&Costs>, lines: &mut Vec<String>) {
    if sent.short == 0 {
        return;
    }
    let mean = sent.short_bytes / sent.short;
    let how = if is_shm { "eager, two copies through the ring" } else { "in one frame" };
    let each = costs.and_then(|costs| costs.at(Protocol::Eager, mean));
    let each = each.map_or(String::new(), |each| format!(", about {} each", time(each)));
    lines.push(format!(
        "    {} of {} on average: {how}{each}.",
        counted(sent.short as usize, "message"),
        bytes(mean)
    ));
}

fn about_long(sent: &Sent, costs: Option<&Costs>, lines: &mut Vec<String>) {
    for (protocol, messages, mean) in sent.long.into_iter().filter(|(_, messages, _)| *messages > 0) {
        let how = described(protocol);
        lines.push(format!(
            "    {} of {} on average: {how}",
            counted(messages as usize, "message"),
            bytes(mean)
        ));
        let Some(costs) = costs else { continue };
        let Some(own) = costs.at(protocol, mean) else { continue };
        let others: Vec<_> = Protocol::ALL
            .into_iter()
            .filter(|other| *other != protocol)
            .filter_map(|other| Some((other, costs.at(other, mean)?)))
            .collect();
        let told = others.iter().map(|(other, cost)| format!("{} {}", short_name(*other), time(*cost)));
        let told: Vec<_> = std::iter::once(format!("this way {}", time(own))).chain(told).collect();
        lines.push(format!("      Cost of one message on this host: {}.", told.join(", ")));
        let best = others.iter().min_by_key(|(_, cost)| *cost);
        if let Some((other, cost)) = best.filter(|(_, cost)| (*cost as f64) < own as f64 * (1.0 - NOTABLE)) {
            lines.extend(advice(*other, &time(own - cost)).map(|advice| format!("      {advice}")));
        }
    }
}

fn about_arrivals(pair: &PairRow, peer: &str, lines: &mut Vec<String>) {
    let (expected, unexpected) = (count(pair, Counter::Expected), count(pair, Counter::Unexpected));
    let arrived = expected + unexpected;
    if arrived == 0 {
        return;
    }
    let kept = count(pair, Counter::BufferedHere);
    lines.push(format!(
        "  From {peer}: {}, {}; {unexpected} found no posted receive.",
        counted(arrived as usize, "message"),
        bytes(count(pair, Counter::ArrivedBytes)),
    ));
    if kept >= MUCH && unexpected as f64 >= NOTABLE * arrived as f64 {
        lines.push(format!(
            "    {} lay in this task's memory meanwhile, and were copied once more. A receive that is posted before the \
             message comes saves that copy.",
            bytes(kept)
        ));
    }
}

/// Why the pair does not use shared memory.
fn why_not_shm(sight: &Sight, pair: &PairRow) -> Option<&'static str> {
    let shm = sight.routes.iter().position(|name| name == "shm")?;
    let reason = pair.reasons.get(shm).copied().filter(|reason| *reason > 1)?;
    Some(Taken::text(reason))
}

fn who(pair: &PairRow, all: &[TaskRow]) -> String {
    if !pair.peer.is_task() {
        return "other peers".to_owned();
    }
    match all.iter().find(|row| row.tid == pair.peer) {
        Some(row) => format!("{} {}", row.tid, row.name),
        None => pair.peer.to_string(),
    }
}

fn short_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Eager => "eager",
        Protocol::Lent => "through memory of both",
        Protocol::InPlace => "in place",
        Protocol::Frames => "in frames",
    }
}

fn described(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Eager => "eager, two copies through the ring.",
        Protocol::Lent => "through memory of both, two copies at the same time.",
        Protocol::InPlace => "in place, one copy.",
        Protocol::Frames => "in frames, two copies one after the other.",
    }
}

/// The advice that brings about a protocol. `None`: no program can choose it.
fn advice(protocol: Protocol, saved: &str) -> Option<String> {
    match protocol {
        Protocol::InPlace => Some(format!(
            "In place saves about {saved} a message, but the send waits for the receive: PvmDataInPlace, or MPI_Ssend."
        )),
        Protocol::Lent => Some(format!(
            "Memory of both saves about {saved} a message: PvmDataDefault or PvmDataRaw. MPI_Send chooses by itself."
        )),
        Protocol::Eager | Protocol::Frames => None,
    }
}

fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..10_000 => format!("{:.2} us", nanoseconds as f64 / 1e3),
        10_000..10_000_000 => format!("{:.0} us", nanoseconds as f64 / 1e3),
        _ => format!("{:.0} ms", nanoseconds as f64 / 1e6),
    }
}

/// The costs of this host as a table for people.
pub fn table(costs: &Costs) -> Vec<Vec<String>> {
    let head =
        ["BYTES"].into_iter().map(String::from).chain(Protocol::ALL.map(|of| short_name(of).to_uppercase()));
    let mut table = vec![head.collect::<Vec<_>>()];
    for (length, times) in costs.table() {
        let of = |protocol| times.iter().find(|(of, _)| *of == protocol);
        let cell = |protocol| of(protocol).map_or("-".to_owned(), |(_, cost)| time(*cost));
        table.push(std::iter::once(length.to_string()).chain(Protocol::ALL.map(cell)).collect());
    }
    table
}

#[cfg(test)]
mod tests;
