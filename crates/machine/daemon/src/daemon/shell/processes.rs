//! Processes of tasks: the shell starts them, or prepares what a tasker needs to start them.

use super::Shell;
use crate::daemon::processes::{child, foreign, output};
use crate::daemon::tasks::io::{Fd, TaskIo};
use crate::state::{Channel, Prepared};
use parvum_control::ControlBlock;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, SpawnRequest, Ticket};
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io;
use std::rc::Rc;

impl Shell {
    pub(super) fn spawn(
        self: &Rc<Shell>,
        tid: Tid,
        plan: &SpawnRequest,
    ) -> Result<(u32, Channel<Fd>), Failure> {
        let system = |error: io::Error| Failure::new(ErrorKind::OutOfResources, error.to_string());
        let recording = self.start_recording(tid, &plan.program.lossy());
        let channel = self.new_channel(recording).map_err(system)?;
        let io = TaskIo::open(&channel).map_err(|e| Failure::new(ErrorKind::System, e.to_string()))?;
        let debugger = self.machine.borrow().settings().debugger.clone();
        let child = child::start(self.ticket(tid), plan, &self.around, debugger)?;
        let pid = child.pid;
        self.keeper.add(pid);
        io.page.identify(tid.0, pid, &plan.program.lossy());
        self.tasks.borrow_mut().insert(tid, Rc::new(io));
        if let Err(error) = output::attend(self, tid, child) {
            send_signal(pid, true, 9);
            self.tasks.borrow_mut().remove(&tid);
            return Err(system(error));
        }
        foreign::begins(self, tid, pid);
        Ok((pid, channel))
    }

    /// What a tasker needs to start a program as the daemon would.
    pub(super) fn prepare(&self, tid: Tid, plan: &SpawnRequest) -> Result<Prepared<Fd>, Failure> {
        let system = |error: io::Error| Failure::new(ErrorKind::OutOfResources, error.to_string());
        let recording = self.start_recording(tid, &plan.program.lossy());
        let channel = self.new_channel(recording).map_err(system)?;
        let io = TaskIo::open(&channel).map_err(|e| Failure::new(ErrorKind::System, e.to_string()))?;
        let (path, env) = child::prepare(self.ticket(tid), plan, &self.around)?;
        io.page.identify(tid.0, 0, &plan.program.lossy());
        self.tasks.borrow_mut().insert(tid, Rc::new(io));
        let args = plan.args.iter().map(|arg| arg.0.clone()).collect();
        Ok(Prepared { path, args, flag: plan.flag, env, channel })
    }

    fn ticket(&self, tid: Tid) -> Ticket {
        self.machine.borrow().ticket(tid).expect("made with the task, before its process was asked for")
    }

    pub(super) fn new_channel(&self, recording: Option<Fd>) -> io::Result<Channel<Fd>> {
        let (_, page) = ControlBlock::create()?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Channel { page: Rc::new(page), bell: Rc::new(bell), recording })
    }
}

/// Sends a signal to a process, or to its group.
pub(super) fn send_signal(pid: u32, group: bool, signal: i32) {
    let Some(pid) = Pid::from_raw(pid as i32) else { return };
    let Some(signal) = Signal::from_named_raw(signal) else { return };
    // The process may have ended a moment ago: nothing to be done about it.
    let _ = if group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
}
