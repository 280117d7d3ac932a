//! `parvum trace --replay FILE`: what tasks computed and whom they sent what, without times of waiting, to be played again.

use super::gather::{Parts, TaskPart};
use parvum_control::{Clock, Happening};
use parvum_wire::Tid;
use replay::{Action, Trace};
use std::collections::{HashMap, HashSet};

/// The trace of all tasks, in the order of their ids; or why there is none. The records' times are processor time.
pub fn of(parts: &Parts) -> Result<Trace, String> {
    let mut tasks: Vec<&TaskPart> = parts.hosts.iter().flat_map(|host| &host.tasks).collect();
    tasks.sort_by_key(|task| task.row.tid.0);
    if let Some(task) = tasks.iter().find(|task| task.dropped > 0) {
        return Err(format!(
            "E-REPLAY: {} records of {} did not fit into its recording, and without them nothing can be replayed: --memory gives it more",
            task.dropped, task.row.tid
        ));
    }
    let places: HashMap<Tid, usize> = tasks.iter().enumerate().map(|(at, task)| (task.row.tid, at)).collect();
    let cost = cost_of_a_record();
    let mut all = Trace { tasks: tasks.iter().map(|task| actions(task, &places, cost)).collect() };
    drop_what_nobody_sent(&mut all);
    Ok(all)
}

/// What one task did. Between the beginning of a wait and its end it computed nothing, however busily it waited.
fn actions(task: &TaskPart, places: &HashMap<Tid, usize>, cost: f64) -> Vec<Action> {
    let mut actions = Vec::new();
    let (mut last, mut waits, mut computed) = (0, false, 0.0);
    for (now, what) in task.records.iter().filter_map(|record| Happening::read(*record)) {
        if !waits {
            computed += (now.saturating_sub(last) as f64 - cost).max(0.0);
        }
        last = now;
        let action = match what {
            Happening::Waits { .. } => {
                waits = true;
                continue;
            }
            Happening::GoesOn => {
                waits = false;
                continue;
            }
            Happening::Sent { peer, order, length, .. } => {
                places.get(&Tid(peer)).map(|&to| Action::Send { to, number: order, bytes: length })
            }
            Happening::Received { peer, order, length, .. } => {
                places.get(&Tid(peer)).map(|&from| Action::Receive { from, number: order, bytes: length })
            }
        };
        let Some(action) = action else { continue };
        if computed >= 1.0 {
            actions.push(Action::Compute(computed));
            computed = 0.0;
        }
        actions.push(action);
    }
    actions
}

/// A message of a task that is not of the trace, such as one lost with its host: nobody could send it again.
fn drop_what_nobody_sent(trace: &mut Trace) {
    let mut sent = HashSet::new();
    for (from, actions) in trace.tasks.iter().enumerate() {
        sent.extend(actions.iter().filter_map(|action| match *action {
            Action::Send { to, number, .. } => Some((from, to, number)),
            _ => None,
        }));
    }
    for (to, actions) in trace.tasks.iter_mut().enumerate() {
        actions.retain(|action| match *action {
            Action::Receive { from, number, .. } => sent.contains(&(from, to, number)),
            _ => true,
        });
    }
}

/// What reading the processor time costs, in nanoseconds: each record has it in its time.
fn cost_of_a_record() -> f64 {
    const TIMES: u64 = 1000;
    let before = Clock::ProcessorTime.now();
    (0..TIMES).for_each(|_| _ = Clock::ProcessorTime.now());
    Clock::ProcessorTime.now().saturating_sub(before) as f64 / TIMES as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::story::tests::{host, task};

    /// Two tasks: the one computes, sends and waits; what the other gets of a third is left out.
    #[test]
    fn replay_keeps_computation_and_omits_waiting() {
        let sent = |peer, order| Happening::Sent { peer, route: 1, tag: 7, order, length: 100 };
        let received = |peer, order| Happening::Received { peer, tag: 7, order, length: 100 };
        let waits = Happening::Waits { kind: 1, word: 0, peer: -1, tag: 7 };
        let a = [
            (5_000_000, sent(0x40002, 0)),
            (6_000_000, waits),
            (9_000_000, received(0x40002, 0)),
            (9_000_001, Happening::GoesOn),
            (12_000_000, sent(0x40002, 1)),
        ];
        let b = [(10, received(0x40001, 0)), (20, received(0x40009, 0)), (30, sent(0x40001, 0))];
        let hosts =
            vec![host("alpha", 1, 0, vec![task(0x40002, "b", 0, 0, &b), task(0x40001, "a", 0, 0, &a)])];
        let trace = of(&Parts { hosts, missing: Vec::new() }).expect("a trace");
        let computed: Vec<f64> = trace.tasks[0]
            .iter()
            .filter_map(
                |action| if let Action::Compute(ns) = action { Some((ns / 1e6).round()) } else { None },
            )
            .collect();
        // The records' ticks are half nanoseconds in these tests.
        assert_eq!(computed, [10.0, 2.0, 6.0], "before it sends, before it waits, and behind that");
        assert_eq!(trace.tasks[0].len(), 6, "{:?}", trace.tasks[0]);
        let messages =
            |task: &Vec<Action>| task.iter().filter(|what| !matches!(what, Action::Compute(_))).count();
        assert_eq!(messages(&trace.tasks[1]), 2, "{:?}", trace.tasks[1]);
    }

    #[test]
    fn replay_refuses_recording_with_lost_records() {
        let hosts = vec![host("alpha", 1, 0, vec![task(0x40001, "a", 0, 3, &[])])];
        let refused = of(&Parts { hosts, missing: Vec::new() }).expect_err("records are missing");
        assert!(refused.contains("--memory") && refused.contains("t40001"), "{refused}");
    }
}
