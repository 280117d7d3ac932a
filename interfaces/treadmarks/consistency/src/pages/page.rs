//! The state of a page at a node.

use crate::message::{Record, Span, Wanted};
use crate::pages::memory::Access;
use crate::stamp::Stamp;

/// A page that was touched or heard of.
pub(crate) struct Page {
    /// Whether there is a copy here, valid or not.
    pub(crate) copy: bool,
    pub(crate) access: Access,
    /// The contents before the local writes that are not in a diff yet.
    pub(crate) twin: Option<Box<[u8]>>,
    /// The program overwrites the whole page without fetching it: the next diff is the whole page.
    pub(crate) whole: bool,
    /// The own intervals, first and last, whose changes of it no diff has yet.
    pub(crate) span: Option<(u32, u32)>,
    /// Whether it was written to in the open interval.
    pub(crate) dirty: bool,
    /// A node that certainly has a copy.
    pub(crate) keeper: usize,
    /// The node to which changes are sent at once.
    pub(crate) home: Option<usize>,
    /// For each node the latest of its intervals that is known to have changed the page.
    pub(crate) noticed: Stamp,
    /// For each node the latest of its intervals whose changes are in the copy; the own one as far as diffs have it.
    pub(crate) applied: Stamp,
    /// The same when the log began.
    pub(crate) floor: Stamp,
    /// The changes applied to the copy since, in order, and diffs of the local writes.
    pub(crate) log: Vec<Record>,
    /// Nodes that wait until their home has what they need.
    pub(crate) waiting: Vec<(usize, Vec<Wanted>)>,
}

impl Page {
    pub(crate) fn new(nodes: usize, copy: bool, home: Option<usize>) -> Page {
        Page {
            copy,
            access: if copy { Access::Read } else { Access::None },
            twin: None,
            whole: false,
            span: None,
            dirty: false,
            keeper: 0,
            home,
            noticed: Stamp::new(nodes),
            applied: Stamp::new(nodes),
            floor: Stamp::new(nodes),
            log: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// The changes of other nodes that the copy lacks.
    pub(crate) fn lacks(&self, own: usize) -> Vec<Wanted> {
        let lacking = self.noticed.iter().filter(|&(node, upto)| node != own && upto > self.applied[node]);
        lacking.map(|(node, upto)| Wanted { node: node as u32, after: self.applied[node], upto }).collect()
    }

    /// Notes what was put into the copy. Drops changes of others that a folded record contains completely. The node's
    /// own changes stay, for nodes that lack only them. How many bytes were forgotten.
    pub(crate) fn log_record(&mut self, own: usize, record: Record) -> usize {
        let is_in = |span: &Span| {
            let over = |other: &Span| {
                other.node == span.node && other.first <= span.first && span.last <= other.last
            };
            record.spans.iter().any(over)
        };
        let mut forgotten = 0;
        if record.folded {
            self.log.retain(|old| {
                let keep =
                    old.spans.iter().any(|span| span.node as usize == own && !old.folded || !is_in(span));
                forgotten += if keep { 0 } else { old.diff.bytes() };
                keep
            });
        }
        self.log.push(record);
        forgotten
    }

    pub(crate) fn is_current(&self, own: usize) -> bool {
        self.copy && self.has_all(&self.noticed, own)
    }

    /// Whether the copy has all changes up to these of other nodes.
    pub(crate) fn has_all(&self, upto: &Stamp, own: usize) -> bool {
        upto.iter().all(|(node, upto)| node == own || upto <= self.applied[node])
    }

    /// Whether the copy has all of this.
    pub(crate) fn has(&self, needs: &[Wanted]) -> bool {
        needs.iter().all(|need| self.applied[need.node as usize] >= need.upto)
    }
}
