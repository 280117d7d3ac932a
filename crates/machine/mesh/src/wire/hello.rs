//! The first words on the control stream.
//!
//! Dialler and listener send one [`Hello`] each; the dialler closes with a
//! confirmation. Each is preceded by its length in two bytes. Magic, protocol
//! and release come first and keep their places in every version, so that
//! two versions can always name each other.
//!
//! ```text
//! magic 4 | protocol 2 | release 1+n | host 4 | incarnation 8 | nonce 16 | echo 16 | lost 8 | name 1+n
//! ```

use super::{Fields, Garbled, put_text};
use crate::{Host, Incarnation};

const MAGIC: [u8; 4] = *b"PvmH";
/// No Hello is longer.
pub const MAX_HELLO: usize = 1024;

/// A fresh random number.
pub type Nonce = [u8; 16];

/// Who speaks, and in what version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The protocol spoken.
    pub protocol: u16,
    /// The release, for people.
    pub release: String,
    /// The rest, when it could be read: other protocols may write it otherwise.
    pub body: Option<Body>,
}

/// What this protocol says after the version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The speaker's host number.
    pub host: Host,
    /// The speaker's incarnation.
    pub incarnation: Incarnation,
    /// Made for this connection.
    pub nonce: Nonce,
    /// The other's nonce; zeros in the dialler's Hello.
    pub echo: Nonce,
    /// The last link between the two that the speaker saw end; 0 when none.
    pub lost: u64,
    /// The host's name, for people.
    pub name: String,
}

impl Hello {
    /// The bytes, without the length before them.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&self.protocol.to_le_bytes());
        put_text(&mut out, &self.release);
        if let Some(body) = &self.body {
            out.extend_from_slice(&body.host.to_le_bytes());
            out.extend_from_slice(&body.incarnation.to_le_bytes());
            out.extend_from_slice(&body.nonce);
            out.extend_from_slice(&body.echo);
            out.extend_from_slice(&body.lost.to_le_bytes());
            put_text(&mut out, &body.name);
        }
        out
    }

    /// Reads a Hello. Of a protocol other than `ours` only the version is read.
    pub fn decode(bytes: &[u8], ours: u16) -> Result<Hello, Garbled> {
        if bytes.len() > MAX_HELLO {
            return Err(Garbled::Bound { what: "the hello", length: bytes.len(), bound: MAX_HELLO });
        }
        let mut fields = Fields::new("the hello", bytes);
        if fields.array()? != MAGIC {
            return Err(Garbled::Value("the hello"));
        }
        let protocol = u16::from_le_bytes(fields.array()?);
        let release = fields.text()?;
        if protocol != ours {
            return Ok(Hello { protocol, release, body: None });
        }
        let body = Body {
            host: u32::from_le_bytes(fields.array()?),
            incarnation: u64::from_le_bytes(fields.array()?),
            nonce: fields.array()?,
            echo: fields.array()?,
            lost: u64::from_le_bytes(fields.array()?),
            name: fields.text()?,
        };
        fields.end()?;
        Ok(Hello { protocol, release, body: Some(body) })
    }
}

/// The number of a link: both ends know the nonce it is made of.
pub fn link_number(nonce: &Nonce) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&nonce[..8]);
    // 0 means "none".
    u64::from_le_bytes(first).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hello(protocol: u16) -> Hello {
        let body =
            Body { host: 7, incarnation: 3, nonce: [1; 16], echo: [2; 16], lost: 9, name: "alpha".into() };
        Hello { protocol, release: "0.1.0".into(), body: Some(body) }
    }

    #[test]
    fn hello_survives_round_trip() {
        assert_eq!(Hello::decode(&hello(1).encode(), 1), Ok(hello(1)));
    }

    #[test]
    fn hello_of_other_protocol_keeps_readable_version() {
        let mut bytes = hello(9).encode();
        bytes.truncate(15);
        let read = Hello::decode(&bytes, 1).expect("the version is readable");
        assert_eq!((read.protocol, read.release.as_str(), read.body), (9, "0.1.0", None));
    }

    #[test]
    fn hello_of_wrong_length_is_refused() {
        let whole = hello(1).encode();
        for end in 0..whole.len() {
            assert_eq!(Hello::decode(&whole[..end], 1), Err(Garbled::Short("the hello")), "{end} bytes");
        }
        assert_eq!(Hello::decode(&[&whole[..], &[0]].concat(), 1), Err(Garbled::Long("the hello")));
    }

    #[test]
    fn hello_with_control_characters_is_refused() {
        let mut bad = hello(1);
        bad.release = "1\u{1b}[2J".into();
        assert_eq!(Hello::decode(&bad.encode(), 1), Err(Garbled::Value("the hello")));
    }

    proptest! {
        #[test]
        fn hello_decodes_or_refuses_any_bytes(bytes: Vec<u8>) {
            let with_magic = [&MAGIC[..], &bytes].concat();
            for bytes in [&bytes, &with_magic] {
                if let Ok(hello) = Hello::decode(bytes, 1)
                    && hello.body.is_some() {
                    prop_assert_eq!(&hello.encode(), bytes);
                }
            }
        }
    }
}
