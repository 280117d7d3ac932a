//! The daemon's log. A full disk costs lines, never the daemon.

use crate::daemon::processes::repeats::Repeats;
use parvum_wire::Tid;
use parvum_wire::control::Stream;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// When the log is this long it starts anew; the old one is kept beside it.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

pub(crate) struct Log {
    path: PathBuf,
    inner: RefCell<Inner>,
    /// What tasks have written here.
    spoken: RefCell<HashMap<Tid, Repeats>>,
}

struct Inner {
    file: Option<File>,
    bytes: u64,
    /// How often each kind of refusal happened.
    refusals: HashMap<&'static str, u64>,
    lost: u64,
}

impl Log {
    /// Opens the log for appending; without a file the lines are lost and counted.
    pub fn open(path: &Path) -> Log {
        let file = open(path);
        let bytes = file.as_ref().and_then(|f| f.metadata().ok()).map_or(0, |m| m.len());
        let inner = Inner { file, bytes, refusals: HashMap::new(), lost: 0 };
        Log { path: path.to_path_buf(), inner: RefCell::new(inner), spoken: RefCell::default() }
    }

    /// The file that the log moves to when it is full.
    pub fn old(path: &Path) -> PathBuf {
        path.with_extension("log.old")
    }

    /// Writes one line.
    pub fn line(&self, text: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let line = format!("{}.{:03} {text}\n", now.as_secs(), now.subsec_millis());
        self.write(line.as_bytes());
    }

    /// Counts a refusal and writes it when the count is a power of two: once for
    /// one, and a line now and then for a flood.
    pub fn refusal(&self, kind: &'static str, text: &str) {
        let count = {
            let mut inner = self.inner.borrow_mut();
            let count = inner.refusals.entry(kind).or_default();
            *count += 1;
            *count
        };
        match count {
            1 => self.line(&format!("refused, {kind}: {text}")),
            n if n.is_power_of_two() => self.line(&format!("refused, {kind}: {text} ({n} times by now)")),
            _ => {}
        }
    }

    /// Refusals by kind, and lines lost.
    pub fn counts(&self) -> Vec<(String, u64)> {
        let inner = self.inner.borrow();
        let mut counts: Vec<_> = inner.refusals.iter().map(|(k, n)| (format!("refused, {k}"), *n)).collect();
        counts.sort();
        counts.push(("log lines lost".into(), inner.lost));
        counts
    }

    /// Writes output of a task, each line with its name in front. A flood of equal lines is counted.
    pub fn output(&self, who: Tid, stream: Stream, data: &[u8]) {
        let output = usize::from(stream == Stream::Err);
        let lines = self.spoken.borrow_mut().entry(who).or_default().take(output, data);
        lines.iter().for_each(|line| self.line(&format!("[{who}] {line}")));
    }

    /// The task writes nothing more.
    pub fn output_ends(&self, who: Tid) {
        let spoken = self.spoken.borrow_mut().remove(&who);
        let lines = spoken.map(Repeats::end).unwrap_or_default();
        lines.iter().for_each(|line| self.line(&format!("[{who}] {line}")));
    }

    fn write(&self, line: &[u8]) {
        let mut inner = self.inner.borrow_mut();
        if inner.bytes + line.len() as u64 > MAX_BYTES {
            let _ = std::fs::rename(&self.path, Log::old(&self.path));
            inner.file = open(&self.path);
            inner.bytes = 0;
        }
        match inner.file.as_mut().map(|f| f.write_all(line)) {
            Some(Ok(())) => inner.bytes += line.len() as u64,
            _ => inner.lost += 1,
        }
    }
}

fn open(path: &Path) -> Option<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path).ok()
}
