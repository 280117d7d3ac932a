//! What all nodes do together, made of messages.
//!
//! Short data goes straight between the root and everybody: a message takes a tenth of a microsecond, a turn of a task
//! that must wait for its core several. Long data goes by a binomial tree, in which several pairs copy at a time.

use parvum_waist::Status;

/// Messages between nodes. A send never waits for its receiver.
pub trait Exchange {
    /// The own number.
    fn own(&self) -> usize;
    /// How many nodes there are.
    fn size(&self) -> usize;
    /// Sends data to a node.
    fn send(&self, to: usize, tag: i32, data: &[u8]) -> Result<(), Status>;
    /// Receives as many bytes from a node.
    fn receive(&self, from: usize, tag: i32, room: &mut [u8]) -> Result<(), Status>;
}

/// The operations, over some way to exchange messages. See [`Partition`](crate::Partition) for what each does.
pub struct Together<'a, X>(pub &'a X);

/// Up to so many bytes go straight to and from the root.
const SHORT: usize = 4 << 10;
/// As long as there are no more nodes than this.
const FEW: usize = 64;

mod tag {
    pub const BARRIER: i32 = 1;
    pub const BROADCAST: i32 = 2;
    pub const REDUCE: i32 = 3;
    pub const GATHER: i32 = 4;
    pub const EXCHANGE: i32 = 5;
}

/// How a node combines what has come, the second argument, into what it has.
type Combine<'a> = &'a mut dyn FnMut(&mut [u8], &[u8]);

impl<X: Exchange> Together<'_, X> {
    /// Waits until all have come: in each of log2 n rounds a node tells another, twice as far away each time.
    pub fn barrier(&self) -> Result<(), Status> {
        let (me, nodes) = (self.0.own(), self.0.size());
        let mut far = 1;
        while far < nodes {
            self.0.send((me + far) % nodes, tag::BARRIER, &[])?;
            self.0.receive((me + nodes - far) % nodes, tag::BARRIER, &mut [])?;
            far *= 2;
        }
        Ok(())
    }

    fn goes_straight(&self, length: usize) -> bool {
        self.0.size() <= 2 || (length <= SHORT && self.0.size() <= FEW)
    }

    /// Gives the root's data to all.
    pub fn broadcast(&self, root: usize, data: &mut [u8]) -> Result<(), Status> {
        let (own, nodes) = (self.0.own(), self.0.size());
        if self.goes_straight(data.len()) {
            if own != root {
                return self.0.receive(root, tag::BROADCAST, data);
            }
            return self.others().try_for_each(|node| self.0.send(node, tag::BROADCAST, data));
        }
        // Counted from the root, a node's parent is the node without its lowest bit.
        let me = (own + nodes - root) % nodes;
        let mut bit = 1;
        while bit < nodes && me & bit == 0 {
            bit *= 2;
        }
        if me != 0 {
            self.0.receive((me - bit + root) % nodes, tag::BROADCAST, data)?;
        }
        while bit > 1 {
            bit /= 2;
            if me + bit < nodes {
                self.0.send((me + bit + root) % nodes, tag::BROADCAST, data)?;
            }
        }
        Ok(())
    }

    /// The other nodes, the next one first: so not all begin with the same.
    fn others(&self) -> impl Iterator<Item = usize> + use<X> {
        let (own, nodes) = (self.0.own(), self.0.size());
        (1..nodes).map(move |step| (own + step) % nodes)
    }

    /// Combines the data of all at the root.
    pub fn reduce(
        &self,
        root: usize,
        data: &mut [u8],
        part: &mut [u8],
        combine: Combine<'_>,
    ) -> Result<(), Status> {
        let (own, nodes) = (self.0.own(), self.0.size());
        let part = part.get_mut(..data.len()).ok_or(Status::BadArgument)?;
        if self.goes_straight(data.len()) {
            if own != root {
                return self.0.send(root, tag::REDUCE, data);
            }
            // Always in this order, whichever came first.
            for node in self.others() {
                self.0.receive(node, tag::REDUCE, part)?;
                combine(data, part);
            }
            return Ok(());
        }
        let me = (own + nodes - root) % nodes;
        let mut bit = 1;
        while bit < nodes {
            if me & bit != 0 {
                return self.0.send((me - bit + root) % nodes, tag::REDUCE, data);
            }
            if me + bit < nodes {
                self.0.receive((me + bit + root) % nodes, tag::REDUCE, part)?;
                combine(data, part);
            }
            bit *= 2;
        }
        Ok(())
    }

    /// Combines the data of all, for all.
    pub fn reduce_all(&self, data: &mut [u8], part: &mut [u8], combine: Combine<'_>) -> Result<(), Status> {
        if self.0.size() != 2 {
            self.reduce(0, data, part, combine)?;
            return self.broadcast(0, data);
        }
        // Both combine at once, and both in the order of nodes.
        let (own, part) = (self.0.own(), part.get_mut(..data.len()).ok_or(Status::BadArgument)?);
        self.0.send(1 - own, tag::REDUCE, data)?;
        self.0.receive(1 - own, tag::REDUCE, part)?;
        if own == 1 {
            data.swap_with_slice(part);
        }
        combine(data, part);
        Ok(())
    }

    /// Collects as many bytes of each at the root.
    pub fn gather(&self, root: usize, mine: &[u8], all: &mut [u8]) -> Result<(), Status> {
        let (own, each) = (self.0.own(), mine.len());
        if own != root {
            return self.0.send(root, tag::GATHER, mine);
        }
        let all = all.get_mut(..each * self.0.size()).ok_or(Status::BadArgument)?;
        all[own * each..(own + 1) * each].copy_from_slice(mine);
        self.others()
            .try_for_each(|node| self.0.receive(node, tag::GATHER, &mut all[node * each..(node + 1) * each]))
    }

    /// Gives all nodes the data of all.
    pub fn concat(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]) -> Result<(), Status> {
        let (own, nodes) = (self.0.own(), self.0.size());
        let total = lengths.iter().try_fold(0usize, |sum, &length| sum.checked_add(length));
        let starts: Vec<usize> = lengths
            .iter()
            .scan(0usize, |sum, &length| {
                let start = *sum;
                *sum = sum.saturating_add(length);
                Some(start)
            })
            .collect();
        let fits = lengths.len() == nodes && lengths[own] == mine.len();
        let all = match total {
            Some(total) if fits => all.get_mut(..total).ok_or(Status::BadArgument)?,
            _ => return Err(Status::BadArgument),
        };
        all[starts[own]..starts[own] + mine.len()].copy_from_slice(mine);
        self.others().try_for_each(|node| self.0.send(node, tag::GATHER, mine))?;
        self.others().try_for_each(|node| {
            self.0.receive(node, tag::GATHER, &mut all[starts[node]..starts[node] + lengths[node]])
        })
    }

    /// Gives each node its piece of everybody's data.
    pub fn all_to_all(&self, mine: &[u8], all: &mut [u8], each: usize) -> Result<(), Status> {
        let (own, whole) = (self.0.own(), each * self.0.size());
        let (Some(mine), Some(all)) = (mine.get(..whole), all.get_mut(..whole)) else {
            return Err(Status::BadArgument);
        };
        let piece = |node: usize| node * each..(node + 1) * each;
        all[piece(own)].copy_from_slice(&mine[piece(own)]);
        self.others().try_for_each(|node| self.0.send(node, tag::EXCHANGE, &mine[piece(node)]))?;
        self.others().try_for_each(|node| self.0.receive(node, tag::EXCHANGE, &mut all[piece(node)]))
    }

    /// Combines the values of the nodes before each.
    pub fn scan(
        &self,
        value: &mut [u8],
        upward: bool,
        inclusive: bool,
        identity: &[u8],
        combine: Combine<'_>,
    ) -> Result<(), Status> {
        let (own, nodes, each) = (self.0.own(), self.0.size(), value.len());
        if identity.len() != each {
            return Err(Status::BadArgument);
        }
        // Values are short: all nodes get all of them, and each combines for itself.
        let mut all = vec![0; nodes * each];
        self.concat(value, &vec![each; nodes], &mut all)?;
        let of = |node: usize| &all[node * each..(node + 1) * each];
        let before: Vec<usize> = if upward { (0..own).collect() } else { (own + 1..nodes).rev().collect() };
        let mut chain = before.into_iter().chain(inclusive.then_some(own));
        let Some(first) = chain.next() else {
            value.copy_from_slice(identity);
            return Ok(());
        };
        value.copy_from_slice(of(first));
        chain.for_each(|node| combine(value, of(node)));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
