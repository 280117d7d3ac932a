//! The tasks that form one node of the protocol: the tasks of a host, or fewer.

/// The nodes and their tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// The processes of each node in their order; nodes in the order of their first processes.
    members: Vec<Vec<usize>>,
    /// For each process: its node, and its place in the node.
    places: Vec<(usize, usize)>,
}

impl Groups {
    /// Groups for processes on these hosts, with at most this number in a node.
    pub(crate) fn new(hosts: &[u32], most: usize) -> Groups {
        let (mut members, mut places) = (Vec::<Vec<usize>>::new(), Vec::new());
        for (process, &host) in hosts.iter().enumerate() {
            let has_room = |node: &Vec<usize>| hosts[node[0]] == host && node.len() < most;
            let node = members.iter().position(has_room).unwrap_or_else(|| {
                members.push(Vec::new());
                members.len() - 1
            });
            places.push((node, members[node].len()));
            members[node].push(process);
        }
        Groups { members, places }
    }

    /// How many nodes there are.
    pub(crate) fn count(&self) -> usize {
        self.members.len()
    }

    /// Whether any has several tasks.
    pub(crate) fn any_shares(&self) -> bool {
        self.members.len() < self.places.len()
    }

    /// The node of a process, and its place among the tasks there.
    pub(crate) fn place(&self, process: usize) -> (usize, usize) {
        self.places[process]
    }

    /// The processes of a node.
    pub(crate) fn members(&self, node: usize) -> &[usize] {
        &self.members[node]
    }

    /// The process that has the node: its first.
    pub(crate) fn first(&self, node: usize) -> usize {
        self.members[node][0]
    }

    /// Which node a process has, if it has one.
    pub(crate) fn node_of(&self, process: usize) -> Option<usize> {
        let &(node, place) = self.places.get(process)?;
        (place == 0).then_some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_host_form_one_or_more_nodes() {
        let hosts = [7, 7, 3, 7, 3];
        let groups = Groups::new(&hosts, usize::MAX);
        assert_eq!((groups.count(), groups.any_shares()), (2, true));
        assert_eq!((groups.members(0), groups.members(1)), (&[0, 1, 3][..], &[2, 4][..]));
        assert_eq!((groups.place(3), groups.first(1)), ((0, 2), 2));
        assert_eq!((groups.node_of(2), groups.node_of(4), groups.node_of(5)), (Some(1), None, None));
        let pairs = Groups::new(&hosts, 2);
        assert_eq!((pairs.count(), pairs.members(2)), (3, &[3][..]));
        let alone = Groups::new(&hosts, 1);
        assert_eq!((alone.count(), alone.any_shares()), (5, false));
    }
}
