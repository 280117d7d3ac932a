//! Framing of control messages.
//!
//! ```text
//!  0        4     6         7      8
//! +--------+-----+---------+------+-----------------+
//! | length | 'Pv'| protocol| fds  | body (postcard) |
//! +--------+-----+---------+------+-----------------+
//! ```
//!
//! The length is little-endian and counts the body. The header never changes;
//! the meaning of the body belongs to the protocol number, so that programs of
//! two releases can at least tell each other so.

use super::Directions;

/// The protocol spoken by this release.
pub const PROTOCOL: u8 = 18;
/// Size of the header.
pub const HEADER_BYTES: usize = 8;
/// The largest body.
pub const MAX_FRAME: usize = 4 * 1024 * 1024;
/// The most descriptors one frame may carry.
const MAX_FDS: u8 = 8;
const MAGIC: [u8; 2] = *b"Pv";

/// The fixed part of a control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the body.
    pub length: usize,
    /// The sender's protocol.
    pub protocol: u8,
    /// Descriptors that belong to the frame.
    pub fds: usize,
}

/// Why bytes are not a control frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The other side does not speak this language at all.
    #[error("the bytes are not a Parvum control frame")]
    Foreign,
    /// The other side is of another release.
    #[error("the other side speaks protocol {theirs}, this side {PROTOCOL}")]
    Protocol {
        /// Its protocol.
        theirs: u8,
    },
    /// The length, or the count of descriptors, is over its bound.
    #[error("a control frame of {length} bytes and {fds} descriptors is over the bound")]
    TooLarge {
        /// The length announced.
        length: usize,
        /// The descriptors announced.
        fds: usize,
    },
    /// The body does not decode.
    #[error("the body of a control frame does not decode")]
    Body,
}

/// Reads a header. `Ok(None)` when there are too few bytes yet.
///
/// Never reads a body: the caller waits until `HEADER_BYTES + length` bytes are
/// there and hands the body to [`decode`].
pub fn header(bytes: &[u8]) -> Result<Option<Header>, CodecError> {
    // Two bytes of magic are enough to show a stranger the door early.
    if bytes.get(4..6).is_some_and(|magic| magic != MAGIC) {
        return Err(CodecError::Foreign);
    }
    let Some(head) = bytes.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let (theirs, fds) = (head[6], head[7]);
    if theirs != PROTOCOL {
        return Err(CodecError::Protocol { theirs });
    }
    if length > MAX_FRAME || fds > MAX_FDS {
        return Err(CodecError::TooLarge { length, fds: fds.into() });
    }
    Ok(Some(Header { length, protocol: theirs, fds: fds.into() }))
}

/// Appends `message` as a whole frame to `out`. On error `out` is as before.
pub fn encode<M: Directions>(message: &M, fds: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    let mut whole = match postcard::to_extend(message, std::mem::take(out)) {
        Ok(whole) => whole,
        // Only a type that cannot be serialised at all gets here; ours can.
        Err(_) => return Err(CodecError::Body),
    };
    let written = match whole.get_mut(start..).and_then(|frame| frame.split_first_chunk_mut()) {
        Some((head, body)) if body.len() <= MAX_FRAME && fds <= MAX_FDS.into() => {
            *head = head_of(body.len(), fds);
            Ok(())
        }
        Some((_, body)) => Err(CodecError::TooLarge { length: body.len(), fds }),
        None => Err(CodecError::Body),
    };
    if written.is_err() {
        whole.truncate(start);
    }
    *out = whole;
    written
}

/// The header of a frame. Both numbers are within their bounds.
fn head_of(length: usize, fds: usize) -> [u8; HEADER_BYTES] {
    let [a, b, c, d] = (length as u32).to_le_bytes();
    [a, b, c, d, MAGIC[0], MAGIC[1], PROTOCOL, fds as u8]
}

/// [`encode`] into a vector of its own.
pub fn frame<M: Directions>(message: &M, fds: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    encode(message, fds, &mut out)?;
    Ok(out)
}

/// Reads the body of a frame; every byte must be used.
pub fn decode<M: Directions>(body: &[u8]) -> Result<M, CodecError> {
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        _ => Err(CodecError::Body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tid;
    use crate::control::{
        Blob, Call, ErrorKind, Event, Failure, FromDaemon, Reply, Request, SpawnRequest, Stream,
    };
    use proptest::prelude::*;

    fn blob() -> impl Strategy<Value = Blob> {
        proptest::collection::vec(any::<u8>(), 0..64).prop_map(Blob)
    }

    fn request() -> impl Strategy<Value = Request> {
        prop_oneof![
            any::<(i32, u8)>().prop_map(|(t, route)| Request::Connect { to: Tid(t), route }),
            (any::<i32>(), any::<[u8; 16]>())
                .prop_map(|(t, secret)| Request::DataHello { tid: Tid(t), secret }),
            (".{0,20}", any::<i32>()).prop_map(|(group, count)| Request::Barrier { group, count }),
            (blob(), proptest::collection::vec(blob(), 0..5), any::<u32>()).prop_map(
                |(program, args, count)| Request::Spawn(SpawnRequest {
                    program,
                    args,
                    count,
                    ..Default::default()
                })
            ),
            Just(Request::Hosts),
            Just(Request::Halt),
        ]
    }

    fn answer() -> impl Strategy<Value = FromDaemon> {
        prop_oneof![
            any::<u32>().prop_map(|id| FromDaemon::Reply(id, Ok(Reply::Done))),
            (any::<u32>(), ".{0,20}").prop_map(|(id, detail)| FromDaemon::Reply(
                id,
                Err(Failure::new(ErrorKind::NoSuchTask, detail))
            )),
            (any::<i32>(), blob()).prop_map(|(t, data)| FromDaemon::Event(Event::Output {
                tid: Tid(t),
                stream: Stream::Err,
                data
            })),
        ]
    }

    proptest! {
        #[test]
        fn requests_survive_round_trip(id in any::<u32>(), request in request(), fds in 0usize..4) {
            let call = Call { id, request };
            let bytes = frame(&call, fds).expect("fits");
            let head = header(&bytes).expect("ours").expect("whole");
            prop_assert_eq!(head, Header { length: bytes.len() - HEADER_BYTES, protocol: PROTOCOL, fds });
            prop_assert_eq!(decode::<Call>(&bytes[HEADER_BYTES..]).expect("decodes"), call);
        }

        #[test]
        fn answers_survive_round_trip(message in answer()) {
            let bytes = frame(&message, 0).expect("fits");
            prop_assert_eq!(decode::<FromDaemon>(&bytes[HEADER_BYTES..]).expect("decodes"), message);
        }

        #[test]
        fn truncated_bodies_are_refused(id in any::<u32>(), request in request(), cut in any::<prop::sample::Index>()) {
            let bytes = frame(&Call { id, request }, 0).expect("fits");
            let body = &bytes[HEADER_BYTES..];
            let end = cut.index(body.len());
            prop_assert!(decode::<Call>(&body[..end]).is_err());
        }

        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = header(&bytes);
            let _ = decode::<Call>(&bytes);
            let _ = decode::<FromDaemon>(&bytes);
        }
    }

    #[test]
    fn header_needs_all_bytes() {
        let bytes = frame(&Call { id: 1, request: Request::Info }, 0).expect("fits");
        for end in 0..HEADER_BYTES {
            assert_eq!(header(&bytes[..end]), Ok(None));
        }
    }

    #[test]
    fn headers_out_of_bounds_are_refused() {
        assert_eq!(header(b"GET / HTTP/1.1"), Err(CodecError::Foreign));
        let mut bytes = frame(&Call { id: 1, request: Request::Info }, 0).expect("fits");
        bytes[6] = PROTOCOL + 1;
        assert_eq!(header(&bytes), Err(CodecError::Protocol { theirs: PROTOCOL + 1 }));
        bytes[6] = PROTOCOL;
        bytes[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(header(&bytes), Err(CodecError::TooLarge { .. })));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri takes minutes for four megabytes")]
    fn messages_out_of_bounds_are_not_sent() {
        let data = Blob(vec![0; MAX_FRAME]);
        let message = FromDaemon::Event(Event::Output { tid: Tid(1), stream: Stream::Out, data });
        let mut out = b"before".to_vec();
        assert!(matches!(encode(&message, 0, &mut out), Err(CodecError::TooLarge { .. })));
        assert_eq!(out, b"before");
    }
}
