//! Messages as receivers see them, and what receives ask for.

use crate::memory::zeroed;
use parvum_wire::Tid;

/// The properties of a message, besides its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Who sent it.
    pub from: Tid,
    /// The user's tag.
    pub tag: i32,
    /// The context that the tag is of.
    pub context: u32,
    /// The interface's word: how the data is encoded.
    pub meta: u32,
    /// Bytes of data.
    pub length: u64,
    /// Its number among the messages from that sender. A message that came from no task has no number.
    pub order: Option<u32>,
}

impl Envelope {
    /// Of no message yet.
    pub const NONE: Envelope = Envelope { from: Tid(0), tag: 0, context: 0, meta: 0, length: 0, order: None };
}

/// Which tags a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagMatch {
    /// Every tag.
    Any,
    /// This one.
    Exactly(i32),
    /// Tags `t` for which `t & mask == value`.
    Masked {
        /// Bits that count.
        mask: i32,
        /// What they must be.
        value: i32,
    },
    /// Tags from `first` to `last`, both included.
    Within {
        /// The lowest.
        first: i32,
        /// The highest.
        last: i32,
    },
    /// The tags from 0 to 29 whose bit is set in `few`; and all tags from 30 to `last`, if bit 30 is set.
    Among {
        /// Bits for the first thirty, and one for the rest.
        few: u32,
        /// The highest.
        last: i32,
    },
}

/// Which messages a receive takes: source, tag and context, each with a wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// From this task; `None` from any.
    pub from: Option<Tid>,
    /// With such a tag.
    pub tag: TagMatch,
    /// In this context; `None` in any.
    pub context: Option<u32>,
}

impl Pattern {
    /// Everything.
    pub const ANY: Pattern = Pattern { from: None, tag: TagMatch::Any, context: None };

    /// Whether the message is one of those asked for.
    #[inline]
    pub fn matches(&self, message: &Envelope) -> bool {
        self.from.is_none_or(|from| from == message.from)
            && self.context.is_none_or(|context| context == message.context)
            && match self.tag {
                TagMatch::Any => true,
                TagMatch::Exactly(tag) => tag == message.tag,
                TagMatch::Masked { mask, value } => message.tag & mask == value,
                TagMatch::Within { first, last } => (first..=last).contains(&message.tag),
                TagMatch::Among { few, last } => {
                    (0..=last).contains(&message.tag) && few >> message.tag.min(30) & 1 == 1
                }
            }
    }
}

/// The data of a received message; the receiver owns it.
///
/// Short data lies in the block itself. Longer data is in memory of the engine's pool.
/// [`Engine::recycle`](crate::Engine::recycle) should return the memory to the pool, which saves the next message an
/// allocation.
#[derive(Debug)]
pub struct Block(Store);

#[derive(Debug)]
enum Store {
    Inline {
        length: u8,
        bytes: [u8; Block::INLINE],
    },
    /// `memory` is all initialised; the data is its first `length` bytes.
    Pooled {
        length: usize,
        memory: Vec<u8>,
    },
}

impl Block {
    /// Data up to this length needs no separate memory.
    pub const INLINE: usize = 62;

    /// No data.
    pub(crate) const EMPTY: Block = Block(Store::Inline { length: 0, bytes: [0; Self::INLINE] });

    /// A block of `length` bytes, from `pool` where it is long. Its contents are arbitrary. `None` if there is not
    /// enough memory: a length comes from a peer, and may be wrong.
    pub(crate) fn new(length: u64, pool: &mut Pool) -> Option<Block> {
        let length = usize::try_from(length).ok()?;
        Some(Block(match length <= Self::INLINE {
            true => Store::Inline { length: length as u8, bytes: [0; Self::INLINE] },
            false => Store::Pooled { length, memory: pool.take(length)? },
        }))
    }

    /// The data.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Store::Inline { length, bytes } => &bytes[..*length as usize],
            Store::Pooled { length, memory } => &memory[..*length],
        }
    }

    /// The data, to be changed.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Store::Inline { length, bytes } => &mut bytes[..*length as usize],
            Store::Pooled { length, memory } => &mut memory[..*length],
        }
    }

    pub(crate) fn into_memory(self) -> Option<Vec<u8>> {
        match self.0 {
            Store::Inline { .. } => None,
            Store::Pooled { memory, .. } => Some(memory),
        }
    }
}

/// Memory of past messages, kept for the next ones up to a bound.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    spare: Vec<Vec<u8>>,
    kept: usize,
}

impl Pool {
    /// The pool keeps at most this many bytes; part of a task's stated own cost.
    const BOUND: usize = 4 << 20;
    /// More pieces than this are not worth searching.
    const PIECES: usize = 256;

    pub(crate) fn take(&mut self, length: usize) -> Option<Vec<u8>> {
        let fits = |memory: &Vec<u8>| memory.len() >= length && memory.len() / 4 <= length.max(4096);
        match self.spare.iter().rposition(fits) {
            Some(at) => {
                let memory = self.spare.swap_remove(at);
                self.kept -= memory.len();
                Some(memory)
            }
            None => zeroed(length.checked_next_multiple_of(256)?),
        }
    }

    /// Keeps memory for the next message; gives back what is too much. To return long memory to the system takes long, so a
    /// caller that can does it without the engine.
    pub(crate) fn give(&mut self, memory: Vec<u8>) -> Option<Vec<u8>> {
        if self.kept + memory.len() > Self::BOUND || self.spare.len() >= Self::PIECES {
            return Some(memory);
        }
        self.kept += memory.len();
        self.spare.push(memory);
        None
    }
}
