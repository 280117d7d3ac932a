//! A host's network device whose other end is a descriptor here.

use rustix::fs::{Mode, OFlags, open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// As `<linux/if_tun.h>` and `<linux/if.h>` have it.
#[repr(C)]
struct Request {
    name: [u8; 16],
    flags: libc::c_short,
    rest: [u8; 22],
}

/// Where devices come from. Containers often have none.
const MAKER: &str = "/dev/net/tun";

/// Whether devices can be made here.
pub(super) fn possible() -> Result<(), String> {
    let opened = open(MAKER, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    opened.map(drop).map_err(|why| format!("no network device of ours ({MAKER}): {why}"))
}

/// Makes the device of this name in the network of that process.
pub fn make(pid: u32, name: &str) -> io::Result<OwnedFd> {
    let name = name.to_owned();
    // A thread of its own: it stays in the network that it enters.
    let made = std::thread::spawn(move || {
        let network = open(format!("/proc/{pid}/ns/net"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let device = open(MAKER, flags, Mode::empty())?;
        attach(&device, &name)?;
        Ok(device)
    });
    made.join().map_err(|_| io::Error::other("the thread that makes a device failed"))?
}

fn attach(device: &OwnedFd, name: &str) -> io::Result<()> {
    let mut request =
        Request { name: [0; 16], flags: (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short, rest: [0; 22] };
    let bytes = name.as_bytes().get(..15).unwrap_or(name.as_bytes());
    request.name[..bytes.len()].copy_from_slice(bytes);
    // SAFETY: TUNSETIFF reads and writes one `ifreq` of 40 bytes, as long as `Request`, which lives until the call returns.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_has_size_of_ifreq() {
        assert_eq!((size_of::<Request>(), align_of::<Request>()), (40, 2));
        assert_eq!(size_of::<libc::ifreq>(), 40);
    }
}
