//! Error handlers. An object keeps its handler for as long as it has it, whether the program has freed the handle by then or not.

use crate::callbacks::calling::calling;
use crate::errors::{self, Error, Mpi, class};
use crate::objects::handles::Objects;
use crate::objects::numbers::{
    ERRHANDLER_NULL, ERRORS_ABORT, ERRORS_ARE_FATAL, ERRORS_RETURN, ERRORS_THROW, Kind,
};
use crate::process::abort::{end_job, fatal};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// An error handler of the program's.
pub(crate) struct Errhandler {
    /// The handle by which the program knows it, whoever asks for it.
    handle: AtomicI32,
    /// So many times the program was given the handle, and has not freed it.
    given: Mutex<u32>,
    /// Which objects it is for.
    pub(crate) kind: Kind,
    /// Its address.
    pub(crate) function: usize,
    /// What calls it, where it is another language's.
    pub(crate) proxy: OnceLock<ErrhandlerProxy>,
}

/// How another language's library calls its program's error handler: whose it is (0 a communicator's, 1 a file's, 2 a window's), the
/// handle, the code, the function.
pub type ErrhandlerProxy = unsafe extern "C" fn(c_int, *mut c_void, *mut c_int, usize);

pub(crate) static ERRHANDLERS: Objects<Errhandler> = Objects::new(Kind::Errhandler);

/// Who handles the errors of an object.
#[derive(Clone)]
pub(crate) enum Handler {
    /// One of MPI's own, by its number.
    BuiltIn(i32),
    Made(Arc<Errhandler>),
}

impl Handler {
    pub(crate) const FATAL: Handler = Handler::BuiltIn(ERRORS_ARE_FATAL);
    pub(crate) const RETURN: Handler = Handler::BuiltIn(ERRORS_RETURN);

    /// That of a handle, if it is for such objects.
    pub(crate) fn of(handle: i32, kind: Kind) -> Mpi<Handler> {
        if matches!(handle, ERRORS_ARE_FATAL | ERRORS_RETURN | ERRORS_ABORT | ERRORS_THROW) {
            return Ok(Handler::BuiltIn(handle));
        }
        let refused = |text| Error::new(class::ERRHANDLER, text);
        match ERRHANDLERS.get(handle) {
            Some(handler) if handler.kind == kind => Ok(Handler::Made(handler)),
            Some(_) => Err(refused("the error handler is for other objects")),
            None => Err(refused("the handle names no error handler")),
        }
    }

    /// That of a handle, for whatever objects it is.
    pub(crate) fn given(handle: i32) -> Option<Handler> {
        [Kind::Comm, Kind::Session].into_iter().find_map(|kind| Handler::of(handle, kind).ok())
    }

    /// The handle for the program, which frees what it gets: each time the same.
    pub(crate) fn give(self) -> i32 {
        match self {
            Handler::BuiltIn(number) => number,
            Handler::Made(handler) => {
                let (handle, mut given) = (handler.handle(), handler.given());
                if *given == 0 {
                    ERRHANDLERS.revive(handle);
                }
                *given += 1;
                handle
            }
        }
    }

    /// Whether the program may go on after an error.
    pub(crate) fn is_tolerant(&self) -> bool {
        !matches!(self, Handler::BuiltIn(ERRORS_ARE_FATAL | ERRORS_ABORT))
    }

    /// Has it handle an error of an object; the code that the call gives then.
    pub(crate) fn handle(&self, object: i32, error: Error) -> c_int {
        match self {
            Handler::BuiltIn(ERRORS_ARE_FATAL) => fatal(&error),
            Handler::BuiltIn(ERRORS_ABORT) => end_job(&error, "MPI_ERRORS_ABORT is set"),
            Handler::BuiltIn(_) => error.into_code(),
            Handler::Made(handler) => {
                let code = handler.call(object, error.into_code());
                // C++'s binding calls the handler once more for a code that is given back to it.
                if handler.proxy.get().is_some() { 0 } else { code }
            }
        }
    }

    /// Has it handle a code, because the program says so.
    pub(crate) fn call(&self, object: i32, code: i32) -> Mpi {
        let none = || Error::new(class::ARG, format!("{code} is no error code"));
        errors::text_of(code).ok_or_else(none)?;
        if !matches!(self, Handler::BuiltIn(ERRORS_RETURN)) {
            // Without a text of its own the code stays as it is.
            self.handle(object, Error::new(code, ""));
        }
        Ok(())
    }
}

/// Makes an error handler for the program; its handle.
pub(crate) fn make(kind: Kind, function: usize) -> Mpi<i32> {
    let (handle, given) = (AtomicI32::new(ERRHANDLER_NULL), Mutex::new(1));
    let handler = Arc::new(Errhandler { handle, given, kind, function, proxy: OnceLock::new() });
    let none = || Error::new(class::OTHER, "there are too many error handlers");
    let handle = ERRHANDLERS.insert(handler.clone()).ok_or_else(none)?;
    // Relaxed: nobody else knows the handle yet.
    handler.handle.store(handle, Ordering::Relaxed);
    Ok(handle)
}

/// The program frees a handle once. Objects keep the handler, and give the same handle again.
pub(crate) fn free(handle: i32) -> Mpi {
    let none = || Error::new(class::ERRHANDLER, "the handle names no error handler");
    let handler = ERRHANDLERS.get(handle).ok_or_else(none)?;
    let mut given = handler.given();
    *given -= 1;
    if *given == 0 {
        ERRHANDLERS.retire(handle);
    }
    Ok(())
}

/// The handler of an object, which the program may change at any time.
pub(crate) struct HandlerSlot(Mutex<Handler>);

impl HandlerSlot {
    pub(crate) const fn new(handler: Handler) -> HandlerSlot {
        HandlerSlot(Mutex::new(handler))
    }

    pub(crate) fn get(&self) -> Handler {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, handler: Handler) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = handler;
    }
}

impl Errhandler {
    fn handle(&self) -> i32 {
        // Relaxed: set before anybody has it.
        self.handle.load(Ordering::Relaxed)
    }

    fn given(&self) -> MutexGuard<'_, u32> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the program's function; the code that it wants to be given.
    fn call(&self, object: i32, code: i32) -> i32 {
        let Some(proxy) = self.proxy.get() else {
            // SAFETY: the program gave this function as an error handler for such objects.
            return unsafe { (calling().error)(self.function, object, code) };
        };
        let mut told = code;
        // A file's handle is as wide as a pointer; of the others the first half is looked at.
        let mut object = u64::from(object as u32).to_le();
        // SAFETY: the library of the other language gave this function for these arguments.
        unsafe { proxy(self.kind_of_proxy(), (&raw mut object).cast(), &mut told, self.function) };
        told
    }

    fn kind_of_proxy(&self) -> c_int {
        match self.kind {
            Kind::File => 1,
            Kind::Win => 2,
            _ => 0,
        }
    }
}
