//! The record of a job.

use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// The record of a job, in the file `job.json` of its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The name, for people.
    pub name: String,
    /// The words after `parvum run`, for people: what cannot be shown is replaced.
    pub command: String,
    /// The host on which the job was submitted.
    pub host: String,
    /// The folder in which the job was submitted.
    pub folder: String,
    /// When it was submitted, in seconds since 1970.
    pub submitted: f64,
    /// When its keeper started it.
    pub started: Option<f64>,
    /// When it ended.
    pub ended: Option<f64>,
    /// Its exit code.
    pub code: Option<i32>,
    /// Somebody has cancelled it.
    pub cancelled: bool,
    /// Bytes of its output that were not kept.
    pub dropped: u64,
}

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its keeper runs.
    Running,
    /// It has ended with code 0.
    Done,
    /// It has ended with another code.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// Its keeper was killed, or its host has stopped. Nobody knows how the job ended.
    Lost,
}

impl State {
    pub fn word(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
            State::Lost => "lost",
        }
    }
}

impl Record {
    /// The state of a job, given whether its keeper runs.
    pub fn state(&self, is_kept: bool) -> State {
        match (self.code, is_kept) {
            (None, true) => State::Running,
            (None, false) => State::Lost,
            (Some(_), _) if self.cancelled => State::Cancelled,
            (Some(0), _) => State::Done,
            (Some(_), _) => State::Failed,
        }
    }

    /// How long it has run, or has been running, in seconds.
    pub fn seconds(&self) -> Option<f64> {
        Some((self.ended.unwrap_or_else(now) - self.started?).max(0.0))
    }
}

/// The time in seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_follows_from_code_and_keeper() {
        let record = |code, cancelled| Record {
            name: "a".into(),
            command: "a".into(),
            host: "h".into(),
            folder: "/".into(),
            submitted: 1.0,
            started: Some(2.0),
            ended: Some(5.0),
            code,
            cancelled,
            dropped: 0,
        };
        for (code, cancelled, is_kept, state) in [
            (None, false, true, State::Running),
            (None, true, true, State::Running),
            (None, false, false, State::Lost),
            (Some(0), false, false, State::Done),
            (Some(3), false, false, State::Failed),
            (Some(143), true, false, State::Cancelled),
            // Its keeper has written the record and has not ended yet.
            (Some(0), false, true, State::Done),
        ] {
            assert_eq!(record(code, cancelled).state(is_kept), state);
        }
        assert_eq!(record(Some(0), false).seconds(), Some(3.0));
    }
}
