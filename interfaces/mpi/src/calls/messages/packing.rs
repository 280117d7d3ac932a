//! Packing and unpacking, and external32.

use crate::calls::arguments::{CountTarget, array, array_mut, get, plain_text, put_at};
use crate::comms::handles::comm;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::{Data, checked_count, refuse_null};
use crate::objects::datatypes::datatype;
use parvum_api::pointers::Text;

pub unsafe fn mpi_pack(
    input: *const u8,
    count: i64,
    of: i32,
    output: *mut u8,
    room: i64,
    position: CountTarget,
    handle: i32,
) -> Mpi {
    comm(handle)?;
    let data = Data::new(input, count, of)?;
    // SAFETY: the caller's promise.
    unsafe {
        let at = checked_position(position.get()?, room)?;
        if data.length() as i64 > room - at {
            return Err(no_room(data.length(), room - at));
        }
        let bytes = data.packed();
        refuse_null(output, bytes.len())?;
        if !bytes.is_empty() {
            array_mut(output.add(at as usize), bytes.len())?.copy_from_slice(&bytes);
        }
        position.put(at + bytes.len() as i64)
    }
}

fn checked_position(at: i64, room: i64) -> Mpi<i64> {
    match (0..=room).contains(&at) {
        true => Ok(at),
        false => Err(Error::new(class::ARG, format!("position {at} in a buffer of {room} bytes"))),
    }
}

fn no_room(needs: usize, has: i64) -> Error {
    Error::new(class::TRUNCATE, format!("the data takes {needs} bytes, and the buffer has {has} left"))
}

pub unsafe fn mpi_unpack(
    input: *const u8,
    length: i64,
    position: CountTarget,
    output: *mut u8,
    count: i64,
    of: i32,
    handle: i32,
) -> Mpi {
    comm(handle)?;
    let data = Data::new(output, count, of)?;
    // SAFETY: the caller's promise.
    unsafe {
        let at = checked_position(position.get()?, length)?;
        if data.length() as i64 > length - at {
            return Err(no_room(data.length(), length - at));
        }
        refuse_null(input, data.length())?;
        if data.length() > 0 {
            data.unpack(array(input.add(at as usize), data.length())?);
        }
        position.put(at + data.length() as i64)
    }
}

pub fn pack_size(count: i64, of: i32, handle: i32, size: CountTarget) -> Mpi {
    comm(handle)?;
    let items = checked_count(count)? as i64;
    size.put(datatype(of)?.layout.size() * items)
}

fn checked_representation(name: Text<'_>) -> Mpi {
    match plain_text(name)?.as_str() {
        "external32" => Ok(()),
        other => Err(Error::new(class::ARG, format!("no data representation \"{other}\"; it is external32"))),
    }
}

pub unsafe fn pack_external_size(name: Text<'_>, count: i64, of: i32, size: *mut i64) -> Mpi {
    let items = checked_count(count)? as i64;
    // SAFETY: the caller's promise.
    unsafe {
        checked_representation(name)?;
        put_at(size, crate::objects::external::size(&datatype(of)?.layout, items)?)
    }
}

pub unsafe fn mpi_pack_external(
    name: Text<'_>,
    input: *const u8,
    count: i64,
    of: i32,
    output: *mut u8,
    room: i64,
    position: *mut i64,
) -> Mpi {
    let items = checked_count(count)? as i64;
    Data::new(input, count, of)?;
    // SAFETY: the caller's promise.
    unsafe {
        checked_representation(name)?;
        let layout = &datatype(of)?.layout;
        let at = checked_position(get(position)?, room)?;
        let bytes = crate::objects::external::pack(layout, items, input)?;
        if bytes.len() as i64 > room - at {
            return Err(no_room(bytes.len(), room - at));
        }
        refuse_null(output, bytes.len())?;
        if !bytes.is_empty() {
            array_mut(output.add(at as usize), bytes.len())?.copy_from_slice(&bytes);
        }
        put_at(position, at + bytes.len() as i64)
    }
}

pub unsafe fn mpi_unpack_external(
    name: Text<'_>,
    input: *const u8,
    length: i64,
    position: *mut i64,
    output: *mut u8,
    count: i64,
    of: i32,
) -> Mpi {
    let items = checked_count(count)? as i64;
    Data::new(output, count, of)?;
    // SAFETY: the caller's promise.
    unsafe {
        checked_representation(name)?;
        let layout = &datatype(of)?.layout;
        let at = checked_position(get(position)?, length)?;
        let needs = crate::objects::external::size(layout, items)?;
        if needs > length - at {
            return Err(no_room(needs as usize, length - at));
        }
        refuse_null(input, needs as usize)?;
        if needs > 0 {
            crate::objects::external::unpack(
                layout,
                items,
                output,
                array(input.add(at as usize), needs as usize)?,
            )?;
        }
        put_at(position, at + needs)
    }
}
