//! MPI_T, as C calls it. Each function gives 0 or a code of MPI_T's; null stands for a result that is not wanted.

use crate::process::this::has_begun;
use crate::tools::{self, ALGORITHMS, Class, Kind, OPTIONS, ToolResult, VARIABLES, Value, at, fault};
use parvum_api::pointers::Out;
use std::ffi::{CStr, c_char, c_int, c_void};

const VERBOSITY_USER_BASIC: c_int = 221;
const BIND_NO_OBJECT: c_int = 9700;
const SCOPE_LOCAL: c_int = 60440;
const PVAR_CLASS_STATE: c_int = 240;
const PVAR_CLASS_LEVEL: c_int = 241;
const PVAR_CLASS_COUNTER: c_int = 246;
const PVAR_CLASS_AGGREGATE: c_int = 247;
const PVAR_CLASS_TIMER: c_int = 248;
const INT: c_int = 0x4c00_0405;
const UNSIGNED_LONG_LONG: c_int = 0x4c00_0819;

fn code(outcome: ToolResult) -> c_int {
    outcome.err().unwrap_or(0)
}

/// Does something when the interface was begun.
pub(in crate::calls) fn when_begun(then: impl FnOnce() -> ToolResult) -> c_int {
    code(tools::ask().and_then(|()| then()))
}

pub(in crate::calls) fn put<T>(place: Out<'_, T>, value: T) {
    place.put(value);
}

/// Gives text in room for `*length` bytes, and how many there are with the zero; without room the length alone, of all of it.
pub(in crate::calls) unsafe fn give(place: *mut c_char, length: *mut c_int, text: &str) {
    if length.is_null() {
        return;
    }
    // SAFETY: the program promises a length there, and as much room as it says.
    unsafe {
        let room = usize::try_from(length.read_unaligned()).unwrap_or(0);
        let mut given = text.len();
        if !place.is_null() && room > 0 {
            given = given.min(room - 1);
            std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), given);
            place.add(given).write(0);
        }
        length.write_unaligned(given as c_int + 1);
    }
}

/// What a pointer of the program's points to.
unsafe fn get<T: Copy>(place: *const T) -> ToolResult<T> {
    // SAFETY: null, or the program promises a value there.
    if place.is_null() { Err(fault::INVALID) } else { Ok(unsafe { place.read_unaligned() }) }
}

/// Puts the index of what has this name.
pub(in crate::calls) unsafe fn put_index(
    name: *const c_char,
    place: Out<'_, c_int>,
    known: impl Fn(&str) -> Option<usize>,
) -> c_int {
    when_begun(|| {
        if name.is_null() {
            return Err(fault::INVALID);
        }
        // SAFETY: the program promises a string that ends.
        let name = unsafe { CStr::from_ptr(name) }.to_str();
        let index = name.ok().and_then(known).ok_or(fault::INVALID_NAME)?;
        put(place, index as c_int);
        Ok(())
    })
}

pub(in crate::calls) fn put_number(place: Out<'_, c_int>, number: usize) -> c_int {
    when_begun(|| {
        put(place, number as c_int);
        Ok(())
    })
}

// --- Beginning and end ---

pub fn t_init_thread(required: c_int, provided: Out<'_, c_int>) -> c_int {
    if !(0..=crate::objects::numbers::THREAD_MULTIPLE).contains(&required) {
        return fault::INVALID;
    }
    tools::begin();
    put(provided, required);
    0
}

pub fn t_finalize() -> c_int {
    code(tools::end())
}

// --- Enumerations: a handle is the place of the option that has it, counted from one ---

/// The enumeration of the algorithms of collectives: behind those of the options.
const ALGORITHM_WORDS: usize = OPTIONS.len() + 1;

fn enumeration(handle: usize) -> ToolResult<(&'static str, &'static [&'static str])> {
    match handle.checked_sub(1).and_then(|place| OPTIONS.get(place)).map(|option| &option.kind) {
        None if handle == ALGORITHM_WORDS => Ok(("algorithm", &ALGORITHMS)),
        Some(Kind::Words(name, words)) => Ok((name, words)),
        _ => Err(fault::INVALID_HANDLE),
    }
}

pub unsafe fn t_enum_get_info(
    handle: usize,
    number: Out<'_, c_int>,
    name: *mut c_char,
    length: *mut c_int,
) -> c_int {
    when_begun(|| {
        let (spoken, words) = enumeration(handle)?;
        // SAFETY: the program's promise.
        unsafe {
            put(number, words.len() as c_int);
            give(name, length, spoken);
        }
        Ok(())
    })
}

pub unsafe fn t_enum_get_item(
    handle: usize,
    index: c_int,
    value: Out<'_, c_int>,
    name: *mut c_char,
    length: *mut c_int,
) -> c_int {
    when_begun(|| {
        let (_, words) = enumeration(handle)?;
        let word = at(words, index).map_err(|_| fault::INVALID_ITEM)?;
        // SAFETY: the program's promise.
        unsafe {
            put(value, index);
            give(name, length, word);
        }
        Ok(())
    })
}

// --- Control variables ---

pub fn t_cvar_get_num(number: Out<'_, c_int>) -> c_int {
    put_number(number, OPTIONS.len())
}

pub unsafe fn t_cvar_get_index(name: *const c_char, index: Out<'_, c_int>) -> c_int {
    // SAFETY: the program's promise.
    unsafe { put_index(name, index, |name| OPTIONS.iter().position(|option| option.name == name)) }
}

pub unsafe fn t_cvar_get_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    verbosity: Out<'_, c_int>,
    datatype: Out<'_, c_int>,
    enumtype: Out<'_, usize>,
    text: *mut c_char,
    text_length: *mut c_int,
    bind: Out<'_, c_int>,
    scope: Out<'_, c_int>,
) -> c_int {
    when_begun(|| {
        let option = at(&OPTIONS, index)?;
        let (number, words) = match option.kind {
            Kind::Words(..) => (INT, index as usize + 1),
            Kind::Bytes(_) => (UNSIGNED_LONG_LONG, 0),
        };
        // SAFETY: the program's promise.
        unsafe {
            give(name, name_length, option.name);
            give(text, text_length, option.what);
            put(verbosity, VERBOSITY_USER_BASIC);
            put(datatype, number);
            put(enumtype, words);
            put(bind, BIND_NO_OBJECT);
            put(scope, SCOPE_LOCAL);
        }
        Ok(())
    })
}

pub unsafe fn t_cvar_handle_alloc(
    index: c_int,
    _object: *mut c_void,
    handle: Out<'_, usize>,
    count: Out<'_, c_int>,
) -> c_int {
    code(tools::open_option(index).map(|number| {
        put(handle, number);
        put(count, 1);
    }))
}

pub unsafe fn t_cvar_handle_free(handle: *mut usize) -> c_int {
    when_begun(|| {
        // SAFETY: the program's promise.
        unsafe {
            tools::close_option(get(handle)?)?;
            put(Out::new(handle), 0);
        }
        Ok(())
    })
}

pub unsafe fn t_cvar_read(handle: usize, place: *mut c_void) -> c_int {
    code(tools::option_of(handle).and_then(|option| {
        let value = option.value(std::env::var(option.name).ok().as_deref())?;
        // SAFETY: the program promises room for one value of the variable's type.
        unsafe {
            match value {
                Value::Word(word) => put(Out::new(place.cast()), word),
                Value::Bytes(bytes) => put(Out::new(place.cast()), bytes),
            }
        }
        Ok(())
    }))
}

pub unsafe fn t_cvar_write(handle: usize, place: *const c_void) -> c_int {
    code(tools::option_of(handle).and_then(|option| {
        // SAFETY: the program promises one value of the variable's type.
        let value = unsafe {
            match option.kind {
                Kind::Words(..) => Value::Word(get(place.cast())?),
                Kind::Bytes(_) => Value::Bytes(get(place.cast())?),
            }
        };
        let text = option.text(value)?;
        if has_begun() {
            return Err(fault::CVAR_SET_NOT_NOW);
        }
        // SAFETY: MPI has not begun, so no thread of ours reads the environment; the page of this function tells the program not to
        // change or read it in another thread meanwhile, as it must not when it calls setenv(3) itself.
        unsafe { std::env::set_var(option.name, text) };
        Ok(())
    }))
}

// --- Performance variables ---

fn class_of(class: Class) -> c_int {
    match class {
        Class::Level => PVAR_CLASS_LEVEL,
        Class::Counter => PVAR_CLASS_COUNTER,
        Class::Aggregate => PVAR_CLASS_AGGREGATE,
        Class::Timer => PVAR_CLASS_TIMER,
        Class::State => PVAR_CLASS_STATE,
    }
}

pub fn t_pvar_get_num(number: Out<'_, c_int>) -> c_int {
    put_number(number, VARIABLES.len())
}

pub unsafe fn t_pvar_get_index(name: *const c_char, class: c_int, index: Out<'_, c_int>) -> c_int {
    let fits = |name: &str| {
        VARIABLES.iter().position(|variable| variable.name() == name && class_of(variable.class) == class)
    };
    // SAFETY: the program's promise.
    unsafe { put_index(name, index, fits) }
}

pub unsafe fn t_pvar_get_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    verbosity: Out<'_, c_int>,
    class: Out<'_, c_int>,
    datatype: Out<'_, c_int>,
    enumtype: Out<'_, usize>,
    text: *mut c_char,
    text_length: *mut c_int,
    bind: Out<'_, c_int>,
    readonly: Out<'_, c_int>,
    continuous: Out<'_, c_int>,
    atomic: Out<'_, c_int>,
) -> c_int {
    when_begun(|| {
        let variable = at(&VARIABLES, index)?;
        let counted = variable.class.is_counted();
        let words = if variable.class == Class::State { ALGORITHM_WORDS } else { 0 };
        // SAFETY: the program's promise.
        unsafe {
            give(name, name_length, &variable.name());
            give(text, text_length, &variable.what());
            put(verbosity, VERBOSITY_USER_BASIC);
            put(class, class_of(variable.class));
            put(datatype, if words > 0 { INT } else { UNSIGNED_LONG_LONG });
            put(enumtype, words);
            put(bind, BIND_NO_OBJECT);
            put(readonly, c_int::from(!counted));
            put(continuous, 1);
            put(atomic, c_int::from(counted));
        }
        Ok(())
    })
}

pub fn t_pvar_session_create(session: Out<'_, usize>) -> c_int {
    code(tools::open_session().map(|number| put(session, number)))
}

pub unsafe fn t_pvar_session_free(session: *mut usize) -> c_int {
    when_begun(|| {
        // SAFETY: the program's promise.
        unsafe {
            tools::close_session(get(session)?)?;
            put(Out::new(session), 0);
        }
        Ok(())
    })
}

pub unsafe fn t_pvar_handle_alloc(
    session: usize,
    index: c_int,
    _object: *mut c_void,
    handle: Out<'_, usize>,
    count: Out<'_, c_int>,
) -> c_int {
    code(tools::open_reading(session, index).map(|number| {
        put(handle, number);
        put(count, 1);
    }))
}

pub unsafe fn t_pvar_handle_free(session: usize, handle: *mut usize) -> c_int {
    when_begun(|| {
        // SAFETY: the program's promise.
        unsafe {
            tools::close_reading(session, get(handle)?)?;
            put(Out::new(handle), 0);
        }
        Ok(())
    })
}

pub fn t_pvar_start(session: usize, handle: usize) -> c_int {
    code(tools::start_or_stop(session, handle))
}

pub fn t_pvar_stop(session: usize, handle: usize) -> c_int {
    code(tools::start_or_stop(session, handle))
}

pub unsafe fn t_pvar_read(session: usize, handle: usize, place: *mut c_void) -> c_int {
    let is_state = match tools::is_state(session, handle) {
        Ok(is_state) => is_state,
        Err(fault) => return fault,
    };
    code(tools::read(session, handle).map(|value| match is_state {
        // SAFETY: the program promises room for one value of the variable's type, which is an integer.
        true => unsafe { put(Out::new(place.cast()), value as c_int) },
        // SAFETY: likewise, of 64 bits.
        false => unsafe { put(Out::new(place.cast()), value) },
    }))
}

pub unsafe fn t_pvar_readreset(session: usize, handle: usize, place: *mut c_void) -> c_int {
    // SAFETY: the program promises room for one value.
    code(tools::read_and_reset(session, handle).map(|value| unsafe { put(Out::new(place.cast()), value) }))
}

pub fn t_pvar_reset(session: usize, handle: usize) -> c_int {
    code(tools::reset(session, handle))
}

pub unsafe fn t_pvar_write(session: usize, handle: usize, place: *const c_void) -> c_int {
    // SAFETY: the program promises one value.
    code(unsafe { get(place.cast()) }.and_then(|value| tools::write(session, handle, value)))
}
