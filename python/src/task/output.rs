//! Standard output and error of this process and its children, sent to another task line by line.
//!
//! Two pipes replace the descriptors 1 and 2, so output of Python, C, and programs that a call starts is caught.
//! A thread that never takes the interpreter's lock reads the pipes, so that a write never waits for Python.

use crate::objects::kinds::{kind, word};
use crate::task::process::{self, notes};
use parvum_api::{Buffering, Completion};
use parvum_api::{CoreApi, Notes, SendTo, call};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// An incomplete line of this many bytes is sent before its end comes.
const LONG: usize = 64 << 10;

struct Caught {
    api: CoreApi,
    to: i32,
    tag: i32,
    context: u32,
    /// The start of each message; then come "1" or "2", and the text.
    head: Vec<u8>,
    ends: [OwnedFd; 2],
    /// The incomplete lines. Locked during a send, so that messages keep their order.
    halves: Mutex<[Vec<u8>; 2]>,
    /// The thread has read bytes that it has not sent. The flag is set before the bytes are taken out. SeqCst with the checks of the
    /// pipes in [`settle`]: a caller that finds a pipe empty also sees the flag.
    busy: AtomicBool,
    process: u32,
}

static CAUGHT: OnceLock<Caught> = OnceLock::new();

/// From now on sends the output to this task, in messages with this tag and context.
#[pyfunction]
pub(crate) fn catch_output(py: Python<'_>, to: i32, tag: i32, context: u32, head: Vec<u8>) -> PyResult<()> {
    let api = process::api(py)?;
    let ends = [caught(1)?, caught(2)?];
    let halves = Mutex::new([Vec::new(), Vec::new()]);
    let busy = AtomicBool::new(false);
    let process = std::process::id();
    if CAUGHT.set(Caught { api, to, tag, context, head, ends, halves, busy, process }).is_ok() {
        // SAFETY: `setvbuf` takes a stream of the C library before or between its uses; no other code uses C's stdout now.
        unsafe { libc::setvbuf(stdout(), std::ptr::null_mut(), libc::_IOLBF, 0) };
        std::thread::Builder::new().name("parvum-output".into()).spawn(read)?;
    }
    Ok(())
}

unsafe extern "C" {
    #[link_name = "stdout"]
    static STDOUT: *mut libc::FILE;
}

fn stdout() -> *mut libc::FILE {
    // SAFETY: the C library sets it before the program starts.
    unsafe { STDOUT }
}

/// Replaces a descriptor with a pipe; returns the reading end.
fn caught(descriptor: i32) -> PyResult<OwnedFd> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    if made != 0 {
        return Err(PyOSError::new_err(std::io::Error::last_os_error().to_string()));
    }
    // SAFETY: both are new, and have no other owner.
    let [from, to] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    // SAFETY: `to` is open. The new descriptor has no close-on-exec, so programs that calls start inherit it.
    match unsafe { libc::dup2(to.as_raw_fd(), descriptor) } {
        -1 => Err(PyOSError::new_err(std::io::Error::last_os_error().to_string())),
        _ => Ok(from),
    }
}

/// Sends all earlier output to its last byte, including an incomplete line.
#[pyfunction]
pub(crate) fn settle(py: Python<'_>) {
    let Some(caught) = CAUGHT.get().filter(|caught| caught.process == std::process::id()) else { return };
    // SAFETY: null means all of C's open output streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    if !caught.is_settled() {
        process::outside(py, || {
            while !caught.is_settled() {
                std::thread::sleep(Duration::from_micros(20));
            }
        });
    }
    let waits =
        caught.halves.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|half| !half.is_empty());
    if waits {
        process::outside(py, || caught.send_halves());
    }
}

impl Caught {
    /// True if the pipes are empty, and their bytes were sent.
    fn is_settled(&self) -> bool {
        let is_empty = |end: &OwnedFd| {
            let mut bytes: libc::c_int = 0;
            // SAFETY: FIONREAD writes one `int`.
            let asked = unsafe { libc::ioctl(end.as_raw_fd(), libc::FIONREAD, &mut bytes) };
            asked != 0 || bytes == 0
        };
        self.ends.iter().all(is_empty) && !self.busy.load(Ordering::SeqCst)
    }

    /// Sends the incomplete lines.
    fn send_halves(&self) {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        for (stream, half) in halves.iter_mut().enumerate().filter(|(_, half)| !half.is_empty()) {
            self.send(stream, &std::mem::take(half));
        }
    }

    /// Reads from a stream, and sends its complete lines.
    fn take(&self, stream: usize, bytes: &[u8]) {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        let half = &mut halves[stream];
        half.extend_from_slice(bytes);
        let whole = match half.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => last + 1,
            None if half.len() >= LONG => half.len(),
            None => return,
        };
        let rest = half.split_off(whole);
        let lines = std::mem::replace(half, rest);
        self.send(stream, &lines);
    }

    fn send(&self, stream: usize, text: &[u8]) {
        let data = [&self.head[..], &[b'1' + stream as u8], text].concat();
        let Caught { to, tag, context, .. } = *self;
        let how = SendTo {
            to,
            tag,
            context,
            meta: word(kind::BYTES),
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        // SAFETY: the data is valid until the request is complete, and this code waits for that.
        let begun = unsafe { self.api.start_pieces(&how, &[&data]) };
        if let Ok(Some(request)) = begun {
            // If the receiver is gone, the output is dropped.
            let _ = self.api.wait(request, &Notes { limit: -1, ..notes(call::SEND, to, tag, context) });
        }
    }
}

/// The thread: reads both pipes until all writing ends are closed.
fn read() {
    let Some(caught) = CAUGHT.get() else { return };
    let mut room = vec![0u8; 64 << 10];
    let mut polled = [0, 1].map(|at: usize| libc::pollfd {
        fd: caught.ends[at].as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    });
    while polled.iter().any(|one| one.fd >= 0) {
        // SAFETY: the array has two entries; poll ignores an entry of -1.
        let found = unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
        if found < 0 {
            continue;
        }
        for (stream, one) in polled.iter_mut().enumerate().filter(|(_, one)| one.fd >= 0 && one.revents != 0)
        {
            caught.busy.store(true, Ordering::SeqCst);
            // SAFETY: the buffer has this much room.
            let length = unsafe { libc::read(one.fd, room.as_mut_ptr().cast(), room.len()) };
            match usize::try_from(length) {
                Ok(0) => one.fd = -1,
                Ok(length) => caught.take(stream, &room[..length]),
                Err(_) => {}
            }
            caught.busy.store(false, Ordering::SeqCst);
        }
    }
}
