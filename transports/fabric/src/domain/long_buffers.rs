//! Long buffers of one direction.

use crate::ofi::{Endpoint, FabricError, LONG_TOGETHER};

/// Blocks of long buffers in one direction: 16 MiB.
const MOST_BLOCKS: u32 = 16;

/// Long buffers, to send from or to receive into.
#[derive(Default)]
pub(super) struct LongBuffers {
    pub(super) free: Vec<u32>,
    /// Buffers whose operations outlived their link and may never end.
    pub(super) lost: u32,
    blocks: u32,
}

impl LongBuffers {
    /// Allocates buffers if none is free: for lost ones, and if `may_grow` up to the limit.
    pub(super) fn refill(&mut self, endpoint: &mut Endpoint, may_grow: bool) -> Result<(), FabricError> {
        let replaces_lost = self.lost >= LONG_TOGETHER;
        if !self.free.is_empty() || !(replaces_lost || may_grow && self.blocks < MOST_BLOCKS) {
            return Ok(());
        }
        let first = endpoint.add_long_buffers()?;
        self.free.extend(first..first + LONG_TOGETHER);
        match replaces_lost {
            true => self.lost -= LONG_TOGETHER,
            false => self.blocks += 1,
        }
        Ok(())
    }

    /// An operation has ended. Its link may be no more.
    pub(super) fn ended(&mut self, slot: u32, link_lives: bool) {
        self.free.push(slot);
        if !link_lives {
            self.lost = self.lost.saturating_sub(1);
        }
    }
}
