//! Buffered sends: the program gives memory in which messages wait, and a send is over when its message is there. Here is who waits
//! until messages have left their buffer.

use crate::errors::Mpi;
use crate::messages::attached::{Buffer, Leaving};
use crate::objects::numbers::COMM_SELF;
use crate::process::this::{Process, process};
use crate::requests::operations::{Operation, Progress, State};
use crate::requests::outcome::Outcome;
use crate::requests::progress;
use parvum_api::Request;
use std::sync::Arc;

static OF_PROCESS: Buffer = Buffer::new();

/// The buffer of all communicators and sessions that have none of their own.
pub(crate) fn of_process() -> &'static Buffer {
    &OF_PROCESS
}

impl Progress for Arc<Leaving> {
    fn poll(&mut self, process: &Process) -> Option<Outcome> {
        Leaving::poll(self, process)
    }

    fn awaited(&self, requests: &mut Vec<Request>) {
        requests.extend(self.request());
    }
}

/// The operation that is over when a message has left; errors are those of the communicator with that handle.
fn leaving(message: Arc<Leaving>, on: i32) -> Arc<Operation> {
    let notes = message.notes();
    Arc::new(Operation::new(State::Stepping(Box::new(message)), on, notes))
}

/// The messages of a buffer that have not left, as operations.
pub(crate) fn waiting(buffer: &Buffer, on: i32) -> Vec<Arc<Operation>> {
    buffer.waiting().into_iter().map(|message| leaving(message, on)).collect()
}

/// Waits until all messages have left.
pub(crate) fn flush(buffer: &Buffer) -> Mpi {
    let process = process()?;
    for message in buffer.take_waiting() {
        // That a receiver has died is nobody's error here.
        let _ = progress::wait(process, &leaving(message, COMM_SELF))?;
    }
    Ok(())
}

/// Waits until all messages have left, and gives the buffer back: address and size.
pub(crate) fn detach(buffer: &Buffer) -> Mpi<(usize, i64)> {
    flush(buffer)?;
    Ok(buffer.take_memory())
}
