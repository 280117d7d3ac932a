//! A line, taken apart into words as PVM's console does.
//!
//! - Blanks and tabs part words. A `#` where a word would begin ends the line.
//! - Within double or single quotes everything counts as it is, blanks too, and nothing escapes.
//! - Outside of quotes a backslash makes the next character an ordinary one.
//! - Quoted and unquoted pieces beside each other are one word; `""` is an empty word.
//! - There are no variables, no `;`, no history signs: those characters stand for themselves.

use crate::shown::shown;
use std::borrow::Cow;

/// The longest line, in bytes.
pub const LONGEST: usize = 64 * 1024;

/// Why a line is no words.
#[derive(Debug, PartialEq, Eq)]
pub enum LineError {
    /// This quote has no partner, or nothing follows this backslash.
    Unmatched(char),
    /// It is longer than [`LONGEST`].
    TooLong,
}

/// The words of a line. They are bytes: a path or an argument need not be UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(pub Vec<Vec<u8>>);

impl Words {
    /// Takes a line apart.
    pub fn parse(line: &[u8]) -> Result<Words, LineError> {
        if line.len() > LONGEST {
            return Err(LineError::TooLong);
        }
        let mut words = Vec::new();
        let mut word: Option<Vec<u8>> = None;
        let mut bytes = line.iter().copied();
        while let Some(byte) = bytes.next() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => words.extend(word.take()),
                b'#' if word.is_none() => break,
                b'"' | b'\'' => {
                    let word = word.get_or_insert_default();
                    loop {
                        match bytes.next() {
                            Some(end) if end == byte => break,
                            Some(other) => word.push(other),
                            None => return Err(LineError::Unmatched(byte.into())),
                        }
                    }
                }
                b'\\' => match bytes.next() {
                    Some(next) if next != b'\n' => word.get_or_insert_default().push(next),
                    _ => return Err(LineError::Unmatched('\\')),
                },
                other => word.get_or_insert_default().push(other),
            }
        }
        words.extend(word);
        Ok(Words(words))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One word, for a person or to compare it with the console's own words; empty when there are not so many.
    pub fn text(&self, at: usize) -> Cow<'_, str> {
        shown(self.bytes(at))
    }

    /// One word as it was written; empty when there are not so many.
    pub fn bytes(&self, at: usize) -> &[u8] {
        self.0.get(at).map_or(&[], Vec::as_slice)
    }

    /// All of them as texts; the error: one that is none.
    pub fn strings(&self) -> Result<Vec<String>, Cow<'_, str>> {
        self.0.iter().map(|word| String::from_utf8(word.clone()).map_err(|_| shown(word))).collect()
    }

    /// All of them, likewise for a person.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.iter().map(|word| shown(word))
    }

    /// The words from `first` on, with a blank between each two.
    pub fn joined(&self, first: usize) -> Vec<u8> {
        self.0.get(first..).unwrap_or_default().join(&b' ')
    }

    /// The words from `first` on.
    pub fn rest(&self, first: usize) -> Words {
        Words(self.0.get(first..).unwrap_or_default().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        Words::parse(line.as_bytes()).expect("it is well formed").texts().map(Cow::into_owned).collect()
    }

    /// Each as the console of PVM 3.4.6 was seen to do it.
    #[test]
    fn line_splits_into_words_as_in_pvm() {
        assert_eq!(words("  spawn\t-2  -> hello \n"), ["spawn", "-2", "->", "hello"]);
        assert_eq!(words(r#"echo a   b  "c  d" 'x  y'"#), ["echo", "a", "b", "c  d", "x  y"]);
        assert_eq!(words(r#"echo a"b c"d e"#), ["echo", "ab cd", "e"]);
        assert_eq!(words(r#"echo ""x "" y"#), ["echo", "x", "", "y"]);
        assert_eq!(words(r#"echo "a\\b" a\\b a\nb "a\nb""#), ["echo", r"a\\b", r"a\b", "anb", r"a\nb"]);
        assert_eq!(words(r"echo a\ b \#c"), ["echo", "a b", "#c"]);
        assert_eq!(words("echo $HOME \"$HOME\" a;b !! !1"), ["echo", "$HOME", "$HOME", "a;b", "!!", "!1"]);
    }

    #[test]
    fn comment_starts_only_at_a_word_start() {
        assert!(words("# all of it").is_empty());
        assert!(words("   # all of it").is_empty());
        assert_eq!(words("echo a #b c"), ["echo", "a"]);
        assert_eq!(words("echo a#b"), ["echo", "a#b"]);
        assert_eq!(words("echo \"#\" a"), ["echo", "#", "a"]);
    }

    #[test]
    fn unmatched_quote_or_backslash_is_refused() {
        for (line, sign) in
            [("echo \"x", '"'), ("echo it's", '\''), ("echo a\\", '\\'), (r#"echo "a\"b""#, '"')]
        {
            assert_eq!(Words::parse(line.as_bytes()), Err(LineError::Unmatched(sign)), "{line}");
        }
        assert_eq!(Words::parse(&vec![b'x'; LONGEST + 1]), Err(LineError::TooLong));
        assert!(Words::parse(&vec![b'x'; LONGEST]).is_ok());
    }

    #[test]
    fn parser_accepts_or_refuses_any_bytes() {
        // A fixed sequence that looks like chance: each run is the same.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        for length in 0..2000 {
            let mut line = Vec::new();
            for _ in 0..length % 97 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                line.push((state >> 56) as u8);
            }
            if let Ok(words) = Words::parse(&line) {
                assert!(words.0.iter().map(Vec::len).sum::<usize>() <= line.len());
            }
        }
        assert_eq!(Words::parse(b"a\xff\0 b"), Ok(Words(vec![b"a\xff\0".to_vec(), b"b".to_vec()])));
    }
}
