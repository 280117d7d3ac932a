//! The functions of `Tmk.h`. An error ends the run, because TreadMarks' calls return nothing.

mod fortran;

use crate::errors::{Trouble, end};
use crate::nodes::reduce::operation;
use crate::nodes::startup;
use crate::run::{Run, of_call, run};
use crate::shown::numbers;
use crate::words;
use libc::{c_char, c_int, c_uint, c_ulong};
use parvum_collectives::operators::{combine, order};
use parvum_sync::fork;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

/// Which process this is.
#[unsafe(export_name = "Tmk_proc_id")]
pub static PROC_ID: AtomicU32 = AtomicU32::new(0);
/// How many there are.
#[unsafe(export_name = "Tmk_nprocs")]
pub static NPROCS: AtomicU32 = AtomicU32::new(1);
/// Bytes of the unit that is shared.
#[unsafe(export_name = "Tmk_page_size")]
pub static PAGE_SIZE: AtomicU32 = AtomicU32::new(4096);

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn parvum_tmk_errexit(format: *const c_char, ...) -> !;
}

/// Does a call, or ends the run.
#[inline]
fn call<T>(name: &'static str, work: impl FnOnce(&'static Run) -> Result<T, Trouble>) -> T {
    match of_call(name).and_then(work) {
        Ok(value) => value,
        Err(why) => end(&why),
    }
}

/// Joins the processes of the run. Returns when all have called it. `argv` is looked at behind a lone `--`.
///
/// # Safety
/// `argv` has `argc` strings, as `main` gets them, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Tmk_startup(argc: c_int, argv: *mut *mut c_char) {
    let count = if argv.is_null() { 0 } else { usize::try_from(argc).unwrap_or(0) };
    let word = |at: usize| {
        // SAFETY: the caller's promise.
        let word = unsafe { *argv.add(at) };
        // SAFETY: as above.
        (!word.is_null()).then(|| unsafe { CStr::from_ptr(word) }.to_string_lossy().into_owned())
    };
    let arguments: Vec<String> = (0..count).filter_map(word).collect();
    match startup::start(&arguments) {
        Ok(run) => {
            // Relaxed: the readers have called this function.
            PROC_ID.store(run.peers.own as u32, Ordering::Relaxed);
            NPROCS.store(run.peers.services.len() as u32, Ordering::Relaxed);
            PAGE_SIZE.store(run.heap.page as u32, Ordering::Relaxed);
            // SAFETY: the function stays, for the library is never unloaded while it is used.
            unsafe { on_exit(at_exit, std::ptr::null_mut()) };
        }
        Err(why) => end(&why),
    }
}

/// A process that ends well without `Tmk_exit` leaves as if it had called it; one that ends otherwise ends the run.
extern "C" fn at_exit(status: c_int, _: *mut c_void) {
    let Some(run) = run().filter(|_| !fork::is_child()) else { return };
    if status != 0 {
        run.abandon();
    } else if let Err(why) = run.leave() {
        end(&why);
    }
}

/// Ends this process. Ends this process. With status 0 it first serves the others until all want to end; with another
/// status it ends the run at once.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_exit(status: c_int) -> ! {
    call("Tmk_exit", |run| if status == 0 { run.leave() } else { Ok(()) });
    // SAFETY: it runs what the program has left to be run at its end.
    unsafe { libc::exit(status) }
}

/// As `Tmk_exit(0)`, and the process goes on to its end by itself: for the Python package, whose interpreter has its own way to that.
#[unsafe(no_mangle)]
pub extern "C" fn parvum_tmk_leave() {
    call("Tmk_exit", |run| run.leave());
}

/// Prints the message, and ends the process and the run. `c/errexit.c` takes the arguments.
///
/// # Safety
/// The arguments are as `printf` wants them.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn Tmk_errexit(_format: *const c_char) -> ! {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("jmp {there}", there = sym parvum_tmk_errexit);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("b {there}", there = sym parvum_tmk_errexit);
}

/// A block of shared memory; null: there is no room.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_malloc(size: c_uint) -> *mut c_char {
    let address = call("Tmk_malloc", |run| run.allocate(size.into()));
    std::ptr::with_exposed_provenance_mut(address)
}

/// Gives a block back. Null is none.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_free(ptr: *mut c_char) {
    call("Tmk_free", |run| if ptr.is_null() { Ok(()) } else { run.free(ptr.addr()) });
}

/// This number of bytes after the bytes of earlier calls; null: there is no room.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_sbrk(incr: c_uint) -> *mut c_char {
    let address = call("Tmk_sbrk", |run| run.grow(incr.into()));
    std::ptr::with_exposed_provenance_mut(address)
}

/// Copies a private variable of this process to the same variable of all others. It is there when this returns.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_distribute(ptr: *mut c_char, size: c_int) {
    call("Tmk_distribute", |run| match usize::try_from(size) {
        Err(_) => Err(Trouble::BadArgument(
            "the size given to Tmk_distribute is negative; help: give how many bytes",
        )),
        Ok(0) => Ok(()),
        Ok(size) => run.distribute(ptr.expose_provenance(), size),
    });
}

/// Waits for all processes to call this with the same id.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_barrier(id: c_uint) {
    call("Tmk_barrier", |run| match run.barrier(id)? {
        None => Ok(()),
        Some(_) => Err(run.peers.death()),
    });
}

/// The same, for programs that continue after deaths. Returns 0, or the number of dead processes. In the second case
/// the work since the previous barrier is undone.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_barrier_kept(id: c_uint) -> c_int {
    call("Tmk_barrier_kept", |run| run.barrier(id)).unwrap_or(0) as c_int
}

/// Whether a process is alive, as far as this process knows.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_is_alive(node: c_uint) -> c_int {
    call("Tmk_is_alive", |run| {
        Ok(c_int::from((node as usize) < run.peers.services.len() && !run.peers.is_dead(node as usize)))
    })
}

/// Takes a lock.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_lock_acquire(id: c_uint) {
    call("Tmk_lock_acquire", |run| run.acquire(id));
}

/// Releases it.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_lock_release(id: c_uint) {
    call("Tmk_lock_release", |run| run.release(id));
}

/// Memory of a view: only a process that has acquired the view may access it. Null: there is no room.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_alloc_view(view: c_uint, size: c_uint) -> *mut c_char {
    let address = call("Tmk_alloc_view", |run| run.allocate_view(view, size.into()));
    std::ptr::with_exposed_provenance_mut(address)
}

/// Acquires a view alone, to read and write it.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_acquire_view(view: c_uint) {
    call("Tmk_acquire_view", |run| run.acquire_view(view, true));
}

/// Releases it.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_release_view(view: c_uint) {
    call("Tmk_release_view", |run| run.release_view(view, true));
}

/// Acquires a view to read it, as others may at the same time.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_acquire_Rview(view: c_uint) {
    call("Tmk_acquire_Rview", |run| run.acquire_view(view, false));
}

/// Releases it.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_release_Rview(view: c_uint) {
    call("Tmk_release_Rview", |run| run.release_view(view, false));
}

/// Makes memory current and opens it to this process, as an access would: for system calls, which do not.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_touch(ptr: *mut c_char, size: c_uint, write: c_int) {
    call(
        "Tmk_touch",
        |run| if size == 0 { Ok(()) } else { run.touch(ptr.addr(), size as usize, write != 0) },
    );
}

/// Promises that the program will write all of the memory before any process reads it.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_overwrite(ptr: *mut c_char, size: c_uint) {
    call("Tmk_overwrite", |run| if size == 0 { Ok(()) } else { run.overwrite(ptr.addr(), size as usize) });
}

/// Gives the pages that lie wholly in the memory a home.
#[unsafe(no_mangle)]
pub extern "C" fn Tmk_home(ptr: *mut c_char, size: c_uint) {
    call("Tmk_home", |run| if size == 0 { Ok(()) } else { run.give_home(ptr.addr(), size as usize) });
}

/// Combines arrays of all processes, element by element.
///
/// # Safety
/// `data` has `count` elements of the type, and nobody else uses them until this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Tmk_reduce(data: *mut c_void, count: c_uint, kind: c_int, op: c_int) {
    call("Tmk_reduce", |run| {
        let wrong = Trouble::BadArgument(
            "Tmk_reduce takes types TMK_INT to TMK_DOUBLE and operators TMK_SUM to TMK_MAX",
        );
        let Some((type_, operator)) = operation(kind, op) else { return Err(wrong) };
        let length = count as usize * type_.size();
        if length == 0 {
            return Ok(());
        }
        if data.is_null() || run.heap.meets(data.addr(), length) {
            return Err(Trouble::BadArgument(
                "Tmk_reduce takes an array of private memory; help: copy there what is shared",
            ));
        }
        // SAFETY: the caller's promise.
        let data = unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), length) };
        let combine = combine(operator, type_).ok_or(wrong)?;
        if run.replicas {
            return run.reduce(data, kind as u8, op as u8);
        }
        run.peers.partition.calls_it(words::reduce());
        let outcome =
            run.peers.partition.reduce_all(data, type_.size(), order(operator, type_), &mut |into, from| {
                combine(into, from)
            });
        outcome.map_err(|failure| crate::nodes::near::lost(failure, &run.peers.partition))
    });
}

/// `struct Tmk_stat`.
#[repr(C)]
pub struct Statistics([c_ulong; 18]);

/// The counters of this process.
///
/// # Safety
/// `out` is writable, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Tmk_statistics(out: *mut Statistics) -> c_int {
    let Some(run) = run().filter(|_| !out.is_null()) else { return -1 };
    let numbers = numbers(&run.counts());
    // SAFETY: the caller's promise.
    unsafe { out.write(Statistics(numbers.map(|number| number as c_ulong))) };
    0
}
