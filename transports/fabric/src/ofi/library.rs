//! Finding and opening `libfabric.so.1`, and asking it for a provider.

use super::layout::*;
use super::objects::Chosen;
use super::signals::keeping_handlers;
use libloading::os::unix::{Library as File, RTLD_LOCAL, RTLD_NOW, Symbol};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

const NAME: &str = "libfabric.so.1";

/// Why there is no fabric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FabricError {
    /// The library is missing or broken.
    #[error(
        "E-FABRIC: {NAME} cannot be loaded ({0}); help: install libfabric (package libfabric1), or unset PARVUM_ROUTE"
    )]
    Missing(String),
    /// No provider serves.
    #[error(
        "E-FABRIC: libfabric has no provider{0} for reliable messages here; help: `fi_info -t FI_EP_RDM` lists the providers"
    )]
    NoProvider(String),
    /// The task has opened no endpoint.
    #[error("E-FABRIC: the task has not asked for a fabric; help: set PARVUM_FABRIC for all tasks")]
    NotAsked,
    /// A call has failed.
    #[error(
        "E-FABRIC: {call} of libfabric failed: {why}; help: set PARVUM_FABRIC to another provider, or unset PARVUM_ROUTE"
    )]
    Call {
        /// Which one.
        call: &'static str,
        /// The library's words.
        why: String,
    },
}

type GetInfo =
    unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const Info, *mut *mut Info) -> c_int;

/// The loaded library. It stays in the process: providers leave threads and handlers behind.
pub struct Library {
    get_info: Symbol<GetInfo>,
    free_info: Symbol<unsafe extern "C" fn(*mut Info)>,
    duplicate_info: Symbol<unsafe extern "C" fn(*const Info) -> *mut Info>,
    open_fabric: Symbol<unsafe extern "C" fn(*mut FabricAttr, *mut *mut Fabric, *mut c_void) -> c_int>,
    error_text: Symbol<unsafe extern "C" fn(c_int) -> *const c_char>,
    version: Symbol<unsafe extern "C" fn() -> u32>,
}

/// The first version whose provider `net` can be used. Before, two tasks wait for each other for ever.
const NET_WORKS: u32 = 1 << 16 | 18;

impl Library {
    /// Loads the library.
    pub fn open() -> Result<Library, FabricError> {
        let missing = |error: libloading::Error| {
            let cause = std::error::Error::source(&error);
            FabricError::Missing(cause.map_or_else(|| error.to_string(), ToString::to_string))
        };
        // SAFETY: libfabric's initialisers may run at any time, as the initialisers of any linked library.
        let open = || unsafe { File::open(Some(NAME), RTLD_NOW | RTLD_LOCAL) };
        let file = keeping_handlers(open).map_err(missing)?;
        // SAFETY: fabric.h declares these functions so. Their versions of this name have had these arguments since 1.0.
        unsafe {
            let library = Library {
                get_info: file.get(b"fi_getinfo\0").map_err(missing)?,
                free_info: file.get(b"fi_freeinfo\0").map_err(missing)?,
                duplicate_info: file.get(b"fi_dupinfo\0").map_err(missing)?,
                open_fabric: file.get(b"fi_fabric\0").map_err(missing)?,
                error_text: file.get(b"fi_strerror\0").map_err(missing)?,
                version: file.get(b"fi_version\0").map_err(missing)?,
            };
            std::mem::forget(file);
            Ok(library)
        }
    }

    /// The error of a call that returned this number.
    pub fn error(&self, call: &'static str, result: isize) -> FabricError {
        // SAFETY: the function takes any number, and returns a constant text.
        let text = unsafe { (self.error_text)(result.unsigned_abs() as c_int) };
        let why = match text.is_null() {
            true => format!("error {result}"),
            // SAFETY: not null, and it ends with a zero.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        };
        FabricError::Call { call, why }
    }

    /// The best provider for reliable messages to anybody, or the one with this name.
    pub fn choose(&self, name: Option<&CStr>) -> Result<Chosen<'_>, FabricError> {
        // SAFETY: the function only returns a number.
        if name.is_some_and(|name| name.to_bytes() == b"net") && unsafe { (self.version)() } < NET_WORKS {
            return Err(FabricError::NoProvider(" \"net\" that works before version 1.18".to_owned()));
        }
        // SAFETY: null asks for new, empty information.
        let hints = unsafe { (self.duplicate_info)(null()) };
        let none = || FabricError::NoProvider(name.map_or_else(String::new, |name| format!(" {name:?}")));
        let hints = Chosen::new(self, hints).ok_or_else(none)?;
        // SAFETY: new information has all attributes, and nobody else has it. `strdup` is right for the name: `fi_freeinfo` frees it.
        unsafe {
            let info = &mut *hints.info();
            info.caps = MSG | TAGGED;
            info.mode = CONTEXT | CONTEXT2;
            (*info.ep_attr).kind = EP_RDM;
            (*info.tx_attr).msg_order = ORDER_SAS;
            (*info.rx_attr).msg_order = ORDER_SAS;
            (*info.domain_attr).threading = THREAD_DOMAIN;
            (*info.domain_attr).mr_mode = MR_LOCAL | MR_VIRT_ADDR | MR_ALLOCATED | MR_PROV_KEY | MR_ENDPOINT;
            if let Some(name) = name {
                (*info.fabric_attr).prov_name = libc::strdup(name.as_ptr());
            }
        }
        let mut found = null_mut();
        // SAFETY: hints as above; the list that is written to `found` belongs to the caller.
        let ask = || unsafe { (self.get_info)(API, null(), null(), 0, hints.info(), &mut found) };
        let result = keeping_handlers(ask);
        match Chosen::new(self, found) {
            Some(chosen) if result == 0 => Ok(chosen),
            _ => Err(none()),
        }
    }

    /// Opens the fabric of a provider.
    pub(super) fn fabric(&self, chosen: &Chosen<'_>) -> Result<*mut Fabric, FabricError> {
        let mut fabric = null_mut();
        // SAFETY: information of `fi_getinfo` has these attributes.
        let result = unsafe { (self.open_fabric)((*chosen.info()).fabric_attr, &mut fabric, null_mut()) };
        if result == 0 { Ok(fabric) } else { Err(self.error("fi_fabric", result as isize)) }
    }

    pub(super) fn free(&self, info: *mut Info) {
        // SAFETY: only `Chosen` calls this, once, with what the library allocated.
        unsafe { (self.free_info)(info) }
    }
}

/// The name of a provider as the library takes it.
pub fn provider_name(name: &str) -> Result<CString, FabricError> {
    CString::new(name).map_err(|_| FabricError::NoProvider(format!(" {name:?}")))
}
