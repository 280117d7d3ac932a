//! The functions of `nx.h`, and the same for Fortran: arguments checked and turned into Rust's.
//!
//! Each call has three forms, made by [`faces`]. The plain form prints an error and ends the program. The form with an
//! underscore returns -1 and sets `errno`. The arguments of the Fortran form are references to default integers. The
//! library must trust the program's claims about its own memory (that `count` bytes are at a pointer), as NX did.

mod environment;
mod global;
mod handlers;
mod ids;
mod info;
mod messages;

use crate::errors::{Nx, NxError, who_ended};
use crate::ids::InfoPlace;
use crate::task::{Task, own_node, task};
use crate::{handlers as posted, interrupt};
use parvum_api::pointers::Out;

/// The C type of an argument: `n` a number, `b` a buffer, `i` an info array, `l` a list of numbers, `o` the address of
/// a number, `f` a combining function.
macro_rules! c_type {
    (n) => { libc::c_long };
    (b) => { *mut libc::c_void };
    (i) => { *mut libc::c_long };
    (l) => { *const libc::c_long };
    (o) => { *mut libc::c_long };
    (f) => { crate::calls::Combine };
}
/// The same of Fortran's.
macro_rules! f_type {
    (n) => { *const i32 };
    (b) => { *mut libc::c_void };
    (i) => { *mut i32 };
    (l) => { *const i32 };
    (o) => { *mut i32 };
    (f) => { crate::calls::Combine };
}
macro_rules! c_value {
    (b $arg:ident) => {
        $arg.cast::<u8>()
    };
    (i $arg:ident) => {
        crate::calls::c_info($arg)
    };
    (l $arg:ident) => {
        crate::calls::Numbers::C($arg)
    };
    (o $arg:ident) => {
        crate::calls::Place::C(parvum_api::pointers::Out::new($arg))
    };
    ($other:ident $arg:ident) => {
        $arg
    };
}
macro_rules! f_value {
    (n $arg:ident) => {
        // Fortran passes the address of an integer.
        i64::from(*$arg)
    };
    (b $arg:ident) => {
        $arg.cast::<u8>()
    };
    (i $arg:ident) => {
        crate::calls::f_info($arg)
    };
    (l $arg:ident) => {
        crate::calls::Numbers::Fortran($arg)
    };
    (o $arg:ident) => {
        crate::calls::Place::Fortran(parvum_api::pointers::Out::new($arg))
    };
    ($other:ident $arg:ident) => {
        $arg
    };
}
/// Turns the arguments into Rust's, then does the work.
macro_rules! work {
    (c ($($kind:ident $arg:ident),*) $work:expr) => {{
        $(let $arg = crate::calls::c_value!($kind $arg);)*
        $work
    }};
    (f ($($kind:ident $arg:ident),*) $work:expr) => {{
        $(let $arg = crate::calls::f_value!($kind $arg);)*
        $work
    }};
}

/// The faces of calls. `none`: the plain call gives nothing, and the twin 0. After `=>` comes the code. It is safe
/// code, except for unsafe constructors that name the caller's promise, such as
/// [`Lent::new`](crate::exchange::Lent::new).
macro_rules! faces {
    ($($(#[$doc:meta])* $plain:ident $twin:ident $fortran:ident ($($kind:ident $arg:ident),*) $value:ident
        => $work:expr;)*) => {
        $(crate::calls::face!($value $(#[$doc])* $plain $twin $fortran ($($kind $arg),*) $work);)*
    };
}
macro_rules! face {
    (none $(#[$doc:meta])* $plain:ident $twin:ident $fortran:ident ($($kind:ident $arg:ident),*) $work:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Buffers must be the program's memory, as long as it says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $plain($($arg: crate::calls::c_type!($kind)),*) {
            // SAFETY: the caller's promise.
            #[allow(unused_unsafe, reason = "a call of numbers only has nothing to promise")]
            let done = unsafe { crate::calls::work!(c ($($kind $arg),*) $work) };
            crate::calls::or_end(stringify!($plain), done);
        }
        crate::calls::face!(twin $plain $twin ($($kind $arg),*) $work);
        /// For Fortran.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran($($arg: crate::calls::f_type!($kind)),*) {
            // SAFETY: Fortran passes the addresses of integers; the rest is the caller's promise.
            #[allow(unused_unsafe, reason = "a call of numbers only has nothing to promise")]
            let done = unsafe { crate::calls::work!(f ($($kind $arg),*) $work) };
            crate::calls::or_end(stringify!($plain), done);
        }
    };
    (value $(#[$doc:meta])* $plain:ident $twin:ident $fortran:ident ($($kind:ident $arg:ident),*) $work:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Buffers must be the program's memory, as long as it says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $plain($($arg: crate::calls::c_type!($kind)),*) -> libc::c_long {
            // SAFETY: the caller's promise.
            #[allow(unused_unsafe, reason = "a call of numbers only has nothing to promise")]
            let done = unsafe { crate::calls::work!(c ($($kind $arg),*) $work) };
            crate::calls::or_end(stringify!($plain), done)
        }
        crate::calls::face!(twin $plain $twin ($($kind $arg),*) $work);
        /// For Fortran.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran($($arg: crate::calls::f_type!($kind)),*) -> i32 {
            // SAFETY: Fortran passes the addresses of integers; the rest is the caller's promise.
            #[allow(unused_unsafe, reason = "a call of numbers only has nothing to promise")]
            let done = unsafe { crate::calls::work!(f ($($kind $arg),*) $work) };
            crate::calls::or_end(stringify!($plain), done) as i32
        }
    };
    (twin $plain:ident $twin:ident ($($kind:ident $arg:ident),*) $work:expr) => {
        /// The same; -1 and `errno` on failure.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $twin($($arg: crate::calls::c_type!($kind)),*) -> libc::c_long {
            // SAFETY: the caller's promise.
            #[allow(unused_unsafe, reason = "a call of numbers only has nothing to promise")]
            let done = unsafe { crate::calls::work!(c ($($kind $arg),*) $work) };
            crate::calls::or_errno(done)
        }
    };
}
pub(crate) use {c_type, c_value, f_type, f_value, face, faces, work};

/// Combines two operands, the result in the first.
pub(crate) type Combine = Option<extern "C" fn(*mut libc::c_void, *mut libc::c_void) -> libc::c_long>;

/// The result of a call: no result counts as 0.
pub(crate) trait Value {
    fn number(self) -> i64;
}

impl Value for () {
    fn number(self) -> i64 {
        0
    }
}

impl Value for i64 {
    fn number(self) -> i64 {
        self
    }
}

/// The value of a plain call, or the end of the program.
#[inline]
fn or_end(name: &str, done: Nx<impl Value>) -> i64 {
    match done {
        Ok(value) => value.number(),
        Err(why) => fail_for_good(name, why),
    }
}

/// The value of a call with an underscore, or -1 and `errno`.
#[inline]
fn or_errno(done: Nx<impl Value>) -> i64 {
    match done {
        Ok(value) => value.number(),
        Err(why) => {
            who_ended();
            // SAFETY: errno is this thread's.
            unsafe { *libc::__errno_location() = why as i32 };
            -1
        }
    }
}

/// Prints the error and ends the program.
#[cold]
pub(crate) fn fail_for_good(name: &str, why: NxError) -> ! {
    let text = match who_ended() {
        Some(node) => {
            format!("node {node} has ended, and this needs all nodes; end none before all have called it")
        }
        None => why.text().to_owned(),
    };
    match own_node() {
        Some(node) => eprintln!("libnx [node {node}]: {name}: {text}"),
        None => eprintln!("libnx [pid {}]: {name}: {text}", std::process::id()),
    }
    // SAFETY: C's own way out, with what the program has asked for at its end.
    unsafe { libc::exit(1) }
}

/// Runs a call on this process's task; handlers whose messages have come run before it returns.
#[inline]
fn with<R>(work: impl FnOnce(&'static Task) -> Nx<R>) -> Nx<R> {
    let task = task()?;
    let was_inside = interrupt::is_needed() && interrupt::enters();
    let result = work(task);
    if interrupt::is_needed() {
        posted::run_ready(task);
        interrupt::leaves(task.api, was_inside);
    }
    result
}

fn c_info(place: *mut libc::c_long) -> InfoPlace {
    if place.is_null() { InfoPlace::None } else { InfoPlace::C(place) }
}

fn f_info(place: *mut i32) -> InfoPlace {
    if place.is_null() { InfoPlace::None } else { InfoPlace::Fortran(place) }
}

/// A list of numbers of a program, of unknown length.
#[derive(Clone, Copy)]
pub(crate) enum Numbers {
    C(*const libc::c_long),
    Fortran(*const i32),
}

impl Numbers {
    fn is_null(self) -> bool {
        match self {
            Numbers::C(list) => list.is_null(),
            Numbers::Fortran(list) => list.is_null(),
        }
    }

    /// The first numbers.
    ///
    /// # Safety
    /// The list must have `count` items. It may be null only if `count` is 0.
    unsafe fn first(self, count: usize) -> Vec<i64> {
        // SAFETY: the caller's promise.
        let get = |at: usize| unsafe {
            match self {
                Numbers::C(list) => list.add(at).read_unaligned(),
                Numbers::Fortran(list) => i64::from(list.add(at).read_unaligned()),
            }
        };
        (0..count).map(get).collect()
    }
}

/// The address at which a program wants a number.
pub(crate) enum Place<'a> {
    C(Out<'a, libc::c_long>),
    Fortran(Out<'a, i32>),
}

impl Place<'_> {
    fn put(self, number: i64) {
        match self {
            Place::C(place) => place.put(number),
            Place::Fortran(place) => place.put(number as i32),
        }
    }
}
