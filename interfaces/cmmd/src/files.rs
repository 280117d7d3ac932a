//! Files that the nodes write together: in node order (sync_seq), or once for all (sync_bc).
//!
//! Memory replaces the file: each node keeps its output in memory until the nodes meet in `CMMD_sync_with_nodes`. Then
//! node 0 writes the output of all. Programs therefore still write with C's calls, which do not wait for other nodes.

use crate::envelope::{context, notes};
use crate::errors::{Cmmd, Fault};
use crate::lent::bytes_of;
use crate::state::shared::{Shared, Together, is_writable};
use crate::state::{Guard, State};
use crate::words;
use parvum_api::{Pattern, Receiving, TagKind};

impl Guard {
    /// Puts out what the nodes have written since they met last. All nodes, and the C library has written what it kept.
    pub(crate) fn put_out(&mut self) -> Cmmd<()> {
        let mut shared = std::mem::take(&mut self.shared);
        let mut result = Ok(());
        for (at, one) in shared.iter_mut().enumerate() {
            // A disk that is full is no reason to leave the others waiting.
            result = result.and(self.put_out_one(at as i32, one));
        }
        self.shared = shared;
        result
    }

    fn put_out_one(&mut self, number: i32, shared: &mut Shared) -> Cmmd<()> {
        let own = shared.take_kept();
        let to = self.task(0)?;
        if self.company.own != 0 {
            return match shared.mode {
                Together::Once => own.map(drop),
                Together::InOrder => {
                    self.send_own(to, context::FILES, number, 0, own.as_deref().unwrap_or_default())
                }
            };
        }
        let mut result = own.and_then(|data| shared.put(&data));
        if shared.mode == Together::InOrder {
            for node in 1..self.company.size() {
                let from = self.company.nodes[node];
                let wanted = Pattern {
                    from,
                    tags: TagKind::Exactly,
                    tag: number,
                    other: 0,
                    context: context::FILES.into(),
                };
                let wait = notes(words::sync_with_nodes(), from, number);
                let api = self.api;
                let message = self.outside(|| api.receive(&wanted, Receiving::Block, &wait))?;
                result = result.and(shared.put(bytes_of(&message)));
                self.api.give_back(&message);
            }
        }
        result
    }

    /// Writes a file together from now on, or with `None` each for itself again.
    pub(crate) fn write_together(&mut self, descriptor: i32, mode: Option<Together>) -> Cmmd<i32> {
        let before = self.shared.iter().position(|shared| shared.descriptor == descriptor);
        if mode.is_none() && before.is_none() {
            return Ok(0);
        }
        let own = match is_writable(descriptor) {
            true => mode.map_or(0, |mode| mode as i32),
            false => -1,
        };
        // All of them or none.
        let (mut all, lengths) = (vec![0; self.company.size() * 4], vec![4; self.company.size()]);
        let nodes = self.nodes()?;
        self.outside(|| nodes.concat(&own.to_ne_bytes(), &lengths, &mut all))?;
        if own < 0 {
            return Err(Fault::Unsupported);
        }
        if all.chunks(4).any(|other| other != own.to_ne_bytes()) {
            return Err(Fault::BadArgument);
        }
        if let Some(at) = before {
            self.put_out()?;
            self.shared.remove(at).restore();
        }
        if let Some(mode) = mode {
            let shared = Shared::divert(descriptor, mode).map_err(|_| Fault::Refused)?;
            self.shared.push(shared);
        }
        // A node writes for itself only after the common output is written.
        self.barrier()?;
        Ok(0)
    }
}

impl State {
    /// The process ends: what is left goes out without the others.
    pub(crate) fn put_out_alone(&mut self) {
        for mut shared in std::mem::take(&mut self.shared) {
            if let Ok(data) = shared.take_kept()
                && (shared.mode == Together::InOrder || self.company.own == 0)
            {
                // An error cannot be reported any more.
                let _ = shared.put(&data);
            }
            shared.restore();
        }
    }
}

/// The process ends. A process that ends inside a call of CMMD loses its output for files.
pub(crate) fn at_exit() {
    if let Some(mut state) = Guard::take_at_exit() {
        state.put_out_alone();
    }
}
