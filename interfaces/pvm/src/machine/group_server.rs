//! The answers of PVM's group server to PVM's own programs, `pvm_gstat` and `pvmgroups`. There is no such server here:
//! the daemon knows the groups.

use crate::buffers::words::Words;
use crate::errors::{Pvm, PvmError};
use crate::state::Locked;
use parvum_api::Message;
use parvum_wire::control::{GroupRow, Reply, Request};
use parvum_wire::{Tid, encoding};

/// The context and tags in which the server is asked.
pub(crate) const CONTEXT: u32 = 0x7_fffc;
const DUMP: i32 = 9;
const LIST: i32 = 10;

impl Locked {
    /// Answers what was sent to the group server.
    pub(crate) fn ask_group_server(&mut self, tag: i32) -> Pvm<i32> {
        match tag {
            DUMP => self.ask(&Request::Dump).map(|_| 0),
            LIST => {
                let rows = self.group_rows()?;
                let Words(data) = rows.iter().fold(Words::default().number(rows.len() as i32), told);
                let (from, meta) = (Tid(self.me()?.tid).daemon().0, encoding::XDR);
                let envelope = Message { from, tag, context: CONTEXT, meta, ..Message::NONE };
                self.machine()?.inject(&envelope, &data)?;
                Ok(0)
            }
            _ => Err(PvmError::BadParam),
        }
    }

    fn group_rows(&mut self) -> Pvm<Vec<GroupRow>> {
        match self.ask(&Request::Groups)? {
            Reply::Groups(rows) => Ok(rows),
            _ => Err(PvmError::DSysErr),
        }
    }
}

/// Name, size, room for members, barrier, and the members by instance: -1 where there is none.
fn told(words: Words, row: &GroupRow) -> Words {
    let room = row.members.last().map_or(0, |(instance, _)| instance + 1);
    let awaited = row.awaited.map_or(-1, |awaited| awaited as i32);
    let name = &parvum_wire::byte_names::bytes_of(&row.name)[..];
    let begun = words.number(name.len() as i32).text(name).numbers(&[
        row.members.len() as i32,
        room as i32,
        awaited,
        row.waiting as i32,
    ]);
    (0..room).fold(begun, |words, instance| {
        let member = row.members.iter().find(|(of, _)| *of == instance);
        words.number(member.map_or(-1, |(_, tid)| tid.0))
    })
}
