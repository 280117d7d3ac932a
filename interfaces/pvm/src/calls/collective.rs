//! Reductions, gather and scatter: pvm_reduce(3), pvm_gather(3), pvm_scatter(3).
//!
//! Members are combined in the order of their instances, so that a sum of
//! floats is the same each time.

use super::group::group_name;
use super::message::size_of_items;
use crate::errors::{Pvm, PvmError};
use crate::groups::Circle;
use crate::state::{Held, call};
use std::ffi::{c_char, c_int, c_void};

/// A combining function: `x` becomes the combination of `x` and `y`.
type Combine = unsafe extern "C" fn(*mut c_int, *mut c_void, *mut c_void, *mut c_int, *mut c_int);

/// Bytes of at least one item: with none, PVM takes a collective call for a mistake.
fn size_of_some(count: c_int, datatype: c_int) -> Pvm<usize> {
    if count == 0 { Err(PvmError::BadParam) } else { size_of_items(count, datatype) }
}

/// Combines every member's array; the result is in the root's.
///
/// # Safety
/// `combine` must be a function for such arrays, `data` writable as `count` items of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_reduce(
    combine: Option<Combine>,
    data: *mut c_void,
    count: c_int,
    datatype: c_int,
    tag: c_int,
    group: *const c_char,
    root: c_int,
) -> c_int {
    let mut plan: Option<(Circle, usize)> = None;
    let prepared = call("pvm_reduce", |state| {
        let bytes = size_of_some(count, datatype)?;
        if combine.is_none() || (data.is_null() && bytes > 0) {
            return Err(PvmError::BadParam);
        }
        // SAFETY: the caller's promise.
        let circle = state.circle(unsafe { group_name(group)? }, tag, root)?;
        if circle.me != circle.root_tid() {
            // SAFETY: as the caller says.
            state.pass(circle.root_tid(), tag, unsafe { memory(data, bytes) })?;
        } else {
            plan = Some((circle, bytes));
        }
        Ok(0)
    });
    let (Some((circle, bytes)), Some(combine)) = (plan, combine) else { return prepared };
    // The root receives in the order of instances, and starts with its own: the
    // user's function is called without our lock, for it may call PVM itself.
    let mut theirs = vec![0u64; bytes.div_ceil(8)];
    for &member in circle.members.iter().filter(|member| **member != circle.me) {
        // SAFETY: `theirs` has at least so many bytes.
        let room = unsafe { std::slice::from_raw_parts_mut(theirs.as_mut_ptr().cast::<u8>(), bytes) };
        let got = call("pvm_reduce", |state| state.catch(member, tag, room).map(|()| 0));
        if got < 0 {
            return got;
        }
        let (mut datatype, mut count, mut info) = (datatype, count, 0);
        // SAFETY: both arrays have `count` items of the type, aligned for the largest.
        unsafe { combine(&mut datatype, data, theirs.as_mut_ptr().cast(), &mut count, &mut info) };
        if info < 0 {
            return info;
        }
    }
    0
}

/// The program's memory, or nothing.
///
/// # Safety
/// `start` must be readable for `bytes`.
unsafe fn memory<'a>(start: *const c_void, bytes: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start.cast(), bytes) } }
}

/// The same, to be written.
///
/// # Safety
/// `start` must be writable for `bytes`, and nobody else may use the memory.
unsafe fn memory_mut<'a>(start: *mut c_void, bytes: usize) -> &'a mut [u8] {
    // SAFETY: the caller's promise.
    if bytes == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(start.cast(), bytes) } }
}

/// Collects every member's array in the root's `result`, in the order of instances.
///
/// # Safety
/// `data` must be readable as `count` items of the type; at the root `result`
/// writable as so many for each member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_gather(
    result: *mut c_void,
    data: *const c_void,
    count: c_int,
    datatype: c_int,
    tag: c_int,
    group: *const c_char,
    root: c_int,
) -> c_int {
    call("pvm_gather", |state| {
        let bytes = size_of_some(count, datatype)?;
        check(data, bytes)?;
        // SAFETY: the caller's promise.
        let circle = state.circle(unsafe { group_name(group)? }, tag, root)?;
        if circle.me != circle.root_tid() {
            // SAFETY: the caller's promise.
            state.pass(circle.root_tid(), tag, unsafe { memory(data, bytes) })?;
            return Ok(0);
        }
        check(result, bytes)?;
        for (at, &member) in circle.members.iter().enumerate() {
            let place = result.wrapping_byte_add(at * bytes);
            if member == circle.me {
                // SAFETY: both have `bytes`; a program may gather from the result itself.
                unsafe { std::ptr::copy(data.cast::<u8>(), place.cast::<u8>(), bytes) };
            } else {
                // SAFETY: the caller's promise: the root has room for every member's.
                state.catch(member, tag, unsafe { memory_mut(place, bytes) })?;
            }
        }
        Ok(0)
    })
}

/// Deals the root's `data` out, to each member its part, in the order of instances.
///
/// # Safety
/// `result` must be writable as `count` items of the type; at the root `data`
/// readable as so many for each member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_scatter(
    result: *mut c_void,
    data: *const c_void,
    count: c_int,
    datatype: c_int,
    tag: c_int,
    group: *const c_char,
    root: c_int,
) -> c_int {
    call("pvm_scatter", |state| {
        let bytes = size_of_some(count, datatype)?;
        check(result, bytes)?;
        // SAFETY: the caller's promise.
        let circle = state.circle(unsafe { group_name(group)? }, tag, root)?;
        if circle.me != circle.root_tid() {
            // SAFETY: the caller's promise.
            state.catch(circle.root_tid(), tag, unsafe { memory_mut(result, bytes) })?;
            return Ok(0);
        }
        check(data, bytes)?;
        deal(state, &circle, tag, result, data, bytes)
    })
}

fn deal(
    state: &mut Held,
    circle: &Circle,
    tag: c_int,
    result: *mut c_void,
    data: *const c_void,
    bytes: usize,
) -> Pvm<i32> {
    for (at, &member) in circle.members.iter().enumerate() {
        let part = data.wrapping_byte_add(at * bytes);
        if member == circle.me {
            // SAFETY: both have `bytes`; a program may scatter into the data itself.
            unsafe { std::ptr::copy(part.cast::<u8>(), result.cast::<u8>(), bytes) };
        } else {
            // SAFETY: the root's data has a part for every member, as the program says.
            state.pass(member, tag, unsafe { memory(part, bytes) })?;
        }
    }
    Ok(0)
}

fn check(memory: *const c_void, bytes: usize) -> Pvm<()> {
    if memory.is_null() && bytes > 0 { Err(PvmError::BadParam) } else { Ok(()) }
}

/// What a ready-made combining function does to two numbers of each kind.
trait Operation {
    fn ints<T: Number>(x: T, y: T) -> T;
    fn complex<T: Number>(x: [T; 2], y: [T; 2]) -> [T; 2];
}

/// A number that can be combined.
trait Number: Copy + PartialOrd {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($int:ty)* ; $($float:ty)*) => {
        $(impl Number for $int {
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
        })*
        $(impl Number for $float {
            fn plus(self, other: Self) -> Self { self + other }
            fn minus(self, other: Self) -> Self { self - other }
            fn times(self, other: Self) -> Self { self * other }
        })*
    };
}

numbers!(u8 i16 u16 i32 u32 i64 u64; f32 f64);

/// The greater of two complex numbers is that of the greater modulus.
fn squared<T: Number>(z: [T; 2]) -> T {
    z[0].times(z[0]).plus(z[1].times(z[1]))
}

struct Greater;
struct Smaller;
struct Sum;
struct Product;

impl Operation for Greater {
    fn ints<T: Number>(x: T, y: T) -> T {
        if y > x { y } else { x }
    }
    fn complex<T: Number>(x: [T; 2], y: [T; 2]) -> [T; 2] {
        if squared(y) > squared(x) { y } else { x }
    }
}

impl Operation for Smaller {
    fn ints<T: Number>(x: T, y: T) -> T {
        if y < x { y } else { x }
    }
    fn complex<T: Number>(x: [T; 2], y: [T; 2]) -> [T; 2] {
        if squared(y) < squared(x) { y } else { x }
    }
}

impl Operation for Sum {
    fn ints<T: Number>(x: T, y: T) -> T {
        x.plus(y)
    }
    fn complex<T: Number>(x: [T; 2], y: [T; 2]) -> [T; 2] {
        [x[0].plus(y[0]), x[1].plus(y[1])]
    }
}

impl Operation for Product {
    fn ints<T: Number>(x: T, y: T) -> T {
        x.times(y)
    }
    fn complex<T: Number>(x: [T; 2], y: [T; 2]) -> [T; 2] {
        let real = x[0].times(y[0]).minus(x[1].times(y[1]));
        [real, x[0].times(y[1]).plus(x[1].times(y[0]))]
    }
}

/// Combines item by item.
///
/// # Safety
/// Both arrays must have `count` items of type `T`.
unsafe fn each<T: Copy>(x: *mut c_void, y: *const c_void, count: usize, combine: impl Fn(T, T) -> T) {
    let (x, y) = (x.cast::<T>(), y.cast::<T>());
    for at in 0..count {
        // SAFETY: below `count`; nothing is assumed of the alignment.
        unsafe { x.add(at).write_unaligned(combine(x.add(at).read_unaligned(), y.add(at).read_unaligned())) };
    }
}

/// # Safety
/// As for the functions of `pvm_reduce`.
unsafe fn combine<O: Operation>(
    datatype: *mut c_int,
    x: *mut c_void,
    y: *mut c_void,
    count: *mut c_int,
    info: *mut c_int,
) {
    // SAFETY: the caller's pointers; every one of them is checked before use.
    let (Some(&datatype), Some(&count), Some(info)) =
        (unsafe { datatype.as_ref() }, unsafe { count.as_ref() }, unsafe { info.as_mut() })
    else {
        return;
    };
    let Ok(count) = usize::try_from(count) else {
        *info = PvmError::BadParam as c_int;
        return;
    };
    if count > 0 && (x.is_null() || y.is_null()) {
        *info = PvmError::BadParam as c_int;
        return;
    }
    *info = 0;
    // SAFETY: the arrays have `count` items of the type, as the caller says.
    unsafe {
        match datatype {
            1 => each::<u8>(x, y, count, O::ints),
            2 => each::<i16>(x, y, count, O::ints),
            3 => each::<i32>(x, y, count, O::ints),
            4 => each::<f32>(x, y, count, O::ints),
            5 => each::<[f32; 2]>(x, y, count, O::complex),
            6 => each::<f64>(x, y, count, O::ints),
            7 => each::<[f64; 2]>(x, y, count, O::complex),
            8 => each::<i64>(x, y, count, O::ints),
            9 => each::<u16>(x, y, count, O::ints),
            10 => each::<u32>(x, y, count, O::ints),
            11 => each::<u64>(x, y, count, O::ints),
            _ => *info = PvmError::BadParam as c_int,
        }
    }
}

macro_rules! ready_made {
    ($($name:ident $operation:ident $what:literal;)*) => {$(
        #[doc = concat!("For pvm_reduce: ", $what, ".")]
        /// # Safety
        /// Both arrays must have so many items of the type.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name(
            datatype: *mut c_int, x: *mut c_void, y: *mut c_void, count: *mut c_int, info: *mut c_int,
        ) {
            // SAFETY: the caller's promise.
            unsafe { combine::<$operation>(datatype, x, y, count, info) }
        }
    )*};
}

ready_made! {
    PvmMax Greater "the greater; of complex numbers the one of greater modulus";
    PvmMin Smaller "the smaller; of complex numbers the one of smaller modulus";
    PvmSum Sum "the sum";
    PvmProduct Product "the product";
}
