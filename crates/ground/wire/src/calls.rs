//! What a task waits in: a kind of wait, which all interfaces share, and a word of its interface for the call.
//!
//! An interface describes its words in a text, one in a line, when its library opens the engine. The engine writes the text
//! into the control block. So daemon and commands read every word there, and have no list of interfaces.
//!
//! ```text
//! interface echo       the name of the interface; `interface:closed`: no task can join one of its runs later
//! call shout           a call that waits; in its place stands the kind, if there is no word
//! function Echo_Shout  a function of the program; a wait in it may be of any kind
//! memory:lock acquire  a call that waits for shared memory, and not for a message
//! count misses         what an interface of shared memory counts, by the place among these lines
//! way one memory       how it shares memory, likewise, from 1 on
//! ```
//!
//! Calls, functions and calls of shared memory have numbers, from 1 on, in the order of their lines. Behind a colon stands what
//! a reader must know about the call beside its name.

use serde::{Deserialize, Serialize};

/// The names of kinds of waits, by number. The first stands for computing.
pub const KINDS: [&str; 10] =
    ["", "receive", "send", "probe", "wait", "barrier", "machine", "exit", "serve", "join"];

/// The name of a kind; empty for a number that no kind has.
pub fn kind(number: u32) -> &'static str {
    KINDS.get(number as usize).copied().unwrap_or("")
}

/// Which sort of call a word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Sort {
    /// A call of the interface.
    Call,
    /// A function of the program, in which waits of several kinds may happen.
    Function,
    /// A call that waits for shared memory.
    Memory,
}

/// A word of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Word {
    /// What it names.
    pub sort: Sort,
    /// What stood behind the colon; mostly empty.
    pub mark: String,
    /// The name.
    pub name: String,
}

/// The word of a line, if it has one with a number.
fn word(line: &str) -> Option<Word> {
    let (head, mark, name) = split(line)?;
    let sort = match head {
        "call" => Sort::Call,
        "function" => Sort::Function,
        "memory" => Sort::Memory,
        _ => return None,
    };
    Some(Word { sort, mark: mark.to_owned(), name: name.to_owned() })
}

/// The three parts of a line.
fn split(line: &str) -> Option<(&str, &str, &str)> {
    let (head, name) = line.split_once(' ')?;
    let (head, mark) = head.split_once(':').unwrap_or((head, ""));
    Some((head, mark, name))
}

/// How many words a text has that have numbers.
pub fn count(text: &str) -> u32 {
    words(text).count() as u32
}

/// The words that have numbers; the first has the number 1.
pub fn words(text: &str) -> impl Iterator<Item = Word> + '_ {
    text.lines().filter_map(word)
}

/// The word with a number.
pub fn find(text: &str, number: u32) -> Option<Word> {
    words(text).nth((number as usize).checked_sub(1)?)
}

/// Whether no task that starts later can help a task of the interface.
pub fn is_closed(text: &str, interface: &str) -> bool {
    text.lines().filter_map(split).any(|line| line == ("interface", "closed", interface))
}

/// The names in lines that begin with this head, in their order.
pub fn names<'a>(text: &'a str, head: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(split).filter(move |line| line.0 == head).map(|(_, _, name)| name)
}

/// A kind of wait, in the call or function with that number.
pub const fn within(kind: u32, word: u32) -> u32 {
    kind | word << 16
}

/// In a call: several threads of the program use the interface, and what one waits for says nothing of the others.
pub const THREADS: u32 = 1 << 31;

/// The kind, and the number of the word, of what [`within`] made. The highest bit of the kind's half is the engine's own.
pub const fn apart(call: u32) -> (u32, u32) {
    (call & 0x7fff, (call & !THREADS) >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "interface:closed echo\ncall shout\ncall:far speak to all\nway one memory\n\
                        interface noise\nfunction Hush\nmemory:lock take\ncount misses\nway pages\nodd";

    #[test]
    fn words_are_numbered_in_line_order() {
        let find = |number| find(TEXT, number).map(|word| (word.sort, word.mark, word.name));
        assert_eq!(find(1), Some((Sort::Call, String::new(), "shout".into())));
        assert_eq!(find(2), Some((Sort::Call, "far".into(), "speak to all".into())));
        assert_eq!(find(3), Some((Sort::Function, String::new(), "Hush".into())));
        assert_eq!(find(4), Some((Sort::Memory, "lock".into(), "take".into())));
        assert_eq!((find(0), find(5), count(TEXT)), (None, None, 4));
    }

    #[test]
    fn names_reads_other_lines_by_their_heads() {
        assert_eq!(names(TEXT, "way").collect::<Vec<_>>(), ["one memory", "pages"]);
        assert_eq!(names(TEXT, "count").collect::<Vec<_>>(), ["misses"]);
        assert!(is_closed(TEXT, "echo") && !is_closed(TEXT, "noise") && !is_closed(TEXT, "other"));
    }

    #[test]
    fn kind_and_word_travel_as_one_number() {
        assert_eq!(apart(within(4, 11) | THREADS), (4, 11));
        assert_eq!((kind(4), kind(99)), ("wait", ""));
    }
}
