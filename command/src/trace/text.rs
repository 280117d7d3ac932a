//! Texts and times as the files want them.

use parvum_wire::Tid;
use std::fmt::{self, Display, Formatter};

/// A text as JSON has it, with quotes. It may stand in a page as well: nothing in it ends a script or begins a tag.
pub struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '<' | '>' | '&' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {
                    write!(f, "\\u{:04x}", u32::from(c))?
                }
                c if c < ' ' => write!(f, "\\u{:04x}", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

/// Nanoseconds as microseconds, exactly.
pub struct Micros(pub i64);

impl Display for Micros {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:03}", self.0.unsigned_abs() / 1000, self.0.unsigned_abs() % 1000)
    }
}

/// A peer in words: -1 is anyone.
pub fn peer(tid: i32) -> String {
    if tid == -1 { "anyone".into() } else { Tid(tid).to_string() }
}

/// A tag in words: -1 is any.
pub fn tag(tag: i32) -> String {
    if tag == -1 { "any".into() } else { tag.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_inside_its_quotes() {
        let hostile = "</script><b>\"\\\n\u{2028}\u{0}'&é";
        let quoted = Quoted(hostile).to_string();
        assert_eq!(quoted, "\"\\u003c/script\\u003e\\u003cb\\u003e\\\"\\\\\\u000a\\u2028\\u0000'\\u0026é\"");
    }

    #[test]
    fn times_print_exactly() {
        assert_eq!(Micros(1_234_567).to_string(), "1234.567");
        assert_eq!(Micros(5).to_string(), "0.005");
        assert_eq!(Micros(-1).to_string(), "-0.001");
    }
}
