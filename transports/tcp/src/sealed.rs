//! A connection whose bytes others cannot read or change.
//!
//! The daemons gave both ends a token that counts once. Each direction derives its own keys from the token (HKDF with
//! SHA-256, RFC 5869). Data travels in *records*: the length in four bytes, the data encrypted by AES-128-GCM, and its
//! tag of 16 bytes, which also protects the length. The nonce is the record's number. After [`EPOCH`] records a
//! direction takes its next key, as both ends count the same.
//!
//! There is no handshake. The first frame therefore leaves with the greeting, and a send does not wait for a task that
//! computes. TLS would wait for its answer, because rustls cannot start from a shared key. The token has crossed no
//! wire but the daemons' own connection, whose keys are forgotten with it.

use crate::proof::{End, NONCE};
use parvum_transport::Gather;
use parvum_wire::Tid;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, MAX_TAG_LEN, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use std::io::{self, ErrorKind, IoSliceMut, Read};
use std::ops::Range;

/// The most bytes of one record. A record is opened when all of it has come; shorter ones cost more each.
pub const RECORD: usize = 32 << 10;
/// Bytes before a record's data, and after it.
const LENGTH: usize = 4;
const TAG: usize = MAX_TAG_LEN;
/// The number of records with one key: 32 GiB of long records, far below the limit of AES-GCM.
const EPOCH: u64 = 1 << 20;
/// Bytes of one read.
const INBOX: usize = 4 * (LENGTH + RECORD + TAG);

/// One direction's keys, one after another.
struct Keys {
    secret: Prk,
    key: LessSafeKey,
    /// Records sealed or opened.
    count: u64,
}

impl Keys {
    /// The keys for data that `end` sends.
    fn new(end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE]) -> Keys {
        let mut salt = [0; NONCE + 5];
        salt[..NONCE].copy_from_slice(nonce);
        salt[NONCE..NONCE + 4].copy_from_slice(&caller.0.to_le_bytes());
        salt[NONCE + 4] = end as u8;
        let secret = Salt::new(HKDF_SHA256, &salt).extract(token);
        let key = derive(&secret, 0);
        Keys { secret, key, count: 0 }
    }

    /// The next record's nonce; `key` is that record's then.
    fn next(&mut self) -> Nonce {
        if self.count.is_multiple_of(EPOCH) && self.count > 0 {
            self.key = derive(&self.secret, self.count / EPOCH);
        }
        let mut nonce = [0; NONCE_LEN];
        nonce[..8].copy_from_slice(&self.count.to_le_bytes());
        // A connection never sends enough records to wrap this number.
        self.count = self.count.wrapping_add(1);
        Nonce::assume_unique_for_key(nonce)
    }
}

fn derive(secret: &Prk, epoch: u64) -> LessSafeKey {
    let info = [&b"parvum record key"[..], &epoch.to_le_bytes()];
    let key = secret.expand(&info, &AES_128_GCM).expect("a key is not too long");
    LessSafeKey::new(UnboundKey::from(key))
}

/// Seals what one end sends.
pub struct Sealer(Keys);

impl Sealer {
    /// The sealer of what `end` sends.
    pub fn new(end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE]) -> Sealer {
        Sealer(Keys::new(end, token, caller, nonce))
    }

    /// Appends one record to `out`: `head`, then the payload, together at most [`RECORD`] bytes.
    pub fn seal(&mut self, head: &[u8], payload: Gather<'_>, out: &mut Vec<u8>) {
        let length = (head.len().saturating_add(payload.len()) as u32).to_le_bytes();
        out.extend_from_slice(&length);
        let begin = out.len();
        out.extend_from_slice(head);
        payload.pieces().for_each(|piece| out.extend_from_slice(piece));
        let nonce = self.0.next();
        let record = out.get_mut(begin..).unwrap_or_default();
        let tag = self.0.key.seal_in_place_separate_tag(nonce, Aad::from(length), record);
        out.extend_from_slice(tag.expect("a record is short enough").as_ref());
    }
}

/// Bytes of a record without its data.
pub const AROUND: usize = LENGTH + TAG;

/// Opens whole records, for transports that keep the boundaries of messages.
pub struct RecordOpener(Keys);

impl RecordOpener {
    /// For what `end` seals.
    pub fn new(end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE]) -> RecordOpener {
        RecordOpener(Keys::new(end, token, caller, nonce))
    }

    /// Opens the next record in its place, and returns its data. `None`: the bytes are not that record.
    pub fn open<'a>(&mut self, record: &'a mut [u8]) -> Option<&'a mut [u8]> {
        let (&mut length, sealed) = record.split_first_chunk_mut::<LENGTH>()?;
        if sealed.len().checked_sub(TAG)? != u32::from_le_bytes(length) as usize {
            return None;
        }
        let nonce = self.0.next();
        self.0.key.open_in_place(nonce, Aad::from(length), sealed).ok()
    }
}

/// Opens what the other end sealed.
pub(crate) struct Opener {
    keys: Keys,
    buffer: Box<[u8]>,
    /// The decrypted data that is not taken yet, before the encrypted data.
    open: Range<usize>,
    /// The data that has come and is still encrypted.
    sealed: Range<usize>,
}

impl Opener {
    /// `come` is what has come already, at most [`INBOX`] bytes.
    pub(crate) fn new(end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE], come: &[u8]) -> Opener {
        // The system gives pages of zeros when they are first used: most connections never need all of the buffer.
        let mut buffer = vec![0; INBOX.max(come.len())];
        if let Some(begin) = buffer.get_mut(..come.len()) {
            begin.copy_from_slice(come);
        }
        let keys = Keys::new(end, token, caller, nonce);
        Opener { keys, buffer: buffer.into(), open: 0..0, sealed: 0..come.len() }
    }

    /// A stream of the decrypted data of `from`.
    pub(crate) fn opening<R: Read>(&mut self, from: R) -> Opening<'_, R> {
        Opening { opener: self, from }
    }

    /// Opens the next record, if all of it is there.
    fn open_next(&mut self) -> io::Result<bool> {
        let sealed = self.buffer.get(self.sealed.clone()).unwrap_or_default();
        let Some(&length) = sealed.first_chunk::<LENGTH>() else { return Ok(false) };
        let count = u32::from_le_bytes(length) as usize;
        if count == 0 || count > RECORD {
            return Err(ErrorKind::InvalidData.into());
        }
        let begin = self.sealed.start.saturating_add(LENGTH);
        let end = begin.saturating_add(count).saturating_add(TAG);
        let has_come = end <= self.sealed.end;
        let Some(record) = self.buffer.get_mut(begin..end).filter(|_| has_come) else { return Ok(false) };
        let nonce = self.keys.next();
        if self.keys.key.open_in_place(nonce, Aad::from(length), record).is_err() {
            return Err(ErrorKind::InvalidData.into());
        }
        self.open = begin..begin.saturating_add(count);
        self.sealed.start = end;
        Ok(true)
    }

    /// Bytes behind what has come.
    fn free(&self) -> usize {
        self.buffer.len().saturating_sub(self.sealed.end)
    }

    /// Reads once.
    fn fill(&mut self, from: &mut impl Read) -> io::Result<Filled> {
        debug_assert!(self.open.is_empty(), "what is open would be lost");
        if self.sealed.is_empty() {
            self.sealed = 0..0;
        } else if self.sealed.start > 0 && self.free() < LENGTH + RECORD + TAG {
            self.buffer.copy_within(self.sealed.clone(), 0);
            self.sealed = 0..self.sealed.len();
        }
        let room = self.buffer.get_mut(self.sealed.end..).unwrap_or_default();
        let size = room.len();
        let count = from.read(room)?;
        self.sealed.end = self.sealed.end.saturating_add(count);
        Ok(match count {
            0 => Filled::Closed,
            _ if count < size => Filled::All,
            _ => Filled::Some,
        })
    }
}

/// The result of a read.
#[derive(PartialEq)]
enum Filled {
    /// All that had come.
    All,
    /// As much as there was room for.
    Some,
    /// The end.
    Closed,
}

/// Reads what was sealed. If a read gives fewer bytes than requested, all data that had come is taken.
pub(crate) struct Opening<'a, R> {
    opener: &'a mut Opener,
    from: R,
}

impl<R: Read> Read for Opening<'_, R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let size = room.len();
        let mut room = room;
        let mut had_all = false;
        loop {
            let open = self.opener.buffer.get(self.opener.open.clone()).unwrap_or_default();
            let count = open.len().min(room.len());
            let (here, behind) = std::mem::take(&mut room).split_at_mut(count);
            here.copy_from_slice(open.get(..count).unwrap_or_default());
            self.opener.open.start = self.opener.open.start.saturating_add(count);
            room = behind;
            let taken = size.saturating_sub(room.len());
            if room.is_empty() {
                return Ok(taken);
            }
            let more = match self.opener.open_next() {
                Ok(true) => continue,
                Ok(false) if had_all => Err(ErrorKind::WouldBlock.into()),
                Ok(false) => self.opener.fill(&mut self.from),
                Err(error) => Err(error),
            };
            match more {
                Ok(Filled::Closed) => return Ok(taken),
                Ok(filled) => had_all = filled == Filled::All,
                // The next call reports it again, after the good data has been taken.
                Err(_) if taken > 0 => return Ok(taken),
                Err(error) => return Err(error),
            }
        }
    }

    fn read_vectored(&mut self, rooms: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let mut taken = 0usize;
        for room in rooms.iter_mut().filter(|room| !room.is_empty()) {
            let count = match self.read(room) {
                Ok(count) => count,
                Err(error) if taken == 0 => return Err(error),
                Err(_) => break,
            };
            taken = taken.saturating_add(count);
            if count < room.len() {
                break;
            }
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_records_are_opened_in_their_order_only() {
        let (token, tid, nonce) = ([3; 16], Tid(0x40001), [5; NONCE]);
        let mut sealer = Sealer::new(End::Caller, &token, tid, &nonce);
        let mut opener = RecordOpener::new(End::Caller, &token, tid, &nonce);
        let mut records: Vec<Vec<u8>> = Vec::new();
        for text in [&b"one"[..], b"two", b"three"] {
            let mut record = Vec::new();
            sealer.seal(b"<", Gather::new(&[text]), &mut record);
            assert_eq!(record.len(), 1 + text.len() + AROUND);
            records.push(record);
        }
        let opened = opener.open(&mut records[0].clone()).map(|data| data.to_vec());
        assert_eq!(opened.as_deref(), Some(&b"<one"[..]));
        assert_eq!(opener.open(&mut records[2].clone()), None, "the second is missing");
        let mut opener = RecordOpener::new(End::Caller, &token, tid, &nonce);
        let mut changed = records[0].clone();
        changed[6] ^= 1;
        assert_eq!(opener.open(&mut changed), None);
        for length in 0..records[0].len() {
            let mut opener = RecordOpener::new(End::Caller, &token, tid, &nonce);
            assert_eq!(opener.open(&mut records[0][..length].to_vec()), None, "cut to {length}");
        }
    }

    const TOKEN: [u8; 16] = [7; 16];
    const ME: Tid = Tid(0x40001);

    fn ends(token: &[u8; 16]) -> (Sealer, Opener) {
        let nonce = [9; NONCE];
        (Sealer::new(End::Caller, &TOKEN, ME, &nonce), Opener::new(End::Caller, token, ME, &nonce, &[]))
    }

    /// Gives what has come a few bytes at a time, and every so often none.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(5) || self.0.is_empty() {
                return Err(ErrorKind::WouldBlock.into());
            }
            let count = room.len().min(self.1 % 4001 + 1).min(self.0.len());
            room[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    /// The pages of this process that are in memory, in bytes.
    fn resident() -> usize {
        let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has this file");
        let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
        pages.expect("a number of pages") * 4096
    }

    #[test]
    fn idle_connection_takes_no_memory_for_its_buffer() {
        const CONNECTIONS: usize = 256;
        let before = resident();
        let openers: Vec<Opener> = (0..CONNECTIONS).map(|_| ends(&TOKEN).1).collect();
        let grown = resident().saturating_sub(before);
        // Other tests of this process take memory, too: far less than all buffers.
        assert!(grown < CONNECTIONS * INBOX / 2, "{grown} bytes for {} connections", openers.len());
    }

    fn sealed(sealer: &mut Sealer, lengths: &[usize]) -> (Vec<u8>, Vec<u8>) {
        let (mut clear, mut out) = (Vec::new(), Vec::new());
        for (number, &length) in lengths.iter().enumerate() {
            let data: Vec<u8> = (0..length).map(|at| (at * 31 + number) as u8).collect();
            let (head, rest) = data.split_at(length.min(5));
            sealer.seal(head, Gather::new(&[rest]), &mut out);
            clear.extend_from_slice(&data);
        }
        (clear, out)
    }

    /// Everything that can be opened of these bytes, and whether they ended in an error.
    fn opened(opener: &mut Opener, bytes: &[u8]) -> (Vec<u8>, bool) {
        let (mut drops, mut seen) = (Drops(bytes, 0), Vec::new());
        loop {
            let (mut first, mut second) = ([0; 700], [0; 333]);
            let mut rooms = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
            match opener.opening(&mut drops).read_vectored(&mut rooms) {
                Ok(count) => {
                    seen.extend_from_slice(&first[..count.min(700)]);
                    seen.extend_from_slice(&second[..count.saturating_sub(700)]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock && !drops.0.is_empty() => {}
                Err(error) => return (seen, error.kind() != ErrorKind::WouldBlock),
            }
        }
    }

    #[test]
    fn sealed_data_opens_in_any_pieces() {
        let (mut sealer, mut opener) = ends(&TOKEN);
        let lengths: Vec<usize> = (1..60).chain([RECORD - 1, RECORD, 1, RECORD, RECORD, 17]).collect();
        let (clear, bytes) = sealed(&mut sealer, &lengths);
        let shows = |part: &[u8]| bytes.windows(part.len()).any(|at| at == part);
        assert!(!clear.chunks(5_000).any(|chunk| shows(&chunk[..40.min(chunk.len())])), "in clear");
        assert!(opened(&mut opener, &bytes) == (clear, false));
    }

    #[test]
    fn keys_of_both_ends_change_together() {
        let (mut sealer, mut opener) = ends(&TOKEN);
        (sealer.0.count, opener.keys.count) = (EPOCH - 2, EPOCH - 2);
        let (clear, bytes) = sealed(&mut sealer, &[3, 4, 5, 6, 7]);
        assert!(opened(&mut opener, &bytes) == (clear, false));
    }

    #[test]
    fn changed_record_is_refused_and_earlier_ones_are_not() {
        let first = LENGTH + 20 + TAG;
        for place in [0, LENGTH, LENGTH + 7, LENGTH + 19, first - 1] {
            let (mut sealer, mut opener) = ends(&TOKEN);
            let (clear, mut bytes) = sealed(&mut sealer, &[20, 20, 20]);
            bytes[first + place] ^= 1;
            let (seen, broken) = opened(&mut opener, &bytes);
            assert_eq!(seen, clear[..20], "byte {place}");
            // A longer length waits for more, which comes or does not; it is refused then.
            assert!(broken || place == 0, "byte {place}");
        }
    }

    #[test]
    fn records_out_of_order_repeated_or_foreign_are_refused() {
        let (mut sealer, mut opener) = ends(&TOKEN);
        let (_, bytes) = sealed(&mut sealer, &[20, 20]);
        let (first, second) = bytes.split_at(LENGTH + 20 + TAG);
        assert_eq!(opened(&mut opener, &[second, first].concat()), (Vec::new(), true));
        let (mut sealer, mut opener) = ends(&TOKEN);
        let (clear, bytes) = sealed(&mut sealer, &[20]);
        assert_eq!(opened(&mut opener, &[&bytes[..], &bytes[..]].concat()), (clear, true));
        let (mut sealer, mut opener) = ends(&[8; 16]);
        let (_, bytes) = sealed(&mut sealer, &[20]);
        assert_eq!(opened(&mut opener, &bytes), (Vec::new(), true));
    }

    #[test]
    fn impossible_record_lengths_are_refused() {
        for length in [0, RECORD as u32 + 1, u32::MAX] {
            let (_, mut opener) = ends(&TOKEN);
            let bytes = [&length.to_le_bytes()[..], &[0; 64]].concat();
            assert_eq!(opened(&mut opener, &bytes), (Vec::new(), true), "{length}");
        }
    }
}
