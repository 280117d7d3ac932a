//! The position of a thread in the program: the file with the code, and the place in this file. For code of the system
//! or of this library, it also has the place of the call in the program.

use libc::{c_int, c_void, dl_phdr_info};
use parvum_consistency::Site;
use std::ffi::CStr;

/// A file of code as it is loaded.
struct File {
    /// The program has no name.
    name: String,
    start: usize,
    code: Vec<(usize, usize)>,
    /// Whether the program's author wrote it.
    is_own: bool,
}

/// The files that are loaded; more may come.
pub(crate) struct Files(Vec<File>);

impl Files {
    pub(crate) fn loaded() -> Files {
        let mut files: Vec<File> = Vec::new();
        // SAFETY: `visit` takes the list that it is given here, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut files).cast()) };
        let here = site_of_this_library as *const () as usize;
        for file in &mut files {
            let is_ours = file.code.iter().any(|&(start, end)| (start..end).contains(&here));
            let of_system = ["/lib", "/usr/lib", "linux-vdso"].iter().any(|at| file.name.starts_with(at));
            file.is_own = !is_ours && !of_system;
        }
        Files(files)
    }

    fn file_of(&self, pc: usize) -> Option<&File> {
        self.0.iter().find(|file| file.code.iter().any(|&(start, end)| (start..end).contains(&pc)))
    }

    fn own(&self, pc: usize) -> Option<(String, u64)> {
        let file = self.file_of(pc).filter(|file| file.is_own)?;
        Some((file.name.clone(), (pc - file.start) as u64))
    }

    /// The place of an instruction, if it is the program's own.
    pub(crate) fn of_program(&self, pc: usize) -> Option<Site> {
        self.own(pc).map(|(file, offset)| Site { file, offset, caller: None })
    }

    /// The place of an instruction that is not: called from where on this thread's stack the program is first met.
    pub(crate) fn of_library(&self, pc: usize) -> Site {
        let caller = self.caller();
        match self.file_of(pc) {
            Some(file) => Site { file: file.name.clone(), offset: (pc - file.start) as u64, caller },
            None => Site { file: "?".into(), offset: pc as u64, caller },
        }
    }

    /// The place in the program of the running call: the innermost caller that belongs to the program.
    pub(crate) fn of_call(&self) -> Site {
        match self.caller() {
            Some((file, offset)) => Site { file, offset, caller: None },
            None => Site { file: "?".into(), offset: 0, caller: None },
        }
    }

    fn caller(&self) -> Option<(String, u64)> {
        struct Search<'a> {
            files: &'a Files,
            found: Option<(String, u64)>,
        }
        extern "C" fn visit(frame: *mut c_void, search: *mut c_void) -> c_int {
            // SAFETY: the unwinder gives a frame for the time of this call, and `search` is the one below.
            let (pc, search) = unsafe { (_Unwind_GetIP(frame), &mut *search.cast::<Search<'_>>()) };
            // A call returns to behind it: the instruction before is the call.
            search.found = search.files.own(pc.wrapping_sub(1));
            // Not 0: enough.
            c_int::from(search.found.is_some())
        }
        let mut search = Search { files: self, found: None };
        // SAFETY: it calls `visit` with each frame of this thread's stack, and `search` outlives that.
        unsafe { _Unwind_Backtrace(visit, (&raw mut search).cast()) };
        search.found
    }
}

/// Its address lies in this library.
fn site_of_this_library() {}

unsafe extern "C" {
    fn _Unwind_Backtrace(visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int, with: *mut c_void)
    -> c_int;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
}

unsafe extern "C" fn visit(info: *mut dl_phdr_info, _: usize, files: *mut c_void) -> c_int {
    // SAFETY: the loader gives what it has loaded, for the time of this call; the list is that of `loaded`.
    let (info, files) = unsafe { (&*info, &mut *files.cast::<Vec<File>>()) };
    // SAFETY: the loader's own list of segments.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
    let start = info.dlpi_addr as usize;
    let is_code = |p_type, flags| p_type == libc::PT_LOAD && flags & libc::PF_X != 0;
    let code = headers.iter().filter(|one| is_code(one.p_type, one.p_flags));
    let code = code.map(|one| (start + one.p_vaddr as usize, start + (one.p_vaddr + one.p_memsz) as usize));
    let name = if info.dlpi_name.is_null() {
        String::new()
    } else {
        // SAFETY: a string of the loader's.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned()
    };
    files.push(File { name, start, code: code.collect(), is_own: false });
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_address_resolves_to_its_file() {
        let files = Files::loaded();
        let here = code_address_resolves_to_its_file as *const () as usize;
        // The tests' own program is this library.
        let file = files.file_of(here).expect("it is loaded");
        assert_eq!((file.name.as_str(), file.is_own), ("", false));
        let of_system = files.of_library(libc::getpid as *const () as usize);
        assert!(of_system.file.contains("libc"), "{of_system:?}");
        assert!(files.of_program(libc::getpid as *const () as usize).is_none());
        assert_eq!(files.of_library(1).file, "?");
    }
}
