//! Info objects: hints, as keys and values in the order in which they were set.

use crate::errors::{Error, Mpi, class};
use crate::objects::handles::Objects;
use crate::objects::numbers::{INFO_ENV, INFO_NULL, Kind, MAX_INFO_KEY, MAX_INFO_VAL};
use std::os::unix::ffi::OsStringExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A key and its value, both bytes.
type Pair = (Vec<u8>, Vec<u8>);

/// Keys and values.
#[derive(Debug, Default)]
pub(crate) struct Info(Mutex<Vec<Pair>>);

pub(crate) static INFOS: Objects<Info> = Objects::new(Kind::Info);

/// The info object of a handle.
pub(crate) fn info(handle: i32) -> Mpi<Arc<Info>> {
    match handle {
        INFO_NULL => Err(Error::new(class::INFO, "the handle is MPI_INFO_NULL")),
        INFO_ENV => Ok(Arc::new(Info::of_environment())),
        _ => INFOS.get(handle).ok_or_else(|| Error::new(class::INFO, "the handle names no info object")),
    }
}

/// As [`info`], and nothing for the null handle.
pub(crate) fn hints(handle: i32) -> Mpi<Option<Arc<Info>>> {
    if handle == INFO_NULL { Ok(None) } else { info(handle).map(Some) }
}

/// Keeps an info object for the program.
pub(crate) fn keep(info: Info) -> Mpi<i32> {
    INFOS.insert(Arc::new(info)).ok_or_else(|| Error::new(class::OTHER, "there are too many info objects"))
}

impl Info {
    fn lock(&self) -> MutexGuard<'_, Vec<Pair>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of how this process was started.
    fn of_environment() -> Info {
        let info = Info::default();
        let mut known = vec![
            ("thread_level", "MPI_THREAD_MULTIPLE".into()),
            ("arch", std::env::consts::ARCH.as_bytes().to_vec()),
        ];
        if let Ok(directory) = std::env::current_dir() {
            known.push(("wdir", directory.into_os_string().into_vec()));
        }
        if let Ok(program) = std::env::current_exe() {
            known.push(("command", program.into_os_string().into_vec()));
        }
        *info.lock() = known.into_iter().map(|(key, value)| (key.as_bytes().to_vec(), value)).collect();
        info
    }

    pub(crate) fn set(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Mpi {
        let (key, value) = (checked(key.as_ref())?, value.as_ref());
        if value.len() > MAX_INFO_VAL {
            let text = format!("the value has {} characters, and may have {MAX_INFO_VAL}", value.len());
            return Err(Error::new(class::INFO_VALUE, text));
        }
        let mut pairs = self.lock();
        match pairs.iter_mut().find(|(there, _)| there == key) {
            Some((_, old)) => value.clone_into(old),
            None => pairs.push((key.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    pub(crate) fn delete(&self, key: impl AsRef<[u8]>) -> Mpi {
        let (key, mut pairs) = (checked(key.as_ref())?, self.lock());
        let before = pairs.len();
        pairs.retain(|(there, _)| there != key);
        match pairs.len() == before {
            true => Err(Error::new(class::INFO_NOKEY, format!("there is no key \"{}\"", key.escape_ascii()))),
            false => Ok(()),
        }
    }

    pub(crate) fn get(&self, key: impl AsRef<[u8]>) -> Mpi<Option<Vec<u8>>> {
        let key = checked(key.as_ref())?;
        Ok(self.lock().iter().find(|(there, _)| there == key).map(|(_, value)| value.clone()))
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn nth_key(&self, nth: i32) -> Mpi<Vec<u8>> {
        let pairs = self.lock();
        let pair = usize::try_from(nth).ok().and_then(|nth| pairs.get(nth));
        let none = || Error::new(class::ARG, format!("there is no key number {nth} of {}", pairs.len()));
        pair.map(|(key, _)| key.clone()).ok_or_else(none)
    }

    pub(crate) fn copy(&self) -> Info {
        Info(Mutex::new(self.lock().clone()))
    }
}

fn checked(key: &[u8]) -> Mpi<&[u8]> {
    match key.len() {
        0 => Err(Error::new(class::INFO_KEY, "the key is empty")),
        length if length > MAX_INFO_KEY => {
            let text = format!("the key has {length} characters, and may have {MAX_INFO_KEY}");
            Err(Error::new(class::INFO_KEY, text))
        }
        _ => Ok(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_keys_keep_order_and_invalid_keys_are_refused() {
        let info = Info::default();
        info.set("b", "1").expect("a key");
        info.set("a", "2").expect("a key");
        info.set("b", b"3\xff").expect("a key");
        assert_eq!(
            (info.count(), info.nth_key(0), info.get("b")),
            (2, Ok("b".into()), Ok(Some(b"3\xff".to_vec())))
        );
        assert_eq!(info.copy().nth_key(1), Ok("a".into()));
        assert_eq!(info.set("", "1").expect_err("empty").code, class::INFO_KEY);
        assert_eq!(info.set("k".repeat(256), "1").expect_err("long").code, class::INFO_KEY);
        assert_eq!(info.set("k", "v".repeat(1025)).expect_err("long").code, class::INFO_VALUE);
        assert_eq!(info.delete("c").expect_err("none").code, class::INFO_NOKEY);
        assert_eq!(info.nth_key(2).expect_err("none").code, class::ARG);
        info.delete("b").expect("there");
        assert_eq!(info.get("b"), Ok(None));
    }
}
