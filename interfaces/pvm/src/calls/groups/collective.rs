//! Reductions, gather and scatter: pvm_reduce(3), pvm_gather(3), pvm_scatter(3).
//!
//! Members run linear plans, in which each member communicates only with the root. PVM promises that a member that
//! sends to the root does not wait for the others. No member may therefore pass on data of another. The root combines
//! its own data first, then the data of the members in the order of their instances. A sum of floats is therefore the
//! same each time.

use crate::calls::groups::members::group_name;
use crate::calls::messages::message::size_of_items;
use crate::errors::{Pvm, PvmError};
use crate::machine::groups::Circle;
use crate::state::{call, call_but};
use parvum_api::Status;
use parvum_api::pointers::Text;
use parvum_collectives::operators::{self, Kind, Operator};
use parvum_collectives::plans::{Area, Group, Order, Plan, gather, in_a_row, reduce, scatter};
use parvum_collectives::{Exchange, Members, Memory, run};
use std::ffi::{c_int, c_void};

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
    group: Text<'_>,
    root: c_int,
) -> c_int {
    let mut prepared: Option<(Circle, usize, Plan)> = None;
    let done = call("pvm_reduce", |state| {
        let bytes = size_of_some(count, datatype)?;
        if combine.is_none() || (data.is_null() && bytes > 0) {
            return Err(PvmError::BadParam);
        }
        let circle = state.circle(group_name(group)?, tag, root)?;
        let plan = reduce::straight(circle.group(), circle.root, bytes, Order::Any);
        if !circle.is_root() {
            // SAFETY: the caller's promise.
            return state.run(&circle, tag, &plan, &[], unsafe { memory_mut(data, bytes) });
        }
        prepared = Some((circle, bytes, plan));
        Ok(0)
    });
    let (Some((circle, bytes, plan)), Some(combine)) = (prepared, combine) else { return done };
    // Aligned for the largest item.
    let mut theirs = vec![0u64; plan.needs(Area::Scratch).div_ceil(8)];
    // SAFETY: `theirs` has at least this number of bytes, and the caller promises the bytes of `data`.
    let memory = unsafe {
        let scratch = std::slice::from_raw_parts_mut(theirs.as_mut_ptr().cast::<u8>(), theirs.len() * 8);
        Memory { mine: &[], data: memory_mut(data, bytes), scratch }
    };
    let mut refused = 0;
    let mut apply = |x: &mut [u8], y: &[u8]| {
        // After one error the function is not called again.
        if refused < 0 {
            return;
        }
        let (mut datatype, mut count, mut info) = (datatype, count, 0);
        let (x, y) = (x.as_mut_ptr().cast(), y.as_ptr().cast_mut().cast());
        // SAFETY: both arrays have `count` items of the type, aligned for the largest.
        unsafe { combine(&mut datatype, x, y, &mut count, &mut info) };
        refused = info.min(0);
    };
    let done = run(&mut Unlocked { circle: &circle, tag }, &plan, memory, &mut apply);
    match done {
        Ok(()) => refused,
        Err(why) => call("pvm_reduce", |_| Err(why.into())),
    }
}

/// The members, with the lock held only for each message, and released during waits. Between messages the collective
/// calls the user's function, which may call PVM itself.
struct Unlocked<'c> {
    circle: &'c Circle,
    tag: c_int,
}

impl Unlocked<'_> {
    fn locked<R>(&self, work: impl FnOnce(&mut Members<'_>) -> Result<R, Status>) -> Result<R, Status> {
        let mut done = Err(Status::NoMachine);
        call_but(
            "pvm_reduce",
            |_| true,
            |state| {
                let mut members = self.circle.members(state.machine()?, self.tag);
                done = state.outside(|| work(&mut members));
                Ok(0)
            },
        );
        done
    }
}

impl Exchange for Unlocked<'_> {
    fn group(&self) -> Group {
        self.circle.group()
    }

    fn send(&mut self, to: usize, word: u32, data: &[u8]) -> Result<(), Status> {
        self.locked(|members| members.send(to, word, data))
    }

    fn receive(&mut self, from: usize, room: &mut [u8]) -> Result<(u32, u64), Status> {
        self.locked(|members| members.receive(from, room))
    }
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
/// `start` must be writable for `bytes`, and no other code may use the memory.
unsafe fn memory_mut<'a>(start: *mut c_void, bytes: usize) -> &'a mut [u8] {
    // SAFETY: the caller's promise.
    if bytes == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(start.cast(), bytes) } }
}

/// Collects every member's array in the root's `result`, in the order of instances.
///
/// # Safety
/// `data` must be readable as `count` items of the type; the root's `result` writable as `count` items for each member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_gather(
    result: *mut c_void,
    data: *const c_void,
    count: c_int,
    datatype: c_int,
    tag: c_int,
    group: Text<'_>,
    root: c_int,
) -> c_int {
    call("pvm_gather", |state| {
        let bytes = size_of_some(count, datatype)?;
        check(data, bytes)?;
        let circle = state.circle(group_name(group)?, tag, root)?;
        let size = circle.members.len();
        let whole = if circle.is_root() { bytes * size } else { 0 };
        check(result, whole)?;
        let plan = gather::straight(circle.group(), circle.root, &in_a_row(vec![bytes; size]), bytes);
        if overlap(result, whole, data, bytes) {
            // A program may gather from the result itself.
            // SAFETY: the caller's promise; the copy is made before the result is borrowed.
            let mine = unsafe { memory(data, bytes) }.to_vec();
            // SAFETY: the caller's promise: the root has room for every member's.
            return state.run(&circle, tag, &plan, &mine, unsafe { memory_mut(result, whole) });
        }
        // SAFETY: as above, and they lie apart.
        let (mine, all) = unsafe { (memory(data, bytes), memory_mut(result, whole)) };
        state.run(&circle, tag, &plan, mine, all)
    })
}

/// Deals the root's `data` out, to each member its part, in the order of instances.
///
/// # Safety
/// `result` must be writable as `count` items of the type. At the root, `data` must be readable as `count` items for
/// each member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_scatter(
    result: *mut c_void,
    data: *const c_void,
    count: c_int,
    datatype: c_int,
    tag: c_int,
    group: Text<'_>,
    root: c_int,
) -> c_int {
    call("pvm_scatter", |state| {
        let bytes = size_of_some(count, datatype)?;
        check(result, bytes)?;
        let circle = state.circle(group_name(group)?, tag, root)?;
        let size = circle.members.len();
        let whole = if circle.is_root() { bytes * size } else { 0 };
        check(data, whole)?;
        let plan = scatter::straight(circle.group(), circle.root, &in_a_row(vec![bytes; size]), bytes);
        if overlap(data, whole, result, bytes) {
            // A program may scatter into the data itself.
            let mut part = vec![0; bytes];
            // SAFETY: the caller's promise.
            state.run(&circle, tag, &plan, unsafe { memory(data, whole) }, &mut part)?;
            // SAFETY: the caller's promise; the data is borrowed no more.
            unsafe { memory_mut(result, bytes) }.copy_from_slice(&part);
            return Ok(0);
        }
        // SAFETY: the caller's promise: the root's data has a part for every member.
        let (all, part) = unsafe { (memory(data, whole), memory_mut(result, bytes)) };
        state.run(&circle, tag, &plan, all, part)
    })
}

/// Whether two pieces of the program's memory have bytes in common.
fn overlap(one: *const c_void, length: usize, other: *const c_void, of_other: usize) -> bool {
    one.addr() < other.addr().saturating_add(of_other) && other.addr() < one.addr().saturating_add(length)
}

fn check(memory: *const c_void, bytes: usize) -> Pvm<()> {
    if memory.is_null() && bytes > 0 { Err(PvmError::BadParam) } else { Ok(()) }
}

/// The type for PVM's number.
fn kind_of(datatype: c_int) -> Option<Kind> {
    Some(match datatype {
        1 => Kind::U8,
        2 => Kind::I16,
        3 => Kind::I32,
        4 => Kind::F32,
        5 => Kind::Complex32,
        6 => Kind::F64,
        7 => Kind::Complex64,
        8 => Kind::I64,
        9 => Kind::U16,
        10 => Kind::U32,
        11 => Kind::U64,
        _ => return None,
    })
}

/// Combines two arrays by the table of operators.
///
/// # Safety
/// As for the functions of `pvm_reduce`.
unsafe fn combine(
    operator: Operator,
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
    let known = kind_of(datatype).and_then(|kind| Some((kind, operators::combine(operator, kind)?)));
    let (Some((kind, combine)), Ok(count)) = (known, usize::try_from(count)) else {
        *info = PvmError::BadParam as c_int;
        return;
    };
    if count > 0 && (x.is_null() || y.is_null()) {
        *info = PvmError::BadParam as c_int;
        return;
    }
    *info = 0;
    let bytes = count * kind.size();
    if overlap(x, bytes, y, bytes) {
        // SAFETY: the caller promises this number of bytes in each array; the copy is made before `x` is borrowed.
        let y = unsafe { memory(y, bytes) }.to_vec();
        // SAFETY: the same.
        return combine(unsafe { memory_mut(x, bytes) }, &y);
    }
    // SAFETY: the caller promises this number of bytes in each array, and the arrays do not overlap.
    let (x, y) = unsafe { (memory_mut(x, bytes), memory(y, bytes)) };
    combine(x, y);
}

macro_rules! ready_made {
    ($($name:ident $operator:ident $what:literal;)*) => {$(
        #[doc = concat!("For pvm_reduce: ", $what, ".")]
        /// # Safety
        /// Both arrays must have this number of items of the type.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name(
            datatype: *mut c_int, x: *mut c_void, y: *mut c_void, count: *mut c_int, info: *mut c_int,
        ) {
            // SAFETY: the caller's promise.
            unsafe { combine(Operator::$operator, datatype, x, y, count, info) }
        }
    )*};
}

ready_made! {
    PvmMax Max "the greater; of complex numbers the one of greater modulus";
    PvmMin Min "the smaller; of complex numbers the one of smaller modulus";
    PvmSum Sum "the sum";
    PvmProduct Product "the product";
}
