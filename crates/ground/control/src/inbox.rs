//! The inbox: where a task finds out which of very many peers has brought something, without a look at each.
//!
//! Each peer has a *place*, a bit. Who has brought something marks its place; the task takes marks away and looks there
//! alone. Marks cost a peer more than nothing, so they are made only while the task has *opened* its inbox, which one with
//! few peers does not.
//!
//! ```text
//! peer                                  task
//!   make the message visible              take the mark away      (read-modify-write)
//!   fence                                 look for messages at that place
//!   open? not marked? mark the place
//! ```
//!
//! Either the task finds the message, or the peer finds its mark gone and makes it again. Opening is the same game with
//! one more look at everybody behind it. Above the words of marks is a summary: which words to look at. Checked under loom.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Words of marks. (Loom can follow few.)
#[cfg(not(loom))]
pub(crate) const WORDS: usize = 126;
#[cfg(loom)]
pub(crate) const WORDS: usize = 2;
/// Words of the summary.
#[cfg(not(loom))]
pub(crate) const SUMMARIES: usize = 2;
#[cfg(loom)]
pub(crate) const SUMMARIES: usize = 1;
/// How many places there are. The first stands for all whose peers do not know theirs yet.
pub const PLACES: u32 = 64 * WORDS as u32;

/// What peers write; all zero when fresh.
#[repr(C)]
pub(crate) struct Inbox {
    summary: [AtomicU64; SUMMARIES],
    words: [AtomicU64; WORDS],
}

impl Inbox {
    /// Marks a place. To be called after the message is visible and a fence; one follows.
    #[cold]
    pub(crate) fn mark(&self, place: u32) {
        let place = if place < PLACES { place as usize } else { 0 };
        let (word, bit) = (place / 64, 1 << (place % 64));
        // Relaxed: the caller's fence orders it behind the message. A mark that is there will be taken away after this, and
        // the message found then.
        if self.words[word].load(Ordering::Relaxed) & bit != 0 {
            return;
        }
        // AcqRel: partner of the swaps in `Marks::next`, as is the next: who sees the summary sees the mark.
        self.words[word].fetch_or(bit, Ordering::AcqRel);
        self.summary[word / 64].fetch_or(1 << (word % 64), Ordering::AcqRel);
        // Partner: the fence in `Door::declare`.
        fence(Ordering::SeqCst);
    }
}

/// Says in the door's line whether marks are wanted: peers look there anyway.
#[repr(transparent)]
pub struct Opened(pub(crate) AtomicU32);

impl Opened {
    /// Wants marks from now on. The task looks at all peers once more behind this.
    pub(crate) fn set(&self) {
        self.0.store(1, Ordering::Relaxed);
        // Partner: the fence before `is_set`.
        fence(Ordering::SeqCst);
    }

    /// Whether marks are wanted. To be asked after the message is visible and a fence.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// What the task has taken away and not looked at yet.
#[derive(Default)]
pub struct Marks {
    summaries: [u64; SUMMARIES],
    /// A word's marks, and which word it is.
    marks: u64,
    word: usize,
}

impl Marks {
    /// Takes the next mark away; gives its place. `None`: there is none.
    pub(crate) fn next(&mut self, inbox: &Inbox) -> Option<u32> {
        while self.marks == 0 {
            self.word = self.next_word(inbox)?;
            // AcqRel: partner of the marks in `Inbox::mark`. What comes after it looks for messages.
            self.marks = inbox.words[self.word].swap(0, Ordering::AcqRel);
            // Partner: the fence before `Inbox::mark`.
            fence(Ordering::SeqCst);
        }
        let bit = self.marks.trailing_zeros();
        self.marks &= self.marks - 1;
        Some(64 * self.word as u32 + bit)
    }

    fn next_word(&mut self, inbox: &Inbox) -> Option<usize> {
        for (at, summary) in inbox.summary.iter().enumerate() {
            // Relaxed: only a look. Before the task sleeps there is the fence in `Door::declare`.
            if self.summaries[at] == 0 && summary.load(Ordering::Relaxed) != 0 {
                // AcqRel: partner of the summary in `Inbox::mark`.
                self.summaries[at] = summary.swap(0, Ordering::AcqRel);
            }
            if self.summaries[at] != 0 {
                let bit = self.summaries[at].trailing_zeros() as usize;
                self.summaries[at] &= self.summaries[at] - 1;
                let word = 64 * at + bit;
                // A peer that means harm may have set the bits behind the last word.
                if word < WORDS {
                    return Some(word);
                }
            }
        }
        None
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;

    struct Shared {
        opened: Opened,
        inbox: Inbox,
        messages: [AtomicU32; 2],
    }

    fn shared() -> Arc<Shared> {
        let zeros = || AtomicU64::new(0);
        Arc::new(Shared {
            opened: Opened(AtomicU32::new(0)),
            inbox: Inbox {
                summary: std::array::from_fn(|_| zeros()),
                words: std::array::from_fn(|_| zeros()),
            },
            messages: std::array::from_fn(|_| AtomicU32::new(0)),
        })
    }

    /// Two peers, whose places are in one word or in two, bring `each` messages; the task opens its inbox meanwhile, and finds
    /// all by marks. Loom reports a task that looks for ever.
    fn every_message_is_found(places: [u32; 2], each: u32) {
        loom::model(move || {
            let shared = shared();
            let peers: Vec<_> = (0..2)
                .map(|peer| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || {
                        for _ in 0..each {
                            shared.messages[peer].fetch_add(1, Ordering::Release);
                            fence(Ordering::SeqCst);
                            if shared.opened.is_set() {
                                shared.inbox.mark(places[peer]);
                            }
                        }
                    })
                })
                .collect();
            let mut found = [0, 0];
            shared.opened.set();
            let look = |peer: usize| shared.messages[peer].load(Ordering::Acquire);
            found[0] = look(0);
            found[1] = look(1);
            let mut marks = Marks::default();
            while found != [each; 2] {
                match marks.next(&shared.inbox) {
                    Some(place) => {
                        let peer = usize::from(place == places[1]);
                        found[peer] = look(peer);
                    }
                    None => loom::thread::yield_now(),
                }
            }
            peers.into_iter().for_each(|peer| peer.join().expect("a peer ends"));
        });
    }

    #[test]
    fn inbox_finds_places_in_one_word() {
        every_message_is_found([1, 2], 1);
    }

    #[test]
    fn inbox_finds_places_in_two_words() {
        every_message_is_found([3, 70], 1);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn inbox() -> Inbox {
        let zeros = || AtomicU64::new(0);
        Inbox { summary: std::array::from_fn(|_| zeros()), words: std::array::from_fn(|_| zeros()) }
    }

    fn all(marks: &mut Marks, inbox: &Inbox) -> Vec<u32> {
        std::iter::from_fn(|| marks.next(inbox)).collect()
    }

    #[test]
    fn inbox_mark_is_found_once() {
        let (inbox, mut marks) = (inbox(), Marks::default());
        assert_eq!(all(&mut marks, &inbox), []);
        let places = [0, 1, 63, 64, 4095, 4096, PLACES - 1];
        for place in places {
            inbox.mark(place);
            inbox.mark(place);
        }
        let mut found = all(&mut marks, &inbox);
        found.sort_unstable();
        assert_eq!(found, places);
        assert_eq!(all(&mut marks, &inbox), []);
        inbox.mark(64);
        assert_eq!(all(&mut marks, &inbox), [64]);
    }

    #[test]
    fn garbage_in_shared_inbox_is_harmless() {
        let (inbox, mut marks) = (inbox(), Marks::default());
        inbox.mark(u32::MAX);
        inbox.summary[1].store(u64::MAX, Ordering::Relaxed);
        assert_eq!(all(&mut marks, &inbox), [0]);
    }
}
