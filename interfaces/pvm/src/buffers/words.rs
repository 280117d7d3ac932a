//! Untyped messages in XDR, as PVM's own parts exchange them: writing them, and reading them with PVM's errors.

use crate::errors::{Pvm, PvmError};
pub(crate) use parvum_wire::words::Words;

/// A message being read.
pub(crate) struct Reading<'a> {
    rest: &'a [u8],
}

impl<'a> Reading<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reading<'a> {
        Reading { rest: bytes }
    }

    pub(crate) fn number(&mut self) -> Pvm<i32> {
        let (word, rest) = self.rest.split_first_chunk().ok_or(PvmError::NoData)?;
        self.rest = rest;
        Ok(i32::from_be_bytes(*word))
    }

    pub(crate) fn text(&mut self) -> Pvm<Vec<u8>> {
        let length = usize::try_from(self.number()?).map_err(|_| PvmError::BadMsg)?;
        let padded = length.next_multiple_of(4);
        if length == 0 || padded > self.rest.len() {
            return Err(PvmError::BadMsg);
        }
        let (text, rest) = self.rest.split_at(padded);
        self.rest = rest;
        Ok(text[..length - 1].to_vec())
    }

    /// How many texts, then the texts.
    pub(crate) fn list(&mut self) -> Pvm<Vec<Vec<u8>>> {
        let count = usize::try_from(self.number()?).map_err(|_| PvmError::BadMsg)?;
        // A text has at least eight bytes.
        if count > self.rest.len() / 8 {
            return Err(PvmError::BadMsg);
        }
        (0..count).map(|_| self.text()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_truncated_ones_are_refused() {
        let texts: [&[u8]; 2] = [b"one", b""];
        let Words(bytes) = Words::default().number(-7).text(b"four").list(texts.into_iter());
        let mut reading = Reading::new(&bytes);
        assert_eq!(reading.number(), Ok(-7));
        assert_eq!(reading.text(), Ok(b"four".to_vec()));
        assert_eq!(reading.list(), Ok(vec![b"one".to_vec(), Vec::new()]));
        assert_eq!(reading.number(), Err(PvmError::NoData));
        for end in 4..bytes.len() {
            let mut reading = Reading::new(&bytes[4..end]);
            assert!(reading.text().and_then(|_| reading.list()).is_err(), "{end}");
        }
        let absurd = Words::default().number(i32::MAX).0;
        assert_eq!(Reading::new(&absurd).list(), Err(PvmError::BadMsg));
        assert_eq!(Reading::new(&absurd).text(), Err(PvmError::BadMsg));
    }
}
