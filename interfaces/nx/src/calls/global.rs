//! What all nodes do together: gsync(3), gdsum(3) and its kin, gcol(3), gopf(3).
//!
//! Every node must call, in the same order and with the same lengths. Results are the same to the last bit on all nodes.

use super::Numbers;
use crate::account::{self, Call};
use crate::errors::{Nx, NxError};
use crate::exchange::{Group, Memory, waits};
use crate::ids;
use crate::task::ptype_in_use;
use libc::{c_double, c_float, c_long, c_void};
use parvum_partition::{Exchange, Together};

super::faces! {
    /// Waits until all nodes have called it.
    gsync _gsync gsync_ () none;
}

mod work {
    use super::{Nx, together, waits};

    pub(super) unsafe fn gsync() -> Nx<()> {
        together(waits::GSYNC, |nodes| Ok(nodes.barrier()?))
    }
}

/// Runs a global operation. It contains receives of messages that have not come, so what was asked for and has come is
/// copied first.
fn together<R>(call: u32, work: impl FnOnce(&Together<'_, Group<'_>>) -> Nx<R>) -> Nx<R> {
    super::with(|task| {
        ptype_in_use()?;
        if ids::may_have_claims() {
            task.waist.settle(None);
        }
        let result = work(&Together(&Group { task, call }));
        account::copied_in(task, Call::Global);
        result
    })
}

/// A number that can be combined, as it lies in memory.
trait Element: Copy {
    const BYTES: usize;
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);
}

macro_rules! elements {
    ($($type:ty),*) => {$(
        impl Element for $type {
            const BYTES: usize = size_of::<$type>();
            #[inline]
            fn load(bytes: &[u8]) -> $type {
                <$type>::from_ne_bytes(bytes.try_into().expect("as many bytes as it has"))
            }
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}
elements!(i64, i32, f32, f64);

/// Combines the vectors of all nodes into `x`, element by element, after each element was prepared; `work` is scratch.
unsafe fn reduce<T: Element>(
    x: *mut T,
    n: i64,
    work: *mut T,
    prepare: Option<fn(T) -> T>,
    combine: impl Fn(T, T) -> T,
) -> Nx<()> {
    together(waits::GLOBAL, |nodes| {
        let bytes = n.checked_mul(T::BYTES as i64).ok_or(NxError::BLen)?;
        // SAFETY: the program's vectors have so many elements, and it uses neither meanwhile.
        let (x, work) = unsafe { (bytes_of(x.cast(), bytes)?, bytes_of(work.cast(), bytes)?) };
        if let Some(prepare) = prepare {
            x.chunks_exact_mut(T::BYTES).for_each(|mine| prepare(T::load(mine)).store(mine));
        }
        let mut all = |x: &mut [u8], other: &[u8]| {
            for (mine, theirs) in x.chunks_exact_mut(T::BYTES).zip(other.chunks_exact(T::BYTES)) {
                combine(T::load(mine), T::load(theirs)).store(mine);
            }
        };
        Ok(nodes.reduce_all(x, work, &mut all)?)
    })
}

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

/// Reductions: their names, the types of C and of Fortran, what is done with each element first (truth values become 0 or 1),
/// and with two.
macro_rules! reductions {
    ($($plain:ident $twin:ident $fortran:ident $c:ty, $f:ty, $prepare:expr, $combine:expr;)*) => {$(
        /// Combines the vectors of all nodes.
        ///
        /// # Safety
        /// Both vectors must have `n` elements.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $plain(x: *mut $c, n: c_long, work: *mut $c) {
            // SAFETY: the caller's promise.
            super::or_end(stringify!($plain), unsafe { reduce(x, n, work, $prepare, $combine) });
        }
        /// The same; -1 and `errno` on failure.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $twin(x: *mut $c, n: c_long, work: *mut $c) -> c_long {
            // SAFETY: the caller's promise.
            super::or_errno(unsafe { reduce(x, n, work, $prepare, $combine) })
        }
        /// For Fortran.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran(x: *mut $f, n: *const i32, work: *mut $f) {
            // SAFETY: Fortran passes the address of an integer; the rest is the caller's promise.
            super::or_end(stringify!($plain), unsafe { reduce(x, (*n).into(), work, $prepare, $combine) });
        }
    )*};
}

reductions! {
    gisum _gisum gisum_ c_long, i32, None, |a, b| a.wrapping_add(b);
    gssum _gssum gssum_ c_float, f32, None, |a, b| a + b;
    gdsum _gdsum gdsum_ c_double, f64, None, |a, b| a + b;
    giprod _giprod giprod_ c_long, i32, None, |a, b| a.wrapping_mul(b);
    gsprod _gsprod gsprod_ c_float, f32, None, |a, b| a * b;
    gdprod _gdprod gdprod_ c_double, f64, None, |a, b| a * b;
    gihigh _gihigh gihigh_ c_long, i32, None, |a, b| a.max(b);
    gshigh _gshigh gshigh_ c_float, f32, None, |a, b| if b > a { b } else { a };
    gdhigh _gdhigh gdhigh_ c_double, f64, None, |a, b| if b > a { b } else { a };
    gilow _gilow gilow_ c_long, i32, None, |a, b| a.min(b);
    gslow _gslow gslow_ c_float, f32, None, |a, b| if b < a { b } else { a };
    gdlow _gdlow gdlow_ c_double, f64, None, |a, b| if b < a { b } else { a };
    giand _giand giand_ c_long, i32, None, |a, b| a & b;
    gior _gior gior_ c_long, i32, None, |a, b| a | b;
    gixor _gixor gixor_ c_long, i32, None, |a, b| a ^ b;
    gland _gland gland_ c_long, i32, Some(|a| (a != 0).into()), |a, b| a & b;
    glor _glor glor_ c_long, i32, Some(|a| (a != 0).into()), |a, b| a | b;
    glxor _glxor glxor_ c_long, i32, Some(|a| (a != 0).into()), |a, b| a ^ b;
}

/// Combines two operands, the result in the first.
type Function = Option<extern "C" fn(*mut c_void, *mut c_void) -> c_long>;

unsafe fn reduce_by(x: *mut u8, xlen: i64, work: *mut u8, function: Function) -> Nx<()> {
    together(waits::GLOBAL, |nodes| {
        let function = function.ok_or(NxError::Hnd)?;
        // SAFETY: the program's memory, which it does not use meanwhile but in its function.
        let (x, work) = unsafe { (bytes_of(x, xlen)?, bytes_of(work, xlen)?) };
        let mut all = |x: &mut [u8], other: &[u8]| {
            function(x.as_mut_ptr().cast(), other.as_ptr().cast_mut().cast());
        };
        Ok(nodes.reduce_all(x, work, &mut all)?)
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
    together(waits::GLOBAL, |nodes| {
        // SAFETY: the program's memory, which it does not use meanwhile.
        let (x, y) = unsafe { (bytes_of(x, xlen)?, bytes_of(y, ylen)?) };
        let size = nodes.0.size();
        let mut told = vec![0; 8 * size];
        nodes.concat(&xlen.to_ne_bytes(), &vec![8; size], &mut told)?;
        let lengths: Vec<usize> = told.chunks_exact(8).map(|bytes| i64::load(bytes) as usize).collect();
        put_together(nodes, x, &lengths, y)
    })
}

/// The same when all know how much each has.
unsafe fn collect_known(x: *mut u8, xlens: impl Numbers, is_null: bool, y: *mut u8) -> Nx<i64> {
    together(waits::GLOBAL, |nodes| {
        if is_null {
            return Err(NxError::PBuf);
        }
        let given =
            (0..nodes.0.size()).map(|node| usize::try_from(xlens.get(node)).map_err(|_| NxError::Len));
        let lengths: Nx<Vec<usize>> = given.collect();
        let lengths = lengths?;
        let total: usize = lengths.iter().sum();
        // SAFETY: the program's memory, which it does not use meanwhile.
        let (x, y) = unsafe { (bytes_of(x, lengths[nodes.0.own()] as i64)?, bytes_of(y, total as i64)?) };
        put_together(nodes, x, &lengths, y)
    })
}

fn put_together(nodes: &Together<'_, Group<'_>>, x: &[u8], lengths: &[usize], y: &mut [u8]) -> Nx<i64> {
    let total: usize = lengths.iter().sum();
    if let Some(room) = y.get_mut(..total) {
        nodes.concat(x, lengths, room)?;
        return Ok(total as i64);
    }
    // The other nodes get theirs all the same.
    let mut all = vec![0; total];
    nodes.concat(x, lengths, &mut all)?;
    y.copy_from_slice(&all[..y.len()]);
    Err(NxError::MsgLong)
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
