//! Words between two that know each other's public key for one conversation, and nothing else yet.
//!
//! A hoster carries one line each way between two daemons: that is enough to exchange public keys, and too little to hand a
//! host the machine's authority. So the rest of the conversation goes over a connection of its own, sealed with keys that
//! only the two can make. Each side seals with its own key, and counts its words: none can be changed, left out or
//! sent again.

use super::{KeyError, Token};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::SystemRandom;

/// Own keys for one conversation.
pub struct Seal {
    private: EphemeralPrivateKey,
    public: [u8; 32],
}

/// The two ends: each seals with another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Who adds a host.
    Adder,
    /// Who is added.
    Joiner,
}

/// A conversation.
pub struct Sealed {
    own: LessSafeKey,
    theirs: LessSafeKey,
    said: u64,
    heard: u64,
}

/// The length of a key, for ring.
struct Length;

impl KeyType for Length {
    fn len(&self) -> usize {
        32
    }
}

fn unfit() -> KeyError {
    KeyError::Unfit("the sealed word is not of this conversation".into())
}

impl Seal {
    /// Makes keys.
    pub fn make() -> Result<Seal, KeyError> {
        let none = |_| KeyError::Unfit("no keys can be made".into());
        let private = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new()).map_err(none)?;
        let public = private.compute_public_key().map_err(none)?;
        let public = public.as_ref().try_into().map_err(|_| KeyError::Unfit("no keys can be made".into()))?;
        Ok(Seal { private, public })
    }

    /// What the other side needs.
    pub fn public(&self) -> [u8; 32] {
        self.public
    }

    /// Begins the conversation with the one who has that public key.
    pub fn with(self, other: &[u8; 32], side: Side) -> Result<Sealed, KeyError> {
        self.agree(other, side, b"parvum: a host is added")
    }

    /// Begins the conversation with the owner of that public key, who must also have the token. Only a side that has
    /// the token can make the keys, so a first word that opens proves the token, and the token is never sent.
    pub fn with_token(self, other: &[u8; 32], side: Side, token: &Token) -> Result<Sealed, KeyError> {
        self.agree(other, side, &token.salt())
    }

    fn agree(self, other: &[u8; 32], side: Side, salt: &[u8]) -> Result<Sealed, KeyError> {
        let Seal { private, public } = self;
        let (adder, joiner) = if side == Side::Adder { (&public, other) } else { (other, &public) };
        let keys = agree_ephemeral(private, &UnparsedPublicKey::new(&X25519, other), |shared| {
            let secret = Salt::new(HKDF_SHA256, salt).extract(shared);
            let key = |of: &[u8]| {
                let mut key = [0; 32];
                let info = [of, adder, joiner];
                secret.expand(&info, Length).and_then(|made| made.fill(&mut key)).map_err(|_| unfit())?;
                Ok(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| unfit())?))
            };
            Ok((key(b"adder")?, key(b"joiner")?))
        });
        let (adder, joiner) = keys.map_err(|_| unfit())??;
        let (own, theirs) = if side == Side::Adder { (adder, joiner) } else { (joiner, adder) };
        Ok(Sealed { own, theirs, said: 0, heard: 0 })
    }
}

impl Sealed {
    /// Seals a word.
    pub fn seal(&mut self, word: &[u8]) -> Result<Vec<u8>, KeyError> {
        let mut text = word.to_vec();
        let nonce = nonce(&mut self.said)?;
        self.own.seal_in_place_append_tag(nonce, Aad::empty(), &mut text).map_err(|_| unfit())?;
        Ok(text)
    }

    /// Opens the next word of the other side. One that does not fit changes nothing.
    pub fn open(&mut self, text: &[u8]) -> Result<Vec<u8>, KeyError> {
        let mut text = text.to_vec();
        let mut heard = self.heard;
        let word =
            self.theirs.open_in_place(nonce(&mut heard)?, Aad::empty(), &mut text).map_err(|_| unfit())?;
        let word = word.to_vec();
        self.heard = heard;
        Ok(word)
    }
}

/// The next nonce. No number is ever used twice.
fn nonce(count: &mut u64) -> Result<Nonce, KeyError> {
    let mut bytes = [0; NONCE_LEN];
    bytes[..8].copy_from_slice(&count.to_le_bytes());
    *count = count.checked_add(1).ok_or_else(unfit)?;
    Ok(Nonce::assume_unique_for_key(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Sealed, Sealed) {
        let (adder, joiner) = (Seal::make().expect("keys"), Seal::make().expect("keys"));
        let (one, two) = (adder.public(), joiner.public());
        (adder.with(&two, Side::Adder).expect("both"), joiner.with(&one, Side::Joiner).expect("both"))
    }

    #[test]
    fn sealed_message_opens_only_at_peer_in_order() {
        let (mut adder, mut joiner) = pair();
        let first = joiner.seal(b"key").expect("it can");
        let second = joiner.seal(b"more").expect("it can");
        assert!(adder.open(&second).is_err(), "out of turn");
        assert_eq!(adder.open(&first).expect("in turn"), b"key");
        assert!(adder.open(&first).is_err(), "a second time");
        assert!(joiner.open(&second).is_err(), "its own word");
        let mut changed = second.clone();
        changed[0] ^= 1;
        assert!(adder.open(&changed).is_err());
        assert_eq!(adder.open(&second).expect("in turn"), b"more");
        let answer = adder.seal(b"certificate").expect("it can");
        assert_eq!(joiner.open(&answer).expect("in turn"), b"certificate");
    }

    #[test]
    fn peer_without_token_opens_nothing() {
        let (right, wrong) = (Token::make().expect("random"), Token::make().expect("random"));
        for (theirs, opens) in [(&right, true), (&wrong, false)] {
            let (adder, joiner) = (Seal::make().expect("keys"), Seal::make().expect("keys"));
            let (one, two) = (adder.public(), joiner.public());
            let mut adder = adder.with_token(&two, Side::Adder, &right).expect("keys");
            let mut joiner = joiner.with_token(&one, Side::Joiner, theirs).expect("keys");
            let word = joiner.seal(b"name").expect("sealed");
            assert_eq!(adder.open(&word).is_ok(), opens);
            let word = adder.seal(b"number").expect("sealed");
            assert_eq!(joiner.open(&word).is_ok(), opens);
        }
    }

    #[test]
    fn sealed_message_of_another_pair_is_refused() {
        let (mut adder, _) = pair();
        let (_, mut joiner) = pair();
        assert!(joiner.open(&adder.seal(b"certificate").expect("it can")).is_err());
        assert!(adder.open(&[]).is_err());
    }
}
