//! Jobs: the tasks of one `spawn ->`, and what those spawn.

use parvum_wire::Tid;
use parvum_wire::control::Stream;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Write;

/// A line without an end longer than this is shown in pieces.
const LONGEST_LINE: usize = 64 * 1024;

/// Where a job's output goes.
pub enum Sink {
    Console,
    File(File),
}

struct Job {
    /// Its tasks that run.
    running: BTreeSet<Tid>,
    sink: Sink,
}

/// All jobs that are not over.
#[derive(Default)]
pub struct Jobs {
    jobs: BTreeMap<u32, Job>,
    last: u32,
    /// Which job a task belongs to.
    home: HashMap<Tid, u32>,
    /// Beginnings of lines.
    begun: HashMap<(Tid, Stream), Vec<u8>>,
}

impl Jobs {
    /// The number of the next job.
    pub fn number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// A job of that number began.
    pub fn begin(&mut self, number: u32, tids: &[Tid], sink: Sink) {
        if tids.is_empty() {
            return;
        }
        self.home.extend(tids.iter().map(|tid| (*tid, number)));
        self.jobs.insert(number, Job { running: tids.iter().copied().collect(), sink });
    }

    /// A task of a job has spawned another.
    pub fn started(&mut self, tid: Tid, parent: Tid) {
        let Some(&number) = self.home.get(&parent) else { return };
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.running.insert(tid);
        self.home.insert(tid, number);
    }

    /// The jobs by number, with their tasks.
    pub fn list(&self) -> impl Iterator<Item = (u32, &BTreeSet<Tid>)> {
        self.jobs.iter().map(|(number, job)| (*number, &job.running))
    }

    /// A task wrote something; what of it is to be shown.
    pub fn output(&mut self, tid: Tid, stream: Stream, data: &[u8]) -> Vec<u8> {
        let mut text = self.begun.remove(&(tid, stream)).unwrap_or_default();
        text.extend_from_slice(data);
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = text.split_off(if text.len() - whole > LONGEST_LINE { text.len() } else { whole });
        if !rest.is_empty() {
            self.begun.insert((tid, stream), rest);
        }
        self.pass(tid, &text)
    }

    /// A task ended, and all it wrote has come; what of that is to be shown.
    pub fn exited(&mut self, tid: Tid) -> Vec<u8> {
        let rest = [Stream::Out, Stream::Err].map(|stream| self.begun.remove(&(tid, stream)));
        let mut shown = Vec::new();
        for rest in rest.into_iter().flatten() {
            shown.extend(self.pass(tid, &rest));
        }
        shown.extend(self.pass(tid, b"EOF"));
        let Some(number) = self.home.remove(&tid) else { return shown };
        let Some(job) = self.jobs.get_mut(&number) else { return shown };
        job.running.remove(&tid);
        if job.running.is_empty() {
            self.jobs.remove(&number);
            shown.extend(format!("[{number}] finished\n").into_bytes());
        }
        shown
    }

    /// Puts the task's name before each line, and the lines into the job's file if it has one.
    fn pass(&mut self, tid: Tid, text: &[u8]) -> Vec<u8> {
        let Some(number) = self.home.get(&tid) else { return Vec::new() };
        let mut lines = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            lines.extend(format!("[{number}:{tid}] ").into_bytes());
            lines.extend(line);
            if !line.ends_with(b"\n") {
                lines.push(b'\n');
            }
        }
        match self.jobs.get_mut(number).map(|job| &mut job.sink) {
            Some(Sink::File(file)) => match file.write_all(&lines) {
                Ok(()) => Vec::new(),
                Err(why) => {
                    let told = format!("[{number}] its file takes no more ({why}); the rest is shown here\n");
                    if let Some(job) = self.jobs.get_mut(number) {
                        job.sink = Sink::Console;
                    }
                    [told.into_bytes(), lines].concat()
                }
            },
            _ => lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Tid = Tid(0x40001);
    const B: Tid = Tid(0x40002);

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn job_output_names_job_and_task() {
        let mut jobs = Jobs::default();
        let number = jobs.number();
        jobs.begin(number, &[A, B], Sink::Console);
        assert_eq!(text(jobs.output(A, Stream::Out, b"one\ntw")), "[1:t40001] one\n");
        assert_eq!(text(jobs.output(B, Stream::Out, b"other\n")), "[1:t40002] other\n");
        assert_eq!(text(jobs.output(A, Stream::Err, b"err\n")), "[1:t40001] err\n");
        assert_eq!(text(jobs.output(A, Stream::Out, b"o\n\n")), "[1:t40001] two\n[1:t40001] \n");
        assert_eq!(text(jobs.output(A, Stream::Out, b"part")), "");
        assert_eq!(text(jobs.exited(A)), "[1:t40001] part\n[1:t40001] EOF\n");
        assert_eq!(jobs.list().map(|(n, tids)| (n, tids.len())).collect::<Vec<_>>(), [(1, 1)]);
        assert_eq!(text(jobs.exited(B)), "[1:t40002] EOF\n[1] finished\n");
        assert_eq!(jobs.list().count(), 0);
    }

    #[test]
    fn spawned_task_joins_job_of_its_parent() {
        let mut jobs = Jobs::default();
        let number = jobs.number();
        jobs.begin(number, &[A], Sink::Console);
        jobs.started(B, A);
        assert_eq!(text(jobs.exited(A)), "[1:t40001] EOF\n");
        assert_eq!(text(jobs.output(B, Stream::Out, b"x\n")), "[1:t40002] x\n");
        assert_eq!(text(jobs.exited(B)), "[1:t40002] EOF\n[1] finished\n");
        // Whose task this is nobody knows.
        jobs.started(Tid(7), Tid(8));
        assert!(jobs.output(Tid(7), Stream::Out, b"x\n").is_empty());
        assert!(jobs.exited(Tid(7)).is_empty());
    }

    #[test]
    fn job_output_bounds_endless_line() {
        let mut jobs = Jobs::default();
        let number = jobs.number();
        jobs.begin(number, &[A], Sink::Console);
        let shown = jobs.output(A, Stream::Out, &[b'x'; LONGEST_LINE + 1]);
        assert_eq!(shown.len(), LONGEST_LINE + 1 + "[1:t40001] \n".len());
        assert!(jobs.begun.is_empty());
    }
}
