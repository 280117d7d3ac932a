//! The mailbox: `names`, `put`, `reset info`; and how a task is kept from `reset`.

use super::commands::printable;
use super::line::Words;
use super::{Console, Done, Next};
use crate::shown::shown;
use parvum_task::SessionError;
use parvum_wire::byte_names as names;
use parvum_wire::control::{Blob, ErrorKind, Failure, MailClass, MailFlags, Reply, Request};
use parvum_wire::{Tid, encoding};

/// Under this name, by PVM's custom, tasks stand that `reset` is to leave alone (option PvmNoReset).
const NO_RESET: &str = "###_PVM_NO_RESET_###";

impl Console {
    pub(super) fn names(&mut self, words: &Words) -> Done {
        let word = words.bytes(0);
        let stars = word.iter().rev().take_while(|byte| **byte == b'*').count();
        let begun = names::text_of(&word[..word.len() - stars]);
        let classes = self.mail()?;
        for MailClass { name, entries } in classes.iter().filter(|class| class.name.starts_with(&begun)) {
            self.screen.line(&format!("<{}>:", printable(&shown(&names::bytes_of(name)))));
            for entry in entries {
                let owner = entry.owner.map_or(0, |owner| owner.0);
                let (index, flags) = (entry.index, entry.flags.0);
                self.screen.line(&format!("\tindex={index} owner={owner:#x}/{owner} flags={flags:#x}"));
            }
            self.screen.line("");
        }
        Ok(Next::Go)
    }

    /// What is put is one number, packed as `pvm_pkint` packs it for every host.
    pub(super) fn put(&mut self, words: &Words) -> Done {
        let (name, flags, value) = (names::text_of(words.bytes(0)), words.text(1), words.text(2));
        let Ok(bits @ 0..=7) = flags.parse::<i32>() else {
            let flags = printable(&flags);
            self.hint(&format!("{flags}: flags is a sum of 1, 2 and 4; `help put` says what they mean"));
            return Ok(Next::Go);
        };
        let Ok(value) = value.parse::<i32>() else {
            self.hint(&format!("{}: a number is wanted", printable(&value)));
            return Ok(Next::Go);
        };
        let (flags, data) = (MailFlags(bits as u32), packed(value));
        self.request(Request::MailPut { name, index: None, flags, data })?;
        Ok(Next::Go)
    }

    /// `reset info`: entries whose owner is gone are deleted.
    pub(super) fn reset_info(&mut self, words: &Words) -> Done {
        let name = names::text_of(words.bytes(0));
        let index = words.text(1);
        let wanted = index.parse::<u32>().ok();
        if wanted.is_none() && !index.is_empty() {
            self.hint(&format!("{}: an index is a number; `names` lists them", printable(&index)));
            return Ok(Next::Go);
        }
        self.drop_orphans((!words.is_empty()).then_some(name), wanted)?;
        Ok(Next::Go)
    }

    /// Deletes entries whose owner is gone.
    pub(super) fn drop_orphans(&mut self, of: Option<String>, at: Option<u32>) -> Result<(), SessionError> {
        for MailClass { name, entries } in self.mail()? {
            let wanted = of.as_ref().is_none_or(|of| *of == name);
            for entry in entries.iter().filter(|entry| wanted && entry.owner.is_none()) {
                let index = entry.index;
                if at.is_some_and(|at| at != index) {
                    continue;
                }
                match self.request(Request::MailTidy { name: name.clone(), index }) {
                    // Somebody else did it meanwhile.
                    Err(SessionError::Refused(Failure { kind: ErrorKind::NoSuchEntry, .. })) => {}
                    other => drop(other?),
                }
            }
        }
        Ok(())
    }

    /// Says that `reset` is to leave this console alone, or that it need not.
    pub(super) fn keep_from_reset(&mut self, keep: bool) -> Result<(), SessionError> {
        let me = Some(self.session.me.tid);
        let classes = self.mail()?;
        let own = classes.iter().filter(|class| class.name == NO_RESET).flat_map(|class| &class.entries);
        let own: Vec<_> = own.filter(|entry| entry.owner == me).map(|entry| entry.index).collect();
        let name = NO_RESET.to_owned();
        let request = match (keep, own.first()) {
            (true, None) => {
                let data = packed(self.session.me.tid.0);
                Request::MailPut { name, index: None, flags: MailFlags::MULTI, data }
            }
            (false, Some(&index)) => Request::MailRemove { name, index },
            _ => return Ok(()),
        };
        match self.request(request) {
            // A full mailbox is no reason to have no console.
            Err(SessionError::Refused(why)) => self.hint(&format!("not kept from `reset`: {why}")),
            other => drop(other?),
        }
        self.options.put("PvmNoReset", i32::from(keep));
        Ok(())
    }

    /// The tasks that `reset` is to leave alone.
    pub(super) fn kept_from_reset(&mut self) -> Result<Vec<Tid>, SessionError> {
        let me = self.session.me.tid;
        let classes = self.mail()?;
        let kept = classes.iter().filter(|class| class.name == NO_RESET).flat_map(|class| &class.entries);
        // To end oneself is `quit`.
        Ok(kept.filter_map(|entry| entry.owner).chain([me]).collect())
    }

    fn mail(&mut self) -> Result<Vec<MailClass>, SessionError> {
        match self.request(Request::MailList)? {
            Reply::MailList(classes) => Ok(classes),
            _ => self.odd(),
        }
    }
}

/// A number as a message of the mailbox: the word that says how it is encoded, then its data.
fn packed(number: i32) -> Blob {
    Blob([encoding::XDR.to_le_bytes(), number.to_be_bytes()].concat())
}
