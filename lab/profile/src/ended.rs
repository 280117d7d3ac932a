//! The file that a process writes when it ends.

#![allow(unsafe_code)]

use crate::counts::{self, BYTES, IS_MPI, MESSAGES};
use crate::wrappers::COUNTERS;
use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| std::env::var_os("PARVUM_PROFILE").map(PathBuf::from)).as_ref()
}

/// Whether somebody wants counts of this process.
pub fn is_wanted() -> bool {
    folder().is_some()
}

/// The loader calls it when the library is in the process.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    counts::began();
    if is_wanted() {
        // SAFETY: the function lives as long as the process.
        unsafe { libc::atexit(write) };
    }
}

/// The number of this process in its job, as launchers say it.
fn rank() -> Option<u32> {
    let names = ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PARVUM_RANK"];
    names.iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

/// The name of the program, for a reader of the file.
fn program() -> OsString {
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    OsString::from_vec(line.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())
}

extern "C" fn write() {
    let Some(folder) = folder() else { return };
    // SAFETY: a plain struct of numbers, which the call fills.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut used);
        used
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    let mut text = String::new();
    let rank = rank().map_or("null".to_owned(), |rank| rank.to_string());
    let _ = write!(
        text,
        "{{\"pid\":{},\"rank\":{rank},\"mpi\":{},\"program\":{:?},\"elapsed_s\":{:.6},\"user_s\":{:.6},\"system_s\":{:.6},\"memory_kib\":{},\"bytes\":{},\"messages\":[",
        std::process::id(),
        IS_MPI.load(Ordering::Relaxed),
        program().to_string_lossy(),
        counts::began().elapsed().as_secs_f64(),
        seconds(used.ru_utime),
        seconds(used.ru_stime),
        used.ru_maxrss,
        BYTES.load(Ordering::Relaxed)
    );
    let messages: Vec<String> = MESSAGES.iter().map(|one| one.load(Ordering::Relaxed).to_string()).collect();
    let _ = write!(text, "{}],\"calls\":[", messages.join(","));
    let calls: Vec<String> = COUNTERS
        .iter()
        .filter(|one| one.calls.load(Ordering::Relaxed) > 0)
        .map(|one| {
            format!(
                "{{\"name\":\"{}\",\"waits\":{},\"calls\":{},\"ns\":{}}}",
                one.name.trim_end_matches("_c"),
                one.is_waiting,
                one.calls.load(Ordering::Relaxed),
                one.ns.load(Ordering::Relaxed)
            )
        })
        .collect();
    let _ = writeln!(text, "{}]}}", calls.join(","));
    // A folder that is full or gone is no reason to end the program otherwise than it would.
    let _ = std::fs::write(folder.join(format!("{}.json", std::process::id())), text);
}
