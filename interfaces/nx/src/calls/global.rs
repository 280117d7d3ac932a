//! What all nodes do together: gsync(3), gdsum(3) and its kin, gcol(3), gopf(3).
//!
//! Every node must call, in the same order and with the same lengths. Results are the same to the last bit on all nodes.

use super::Numbers;
use crate::account::{self, Call};
use crate::errors::{Nx, NxError};
use crate::exchange::{Group, Memory};
use crate::ids;
use crate::task::ptype_in_use;
use crate::words;
use libc::{c_double, c_float, c_long, c_void};
use parvum_collectives::exposed::{self, Exposed, OpenMemory};
use parvum_collectives::operators::{self, Kind, Operator};
use parvum_collectives::plans::{self, Area, Order, choose, in_a_row};
use parvum_collectives::segment::{self, SharedSegment};
use parvum_collectives::table::{self, Algorithm, Case, Operation};
use parvum_collectives::{Combine, Exchange, Memory as Areas, none, run};
use parvum_partition::tag;

super::faces! {
    /// Waits until all nodes have called it.
    gsync _gsync gsync_ () none;
}

mod work {
    use super::{Areas, Nx, choose, none, run, segment, tag, together, words};

    pub(super) unsafe fn gsync() -> Nx<()> {
        together(words::gsync(), tag::BARRIER, |nodes| {
            if let Some(mut segment) = nodes.segment()? {
                return nodes.outcome(segment::barrier(&mut segment));
            }
            let plan = choose::barrier(nodes.placement());
            let outcome = run(nodes, &plan, Areas { mine: &[], data: &mut [], scratch: &mut [] }, &mut none);
            nodes.outcome(outcome)
        })
    }
}

/// Runs a global operation. It contains receives of messages that have not come, so what was asked for and has come is
/// copied first.
fn together<R>(call: u32, tag: i32, work: impl FnOnce(&mut Group<'_>) -> Nx<R>) -> Nx<R> {
    super::with(|task| {
        ptype_in_use()?;
        if ids::may_have_claims() {
            task.api.fetch_claims(None);
        }
        task.partition.calls_it(call);
        let result = work(&mut Group { task, members: task.partition.members(tag) });
        account::copied_in(task, Call::Global);
        result
    })
}

/// Combines the vectors of all nodes into `x`, element by element; `work` is scratch.
unsafe fn reduce<T: Element>(x: *mut T, n: i64, work: *mut T, operator: Operator) -> Nx<()> {
    together(words::global(), tag::REDUCE, |nodes| {
        let bytes = n.checked_mul(size_of::<T>() as i64).ok_or(NxError::BLen)?;
        // SAFETY: the program's vectors have so many elements, and it uses neither meanwhile.
        let (x, work) = unsafe { (bytes_of(x.cast(), bytes)?, bytes_of(work.cast(), bytes)?) };
        if matches!(operator, Operator::BothTrue | Operator::EitherTrue | Operator::OneTrue) {
            x.chunks_exact_mut(size_of::<T>()).for_each(T::make_truth);
        }
        let combine = operators::combine(operator, T::KIND).ok_or(NxError::Param)?;
        let order = operators::order(operator, T::KIND);
        combine_all(nodes, x, work, (size_of::<T>(), order), &mut |x, other| combine(x, other))
    })
}

/// Combines the operands of all nodes, of elements of `unit` bytes.
fn combine_all(
    nodes: &mut Group<'_>,
    x: &mut [u8],
    work: &mut [u8],
    (unit, order): (usize, Order),
    combine: Combine<'_>,
) -> Nx<()> {
    if let Some(mut segment) = nodes.segment()? {
        let case = Case::in_segment(segment.group().size, x.len()).elements(unit);
        match table::choose(Operation::Allreduce, &case) {
            Algorithm::SharedSegment => {
                return nodes.outcome(segment::allreduce(&mut segment, x, unit, combine));
            }
            Algorithm::OpenMemory if segment.reaches() => {
                match exposed::allreduce(&mut segment, None, x, unit, combine) {
                    Ok(Exposed::Refused) => {}
                    done => return nodes.outcome(done.map(|_| ())),
                }
            }
            _ => {}
        }
    }
    let plan = choose::allreduce(nodes.placement(), x.len(), unit, order);
    let (needed, mut more) = (plan.needs(Area::Scratch), Vec::new());
    let scratch = if needed <= work.len() {
        work
    } else {
        more.resize(needed, 0);
        &mut more[..]
    };
    let outcome = run(nodes, &plan, Areas { mine: &[], data: x, scratch }, combine);
    nodes.outcome(outcome)
}

/// A type of elements.
trait Element {
    const KIND: Kind;
    /// Makes an element 1 that is not 0: alone, too, a truth value is one.
    fn make_truth(bytes: &mut [u8]);
}

macro_rules! elements {
    ($($type:ty, $kind:ident;)*) => {$(
        impl Element for $type {
            const KIND: Kind = Kind::$kind;

            fn make_truth(bytes: &mut [u8]) {
                let is_true = bytes.iter().any(|byte| *byte != 0);
                bytes.copy_from_slice(&<$type>::from(is_true as u8).to_ne_bytes());
            }
        }
    )*};
}
elements!(i64, I64; i32, I32; f32, F32; f64, F64;);

/// The program's memory as bytes.
///
/// # Safety
/// It must be the program's, and used by nobody else meanwhile.
unsafe fn bytes_of<'a>(start: *mut u8, count: i64) -> Nx<&'a mut [u8]> {
    let Memory { start, length } = Memory::new(start, count)?;
    match length {
        0 => Ok(&mut []),
        // SAFETY: the caller's promise.
        length => Ok(unsafe { std::slice::from_raw_parts_mut(start, length) }),
    }
}

/// Reductions: their names, the types of C and of Fortran, and what is done with two elements.
macro_rules! reductions {
    ($($plain:ident $twin:ident $fortran:ident $c:ty, $f:ty, $operator:ident;)*) => {$(
        /// Combines the vectors of all nodes.
        ///
        /// # Safety
        /// Both vectors must have `n` elements.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $plain(x: *mut $c, n: c_long, work: *mut $c) {
            // SAFETY: the caller's promise.
            super::or_end(stringify!($plain), unsafe { reduce(x, n, work, Operator::$operator) });
        }
        /// The same; -1 and `errno` on failure.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $twin(x: *mut $c, n: c_long, work: *mut $c) -> c_long {
            // SAFETY: the caller's promise.
            super::or_errno(unsafe { reduce(x, n, work, Operator::$operator) })
        }
        /// For Fortran.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran(x: *mut $f, n: *const i32, work: *mut $f) {
            // SAFETY: Fortran passes the address of an integer; the rest is the caller's promise.
            super::or_end(stringify!($plain), unsafe { reduce(x, (*n).into(), work, Operator::$operator) });
        }
    )*};
}

reductions! {
    gisum _gisum gisum_ c_long, i32, Sum;
    gssum _gssum gssum_ c_float, f32, Sum;
    gdsum _gdsum gdsum_ c_double, f64, Sum;
    giprod _giprod giprod_ c_long, i32, Product;
    gsprod _gsprod gsprod_ c_float, f32, Product;
    gdprod _gdprod gdprod_ c_double, f64, Product;
    gihigh _gihigh gihigh_ c_long, i32, Max;
    gshigh _gshigh gshigh_ c_float, f32, Max;
    gdhigh _gdhigh gdhigh_ c_double, f64, Max;
    gilow _gilow gilow_ c_long, i32, Min;
    gslow _gslow gslow_ c_float, f32, Min;
    gdlow _gdlow gdlow_ c_double, f64, Min;
    giand _giand giand_ c_long, i32, And;
    gior _gior gior_ c_long, i32, Or;
    gixor _gixor gixor_ c_long, i32, Xor;
    gland _gland gland_ c_long, i32, BothTrue;
    glor _glor glor_ c_long, i32, EitherTrue;
    glxor _glxor glxor_ c_long, i32, OneTrue;
}

/// Combines two operands, the result in the first.
type Function = Option<extern "C" fn(*mut c_void, *mut c_void) -> c_long>;

unsafe fn reduce_by(x: *mut u8, xlen: i64, work: *mut u8, function: Function) -> Nx<()> {
    together(words::global(), tag::REDUCE, |nodes| {
        let function = function.ok_or(NxError::Hnd)?;
        // SAFETY: the program's memory, which it does not use meanwhile but in its function.
        let (x, work) = unsafe { (bytes_of(x, xlen)?, bytes_of(work, xlen)?) };
        // The function takes whole operands.
        let whole = x.len();
        combine_all(nodes, x, work, (whole, Order::Any), &mut |x, other| {
            function(x.as_mut_ptr().cast(), other.as_ptr().cast_mut().cast());
        })
    })
}

/// Combines the operands of all nodes by a function of the program, which must be associative and commutative.
///
/// # Safety
/// `x` and `work` must have `xlen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gopf(x: *mut c_void, xlen: c_long, work: *mut c_void, function: Function) {
    // SAFETY: the caller's promise.
    super::or_end("gopf", unsafe { reduce_by(x.cast(), xlen, work.cast(), function) });
}

/// The same; -1 and `errno` on failure.
///
/// # Safety
/// As for `gopf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _gopf(
    x: *mut c_void,
    xlen: c_long,
    work: *mut c_void,
    function: Function,
) -> c_long {
    // SAFETY: the caller's promise.
    super::or_errno(unsafe { reduce_by(x.cast(), xlen, work.cast(), function) })
}

/// For Fortran.
///
/// # Safety
/// As for `gopf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gopf_(x: *mut c_void, xlen: *const i32, work: *mut c_void, function: Function) {
    // SAFETY: Fortran passes the address of an integer; the rest is the caller's promise.
    super::or_end("gopf", unsafe { reduce_by(x.cast(), (*xlen).into(), work.cast(), function) });
}

/// Puts what all nodes have one behind the other, in node order; gives the bytes of all.
unsafe fn collect(x: *mut u8, xlen: i64, y: *mut u8, ylen: i64) -> Nx<i64> {
    together(words::global(), tag::GATHER, |nodes| {
        // SAFETY: the program's memory, which it does not use meanwhile.
        let (x, y) = unsafe { (bytes_of(x, xlen)?, bytes_of(y, ylen)?) };
        let size = nodes.group().size;
        let mut told = vec![0; 8 * size];
        concat(nodes, &xlen.to_ne_bytes(), &vec![8; size], &mut told)?;
        let length = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().expect("eight bytes")) as usize;
        let lengths: Vec<usize> = told.chunks_exact(8).map(length).collect();
        put_together(nodes, x, &lengths, y)
    })
}

/// The same when all know how much each has.
unsafe fn collect_known(x: *mut u8, xlens: impl Numbers, is_null: bool, y: *mut u8) -> Nx<i64> {
    together(words::global(), tag::GATHER, |nodes| {
        if is_null {
            return Err(NxError::PBuf);
        }
        let plans::Group { own, size } = nodes.group();
        let given = (0..size).map(|node| usize::try_from(xlens.get(node)).map_err(|_| NxError::Len));
        let lengths: Nx<Vec<usize>> = given.collect();
        let lengths = lengths?;
        let total = total_of(&lengths)?;
        // SAFETY: the program's memory, which it does not use meanwhile.
        let (x, y) = unsafe { (bytes_of(x, lengths[own] as i64)?, bytes_of(y, total as i64)?) };
        put_together(nodes, x, &lengths, y)
    })
}

fn total_of(lengths: &[usize]) -> Nx<usize> {
    let total = lengths.iter().try_fold(0usize, |sum, &length| sum.checked_add(length));
    total.filter(|total| i64::try_from(*total).is_ok()).ok_or(NxError::BLen)
}

fn put_together(nodes: &mut Group<'_>, x: &[u8], lengths: &[usize], y: &mut [u8]) -> Nx<i64> {
    let total = total_of(lengths)?;
    if let Some(room) = y.get_mut(..total) {
        concat(nodes, x, lengths, room)?;
        return Ok(total as i64);
    }
    // The other nodes get theirs all the same.
    let mut all = vec![0; total];
    concat(nodes, x, lengths, &mut all)?;
    y.copy_from_slice(&all[..y.len()]);
    Err(NxError::MsgLong)
}

fn concat(nodes: &mut Group<'_>, x: &[u8], lengths: &[usize], all: &mut [u8]) -> Nx<()> {
    let parts = in_a_row(lengths.iter().copied());
    if let Some(mut segment) = nodes.segment()? {
        return nodes.outcome(segment::allgather(&mut segment, Some(x), &parts, all));
    }
    let plan = choose::allgather(nodes.placement(), &parts);
    let mut scratch = vec![0; plan.needs(Area::Scratch)];
    let outcome = run(nodes, &plan, Areas { mine: x, data: all, scratch: &mut scratch }, &mut none);
    nodes.outcome(outcome)
}

/// Puts what all nodes have one behind the other.
///
/// # Safety
/// `x` must have `xlen` bytes, `y` `ylen`, and `ncnt` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gcol(x: *mut c_void, xlen: c_long, y: *mut c_void, ylen: c_long, ncnt: *mut c_long) {
    // SAFETY: the caller's promise.
    let total = super::or_end("gcol", unsafe { collect(x.cast(), xlen, y.cast(), ylen) });
    if !ncnt.is_null() {
        // SAFETY: not null, and writable as the caller says.
        unsafe { ncnt.write(total) };
    }
}

/// The same; -1 and `errno` on failure.
///
/// # Safety
/// As for `gcol`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _gcol(
    x: *mut c_void,
    xlen: c_long,
    y: *mut c_void,
    ylen: c_long,
    ncnt: *mut c_long,
) -> c_long {
    // SAFETY: the caller's promise.
    let collected = unsafe { collect(x.cast(), xlen, y.cast(), ylen) };
    if let (Ok(total), false) = (&collected, ncnt.is_null()) {
        // SAFETY: not null, and writable as the caller says.
        unsafe { ncnt.write(*total) };
    }
    super::or_errno(collected.map(|_| ()))
}

/// For Fortran.
///
/// # Safety
/// As for `gcol`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gcol_(
    x: *mut c_void,
    xlen: *const i32,
    y: *mut c_void,
    ylen: *const i32,
    ncnt: *mut i32,
) {
    // SAFETY: Fortran passes the addresses of integers; the rest is the caller's promise.
    unsafe {
        let collected = collect(x.cast(), (*xlen).into(), y.cast(), (*ylen).into());
        ncnt.write(super::or_end("gcol", collected) as i32);
    }
}

/// The same when all know how much each has.
///
/// # Safety
/// `xlens` must have a number for each node, `x` as many bytes as it says of this one, `y` as many as of all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gcolx(x: *mut c_void, xlens: *const c_long, y: *mut c_void) {
    // SAFETY: the caller's promise.
    super::or_end("gcolx", unsafe { collect_known(x.cast(), xlens, xlens.is_null(), y.cast()) });
}

/// The same; -1 and `errno` on failure.
///
/// # Safety
/// As for `gcolx`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _gcolx(x: *mut c_void, xlens: *const c_long, y: *mut c_void) -> c_long {
    // SAFETY: the caller's promise.
    super::or_errno(unsafe { collect_known(x.cast(), xlens, xlens.is_null(), y.cast()) }.map(|_| ()))
}

/// For Fortran.
///
/// # Safety
/// As for `gcolx`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gcolx_(x: *mut c_void, xlens: *const i32, y: *mut c_void) {
    // SAFETY: the caller's promise.
    super::or_end("gcolx", unsafe { collect_known(x.cast(), xlens, xlens.is_null(), y.cast()) });
}
