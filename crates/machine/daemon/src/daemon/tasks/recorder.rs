//! Recording the tasks of this host: the shell begins, names and ends their recordings.

use crate::daemon::shell::Shell;
use crate::daemon::tasks::io::Fd;
use parvum_control::{Recording, monotonic_ns};
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request};
use std::rc::Rc;

impl Shell {
    /// A recording for a task that is about to be there, if its job is recorded.
    pub(crate) fn start_recording(&self, tid: Tid, name: &str) -> Option<Fd> {
        let (job, recorder) = self.recording_of(tid)?;
        let mut recordings = self.recordings.borrow_mut();
        let file = recordings.begin(tid, job, recorder);
        recordings.name(tid, name.rsplit('/').next().unwrap_or_default());
        file
    }

    /// A recording for a task that enrols beside the one that its process was spawned as, if that one's job is recorded.
    pub(crate) fn recording_inside(&self, request: &Request) -> Option<Fd> {
        let Request::Enrol { ticket: Some(ticket), .. } = request else { return None };
        let inside = self.shown(*ticket)?;
        let (_, recorder) = self.recording_of(inside)?;
        Recording::create(recorder.bytes, recorder.processor_time).ok().map(|(_, file)| Rc::new(file))
    }

    /// The task of that recording has enrolled.
    pub(crate) fn adopt_recording(&self, tid: Tid, name: &str, file: Option<&Fd>) {
        let mut recordings = self.recordings.borrow_mut();
        if let (Some(file), Some((job, _))) = (file, self.recording_of(tid)) {
            recordings.adopt(tid, job, file);
        }
        recordings.name(tid, name);
    }

    /// There is no such task after all.
    pub(crate) fn drop_recording(&self, tid: Tid) {
        self.recordings.borrow_mut().remove(tid);
    }

    pub(crate) fn end_recording(&self, tid: Tid) {
        self.recordings.borrow_mut().end(tid, monotonic_ns());
    }

    pub(crate) fn forget_recordings(&self, job: Tid) {
        self.recordings.borrow_mut().forget(job);
    }

    /// Adds to an answer of the machine what only the shell knows: pages and recordings.
    pub(crate) fn fill_in(&self, reply: &mut Reply) {
        match reply {
            Reply::Tasks(rows) => rows.iter_mut().for_each(|row| self.look_at(row)),
            // An answer of another host has it already.
            Reply::Recorded(recorded) if recorded.host.host() == self.identity().0 => {
                self.recordings.borrow().describe(recorded)
            }
            Reply::Records { tid, first, data } => self.recordings.borrow().piece(*tid, first, data),
            _ => {}
        }
    }
}
