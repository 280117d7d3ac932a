//! Hosts: `add`, `delete`, `conf`, `mstat`; and the machine as a whole: `halt`, `id`, `version`.

use super::line::Words;
use super::{Console, Done, Next};
use crate::hostfile::is_this_host;
use crate::power;
use parvum_task::SessionError;
use parvum_wire::control::{HostRow, Reply, Request};
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
        let known = self.host_rows()?;
        self.screen.line("0 successful");
        self.screen.line(&format!("{:>24} {:>8}", "HOST", "DTID"));
        let mut refused = false;
        for word in words.texts() {
            // Options may follow the name.
            let name = word.split_whitespace().next().unwrap_or_default();
            let ours = known.iter().any(|row| row.name == name) || is_this_host(name, None);
            let why = if ours { "Duplicate host" } else { "Can't start pvmd" };
            refused |= !ours;
            self.screen.line(&format!("{:>24} {why}", super::commands::printable(name)));
        }
        if refused {
            self.hint("this release makes a machine of one host");
        }
        Ok(Next::Go)
    }

    pub(super) fn delete(&mut self, words: &Words) -> Done {
        let known = self.host_rows()?;
        self.screen.line("0 successful");
        self.screen.line(&format!("{:>24}  STATUS", "HOST"));
        let mut own = false;
        for name in words.texts() {
            let ours = known.iter().any(|row| row.name == name);
            let why = if ours { "Bad parameter" } else { "No such host" };
            own |= ours;
            self.screen.line(&format!("{:>24}  {why}", super::commands::printable(&name)));
        }
        if own {
            self.hint("the first host is the machine: `halt` stops it");
        }
        Ok(Next::Go)
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
