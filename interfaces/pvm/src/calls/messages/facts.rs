//! Properties of messages, and messages inside messages: pvm_getminfo(3), pvm_pkmesg(3) ...

use crate::buffers::buffer::{Arrived, Buffer, DATA_SIGNATURE, Info, Packing};
use crate::errors::{Pvm, PvmError, is_any};
use crate::state::{Locked, call, call_but};
use parvum_api::Message;
use parvum_api::pointers::{In, Out};
use parvum_wire::encoding;
use std::ffi::c_int;

/// `struct pvmminfo`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MessageInfo {
    length: c_int,
    context: c_int,
    tag: c_int,
    wait_id: c_int,
    encoding: c_int,
    checksum: c_int,
    from: c_int,
    to: c_int,
}

/// PVM's numbers for encodings; raw data has the signature of its machine.
const XDR: c_int = 0x1000_0000;
const IN_PLACE: c_int = 0x2000_0000;

impl Locked {
    fn message_info(&mut self, id: c_int) -> Pvm<MessageInfo> {
        let me = self.me().map_or(0, |me| me.tid);
        let info = self.info(id)?;
        let (length, encoding) = match self.buffer(id)? {
            Buffer::Packed(packed) => {
                let number = match packed.packing {
                    Packing::Xdr => XDR,
                    Packing::Raw => DATA_SIGNATURE,
                    Packing::InPlace => IN_PLACE,
                };
                (packed.length(), number)
            }
            Buffer::Arrived(arrived) => (arrived.length, if arrived.xdr { XDR } else { DATA_SIGNATURE }),
            Buffer::Found(found) => {
                let xdr = found.meta & encoding::MASK == encoding::XDR;
                let length =
                    (found.length as usize).saturating_sub(crate::buffers::buffer::table_length(found.meta));
                (length, if xdr { XDR } else { DATA_SIGNATURE })
            }
        };
        Ok(MessageInfo {
            length: c_int::try_from(length).unwrap_or(c_int::MAX),
            context: info.context,
            tag: info.tag,
            wait_id: info.wait_id,
            encoding,
            checksum: info.checksum,
            from: info.from.unwrap_or(me),
            to: info.to.unwrap_or(me),
        })
    }
}

/// The properties of a message.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getminfo(id: c_int, info: Out<'_, MessageInfo>) -> c_int {
    call("pvm_getminfo", |state| {
        let found = state.message_info(id)?;
        if info.is_null() {
            return Err(PvmError::BadParam);
        }
        info.put(found);
        Ok(0)
    })
}

/// Sets what is known of a message: context, tag, wait id, checksum, sender and receiver. Its
/// length and encoding stay as they are, for they are facts.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_setminfo(id: c_int, info: In<'_, MessageInfo>) -> c_int {
    call("pvm_setminfo", |state| {
        state.buffer(id)?;
        let &MessageInfo { context, tag, wait_id, checksum, from, to, .. } =
            info.get().ok_or(PvmError::BadParam)?;
        state.set_info(id, Info { context, tag, wait_id, checksum, from: Some(from), to: Some(to) })
    })
}

/// The wait id of a message (PVM 3.3).
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getmwid(id: c_int) -> c_int {
    call("pvm_getmwid", |state| state.info(id).map(|info| info.wait_id))
}

/// Sets the wait id of a message (PVM 3.3).
#[unsafe(no_mangle)]
pub extern "C" fn pvm_setmwid(id: c_int, wait_id: c_int) -> c_int {
    call("pvm_setmwid", |state| {
        let info = state.info(id)?;
        state.set_info(id, Info { wait_id, ..info })
    })
}

/// Packs a whole message, with its properties, into the active send buffer.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_pkmesg(id: c_int) -> c_int {
    call_but("pvm_pkmesg", is_any, |state| {
        state.packing()?;
        if id == state.sending {
            return Err(PvmError::BadParam);
        }
        let MessageInfo { length, context, tag, wait_id, encoding, checksum, from, to } =
            state.message_info(id)?;
        let (meta, data) = state.whole(id)?;
        let data = &data[..data.len() - crate::buffers::buffer::table_length(meta)];
        // The bytes that follow are counted once more, as those of any array packed this way.
        for number in [length, context, tag, wait_id, encoding, checksum, from, to, length] {
            crate::calls::messages::packing::pack_number(state, number)?;
        }
        crate::calls::messages::packing::pack_bytes(state, data)
    })
}

/// Packs what a message holds into the active send buffer, which must have the same encoding.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_pkmesgbody(id: c_int) -> c_int {
    call_but("pvm_pkmesgbody", is_any, |state| {
        let xdr = state.packing()?.packing == Packing::Xdr;
        if id == state.sending {
            return Err(PvmError::BadParam);
        }
        let (meta, data) = state.whole(id)?;
        if (meta & encoding::MASK == encoding::XDR) != xdr {
            return Err(PvmError::Mismatch);
        }
        let runs = crate::buffers::buffer::runs_of(meta, &data);
        let data = &data[..data.len() - crate::buffers::buffer::table_length(meta)];
        state.on_packed(data.len(), |packed| packed.append_body(data, &runs))
    })
}

/// Unpacks a message that `pvm_pkmesg` packed into a new buffer; gives its id.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_upkmesg() -> c_int {
    call_but("pvm_upkmesg", is_any, |state| {
        let mut words = [0; 9];
        for word in &mut words {
            *word = crate::calls::messages::packing::unpack_number(state)?;
        }
        let [length, context, tag, wait_id, encoding, checksum, from, to, following] = words;
        // These bytes were never a message: the error is the same as for a message that is too short.
        let Ok(count) = usize::try_from(length) else { return Err(PvmError::NoData) };
        if following != length {
            return Err(PvmError::NoData);
        }
        let data = crate::calls::messages::packing::unpack_bytes(state, count)?;
        let meta = if encoding == XDR { encoding::XDR } else { encoding::RAW };
        let envelope = Message { from, tag, context: context as u32, meta, ..Message::NONE };
        let id = state.keep(Buffer::Arrived(Box::new(Arrived::own(envelope, data.into()))));
        state.set_info(id, Info { context, tag, wait_id, checksum, from: Some(from), to: Some(to) })?;
        Ok(id)
    })
}
