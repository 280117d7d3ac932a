//! What rivals leave behind in shared memory when they are ended or give up; a comparison is to leave nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How rivals' segments are called: MPICH's, Open MPI's of today and of release 4.
const SEGMENTS: [&str; 3] = ["mpich_shm_", "sm_segment.", "vader_segment."];

/// The segments there are.
#[derive(Debug)]
pub struct Leftovers {
    folder: PathBuf,
    before: BTreeSet<PathBuf>,
}

impl Leftovers {
    /// Looks at what is there before anything is launched.
    pub fn before() -> Leftovers {
        Leftovers::in_folder(Path::new("/dev/shm"))
    }

    pub(crate) fn in_folder(folder: &Path) -> Leftovers {
        Leftovers { folder: folder.to_owned(), before: segments(folder) }
    }

    /// Removes what came since, unless a process has it mapped: one that still ends, or somebody else's.
    pub fn remove(&self) {
        for file in segments(&self.folder).difference(&self.before) {
            if !is_mapped(file) {
                let _ = std::fs::remove_file(file);
            }
        }
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        self.remove();
    }
}

fn segments(folder: &Path) -> BTreeSet<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter(|file| {
            let name = file.file_name();
            SEGMENTS.iter().any(|segment| name.to_string_lossy().starts_with(segment))
        })
        .map(|file| file.path())
        .collect()
}

fn is_mapped(file: &Path) -> bool {
    let name = file.to_string_lossy();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| std::fs::read_to_string(process.path().join("maps")).ok())
        .any(|maps| maps.lines().any(|line| line.ends_with(&*name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftover_segments_of_peers_are_removed_only_if_new() {
        let folder = std::env::temp_dir().join(format!("parvum-lab-leftovers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let touch = |name: &str| std::fs::write(folder.join(name), b"").expect("a file");
        touch("mpich_shm_old");
        let leftovers = Leftovers::in_folder(&folder);
        touch("mpich_shm_new");
        touch("somebody_elses");
        leftovers.remove();
        let mut left: Vec<String> = std::fs::read_dir(&folder)
            .expect("the folder")
            .flatten()
            .map(|file| file.file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(left, ["mpich_shm_old", "somebody_elses"]);
    }

    #[test]
    fn mapped_file_is_detected() {
        let own = std::env::current_exe().expect("this program");
        assert!(is_mapped(&own));
        assert!(!is_mapped(Path::new("/dev/shm/mpich_shm_of_nobody")));
    }
}
