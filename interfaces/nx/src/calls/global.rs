//! Collectives: gsync(3), gdsum(3) and related calls, gcol(3), gopf(3).
//!
//! Every node must call, in the same order and with the same lengths. Results are the same to the last bit on all nodes.

use super::Numbers;
use crate::account::{self, Call};
use crate::errors::{Nx, NxError};
use crate::exchange::{Group, Lent};
use crate::ids;
use crate::task::ptype_in_use;
use crate::words;
use libc::{c_double, c_float, c_long};
use parvum_collectives::exposed::{self, Exposed, OpenMemory};
use parvum_collectives::operators::{self, Kind, Operator};
use parvum_collectives::plans::{self, Area, Order, choose, in_a_row};
use parvum_collectives::segment::{self, SharedSegment};
use parvum_collectives::table::{self, Algorithm, Case, Operation};
use parvum_collectives::{Combine, Exchange, Memory as Areas, none, run};
use parvum_partition::tag;

super::faces! {
    /// Waits until all nodes have called it.
    gsync _gsync gsync_ () none => work::gsync();
}

mod work {
    use super::{Areas, Nx, choose, none, run, segment, tag, together, words};

    pub(super) fn gsync() -> Nx<()> {
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
        // SAFETY: the program's vectors have this number of elements, and the program uses neither of them during the
        // call.
        let (x, work) = unsafe {
            let (x, work) = (Lent::new(x.cast(), bytes), Lent::new(work.cast(), bytes));
            (x.memory()?.slice(), work.memory()?.slice())
        };
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

super::faces! {
    /// Combines the operands of all nodes by a function of the program, which must be associative and commutative.
    gopf _gopf gopf_ (b x, n xlen, b work, f function) none
        => reduce_by(Lent::new(x, xlen), Lent::new(work, xlen), function);
    /// Puts what all nodes have one behind the other.
    gcol _gcol gcol_ (b x, n xlen, b y, n ylen, o ncnt) none
        => collect(Lent::new(x, xlen), Lent::new(y, ylen)).map(|total| ncnt.put(total));
    /// The same when all know how much each has.
    gcolx _gcolx gcolx_ (b x, l xlens, b y) none => collect_known(x, xlens, y).map(|_| ());
}

fn reduce_by(x: Lent, work: Lent, function: super::Combine) -> Nx<()> {
    together(words::global(), tag::REDUCE, |nodes| {
        let function = function.ok_or(NxError::Hnd)?;
        // SAFETY: during the call the program uses its memory only in its function.
        let (x, work) = unsafe { (x.memory()?.slice(), work.memory()?.slice()) };
        // The function takes whole operands.
        let whole = x.len();
        combine_all(nodes, x, work, (whole, Order::Any), &mut |x, other| {
            function(x.as_mut_ptr().cast(), other.as_ptr().cast_mut().cast());
        })
    })
}

/// Puts what all nodes have one behind the other, in node order; gives the bytes of all.
fn collect(x: Lent, y: Lent) -> Nx<i64> {
    together(words::global(), tag::GATHER, |nodes| {
        let count = x.count();
        // SAFETY: the program does not use its memory during the call.
        let (x, y) = unsafe { (x.memory()?.slice(), y.memory()?.slice()) };
        let size = nodes.group().size;
        let mut told = vec![0; 8 * size];
        concat(nodes, &count.to_ne_bytes(), &vec![8; size], &mut told)?;
        let length = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().expect("eight bytes")) as usize;
        let lengths: Vec<usize> = told.chunks_exact(8).map(length).collect();
        put_together(nodes, x, &lengths, y)
    })
}

/// The same when all know how much each has.
///
/// # Safety
/// `xlens` must have a number for each node. `x` must have the bytes of this node's number, and `y` the bytes of all
/// numbers together.
unsafe fn collect_known(x: *mut u8, xlens: Numbers, y: *mut u8) -> Nx<i64> {
    together(words::global(), tag::GATHER, |nodes| {
        if xlens.is_null() {
            return Err(NxError::PBuf);
        }
        let plans::Group { own, size } = nodes.group();
        // SAFETY: not null, and the caller's promise.
        let given = unsafe { xlens.first(size) };
        let lengths: Nx<Vec<usize>> =
            given.into_iter().map(|length| usize::try_from(length).map_err(|_| NxError::Len)).collect();
        let lengths = lengths?;
        let total = total_of(&lengths)?;
        // SAFETY: the caller promises the lengths above, and the program does not use its memory during the call.
        let (x, y) = unsafe {
            let (x, y) = (Lent::new(x, lengths[own] as i64), Lent::new(y, total as i64));
            (x.memory()?.slice(), y.memory()?.slice())
        };
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
