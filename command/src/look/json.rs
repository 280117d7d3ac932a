//! What the commands that look print for programs. Names and meanings are fixed; more may be added.

use crate::look::task;
use crate::look::views::describe;
use crate::top::sample::{HostLine, TaskLine};
use parvum_control::COUNTER_NAMES;
use parvum_wire::Tid;
use parvum_wire::control::{HostRow, LinkRow, OptionRow, TaskRow, TaskState};
use serde_json::{Map, Value, json};

/// A task, as `ps` and `info` have it.
pub fn task(row: &TaskRow, hosts: &[HostRow]) -> Value {
    let waits = row.waits.as_ref().map(|waits| {
        json!({
            "interface": waits.interface,
            "call": waits.name(),
            "function": waits.function(),
            "root": waits.operation.as_ref().filter(|does| does.root >= 0).map(|does| does.root),
            "peer": (waits.peer >= 0).then(|| Tid(waits.peer).to_string()),
            "tag": (waits.tag >= 0).then_some(waits.tag),
            "milliseconds": waits.for_ms,
            "group": waits.barrier.as_ref().map(|barrier| &barrier.group),
        })
    });
    let state = match row.state {
        _ if row.held => "stopped",
        TaskState::Started => "started",
        TaskState::Departed => "departed",
        TaskState::Enrolled if row.waits.is_some() => "waiting",
        TaskState::Enrolled => "running",
    };
    json!({
        "tid": row.tid.to_string(),
        "parent": row.parent.map(|parent| parent.to_string()),
        "rank": row.rank,
        "host": host_name(row.host, hosts),
        "pid": row.pid,
        "name": row.name,
        "state": state,
        "waits": waits,
        "text": describe(row),
    })
}

/// A task and all that it has counted.
pub fn task_in_full(row: &TaskRow, hosts: &[HostRow]) -> Value {
    let mut all = task(row, hosts);
    let named = |counts: &[u64]| -> Map<String, Value> {
        let named = COUNTER_NAMES.iter().zip(counts).filter(|(name, _)| !name.is_empty());
        named.map(|(name, count)| ((*name).to_owned(), json!(count))).collect()
    };
    let mut counters = named(&row.counters);
    counters.extend(task::sent_over(row).into_iter().map(|(name, count)| (name, json!(count))));
    all["counters"] = counters.into();
    if let Some(way) = task::memory_way(row) {
        let counts = task::memory_counts(row).map(|(name, count)| (name.to_owned(), json!(count)));
        all["shared_memory"] = json!({ "how": way, "counters": counts.collect::<Map<_, _>>() });
    }
    if let Some(sight) = &row.sight {
        all["age_ns"] = json!(sight.age);
        all["cpu_ns"] = json!(sight.cpu);
        all["memory_bytes"] = json!(sight.memory);
        all["processors"] = json!(sight.cpus);
        let pairs = sight.pairs.iter().map(|pair| {
            json!({
                "peer": pair.peer.is_task().then(|| pair.peer.to_string()),
                "route": task::route(sight, pair),
                "slept_ns": pair.waited,
                "counters": named(&pair.counters),
            })
        });
        all["pairs"] = pairs.collect();
        let unmatched = sight.unmatched.iter().map(|message| {
            json!({
                "from": message.from.to_string(),
                "tag": message.tag,
                "context": message.context,
                "bytes": message.length,
            })
        });
        all["unreceived"] = unmatched.collect();
    }
    all
}

/// A host.
pub fn host(row: &HostRow) -> Value {
    let HostRow { tid, name, arch, speed, cpus } = row;
    json!({ "name": name, "dtid": tid.to_string(), "arch": arch, "cpus": cpus, "speed": speed })
}

/// How this host reaches another.
pub fn link(row: &LinkRow, hosts: &[HostRow]) -> Value {
    let tried = row.tried.iter().map(|(address, what)| json!({ "address": address, "outcome": what }));
    json!({
        "host": host_name(row.host, hosts),
        "address": row.address,
        "round_trip_us": row.round_trip,
        "sent_bytes": row.sent,
        "received_bytes": row.received,
        "lost_datagrams": row.lost,
        "tried": tried.collect::<Vec<_>>(),
    })
}

/// An option.
pub fn option(row: &OptionRow) -> Value {
    json!({ "name": row.name, "value": row.value, "source": row.source, "help": row.help })
}

/// A line of `top` about a host.
pub fn host_line(line: &HostLine) -> Value {
    json!({
        "name": line.name,
        "cpus": line.cpus,
        "load": line.load,
        "tasks": line.tasks,
        "memory_bytes": line.memory,
    })
}

/// A line of `top` about a task; rates are those of a second.
pub fn task_line(line: &TaskLine) -> Value {
    json!({
        "tid": line.tid.to_string(),
        "name": line.name,
        "host": line.host,
        "sent_messages_per_s": line.sent.0,
        "sent_bytes_per_s": line.sent.1,
        "arrived_messages_per_s": line.arrived.0,
        "arrived_bytes_per_s": line.arrived.1,
        "unreceived": line.queued.0,
        "sends_under_way": line.queued.1,
        "cpu_percent": line.cpu,
        "waiting_percent": line.waiting,
        "communicating_percent": line.communicating,
        "memory_bytes": line.memory,
        "routes": line.routes.split_whitespace().collect::<Vec<_>>(),
        "state": line.state,
    })
}

fn host_name(daemon: Tid, hosts: &[HostRow]) -> String {
    hosts.iter().find(|row| row.tid == daemon).map_or_else(|| daemon.to_string(), |row| row.name.clone())
}
