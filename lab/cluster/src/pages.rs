//! The shared pages of one node: there are as many as it has touched.

use parvum_consistency::{Access, Memory};
use std::collections::HashMap;

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

pub(crate) struct Pages {
    bytes: HashMap<u32, Box<[u8; PAGE]>>,
    access: HashMap<u32, Access>,
    untouched: Access,
}

impl Pages {
    /// None touched, and this is what may be done to them.
    pub(crate) fn new(untouched: Access) -> Pages {
        Pages { bytes: HashMap::new(), access: HashMap::new(), untouched }
    }

    pub(crate) fn access(&self, page: u32) -> Access {
        self.access.get(&page).copied().unwrap_or(self.untouched)
    }

    fn page(&mut self, page: u32) -> &mut [u8; PAGE] {
        self.bytes.entry(page).or_insert_with(|| Box::new([0; PAGE]))
    }

    /// The program writes there: each double becomes another, as sums and sorted numbers do.
    pub(crate) fn change(&mut self, page: u32, from: usize, to: usize) {
        for word in self.page(page)[from..to].chunks_mut(8) {
            for (place, byte) in word.iter_mut().enumerate() {
                *byte = byte.wrapping_mul(5).wrapping_add(17 + place as u8);
            }
        }
    }
}

impl Memory for Pages {
    fn load(&self, page: u32, out: &mut [u8]) {
        match self.bytes.get(&page) {
            Some(bytes) => out.copy_from_slice(&bytes[..]),
            None => out.fill(0),
        }
    }

    fn store(&mut self, page: u32, offset: usize, data: &[u8]) {
        self.page(page)[offset..offset + data.len()].copy_from_slice(data);
    }

    fn protect(&mut self, first: u32, count: u32, access: Access) {
        self.access.extend((first..first + count).map(|page| (page, access)));
    }
}
