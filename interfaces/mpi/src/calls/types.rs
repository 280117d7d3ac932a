//! Datatypes, and packing by them.

use super::{Numbers, Place, array, array_mut, get, give_text, length_of, put, text};
use crate::buffers::{Data, checked_count};
use crate::comm::comm;
use crate::datatypes::{DATATYPES, Datatype, any_datatype, datatype, handle_of, is_predefined, keep};
use crate::errors::{Error, Mpi, class};
use crate::numbers::*;
use crate::status::Status;
use parvum_datatypes::{Basic, Class, Combiner, Distribution, Order, Type, Words};
use std::ffi::{c_char, c_int};

/// Keeps a new type that is not committed.
unsafe fn put_type(place: *mut c_int, layout: Type) -> Mpi {
    // Counts that no int holds are asked for with the large form alone.
    let is_large = |number: &i64| i32::try_from(*number).is_err();
    let layout =
        if layout.contents_in(&WORDS).integers.iter().any(is_large) { layout.large() } else { layout };
    // SAFETY: the caller's promise.
    unsafe { put(place, keep(Datatype::new(layout, false))?) }
}

fn layout(handle: i32) -> Mpi<Type> {
    Ok(any_datatype(handle)?.layout.clone())
}

pub unsafe fn type_contiguous(count: i64, of: i32, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put_type(place, Type::contiguous(count, &layout(of)?)?) }
}

pub unsafe fn type_vector(count: i64, length: i64, stride: i64, of: i32, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put_type(place, Type::vector(count, length, stride, &layout(of)?)?) }
}

pub unsafe fn type_create_hvector(count: i64, length: i64, stride: i64, of: i32, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put_type(place, Type::hvector(count, length, stride, &layout(of)?)?) }
}

pub unsafe fn type_hvector(count: i64, length: i64, stride: i64, of: i32, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { type_create_hvector(count, length, stride, of, place) }
}

pub unsafe fn type_indexed(
    count: i64,
    lengths: Numbers,
    displacements: Numbers,
    of: i32,
    place: *mut c_int,
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
    place: *mut c_int,
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
    place: *mut c_int,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { type_create_hindexed(count, lengths, displacements, of, place) }
}

pub unsafe fn type_create_indexed_block(
    count: i64,
    length: i64,
    displacements: Numbers,
    of: i32,
    place: *mut c_int,
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
    place: *mut c_int,
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
    place: *mut c_int,
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
    place: *mut c_int,
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
    place: *mut c_int,
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
    place: *mut c_int,
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

pub unsafe fn type_create_resized(of: i32, lb: i64, extent: i64, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put_type(place, Type::resized(lb, extent, &layout(of)?)?) }
}

pub unsafe fn type_dup(of: i32, place: *mut c_int) -> Mpi {
    let old = any_datatype(of)?;
    let copy = Datatype::new(Type::dup(&old.layout), old.is_committed());
    let copy = copy.with_attributes(old.attributes.copied(of)?);
    // SAFETY: the caller's promise.
    unsafe { put(place, keep(copy)?) }
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
    if is_predefined(handle) {
        return Err(Error::new(class::TYPE, "a predefined datatype cannot be freed"));
    }
    found.attributes.delete_all(handle)?;
    DATATYPES.remove(handle);
    // SAFETY: likewise.
    unsafe { put(place, DATATYPE_NULL) }
}

/// What Fortran asks for: a precision or range may be left open.
fn given(number: i32) -> Option<i64> {
    (number != UNDEFINED).then_some(i64::from(number))
}

/// Types that Fortran asks for by precision are named anew each time, and are committed.
unsafe fn put_f90(place: *mut c_int, layout: Type) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(place, keep(Datatype::new(layout, true))?) }
}

pub unsafe fn type_create_f90_real(precision: i32, range: i32, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put_f90(place, Type::f90_real(given(precision), given(range))?) }
}

pub unsafe fn type_create_f90_complex(precision: i32, range: i32, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put_f90(place, Type::f90_complex(given(precision), given(range))?) }
}

pub unsafe fn type_create_f90_integer(range: i32, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put_f90(place, Type::f90_integer(i64::from(range))?) }
}

pub unsafe fn type_match_size(kind: i32, size: i32, place: *mut c_int) -> Mpi {
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
    // SAFETY: the caller's promise.
    unsafe { put(place, handle_of(sized)) }
}

pub unsafe fn type_get_value_index(value: i32, index: i32, place: *mut c_int) -> Mpi {
    let (value, index) = (layout(value)?.as_basic(), layout(index)?.as_basic());
    let pair = value.zip(index).and_then(|(value, index)| Basic::pair_of(value, index));
    // SAFETY: the caller's promise.
    unsafe { put(place, pair.map_or(DATATYPE_NULL, handle_of)) }
}

pub unsafe fn type_size(of: i32, size: Place) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { size.put(layout(of)?.size()) }
}

pub unsafe fn type_size_x(of: i32, size: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(size, layout(of)?.size()) }
}

pub unsafe fn type_get_extent(of: i32, lb: *mut i64, extent: *mut i64) -> Mpi {
    let layout = layout(of)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(lb, layout.lb())?;
        put(extent, layout.extent())
    }
}

pub unsafe fn type_get_extent_x(of: i32, lb: *mut i64, extent: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { type_get_extent(of, lb, extent) }
}

pub unsafe fn type_get_true_extent(of: i32, lb: *mut i64, extent: *mut i64) -> Mpi {
    let layout = layout(of)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(lb, layout.true_lb())?;
        put(extent, layout.true_extent())
    }
}

pub unsafe fn type_get_true_extent_x(of: i32, lb: *mut i64, extent: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { type_get_true_extent(of, lb, extent) }
}

pub unsafe fn type_extent(of: i32, extent: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(extent, layout(of)?.extent()) }
}

pub unsafe fn type_lb(of: i32, lb: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(lb, layout(of)?.lb()) }
}

pub unsafe fn type_ub(of: i32, ub: *mut i64) -> Mpi {
    let layout = layout(of)?;
    // SAFETY: the caller's promise.
    unsafe { put(ub, layout.lb() + layout.extent()) }
}

pub unsafe fn type_set_name(of: i32, name: *const c_char) -> Mpi {
    // SAFETY: the caller's promise.
    any_datatype(of)?.set_name(unsafe { text(name)? });
    Ok(())
}

pub unsafe fn type_get_name(of: i32, name: *mut c_char, length: *mut c_int) -> Mpi {
    let text = if of == DATATYPE_NULL { "MPI_DATATYPE_NULL".to_owned() } else { any_datatype(of)?.name(of) };
    // SAFETY: the caller's promise.
    unsafe {
        let written = give_text(name, MAX_OBJECT_NAME, &text)?;
        put(length, written)
    }
}

/// The words of constructors' arguments.
const WORDS: Words = Words {
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

pub unsafe fn type_get_envelope(
    of: i32,
    integers: *mut c_int,
    addresses: *mut c_int,
    types: *mut c_int,
    combiner: *mut c_int,
) -> Mpi {
    let envelope = layout(of)?.envelope();
    // SAFETY: the caller's promise.
    unsafe {
        put(integers, envelope.integers as c_int)?;
        put(addresses, envelope.addresses as c_int)?;
        put(types, envelope.types as c_int)?;
        put(combiner, number_of(envelope.combiner))
    }
}

pub unsafe fn type_get_envelope_c(
    of: i32,
    integers: *mut i64,
    addresses: *mut i64,
    large: *mut i64,
    types: *mut i64,
    combiner: *mut c_int,
) -> Mpi {
    let envelope = layout(of)?.envelope();
    // SAFETY: the caller's promise.
    unsafe {
        put(integers, envelope.integers as i64)?;
        put(addresses, envelope.addresses as i64)?;
        put(large, envelope.large as i64)?;
        put(types, envelope.types as i64)?;
        put(combiner, number_of(envelope.combiner))
    }
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
            *place = match inner.as_basic() {
                Some(basic) => handle_of(basic),
                None => keep(Datatype::new(inner, true))?,
            };
        }
    }
    Ok(())
}

pub unsafe fn get_count(status: *const Status, of: i32, count: Place) -> Mpi {
    let layout = layout(of)?;
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = get(status)?.bytes() as i64;
        count.put(layout.count_in(bytes).unwrap_or(i64::from(UNDEFINED)))
    }
}

pub unsafe fn get_elements(status: *const Status, of: i32, count: Place) -> Mpi {
    let layout = layout(of)?;
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = get(status)?.bytes() as i64;
        count.put(layout.elements_in(bytes).unwrap_or(i64::from(UNDEFINED)))
    }
}

pub unsafe fn get_elements_x(status: *const Status, of: i32, count: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { get_elements(status, of, Place::wide(count)) }
}

pub unsafe fn status_set_elements(status: *mut Status, of: i32, count: i64) -> Mpi {
    let layout = layout(of)?;
    checked_count(count)?;
    // SAFETY: the caller's promise.
    unsafe {
        let mut told = get(status)?;
        told.set_bytes(layout.bytes_of(count).unwrap_or(0) as u64);
        put(status, told)
    }
}

pub unsafe fn status_set_elements_x(status: *mut Status, of: i32, count: i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { status_set_elements(status, of, count) }
}

pub unsafe fn mpi_pack(
    input: *const u8,
    count: i64,
    of: i32,
    output: *mut u8,
    room: i64,
    position: Place,
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
    position: Place,
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
        if data.length() > 0 {
            data.unpack(array(input.add(at as usize), data.length())?);
        }
        position.put(at + data.length() as i64)
    }
}

pub unsafe fn pack_size(count: i64, of: i32, handle: i32, size: Place) -> Mpi {
    comm(handle)?;
    let items = checked_count(count)? as i64;
    // SAFETY: the caller's promise.
    unsafe { size.put(datatype(of)?.layout.size() * items) }
}

unsafe fn checked_representation(name: *const c_char) -> Mpi {
    // SAFETY: the caller's promise.
    match unsafe { text(name)? }.as_str() {
        "external32" => Ok(()),
        other => Err(Error::new(class::ARG, format!("no data representation \"{other}\"; it is external32"))),
    }
}

pub unsafe fn pack_external_size(name: *const c_char, count: i64, of: i32, size: *mut i64) -> Mpi {
    let items = checked_count(count)? as i64;
    // SAFETY: the caller's promise.
    unsafe {
        checked_representation(name)?;
        put(size, crate::external::size(&datatype(of)?.layout, items)?)
    }
}

pub unsafe fn mpi_pack_external(
    name: *const c_char,
    input: *const u8,
    count: i64,
    of: i32,
    output: *mut u8,
    room: i64,
    position: *mut i64,
) -> Mpi {
    let items = checked_count(count)? as i64;
    // SAFETY: the caller's promise.
    unsafe {
        checked_representation(name)?;
        let layout = &datatype(of)?.layout;
        let at = checked_position(get(position)?, room)?;
        let bytes = crate::external::pack(layout, items, input)?;
        if bytes.len() as i64 > room - at {
            return Err(no_room(bytes.len(), room - at));
        }
        if !bytes.is_empty() {
            array_mut(output.add(at as usize), bytes.len())?.copy_from_slice(&bytes);
        }
        put(position, at + bytes.len() as i64)
    }
}

pub unsafe fn mpi_unpack_external(
    name: *const c_char,
    input: *const u8,
    length: i64,
    position: *mut i64,
    output: *mut u8,
    count: i64,
    of: i32,
) -> Mpi {
    let items = checked_count(count)? as i64;
    // SAFETY: the caller's promise.
    unsafe {
        checked_representation(name)?;
        let layout = &datatype(of)?.layout;
        let at = checked_position(get(position)?, length)?;
        let needs = crate::external::size(layout, items)?;
        if needs > length - at {
            return Err(no_room(needs as usize, length - at));
        }
        if needs > 0 {
            crate::external::unpack(layout, items, output, array(input.add(at as usize), needs as usize)?)?;
        }
        put(position, at + needs)
    }
}
