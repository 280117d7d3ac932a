//! Buffers that the library sends from and receives into.

use super::layout::{Memory, Mr};
use super::objects::Object;
use std::ptr::{NonNull, null_mut};

/// Bytes of a buffer for one message. The provider for TCP sends as many at once; it would ask the receiver before it sends more.
pub const BUFFER: usize = 16 << 10;
/// Bytes of a buffer for a long payload, which its receiver asks for.
pub const LONG_BUFFER: usize = 256 << 10;

/// A block of memory that the library may use while an operation is under way, followed by the operation's buffer.
#[repr(C)]
struct Context {
    words: [Memory; 8],
    slot: u32,
}

/// Buffers that were allocated together.
pub struct Block {
    /// Closed before the memory is freed.
    region: Option<Object<Mr>>,
    memory: NonNull<[u8]>,
    contexts: NonNull<[Context]>,
    /// Which of them the library has.
    lent: Vec<bool>,
    /// Bytes of one.
    size: usize,
}

// SAFETY: the block owns its memory. Its owner has `&mut` or a lock, and the library writes only to lent buffers.
unsafe impl Send for Block {}

impl Block {
    /// `count` buffers of `size` bytes whose numbers begin with `first`.
    pub fn new(first: u32, count: u32, size: usize) -> Block {
        // The system gives pages of zeros when they are first used: few peers send so much at once that all are.
        let memory = vec![0; count as usize * size].into_boxed_slice();
        let contexts: Box<[Context]> =
            (first..first + count).map(|slot| Context { words: [null_mut(); 8], slot }).collect();
        // Plain pointers: the library writes there while nothing here borrows the memory.
        let [memory, contexts] = [Box::into_raw(memory) as *mut (), Box::into_raw(contexts) as *mut ()];
        let memory =
            NonNull::slice_from_raw_parts(NonNull::new(memory.cast()).expect("a box"), count as usize * size);
        let contexts =
            NonNull::slice_from_raw_parts(NonNull::new(contexts.cast()).expect("a box"), count as usize);
        Block { region: None, memory, contexts, lent: vec![false; count as usize], size }
    }

    /// All of its memory, to be registered.
    pub fn memory(&self) -> NonNull<[u8]> {
        self.memory
    }

    /// The memory is registered.
    pub fn set_region(&mut self, region: Object<Mr>) {
        self.region = Some(region);
    }

    /// The memory is registered no more.
    pub fn close_region(&mut self) {
        self.region = None;
    }

    /// The description of the memory for operations.
    pub fn description(&self) -> Memory {
        // SAFETY: a region that was made stays valid until it is closed.
        self.region.as_ref().map_or(null_mut(), |region| unsafe { (*region.get()).desc })
    }

    /// Bytes of one buffer.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The context of a buffer that the library has.
    pub fn context(&self, at: usize) -> Option<Memory> {
        // SAFETY: `lent` has one entry for each context, so `at` lies within them.
        self.lent[at].then(|| unsafe { self.contexts.as_ptr().cast::<Context>().add(at).cast() })
    }

    /// Lends a buffer to the library: its address, and that of its context.
    /// Panics if the library has it already.
    pub fn lend(&mut self, at: usize) -> (Memory, Memory) {
        assert!(!std::mem::replace(&mut self.lent[at], true), "the library has this buffer");
        // SAFETY: `lent` has one entry for each buffer and context, so `at` lies within both.
        unsafe {
            let buffer = self.memory.as_ptr().cast::<u8>().add(at * self.size);
            let context = self.contexts.as_ptr().cast::<Context>().add(at);
            (buffer.cast(), context.cast())
        }
    }

    /// The library has given the buffer back.
    pub fn take_back(&mut self, at: usize) {
        self.lent[at] = false;
    }

    /// A buffer that the library does not have.
    /// Panics if the library has it.
    pub fn buffer(&mut self, at: usize) -> &mut [u8] {
        assert!(!self.lent[at], "the library has this buffer");
        // SAFETY: within the memory, as above. The library does not have the buffer, and `&mut self` excludes others here.
        unsafe {
            std::slice::from_raw_parts_mut(self.memory.as_ptr().cast::<u8>().add(at * self.size), self.size)
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.close_region();
        // SAFETY: both came from boxes, and nobody has them any more: the endpoint is closed before its blocks are dropped.
        unsafe {
            drop(Box::from_raw(self.memory.as_ptr()));
            drop(Box::from_raw(self.contexts.as_ptr()));
        }
    }
}

/// The number of the buffer whose context an operation had.
///
/// # Safety
/// `context` comes from [`Block::lend`], of a block that lives.
pub unsafe fn slot_of(context: Memory) -> u32 {
    // SAFETY: by the caller's promise it is a context. The library owns the words before the number, and never writes behind them.
    unsafe { (*context.cast::<Context>()).slot }
}
