//! `run --json`: how each task ended and when, in a file for programs.

use crate::terminal::signal_names;
use parvum_task::SessionError;
use parvum_wire::Tid;
use parvum_wire::control::ExitStatus;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What is known of a task.
struct Task {
    rank: Option<u32>,
    name: String,
    host: String,
    began: Instant,
    ended: Option<(Instant, Option<ExitStatus>)>,
}

/// The record of a job.
pub struct Record {
    /// Where it goes; nowhere if nobody has asked.
    file: Option<(PathBuf, File)>,
    began: Instant,
    at: SystemTime,
    tasks: BTreeMap<Tid, Task>,
}

fn cannot_write(path: &Path, error: std::io::Error) -> SessionError {
    SessionError::System(format!("write {}", path.display()), error)
}

impl Record {
    /// A record that goes into that file. The file is made at once: better an error now than after hours.
    pub fn into(path: Option<&Path>) -> Result<Record, SessionError> {
        let file = path.map(|path| {
            File::create(path).map(|file| (path.to_owned(), file)).map_err(|error| cannot_write(path, error))
        });
        Ok(Record {
            file: file.transpose()?,
            began: Instant::now(),
            at: SystemTime::now(),
            tasks: BTreeMap::new(),
        })
    }

    /// A task has started.
    pub fn began(&mut self, tid: Tid, rank: Option<u32>, name: &str, host: String) {
        if self.file.is_some() {
            let task = Task { rank, name: name.into(), host, began: Instant::now(), ended: None };
            self.tasks.insert(tid, task);
        }
    }

    /// It has ended; of one whose host is lost nobody knows how.
    pub fn ended(&mut self, tid: Tid, status: Option<ExitStatus>) {
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.ended = Some((Instant::now(), status));
        }
    }

    /// Writes the record of a job that ended with that code.
    pub fn write(self, code: u8) -> Result<(), SessionError> {
        let Record { file, began, at, tasks } = self;
        let Some((path, mut file)) = file else { return Ok(()) };
        let start = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let all: Vec<Value> = tasks.iter().map(|(tid, task)| task.json(*tid, began)).collect();
        let whole = json!({
            "exit_code": code,
            "started_unix_s": start,
            "seconds": began.elapsed().as_secs_f64(),
            "tasks": all,
        });
        writeln!(file, "{whole:#}").map_err(|error| cannot_write(&path, error))
    }
}

impl Task {
    fn json(&self, tid: Tid, job: Instant) -> Value {
        let (state, code, signal) = match self.ended {
            None => ("running", None, None),
            Some((_, None)) => ("lost", None, None),
            Some((_, Some(ExitStatus::Code(code)))) => ("ended", Some(code), None),
            Some((_, Some(ExitStatus::Signal(signal)))) => ("killed", None, Some(signal_names::name(signal))),
        };
        let until = self.ended.map_or_else(Instant::now, |(at, _)| at);
        json!({
            "tid": tid.to_string(),
            "rank": self.rank,
            "name": self.name,
            "host": self.host,
            "state": state,
            "code": code,
            "signal": signal,
            "started_s": (self.began - job).as_secs_f64(),
            "seconds": (until - self.began).as_secs_f64(),
        })
    }
}
