//! The form of every error message of Parvum.
//!
//! The text of an error is one line: `CODE: what: why; note: NOTE; help: HELP`. Texts cross a C table, a socket and Python in that form.
//! Who prints a text for people calls [`shown`]. A terminal gets `error[CODE]: what: why`, and each note and help on a line of its own.

#![deny(unsafe_code)]

mod message;
mod style;

pub use message::Message;
pub use style::Style;

/// The text of an error as `who` prints it on standard error: without a line end behind it.
pub fn shown(who: &str, text: &str) -> String {
    Message::read(text).shown(who, Style::of_stderr())
}
