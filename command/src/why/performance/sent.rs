//! The messages of a pair of tasks, from its counters.

use parvum_layers::protocols::Protocol;
use parvum_wire::Counter;
use parvum_wire::control::{PairRow, Sight};

/// The messages sent to a peer, from the counters of the pair.
pub struct Sent {
    /// Eager messages, and their bytes.
    pub short: u64,
    pub short_bytes: u64,
    /// Messages by each protocol that is not eager, and the mean of their bytes.
    pub long: [(Protocol, u64, u64); 2],
    pub long_bytes: u64,
}

impl Sent {
    /// The route of the pair is shared memory or another.
    pub fn of(pair: &PairRow, is_shm: bool) -> Sent {
        let at = |counter| count(pair, counter);
        let [copied, in_place] = [Counter::SentCopied, Counter::SentInPlace].map(at);
        let (long_bytes, in_place_bytes) = (at(Counter::LongBytes), at(Counter::InPlaceBytes));
        let mean_in_place = in_place_bytes / in_place.max(1);
        let mean_copied = long_bytes.saturating_sub(in_place_bytes) / copied.max(1);
        // A pair uses memory of both for all of them, or frames for all of them.
        let is_lent = at(Counter::BufferedAtSender) > 0 && is_shm;
        let long = [
            (if is_lent { Protocol::Lent } else { Protocol::Frames }, copied, mean_copied),
            (Protocol::InPlace, in_place, mean_in_place),
        ];
        let longs = copied + in_place;
        let short = at(Counter::Sent).saturating_sub(longs);
        Sent { short, short_bytes: at(Counter::SentBytes).saturating_sub(long_bytes), long, long_bytes }
    }
}

/// A counter of a pair.
pub fn count(pair: &PairRow, counter: Counter) -> u64 {
    pair.counters.get(counter as usize).copied().unwrap_or(0)
}

/// Bytes each way: the measure of a busy peer.
fn traffic(pair: &PairRow) -> u64 {
    count(pair, Counter::SentBytes) + count(pair, Counter::ArrivedBytes)
}

/// The busiest pairs of a task.
pub fn busiest(sight: &Sight) -> Vec<&PairRow> {
    let has_messages = |pair: &&PairRow| count(pair, Counter::Sent) + count(pair, Counter::ArrivedBytes) > 0;
    let mut pairs: Vec<_> = sight.pairs.iter().filter(has_messages).collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse((traffic(pair), count(pair, Counter::Sent))));
    pairs
}
