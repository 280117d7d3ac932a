//! MPI_T: categories of variables, and events, of which there are none.

use crate::calls::tools::variables::{give, put, put_index, put_number, when_begun};
use crate::tools::{CATEGORIES, Category, at, fault};
use parvum_api::pointers::Out;
use std::ffi::{c_char, c_int, c_void};
use std::ops::Range;

// --- Categories ---

pub fn t_category_get_num(number: Out<'_, c_int>) -> c_int {
    put_number(number, CATEGORIES.len())
}

pub unsafe fn t_category_get_index(name: *const c_char, index: Out<'_, c_int>) -> c_int {
    // SAFETY: the program's promise.
    unsafe { put_index(name, index, |name| CATEGORIES.iter().position(|category| category.name == name)) }
}

/// What a category has never changes.
pub fn t_category_changed(number: Out<'_, c_int>) -> c_int {
    put_number(number, 0)
}

pub unsafe fn t_category_get_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    text: *mut c_char,
    text_length: *mut c_int,
    options: Out<'_, c_int>,
    variables: Out<'_, c_int>,
    categories: Out<'_, c_int>,
) -> c_int {
    when_begun(|| {
        let category = at(&CATEGORIES, index)?;
        // SAFETY: the program's promise.
        unsafe {
            give(name, name_length, category.name);
            give(text, text_length, category.what);
            put(options, category.options.len() as c_int);
            put(variables, category.variables().len() as c_int);
            put(categories, category.categories.len() as c_int);
        }
        Ok(())
    })
}

/// Puts what a category has, in room for so many.
unsafe fn put_members(
    index: c_int,
    room: c_int,
    places: *mut c_int,
    members: impl FnOnce(&'static Category) -> Range<usize>,
) -> c_int {
    when_begun(|| {
        let members = members(at(&CATEGORIES, index)?);
        let room = usize::try_from(room).map_err(|_| fault::INVALID)?;
        if places.is_null() && room > 0 && !members.is_empty() {
            return Err(fault::INVALID);
        }
        for (place, member) in members.take(room).enumerate() {
            // SAFETY: the program promises as much room.
            unsafe { places.add(place).write_unaligned(member as c_int) };
        }
        Ok(())
    })
}

pub unsafe fn t_category_get_cvars(index: c_int, room: c_int, places: *mut c_int) -> c_int {
    // SAFETY: the program's promise.
    unsafe { put_members(index, room, places, |category| category.options.clone()) }
}

pub unsafe fn t_category_get_pvars(index: c_int, room: c_int, places: *mut c_int) -> c_int {
    // SAFETY: the program's promise.
    unsafe { put_members(index, room, places, Category::variables) }
}

pub unsafe fn t_category_get_categories(index: c_int, room: c_int, places: *mut c_int) -> c_int {
    // SAFETY: the program's promise.
    unsafe { put_members(index, room, places, |category| category.categories.clone()) }
}

pub unsafe fn t_category_get_events(index: c_int, room: c_int, places: *mut c_int) -> c_int {
    // SAFETY: the program's promise.
    unsafe { put_members(index, room, places, |_| 0..0) }
}

pub fn t_category_get_num_events(index: c_int, number: Out<'_, c_int>) -> c_int {
    when_begun(|| {
        at(&CATEGORIES, index)?;
        put(number, 0);
        Ok(())
    })
}

// --- Events and their sources: there are none, so no index and no handle names one ---

pub fn t_event_get_num(number: Out<'_, c_int>) -> c_int {
    put_number(number, 0)
}

pub fn t_source_get_num(number: Out<'_, c_int>) -> c_int {
    put_number(number, 0)
}

pub unsafe fn t_event_get_index(name: *const c_char, index: Out<'_, c_int>) -> c_int {
    // SAFETY: the program's promise.
    unsafe { put_index(name, index, |_| None) }
}

/// Functions that are given the index, or the handle, of an event.
macro_rules! of_no_event {
    ($($function:ident ($($argument:ident: $kind:ty),*) -> $fault:ident)*) => {$(
        pub unsafe fn $function($($argument: $kind),*) -> c_int {
            $(let _ = $argument;)*
            when_begun(|| Err(fault::$fault))
        }
    )*};
}

of_no_event! {
    t_event_get_info(
        index: c_int, name: *mut c_char, name_length: *mut c_int, verbosity: *mut c_int, datatypes: *mut usize, places: *mut i64,
        number: *mut c_int, enumtype: *mut usize, info: *mut c_int, text: *mut c_char, text_length: *mut c_int, bind: *mut c_int
    ) -> INVALID_INDEX
    t_event_handle_alloc(index: c_int, object: *mut c_void, info: c_int, handle: *mut usize) -> INVALID_INDEX
    t_event_handle_free(handle: usize, data: *mut c_void, call: usize) -> INVALID_HANDLE
    t_event_handle_get_info(handle: usize, info: *mut c_int) -> INVALID_HANDLE
    t_event_handle_set_info(handle: usize, info: c_int) -> INVALID_HANDLE
    t_event_register_callback(handle: usize, safety: c_int, info: c_int, data: *mut c_void, call: usize) -> INVALID_HANDLE
    t_event_callback_get_info(handle: usize, safety: c_int, info: *mut c_int) -> INVALID_HANDLE
    t_event_callback_set_info(handle: usize, safety: c_int, info: c_int) -> INVALID_HANDLE
    t_event_set_dropped_handler(handle: usize, call: usize) -> INVALID_HANDLE
    t_event_read(instance: usize, element: c_int, place: *mut c_void) -> INVALID_HANDLE
    t_event_copy(instance: usize, place: *mut c_void) -> INVALID_HANDLE
    t_event_get_timestamp(instance: usize, place: *mut i64) -> INVALID_HANDLE
    t_event_get_source(instance: usize, index: *mut c_int) -> INVALID_HANDLE
    t_source_get_info(
        index: c_int, name: *mut c_char, name_length: *mut c_int, text: *mut c_char, text_length: *mut c_int, ordering: *mut c_int,
        ticks: *mut i64, most: *mut i64, info: *mut c_int
    ) -> INVALID_INDEX
    t_source_get_timestamp(index: c_int, place: *mut i64) -> INVALID_INDEX
}
