//! Barriers: all tell one manager what they have done, and hear from it what the others have: 2(n - 1) messages.

use crate::message::{Interval, Message};
use crate::pages::memory::Memory;
use crate::setup::{Fault, Progress};
use crate::state::Node;
use crate::state::barriers::{Arrival, BarrierReport};
use crate::state::work::Work;
use std::sync::Arc;

impl Node {
    /// Waits for all nodes to call this with the same number.
    pub fn barrier(&mut self, barrier: u32, memory: &mut impl Memory) -> Result<Progress, Fault> {
        if barrier >= self.setup.barriers {
            return Err(Fault::NoSuchBarrier(barrier));
        }
        self.begin()?;
        if self.is_stranded() {
            self.regroup(true, memory)?;
            return self.settle(memory);
        }
        self.close_interval(memory);
        let stamp = self.stamp.clone();
        let own = &self.intervals[self.own];
        let told = (self.told - self.thrown[self.own]) as usize;
        let intervals: Vec<_> =
            if self.own == self.manager() { Vec::new() } else { own.iter().skip(told).cloned().collect() };
        let pushes = self.push_at_barrier(self.told, memory);
        self.meeting.told = self.told;
        self.told = stamp[self.own];
        let full = self.counts.held > self.setup.room;
        self.work = Some(Work::Barrier);
        let witnessed = self.witness.as_mut().map(|witness| Box::new(witness.report()));
        self.say(self.manager(), Message::Arrive { barrier, stamp, intervals, full, pushes, witnessed });
        self.settle(memory)
    }

    /// At the manager: a node has arrived.
    pub(crate) fn arrived(
        &mut self,
        from: usize,
        (barrier, stamp, full, pushes, witnessed): BarrierReport,
        intervals: Vec<Arc<Interval>>,
        memory: &mut impl Memory,
    ) -> Result<(), Fault> {
        let (nodes, manager) = (self.setup.nodes, self.manager());
        let come = &mut self.meeting.come;
        come.resize_with(nodes, || None);
        if self.own != manager || stamp.len() != nodes || come[from].is_some() {
            return Err(Fault::Malformed(from));
        }
        come[from] = Some(Arrival { barrier, stamp, intervals, full, pushes, witnessed });
        if self.living.iter().any(|&node| come[node].is_none()) {
            return Ok(());
        }
        let come: Vec<Arrival> = come.drain(..).flatten().collect();
        if let Some(other) = come.iter().position(|arrival| arrival.barrier != come[0].barrier) {
            let at = (come[0].barrier, come[other].barrier);
            return Err(Fault::DifferentBarriers { nodes: (self.living[0], self.living[other]), at });
        }
        let collect = come.iter().any(|arrival| arrival.full);
        let (at, mut reports) = (come[0].barrier, Vec::new());
        let (mut stamps, mut all) = (Vec::new(), Vec::new());
        let mut pushes = vec![0; nodes];
        for arrival in come {
            for to in arrival.pushes {
                *pushes.get_mut(to as usize).ok_or(Fault::Malformed(from))? += 1;
            }
            stamps.push(arrival.stamp);
            all.extend(arrival.intervals);
            reports.push(arrival.witnessed.map(|report| *report).unwrap_or_default());
        }
        let words = self.words();
        if self.setup.races && !self.finder.compare(reports, Some(at), words) {
            return Err(Fault::Malformed(from));
        }
        // Letters to here have come before the news of them.
        let moves = match self.setup.move_homes {
            true => {
                let own = self.intervals[manager].iter().filter(|one| one.number > self.meeting.told);
                let all: Vec<_> = own.chain(&all).cloned().collect();
                self.homes_to_move(&all)
            }
            false => Vec::new(),
        };
        self.learn(from, all, memory)?;
        self.put_at_barrier(from, memory)?;
        pushes[manager] = 0;
        let carried = self.replicas.as_ref().and_then(|_| memory.carries());
        for (node, stamp) in self.living.clone().into_iter().zip(&stamps) {
            let intervals = if node == manager { Vec::new() } else { self.lacking(stamp) };
            let carried = carried.clone();
            let moves = moves.clone();
            self.say(node, Message::Leave { intervals, collect, pushes: pushes[node], moves, carried });
        }
        Ok(())
    }

    /// Who manages barriers.
    pub(crate) fn manager(&self) -> usize {
        self.living[0]
    }

    /// The barrier is over.
    pub(crate) fn passed_barrier(&mut self, collect: bool, memory: &mut impl Memory) -> Result<(), Fault> {
        self.work = None;
        self.counts.barriers += 1;
        self.witness.iter_mut().for_each(|witness| witness.passed());
        if collect { self.collect(memory) } else { Ok(()) }
    }
}
