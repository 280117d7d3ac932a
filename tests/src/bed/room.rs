//! The folder of a bed, and the numbers that are its own.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where cargo puts what it builds: `target/PROFILE`, for tests and for programs.
pub fn profile() -> PathBuf {
    let exe = std::env::current_exe().expect("programs have a file");
    let dir = exe.parent().expect("it lies in a folder");
    let dir = if dir.ends_with("deps") { dir.parent().expect("target/PROFILE") } else { dir };
    dir.to_path_buf()
}

/// A folder, and a network of which nobody else makes use.
pub(super) struct Room {
    pub root: PathBuf,
    /// The second and third number of the hosts' addresses.
    pub net: (u8, u8),
}

impl Room {
    pub fn take() -> Result<Room, String> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        let root = std::env::temp_dir().join(format!("parvum-bed-{pid}-{number}"));
        std::fs::create_dir(&root).map_err(|why| format!("{}: {why}", root.display()))?;
        // The paths of sockets are short; tools find each other by this one.
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(&root, mode).map_err(|why| why.to_string())?;
        // Networks of two beds do not meet, so this is for people who read addresses.
        let net = ((pid.wrapping_add(number) % 251) as u8, (pid / 251 % 251) as u8);
        Ok(Room { root, net })
    }
}

/// The processes whose environment or arguments name something below the folder.
pub(super) fn processes_below(root: &Path) -> Vec<u32> {
    let me = std::process::id();
    let root = root.as_os_str().as_encoded_bytes();
    let pids = std::fs::read_dir("/proc").expect("/proc").flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != me && crate::alive(*pid))
        .filter(|pid| {
            ["environ", "cmdline"].iter().any(|file| {
                let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
                let is_root = |at: usize| {
                    let end = at + root.len();
                    bytes[at..end] == *root && bytes.get(end).is_none_or(|byte| !byte.is_ascii_digit())
                };
                bytes.len() >= root.len() && (0..=bytes.len() - root.len()).any(is_root)
            })
        })
        .collect()
}
