//! The pages of a node, for any kind of memory.

/// The program's access to a page without a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing.
    None,
    /// Read it.
    Read,
    /// Read and write it.
    Write,
}

/// The shared pages as this node has them. Reads and writes through this trait do not depend on the program's access.
/// The program may run at the same time, and write to other words of an open page.
pub trait Memory {
    /// Copies a page.
    fn load(&self, page: u32, out: &mut [u8]);
    /// Writes these bytes of a page and no other.
    fn store(&mut self, page: u32, offset: usize, data: &[u8]);
    /// Sets the program's access to these pages. When the call returns, earlier writes are complete.
    fn protect(&mut self, first: u32, count: u32, access: Access);
    /// Reduces a writable page to read access. Returns whether a task may have written to it since it was opened.
    fn withdraw(&mut self, page: u32) -> bool {
        self.protect(page, 1, Access::Read);
        true
    }
    /// A lock is wanted elsewhere that is here, and not held as far as the node knows: whether that is so. A program
    /// may take and release a lock that is here without the node. From now on the node counts such a lock as held, and
    /// [`Node::release`](crate::Node::release) releases it.
    fn is_free(&mut self, _lock: u32) -> bool {
        true
    }
    /// Which locks were found not to be free since this was last asked, and which task of the node has each.
    fn taken(&mut self) -> Vec<(u32, usize)> {
        Vec::new()
    }
    /// At the manager of barriers, when all have come: what the program's side wants to be kept with the pages.
    fn carries(&mut self) -> Option<Vec<u8>> {
        None
    }
    /// A barrier is whole with which this was kept, at another node than the manager.
    fn learns(&mut self, _carried: &[u8]) {}
    /// Pages were put back as they were at the last whole barrier, with which this was kept, if anything was. All locks are free.
    fn restored(&mut self, _carried: Option<&[u8]>) {}
}
