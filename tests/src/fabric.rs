//! Whether libfabric is here.

use crate::{Lack, skip};

/// Whether `libfabric.so.1` is installed. If not, the test that runs is skipped.
pub fn has_libfabric() -> bool {
    let folders = ["/usr/lib", "/usr/local/lib"].into_iter().flat_map(std::fs::read_dir).flatten().flatten();
    let mut files = folders.map(|folder| folder.path().join("libfabric.so.1"));
    if files.any(|file| file.exists()) {
        return true;
    }
    skip(Lack::Tools, "libfabric.so.1 is not installed");
    false
}
