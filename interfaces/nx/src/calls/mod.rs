//! The functions of `nx.h`, and the same for Fortran: arguments checked and turned into Rust's.
//!
//! Each call has three faces, made by [`faces`]: the plain one, which says what is wrong and ends the program; its twin with
//! an underscore, which gives -1 and sets `errno`; and Fortran's, whose arguments are references to default integers. What a
//! program says of its own memory (that `count` bytes lie at a pointer) must be believed, as NX believed it.

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

/// The C type of an argument: `n` a number, `b` a buffer, `i` an info array.
macro_rules! c_type {
    (n) => { libc::c_long };
    (b) => { *mut libc::c_void };
    (i) => { *mut libc::c_long };
}
/// The same of Fortran's.
macro_rules! f_type {
    (n) => { *const i32 };
    (b) => { *mut libc::c_void };
    (i) => { *mut i32 };
}
macro_rules! c_value {
    (n $arg:ident) => {
        $arg
    };
    (b $arg:ident) => {
        $arg.cast::<u8>()
    };
    (i $arg:ident) => {
        crate::calls::c_info($arg)
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
}

/// The faces of calls. `none`: the plain call gives nothing, and the twin 0.
macro_rules! faces {
    ($($(#[$doc:meta])* $plain:ident $twin:ident $fortran:ident ($($kind:ident $arg:ident),*) $value:ident;)*) => {
        $(crate::calls::face!($value $(#[$doc])* $plain $twin $fortran ($($kind $arg),*));)*
    };
}
macro_rules! face {
    (none $(#[$doc:meta])* $plain:ident $twin:ident $fortran:ident ($($kind:ident $arg:ident),*)) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Buffers must be the program's memory, as long as it says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $plain($($arg: crate::calls::c_type!($kind)),*) {
            // SAFETY: the caller's promise.
            let done = unsafe { work::$plain($(crate::calls::c_value!($kind $arg)),*) };
            crate::calls::or_end(stringify!($plain), done);
        }
        crate::calls::face!(twin $plain $twin ($($kind $arg),*));
        /// For Fortran.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran($($arg: crate::calls::f_type!($kind)),*) {
            // SAFETY: the caller's promise.
            let done = unsafe { work::$plain($(crate::calls::f_value!($kind $arg)),*) };
            crate::calls::or_end(stringify!($plain), done);
        }
    };
    (value $(#[$doc:meta])* $plain:ident $twin:ident $fortran:ident ($($kind:ident $arg:ident),*)) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Buffers must be the program's memory, as long as it says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $plain($($arg: crate::calls::c_type!($kind)),*) -> libc::c_long {
            // SAFETY: the caller's promise.
            let done = unsafe { work::$plain($(crate::calls::c_value!($kind $arg)),*) };
            crate::calls::or_end(stringify!($plain), done)
        }
        crate::calls::face!(twin $plain $twin ($($kind $arg),*));
        /// For Fortran.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran($($arg: crate::calls::f_type!($kind)),*) -> i32 {
            // SAFETY: the caller's promise.
            let done = unsafe { work::$plain($(crate::calls::f_value!($kind $arg)),*) };
            crate::calls::or_end(stringify!($plain), done) as i32
        }
    };
    (twin $plain:ident $twin:ident ($($kind:ident $arg:ident),*)) => {
        /// The same; -1 and `errno` on failure.
        ///
        /// # Safety
        /// As for the plain call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $twin($($arg: crate::calls::c_type!($kind)),*) -> libc::c_long {
            // SAFETY: the caller's promise.
            let done = unsafe { work::$plain($(crate::calls::c_value!($kind $arg)),*) };
            crate::calls::or_errno(done)
        }
    };
}
pub(crate) use {c_type, c_value, f_type, f_value, face, faces};

/// What a call gives: nothing counts as 0.
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

/// Says what is wrong and ends the program.
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

/// A list of numbers that a program gives.
trait Numbers {
    fn get(&self, at: usize) -> i64;
}

impl Numbers for *const libc::c_long {
    fn get(&self, at: usize) -> i64 {
        // SAFETY: the program gave so many.
        unsafe { self.add(at).read_unaligned() }
    }
}

impl Numbers for *const i32 {
    fn get(&self, at: usize) -> i64 {
        // SAFETY: the program gave so many.
        i64::from(unsafe { self.add(at).read_unaligned() })
    }
}
