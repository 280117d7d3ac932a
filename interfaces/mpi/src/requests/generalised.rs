//! The program's functions for a generalised request. A Fortran program's take references, and give their error by a last argument.

use crate::callbacks::calling::calling;
use crate::errors::{Error, Mpi};
use crate::messages::status::Status;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
type Cancel = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
type FortranQuery = unsafe extern "C" fn(*mut c_void, *mut Status, *mut c_int);
type FortranFree = unsafe extern "C" fn(*mut c_void, *mut c_int);
type FortranCancel = unsafe extern "C" fn(*mut c_void, *mut c_int, *mut c_int);

/// The three functions, 0 for none, and what they are given.
pub(crate) struct Functions {
    pub(crate) query: usize,
    pub(crate) free: usize,
    pub(crate) cancel: usize,
    pub(crate) extra: usize,
    is_fortran: AtomicBool,
}

impl Functions {
    pub(crate) fn new(query: usize, free: usize, cancel: usize, extra: usize) -> Functions {
        Functions { query, free, cancel, extra, is_fortran: AtomicBool::new(false) }
    }

    /// From now on they are called as Fortran's. Said by the thread that has made the request, before the program has it.
    pub(crate) fn set_fortran(&self) {
        // Relaxed: whoever hands the request to another thread orders this with it.
        self.is_fortran.store(true, Ordering::Relaxed);
    }

    fn is_fortran(&self) -> bool {
        // Relaxed: as above.
        self.is_fortran.load(Ordering::Relaxed)
    }

    fn extra(&self) -> *mut c_void {
        self.extra as *mut c_void
    }

    /// Has the program say how its operation ended, and forget it.
    pub(crate) fn query_and_free(&self, status: &mut Status) -> Mpi {
        let asked = self.call_query(status);
        let freed = self.call_free();
        match if asked == 0 { freed } else { asked } {
            0 => Ok(()),
            code => Err(Error::new(code, format!("the program's function for its request gave {code}"))),
        }
    }

    fn call_query(&self, status: &mut Status) -> c_int {
        let mut code = 0;
        match (self.query, self.is_fortran()) {
            (0, _) => {}
            // SAFETY: the program gave this function for a generalised request.
            (query, false) => unsafe {
                code = (calling().query)(query, self.extra(), status);
            },
            // SAFETY: as above, from Fortran.
            (query, true) => unsafe {
                std::mem::transmute::<usize, FortranQuery>(query)(self.extra(), status, &mut code);
            },
        }
        code
    }

    fn call_free(&self) -> c_int {
        let mut code = 0;
        match (self.free, self.is_fortran()) {
            (0, _) => {}
            // SAFETY: the program gave this function for a generalised request.
            (free, false) => unsafe {
                code = (calling().code_given)(std::mem::transmute::<usize, Free>(free)(self.extra()));
            },
            // SAFETY: as above, from Fortran.
            (free, true) => unsafe {
                std::mem::transmute::<usize, FortranFree>(free)(self.extra(), &mut code);
            },
        }
        code
    }

    /// Has the program give its operation up, and says whether it is over.
    pub(crate) fn call_cancel(&self, is_over: bool) -> c_int {
        let (mut code, mut is_over) = (0, c_int::from(is_over));
        match (self.cancel, self.is_fortran()) {
            (0, _) => {}
            // SAFETY: the program gave this function for a generalised request.
            (cancel, false) => unsafe {
                code = (calling().code_given)(std::mem::transmute::<usize, Cancel>(cancel)(
                    self.extra(),
                    is_over,
                ));
            },
            // SAFETY: as above, from Fortran; gfortran's .TRUE. is 1, as C's.
            (cancel, true) => unsafe {
                std::mem::transmute::<usize, FortranCancel>(cancel)(self.extra(), &mut is_over, &mut code);
            },
        }
        code
    }
}
