//! How datatypes are made.

use crate::calls::arguments::{Numbers, array, get, put, put_at};
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::checked_count;
use crate::objects::datatypes::{
    DATATYPES, Datatype, any_datatype, handle_of, is_predefined, keep, keep_of_precision, of_precision,
};
use crate::objects::numbers::*;
use parvum_api::pointers::Out;
use parvum_datatypes::{Basic, Class, Distribution, Order, Type};
use std::cell::Cell;
use std::ffi::c_int;

thread_local! {
    /// The program calls a constructor's form with large counts.
    static IN_LARGE_FORM: Cell<bool> = const { Cell::new(false) };
}

/// Calls a constructor in the form with large counts: the envelope of its type says so.
pub fn in_large_form(construct: impl FnOnce() -> Mpi) -> Mpi {
    IN_LARGE_FORM.set(true);
    let made = construct();
    IN_LARGE_FORM.set(false);
    made
}

/// Keeps a new type that is not committed.
fn put_type(place: Out<'_, c_int>, layout: Type) -> Mpi {
    let layout = if IN_LARGE_FORM.get() { layout.large() } else { layout };
    put(place, keep(Datatype::new(layout, false))?)
}

pub(in crate::calls) fn layout(handle: i32) -> Mpi<Type> {
    Ok(any_datatype(handle)?.layout.clone())
}

pub fn type_contiguous(count: i64, of: i32, place: Out<'_, c_int>) -> Mpi {
    put_type(place, Type::contiguous(count, &layout(of)?)?)
}

pub fn type_vector(count: i64, length: i64, stride: i64, of: i32, place: Out<'_, c_int>) -> Mpi {
    put_type(place, Type::vector(count, length, stride, &layout(of)?)?)
}

pub fn type_create_hvector(count: i64, length: i64, stride: i64, of: i32, place: Out<'_, c_int>) -> Mpi {
    put_type(place, Type::hvector(count, length, stride, &layout(of)?)?)
}

pub fn type_hvector(count: i64, length: i64, stride: i64, of: i32, place: Out<'_, c_int>) -> Mpi {
    type_create_hvector(count, length, stride, of, place)
}

pub unsafe fn type_indexed(
    count: i64,
    lengths: Numbers,
    displacements: Numbers,
    of: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let count = checked_count(count)?;
    // SAFETY: the caller's promise.
    unsafe {
        let made = Type::indexed(&lengths.all(count)?, &displacements.all(count)?, &layout(of)?)?;
        put_type(place, made)
    }
}

pub unsafe fn type_create_hindexed(
    count: i64,
    lengths: Numbers,
    displacements: Numbers,
    of: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let count = checked_count(count)?;
    // SAFETY: the caller's promise.
    unsafe {
        let made = Type::hindexed(&lengths.all(count)?, &displacements.all(count)?, &layout(of)?)?;
        put_type(place, made)
    }
}

pub unsafe fn type_hindexed(
    count: i64,
    lengths: Numbers,
    displacements: Numbers,
    of: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { type_create_hindexed(count, lengths, displacements, of, place) }
}

pub unsafe fn type_create_indexed_block(
    count: i64,
    length: i64,
    displacements: Numbers,
    of: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let count = checked_count(count)?;
    // SAFETY: the caller's promise.
    unsafe { put_type(place, Type::indexed_block(length, &displacements.all(count)?, &layout(of)?)?) }
}

pub unsafe fn type_create_hindexed_block(
    count: i64,
    length: i64,
    displacements: Numbers,
    of: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let count = checked_count(count)?;
    // SAFETY: the caller's promise.
    unsafe { put_type(place, Type::hindexed_block(length, &displacements.all(count)?, &layout(of)?)?) }
}

pub unsafe fn type_create_struct(
    count: i64,
    lengths: Numbers,
    displacements: Numbers,
    types: *const c_int,
    place: Out<'_, c_int>,
) -> Mpi {
    let count = checked_count(count)?;
    // SAFETY: the caller's promise.
    unsafe {
        let types = array(types, count)?.iter().map(|&of| layout(of)).collect::<Mpi<Vec<_>>>()?;
        let made = Type::structure(&lengths.all(count)?, &displacements.all(count)?, &types)?;
        put_type(place, made)
    }
}

pub unsafe fn type_struct(
    count: i64,
    lengths: Numbers,
    displacements: Numbers,
    types: *const c_int,
    place: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { type_create_struct(count, lengths, displacements, types, place) }
}

fn order(number: i32) -> Mpi<Order> {
    match number {
        ORDER_C => Ok(Order::C),
        ORDER_FORTRAN => Ok(Order::Fortran),
        _ => Err(Error::new(class::ARG, format!("{number} is no order of arrays"))),
    }
}

pub unsafe fn type_create_subarray(
    dimensions: i32,
    sizes: Numbers,
    subsizes: Numbers,
    starts: Numbers,
    ordered: i32,
    of: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let count = dimensions_of(dimensions)?;
    // SAFETY: the caller's promise.
    unsafe {
        let (sizes, subsizes, starts) = (sizes.all(count)?, subsizes.all(count)?, starts.all(count)?);
        put_type(place, Type::subarray(&sizes, &subsizes, &starts, order(ordered)?, &layout(of)?)?)
    }
}

fn dimensions_of(count: i32) -> Mpi<usize> {
    usize::try_from(count).map_err(|_| Error::new(class::ARG, format!("{count} dimensions")))
}

pub unsafe fn type_create_darray(
    size: i32,
    rank: i32,
    dimensions: i32,
    sizes: Numbers,
    distributions: *const c_int,
    lengths: *const c_int,
    grid: *const c_int,
    ordered: i32,
    of: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let count = dimensions_of(dimensions)?;
    // SAFETY: the caller's promise.
    unsafe {
        let distributed = |&number: &c_int| match number {
            DISTRIBUTE_BLOCK => Ok(Distribution::Block),
            DISTRIBUTE_CYCLIC => Ok(Distribution::Cyclic),
            DISTRIBUTE_NONE => Ok(Distribution::None),
            _ => Err(Error::new(class::ARG, format!("{number} is no distribution"))),
        };
        let distributions = array(distributions, count)?.iter().map(distributed).collect::<Mpi<Vec<_>>>()?;
        let given = |&length: &c_int| (length != DISTRIBUTE_DFLT_DARG).then_some(i64::from(length));
        let lengths: Vec<_> = array(lengths, count)?.iter().map(given).collect();
        let grid: Vec<i64> = array(grid, count)?.iter().map(|&places| i64::from(places)).collect();
        let (size, rank) = (i64::from(size), i64::from(rank));
        let (sizes, ordered, of) = (sizes.all(count)?, order(ordered)?, layout(of)?);
        let made = Type::darray(size, rank, &sizes, &distributions, &lengths, &grid, ordered, &of)?;
        put_type(place, made)
    }
}

pub fn type_create_resized(of: i32, lb: i64, extent: i64, place: Out<'_, c_int>) -> Mpi {
    put_type(place, Type::resized(lb, extent, &layout(of)?)?)
}

pub fn type_dup(of: i32, place: Out<'_, c_int>) -> Mpi {
    let old = any_datatype(of)?;
    let copy = Datatype::new(Type::dup(&old.layout), old.is_committed());
    let copy = copy.with_attributes(old.attributes.copied(of)?);
    put(place, keep(copy)?)
}

pub unsafe fn type_commit(place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    let found = any_datatype(unsafe { get(place)? })?;
    found.layout.commit();
    found.commit();
    Ok(())
}

pub unsafe fn type_free(place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    let handle = unsafe { get(place)? };
    let found = any_datatype(handle)?;
    if is_predefined(handle) || of_precision(&found.layout).is_some() {
        return Err(Error::new(class::TYPE, "a predefined datatype cannot be freed"));
    }
    found.attributes.delete_all(handle)?;
    DATATYPES.remove(handle);
    // SAFETY: likewise.
    unsafe { put_at(place, DATATYPE_NULL) }
}

/// What Fortran asks for: a precision or range may be left open.
fn given(number: i32) -> Option<i64> {
    (number != UNDEFINED).then_some(i64::from(number))
}

fn put_f90(place: Out<'_, c_int>, layout: Type) -> Mpi {
    put(place, keep_of_precision(layout)?)
}

pub fn type_create_f90_real(precision: i32, range: i32, place: Out<'_, c_int>) -> Mpi {
    put_f90(place, Type::f90_real(given(precision), given(range))?)
}

pub fn type_create_f90_complex(precision: i32, range: i32, place: Out<'_, c_int>) -> Mpi {
    put_f90(place, Type::f90_complex(given(precision), given(range))?)
}

pub fn type_create_f90_integer(range: i32, place: Out<'_, c_int>) -> Mpi {
    put_f90(place, Type::f90_integer(i64::from(range))?)
}

pub fn type_match_size(kind: i32, size: i32, place: Out<'_, c_int>) -> Mpi {
    let class = match kind {
        TYPECLASS_REAL => Class::Real,
        TYPECLASS_INTEGER => Class::Integer,
        TYPECLASS_COMPLEX => Class::Complex,
        _ => return Err(Error::new(class::ARG, format!("{kind} is no class of types"))),
    };
    let sized = match (class, size) {
        (Class::Real, 2) => Basic::Real2,
        (Class::Real, 4) => Basic::Real4,
        (Class::Real, 8) => Basic::Real8,
        (Class::Real, 16) => Basic::Real16,
        (Class::Integer, 1) => Basic::Integer1,
        (Class::Integer, 2) => Basic::Integer2,
        (Class::Integer, 4) => Basic::Integer4,
        (Class::Integer, 8) => Basic::Integer8,
        (Class::Integer, 16) => Basic::Integer16,
        (Class::Complex, 4) => Basic::Complex4,
        (Class::Complex, 8) => Basic::Complex8,
        (Class::Complex, 16) => Basic::Complex16,
        (Class::Complex, 32) => Basic::Complex32,
        _ => return Err(Error::new(class::ARG, format!("no such type has {size} bytes"))),
    };
    put(place, handle_of(sized))
}

pub fn type_get_value_index(value: i32, index: i32, place: Out<'_, c_int>) -> Mpi {
    let (value, index) = (layout(value)?.as_basic(), layout(index)?.as_basic());
    let pair = value.zip(index).and_then(|(value, index)| Basic::pair_of(value, index));
    put(place, pair.map_or(DATATYPE_NULL, handle_of))
}
