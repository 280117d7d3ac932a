//! The words of the interfaces of this process, in the order in which they were described. Every task of the process shows them.
//!
//! No lock: a process may fork while another thread describes.

use super::account;
use parvum_control::{CounterBook, Recording};
use parvum_wire::calls;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The description of one interface.
struct Described {
    text: String,
    /// The number of the last word before.
    before: u32,
}

/// The maximum number of interfaces. A place that is filled stays so, and all before it are filled.
static DESCRIBED: [AtomicPtr<Described>; 16] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 16];

/// All descriptions so far.
fn all() -> impl Iterator<Item = &'static Described> {
    // SAFETY: null, or what `place_of` has leaked. Acquire: partner of the release there.
    DESCRIBED.iter().map_while(|place| unsafe { place.load(Ordering::Acquire).as_ref() })
}

/// See `describe` of the core API.
pub(crate) unsafe extern "C" fn describe(text: *const u8, length: usize) -> u32 {
    // SAFETY: the caller gives a string of that length.
    let text = String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text, length) });
    let Some(before) = place_of(&text) else { return u32::MAX };
    if let Some(account) = account::account() {
        publish(account.book, account.recording.as_deref());
    }
    before
}

/// The number of the last word before this text, which is added if it is new.
fn place_of(text: &str) -> Option<u32> {
    loop {
        if let Some(known) = all().find(|known| known.text == text) {
            return Some(known.before);
        }
        let (place, before) =
            all().fold((0, 0), |(place, _), known| (place + 1, known.before + count(known)));
        let fresh = Box::into_raw(Box::new(Described { text: text.to_owned(), before }));
        let free = DESCRIBED.get(place).map(|place| {
            // Release: partner of the acquire in `all`.
            place.compare_exchange(std::ptr::null_mut(), fresh, Ordering::Release, Ordering::Relaxed)
        });
        match free {
            Some(Ok(_)) => return Some(before),
            // SAFETY: nobody else has seen it.
            other => drop((unsafe { Box::from_raw(fresh) }, other?)),
        }
    }
}

fn count(known: &Described) -> u32 {
    calls::count(&known.text)
}

/// Writes down all words, for tools.
pub(crate) fn publish(book: &CounterBook, recording: Option<&Recording>) {
    let text: String = all().map(|known| known.text.as_str()).collect();
    book.write_words(&text);
    if let Some(recording) = recording {
        recording.write_words(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_later_interface_are_numbered_after_earlier() {
        let describe = |text: &str| {
            // SAFETY: pointer and length are of one string.
            unsafe { describe(text.as_ptr(), text.len()) }
        };
        let (one, two) = ("interface one\ncall first\nfunction second\n", "interface two\ncall third\n");
        assert_eq!((describe(one), describe(two), describe(one), describe(two)), (0, 2, 0, 2));
        let words = all().map(|known| known.text.as_str()).collect::<String>();
        assert_eq!(calls::find(&words, 2 + 1).map(|word| word.name), Some("third".to_owned()));
        let many = (0..DESCRIBED.len()).map(|number| describe(&format!("interface {number}\n")));
        assert_eq!(many.filter(|before| *before == u32::MAX).count(), 2, "there is room for sixteen");
    }
}
