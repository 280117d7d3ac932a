//! The mailbox: pvm_putinfo(3), pvm_recvinfo(3) and related calls. pvm_insert(3) and related calls are from PVM 3.3.

use crate::buffers::buffer::{Arrived, Buffer, Packing};
use crate::calls::text;
use crate::errors::{Pvm, PvmError, is_absence, is_refusal};
use crate::state::{Locked, call, call_but};
use parvum_api::Message;
use parvum_api::pointers::{Out, Text};
use parvum_wire::control::{Blob, MailClass, MailFlags, Reply, Request};
use std::ffi::{CString, c_char, c_int};

const MULTI: c_int = 2;
const FIRST: c_int = 8;
const TAKE: c_int = 16;
const WAIT: c_int = 32;
/// Above the flags lies an index, if it is not zero.
const INDEX_SHIFT: u32 = 10;
const LARGEST_INDEX: c_int = (1 << (31 - INDEX_SHIFT)) - 1;

/// The classes in which PVM keeps what it knows of tasks with a part to play.
pub(in crate::calls) const NO_RESET: &str = "###_PVM_NO_RESET_###";
pub(in crate::calls) const MANAGER: &str = "###_PVM_RM_###";
pub(in crate::calls) const HOSTER: &str = "###_PVM_HOSTER_###";
pub(in crate::calls) const TASKER: &str = "###_PVM_TASKER_###";

/// `struct pvmmboxinfo`.
#[repr(C)]
pub struct MailInfo {
    name: *const c_char,
    count: c_int,
    indices: *mut c_int,
    owners: *mut c_int,
    flags: *mut c_int,
}

// SAFETY: the pointers go into the table that owns them, and only the program reads through them.
unsafe impl Send for MailInfo {}

/// The last result of `pvm_getmboxinfo`: the program holds pointers into it.
#[derive(Default)]
pub(crate) struct MailTable {
    rows: Vec<MailInfo>,
    names: Vec<CString>,
    numbers: Vec<Vec<c_int>>,
}

impl MailTable {
    pub(crate) const EMPTY: MailTable =
        MailTable { rows: Vec::new(), names: Vec::new(), numbers: Vec::new() };

    fn of(classes: Vec<MailClass>) -> MailTable {
        let mut table = MailTable::EMPTY;
        for class in classes {
            let name = crate::calls::machine::info::c_text(parvum_wire::byte_names::bytes_of(&class.name));
            let column = |of: fn(&parvum_wire::control::MailEntry) -> c_int| -> Vec<c_int> {
                class.entries.iter().map(of).collect()
            };
            let mut columns = [
                column(|entry| entry.index as c_int),
                column(|entry| entry.owner.map_or(0, |owner| owner.0)),
                column(|entry| entry.flags.0 as c_int),
            ];
            table.rows.push(MailInfo {
                name: name.as_ptr(),
                count: class.entries.len() as c_int,
                indices: columns[0].as_mut_ptr(),
                owners: columns[1].as_mut_ptr(),
                flags: columns[2].as_mut_ptr(),
            });
            table.names.push(name);
            table.numbers.extend(columns);
        }
        table
    }
}

/// A class of the mailbox.
fn class(name: Text<'_>) -> Pvm<String> {
    match text(name)?.to_bytes() {
        b"" => Err(PvmError::BadParam),
        name => Ok(parvum_wire::byte_names::text_of(name)),
    }
}

impl Locked {
    /// A message as the mailbox keeps it: the word about its data, then the data.
    fn as_mail(&mut self, id: c_int) -> Pvm<Blob> {
        let (meta, data) = self.whole(id)?;
        Ok(Blob([&meta.to_le_bytes()[..], &data].concat()))
    }

    pub(in crate::calls) fn put_mail(
        &mut self,
        name: String,
        index: Option<u32>,
        flags: u32,
        data: Blob,
    ) -> Pvm<c_int> {
        let request = Request::MailPut { name, index, flags: MailFlags(flags), data };
        match self.ask(&request)? {
            Reply::Number(index) => Ok(index as c_int),
            _ => Err(PvmError::DSysErr),
        }
    }

    fn get_mail(&mut self, name: String, index: c_int, flags: c_int) -> Pvm<(u32, i32, Blob)> {
        let index = u32::try_from(index).map_err(|_| PvmError::BadParam)?;
        let has = |flag: c_int| flags & flag != 0;
        let request = Request::MailGet { name, index, first: has(FIRST), take: has(TAKE), wait: has(WAIT) };
        match self.ask(&request)? {
            Reply::Mail { index, owner, data, .. } => Ok((index, owner.map_or(0, |owner| owner.0), data)),
            _ => Err(PvmError::DSysErr),
        }
    }

    /// Deletes the first entry of a class.
    pub(in crate::calls) fn remove_mail(&mut self, class: &str) -> Pvm<c_int> {
        self.ask(&Request::MailRemove { name: class.to_owned(), index: 0 }).map(|_| 0)
    }

    pub(in crate::calls) fn mail_classes(&mut self) -> Pvm<Vec<MailClass>> {
        match self.ask(&Request::MailList)? {
            Reply::MailList(classes) => Ok(classes),
            _ => Err(PvmError::DSysErr),
        }
    }
}

/// Puts a message into the mailbox under a name; gives its index there.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_putinfo(name: Text<'_>, buffer: c_int, flags: c_int) -> c_int {
    call("pvm_putinfo", |state| {
        let name = class(name)?;
        let data = state.as_mail(buffer)?;
        let index = (flags as u32 >> INDEX_SHIFT) & LARGEST_INDEX as u32;
        state.put_mail(name, (index != 0).then_some(index), flags as u32, data)
    })
}

/// Gets a message out of the mailbox into a new active receive buffer; gives its id.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_recvinfo(name: Text<'_>, index: c_int, flags: c_int) -> c_int {
    call_but("pvm_recvinfo", is_absence, |state| {
        let name = class(name)?;
        let (_, owner, Blob(data)) = state.get_mail(name, index, flags)?;
        let (meta, data) = data.split_first_chunk().ok_or(PvmError::BadMsg)?;
        let meta = u32::from_le_bytes(*meta);
        let envelope = Message { from: owner, meta, context: state.context, ..Message::NONE };
        let id = state.keep(Buffer::Arrived(Box::new(Arrived::own(envelope, data.into()))));
        state.make_receiving(id);
        Ok(id)
    })
}

/// Deletes an entry of the mailbox; returns its index. In PVM's manual the result is 0.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_delinfo(name: Text<'_>, index: c_int, _flags: c_int) -> c_int {
    call_but("pvm_delinfo", is_refusal, |state| {
        let name = class(name)?;
        let at = u32::try_from(index).map_err(|_| PvmError::BadParam)?;
        state.ask(&Request::MailRemove { name, index: at }).map(|_| index)
    })
}

/// The classes whose names fit a pattern, where `*` stands for anything. The table lasts until the
/// next call.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getmboxinfo(
    pattern: Text<'_>,
    count: Out<'_, c_int>,
    table: Out<'_, *mut MailInfo>,
) -> c_int {
    call("pvm_getmboxinfo", |state| {
        let pattern = text(pattern).unwrap_or_default().to_bytes().to_vec();
        let mut classes = state.mail_classes()?;
        let name = |class: &MailClass| parvum_wire::byte_names::bytes_of(&class.name);
        classes.retain(|class| pattern.is_empty() || fits(&name(class), &pattern));
        state.mail = MailTable::of(classes);
        count.put(state.mail.rows.len() as c_int);
        table.put(state.mail.rows.as_mut_ptr());
        Ok(0)
    })
}

/// Whether a name fits a pattern in which `*` stands for anything.
pub(in crate::calls) fn fits(name: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut of) = (0, 0);
    // The position to continue if the last star must match one more character.
    let mut again = None;
    while at < name.len() {
        match pattern.get(of) {
            Some(b'*') => {
                again = Some((at, of + 1));
                of += 1;
            }
            Some(byte) if *byte == name[at] => (at, of) = (at + 1, of + 1),
            _ => match &mut again {
                Some((from, rest)) => {
                    *from += 1;
                    (at, of) = (*from, *rest);
                }
                None => return false,
            },
        }
    }
    pattern[of..].iter().all(|byte| *byte == b'*')
}

/// Puts a number under a name (PVM 3.3): at `index`, or at the lowest free one for -1. Gives the index.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_insert(name: Text<'_>, index: c_int, data: c_int) -> c_int {
    call_but("pvm_insert", is_refusal, |state| {
        let name = class(name)?;
        if !(-1..=LARGEST_INDEX).contains(&index) {
            return Err(PvmError::BadParam);
        }
        if index >= 0 && state.get_mail(name.clone(), index, 0).is_ok() {
            return Err(PvmError::Denied);
        }
        let id = state.make(Packing::Xdr);
        let before = std::mem::replace(&mut state.sending, id);
        let mail = crate::calls::messages::packing::pack_number(state, data).and_then(|()| state.as_mail(id));
        state.sending = before;
        state.free(id);
        let flags = MULTI as u32 | (index.max(0) as u32) << INDEX_SHIFT;
        state.put_mail(name, u32::try_from(index).ok(), flags, mail?)
    })
}

/// The number under a name (PVM 3.3): at `index`, or the first for -1. Gives the index.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_lookup(name: Text<'_>, index: c_int, data: Out<'_, c_int>) -> c_int {
    call_but("pvm_lookup", is_absence, |state| {
        let name = class(name)?;
        let first = if index == -1 { FIRST } else { 0 };
        let (index, _, mail) = state.get_mail(name, index.max(if index == -1 { 0 } else { index }), first)?;
        let number = mail.0.get(4..).and_then(<[u8]>::first_chunk).ok_or(PvmError::BadMsg)?;
        data.put(c_int::from_be_bytes(*number));
        Ok(index as c_int)
    })
}

/// Deletes a number under a name (PVM 3.3); gives the index.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_delete(name: Text<'_>, index: c_int) -> c_int {
    call_but("pvm_delete", is_absence, |state| {
        let name = class(name)?;
        let at = u32::try_from(index).map_err(|_| PvmError::BadParam)?;
        state.ask(&Request::MailRemove { name, index: at }).map(|_| index)
    })
}

impl Locked {
    /// Ends all tasks except this one and the tasks that asked to be spared.
    pub(in crate::calls) fn end_all_others(&mut self) -> Pvm<()> {
        let me = self.me()?.tid;
        let classes = self.mail_classes()?;
        let spared = classes.iter().filter(|class| class.name == NO_RESET).flat_map(|class| &class.entries);
        let spared: Vec<_> = spared.filter_map(|entry| entry.owner).collect();
        let Reply::Tasks(rows) = self.ask(&Request::Tasks { of: None, deep: false })? else {
            return Err(PvmError::DSysErr);
        };
        for row in rows.iter().filter(|row| row.tid.0 != me && !spared.contains(&row.tid)) {
            // The task may have ended in between.
            let _ = self.ask(&Request::Signal { tid: row.tid, signal: libc::SIGTERM });
        }
        Ok(())
    }

    /// Deletes entries whose owner is gone.
    pub(in crate::calls) fn tidy_mail(&mut self, class: &str, index: c_int) -> Pvm<c_int> {
        for MailClass { name, entries } in self.mail_classes()? {
            if !class.is_empty() && class != name {
                continue;
            }
            for entry in entries.iter().filter(|entry| entry.owner.is_none()) {
                if index < 0 || entry.index as c_int == index {
                    let _ = self.ask(&Request::MailTidy { name: name.clone(), index: entry.index });
                }
            }
        }
        Ok(0)
    }

    /// Puts this task's id into a class.
    pub(in crate::calls) fn put_own_tid(&mut self, class: &str) -> Pvm<c_int> {
        let me = self.me()?.tid;
        let mail = Blob([&parvum_wire::encoding::XDR.to_le_bytes()[..], &me.to_be_bytes()].concat());
        self.put_mail(class.to_owned(), None, MULTI as u32, mail)
    }

    /// Sets whether a reset spares this task: an entry of the mailbox marks this.
    pub(in crate::calls) fn be_spared(&mut self, spared: bool) -> Pvm<()> {
        let me = self.me()?.tid;
        let classes = self.mail_classes()?;
        let entries = classes.iter().filter(|class| class.name == NO_RESET).flat_map(|class| &class.entries);
        let mine = entries.filter(|entry| entry.owner.is_some_and(|owner| owner.0 == me)).map(|e| e.index);
        let mine: Vec<u32> = mine.collect();
        if spared && mine.is_empty() {
            self.put_own_tid(NO_RESET)?;
        }
        if !spared {
            for index in mine {
                self.ask(&Request::MailRemove { name: NO_RESET.to_owned(), index })?;
            }
        }
        Ok(())
    }
}

/// The tasks that a reset leaves alone. The list lasts until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getnoresets(tids: Out<'_, *mut c_int>, count: Out<'_, c_int>) -> c_int {
    call("pvm_getnoresets", |state| {
        let classes = state.mail_classes()?;
        let entries = classes.iter().filter(|class| class.name == NO_RESET).flat_map(|class| &class.entries);
        state.spared = entries.filter_map(|entry| entry.owner).map(|owner| owner.0).collect();
        tids.put(state.spared.as_mut_ptr());
        count.put(state.spared.len() as c_int);
        Ok(0)
    })
}

/// Whether a string fits a pattern in which `*` stands for anything.
#[unsafe(no_mangle)]
pub extern "C" fn pvmmatchstring(string: Text<'_>, pattern: Text<'_>) -> c_int {
    match (text(string), text(pattern)) {
        (Ok(string), Ok(pattern)) => c_int::from(fits(string.to_bytes(), pattern.to_bytes())),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn pattern_star_matches_anything() {
        for (name, pattern, expected) in [
            ("abc", "abc", true),
            ("abc", "a*", true),
            ("abc", "*c", true),
            ("abc", "*", true),
            ("abc", "a*b*c*", true),
            ("aXbYbc", "a*bc", true),
            ("abc", "b", false),
            ("abc", "a?c", false),
            ("abc", "abcd", false),
            ("", "*", true),
            ("", "a", false),
        ] {
            assert_eq!(fits(name.as_bytes(), pattern.as_bytes()), expected, "{name} {pattern}");
        }
    }
}
