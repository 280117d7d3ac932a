//! Hosts: `add`, `delete`, `conf`, `mstat`; and the machine as a whole: `halt`, `id`, `version`.

use super::line::Words;
use super::{Console, Done, Next};
use crate::hosts::power;
use parvum_task::SessionError;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, HostRow, Reply, Request};
use std::collections::HashSet;

/// How x86-64 lays out data, as PVM 3.4.6 writes it down.
const DATA_SIGNATURE: u32 = 0x0040_8c41;

impl Console {
    pub(super) fn host_rows(&mut self) -> Result<Vec<HostRow>, SessionError> {
        match self.request(Request::Hosts)? {
            Reply::Hosts(rows) => Ok(rows),
            _ => self.odd(),
        }
    }

    pub(super) fn conf(&mut self, _: &Words) -> Done {
        let rows = self.host_rows()?;
        let kinds = rows.iter().map(|row| &row.arch).collect::<HashSet<_>>().len();
        let s = |count: usize| if count == 1 { "" } else { "s" };
        let count = rows.len();
        self.screen.line(&format!("{count} host{}, {kinds} data format{}", s(count), s(kinds)));
        self.screen.line(&format!("{:>24} {:>8} {:>8}{:>8}       DSIG", "HOST", "DTID", "ARCH", "SPEED"));
        for HostRow { name, tid, arch, speed, .. } in rows {
            let dtid = tid.0;
            self.screen.line(&format!("{name:>24} {dtid:>8x} {arch:>8}{speed:>8} {DATA_SIGNATURE:#010x}"));
        }
        Ok(Next::Go)
    }

    pub(super) fn add(&mut self, words: &Words) -> Done {
        let Some(hosts) = self.names_of_hosts(words) else { return Ok(Next::Go) };
        let results = self.change_hosts(Request::AddHosts { hosts: hosts.clone() })?;
        let added = results.iter().filter(|result| result.is_ok()).count();
        self.screen.line(&format!("{added} successful"));
        self.screen.line(&format!("{:>24} {:>8}", "HOST", "DTID"));
        for (host, result) in hosts.iter().zip(results) {
            // Options may follow the name.
            let name = super::commands::printable(host.split_whitespace().next().unwrap_or_default());
            match result {
                Ok(tid) => self.screen.line(&format!("{name:>24} {:>8x}", tid.0)),
                Err(why) => {
                    self.screen.line(&format!("{name:>24} {}", in_few_words(&why)));
                    if matches!(why.kind, ErrorKind::CannotStart | ErrorKind::NoSuchHost) {
                        self.hint(&why.to_string());
                    }
                }
            }
        }
        Ok(Next::Go)
    }

    pub(super) fn delete(&mut self, words: &Words) -> Done {
        let Some(hosts) = self.names_of_hosts(words) else { return Ok(Next::Go) };
        let results = self.change_hosts(Request::RemoveHosts { hosts: hosts.clone() })?;
        let removed = results.iter().filter(|result| result.is_ok()).count();
        self.screen.line(&format!("{removed} successful"));
        self.screen.line(&format!("{:>24}  STATUS", "HOST"));
        let mut own = false;
        for (host, result) in hosts.iter().zip(results) {
            let name = super::commands::printable(host);
            let why = match &result {
                Ok(_) => "deleted",
                Err(why) => {
                    own |= why.kind == ErrorKind::BadParameter;
                    in_few_words(why)
                }
            };
            self.screen.line(&format!("{name:>24}  {why}"));
        }
        if own {
            self.hint("the first host is the machine: `halt` stops it");
        }
        Ok(Next::Go)
    }

    fn change_hosts(&mut self, request: Request) -> Result<Vec<Result<Tid, Failure>>, SessionError> {
        match self.session.ask(request, &[], crate::hosts::membership::PATIENCE)?.reply? {
            Reply::HostResults(results) => Ok(results),
            _ => self.odd(),
        }
    }

    /// Hosts have names in text.
    fn names_of_hosts(&mut self, words: &Words) -> Option<Vec<String>> {
        match words.strings() {
            Ok(names) => Some(names),
            Err(word) => {
                let word = super::commands::printable(&word);
                self.hint(&format!("{word}: is not UTF-8; no host has such a name"));
                None
            }
        }
    }

    pub(super) fn mstat(&mut self, words: &Words) -> Done {
        let known = self.host_rows()?;
        for name in words.texts() {
            let state = if known.iter().any(|row| row.name == name) { "ok" } else { "No such host" };
            self.screen.line(&format!("{:>24}  {state}", super::commands::printable(&name)));
        }
        Ok(Next::Go)
    }

    pub(super) fn halt(&mut self, _: &Words) -> Done {
        self.screen.flush();
        power::stop(&mut self.session).map(|()| Next::Halted)
    }

    pub(super) fn id(&mut self, _: &Words) -> Done {
        let tid = self.session.me.tid;
        self.screen.line(&tid.to_string());
        Ok(Next::Go)
    }

    /// The release of PVM whose programs and scripts this serves.
    pub(super) fn version(&mut self, _: &Words) -> Done {
        self.screen.line("3.4.6");
        if self.screen.is_terminal() {
            self.screen.line(concat!("(Parvum ", env!("CARGO_PKG_VERSION"), ")"));
        }
        Ok(Next::Go)
    }
}

/// PVM's words for it.
fn in_few_words(why: &Failure) -> &'static str {
    match why.kind {
        ErrorKind::DuplicateHost => "Duplicate host",
        ErrorKind::NoSuchHost => "No such host",
        ErrorKind::BadParameter => "Bad parameter",
        ErrorKind::OutOfResources => "Out of resources",
        _ => "Can't start pvmd",
    }
}
