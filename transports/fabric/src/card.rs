//! Notes that two tasks send over their connection of TCP before they send over the fabric.

use crate::ofi::FabricError;

/// The longest address and the longest name of a provider.
const LONGEST: usize = 255;
/// The version of this exchange.
const VERSION: u8 = 1;

/// Marks a frame of the connection as one of these notes: no frame of the engine has a payload and this kind.
pub const MARK: parvum_wire::Kind = parvum_wire::Kind::Credit;

/// A note of one end to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The place of this end on the fabric: provider, address, and the number of the link there.
    Here(Card),
    /// This end has no fabric, and why: all frames go over the connection.
    Without(String),
    /// All further frames of this end come over the fabric.
    Switched,
    /// This end goes away. The number of frames that it has sent over the fabric.
    Left(u32),
}

/// An end of a link on the fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The provider's name. Only ends of one provider understand each other.
    pub provider: String,
    /// The provider's address of the endpoint.
    pub address: Vec<u8>,
    /// The number of the link at its endpoint.
    pub link: u32,
    /// The key of each message to the link.
    pub key: u64,
}

impl Note {
    /// As a payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        match self {
            Note::Here(card) => {
                out.push(1);
                out.extend_from_slice(&card.link.to_le_bytes());
                out.extend_from_slice(&card.key.to_le_bytes());
                append(&mut out, card.provider.as_bytes());
                append(&mut out, &card.address);
            }
            Note::Without(why) => {
                out.push(2);
                append(&mut out, why.as_bytes());
            }
            Note::Switched => out.push(3),
            Note::Left(count) => {
                out.push(4);
                out.extend_from_slice(&count.to_le_bytes());
            }
        }
        out
    }

    /// Reads a payload. `None`: the bytes are no note.
    pub fn decode(bytes: &[u8]) -> Option<Note> {
        let (&[VERSION, kind], rest) = bytes.split_first_chunk()? else { return None };
        Some(match kind {
            1 => {
                let (link, rest) = rest.split_first_chunk()?;
                let (key, rest) = rest.split_first_chunk()?;
                let (provider, rest) = split(rest)?;
                let (address, rest) = split(rest)?;
                let provider = std::str::from_utf8(provider).ok().filter(|_| rest.is_empty())?;
                let (link, key) = (u32::from_le_bytes(*link), u64::from_le_bytes(*key));
                Note::Here(Card { provider: provider.to_owned(), address: address.to_vec(), link, key })
            }
            2 => Note::Without(String::from_utf8_lossy(split(rest)?.0).into_owned()),
            3 if rest.is_empty() => Note::Switched,
            4 => Note::Left(u32::from_le_bytes(rest.try_into().ok()?)),
            _ => return None,
        })
    }
}

impl From<&FabricError> for Note {
    fn from(why: &FabricError) -> Note {
        Note::Without(why.to_string())
    }
}

/// Adds bytes behind their length. A text for people that is too long is cut off.
fn append(out: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = bytes.get(..LONGEST).unwrap_or(bytes);
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    rest.split_at_checked(length.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_back_and_damaged_notes_are_refused() {
        let card = Card {
            provider: "tcp;ofi_rxm".to_owned(),
            address: vec![2, 0, 7, 9],
            link: 70_000,
            key: u64::MAX - 5,
        };
        for note in [Note::Here(card), Note::Without("no library".to_owned()), Note::Switched, Note::Left(9)]
        {
            let bytes = note.encode();
            assert_eq!(Note::decode(&bytes).as_ref(), Some(&note));
            for short in 0..bytes.len() {
                assert_eq!(Note::decode(&bytes[..short]), None, "{note:?} cut to {short}");
            }
        }
        assert_eq!(Note::decode(&[VERSION, 9]), None);
        assert_eq!(Note::decode(&[VERSION + 1, 3]), None);
    }

    #[test]
    fn long_reason_is_cut() {
        let Some(Note::Without(why)) = Note::decode(&Note::Without("x".repeat(999)).encode()) else {
            panic!()
        };
        assert_eq!(why.len(), LONGEST);
    }
}
