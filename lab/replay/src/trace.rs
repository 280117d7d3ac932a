//! A trace, and its lines: `0 compute 1500`, `0 send 1 0 8`, `1 recv 0 0 8`.
//!
//! The lines are those of SimGrid's time-independent traces. A computation is in nanoseconds of the processor that it was recorded on
//! (for SimGrid: operations of one that does 10^9 a second). The tag of a message is its number from that task to that one, so that each is
//! matched with the receive that took it, whatever tags and contexts the program had.

use std::fmt;
use std::io::{self, BufRead, Write};

/// What a task does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Its processor is busy for so many nanoseconds.
    Compute(f64),
    /// A message leaves.
    Send {
        /// The receiver's place.
        to: usize,
        /// Its number among those from this task to that one.
        number: u32,
        /// Bytes of data.
        bytes: u64,
    },
    /// It goes on when it has that message.
    Receive {
        /// The sender's place.
        from: usize,
        /// The message's number among those from that task to this one.
        number: u32,
        /// Bytes of data.
        bytes: u64,
    },
}

/// What each task did, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// A task's place is its number.
    pub tasks: Vec<Vec<Action>>,
}

/// A line that is none.
#[derive(Debug, PartialEq, Eq)]
pub struct TraceError {
    /// From 1; 0 for the whole.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "E-REPLAY: {}", self.why),
            line => write!(f, "E-REPLAY: line {line}: {}", self.why),
        }
    }
}

impl std::error::Error for TraceError {}

/// More tasks are taken for nonsense.
const MOST_TASKS: usize = 1 << 18;

impl Trace {
    /// How many messages are sent, and their bytes.
    pub fn messages(&self) -> (u64, u64) {
        let sent = self.tasks.iter().flatten().filter_map(|action| match action {
            Action::Send { bytes, .. } => Some(*bytes),
            _ => None,
        });
        sent.fold((0, 0), |(count, all), bytes| (count + 1, all + bytes))
    }

    /// How long all tasks together compute, in nanoseconds.
    pub fn computing(&self) -> f64 {
        let spans = self.tasks.iter().flatten();
        spans.map(|action| if let Action::Compute(ns) = action { *ns } else { 0.0 }).sum()
    }

    /// Writes it; `about` are lines for people.
    pub fn write(&self, about: &[String], out: &mut dyn Write) -> io::Result<()> {
        for line in about {
            writeln!(out, "# {line}")?;
        }
        for task in 0..self.tasks.len() {
            writeln!(out, "{task} init")?;
        }
        for (task, actions) in self.tasks.iter().enumerate() {
            for action in actions {
                match *action {
                    Action::Compute(ns) => writeln!(out, "{task} compute {}", ns.round())?,
                    Action::Send { to, number, bytes } => writeln!(out, "{task} send {to} {number} {bytes}")?,
                    Action::Receive { from, number, bytes } => {
                        writeln!(out, "{task} recv {from} {number} {bytes}")?;
                    }
                }
            }
        }
        for task in 0..self.tasks.len() {
            writeln!(out, "{task} finalize")?;
        }
        Ok(())
    }

    /// Reads what [`Trace::write`] wrote, and refuses what is none, with the line.
    pub fn read(from: impl BufRead) -> Result<Trace, TraceError> {
        let mut trace = Trace::default();
        for (at, line) in from.lines().enumerate() {
            let wrong = |why: String| TraceError { line: at + 1, why };
            let line = line.map_err(|error| wrong(error.to_string()))?;
            trace.take(line.trim()).map_err(wrong)?;
        }
        trace.check()?;
        Ok(trace)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| -> Result<u64, String> {
            let word = words.get(at).ok_or("a number is missing at its end")?;
            word.parse().map_err(|_| format!("\"{word}\" is no number"))
        };
        let task = number(0)? as usize;
        if task >= MOST_TASKS {
            return Err(format!("there is no task {task}: at most {MOST_TASKS}"));
        }
        let action = match words.get(1).copied() {
            Some("init") => {
                self.tasks.resize(self.tasks.len().max(task + 1), Vec::new());
                return Ok(());
            }
            Some("finalize") => return Ok(()),
            Some("compute") => {
                let word = words.get(2).ok_or("a number is missing at its end")?;
                let ns: f64 = word.parse().map_err(|_| format!("\"{word}\" is no number"))?;
                if !ns.is_finite() || ns < 0.0 {
                    return Err(format!("nobody computes for {word} ns"));
                }
                Action::Compute(ns)
            }
            Some("send") => {
                Action::Send { to: number(2)? as usize, number: number(3)? as u32, bytes: number(4)? }
            }
            Some("recv") => {
                Action::Receive { from: number(2)? as usize, number: number(3)? as u32, bytes: number(4)? }
            }
            other => {
                let word = other.unwrap_or_default();
                return Err(format!("\"{word}\" is none of init, compute, send, recv and finalize"));
            }
        };
        let known = self.tasks.get_mut(task).ok_or(format!("task {task} acts before its \"{task} init\""))?;
        known.push(action);
        Ok(())
    }

    /// Each receive has its message.
    fn check(&self) -> Result<(), TraceError> {
        let whole = |why| TraceError { line: 0, why };
        if self.tasks.is_empty() {
            return Err(whole("there are no tasks in it".into()));
        }
        let mut sent = std::collections::HashSet::new();
        for (task, actions) in self.tasks.iter().enumerate() {
            for action in actions {
                if let Action::Send { to, number, .. } = *action {
                    if to >= self.tasks.len() {
                        return Err(whole(format!("task {task} sends to {to}, which is no task of it")));
                    }
                    sent.insert((task, to, number));
                }
            }
        }
        for (task, actions) in self.tasks.iter().enumerate() {
            for action in actions {
                if let Action::Receive { from, number, .. } = *action
                    && !sent.remove(&(from, task, number))
                {
                    return Err(whole(format!(
                        "task {task} receives message {number} of {from}, which it never sent"
                    )));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Trace {
        Trace {
            tasks: vec![
                vec![Action::Compute(1500.0), Action::Send { to: 1, number: 0, bytes: 8 }],
                vec![Action::Receive { from: 0, number: 0, bytes: 8 }],
            ],
        }
    }

    #[test]
    fn trace_reads_back_as_written() {
        let mut text = Vec::new();
        example().write(&["of a test".into()], &mut text).expect("memory");
        let text = String::from_utf8(text).expect("text");
        assert!(
            text.starts_with("# of a test\n0 init\n1 init\n0 compute 1500\n0 send 1 0 8\n1 recv 0 0 8\n")
        );
        assert_eq!(Trace::read(text.as_bytes()), Ok(example()));
        assert_eq!((example().messages(), example().computing()), ((1, 8), 1500.0));
    }

    #[test]
    fn trace_refuses_invalid_line_with_its_number() {
        for (text, line, word) in [
            ("0 init\n0 dance", 2, "\"dance\" is none of"),
            ("0 init\n0 send 1 0", 2, "missing"),
            ("0 init\n0 compute -3", 2, "nobody computes"),
            ("0 init\n0 compute x", 2, "\"x\" is no number"),
            ("0 compute 3", 1, "before its \"0 init\""),
            ("9999999 init", 1, "at most"),
            ("", 0, "no tasks"),
            ("0 init\n0 send 4 0 8", 0, "sends to 4"),
            ("0 init\n1 init\n1 recv 0 0 8", 0, "never sent"),
        ] {
            let refused = Trace::read(text.as_bytes()).expect_err(text);
            assert_eq!(refused.line, line, "{text}");
            assert!(refused.why.contains(word), "{text}: {refused}");
        }
    }
}
