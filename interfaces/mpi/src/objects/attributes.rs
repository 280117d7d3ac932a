//! Attributes: what a program hangs on a communicator, datatype or window, with its functions that are called when that is copied or
//! freed.

use crate::errors::{Error, Mpi, class};
use crate::objects::handles::Objects;
use crate::objects::numbers::Kind;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// On what a key's values hang: as the key's bits 25 to 22 say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "they are their names")]
pub enum Bearer {
    Comm = 1,
    Datatype = 3,
    Win = 8,
}

/// Which language's a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// A pointer.
    C,
    /// An integer as wide as an address.
    Wide,
    /// An INTEGER.
    Fortran,
}

type Copy = unsafe extern "C" fn(c_int, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type Delete = unsafe extern "C" fn(c_int, c_int, *mut c_void, *mut c_void) -> c_int;
/// How another language's library calls its program's functions.
pub type CopyProxy = unsafe extern "C" fn(
    usize,
    c_int,
    c_int,
    *mut c_void,
    c_int,
    *mut c_void,
    *mut *mut c_void,
    *mut c_int,
) -> c_int;
/// See [`CopyProxy`].
pub type DeleteProxy = unsafe extern "C" fn(usize, c_int, c_int, c_int, *mut c_void, *mut c_void) -> c_int;

/// A key: whose values, and the program's functions.
pub(crate) struct Key {
    copy: usize,
    delete: usize,
    extra: usize,
    proxies: Mutex<Option<(CopyProxy, DeleteProxy)>>,
}

static KEYS: Objects<Key> = Objects::new(Kind::Keyval);

/// The copy function that the binary interface gives as an address: copies the pointer.
pub const DUPLICATE: usize = 1;

/// A value under a key. It keeps its place in memory: C is given a pointer to an integer of Fortran's.
#[derive(Debug)]
pub(crate) struct Value {
    number: i64,
    language: Language,
}

/// The values of one object, in the order in which they were set.
#[derive(Default)]
pub(crate) struct Attributes(Mutex<Vec<AttributeValue>>);

#[derive(Clone)]
struct AttributeValue {
    keyval: i32,
    key: Arc<Key>,
    value: Arc<Value>,
}

const BEARER_SHIFT: u32 = 22;
/// Bits of a key's place: the rest of those below the bearer's are its generation.
const KEY_PLACES: u32 = 16;

/// Makes a key. Its handle is given; functions are 0 for none.
pub(crate) fn create_key(bearer: Bearer, copy: usize, delete: usize, extra: usize) -> Mpi<i32> {
    let key = Key { copy, delete, extra, proxies: Mutex::new(None) };
    let handle =
        KEYS.insert(Arc::new(key)).ok_or_else(|| Error::new(class::OTHER, "there are too many keys"))?;
    let (handle, bearer) = (handle as u32, bearer as u32);
    let (place, generation) = (handle & ((1 << 20) - 1), handle >> 20 & 0x3f);
    if place >= 1 << KEY_PLACES {
        KEYS.remove(handle as i32);
        return Err(Error::new(class::OTHER, "there are too many keys"));
    }
    Ok((handle & 0xfc00_0000 | bearer << BEARER_SHIFT | generation << KEY_PLACES | place) as i32)
}

/// The handle by which the table knows a key, if it is one of that bearer's.
fn inner(keyval: i32, bearer: Bearer) -> Option<i32> {
    let keyval = keyval as u32;
    let (place, generation) = (keyval & ((1 << KEY_PLACES) - 1), keyval >> KEY_PLACES & 0x3f);
    (keyval >> BEARER_SHIFT & 0xf == bearer as u32)
        .then_some((keyval & 0xfc00_0000 | generation << 20 | place) as i32)
}

fn key(keyval: i32, bearer: Bearer) -> Mpi<Arc<Key>> {
    let found = inner(keyval, bearer).and_then(|handle| KEYS.get(handle));
    found.ok_or_else(|| Error::new(class::KEYVAL, format!("{keyval:#x} is no key for this kind of object")))
}

/// The program frees a key: nothing more is hung under it. What hangs there stays, and is found and deleted by the key. As long as
/// something hangs there, the key may be freed once more: programs do so, since MPICH permits it.
pub(crate) fn free_key(keyval: i32, bearer: Bearer) -> Mpi {
    let handle = inner(keyval, bearer);
    if handle.is_some_and(|handle| KEYS.is_kept(handle)) {
        return Ok(());
    }
    key(keyval, bearer)?;
    if let Some(handle) = handle {
        KEYS.retire(handle);
    }
    Ok(())
}

/// From now on the key's functions are called by these.
pub(crate) fn set_proxies(keyval: i32, copy: CopyProxy, delete: DeleteProxy) -> Mpi {
    let found =
        [Bearer::Comm, Bearer::Datatype, Bearer::Win].into_iter().find_map(|bearer| key(keyval, bearer).ok());
    let key = found.ok_or_else(|| Error::new(class::KEYVAL, "no such key"))?;
    *key.proxies.lock().unwrap_or_else(PoisonError::into_inner) = Some((copy, delete));
    Ok(())
}

impl Attributes {
    fn lock(&self) -> MutexGuard<'_, Vec<AttributeValue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What hangs under a key, which the program may have freed.
    fn held(&self, keyval: i32) -> Option<AttributeValue> {
        self.lock().iter().find(|held| held.keyval == keyval).cloned()
    }

    /// The value under a key, as a program of that language sees it.
    pub(crate) fn get(&self, keyval: i32, bearer: Bearer, language: Language) -> Mpi<Option<i64>> {
        match self.held(keyval) {
            Some(held) => Ok(Some(held.value.seen_by(language))),
            None => key(keyval, bearer).map(|_| None),
        }
    }

    /// Sets a value; one that was there is deleted first.
    pub(crate) fn set(
        &self,
        object: i32,
        keyval: i32,
        bearer: Bearer,
        number: i64,
        language: Language,
    ) -> Mpi {
        let key = match self.held(keyval) {
            Some(old) => {
                old.call_delete(object)?;
                old.key
            }
            None => key(keyval, bearer)?,
        };
        let held = AttributeValue { keyval, key, value: Arc::new(Value { number, language }) };
        let mut all = self.lock();
        match all.iter_mut().find(|held| held.keyval == keyval) {
            Some(old) => *old = held,
            None => all.push(held),
        }
        Ok(())
    }

    /// Deletes a value. That there is none is no error.
    pub(crate) fn delete(&self, object: i32, keyval: i32, bearer: Bearer) -> Mpi {
        let Some(held) = self.held(keyval) else { return key(keyval, bearer).map(drop) };
        held.call_delete(object)?;
        self.lock().retain(|other| other.keyval != keyval);
        Ok(())
    }

    /// Deletes all, what was set last first. A function that fails ends it.
    pub(crate) fn delete_all(&self, object: i32) -> Mpi {
        loop {
            let Some(last) = self.lock().last().cloned() else { return Ok(()) };
            last.call_delete(object)?;
            self.lock().retain(|other| other.keyval != last.keyval);
        }
    }

    /// The values that the program's functions give to a copy of the object.
    pub(crate) fn copied(&self, object: i32) -> Mpi<Attributes> {
        let all = self.lock().clone();
        let mut copies = Vec::new();
        for held in all {
            if let Some(value) = held.call_copy(object)? {
                copies.push(AttributeValue { value: Arc::new(value), ..held });
            }
        }
        Ok(Attributes(Mutex::new(copies)))
    }
}

impl Value {
    fn seen_by(&self, language: Language) -> i64 {
        match (self.language, language) {
            // C finds a pointer, to where the integer is.
            (Language::Wide | Language::Fortran, Language::C) => &raw const self.number as i64,
            (_, Language::Fortran) => i64::from(self.number as i32),
            _ => self.number,
        }
    }
}

impl Language {
    fn number(self) -> c_int {
        match self {
            Language::C => 0,
            Language::Wide => 1,
            Language::Fortran => 3,
        }
    }
}

impl AttributeValue {
    fn call_delete(&self, object: i32) -> Mpi {
        let (value, extra) = (self.value.number as *mut c_void, self.key.extra as *mut c_void);
        let proxies = *self.key.proxies.lock().unwrap_or_else(PoisonError::into_inner);
        let code = match (self.key.delete, proxies) {
            (0, _) => 0,
            (function, Some((_, delete))) => {
                let language = self.value.language.number();
                // SAFETY: the library of the other language gave this function for these arguments.
                unsafe { delete(function, object, self.keyval, language, value, extra) }
            }
            // SAFETY: the program gave this function as a key's delete function.
            (function, None) => unsafe {
                std::mem::transmute::<usize, Delete>(function)(object, self.keyval, value, extra)
            },
        };
        refused(code, "delete")
    }

    fn call_copy(&self, object: i32) -> Mpi<Option<Value>> {
        let (value, extra) = (self.value.number as *mut c_void, self.key.extra as *mut c_void);
        let proxies = *self.key.proxies.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut out, mut flag): (*mut c_void, c_int) = (std::ptr::null_mut(), 0);
        let code = match (self.key.copy, proxies) {
            (0, _) => return Ok(None),
            (DUPLICATE, _) => {
                return Ok(Some(Value { number: self.value.number, language: self.value.language }));
            }
            (function, Some((copy, _))) => {
                let language = self.value.language.number();
                // SAFETY: the library of the other language gave this function for these arguments.
                unsafe { copy(function, object, self.keyval, extra, language, value, &mut out, &mut flag) }
            }
            // SAFETY: the program gave this function as a key's copy function.
            (function, None) => unsafe {
                let function = std::mem::transmute::<usize, Copy>(function);
                function(object, self.keyval, extra, value, (&raw mut out).cast(), &mut flag)
            },
        };
        refused(code, "copy")?;
        Ok((flag != 0).then_some(Value { number: out as i64, language: self.value.language }))
    }
}

fn refused(code: c_int, what: &str) -> Mpi {
    match code {
        0 => Ok(()),
        _ => Err(Error::new(code, format!("the program's {what} function for an attribute gave {code}"))),
    }
}
