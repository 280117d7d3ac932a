//! Buffered sends: the program gives memory in which messages wait, and a send is over when its message is there.
//!
//! What a message takes of the buffer is counted as MPI says, its data and `MPI_BSEND_OVERHEAD`; the data itself is kept by the
//! engine. So a send is refused when the program's own reckoning says so, and never for another reason.

use crate::errors::{Error, Mpi, class};
use crate::objects::numbers::{BSEND_OVERHEAD, BUFFER_AUTOMATIC};
use crate::process::this::{Process, process};
use crate::requests::operations::Operation;
use crate::requests::progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The buffer of a communicator, a session, or the process.
#[derive(Default)]
pub(crate) struct Buffer(Mutex<Attached>);

#[derive(Default)]
struct Attached {
    /// Address and size, when one is attached.
    memory: Option<(usize, i64)>,
    /// Messages that were not handed over when they were last looked at, and what each takes.
    waiting: Vec<(Arc<Operation>, i64)>,
}

/// The buffer of all that have none of their own.
static OF_PROCESS: Buffer = Buffer(Mutex::new(Attached { memory: None, waiting: Vec::new() }));

impl Buffer {
    pub(crate) fn of_process() -> &'static Buffer {
        &OF_PROCESS
    }

    fn lock(&self) -> MutexGuard<'_, Attached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.lock().memory.is_some()
    }

    pub(crate) fn attach(&self, address: usize, size: i64) -> Mpi {
        if size < 0 {
            return Err(Error::new(class::ARG, format!("the buffer's size is {size}")));
        }
        let mut attached = self.lock();
        if attached.memory.is_some() {
            return Err(Error::new(class::BUFFER, "a buffer is attached already; detach it first"));
        }
        attached.memory = Some((address, size));
        Ok(())
    }

    /// Waits until all messages have left, and gives the buffer back: address and size.
    pub(crate) fn detach(&self) -> Mpi<(usize, i64)> {
        self.flush()?;
        let mut attached = self.lock();
        match attached.memory.take() {
            Some((BUFFER_AUTOMATIC, _)) => Ok((BUFFER_AUTOMATIC, 0)),
            Some(memory) => Ok(memory),
            None => Ok((0, 0)),
        }
    }

    /// Waits until all messages have left.
    pub(crate) fn flush(&self) -> Mpi {
        let process = process()?;
        let waiting: Vec<_> = self.lock().waiting.drain(..).collect();
        for (operation, _) in &waiting {
            // That a receiver has died is nobody's error here.
            let _ = progress::wait(process, operation)?;
        }
        Ok(())
    }

    /// The messages that have not left.
    pub(crate) fn waiting(&self) -> Vec<Arc<Operation>> {
        self.lock().waiting.iter().map(|(operation, _)| operation.clone()).collect()
    }

    /// Makes sure that there is room for a message, and has it sent.
    pub(crate) fn send(
        &self,
        process: &Process,
        length: usize,
        send: impl FnOnce() -> Mpi<Option<Arc<Operation>>>,
    ) -> Mpi {
        process.api.progress();
        let needs = length as i64 + BSEND_OVERHEAD;
        let mut attached = self.lock();
        attached.waiting.retain(|(operation, _)| operation.poll(process).is_none());
        let used: i64 = attached.waiting.iter().map(|(_, takes)| takes).sum();
        match attached.memory {
            None => {
                let text = "no buffer is attached; call MPI_Buffer_attach first";
                return Err(Error::new(class::BUFFER, text));
            }
            Some((BUFFER_AUTOMATIC, _)) => {}
            Some((_, size)) if needs <= size - used => {}
            Some((_, size)) => {
                let text = format!(
                    "the message needs {needs} bytes of the attached buffer ({BSEND_OVERHEAD} of them MPI_BSEND_OVERHEAD), of whose {size} {used} are in use"
                );
                return Err(Error::new(class::BUFFER, text));
            }
        }
        if let Some(operation) = send()? {
            attached.waiting.push((operation, needs));
        }
        Ok(())
    }
}

/// Waits until everything in the process's buffer has left.
pub(crate) fn flush_all() -> Mpi {
    OF_PROCESS.flush()
}
