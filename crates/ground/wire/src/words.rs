//! Untyped messages in XDR, as PVM's own parts exchange them: numbers and texts.

/// A message being written.
#[derive(Default)]
pub struct Words(pub Vec<u8>);

impl Words {
    /// Adds a number.
    pub fn number(mut self, number: i32) -> Words {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Adds numbers, one after the other.
    pub fn numbers(self, numbers: &[i32]) -> Words {
        numbers.iter().fold(self, |words, number| words.number(*number))
    }

    /// Adds a text: its length with the final zero, then both, filled up to four.
    pub fn text(self, text: &[u8]) -> Words {
        let length = text.len().saturating_add(1);
        let mut words = self.number(length as i32);
        words.0.extend_from_slice(text);
        let zeros = length.next_multiple_of(4).saturating_sub(text.len());
        words.0.extend(std::iter::repeat_n(0, zeros));
        words
    }

    /// Adds how many texts, then the texts.
    pub fn list<'a>(self, texts: impl ExactSizeIterator<Item = &'a [u8]>) -> Words {
        let words = self.number(texts.len() as i32);
        texts.fold(words, |words, text| words.text(text))
    }
}
