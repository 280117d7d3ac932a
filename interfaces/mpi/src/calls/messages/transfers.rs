//! Reading and writing files: each at an offset, at the own pointer or at the pointer of all; blocking, begun, or in two halves.

use crate::calls::arguments::put;
use crate::calls::files::{file, first_says};
use crate::calls::messages::point_to_point::tell;
use crate::comms::create::say_to_all;
use crate::errors::{Error, Mpi, class};
use crate::files::file::{File, Representation};
use crate::files::places::{Deed, beyond};
use crate::messages::buffers::Data;
use crate::messages::status::Status;
use crate::objects::datatypes::datatype;
use crate::process::this::process;
use crate::requests::operations::Operation;
use crate::requests::outcome::Outcome;
use parvum_api::pointers::Out;
use std::ffi::c_int;
use std::sync::PoisonError;

/// Where in a file data is read or written.
#[derive(Clone, Copy)]
enum At {
    Offset(i64),
    /// At the process's own pointer, which moves on.
    Own,
    /// At the pointer of all, which moves on.
    Shared,
    /// Likewise, one rank behind the other.
    Ordered,
}

/// The data as it lies in the file, or is to lie.
fn stream_length(file: &File, of: i32, count: i64) -> Mpi<i64> {
    let layout = datatype(of)?.layout.clone();
    let items = crate::messages::buffers::checked_count(count)? as i64;
    match file.view().representation {
        Representation::External => crate::objects::external::size(&layout, items),
        _ => Ok(layout.size() * items),
    }
}

/// The place of this transfer, in etypes; pointers move on.
fn place(file: &File, at: At, length: i64) -> Mpi<i64> {
    let steps = length / file.view().unit;
    match at {
        At::Offset(offset) if offset < 0 => Err(Error::new(class::ARG, format!("the offset is {offset}"))),
        At::Offset(offset) => Ok(offset),
        At::Own => file.change_view(|view| view.advance(steps)),
        At::Shared => file.pointer.act(process()?, Deed::Advance(steps)),
        At::Ordered => {
            // Who hears all others' lengths knows that they have ended what they did before.
            let all = say_to_all(&file.comm, &steps.to_ne_bytes())?;
            let number = |bytes: &[u8]| i64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes"));
            let sum = |all: &[Vec<u8>]| {
                all.iter().try_fold(0i64, |sum, bytes| sum.checked_add(number(bytes))).ok_or_else(beyond)
            };
            let (before, whole) = (sum(&all[..file.comm.rank()])?, sum(&all)?);
            let now = first_says(file, || file.pointer.act(process()?, Deed::Advance(whole)))?;
            now.checked_add(before).ok_or_else(beyond)
        }
    }
}

fn transfer_written(handle: i32, at: At, buffer: *const u8, count: i64, of: i32) -> Mpi<Outcome> {
    let file = file(handle)?;
    let data = Data::new(buffer, count, of)?;
    let length = stream_length(&file, of, count)?;
    let at = place(&file, at, length)?;
    let bytes = match file.view().representation {
        // SAFETY: the program promises the data of its call.
        Representation::External => unsafe {
            crate::objects::external::pack(&datatype(of)?.layout, count, buffer)?
        },
        _ => data.packed(),
    };
    file.write(at, &bytes)?;
    Ok(Outcome::of(Status { source: 0, tag: 0, ..Status::of(0, 0, data.length() as u64) }))
}

fn transfer_read(handle: i32, at: At, buffer: *mut u8, count: i64, of: i32) -> Mpi<Outcome> {
    let file = file(handle)?;
    let data = Data::new(buffer, count, of)?;
    let length = stream_length(&file, of, count)?;
    let at = place(&file, at, length)?;
    let mut bytes = vec![0; length as usize];
    let got = file.read(at, &mut bytes)?;
    let here = match file.view().representation {
        Representation::External => {
            let layout = datatype(of)?.layout.clone();
            let whole = got as i64 / crate::objects::external::size(&layout, 1)?.max(1);
            let used = crate::objects::external::size(&layout, whole)? as usize;
            // SAFETY: the program promises room for the data of its call.
            unsafe { crate::objects::external::unpack(&layout, whole, buffer, &bytes[..used])? };
            (whole * layout.size()) as u64
        }
        _ => {
            data.unpack(&bytes[..got]);
            got as u64
        }
    };
    Ok(Outcome::of(Status::of(0, 0, here)))
}

/// For each way to a place: blocking, begun, and in two calls.
macro_rules! transfers {
    ($($read:ident $write:ident ($($offset:ident)?) $at:expr;)*) => {$(
        pub unsafe fn $read(
            file: i32, $($offset: i64,)? buffer: *mut u8, count: i64, of: i32, status: *mut Status,
        ) -> Mpi {
            let outcome = transfer_read(file, $at, buffer, count, of)?;
            // SAFETY: the caller's promise.
            unsafe { tell(outcome, status) }
        }

        pub unsafe fn $write(
            file: i32, $($offset: i64,)? buffer: *const u8, count: i64, of: i32, status: *mut Status,
        ) -> Mpi {
            let outcome = transfer_written(file, $at, buffer, count, of)?;
            // SAFETY: the caller's promise.
            unsafe { tell(outcome, status) }
        }
    )*};
}

transfers! {
    file_read file_write () At::Own;
    file_read_all file_write_all () At::Own;
    file_read_at file_write_at (offset) At::Offset(offset);
    file_read_at_all file_write_at_all (offset) At::Offset(offset);
    file_read_shared file_write_shared () At::Shared;
    file_read_ordered file_write_ordered () At::Ordered;
}

macro_rules! begun {
    ($($read:ident $write:ident ($($offset:ident)?) $at:expr;)*) => {$(
        pub unsafe fn $read(
            file: i32, $($offset: i64,)? buffer: *mut u8, count: i64, of: i32, request: Out<'_, c_int>,
        ) -> Mpi {
            let outcome = transfer_read(file, $at, buffer, count, of)?;
            put(request, crate::requests::handles::keep(Operation::over(outcome, crate::objects::numbers::COMM_SELF))?)
        }

        pub unsafe fn $write(
            file: i32, $($offset: i64,)? buffer: *const u8, count: i64, of: i32, request: Out<'_, c_int>,
        ) -> Mpi {
            let outcome = transfer_written(file, $at, buffer, count, of)?;
            put(request, crate::requests::handles::keep(Operation::over(outcome, crate::objects::numbers::COMM_SELF))?)
        }
    )*};
}

begun! {
    file_iread file_iwrite () At::Own;
    file_iread_all file_iwrite_all () At::Own;
    file_iread_at file_iwrite_at (offset) At::Offset(offset);
    file_iread_at_all file_iwrite_at_all (offset) At::Offset(offset);
    file_iread_shared file_iwrite_shared () At::Shared;
}

fn start_split(handle: i32, outcome: impl FnOnce() -> Mpi<Outcome>) -> Mpi {
    let file = file(handle)?;
    if file.begun.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
        return Err(Error::new(
            class::OTHER,
            "a split collective call is under way on this file already; end it first",
        ));
    }
    let outcome = outcome()?;
    *file.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome.status.bytes());
    Ok(())
}

unsafe fn end_split(handle: i32, status: *mut Status) -> Mpi {
    let begun = file(handle)?.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
    let bytes = begun
        .ok_or_else(|| Error::new(class::OTHER, "no split collective call is under way on this file"))?;
    // SAFETY: the caller's promise.
    unsafe { tell(Outcome::of(Status::of(0, 0, bytes)), status) }
}

macro_rules! split {
    ($($begin_read:ident $end_read:ident $begin_write:ident $end_write:ident ($($offset:ident)?) $at:expr;)*) => {$(
        pub unsafe fn $begin_read(file: i32, $($offset: i64,)? buffer: *mut u8, count: i64, of: i32) -> Mpi {
            start_split(file, || transfer_read(file, $at, buffer, count, of))
        }

        pub unsafe fn $begin_write(file: i32, $($offset: i64,)? buffer: *const u8, count: i64, of: i32) -> Mpi {
            start_split(file, || transfer_written(file, $at, buffer, count, of))
        }

        pub unsafe fn $end_read(file: i32, _buffer: *mut u8, status: *mut Status) -> Mpi {
            // SAFETY: the caller's promise.
            unsafe { end_split(file, status) }
        }

        pub unsafe fn $end_write(file: i32, _buffer: *const u8, status: *mut Status) -> Mpi {
            // SAFETY: the caller's promise.
            unsafe { end_split(file, status) }
        }
    )*};
}

split! {
    file_read_all_begin file_read_all_end file_write_all_begin file_write_all_end () At::Own;
    file_read_at_all_begin file_read_at_all_end file_write_at_all_begin file_write_at_all_end (offset) At::Offset(offset);
    file_read_ordered_begin file_read_ordered_end file_write_ordered_begin file_write_ordered_end () At::Ordered;
}
