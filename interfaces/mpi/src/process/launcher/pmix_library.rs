//! The functions of OpenPMIx's library (`libpmix.so.2`) that a process needs, and their structures as in `pmix_common.h` of
//! PMIx 3 to 5.

use libloading::os::unix::{Library as File, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

type Status = c_int;
const SUCCESS: Status = 0;
/// `PMIX_ERR_BAD_PARAM`: here for texts that the structures cannot hold.
const BAD_PARAMETER: Status = -27;
/// `PMIX_ERR_NOT_FOUND`: here for values of another type.
const NOT_FOUND: Status = -46;
/// `PMIX_GLOBAL`: all processes may get the value.
const GLOBAL: u8 = 3;
/// `PMIX_RANK_WILDCARD`: the job as a whole.
const WHOLE_JOB: u32 = u32::MAX - 1;
const BOOL: u16 = 1;
const STRING: u16 = 3;
const INT: u16 = 6;
const UINT32: u16 = 14;
/// All processes must begin MPI within this number of seconds.
const LIMIT: c_int = 300;

/// `pmix_proc_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Proc {
    namespace: [c_char; 256],
    rank: u32,
}

/// `pmix_value_t`. The union is as large as its largest member.
#[repr(C)]
struct Value {
    kind: u16,
    data: Data,
}

#[repr(C)]
union Data {
    flag: bool,
    string: *mut c_char,
    number: u32,
    seconds: c_int,
    whole: [u64; 3],
}

/// `pmix_info_t`.
#[repr(C)]
struct Info {
    key: [c_char; 512],
    flags: u32,
    value: Value,
}

const _: () = {
    assert!(size_of::<Proc>() == 260 && std::mem::offset_of!(Proc, rank) == 256);
    assert!(size_of::<Value>() == 32 && std::mem::offset_of!(Value, data) == 8);
    assert!(size_of::<Info>() == 552 && std::mem::offset_of!(Info, value) == 520);
};

/// The library, and this process in it.
pub(super) struct Library {
    init: unsafe extern "C" fn(*mut Proc, *const Info, usize) -> Status,
    get: unsafe extern "C" fn(*const Proc, *const c_char, *const Info, usize, *mut *mut Value) -> Status,
    put: unsafe extern "C" fn(u8, *const c_char, *mut Value) -> Status,
    commit: unsafe extern "C" fn() -> Status,
    fence: unsafe extern "C" fn(*const Proc, usize, *const Info, usize) -> Status,
    finalize: unsafe extern "C" fn(*const Info, usize) -> Status,
    abort: unsafe extern "C" fn(c_int, *const c_char, *const Proc, usize) -> Status,
    me: std::cell::Cell<Proc>,
    /// Never unloaded: the library has threads.
    _file: std::mem::ManuallyDrop<File>,
}

// SAFETY: the functions may be called by any thread, and `LAUNCHER` lets one thread at a time in.
unsafe impl Send for Library {}

impl Library {
    /// Loads the library.
    pub(super) fn load() -> Result<Library, String> {
        // SAFETY: the library's initialisers only prepare it.
        let file = unsafe { File::open(Some("libpmix.so.2"), RTLD_NOW | RTLD_LOCAL) };
        let file = std::mem::ManuallyDrop::new(file.map_err(|error| error.to_string())?);
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type is the one of the function in `pmix.h`.
                *unsafe { file.get(concat!($name, "\0").as_bytes()) }
                    .map_err(|error: libloading::Error| error.to_string())?
            };
        }
        Ok(Library {
            init: function!("PMIx_Init"),
            get: function!("PMIx_Get"),
            put: function!("PMIx_Put"),
            commit: function!("PMIx_Commit"),
            fence: function!("PMIx_Fence"),
            finalize: function!("PMIx_Finalize"),
            abort: function!("PMIx_Abort"),
            me: std::cell::Cell::new(Proc { namespace: [0; 256], rank: 0 }),
            _file: file,
        })
    }

    /// Connects with the launcher.
    pub(super) fn init(&self) -> Result<(), Status> {
        let mut me = Proc { namespace: [0; 256], rank: 0 };
        // SAFETY: the structure has the layout that the function fills in.
        done(unsafe { (self.init)(&mut me, null(), 0) })?;
        self.me.set(me);
        Ok(())
    }

    /// The number of processes of the job.
    pub(super) fn job_size(&self) -> Result<u32, Status> {
        self.value(WHOLE_JOB, "pmix.job.size", |value| match value.kind {
            // SAFETY: the kind says which member was written.
            UINT32 => Some(unsafe { value.data.number }),
            _ => None,
        })
    }

    /// The text that a process has put.
    pub(super) fn get(&self, rank: u32, key: &str) -> Result<String, Status> {
        self.value(rank, key, |value| {
            // SAFETY: the kind says which member was written: a text that ends with a zero.
            let text = unsafe { value.data.string };
            if value.kind != STRING || text.is_null() {
                return None;
            }
            // SAFETY: as above.
            unsafe { CStr::from_ptr(text) }.to_str().ok().map(str::to_owned)
        })
    }

    fn value<T>(&self, rank: u32, key: &str, read: impl Fn(&Value) -> Option<T>) -> Result<T, Status> {
        let key = CString::new(key).map_err(|_| BAD_PARAMETER)?;
        let process = Proc { rank, ..self.me.get() };
        let mut value: *mut Value = null_mut();
        // SAFETY: all pointers outlive the call.
        done(unsafe { (self.get)(&process, key.as_ptr(), null(), 0, &mut value) })?;
        // SAFETY: the function has returned a value, which is ours until it is freed below.
        let found = unsafe { value.as_ref() }.ok_or(NOT_FOUND)?;
        let result = read(found).ok_or(NOT_FOUND);
        if found.kind == STRING {
            // SAFETY: the library has allocated the text with malloc.
            unsafe { libc::free(found.data.string.cast::<c_void>()) };
        }
        // SAFETY: the library has allocated the value with malloc, and nobody reads it any more.
        unsafe { libc::free(value.cast::<c_void>()) };
        result
    }

    /// Puts a text that all processes may get after the next fence.
    pub(super) fn put(&self, key: &str, text: &str) -> Result<(), Status> {
        let key = CString::new(key).map_err(|_| BAD_PARAMETER)?;
        let text = CString::new(text).map_err(|_| BAD_PARAMETER)?;
        let mut value = Value { kind: STRING, data: Data { whole: [0; 3] } };
        value.data.string = text.as_ptr().cast_mut();
        // SAFETY: the function copies key and value.
        done(unsafe { (self.put)(GLOBAL, key.as_ptr(), &mut value) })?;
        // SAFETY: the function has no arguments.
        done(unsafe { (self.commit)() })
    }

    /// Waits for all processes of the job, and exchanges what they have put.
    pub(super) fn fence(&self) -> Result<(), Status> {
        let info = |key: &[u8], kind| {
            let mut info =
                Info { key: [0; 512], flags: 0, value: Value { kind, data: Data { whole: [0; 3] } } };
            for (to, from) in info.key.iter_mut().zip(key) {
                *to = *from as c_char;
            }
            info
        };
        let (mut collect, mut limit) = (info(b"pmix.collect", BOOL), info(b"pmix.timeout", INT));
        collect.value.data.flag = true;
        limit.value.data.seconds = LIMIT;
        let infos = [collect, limit];
        // SAFETY: no list of processes means all processes of the job; the array has that number of elements.
        done(unsafe { (self.fence)(null(), 0, infos.as_ptr(), infos.len()) })
    }

    /// Tells the launcher that this process ends in peace.
    pub(super) fn finalize(&self) {
        // SAFETY: no options. A launcher that is gone is no fault of this process.
        let _ = unsafe { (self.finalize)(null(), 0) };
    }

    /// Has the launcher end all processes of the job.
    pub(super) fn abort(&self, code: i32) {
        // SAFETY: the text is constant; no list of processes means all processes.
        let _ = unsafe { (self.abort)(code, c"MPI_Abort".as_ptr(), null(), 0) };
    }
}

fn done(status: Status) -> Result<(), Status> {
    if status == SUCCESS { Ok(()) } else { Err(status) }
}
