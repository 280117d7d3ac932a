//! `parvum info TASK`: what a task does, where its time goes, and what it exchanged with whom, over which route and why.

use crate::look::views::{bytes, describe, host_rows, odd};
use crate::{look::json, terminal::out, tool};
use parvum_control::{COUNTER_NAMES, MEMORY, SENT_OVER, Taken, Times};
use parvum_task::SessionError;
use parvum_wire::control::{ErrorKind, Failure, PairRow, Reply, Request, Sight, TaskRow};
use parvum_wire::{Counter, Tid};

/// Where a task's time went.
pub fn times(row: &TaskRow, sight: &Sight) -> Times {
    let in_wait = row.waits.as_ref().map_or(0, |waits| waits.for_ms * 1_000_000);
    Times::of(&row.counters, sight.age, in_wait)
}

/// What one task is doing, and what it has counted.
pub fn task(tid: Tid, as_json: bool) -> Result<(), SessionError> {
    let mut session = tool()?;
    if !tid.is_task() {
        return Err(Failure::new(ErrorKind::NoSuchTask, format!("{tid} names no task")).into());
    }
    let request = Request::Tasks { of: Some(tid), deep: true };
    let Reply::Tasks(rows) = session.request(request)? else { return Err(odd()) };
    if as_json {
        let hosts = host_rows(&mut session)?;
        let told = rows.first().map(|row| json::task_in_full(row, &hosts));
        return out::json(&told.unwrap_or_default());
    }
    let Reply::Tasks(all) = session.request(Request::Tasks { of: None, deep: false })? else {
        return Err(odd());
    };
    for row in rows {
        out::table(&facts(&row))?;
        for table in row.sight.iter().flat_map(|sight| [pairs(sight, &all), routes(sight)]) {
            if table.len() > 1 {
                out::line("")?;
                out::table(&table)?;
            }
        }
    }
    Ok(())
}

fn facts(row: &TaskRow) -> Vec<Vec<String>> {
    let mut table = vec![["WHAT", "VALUE"].map(String::from).to_vec()];
    let mut line = |what: &str, value: String| table.push(vec![what.into(), value]);
    line("program", format!("{}, process {}", row.name, row.pid));
    line("state", describe(row));
    if let Some(rank) = row.rank {
        line("rank", rank.to_string());
    }
    if let Some(sight) = row.sight.as_ref().filter(|sight| !sight.cpus.is_empty()) {
        line("processors", sight.cpus.clone());
    }
    if let Some(sight) = &row.sight {
        let times = times(row, sight);
        let part =
            |time: u64| format!("{} ({:.1} %)", seconds(time), 100.0 * time as f64 / times.age.max(1) as f64);
        line("age", seconds(times.age));
        line("waiting", part(times.waiting));
        line("communicating", format!("{}, of samples", part(times.communicating)));
        line("computing", part(times.computing()));
    }
    // The times are told above, in a unit for people.
    let counted = COUNTER_NAMES.iter().zip(&row.counters).take(Counter::Asleep as usize);
    for (name, count) in counted.filter(|(name, count)| !name.is_empty() && **count > 0) {
        line(name, count.to_string());
    }
    for (what, count) in sent_over(row) {
        line(&what, count.to_string());
    }
    if let Some(way) = memory_way(row) {
        line("shared memory", way.into());
        for (name, count) in memory_counts(row).filter(|(_, count)| *count > 0) {
            line(name, count.to_string());
        }
    }
    table
}

/// How a task shares memory, if it does.
pub fn memory_way(row: &TaskRow) -> Option<&str> {
    row.sight.as_ref().map(|sight| sight.memory_way.as_str()).filter(|way| !way.is_empty())
}

/// What it has counted of that.
pub fn memory_counts(row: &TaskRow) -> impl Iterator<Item = (&str, u64)> {
    let names = row.sight.iter().flat_map(|sight| &sight.memory_counts);
    names.map(String::as_str).zip(row.counters.iter().skip(MEMORY).copied())
}

/// How many messages a task has sent over each route that it has used, in words.
pub fn sent_over(row: &TaskRow) -> Vec<(String, u64)> {
    let names = row.sight.iter().flat_map(|sight| &sight.routes);
    let counts = row.counters.iter().skip(SENT_OVER);
    let used =
        names.zip(counts.take(MEMORY - SENT_OVER)).filter(|(name, count)| !name.is_empty() && **count > 0);
    let words = |name: &str| match name {
        "itself" => "messages sent to this task itself".to_owned(),
        "routed" => "messages sent routed".to_owned(),
        other => format!("messages sent over {other}"),
    };
    used.map(|(name, count)| (words(name), *count)).collect()
}

fn seconds(nanoseconds: u64) -> String {
    match nanoseconds {
        0..10_000_000 => format!("{:.3} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.2} s", nanoseconds as f64 / 1e9),
    }
}

/// Peer by peer and route by route.
fn pairs(sight: &Sight, all: &[TaskRow]) -> Vec<Vec<String>> {
    let head = [
        "PEER",
        "NAME",
        "ROUTE",
        "SENT",
        "BYTES",
        "ARRIVED",
        "BYTES",
        "POSTED",
        "UNEXPECTED",
        "COPIED IN",
        "COPIED OUT",
        "FETCHED",
        "KEPT HERE",
        "KEPT AT SENDER",
        "NO CREDIT",
        "SLEPT FOR",
    ];
    let mut table = vec![head.map(String::from).to_vec()];
    for pair in sight.pairs.iter().filter(|pair| pair.counters.iter().any(|count| *count > 0)) {
        let at = |counter: Counter| pair.counters.get(counter as usize).copied().unwrap_or(0);
        let arrived = at(Counter::Expected) + at(Counter::Unexpected);
        table.push(vec![
            peer(pair),
            all.iter().find(|row| row.tid == pair.peer).map_or("-".into(), |row| row.name.clone()),
            route(sight, pair).to_owned(),
            at(Counter::Sent).to_string(),
            bytes(at(Counter::SentBytes)),
            arrived.to_string(),
            bytes(at(Counter::ArrivedBytes)),
            at(Counter::Expected).to_string(),
            at(Counter::Unexpected).to_string(),
            bytes(at(Counter::CopiedIn)),
            bytes(at(Counter::CopiedOut)),
            bytes(at(Counter::PulledBytes)),
            bytes(at(Counter::BufferedHere)),
            bytes(at(Counter::BufferedAtSender)),
            at(Counter::CreditStalls).to_string(),
            seconds(pair.waited),
        ]);
    }
    table
}

/// For each pair: the route in use, and why not the others.
fn routes(sight: &Sight) -> Vec<Vec<String>> {
    let mut table = vec![["PEER", "ROUTE", "WHY"].map(String::from).to_vec()];
    for pair in sight.pairs.iter().filter(|pair| pair.reasons.iter().any(|reason| *reason != 0)) {
        // The way to oneself stands first, and needs no reason.
        let named = sight.routes.iter().zip(pair.reasons).skip(1);
        for (name, reason) in named.filter(|(name, _)| !name.is_empty()) {
            table.push(vec![peer(pair), name.clone(), Taken::text(reason).into()]);
        }
    }
    table
}

fn peer(pair: &PairRow) -> String {
    if pair.peer.is_task() { pair.peer.to_string() } else { "others".into() }
}

/// The name of a pair's route, as the task itself has it.
pub fn route<'a>(sight: &'a Sight, pair: &PairRow) -> &'a str {
    let name = sight.routes.get(usize::from(pair.route)).filter(|_| pair.peer.is_task());
    name.filter(|name| !name.is_empty()).map_or("several", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_print_with_names_from_the_task() {
        let pair = |peer: i32, route: u8, reason: u8| {
            let mut reasons = [0; 8];
            reasons[1] = reason;
            PairRow { peer: Tid(peer), route, counters: vec![1; 24], reasons, waited: 0 }
        };
        let sight = Sight {
            pairs: vec![pair(0x40002, 5, 2), pair(0x40003, 1, 0), pair(0, 0, 0)],
            routes: ["itself", "shm", "", "", "", "toy", "", ""].map(String::from).to_vec(),
            ..Sight::default()
        };
        let named: Vec<_> = pairs(&sight, &[]).into_iter().map(|row| row[2].clone()).collect();
        assert_eq!(named, ["ROUTE", "toy", "shm", "several"]);
        let told: Vec<_> =
            routes(&sight).into_iter().skip(1).map(|row| [row[1].clone(), row[2].clone()]).collect();
        assert_eq!(told, [["shm", Taken::text(2)], ["toy", Taken::text(0)]]);
        let mut row = crate::top::sample::tests::picture(&[(0x40001, 3)], 9).tasks.remove(0);
        row.counters[SENT_OVER + 5] = 4;
        row.sight = Some(Box::new(sight));
        let told = [("messages sent over shm".to_owned(), 3), ("messages sent over toy".to_owned(), 4)];
        assert_eq!(sent_over(&row), told);
    }

    #[test]
    fn counters_have_the_index_that_status_block_uses() {
        for (place, name) in [
            (Counter::Sent as usize, "messages sent"),
            (Counter::CopiedOut as usize, "bytes copied out of a transport"),
            (Counter::PulledBytes as usize, "bytes fetched from their sender"),
            (Counter::Unexpected as usize, "messages that found none"),
            (Counter::BufferedAtSender as usize, "bytes buffered here, at the sender"),
            (Counter::CreditStalls as usize, "sends that waited for credit"),
            (Counter::Discarded as usize, "messages discarded as their sender asked"),
            (Counter::WaitingMessages as usize, "messages waiting now"),
            (Counter::WaitingSends as usize, "sends under way now"),
            (Counter::ArrivedBytes as usize, "bytes in messages that arrived"),
            (Counter::Asleep as usize, "nanoseconds asleep, waiting"),
        ] {
            assert_eq!(COUNTER_NAMES[place], name);
        }
    }
}
