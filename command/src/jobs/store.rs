//! The folders of jobs: `$XDG_STATE_HOME/parvum/jobs`, else `~/.local/state/parvum/jobs`.

use super::record::{Record, State};
use rustix::fs::{FlockOperation, Mode, flock};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// No more jobs that have ended are kept.
const MOST_JOBS: usize = 200;
/// No more bytes of jobs that have ended are kept.
const MOST_BYTES: u64 = 1 << 30;

/// The folder of a job.
#[derive(Clone, Debug)]
pub struct Job {
    pub number: u32,
    folder: PathBuf,
}

/// The folder of all jobs.
fn root() -> Result<PathBuf, String> {
    let state = crate::settings::state::folder();
    Ok(state
        .ok_or("E-DIR: HOME is missing, and jobs need a folder; help: set HOME or XDG_STATE_HOME")?
        .join("jobs"))
}

fn failed(path: &Path, error: io::Error) -> String {
    format!("E-DIR: {}: {error}; help: make room, or set XDG_STATE_HOME to another folder", path.display())
}

/// All jobs, the oldest first.
pub fn all() -> Result<Vec<Job>, String> {
    let root = root()?;
    let entries = match fs::read_dir(&root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&root, error)),
    };
    let number = |entry: &fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let jobs = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some(Job { number: number(&entry)?, folder: entry.path() }));
    let mut jobs: Vec<Job> = jobs.collect();
    jobs.sort_by_key(|job| job.number);
    Ok(jobs)
}

/// A job by its number.
pub fn find(number: u32) -> Result<Job, String> {
    let folder = root()?.join(number.to_string());
    match folder.is_dir() {
        true => Ok(Job { number, folder }),
        false => {
            Err(format!("E-NOJOB: there is no job {number}; help: `parvum jobs` lists the jobs of this host"))
        }
    }
}

/// Makes the folder of a new job. All other jobs have lower numbers.
pub fn make(record: &Record) -> Result<Job, String> {
    let root = root()?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&root).map_err(|error| failed(&root, error))?;
    let mut number = all()?.last().map_or(1, |job| job.number.saturating_add(1));
    let job = loop {
        let folder = root.join(number.to_string());
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => break Job { number, folder },
            // Another command submits at the same time.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number = number.saturating_add(1),
            Err(error) => return Err(failed(&folder, error)),
        }
    };
    let prepared = job.write(record).and_then(|()| job.prepare());
    if prepared.is_err() {
        job.remove();
    }
    prepared.map(|()| job)
}

/// Removes the oldest jobs that have ended, so that neither their number nor their size grows without limit.
pub fn tidy() -> Result<(), String> {
    let mut ended: Vec<Job> = all()?.into_iter().filter(|job| !job.is_kept() && job.read().is_ok()).collect();
    let mut bytes: u64 = ended.iter().map(Job::bytes).sum();
    let mut count = ended.len();
    for job in ended.drain(..) {
        if count <= MOST_JOBS && bytes <= MOST_BYTES {
            break;
        }
        count -= 1;
        bytes -= job.bytes();
        job.remove();
    }
    Ok(())
}

impl Job {
    pub fn output(&self) -> PathBuf {
        self.folder.join("output")
    }

    /// The file with how each task ended.
    pub fn tasks(&self) -> PathBuf {
        self.folder.join("tasks.json")
    }

    /// A byte in this pipe makes the keeper cancel the job.
    pub fn control(&self) -> PathBuf {
        self.folder.join("control")
    }

    fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    fn prepare(&self) -> Result<(), String> {
        let new = |path: &Path| OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        for path in [self.lock(), self.output()] {
            new(&path).map_err(|error| failed(&path, error))?;
        }
        let control = self.control();
        rustix::fs::mknodat(rustix::fs::CWD, &control, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .map_err(|error| failed(&control, error.into()))
    }

    /// Writes the record: all of it or nothing.
    pub fn write(&self, record: &Record) -> Result<(), String> {
        let (path, spare) = (self.folder.join("job.json"), self.folder.join("job.json.new"));
        let text = serde_json::to_string_pretty(record).map_err(|error| error.to_string())?;
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&spare)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&spare, &path));
        written.map_err(|error| failed(&path, error))
    }

    pub fn read(&self) -> Result<Record, String> {
        let path = self.folder.join("job.json");
        let text = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
        serde_json::from_str(&text).map_err(|error| {
            format!("E-FILE: {} is damaged: {error}; help: remove the folder of the job", path.display())
        })
    }

    /// Takes the lock, for the keeper. The lock ends with the file.
    pub fn hold(&self) -> Result<File, String> {
        let path = self.lock();
        // For writing too: over NFS only such a file has an exclusive lock.
        let file =
            OpenOptions::new().read(true).write(true).open(&path).map_err(|error| failed(&path, error))?;
        loop {
            // Other commands have a shared lock for a moment.
            match flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(file),
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed(&path, error.into())),
            }
        }
    }

    /// Whether the keeper of the job runs.
    pub fn is_kept(&self) -> bool {
        let file = File::open(self.lock());
        file.is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK))
    }

    /// Waits until the keeper has ended.
    pub fn wait(&self) -> Result<(), String> {
        let path = self.lock();
        let file = File::open(&path).map_err(|error| failed(&path, error))?;
        loop {
            match flock(&file, FlockOperation::LockShared) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed(&path, error.into())),
            }
        }
    }

    /// The record and the state.
    pub fn look(&self) -> Result<(Record, State), String> {
        // The keeper first: it writes the record before it ends.
        let is_kept = self.is_kept();
        let record = self.read()?;
        let state = record.state(is_kept);
        Ok((record, state))
    }

    fn bytes(&self) -> u64 {
        [self.output(), self.tasks()]
            .iter()
            .filter_map(|path| path.metadata().ok())
            .map(|about| about.len())
            .sum()
    }

    /// Removes the folder.
    pub fn remove(&self) {
        // The next call of `tidy` tries again.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
