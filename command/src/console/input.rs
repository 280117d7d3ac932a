//! Lines from a file or a pipe.

use super::line::LONGEST;
use std::collections::VecDeque;
use std::io::Read as _;

/// The next line, or what there is instead.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    Line(Vec<u8>),
    /// A line of no sensible length was passed over.
    TooLong,
    /// None is complete yet: [`Plain::fill`].
    More,
    End,
}

/// Standard input, cut into lines. At most one line of [`LONGEST`] bytes and one portion are held.
#[derive(Default)]
pub struct Plain {
    typed: VecDeque<u8>,
    ended: bool,
    /// The rest of a line that was too long is still to come.
    skipping: bool,
}

impl Plain {
    /// The next line, without its end.
    pub fn next(&mut self) -> Read {
        let end = self.typed.iter().position(|byte| *byte == b'\n');
        match end {
            Some(end) => {
                let line: Vec<u8> = self.typed.drain(..=end).take(end).collect();
                let rest_of_long = std::mem::take(&mut self.skipping);
                if rest_of_long || line.len() > LONGEST { Read::TooLong } else { Read::Line(line) }
            }
            None if self.typed.len() > LONGEST => {
                self.typed.clear();
                self.skipping = true;
                if self.ended { self.next() } else { Read::More }
            }
            None if !self.ended => Read::More,
            None if std::mem::take(&mut self.skipping) => {
                self.typed.clear();
                Read::TooLong
            }
            None if self.typed.is_empty() => Read::End,
            None => Read::Line(self.typed.drain(..).collect()),
        }
    }

    /// Takes in what standard input has, one portion; waits when it has nothing.
    pub fn fill(&mut self) {
        let mut portion = [0; 4096];
        // What cannot be read is at its end.
        let length = std::io::stdin().lock().read(&mut portion).unwrap_or(0);
        self.feed(&portion[..length]);
    }

    fn feed(&mut self, portion: &[u8]) {
        self.ended |= portion.is_empty();
        self.typed.extend(portion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_returns_lines_unchanged() {
        let mut input = Plain::default();
        assert_eq!(input.next(), Read::More);
        input.feed(b"one\n\ntw");
        assert_eq!(input.next(), Read::Line(b"one".to_vec()));
        assert_eq!(input.next(), Read::Line(Vec::new()));
        assert_eq!(input.next(), Read::More);
        input.feed(b"o");
        input.feed(b"");
        assert_eq!(input.next(), Read::Line(b"two".to_vec()), "the last line needs no end");
        assert_eq!(input.next(), Read::End);
    }

    #[test]
    fn input_discards_endless_line_without_growing() {
        let mut input = Plain::default();
        for _ in 0..1000 {
            input.feed(&[b'x'; 4096]);
            assert_eq!(input.next(), Read::More);
            assert!(input.typed.len() <= LONGEST);
        }
        input.feed(b"x\nid\n");
        assert_eq!(input.next(), Read::TooLong);
        assert_eq!(input.next(), Read::Line(b"id".to_vec()));
        input.feed(&[b'x'; LONGEST + 1]);
        input.feed(b"");
        assert_eq!(input.next(), Read::TooLong);
        assert_eq!(input.next(), Read::End);
    }
}
