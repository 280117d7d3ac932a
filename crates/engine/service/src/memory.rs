//! Copying from and to memory that may be protected or gone: the kernel copies, and reports such memory.

use crate::windows::Reach;
use libc::{c_void, iovec};
use std::io::Error;

/// The memory of a process, the own included.
pub(crate) struct Process(pub(crate) u32);

/// The kernel's result for a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copied {
    Whole,
    /// The memory there is protected or not mapped, some of it at least.
    Protected,
    /// The kernel does not permit access to the other process, or the process does not exist.
    Refused,
}

impl Process {
    /// Copies what lies at an address there.
    pub(crate) fn copy_from(&self, address: u64, out: &mut [u8]) -> Copied {
        let length = out.len();
        let local = iovec { iov_base: out.as_mut_ptr().cast(), iov_len: length };
        // SAFETY: `local` is exclusively borrowed; the kernel checks the other side.
        self.copy(address, length, |remote| unsafe {
            libc::process_vm_readv(self.0 as i32, &local, 1, remote, 1, 0)
        })
    }

    /// Copies to an address there.
    pub(crate) fn copy_to(&self, address: u64, data: &[u8]) -> Copied {
        let local = iovec { iov_base: data.as_ptr() as *mut c_void, iov_len: data.len() };
        // SAFETY: `local` is borrowed, and only read; the kernel checks the other side. What is written there its owner has
        // exposed for that, by the promise of `Service::expose`.
        self.copy(address, data.len(), |remote| unsafe {
            libc::process_vm_writev(self.0 as i32, &local, 1, remote, 1, 0)
        })
    }

    fn copy(&self, address: u64, length: usize, call: impl FnOnce(&iovec) -> isize) -> Copied {
        if length == 0 {
            return Copied::Whole;
        }
        let remote = iovec { iov_base: std::ptr::without_provenance_mut(address as usize), iov_len: length };
        match call(&remote) {
            done if done == length as isize => Copied::Whole,
            done if done >= 0 => Copied::Protected,
            _ if Error::last_os_error().raw_os_error() == Some(libc::EFAULT) => Copied::Protected,
            _ => Copied::Refused,
        }
    }
}

impl Reach for Process {
    fn read(&mut self, address: u64, out: &mut [u8]) -> bool {
        self.copy_from(address, out) == Copied::Whole
    }

    fn write(&mut self, address: u64, data: &[u8]) -> bool {
        self.copy_to(address, data) == Copied::Whole
    }
}

/// This process's own memory. It also works if a filter of system calls forbids the kernel's copy calls. In this case
/// protected memory ends the process, as in any copy.
pub(crate) struct Own;

impl Reach for Own {
    fn read(&mut self, address: u64, out: &mut [u8]) -> bool {
        match Process(std::process::id()).copy_from(address, out) {
            Copied::Refused => {
                let from = std::ptr::with_exposed_provenance::<u8>(address as usize);
                // SAFETY: exposed memory is readable unless it is protected now, by the promise of `Service::expose`.
                unsafe { std::ptr::copy(from, out.as_mut_ptr(), out.len()) };
                true
            }
            copied => copied == Copied::Whole,
        }
    }

    fn write(&mut self, address: u64, data: &[u8]) -> bool {
        match Process(std::process::id()).copy_to(address, data) {
            Copied::Refused => {
                let to = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
                // SAFETY: as above, writable.
                unsafe { std::ptr::copy(data.as_ptr(), to, data.len()) };
                true
            }
            copied => copied == Copied::Whole,
        }
    }
}
