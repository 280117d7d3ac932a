//! Parts that a task plays for all others: pvm_reg_rm(3), pvm_reg_tasker(3), pvm_reg_hoster(3).

use crate::calls::machine::info::{HostInfo, pvm_config};
use crate::state::{Locked, call};
use parvum_api::pointers::Out;
use parvum_wire::control::Part;
use std::ffi::c_int;

/// Makes this task the resource manager: other tasks ask it, not the daemon, for tasks and hosts. `hosts` gets a table
/// with this host, which is valid until the next call. `PvmAlready` when there is another manager.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_reg_rm(hosts: Out<'_, *mut HostInfo>) -> c_int {
    match call("pvm_reg_rm", |state| {
        state.play_openly(Part::Manager, crate::calls::machine::mailbox::MANAGER)
    }) {
        0 => pvm_config(Out::NOWHERE, Out::NOWHERE, hosts),
        refused => refused,
    }
}

/// Makes this task the tasker: it is sent what to start, and starts it in the daemon's place.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_reg_tasker() -> c_int {
    call("pvm_reg_tasker", |state| state.play_openly(Part::Tasker, crate::calls::machine::mailbox::TASKER))
}

/// Makes this task the hoster: it is sent commands that start daemons on other hosts, and runs them there.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_reg_hoster() -> c_int {
    call("pvm_reg_hoster", |state| state.play_openly(Part::Hoster, crate::calls::machine::mailbox::HOSTER))
}

impl Locked {
    /// Takes a role, and puts an entry for it into the mailbox, as PVM does.
    fn play_openly(&mut self, part: Part, class: &str) -> crate::errors::Pvm<c_int> {
        self.play(part)?;
        self.put_own_tid(class)?;
        Ok(0)
    }
}
