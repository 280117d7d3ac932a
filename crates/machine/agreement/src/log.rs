//! The log and the vote, in memory: a member that dies never comes back, so nobody would read them from a disk.

use crate::types::{Entry, LogId, StorageError, Types, Vote};
use openraft::storage::{LogFlushed, LogState, RaftLogStorage};
use openraft::{EntryPayload, RaftLogId, RaftLogReader};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::RangeBounds;
use std::rc::Rc;

/// So many bytes of entries are sent at once, or one entry.
const PORTION: usize = 1 << 20;

#[derive(Default)]
struct StoredLog {
    entries: BTreeMap<u64, Entry>,
    purged: Option<LogId>,
    vote: Option<Vote>,
    bytes: usize,
}

/// A handle to the log of this member.
#[derive(Clone, Default)]
pub(crate) struct Log(Rc<RefCell<StoredLog>>);

impl Log {
    /// Entries, and about how many bytes they take.
    pub fn size(&self) -> (usize, usize) {
        let kept = self.0.borrow();
        (kept.entries.len(), kept.bytes)
    }

    /// The last entry up to this index.
    pub fn last_until(&self, index: u64) -> Option<LogId> {
        self.0.borrow().entries.range(..=index).next_back().map(|(_, entry)| entry.log_id)
    }
}

pub(crate) fn cost(entry: &Entry) -> usize {
    match &entry.payload {
        EntryPayload::Normal(proposal) => proposal.cost(),
        _ => 64,
    }
}

impl RaftLogReader<Types> for Log {
    async fn try_get_log_entries<R: RangeBounds<u64> + Clone + Debug>(
        &mut self,
        range: R,
    ) -> Result<Vec<Entry>, StorageError> {
        Ok(self.0.borrow().entries.range(range).map(|(_, entry)| entry.clone()).collect())
    }

    async fn limited_get_log_entries(&mut self, start: u64, end: u64) -> Result<Vec<Entry>, StorageError> {
        let mut bytes = 0;
        let fits = |entry: &&Entry| {
            let first = bytes == 0;
            bytes += cost(entry);
            first || bytes <= PORTION
        };
        let kept = self.0.borrow();
        Ok(kept.entries.range(start..end).map(|(_, entry)| entry).take_while(fits).cloned().collect())
    }
}

impl RaftLogStorage<Types> for Log {
    type LogReader = Log;

    async fn get_log_state(&mut self) -> Result<LogState<Types>, StorageError> {
        let kept = self.0.borrow();
        let last = kept.entries.values().next_back().map(|entry| *entry.get_log_id());
        Ok(LogState { last_purged_log_id: kept.purged, last_log_id: last.or(kept.purged) })
    }

    async fn get_log_reader(&mut self) -> Log {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> Result<(), StorageError> {
        self.0.borrow_mut().vote = Some(*vote);
        Ok(())
    }

    async fn read_vote(&mut self) -> Result<Option<Vote>, StorageError> {
        Ok(self.0.borrow().vote)
    }

    async fn append<I: IntoIterator<Item = Entry>>(
        &mut self,
        entries: I,
        callback: LogFlushed<Types>,
    ) -> Result<(), StorageError> {
        {
            let mut kept = self.0.borrow_mut();
            for entry in entries {
                kept.bytes += cost(&entry);
                kept.entries.insert(entry.log_id.index, entry);
            }
        }
        callback.log_io_completed(Ok(()));
        Ok(())
    }

    async fn truncate(&mut self, from: LogId) -> Result<(), StorageError> {
        let mut kept = self.0.borrow_mut();
        let gone = kept.entries.split_off(&from.index);
        kept.bytes -= gone.values().map(cost).sum::<usize>();
        Ok(())
    }

    async fn purge(&mut self, upto: LogId) -> Result<(), StorageError> {
        let mut kept = self.0.borrow_mut();
        let rest = kept.entries.split_off(&(upto.index + 1));
        let gone = std::mem::replace(&mut kept.entries, rest);
        kept.bytes -= gone.values().map(cost).sum::<usize>();
        kept.purged = Some(upto);
        Ok(())
    }
}
