//! The runs of items as a list, for who can send and receive pieces in place.

use crate::Type;
use crate::data::walk::{Action, total, walk};

/// Runs so far, until they are too many.
struct Runs {
    found: Vec<(*const u8, usize)>,
    most: usize,
    full: bool,
}

impl Action for Runs {
    fn left(&self) -> u64 {
        if self.full { 0 } else { u64::MAX }
    }

    fn run(&mut self, at: usize, length: u64) {
        let room = self.found.len() < self.most;
        match self.found.last_mut() {
            Some((last, so_far)) if last.addr().wrapping_add(*so_far) == at => *so_far += length as usize,
            _ if room => self.found.push((std::ptr::with_exposed_provenance(at), length as usize)),
            _ => self.full = true,
        }
    }

    fn strided(&mut self, at: usize, stride: i64, length: u64, count: u64) {
        for index in 0..count {
            if self.full {
                return;
            }
            let by = (stride as usize).wrapping_mul(index as usize);
            self.run(at.wrapping_add(by), length);
        }
    }

    fn places(&mut self, at: usize, places: &[i64], length: u64) {
        for place in places {
            if self.full {
                return;
            }
            self.run(at.wrapping_add(*place as usize), length);
        }
    }
}

impl Type {
    /// The runs of bytes of `count` items at `base`, in the order of the type map, neighbours joined: address and length.
    /// `None` when there are more than `most`, which is found out after about `most` steps. With a null `base` displacements
    /// are addresses.
    pub fn pieces(&self, count: i64, base: *const u8, most: usize) -> Option<Vec<(*const u8, usize)>> {
        let mut runs = Runs { found: Vec::new(), most, full: false };
        if total(self, count) > 0 {
            walk(self, count, base.expose_provenance(), 0, &mut runs);
        }
        (!runs.full).then_some(runs.found)
    }
}
