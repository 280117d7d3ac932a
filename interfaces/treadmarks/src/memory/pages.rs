//! The pages of a heap that a node of the protocol opens and closes to the program.

use crate::faults::userfault::Userfault;
use crate::memory::allocator::Allocator;
use crate::memory::heap::{Heap, View};
use parvum_consistency::{Access, Keys, Memory};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The pages of a heap whose pages are protected from the program, and the locks that it takes by itself.
pub(crate) struct Pages {
    pub(crate) keys: Keys,
    pub(crate) heap: Heap,
    pub(crate) view: View,
    /// By what pages are closed to the program; else by mprotect(2).
    pub(crate) userfault: Option<Userfault>,
    /// When races are looked for, all pages are closed but for the instruction that touches one, and these, which are open
    /// to system calls.
    pub(crate) lent: Option<BTreeSet<u32>>,
    /// With replicas the list of blocks is kept with the pages.
    pub(crate) blocks: Option<Arc<Mutex<Allocator>>>,
}

impl Pages {
    /// Opens a page for one instruction.
    pub(crate) fn open(&self, page: u32, access: Access) {
        self.set(page, 1, access);
    }

    /// The instruction is over.
    pub(crate) fn close(&self, page: u32, access: Access) {
        let is_lent = self.lent.as_ref().is_some_and(|lent| lent.contains(&page));
        self.set(page, 1, if is_lent { access } else { Access::None });
    }

    /// Opens a page until [`Pages::take_back`].
    pub(crate) fn lend(&mut self, page: u32, access: Access) {
        self.set(page, 1, access);
        self.lent.iter_mut().for_each(|lent| _ = lent.insert(page));
    }

    pub(crate) fn take_back(&mut self) {
        let lent = self.lent.as_mut().map(std::mem::take).unwrap_or_default();
        lent.into_iter().for_each(|page| self.set(page, 1, Access::None));
    }

    fn read_blocks(&self, written: Option<&[u8]>) {
        if let Some(blocks) = &self.blocks {
            blocks.lock().unwrap_or_else(PoisonError::into_inner).read(self.heap.length as u64, written);
        }
    }

    /// The program has touched a page that is open to it so far.
    pub(crate) fn show(&self, page: u32, access: Access) {
        if let Some(userfault) = self.userfault.as_ref().filter(|_| access != Access::None) {
            userfault.protect(&self.view, page, 1, access);
        }
    }

    fn set(&self, first: u32, count: u32, access: Access) {
        match &self.userfault {
            Some(userfault) => userfault.protect(&self.view, first, count, access),
            None => self.heap.protect(first, count, access),
        }
    }
}

impl Memory for Pages {
    fn load(&self, page: u32, out: &mut [u8]) {
        self.view.load(page, out);
    }

    fn store(&mut self, page: u32, offset: usize, data: &[u8]) {
        self.view.store(page, offset, data);
    }

    fn protect(&mut self, first: u32, count: u32, access: Access) {
        let Some(lent) = &self.lent else { return self.set(first, count, access) };
        self.set(first, count, Access::None);
        lent.range(first..first + count).for_each(|&page| self.set(page, 1, access));
    }

    fn is_free(&mut self, lock: u32) -> bool {
        self.keys.claim(lock).is_ok()
    }

    fn carries(&mut self) -> Option<Vec<u8>> {
        let blocks = self.blocks.as_ref()?;
        blocks.lock().unwrap_or_else(PoisonError::into_inner).written()
    }

    fn learns(&mut self, carried: &[u8]) {
        self.read_blocks(Some(carried));
    }

    fn restored(&mut self, carried: Option<&[u8]>) {
        self.keys.forget();
        self.read_blocks(carried);
    }
}
