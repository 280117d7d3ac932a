//! Group operations as traces, made of the plans that Parvum's libraries run.

use crate::machine::Machine;
use crate::play::play;
use crate::trace::{Action, Trace};
use parvum_collectives::plans::hosts::{Hosts, Placement};
use parvum_collectives::plans::ways::ShortAlgorithm;
use parvum_collectives::plans::{Group, Order, Plan, Step, choose, in_a_row};
use std::collections::HashMap;

/// What all tasks do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Wait until all have come.
    Barrier,
    /// One task's bytes to all.
    Broadcast,
    /// The sum of all tasks' doubles, for all.
    Allreduce,
    /// All tasks' bytes, for all.
    Allgather,
    /// Bytes of each for each.
    Alltoall,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 5] = [
        Operation::Barrier,
        Operation::Broadcast,
        Operation::Allreduce,
        Operation::Allgather,
        Operation::Alltoall,
    ];

    /// As the programs that measure it call it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Barrier => "barrier",
            Operation::Broadcast => "broadcast",
            Operation::Allreduce => "allreduce",
            Operation::Allgather => "allgather",
            Operation::Alltoall => "alltoall",
        }
    }

    /// What one task does, of some that live on these hosts; `bytes` are those of one of them.
    fn plan(self, placed: Placement<'_>, bytes: usize, root: usize) -> Plan {
        let size = placed.group.size;
        match self {
            Operation::Barrier => choose::barrier(placed),
            Operation::Broadcast => choose::broadcast(placed, root, bytes),
            Operation::Allreduce => choose::allreduce(placed, bytes, 8, Order::Any),
            Operation::Allgather => choose::allgather(placed, &in_a_row(vec![bytes; size])),
            Operation::Alltoall => choose::alltoall(placed, bytes),
        }
    }

    /// The tasks of that machine, each on a host of its own, do it `times` times, one after the other; the root, if it has one, is another
    /// task each time. Short data goes the way that is quicker there, as the tasks find out by trying.
    pub fn trace_on(self, machine: &Machine, bytes: usize, times: usize) -> Trace {
        let tasks = machine.hosts;
        let by = |way| self.trace_by(way, tasks, bytes, times);
        if !self.has_two_ways(tasks, bytes) {
            return by(None);
        }
        let [straight, rounds] = [ShortAlgorithm::Straight, ShortAlgorithm::Rounds].map(|way| by(Some(way)));
        if play(&straight, machine).time <= play(&rounds, machine).time { straight } else { rounds }
    }

    /// The same of so many tasks of which no more is known.
    pub fn trace(self, tasks: usize, bytes: usize, times: usize) -> Trace {
        self.trace_by(None, tasks, bytes, times)
    }

    fn has_two_ways(self, tasks: usize, bytes: usize) -> bool {
        let hosts = Hosts::new(0..tasks as u32);
        let placed = Placement::new(Group { own: 0, size: tasks }, hosts.as_ref());
        match self {
            Operation::Allgather => choose::has_two_ways(placed, bytes * tasks),
            Operation::Alltoall => choose::alltoall_has_two_ways(placed, bytes),
            _ => false,
        }
    }

    fn trace_by(self, way: Option<ShortAlgorithm>, tasks: usize, bytes: usize, times: usize) -> Trace {
        let mut trace = Trace::default();
        let hosts = Hosts::new(0..tasks as u32);
        for own in 0..tasks {
            let placed = Placement { group: Group { own, size: tasks }, hosts: hosts.as_ref(), way };
            let mut numbers = Numbers::default();
            let mut actions = Vec::new();
            for turn in 0..times {
                let plan = self.plan(placed, bytes, turn % tasks);
                actions.extend(plan.steps().iter().filter_map(|step| numbers.action(step)));
            }
            trace.tasks.push(actions);
        }
        trace
    }
}

/// The next number of a message to each task, and from each.
#[derive(Default)]
struct Numbers {
    to: HashMap<usize, u32>,
    from: HashMap<usize, u32>,
}

impl Numbers {
    fn action(&mut self, step: &Step) -> Option<Action> {
        let next = |of: &mut HashMap<usize, u32>, task: usize| {
            let place = of.entry(task).or_default();
            *place += 1;
            *place - 1
        };
        match *step {
            Step::Send { to, piece } => {
                Some(Action::Send { to, number: next(&mut self.to, to), bytes: piece.length as u64 })
            }
            Step::Receive { from, piece } => {
                Some(Action::Receive { from, number: next(&mut self.from, from), bytes: piece.length as u64 })
            }
            // Combining and copying are the processor's, and quick beside a message between hosts.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{FRAME, Overhead, Route};

    #[test]
    fn collective_operations_complete_at_all_sizes() {
        let end = Overhead { message: 1000.0, byte: 0.1 };
        let way = Route { latency: 10_000.0, send: end, receive: end, gap: 1000.0, byte: 1.0, frame: 0.0 };
        for operation in Operation::ALL {
            for tasks in [1, 2, 5, 8, 100] {
                for bytes in [8, 65536] {
                    let trace = operation.trace(tasks, bytes, 2);
                    let machine = Machine::of(tasks, way);
                    let played = play(&trace, &machine);
                    assert_eq!(played.stuck, [0; 0], "{operation:?} of {tasks}, {bytes}");
                    assert_eq!(tasks > 1, played.time > 0.0, "{operation:?} of {tasks}");
                }
            }
        }
    }

    #[test]
    fn short_data_uses_the_faster_algorithm() {
        let end = |ns| Overhead { message: ns, byte: 0.0 };
        let machine = |latency, ns| {
            Machine::of(8, Route { latency, send: end(ns), receive: end(ns), ..Route::default() })
        };
        let messages = |latency, ns| {
            [Operation::Allgather, Operation::Alltoall]
                .map(|it| it.trace_on(&machine(latency, ns), 8, 1).messages().0)
        };
        assert_eq!(messages(350_000.0, 5_000.0), [56, 56], "far away: one time over the network");
        assert_eq!(messages(1_000.0, 5_000.0), [24, 24], "near: few messages");
        assert_eq!(
            Operation::Alltoall.trace_on(&machine(1_000.0, 5_000.0), 1 << 10, 1).messages().0,
            56,
            "longer ones go straight"
        );
    }

    #[test]
    fn barrier_takes_logarithmic_rounds() {
        let way = Route { latency: 1000.0, ..Route::default() };
        let time = |tasks: usize| {
            let machine = Machine::of(tasks, way);
            play(&Operation::Barrier.trace(tasks, 0, 1), &machine).time
        };
        assert_eq!([2, 16, 10_000].map(time), [1000.0, 4000.0, 14_000.0]);
    }

    /// What eight tasks took over an emulated FDDI, by these costs of a message between two of them (us of `parvum compare --suite loggp`,
    /// medians of three launches, 2026-11-27).
    #[test]
    fn shared_medium_prediction_matches_measurement() {
        let end = |message, byte| Overhead { message, byte };
        let (send, receive) = (end(9310.0, 0.84), end(7590.0, 1.34));
        let way = Route { latency: 558_000.0, send, receive, gap: 13_300.0, byte: 112.0, frame: 0.0 };
        let machine =
            Machine { shared_medium: true, shared_processors: true, ..Machine::of(8, way.with_frame(FRAME)) };
        for (operation, bytes, measured) in [
            (Operation::Barrier, 0, 1809.0),
            (Operation::Broadcast, 1 << 10, 895.0),
            (Operation::Allreduce, 8, 1293.0),
            // The last of the first one's messages waits behind what the others have sent meanwhile.
            (Operation::Allreduce, 1 << 10, 2916.0),
            (Operation::Allgather, 8, 1253.0),
            (Operation::Alltoall, 1 << 10, 7159.0),
        ] {
            let predicted = play(&operation.trace_on(&machine, bytes, 16), &machine).time / 16e3;
            let ratio = predicted / measured;
            assert!(
                (0.9..1.1).contains(&ratio),
                "{operation:?} of {bytes}: {predicted} us, {measured} measured"
            );
        }
    }
}
