//! What a datatype is asked: its size and extent, its name, how it was made.

use crate::calls::arguments::{CountTarget, array_mut, give_text, length_of, put, text};
use crate::calls::objects::types::layout;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::checked_count;
use crate::objects::datatypes::{any_datatype, handle_within};
use crate::objects::numbers::*;
use parvum_api::pointers::{Out, Text};
use parvum_datatypes::{Combiner, Words};
use std::ffi::{c_char, c_int};

pub fn type_size(of: i32, size: CountTarget) -> Mpi {
    size.put(layout(of)?.size())
}

pub fn type_size_x(of: i32, size: Out<'_, i64>) -> Mpi {
    put(size, layout(of)?.size())
}

pub fn type_get_extent(of: i32, lb: Out<'_, i64>, extent: Out<'_, i64>) -> Mpi {
    let layout = layout(of)?;
    put(lb, layout.lb())?;
    put(extent, layout.extent())
}

pub fn type_get_extent_x(of: i32, lb: Out<'_, i64>, extent: Out<'_, i64>) -> Mpi {
    type_get_extent(of, lb, extent)
}

pub fn type_get_true_extent(of: i32, lb: Out<'_, i64>, extent: Out<'_, i64>) -> Mpi {
    let layout = layout(of)?;
    put(lb, layout.true_lb())?;
    put(extent, layout.true_extent())
}

pub fn type_get_true_extent_x(of: i32, lb: Out<'_, i64>, extent: Out<'_, i64>) -> Mpi {
    type_get_true_extent(of, lb, extent)
}

pub fn type_extent(of: i32, extent: Out<'_, i64>) -> Mpi {
    put(extent, layout(of)?.extent())
}

pub fn type_lb(of: i32, lb: Out<'_, i64>) -> Mpi {
    put(lb, layout(of)?.lb())
}

pub fn type_ub(of: i32, ub: Out<'_, i64>) -> Mpi {
    let layout = layout(of)?;
    put(ub, layout.lb() + layout.extent())
}

pub fn type_set_name(of: i32, name: Text<'_>) -> Mpi {
    any_datatype(of)?.set_name(text(name)?);
    Ok(())
}

pub unsafe fn type_get_name(of: i32, name: *mut c_char, length: Out<'_, c_int>) -> Mpi {
    let text = if of == DATATYPE_NULL { b"MPI_DATATYPE_NULL".to_vec() } else { any_datatype(of)?.name(of) };
    // SAFETY: the caller's promise.
    unsafe {
        let written = give_text(name, MAX_OBJECT_NAME, &text)?;
        put(length, written)
    }
}

/// The words of constructors' arguments.
pub(in crate::calls) const WORDS: Words = Words {
    order_c: ORDER_C as i64,
    order_fortran: ORDER_FORTRAN as i64,
    block: DISTRIBUTE_BLOCK as i64,
    cyclic: DISTRIBUTE_CYCLIC as i64,
    none: DISTRIBUTE_NONE as i64,
    default: DISTRIBUTE_DFLT_DARG as i64,
    undefined: UNDEFINED as i64,
};

fn number_of(combiner: Combiner) -> i32 {
    match combiner {
        Combiner::Named => 1,
        Combiner::Dup => 2,
        Combiner::Contiguous => 3,
        Combiner::Vector => 4,
        Combiner::Hvector => 6,
        Combiner::Indexed => 7,
        Combiner::Hindexed => 9,
        Combiner::IndexedBlock => 10,
        Combiner::Struct => 12,
        Combiner::Subarray => 13,
        Combiner::Darray => 14,
        Combiner::F90Real => 15,
        Combiner::F90Complex => 16,
        Combiner::F90Integer => 17,
        Combiner::Resized => 18,
        Combiner::HindexedBlock => 19,
    }
}

pub fn type_get_envelope(
    of: i32,
    integers: Out<'_, c_int>,
    addresses: Out<'_, c_int>,
    types: Out<'_, c_int>,
    combiner: Out<'_, c_int>,
) -> Mpi {
    let envelope = layout(of)?.envelope();
    if envelope.large > 0 {
        let text = "the datatype was made with large counts: call MPI_Type_get_envelope_c";
        return Err(Error::new(class::TYPE, text));
    }
    put(integers, envelope.integers as c_int)?;
    put(addresses, envelope.addresses as c_int)?;
    put(types, envelope.types as c_int)?;
    put(combiner, number_of(envelope.combiner))
}

pub fn type_get_envelope_c(
    of: i32,
    integers: Out<'_, i64>,
    addresses: Out<'_, i64>,
    large: Out<'_, i64>,
    types: Out<'_, i64>,
    combiner: Out<'_, c_int>,
) -> Mpi {
    let envelope = layout(of)?.envelope();
    put(integers, envelope.integers as i64)?;
    put(addresses, envelope.addresses as i64)?;
    put(large, envelope.large as i64)?;
    put(types, envelope.types as i64)?;
    put(combiner, number_of(envelope.combiner))
}

pub unsafe fn type_get_contents(
    of: i32,
    most_integers: i32,
    most_addresses: i32,
    most_types: i32,
    integers: *mut c_int,
    addresses: *mut i64,
    types: *mut c_int,
) -> Mpi {
    let [integer_room, address_room, type_room] =
        [length_of(most_integers)?, length_of(most_addresses)?, length_of(most_types)?];
    // SAFETY: the caller's promise.
    unsafe {
        contents(
            of,
            [integer_room, address_room, 0, type_room],
            (integers, addresses, std::ptr::null_mut(), types),
        )
    }
}

pub unsafe fn type_get_contents_c(
    of: i32,
    most_integers: i64,
    most_addresses: i64,
    most_large: i64,
    most_types: i64,
    integers: *mut c_int,
    addresses: *mut i64,
    large: *mut i64,
    types: *mut c_int,
) -> Mpi {
    let rooms = [
        checked_count(most_integers)?,
        checked_count(most_addresses)?,
        checked_count(most_large)?,
        checked_count(most_types)?,
    ];
    // SAFETY: the caller's promise.
    unsafe { contents(of, rooms, (integers, addresses, large, types)) }
}

unsafe fn contents(
    of: i32,
    rooms: [usize; 4],
    (integers, addresses, large, types): (*mut c_int, *mut i64, *mut i64, *mut c_int),
) -> Mpi {
    let layout = layout(of)?;
    if layout.envelope().combiner == Combiner::Named {
        return Err(Error::new(class::TYPE, "a predefined datatype has no contents"));
    }
    let found = layout.contents_in(&WORDS);
    let lengths = [found.integers.len(), found.addresses.len(), found.large.len(), found.types.len()];
    if lengths.iter().zip(rooms).any(|(&length, room)| length > room) {
        return Err(Error::new(class::ARG, "the arrays are shorter than the datatype's contents"));
    }
    // SAFETY: the caller's promise.
    unsafe {
        for (place, &number) in array_mut(integers, lengths[0])?.iter_mut().zip(&found.integers) {
            *place = number as c_int;
        }
        array_mut(addresses, lengths[1])?.copy_from_slice(&found.addresses);
        array_mut(large, lengths[2])?.copy_from_slice(&found.large);
        for (place, inner) in array_mut(types, lengths[3])?.iter_mut().zip(found.types) {
            *place = handle_within(inner)?;
        }
    }
    Ok(())
}
