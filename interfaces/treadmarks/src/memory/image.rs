//! The program and its libraries as they lie in memory: the same variable may have another address in another process.

use libc::{c_int, c_void, dl_phdr_info};
use std::ffi::CStr;
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;

/// A variable: its file, and its distance from the start of the file. The program itself has no name.
pub(crate) struct Variable {
    pub(crate) file: String,
    pub(crate) offset: u64,
}

/// The variable at an address, if a file has all of its bytes as variables.
pub(crate) fn variable_at(address: usize, length: usize) -> Option<Variable> {
    look(|file, base, segments| {
        let has = |&(start, size): &(usize, usize)| start <= address && address + length <= start + size;
        segments.iter().any(has).then(|| Variable { file: file.to_owned(), offset: (address - base) as u64 })
    })
}

/// The address in this process of a variable of another process.
pub(crate) fn address_of(file: &str, offset: u64, length: usize) -> Option<usize> {
    look(|name, base, segments| {
        let address = base.checked_add(usize::try_from(offset).ok()?)?;
        let end = address.checked_add(length)?;
        let has = |&(start, size): &(usize, usize)| start <= address && end <= start + size;
        (name == file && segments.iter().any(has)).then_some(address)
    })
}

/// Copies to a variable.
pub(crate) fn write(address: usize, data: &[u8]) {
    let to = std::ptr::with_exposed_provenance_mut::<u8>(address);
    // SAFETY: a file's writable segment has these bytes (`address_of`), and stays loaded while the program uses its variables.
    // That the program does not use them now is what it promises by when it distributes.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
}

/// Copies a variable.
pub(crate) fn read(address: usize, length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    let from = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: as above, with `variable_at`.
    unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), length) };
    out
}

/// A number that differs between programs, computed from the file that this process runs.
pub(crate) fn of_program() -> u64 {
    let mut hasher = DefaultHasher::new();
    let Ok(mut file) = std::fs::File::open("/proc/self/exe") else { return 0 };
    let mut part = vec![0; 1 << 16];
    while let Ok(count @ 1..) = file.read(&mut part) {
        hasher.write(&part[..count]);
    }
    hasher.finish()
}

/// Sees a file: its name, where it is loaded, and its writable segments.
type See<'a, T> = dyn FnMut(&str, usize, &[(usize, usize)]) -> Option<T> + 'a;

/// Passes each file to the function until it returns a result.
fn look<T>(mut see: impl FnMut(&str, usize, &[(usize, usize)]) -> Option<T>) -> Option<T> {
    struct Search<'a, T> {
        see: &'a mut See<'a, T>,
        found: Option<T>,
    }
    unsafe extern "C" fn visit<T>(info: *mut dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader gives what it has loaded, for the time of this call; `search` is the one below.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search<'_, T>>()) };
        // SAFETY: the loader's own list of segments.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
        let base = info.dlpi_addr as usize;
        let writable =
            headers.iter().filter(|one| one.p_type == libc::PT_LOAD && one.p_flags & libc::PF_W != 0);
        let segments: Vec<(usize, usize)> =
            writable.map(|one| (base + one.p_vaddr as usize, one.p_memsz as usize)).collect();
        let path = if info.dlpi_name.is_null() {
            c""
        } else {
            // SAFETY: a string of the loader's.
            unsafe { CStr::from_ptr(info.dlpi_name) }
        };
        let path = path.to_string_lossy();
        let name = path.rsplit('/').next().unwrap_or_default();
        search.found = (search.see)(name, base, &segments);
        c_int::from(search.found.is_some())
    }
    let mut search = Search { see: &mut see, found: None };
    // SAFETY: `visit` is for this type, and the search outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit::<T>), (&raw mut search).cast()) };
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static HERE: AtomicU64 = AtomicU64::new(5);

    #[test]
    fn static_variable_is_found_and_others_are_not() {
        let address = HERE.as_ptr().expose_provenance();
        let found = variable_at(address, 8).expect("it is one");
        assert_eq!(address_of(&found.file, found.offset, 8), Some(address));
        write(address, &read(address, 8).iter().map(|byte| byte + 1).collect::<Vec<_>>());
        assert_eq!(HERE.load(Ordering::Relaxed), 0x0101_0101_0101_0106);
        let (stack, heap) = (7u64, Box::new(7u64));
        assert!(variable_at((&raw const stack).addr(), 8).is_none());
        assert!(variable_at((&raw const *heap).addr(), 8).is_none());
        assert!(address_of("nothing.so", 0, 1).is_none() && address_of(&found.file, u64::MAX, 8).is_none());
        assert_ne!(of_program(), 0);
    }
}
