//! Which way is the fastest for the long messages of a peer: learnt from the time of messages that this task waited for.
//!
//! ```text
//! lent       sender and receiver copy through memory of the link, one behind the other
//! alone      in place: the receiver reads the sender's memory, and the sender waits
//! together   in place: the receiver reads, and the sender writes from the other end
//! ```
//!
//! Fresh data is still in the caches of the sender's core, and an unchanged buffer is in the caches of both cores.
//! Therefore no way is always the fastest, and machines differ. The receiver times each message from the offer to the last
//! byte. It publishes with each wait which lengths it wants in place (see `peers::awaiting`).

use super::fetch::TOGETHER;

/// Lengths are classed by powers of two, from 16 KiB on; the last class has no end.
const CLASSES: usize = 10;
const FIRST: u32 = 14;
/// From this class on, both tasks may copy data in place.
const BOTH: usize = TOGETHER.ilog2() as usize - FIRST as usize;
/// From this class on, 4 MiB, data is in place until the times say otherwise.
const LONG: usize = 8;
/// The number of last times. The shortest of them counts: a time in which a task was interrupted says nothing.
const KEPT: usize = 4;
/// One message in this number takes another way, because the program may have changed.
const ANEW: u32 = 64;

/// How the data of a long message is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Through memory of the link, by both tasks.
    Lent,
    /// In place, by the receiver.
    Alone,
    /// In place, by both tasks.
    Together,
}

/// The class of a length.
pub(crate) fn class(length: u64) -> usize {
    (length.max(1).ilog2().saturating_sub(FIRST) as usize).min(CLASSES - 1)
}

/// The ways of a class, in the order in which they are tried.
fn ways(class: usize) -> &'static [Way] {
    match class {
        LONG.. => &[Way::Together, Way::Lent, Way::Alone],
        BOTH.. => &[Way::Lent, Way::Alone, Way::Together],
        _ => &[Way::Lent, Way::Alone],
    }
}

/// The last times of messages by one way, in ticks for each KiB.
#[derive(Clone, Copy, Default)]
struct Times {
    last: [u32; KEPT],
    count: u32,
}

impl Times {
    fn add(&mut self, time: u32) {
        self.last[self.count as usize % KEPT] = time;
        self.count = self.count.wrapping_add(1).max(1);
    }

    /// `None`: too few are known.
    fn best(&self) -> Option<u32> {
        (self.count as usize >= KEPT).then(|| self.last.into_iter().min().unwrap_or(0))
    }
}

/// The times of one class.
#[derive(Clone, Copy)]
struct Class {
    lent: Times,
    alone: Times,
    together: Times,
    /// The way of the next message.
    next: Way,
}

impl Class {
    fn new(class: usize) -> Class {
        let none = Times::default();
        Class { lent: none, alone: none, together: none, next: ways(class)[0] }
    }

    fn times(&mut self, way: Way) -> &mut Times {
        match way {
            Way::Lent => &mut self.lent,
            Way::Alone => &mut self.alone,
            Way::Together => &mut self.together,
        }
    }

    /// The way of the next message.
    fn choose(&mut self, ways: &[Way]) -> Way {
        let tried = self.lent.count.wrapping_add(self.alone.count).wrapping_add(self.together.count);
        if tried.is_multiple_of(ANEW) {
            return ways[(tried / ANEW) as usize % ways.len()];
        }
        let mut fastest = (u64::MAX, ways[0]);
        for &way in ways {
            let Some(best) = self.times(way).best() else { return way };
            // The wait of the sender for the end is in no time, so lent memory counts for a tenth less.
            let time = u64::from(best) * if way == Way::Lent { 9 } else { 10 };
            if time < fastest.0 {
                fastest = (time, way);
            }
        }
        fastest.1
    }
}

/// A receiver's knowledge of one peer.
pub(crate) struct Learned {
    classes: [Class; CLASSES],
    /// The message that is being timed: its number, and when it was offered.
    begun: Option<(u32, u64)>,
    /// The last message from the peer was read in place, and none was sent since: the peer leaves its send just now.
    has_read: bool,
    /// The number of looks in a row for which the peer did not come to wait in time.
    vain: u8,
}

impl Learned {
    /// The lengths that are wanted in place before any times are known: 4 MiB and more.
    pub(crate) const UNKNOWN: u16 = (1 << CLASSES) - (1 << LONG);

    pub(crate) fn new() -> Learned {
        let classes = std::array::from_fn(Class::new);
        Learned { classes, begun: None, has_read: false, vain: 0 }
    }

    /// One bit for each class: messages of the class are wanted in place.
    pub(crate) fn wanted(&self) -> u16 {
        let bit = |(at, class): (usize, &Class)| u16::from(class.next != Way::Lent) << at;
        self.classes.iter().enumerate().map(bit).sum()
    }

    /// Whether this task alone copies a message of that length that lies in place.
    pub(crate) fn copies_alone(&self, length: u64) -> bool {
        self.classes[class(length)].next == Way::Alone
    }

    /// A message that this task waits for was offered.
    pub(crate) fn begin(&mut self, order: u32, now: u64) {
        self.begun = Some((order, now));
    }

    /// Whether a sender of a message of that length looks a moment longer whether the peer waits for the message. The peer was
    /// the sender of a message in place. The peer learns only now that its send is over, and may wait for the answer next.
    pub(crate) fn begins_look(&mut self, length: u64) -> bool {
        const OFTEN: u8 = 8;
        let looks = std::mem::take(&mut self.has_read) && self.classes[class(length)].next != Way::Lent;
        if looks && self.vain >= OFTEN {
            // Now and then it is tried again.
            self.vain = self.vain.wrapping_add(1).max(OFTEN);
            return self.vain == u8::MAX;
        }
        looks
    }

    /// Whether the peer was found to wait.
    pub(crate) fn ends_look(&mut self, found: bool) {
        self.vain = if found { 0 } else { self.vain.saturating_add(1) };
    }

    /// All data of a message is here.
    pub(crate) fn end(&mut self, order: u32, length: u64, way: Way, now: u64) {
        let Some((_, since)) = self.begun.take_if(|(begun, _)| *begun == order) else { return };
        let per_kib = now.saturating_sub(since).saturating_mul(1024) / length.max(1);
        let at = class(length);
        let class = &mut self.classes[at];
        self.has_read = way != Way::Lent;
        class.times(way).add(u32::try_from(per_kib).unwrap_or(u32::MAX));
        class.next = class.choose(ways(at));
    }
}

#[cfg(test)]
mod tests;
