//! Collectives: barriers, reductions, scans, broadcast, concatenation.

use crate::combine::Combiner;
use crate::envelope::{context, notes};
use crate::errors::{Cmmd, Fault};
use crate::lent::{bytes_of, copy_remote};
use crate::state::Guard;
use crate::words;
use parvum_api::{ANY_TASK, Message, Notes, Pattern, Receiving, Status, TagKind};
use parvum_collectives::operators;
use parvum_collectives::plans::{Group, Step, broadcast};

/// How a scan goes.
pub(crate) struct Scan {
    pub(crate) combiner: Combiner,
    pub(crate) downward: bool,
    pub(crate) segments: Segments,
    /// Whether this node begins a segment.
    pub(crate) bit: bool,
    pub(crate) exclusive: bool,
}

/// Whether there are segments, and what the first node of one gets in an exclusive scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segments {
    None,
    /// The total of the segment before.
    StartBit,
    /// The combiner's identity.
    SegmentBit,
}

impl Guard {
    pub(crate) fn barrier(&mut self) -> Cmmd<()> {
        let nodes = self.nodes()?;
        nodes.calls_it(words::sync_with_nodes());
        let met = self.outside(|| nodes.barrier());
        nodes.calls_it(words::all_nodes());
        Ok(met?)
    }

    /// The values of all nodes combined, on each of them.
    pub(crate) fn reduce(&mut self, combiner: Combiner, values: &mut [u8]) -> Cmmd<()> {
        let mut combine = |one: &mut [u8], other: &[u8]| (combiner.combine)(one, other);
        let nodes = self.nodes()?;
        let (unit, order) = (combiner.kind.size(), operators::order(combiner.operator, combiner.kind));
        Ok(self.outside(|| nodes.reduce_all(values, unit, order, &mut combine))?)
    }

    /// All nodes get every node's value and bit, and each node computes its own result.
    pub(crate) fn scan(&mut self, scan: &Scan, value: &[u8]) -> Cmmd<Vec<u8>> {
        let nodes = self.nodes()?;
        let mut mine = value.to_vec();
        mine.push(scan.bit.into());
        let mut all = vec![0; mine.len() * nodes.size()];
        self.outside(|| nodes.concat(&mine, &vec![mine.len(); nodes.size()], &mut all))?;
        let told = all.chunks_exact(mine.len()).filter_map(|one| one.split_last());
        let told: Vec<(&[u8], bool)> = told.map(|(bit, value)| (value, *bit != 0)).collect();
        Ok(scanned(scan, &told, nodes.own()))
    }

    /// Sends to all other nodes, by a tree that begins here.
    pub(crate) fn broadcast(&mut self, data: &[u8]) -> Cmmd<i32> {
        let own = self.nodes()?.own();
        self.broadcasts = self.broadcasts.wrapping_add(1);
        self.pass_on(own, data)?;
        Ok(0)
    }

    /// Receives what some other node sends to all, whichever it is. The node that sends first tells this to the nodes
    /// below it.
    pub(crate) fn receive_broadcast(&mut self, room: &mut [u8]) -> Cmmd<i32> {
        let size = self.nodes()?.size();
        self.broadcasts = self.broadcasts.wrapping_add(1);
        let wanted = Pattern {
            from: ANY_TASK,
            tags: TagKind::Exactly,
            tag: self.broadcasts,
            other: 0,
            context: context::BROADCAST.into(),
        };
        let notes = notes(words::all_nodes(), ANY_TASK, self.broadcasts);
        let mut message = Message::NONE;
        let api = self.api;
        let in_room = self.outside(|| api.receive_fitting(&wanted, room, &notes, &mut message))?;
        let root = (message.meta as usize).min(size - 1);
        if in_room || (message.is_remote() && message.length <= room.len() as u64) {
            let room = &mut room[..message.length as usize];
            if !in_room {
                // Straight from where its sender has put it.
                let copied = copy_remote(self.api, &message, room);
                self.api.give_back(&message);
                copied?;
            }
            return self.pass_on(root, room).map(|()| 0);
        }
        // Those below get all of it, even if it is too long for this node.
        if message.is_remote() {
            message = self.outside(|| api.fetch_remote(&message, &notes))?;
        }
        let data = bytes_of(&message);
        let fits = data.len().min(room.len());
        room[..fits].copy_from_slice(&data[..fits]);
        let passed = self.pass_on(root, data);
        let is_cut = data.len() > room.len();
        self.api.give_back(&message);
        passed?;
        if is_cut { Err(Fault::Truncated) } else { Ok(0) }
    }

    /// Forwards a broadcast to the nodes below this one, in the same way as a plan that all nodes make from the root.
    fn pass_on(&mut self, root: usize, data: &[u8]) -> Cmmd<()> {
        for below in nodes_below(self.nodes()?.group(), root) {
            let (to, number) = (self.company.nodes[below], self.broadcasts);
            self.send_own(to, context::BROADCAST, number, root as u32, data)?;
        }
        Ok(())
    }

    /// Begins a split barrier: tells all other nodes.
    pub(crate) fn start_sync(&mut self) -> Cmmd<()> {
        if self.sync_started {
            return Err(Fault::Unfinished);
        }
        let own = self.nodes()?.own();
        let sync = self.syncs;
        for node in (0..self.company.size()).filter(|&node| node != own) {
            self.send_own(self.company.nodes[node], context::SYNC, sync, 0, &[])?;
        }
        self.sync_started = true;
        Ok(())
    }

    /// Whether all have begun it; waits for them if need be.
    pub(crate) fn sync_done(&mut self, wait: bool) -> Cmmd<bool> {
        if !self.sync_started {
            return Err(Fault::BadArgument);
        }
        let others = self.nodes()?.size() - 1;
        while self.come_to(self.syncs) < others {
            let wanted = Pattern {
                from: ANY_TASK,
                tags: TagKind::Exactly,
                tag: self.syncs,
                other: 0,
                context: context::SYNC.into(),
            };
            let limit = if wait { -1 } else { 0 };
            let notes = Notes { limit, ..notes(words::sync_with_nodes(), ANY_TASK, -1) };
            let (api, sync) = (self.api, self.syncs);
            match self.outside(|| api.receive(&wanted, Receiving::Into(&mut []), &notes)) {
                Ok(_) => self.one_came(sync),
                Err(Status::Pending) => return Ok(false),
                Err(why) => return Err(why.into()),
            }
        }
        if wait {
            let over = self.syncs;
            self.come.retain(|(sync, _)| *sync != over);
            self.syncs = self.syncs.wrapping_add(1);
            self.sync_started = false;
        }
        Ok(true)
    }

    fn come_to(&self, sync: i32) -> usize {
        self.come.iter().find(|(number, _)| *number == sync).map_or(0, |(_, count)| *count)
    }

    fn one_came(&mut self, sync: i32) {
        match self.come.iter_mut().find(|(number, _)| *number == sync) {
            Some((_, count)) => *count += 1,
            None => self.come.push((sync, 1)),
        }
    }
}

/// The nodes to which a node forwards a broadcast.
fn nodes_below(group: Group, root: usize) -> Vec<usize> {
    let step = |step: &Step| match *step {
        Step::Send { to, .. } => Some(to),
        _ => None,
    };
    broadcast::binomial(group, root, 0).steps().iter().filter_map(step).collect()
}

/// The result of the node `own`.
fn scanned(scan: &Scan, told: &[(&[u8], bool)], own: usize) -> Vec<u8> {
    let order: Vec<usize> =
        if scan.downward { (0..told.len()).rev().collect() } else { (0..told.len()).collect() };
    let identity = scan.combiner.identity();
    // The total of the segment so far, and the total of the previous segment.
    let (mut total, mut before) = (identity.clone(), identity.clone());
    for (place, node) in order.into_iter().enumerate() {
        let (value, bit) = told[node];
        let begins = place > 0 && bit && scan.segments != Segments::None;
        if begins {
            before = std::mem::replace(&mut total, identity.clone());
        }
        if node == own && scan.exclusive {
            let of_segment_before = begins && scan.segments == Segments::StartBit;
            return if of_segment_before { before } else { total };
        }
        (scan.combiner.combine)(&mut total, value);
        if node == own {
            return total;
        }
    }
    identity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combine::Number;

    #[test]
    fn node_has_exactly_one_parent_in_tree() {
        for size in 1..40 {
            let root = size / 3;
            let mut below: Vec<usize> =
                (0..size).flat_map(|own| nodes_below(Group { own, size }, root)).chain([root]).collect();
            below.sort();
            assert_eq!(below, (0..size).collect::<Vec<_>>(), "{size}");
        }
    }

    fn scan_of(told: &[(i32, bool)], segments: Segments, downward: bool, exclusive: bool) -> Vec<i32> {
        let combiner = Combiner::of::<i32>(1).expect("a sum");
        let scan = Scan { combiner, downward, segments, bit: false, exclusive };
        let values: Vec<(Vec<u8>, bool)> = told.iter().map(|(value, bit)| (value.bytes(), *bit)).collect();
        let told: Vec<(&[u8], bool)> = values.iter().map(|(value, bit)| (value.as_slice(), *bit)).collect();
        (0..told.len()).map(|own| i32::read(&scanned(&scan, &told, own))).collect()
    }

    #[test]
    fn scans_run_in_both_directions_and_in_segments() {
        let told = [(1, false), (2, false), (4, true), (8, false), (16, true)];
        use Segments::*;
        assert_eq!(scan_of(&told, None, false, false), [1, 3, 7, 15, 31]);
        assert_eq!(scan_of(&told, None, false, true), [0, 1, 3, 7, 15]);
        assert_eq!(scan_of(&told, None, true, false), [31, 30, 28, 24, 16]);
        assert_eq!(scan_of(&told, StartBit, false, false), [1, 3, 4, 12, 16]);
        assert_eq!(scan_of(&told, StartBit, false, true), [0, 1, 3, 4, 12], "totals of the segments before");
        assert_eq!(scan_of(&told, SegmentBit, false, true), [0, 1, 0, 4, 0]);
        assert_eq!(scan_of(&told, StartBit, true, false), [7, 6, 4, 24, 16]);
    }
}
