//! Data in many places: the caller's function that copies it, as the engine has it.

use crate::endpoint::Endpoint;
use crate::inside::with;
use crate::sending::send::{buffering, send_by, send_one};
use parvum_api as api;
use parvum_api::Status;
use parvum_engine::{Completion, Outgoing, Scattered};
use parvum_transport::Loan;
use parvum_wire::Tid;

/// The caller's description of its data.
///
/// Invariant: parts of the data may be copied by a call of its function as long as this lives.
#[derive(Debug)]
pub(crate) struct InMany(api::Scattered);

// SAFETY: the table demands that both functions may be called from any thread.
unsafe impl Send for InMany {}

impl Drop for InMany {
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            // SAFETY: the table demands that this is valid once; drop happens once.
            unsafe { release(self.0.layout) };
        }
    }
}

impl InMany {
    /// For a receive.
    ///
    /// # Safety
    /// The table's promise about the data holds until this is dropped.
    pub(crate) unsafe fn boxed(data: api::Scattered) -> Box<InMany> {
        Box::new(InMany(data))
    }

    fn copy(&self, from: usize, bytes: *mut u8, length: usize) {
        assert!(length <= self.0.length && from <= self.0.length - length, "more than there is");
        // SAFETY: the invariant; it is a part, by the assertion, and the callers give as many bytes.
        unsafe { (self.0.copy)(self.0.layout, from, bytes, length) };
    }
}

impl Scattered for InMany {
    fn length(&self) -> usize {
        self.0.length
    }

    fn copy_out(&self, from: usize, out: &mut [u8]) {
        self.copy(from, out.as_mut_ptr(), out.len());
    }

    fn copy_in(&mut self, from: usize, bytes: &[u8]) {
        // For a received message, `bytes` is only read.
        self.copy(from, bytes.as_ptr().cast_mut(), bytes.len());
    }
}

pub(crate) unsafe extern "C" fn send<E: Endpoint>(
    message: *const api::Outgoing,
    data: *const api::Scattered,
    request: *mut u64,
) -> i32 {
    // SAFETY: all are valid for the call, by the table's contract, and so is the data.
    let (message, data, request) = unsafe { (&*message, InMany(*data), &mut *request) };
    *request = 0;
    let Some(buffering) = buffering(message) else { return Status::BadArgument as i32 };
    let completion = if message.completion == 0 { Completion::Copied } else { Completion::Matched };
    with::<E, _>(Status::Unknown as i32, |runtime| {
        let &api::Outgoing { tag, context, meta, .. } = message;
        let to = Tid(message.to);
        let one = Outgoing { to, tag, context, meta, pieces: &[], keep: None, buffering, completion };
        if buffering == parvum_engine::Buffering::AtSender
            && let Some(copy) = runtime.copy_to_keep(to, data.length(), |copy| data.copy_out(0, copy))
        {
            let pieces = [&copy[..]];
            let one = Outgoing { pieces: &pieces, keep: Some(copy.clone()), ..one };
            // SAFETY: the keeper owns the only piece, and a copy behind an `Arc` is never changed.
            return unsafe { send_one(runtime, one, request) };
        }
        let fill = |loan: &dyn Loan| {
            let mut from = 0;
            loan.fill_by(data.length(), &mut |part| {
                data.copy_out(from, part);
                from += part.len();
            });
        };
        send_by(
            runtime,
            one,
            data.length(),
            request,
            |engine, message| engine.send_scattered(message, &data),
            fill,
        )
    })
}
