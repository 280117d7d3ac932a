//! A token with which a host joins a machine: a public number, and a secret that both sides know.
//!
//! The text of a token is `pvt1_NUMBER_SECRET`, both in hexadecimal digits. The secret has 256 random bits, so nobody
//! can try all secrets against a recorded connection.

use super::{KeyError, file};
use crate::handshake::tls::random;
use std::fmt;
use std::str::FromStr;

const PREFIX: &str = "pvt1_";

/// A token.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    number: [u8; 8],
    secret: [u8; 32],
}

impl Token {
    /// Makes a token.
    pub fn make() -> Result<Token, KeyError> {
        let none = |error| KeyError::Unfit(format!("no token can be made: {error}"));
        Ok(Token { number: random().map_err(none)?, secret: random().map_err(none)? })
    }

    /// The public part: it says which token a host uses.
    pub fn number(&self) -> [u8; 8] {
        self.number
    }

    /// The salt of the keys of a conversation with this token.
    pub(super) fn salt(&self) -> Vec<u8> {
        [&b"parvum: a host joins"[..], &self.number, &self.secret].concat()
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.number.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("_")?;
        self.secret.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The secret is not shown.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:02x?})", self.number)
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Token, String> {
        let read = || {
            let (number, secret) = text.trim().strip_prefix(PREFIX)?.split_once('_')?;
            let number = file::from_hex(number)?.try_into().ok()?;
            Some(Token { number, secret: file::from_hex(secret)?.try_into().ok()? })
        };
        // The text may be a secret that has one wrong letter: it is not repeated.
        read().ok_or_else(|| {
            "E-TOKEN: the text is not a token; help: copy the whole token that `parvum invite` has printed, \
             from pvt1_ on"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_read_as_it_is_written() {
        let token = Token::make().expect("random");
        let text = token.to_string();
        assert_eq!(text.parse(), Ok(token.clone()));
        assert_eq!(format!(" {text}\n").parse(), Ok(token.clone()));
        assert!(!format!("{token:?}").contains(&text[text.len() - 8..]), "the secret is not shown");
        assert_ne!(Token::make().expect("random"), token);
    }

    #[test]
    fn texts_that_are_no_token_are_refused_and_not_repeated() {
        let text = Token::make().expect("random").to_string();
        let cut = &text[..text.len() - 1];
        let long = format!("{text}0");
        for wrong in ["", "pvt1_", cut, &long, &text[5..], &text.replace('_', "-"), "pvt1_12_34"] {
            let why = wrong.parse::<Token>().expect_err(wrong);
            assert!(why.starts_with("E-TOKEN") && (wrong.len() < 6 || !why.contains(wrong)), "{why}");
        }
    }
}
