//! The pointer into a file that all its processes share.
//!
//! It is a number in the memory of the file's first process, whose service moves it for the others while the program computes. So it
//! begins where the file was opened, ends with the process, and leaves nothing behind.

use crate::errors::{Error, Mpi, class};
use crate::files::places::{Deed, Here, beyond};
use crate::process::this::Process;
use crate::windows::questions::Question;
use crate::windows::service::service;
use parvum_service::Trouble;
use std::sync::Arc;

/// The shared pointer of an open file.
pub(crate) enum Pointer {
    /// In this process, with the number by which the others know it.
    Here(Arc<Here>),
    /// In the first process: its service, and the number there.
    There(i32, u32),
}

impl Pointer {
    /// The first process makes the pointer; others will ask its service, if there are any.
    pub(crate) fn make(process: &Process, at: i64, is_shared: bool) -> Mpi<Pointer> {
        if is_shared {
            service(process)?;
        }
        Ok(Pointer::Here(Here::new(at)))
    }

    /// What the others are told: the service, and the number there.
    pub(crate) fn told(&self, process: &Process, is_shared: bool) -> Mpi<[u32; 2]> {
        match self {
            Pointer::Here(here) if is_shared => Ok([service(process)?.tid() as u32, here.number()]),
            Pointer::Here(here) => Ok([0, here.number()]),
            Pointer::There(service, number) => Ok([*service as u32, *number]),
        }
    }

    /// Where the pointer was before the deed.
    pub(crate) fn act(&self, process: &Process, deed: Deed) -> Mpi<i64> {
        match self {
            Pointer::Here(here) => here.act(deed),
            Pointer::There(first, number) => {
                let said = service(process)?.request(*first, &Question::Pointer(deed).encode(*number), None);
                let said = said.map_err(failed)?;
                let class = said.first_chunk().map_or(class::INTERN, |class| i32::from_le_bytes(*class));
                match (class, said.get(4..12)) {
                    (0, Some(before)) => Ok(i64::from_le_bytes(before.try_into().expect("eight bytes"))),
                    (class::ARG, _) => Err(beyond()),
                    (class, _) => {
                        Err(Error::new(class, "the file's first process refused to move the shared pointer"))
                    }
                }
            }
        }
    }
}

#[cold]
fn failed(why: Trouble) -> Error {
    let class = if matches!(why, Trouble::Gone) { class::PROC_FAILED } else { class::OTHER };
    Error::new(class, format!("the file's first process, which has the shared pointer: {why}"))
}
