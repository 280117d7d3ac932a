//! The pages of a host, as its node sees them. The node reads and writes them in a separate mapping, and closes them in
//! all tasks.

use super::rooms::{Alive, Rooms};
use crate::memory::heap::View;
use parvum_consistency::{Access, Keys, Memory};
use std::sync::Arc;

/// The number of times that the node checks whether a task has closed its pages before it sleeps, if each task has a
/// core.
const LOOKS: u32 = 2000;

/// The pages of a host.
pub(crate) struct Pages {
    rooms: Arc<Rooms>,
    view: View,
    pub(super) keys: Keys,
    /// Locks that other nodes want, and the tasks that have taken them.
    taken: Vec<(u32, usize)>,
    /// The other tasks by their places, with their numbers in the run.
    others: Vec<(usize, usize, Alive)>,
    looks: u32,
    /// Reports that another task has ended.
    ended: fn(usize),
}

impl Pages {
    /// `processes` are the processes of the other tasks, in order.
    pub(crate) fn new(
        (rooms, view, keys): (Arc<Rooms>, View, Keys),
        members: &[usize],
        processes: &[u64],
        ended: fn(usize),
    ) -> Pages {
        let others = members.iter().zip(processes).enumerate().skip(1);
        let others = others.map(|(place, (&member, &process))| (place, member, Alive::watch(process as i32)));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let looks = if members.len() < cores { LOOKS } else { 0 };
        Pages { rooms, view, keys, taken: Vec::new(), others: others.collect(), looks, ended }
    }

    /// Sets the access to pages. Whether any task had more of them open.
    fn change(&self, first: u32, count: u32, access: Access) -> bool {
        let open = self.rooms.change(first, count, access);
        let own = self.rooms.own;
        let others = || open.iter().filter(|&&place| place != own);
        others().for_each(|&place| self.rooms.ask(place, first, count, access));
        if open.contains(&own) {
            self.rooms.close(first, count, access);
        }
        others().for_each(|&place| self.await_closed(place));
        !open.is_empty()
    }

    /// Waits until a task has closed its pages, or has ended.
    fn await_closed(&self, place: usize) {
        while !self.rooms.await_closed(place, self.looks) {
            let Some((_, member, alive)) = self.others.iter().find(|other| other.0 == place) else { return };
            if alive.has_ended() {
                return (self.ended)(*member);
            }
        }
    }
}

impl Memory for Pages {
    fn load(&self, page: u32, out: &mut [u8]) {
        self.view.load(page, out);
    }

    fn store(&mut self, page: u32, offset: usize, data: &[u8]) {
        self.view.store(page, offset, data);
    }

    fn protect(&mut self, first: u32, count: u32, access: Access) {
        self.change(first, count, access);
    }

    fn withdraw(&mut self, page: u32) -> bool {
        self.change(page, 1, Access::Read)
    }

    fn is_free(&mut self, lock: u32) -> bool {
        match self.keys.claim(lock) {
            Ok(()) => true,
            Err(task) => {
                self.taken.push((lock, task));
                false
            }
        }
    }

    fn taken(&mut self) -> Vec<(u32, usize)> {
        std::mem::take(&mut self.taken)
    }
}
