//! The directory of a machine: where it is, whose it is, what lies in it.

use rustix::fs::{Mode, lstat, mkdir};
use rustix::process::geteuid;
use std::io;
use std::path::{Path, PathBuf};

/// The longest path a unix socket may have.
const MAX_SOCKET_PATH: usize = 107;

/// Why the directory cannot be used. One cause and one remedy each; the codes
/// are explained in `docs/errors.md`.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Another user's, or open to others.
    #[error("E-DIR: {path} {fault}; help: {remedy}")]
    Unsafe {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
        /// What to do.
        remedy: String,
    },
    /// It could not be made or looked at.
    #[error(
        "E-DIR: {path} cannot be used: {error}; help: make room and see that you may write there, or set PARVUM_DIR"
    )]
    System {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// Too long for a unix socket.
    #[error(
        "E-PATHLEN: {path} is too long: the socket's path would have {length} bytes and the system allows \
         {MAX_SOCKET_PATH}; help: set PARVUM_DIR to a shorter path"
    )]
    TooLong {
        /// The directory.
        path: PathBuf,
        /// The length of the socket's path.
        length: usize,
    },
}

/// The directory of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineDirectory {
    dir: PathBuf,
    source: &'static str,
}

impl MachineDirectory {
    /// Where the environment says: `$PARVUM_DIR`, else `$XDG_RUNTIME_DIR/parvum`, else `/tmp/parvum-UID`. Each job of Slurm has
    /// another directory: `/tmp/parvum-UID-slurm-JOB-HOST`.
    pub fn from_env() -> MachineDirectory {
        let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(dir) = set("PARVUM_DIR") {
            let dir = std::path::absolute(&dir).unwrap_or(dir);
            return MachineDirectory { dir, source: "PARVUM_DIR" };
        }
        // PVM's way to have several machines: each with a name of its own.
        let name = std::env::var("PVM_VMID").unwrap_or_default();
        let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).collect();
        let mut suffix = if name.is_empty() { name } else { format!("-{name}") };
        suffix.push_str(&job_of_slurm(|name| std::env::var(name).unwrap_or_default()));
        match set("XDG_RUNTIME_DIR").filter(|dir| dir.is_absolute() && dir.is_dir()) {
            Some(dir) => {
                MachineDirectory { dir: dir.join(format!("parvum{suffix}")), source: "XDG_RUNTIME_DIR" }
            }
            None => {
                let dir = format!("/tmp/parvum-{}{suffix}", geteuid().as_raw());
                MachineDirectory { dir: dir.into(), source: "default" }
            }
        }
    }

    /// A directory named by the caller.
    pub fn at(dir: impl Into<PathBuf>) -> MachineDirectory {
        MachineDirectory { dir: dir.into(), source: "argument" }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the choice comes from: the variable's name, "default" or "argument".
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// The daemon's socket.
    pub fn socket(&self) -> PathBuf {
        self.dir.join("daemon.sock")
    }

    /// The file whose lock the daemon holds.
    pub fn lock(&self) -> PathBuf {
        self.dir.join("daemon.lock")
    }

    /// The daemon's log.
    pub fn log(&self) -> PathBuf {
        self.dir.join("daemon.log")
    }

    /// The file with the name of the machine of several hosts to which the daemon belongs, and of this host in it.
    pub fn machine(&self) -> PathBuf {
        self.dir.join("machine")
    }

    /// The file that says that the directory is of our making, and goes with the machine.
    fn made(&self) -> PathBuf {
        self.dir.join("made-by-parvum")
    }

    /// Makes the directory when it is missing, and checks it.
    pub fn prepare(&self) -> Result<(), PlaceError> {
        match mkdir(&self.dir, Mode::RWXU) {
            Ok(()) => {
                // Where there is no room for that, there is none for a machine: the directory must not stay for it.
                if let Err(error) = std::fs::write(self.made(), "") {
                    let _ = std::fs::remove_file(self.made());
                    let _ = std::fs::remove_dir(&self.dir);
                    return Err(self.system(error));
                }
                self.check()
            }
            Err(rustix::io::Errno::EXIST) => self.check(),
            Err(error) => Err(self.system(error.into())),
        }
    }

    /// Removes the directory, if it is empty and we made it.
    pub fn remove_if_made(&self) {
        if std::fs::remove_file(self.made()).is_ok() {
            let _ = std::fs::remove_dir(&self.dir);
        }
    }

    /// Checks that the directory is ours alone. A missing one is a
    /// [`PlaceError::System`] with [`io::ErrorKind::NotFound`].
    pub fn check(&self) -> Result<(), PlaceError> {
        use std::os::unix::ffi::OsStrExt;
        let length = self.socket().as_os_str().as_bytes().len();
        if length > MAX_SOCKET_PATH {
            return Err(PlaceError::TooLong { path: self.dir.clone(), length });
        }
        let stat = lstat(&self.dir).map_err(|error| self.system(error.into()))?;
        let refuse =
            |fault: String, remedy: String| Err(PlaceError::Unsafe { path: self.dir.clone(), fault, remedy });
        if stat.st_mode & 0o170000 != 0o040000 {
            return refuse("is not a directory".into(), "move it away, or set PARVUM_DIR".into());
        }
        if stat.st_uid != geteuid().as_raw() {
            let fault = format!("belongs to user {}", stat.st_uid);
            return refuse(fault, "set PARVUM_DIR to a directory of your own".into());
        }
        if stat.st_mode & 0o077 != 0 {
            let fault = format!("is open to other users (mode {:o})", stat.st_mode & 0o777);
            // Whose directory it is we cannot know; to close a system's would break it.
            let remedy = "choose another directory for PARVUM_DIR; or, if it is a machine's, `chmod 700` it";
            return refuse(fault, remedy.into());
        }
        Ok(())
    }

    fn system(&self, error: io::Error) -> PlaceError {
        PlaceError::System { path: self.dir.clone(), error }
    }
}
/// The part of the name that a job of Slurm has. Two jobs of one user may share a host, and a host may have two of Slurm's names.
fn job_of_slurm(variable: impl Fn(&str) -> String) -> String {
    let word = |name| -> String {
        variable(name).chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).collect()
    };
    if variable("PARVUM_SLURM") == "no" {
        return String::new();
    }
    match (word("SLURM_JOB_ID").as_str(), word("SLURMD_NODENAME").as_str()) {
        ("", _) => String::new(),
        (job, "") => format!("-slurm-{job}"),
        (job, host) => format!("-slurm-{job}-{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::job_of_slurm;

    #[test]
    fn each_job_of_slurm_has_a_directory_on_each_host() {
        let suffix = |variables: &[(&str, &str)]| {
            job_of_slurm(|asked| {
                let found = variables.iter().find(|(name, _)| *name == asked);
                found.map(|(_, value)| (*value).to_owned()).unwrap_or_default()
            })
        };
        let job = ("SLURM_JOB_ID", "17");
        assert_eq!(suffix(&[]), "");
        assert_eq!(suffix(&[("SLURMD_NODENAME", "n1")]), "");
        assert_eq!(suffix(&[job]), "-slurm-17");
        assert_eq!(suffix(&[job, ("SLURMD_NODENAME", "n1")]), "-slurm-17-n1");
        assert_eq!(suffix(&[job, ("SLURMD_NODENAME", "../n 1")]), "-slurm-17-..n1");
        assert_eq!(suffix(&[job, ("PARVUM_SLURM", "no")]), "");
    }
}
