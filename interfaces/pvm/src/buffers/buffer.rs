//! Message buffers: being packed, received, or found by a probe.

use crate::buffers::memory::Memory;
use crate::errors::{Pvm, PvmError};
use parvum_api::Message;
use parvum_wire::encoding;
use smallvec::SmallVec;

/// PVM's name for a way of packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// `PvmDataDefault`: XDR.
    Xdr,
    /// `PvmDataRaw`: as it lies in memory.
    Raw,
    /// `PvmDataInPlace`: raw, and not copied before it is sent.
    InPlace,
}

impl Packing {
    pub(crate) fn from_number(number: i32) -> Pvm<Packing> {
        match number {
            0 => Ok(Packing::Xdr),
            1 => Ok(Packing::Raw),
            2 => Ok(Packing::InPlace),
            _ => Err(PvmError::BadParam),
        }
    }
}

/// The form of items on the wire: in XDR, unpacking one class as another is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    Byte = 1,
    Int = 2,
    Long = 3,
    Float = 4,
    Double = 5,
    Text = 6,
}

/// A run of bytes of one class: the number of bytes, with the class in the highest byte, as in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run(u64);

impl Run {
    const CLASS: u32 = 56;

    fn new(class: Class, bytes: usize) -> Run {
        Run(u64::from(class as u8) << Run::CLASS | bytes as u64)
    }

    fn class(self) -> u8 {
        (self.0 >> Run::CLASS) as u8
    }

    fn bytes(self) -> u64 {
        self.0 & ((1 << Run::CLASS) - 1)
    }
}

/// The runs of a message. Most have few, and ask for no memory.
pub(crate) type Runs = SmallVec<[Run; 4]>;

/// A piece of the program's memory that is left in place until the message is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) start: *const u8,
    pub(crate) length: usize,
    /// It stands before this byte of `Packed::data`.
    pub(crate) before: usize,
}

/// The data format of little-endian IEEE machines with 64-bit longs, as PVM's `LINUX64` shows it.
pub(crate) const DATA_SIGNATURE: i32 = 0x0040_8c41;

/// The properties of a message, besides its data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Info {
    pub(crate) context: i32,
    pub(crate) tag: i32,
    pub(crate) wait_id: i32,
    pub(crate) checksum: i32,
    /// `None`: this task.
    pub(crate) from: Option<i32>,
    pub(crate) to: Option<i32>,
}

/// A message being packed.
pub(crate) struct Packed {
    /// What `pvm_setminfo` said.
    pub(crate) info: Option<Box<Info>>,
    pub(crate) packing: Packing,
    pub(crate) data: Memory,
    pub(crate) left: Vec<Left>,
    left_bytes: usize,
    runs: Runs,
    /// Bytes of the table of runs at the end of `data`, once the message was sent.
    sealed: usize,
}

/// The largest message: what the interface can still describe with unsigned 32-bit lengths.
pub(crate) const LARGEST: usize = u32::MAX as usize;
/// In the `meta` word: a table of runs follows the data, of as many entries as the upper half says.
const TYPED: u32 = 1 << 8;
/// In the `meta` word: the upper half is a wait id, as PVM's own parts use them.
pub(crate) const WAIT_ID: u32 = 1 << 9;
/// Bytes of a run in the table.
const RUN: usize = 8;

impl Packed {
    pub(crate) fn new(packing: Packing, data: Memory) -> Packed {
        Packed { info: None, packing, data, left: Vec::new(), left_bytes: 0, runs: Runs::new(), sealed: 0 }
    }

    /// Empties the buffer, and keeps its memory. False: another holder still keeps it.
    #[inline]
    pub(crate) fn start_anew(&mut self, packing: Packing) -> bool {
        if !self.data.empty() {
            return false;
        }
        (self.info, self.packing, self.left_bytes, self.sealed) = (None, packing, 0, 0);
        self.left.clear();
        self.runs.clear();
        true
    }

    /// Bytes of the message as PVM counts them.
    pub(crate) fn length(&self) -> usize {
        self.data.len() - self.sealed + self.left_bytes
    }

    /// The data, to be appended to.
    #[inline]
    pub(crate) fn open(&mut self) -> &mut Vec<u8> {
        let sealed = std::mem::take(&mut self.sealed);
        let data = self.data.open();
        data.truncate(data.len() - sealed);
        data
    }

    /// Appends the table of runs, so that data and table are sent as one piece.
    pub(crate) fn seal(&mut self) {
        if self.meta() & TYPED != 0 && self.sealed == 0 && !self.runs.is_empty() {
            self.data.open().extend(self.runs.iter().flat_map(|run| run.0.to_le_bytes()));
            self.sealed = self.runs.len() * RUN;
        }
    }

    /// Makes room for more bytes. Refuses what would make the message too long, or what there is no memory for; the
    /// message stays as it is then.
    pub(crate) fn admit(&mut self, more: usize) -> Pvm<()> {
        if more > LARGEST - self.length() {
            return Err(PvmError::Overflow);
        }
        let data = self.open();
        // Twice what there is, as long as there is so much; else just enough.
        data.try_reserve(more).or_else(|_| data.try_reserve_exact(more)).map_err(|_| PvmError::NoMem)
    }

    /// Notes that `bytes` of `class` were appended.
    pub(crate) fn add_run(&mut self, class: Class, bytes: usize) {
        if self.packing != Packing::Xdr || bytes == 0 {
            return;
        }
        match self.runs.last_mut() {
            Some(run) if run.class() == class as u8 => run.0 += bytes as u64,
            _ => self.runs.push(Run::new(class, bytes)),
        }
    }

    /// Appends what another message holds, of the same encoding, with its types.
    pub(crate) fn append_body(&mut self, data: &[u8], runs: &[Run]) -> Pvm<i32> {
        self.admit(data.len())?;
        self.open().extend_from_slice(data);
        for run in runs {
            match self.runs.last_mut() {
                Some(last) if last.class() == run.class() => last.0 += run.bytes(),
                _ => self.runs.push(*run),
            }
        }
        Ok(0)
    }

    /// Leaves memory of the program in place.
    pub(crate) fn leave(&mut self, start: *const u8, length: usize) {
        self.left.push(Left { start, length, before: self.data.len() });
        self.left_bytes += length;
    }

    /// The `meta` word of the message.
    pub(crate) fn meta(&self) -> u32 {
        // PVM's own parts know the types of what they send.
        let wait_id = self.info.as_ref().map_or(0, |info| info.wait_id as u32 & 0xffff);
        match self.packing {
            Packing::Raw | Packing::InPlace => encoding::RAW,
            Packing::Xdr if wait_id != 0 => encoding::XDR | WAIT_ID | wait_id << 16,
            // A table that is too long to count is left out: the message is then unchecked.
            Packing::Xdr if self.runs.len() > 0xffff => encoding::XDR,
            Packing::Xdr => encoding::XDR | TYPED | (self.runs.len() as u32) << 16,
        }
    }
}

/// The wait id in a `meta` word; 0 for none.
pub(crate) fn wait_id(meta: u32) -> i32 {
    if meta & WAIT_ID != 0 { (meta >> 16) as i32 } else { 0 }
}

/// Bytes of the table of runs in a message with this `meta` word.
pub(crate) fn table_length(meta: u32) -> usize {
    if meta & TYPED != 0 { (meta >> 16) as usize * RUN } else { 0 }
}

/// The table of runs that a message with this `meta` word ends in.
pub(crate) fn runs_of(meta: u32, bytes: &[u8]) -> Runs {
    let entry = |entry: &[u8]| Run(u64::from_le_bytes(entry.try_into().unwrap_or_default()));
    bytes[bytes.len().saturating_sub(table_length(meta))..].chunks_exact(RUN).map(entry).collect()
}

/// A message that was received, or taken out of something else.
pub(crate) struct Arrived {
    /// What `pvm_setminfo` said.
    pub(crate) info: Option<Box<Info>>,
    /// The data, when it is not the engine's.
    _own: Option<Box<[u8]>>,
    pub(crate) message: Message,
    /// Bytes of data, without the table.
    pub(crate) length: usize,
    pub(crate) xdr: bool,
    /// The next byte to be unpacked.
    pub(crate) cursor: usize,
    /// The rest of each run that is not unpacked yet; `None` when nothing is known.
    runs: Option<Runs>,
    /// The number of unpacked runs.
    unpacked: usize,
}

impl Arrived {
    /// Room for a message to be received into.
    pub(crate) const BLANK: Arrived = Arrived {
        info: None,
        _own: None,
        message: Message::NONE,
        length: 0,
        xdr: false,
        cursor: 0,
        runs: None,
        unpacked: 0,
    };

    /// Understands a received message.
    pub(crate) fn new(message: Message) -> Arrived {
        let mut arrived = Arrived { message, ..Arrived::BLANK };
        arrived.understand();
        arrived
    }

    /// Understands the message that has been received into a blank one.
    #[inline]
    pub(crate) fn understand(&mut self) {
        // Data that is still with its sender is raw: there is no table.
        let is_remote = self.message.is_remote();
        let meta = if is_remote { encoding::RAW } else { self.message.meta };
        let bytes = crate::calls::bytes_of(&self.message);
        let there = if is_remote { self.message.length as usize } else { bytes.len() };
        self.length = there.saturating_sub(table_length(meta));
        self.xdr = meta & encoding::MASK == encoding::XDR;
        if meta & TYPED != 0 {
            self.runs = Some(runs_of(meta, bytes));
        }
    }

    /// Makes it blank again.
    #[inline]
    pub(crate) fn clear(&mut self) {
        (self.info, self._own, self.runs) = (None, None, None);
        (self.cursor, self.unpacked) = (0, 0);
    }

    /// A message whose data is not the engine's.
    pub(crate) fn own(envelope: Message, data: Box<[u8]>) -> Arrived {
        // A box's bytes stay where they are when it moves.
        let message = Message { data: data.as_ptr(), length: data.len() as u64, handle: 0, ..envelope };
        Arrived {
            info: Some(Box::new(Info { from: Some(message.from), to: Some(0), ..Info::default() })),
            ..Arrived::new(message)
        }
        .keeping(data)
    }

    fn keeping(self, data: Box<[u8]>) -> Arrived {
        Arrived { _own: Some(data), ..self }
    }

    /// Takes `bytes` of `class` off the front; returns their place. Nothing is taken on an error.
    pub(crate) fn take(&mut self, class: Class, bytes: usize) -> Pvm<usize> {
        self.check(class, bytes)?;
        let at = self.cursor;
        self.cursor += bytes;
        let mut left = bytes as u64;
        for run in self.runs.iter_mut().flatten().skip(self.unpacked) {
            if left == 0 {
                break;
            }
            let part = run.bytes().min(left);
            run.0 -= part;
            left -= part;
            self.unpacked += usize::from(run.bytes() == 0);
        }
        Ok(at)
    }

    /// Whether `bytes` of `class` can be taken.
    pub(crate) fn check(&self, class: Class, bytes: usize) -> Pvm<()> {
        if bytes > self.length - self.cursor {
            return Err(PvmError::NoData);
        }
        let Some(runs) = &self.runs else { return Ok(()) };
        let mut left = bytes as u64;
        for run in &runs[self.unpacked..] {
            if left == 0 {
                break;
            }
            if run.class() != class as u8 {
                return Err(PvmError::BadMsg);
            }
            left = left.saturating_sub(run.bytes());
        }
        Ok(())
    }
}

/// A buffer that has an id.
pub(crate) enum Buffer {
    Packed(Box<Packed>),
    Arrived(Box<Arrived>),
    /// Found by a probe; still to be received.
    Found(Box<Message>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(packed: &mut Packed) -> Arrived {
        let length = packed.length();
        packed.seal();
        assert_eq!(packed.length(), length, "the table is not data");
        Arrived::own(Message { meta: packed.meta(), ..Message::NONE }, packed.data.to_vec().into())
    }

    fn packed(runs: &[(Class, usize)]) -> Packed {
        let mut packed = Packed::new(Packing::Xdr, Memory::default());
        for &(class, bytes) in runs {
            let data = packed.open();
            data.resize(data.len() + bytes, 0);
            packed.add_run(class, bytes);
        }
        packed
    }

    #[test]
    fn unpack_checks_types_and_refusal_consumes_nothing() {
        let mut arrived = message(&mut packed(&[(Class::Int, 4), (Class::Int, 8), (Class::Double, 8)]));
        assert_eq!(arrived.length, 20);
        assert_eq!(arrived.take(Class::Double, 8), Err(PvmError::BadMsg));
        assert_eq!(arrived.take(Class::Int, 16), Err(PvmError::BadMsg), "it would reach into the double");
        assert_eq!(arrived.take(Class::Int, 12), Ok(0));
        assert_eq!(arrived.take(Class::Double, 16), Err(PvmError::NoData));
        assert_eq!(arrived.take(Class::Double, 8), Ok(12));
        assert_eq!(arrived.take(Class::Double, 1), Err(PvmError::NoData));
    }

    #[test]
    fn raw_data_unpacks_as_any_type() {
        let mut packed = packed(&[(Class::Int, 8)]);
        packed.packing = Packing::Raw;
        let mut arrived = message(&mut packed);
        assert_eq!(arrived.take(Class::Double, 8), Ok(0));
    }

    #[test]
    fn truncated_type_table_is_harmless() {
        let message = Message { meta: encoding::XDR | TYPED | 9 << 16, ..Message::NONE };
        let mut arrived = Arrived::own(message, [1, 2, 3].into());
        assert_eq!(arrived.take(Class::Int, 4), Err(PvmError::NoData));
    }
}
