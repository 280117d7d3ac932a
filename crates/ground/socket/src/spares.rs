//! Descriptors that are kept free for those that come.
//!
//! The system drops what a message brings when its receiver may have no more descriptors: memory that another task has already
//! put messages into would be lost without a word. So a task keeps a few numbers occupied, gives them up before it takes in
//! what brings descriptors, and occupies them again when it has used those.

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};

/// What joining a task takes at most, with an offer of another task that comes in the midst of it.
const SPARES: usize = 8;
/// They lie no higher: the system keeps a table up to the highest number.
const HIGHEST: u64 = 512;

/// The numbers that are occupied.
#[derive(Default)]
pub struct Spares(Vec<OwnedFd>);

impl Spares {
    /// Occupies what it should, by copies of `of`. False: there is no room for all.
    pub fn keep(&mut self, of: impl AsFd) -> bool {
        if self.0.len() < SPARES {
            let limit = getrlimit(Resource::Nofile).current.unwrap_or(HIGHEST).min(HIGHEST);
            // High numbers: programs give their own low ones, and some close or replace those that they think are theirs.
            let high = limit.saturating_sub(SPARES as u64) as i32;
            while self.0.len() < SPARES {
                let spare = fcntl_dupfd_cloexec(&of, high).or_else(|_| fcntl_dupfd_cloexec(&of, 0));
                let Ok(spare) = spare else { return false };
                self.0.push(spare);
            }
        }
        true
    }

    /// Gives them up: there is room for as many others.
    pub fn give_up(&mut self) {
        self.0.clear();
    }
}
