//! Copying straight out of another process.

use parvum_transport::PullRefused;

/// Copies `into.len()` bytes at `address` of process `pid`.
pub(crate) fn read(pid: u32, address: u64, into: &mut [u8]) -> Result<(), PullRefused> {
    let mut done = 0;
    while done < into.len() {
        let rest = &mut into[done..];
        let local = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let remote =
            libc::iovec { iov_base: (address as usize + done) as *mut libc::c_void, iov_len: rest.len() };
        // SAFETY: `local` is exclusively borrowed memory of that length; the
        // kernel checks the remote range, which belongs to another process.
        let got = unsafe { libc::process_vm_readv(pid as libc::pid_t, &local, 1, &remote, 1, 0) };
        match got {
            1.. => done += got as usize,
            0 => return Err(PullRefused::Gone),
            _ => return Err(why(std::io::Error::last_os_error())),
        }
    }
    Ok(())
}

fn why(error: std::io::Error) -> PullRefused {
    match error.raw_os_error() {
        // The process has ended.
        Some(libc::ESRCH) => PullRefused::Gone,
        // Yama, a seccomp filter, another user name space, no such call; or memory, on either side, that its process has
        // protected for the moment: who streams it runs into the protection itself, as with any copy.
        _ => PullRefused::NotPermitted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_own_process() {
        let data = [7u8; 10_000];
        let mut out = [0u8; 10_000];
        assert_eq!(read(std::process::id(), data.as_ptr() as u64, &mut out), Ok(()));
        assert_eq!(out, data);
    }

    #[test]
    fn tells_gone_from_forbidden() {
        let mut out = [0u8; 8];
        assert_eq!(
            read(std::process::id(), 8, &mut out),
            Err(PullRefused::NotPermitted),
            "an address of nobody"
        );
        assert_eq!(read(0x7fff_fff0, 8, &mut out), Err(PullRefused::Gone), "a process that never was");
    }
}
