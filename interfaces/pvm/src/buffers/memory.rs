//! The memory of a message that is being packed.

use std::ops::Deref;
use std::sync::Arc;

/// Bytes of this buffer alone, until another holder must keep them too. With shared memory, every check before a change
/// costs an atomic exchange, and most messages are never shared.
pub(crate) enum Memory {
    Own(Vec<u8>),
    Shared(Arc<Vec<u8>>),
}

impl Memory {
    /// The bytes, to be changed. If another holder keeps the bytes, this buffer gets a copy.
    #[inline]
    pub(crate) fn open(&mut self) -> &mut Vec<u8> {
        if let Memory::Shared(shared) = self {
            *self = Memory::Own(Self::unshare(shared));
        }
        match self {
            Memory::Own(bytes) => bytes,
            Memory::Shared(_) => unreachable!("it has just become its own"),
        }
    }

    #[cold]
    fn unshare(shared: &mut Arc<Vec<u8>>) -> Vec<u8> {
        match Arc::get_mut(shared) {
            Some(bytes) => std::mem::take(bytes),
            None => shared.to_vec(),
        }
    }

    /// Lets another holder keep the bytes too.
    pub(crate) fn share(&mut self) -> &Arc<Vec<u8>> {
        if let Memory::Own(bytes) = self {
            *self = Memory::Shared(Arc::new(std::mem::take(bytes)));
        }
        match self {
            Memory::Shared(shared) => shared,
            Memory::Own(_) => unreachable!("it has just been shared"),
        }
    }

    /// Empties it for the next message. False: another holder still keeps the bytes.
    #[inline]
    pub(crate) fn empty(&mut self) -> bool {
        if let Memory::Shared(shared) = self {
            let Some(bytes) = Arc::get_mut(shared) else { return false };
            *self = Memory::Own(std::mem::take(bytes));
        }
        self.open().clear();
        true
    }

    /// How much fits without asking for more.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        match self {
            Memory::Own(bytes) => bytes.capacity(),
            Memory::Shared(shared) => shared.capacity(),
        }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::Own(Vec::new())
    }
}

impl Deref for Memory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Memory::Own(bytes) => bytes,
            Memory::Shared(shared) => shared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_neither_changed_nor_reused() {
        let mut memory = Memory::default();
        memory.open().extend([1, 2, 3]);
        let kept = memory.share().clone();
        assert!(!memory.empty(), "it is still kept");
        memory.open().push(4);
        assert_eq!((&kept[..], &memory[..]), (&[1, 2, 3][..], &[1, 2, 3, 4][..]));
        assert!(memory.empty() && memory.is_empty());
    }

    #[test]
    fn memory_is_reused_after_last_share_ends() {
        let mut memory = Memory::default();
        memory.open().extend([1; 100]);
        let (start, kept) = (memory.as_ptr(), memory.share().clone());
        drop(kept);
        assert!(memory.empty() && memory.capacity() >= 100);
        memory.open().push(1);
        assert_eq!(memory.as_ptr(), start);
    }
}
