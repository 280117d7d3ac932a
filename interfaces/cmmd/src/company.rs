//! The other tasks: nodes, host, and their numbers here.

use std::sync::atomic::{AtomicBool, Ordering};

/// Task ids are above this; node numbers are far below.
const TIDS: i32 = 0x40000;

static IS_HOST: AtomicBool = AtomicBool::new(false);

/// Whether this process is a host program.
pub(crate) fn is_host_program() -> bool {
    // Relaxed: set before the first call that asks.
    IS_HOST.load(Ordering::Relaxed)
}

/// Marks this process as a host program, before it enrols.
pub(crate) fn become_host() {
    IS_HOST.store(true, Ordering::Relaxed);
}

/// The nodes of a partition, and its host if there is one.
pub(crate) struct Company {
    /// This task's own number; that of the host is the number of nodes.
    pub(crate) own: usize,
    /// The nodes' tasks, in order.
    pub(crate) nodes: Vec<i32>,
    /// The host's task.
    pub(crate) host: Option<i32>,
}

impl Company {
    /// How many nodes there are.
    pub(crate) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Whether this task is the host.
    pub(crate) fn is_host(&self) -> bool {
        self.own == self.size()
    }

    /// The task of that number: a node, the host, or a task's own id.
    #[inline]
    pub(crate) fn task(&self, node: i32) -> Option<i32> {
        match usize::try_from(node) {
            Ok(at) if at < self.nodes.len() => Some(self.nodes[at]),
            Ok(at) if at == self.nodes.len() => self.host,
            _ if node > TIDS => Some(node),
            _ => None,
        }
    }

    /// The number of a task.
    pub(crate) fn node(&self, task: i32) -> i32 {
        match self.nodes.iter().position(|&tid| tid == task) {
            Some(at) => at as i32,
            None if self.host == Some(task) => self.size() as i32,
            None => task,
        }
    }

    /// The other nodes' tasks, and the host's.
    pub(crate) fn others(&self) -> impl Iterator<Item = i32> + '_ {
        let own = if self.is_host() { self.host } else { self.nodes.get(self.own).copied() };
        self.nodes.iter().copied().chain(self.host).filter(move |&task| Some(task) != own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_numbers_and_tasks_map_to_each_other() {
        let company = Company { own: 1, nodes: vec![0x40001, 0x40002, 0x40003], host: Some(0x40009) };
        assert_eq!(
            (0..5).map(|node| company.task(node)).collect::<Vec<_>>(),
            [Some(0x40001), Some(0x40002), Some(0x40003), Some(0x40009), None]
        );
        assert_eq!((company.task(-1), company.task(0x50000)), (None, Some(0x50000)));
        assert_eq!([0x40003, 0x40009, 0x50000].map(|task| company.node(task)), [2, 3, 0x50000]);
        assert_eq!(company.others().collect::<Vec<_>>(), [0x40001, 0x40003, 0x40009]);
        let host = Company { own: 3, ..company };
        assert!(host.is_host());
        assert_eq!(host.others().count(), 3);
    }
}
