//! Services for interfaces besides messages: segments of groups, roles of tasks, and lent memory.

use parvum_engine::{Block, Remote};
use parvum_segment::GroupSegment;
use parvum_wire::Tid;
use parvum_wire::control::{Request, RequestId};
use std::sync::Arc;

/// What interfaces were given.
pub(crate) struct Services {
    /// Segments that this task has mapped, by the name of the group.
    pub(crate) mapped: Vec<(String, Arc<GroupSegment>)>,
    /// The segments in use, by number less one.
    pub(crate) segments: Vec<Option<SharedSegment>>,
    /// The barrier that the control block names.
    pub(crate) shown_barrier: (String, i32),
    /// The resource manager, if a task plays it.
    pub(crate) manager: Option<Tid>,
    /// The settings of a tracer of all tasks, in its interface's form.
    pub(crate) tracer: Option<Vec<u8>>,
    /// Blocks lent to interfaces, by handle.
    pub(crate) lent: Slots<Block>,
    /// Data that is still with its sender, by handle.
    pub(crate) remotes: Slots<Remote>,
    /// How many bytes may be kept for peers beyond the credit, once it was asked or looked up.
    pub(crate) memory: Option<u64>,
    /// Requests to the daemon without an answer yet, because a signal has ended the wait.
    pub(crate) interrupted: Vec<(Request, RequestId)>,
    /// The barrier that this task has come to, and in which a signal has ended its wait.
    pub(crate) left_barrier: Option<LeftBarrier>,
}

/// A barrier that a task has come to, and does not wait in.
pub(crate) struct LeftBarrier {
    pub(crate) group: String,
    pub(crate) count: i32,
    pub(crate) shared: Arc<GroupSegment>,
    pub(crate) round: u32,
}

impl Services {
    pub(crate) fn new(memory: Option<u64>) -> Services {
        Services {
            mapped: Vec::new(),
            segments: Vec::new(),
            shown_barrier: Default::default(),
            manager: None,
            tracer: None,
            lent: Slots::new(),
            remotes: Slots::new(),
            memory,
            interrupted: Vec::new(),
            left_barrier: None,
        }
    }
}

/// A segment in use.
pub(crate) struct SharedSegment {
    pub(crate) group: Arc<str>,
    pub(crate) shared: Arc<GroupSegment>,
    /// This task's number among the members, and their count. The segment has the count too, but other members may write there.
    pub(crate) member: u32,
    pub(crate) members: u32,
    /// How many rounds have come.
    pub(crate) round: u64,
    /// The pending wait of an incomplete round.
    pub(crate) awaits: Option<Awaited>,
    /// How many entries of the broadcast ring the operations so far had, and the place of the next one.
    pub(crate) announced: u64,
    pub(crate) place: usize,
    /// This task has written its entry of the operation that is under way.
    pub(crate) has_posted: bool,
    /// The processes of the members, if each can read the memory of every other one; else none.
    pub(crate) processes: Box<[u32]>,
}

/// The kinds of waits of a round.
#[derive(Clone, Copy)]
pub(crate) enum Awaited {
    /// The barrier, by its own number of the round.
    SegmentBarrier(u32),
    /// The line of the other one of two members.
    Other,
}

impl SharedSegment {
    /// Whether all members show the same word.
    pub(crate) fn agrees_on(&self, word: u32) -> bool {
        (0..self.members).all(|member| self.shared.shown(member, self.round).0 == word)
    }
}

/// Things by name: that of a place, counted from 1. A place that is free is used again, the last one first.
pub(crate) struct Slots<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    pub(crate) const fn new() -> Slots<T> {
        Slots { places: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn keep(&mut self, thing: T) -> u64 {
        let at = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() as u32 - 1
        });
        self.places[at as usize] = Some(thing);
        u64::from(at) + 1
    }

    pub(crate) fn get(&self, name: u64) -> Option<&T> {
        self.places.get((name as usize).wrapping_sub(1))?.as_ref()
    }

    pub(crate) fn take(&mut self, name: u64) -> Option<T> {
        let at = (name as usize).wrapping_sub(1);
        let thing = self.places.get_mut(at)?.take();
        if thing.is_some() {
            self.free.push(at as u32);
        }
        thing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_number_is_reused_only_after_take() {
        let mut kept = Slots::new();
        let names = ["a", "b", "c"].map(|thing| kept.keep(thing));
        assert_eq!(names, [1, 2, 3], "0 names nothing");
        assert_eq!(kept.get(2), Some(&"b"));
        assert_eq!([kept.take(2), kept.take(2), kept.take(0), kept.take(9)], [Some("b"), None, None, None]);
        assert_eq!(kept.get(2), None);
        assert_eq!([kept.keep("d"), kept.keep("e")], [2, 4]);
        assert_eq!(
            [1, 2, 3, 4].map(|name| kept.get(name).copied()),
            [Some("a"), Some("d"), Some("c"), Some("e")]
        );
    }
}
