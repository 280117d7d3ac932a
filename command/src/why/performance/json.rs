//! The performance of a task for programs.

use super::sent::{Sent, busiest, count};
use crate::look::task::{route, times};
use crate::why::costs::Costs;
use parvum_layers::protocols::Protocol;
use parvum_wire::Counter;
use parvum_wire::control::TaskRow;
use serde_json::{Value, json};

/// The messages of a task and their costs; `docs/reference/json/why-performance.schema.json` describes it.
pub fn as_json(row: &TaskRow, costs: Option<&Costs>) -> Value {
    let Some(sight) = &row.sight else {
        return json!({
            "task": row.tid.to_string(),
            "program": row.name,
            "age_ns": 0,
            "waiting_ns": 0,
            "communicating_ns": 0,
            "peers": [],
        });
    };
    let times = times(row, sight);
    let peers = busiest(sight).into_iter().map(|pair| {
        let is_shm = route(sight, pair) == "shm";
        let sent = Sent::of(pair, is_shm);
        let costs = costs.filter(|_| is_shm);
        let cost = |protocol: Protocol, mean: u64| {
            Some(json!({ "protocol": protocol.name(), "nanoseconds": costs?.at(protocol, mean)? }))
        };
        let long = sent.long.into_iter().filter(|(_, messages, _)| *messages > 0);
        let long = long.map(|(protocol, messages, mean)| {
            let costs = Protocol::ALL.into_iter().filter_map(|protocol| cost(protocol, mean));
            json!({
                "protocol": protocol.name(),
                "messages": messages,
                "mean_bytes": mean,
                "costs": costs.collect::<Value>(),
            })
        });
        json!({
            "peer": if pair.peer.is_task() { Value::from(pair.peer.to_string()) } else { Value::Null },
            "route": route(sight, pair),
            "short": { "messages": sent.short, "bytes": sent.short_bytes },
            "long": { "messages": long.collect::<Value>(), "bytes": sent.long_bytes },
            "arrived": {
                "expected": count(pair, Counter::Expected),
                "unexpected": count(pair, Counter::Unexpected),
                "bytes": count(pair, Counter::ArrivedBytes),
                "kept_here": count(pair, Counter::BufferedHere),
            },
            "slept_ns": pair.waited,
        })
    });
    json!({
        "task": row.tid.to_string(),
        "program": row.name,
        "age_ns": times.age,
        "waiting_ns": times.waiting,
        "communicating_ns": times.communicating,
        "peers": peers.collect::<Value>(),
    })
}
