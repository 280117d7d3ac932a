//! Tasks: `ps`, `pstat`, `kill`, `sig`, `reset`.

use super::line::Words;
use super::{Console, Done, Next};
use parvum_task::SessionError;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, Reply, Request, TaskRow, TaskState};

/// PVM's task flags that `ps` shows: connected to the daemon, started by it.
const CONNECTED: u32 = 4;
const FORKED: u32 = 2;
/// PVM's code in place of a parent, for what was spawned without one: from a console, for one.
const PARENT_NOT_SET: i32 = -35;

impl Console {
    /// All tasks.
    pub(super) fn rows(&mut self) -> Result<Vec<TaskRow>, SessionError> {
        match self.request(Request::Tasks { of: None, deep: false })? {
            Reply::Tasks(rows) => Ok(rows),
            _ => self.odd(),
        }
    }

    pub(super) fn ps(&mut self, words: &Words) -> Done {
        let wish = PsOptions::parse(&words.text(0));
        for sign in &wish.unknown {
            self.screen.line(&format!("unknown flag -{sign}"));
        }
        let hosts = self.host_rows()?;
        let mut wanted: Vec<_> = hosts.iter().map(|row| row.tid).collect();
        if let Some(dtid) = wish.dtid {
            wanted.retain(|tid| *tid == dtid.daemon());
        }
        if let Some(name) = &wish.host {
            match hosts.iter().find(|row| row.name == *name) {
                Some(row) => wanted.retain(|tid| *tid == row.tid),
                None => self.screen.line(&format!("unknown host {}", super::commands::printable(name))),
            }
        }
        let me = self.session.me.tid;
        let mut rows = self.rows()?;
        rows.retain(|row| wanted.contains(&row.host) && (wish.all || row.tid != me));
        self.task_header(wish.long);
        for row in rows {
            let name = hosts.iter().find(|host| host.tid == row.host).map_or("", |host| &host.name);
            self.task_line(name, &row, wish.long);
        }
        Ok(Next::Go)
    }

    pub(super) fn task_header(&mut self, long: bool) {
        let more = if long { "     PTID    PID" } else { "" };
        self.screen.line(&format!("{:>24} {:>8}{more}   FLAG 0x COMMAND", "HOST", "TID"));
    }

    pub(super) fn task_line(&mut self, host: &str, row: &TaskRow, long: bool) {
        let console = row.tid == self.session.me.tid;
        let tid = if console { "(cons)".into() } else { format!("{:x}", row.tid.0) };
        let mut text = format!("{host:>24} {tid:>8}");
        if long {
            let parent = match row.parent {
                Some(parent) => format!("{:x}", parent.0),
                None if row.spawned => format!("{PARENT_NOT_SET:x}"),
                None => "-".into(),
            };
            text += &format!(" {parent:>8} {:>6}", row.pid);
        }
        let command = if console { "-" } else { &row.name };
        text += &format!(" {:>9} {command:<12}", flags(row));
        self.screen.line(&text);
    }

    pub(super) fn list_jobs(&mut self, words: &Words) -> Done {
        let long = match &*words.text(0) {
            "" => false,
            "-l" => true,
            _ => {
                self.hint("usage: jobs [ -l ]");
                false
            }
        };
        let jobs: Vec<_> = self.jobs.list().map(|(number, tids)| (number, tids.clone())).collect();
        if long {
            self.task_header(false);
        }
        let (hosts, rows) = (self.host_rows()?, self.rows()?);
        for (number, tids) in jobs {
            let list: Vec<_> = tids.iter().map(|tid| format!(" {tid}")).collect();
            self.screen.line(&format!(" {number}:{}", if long { String::new() } else { list.concat() }));
            for row in rows.iter().filter(|row| long && tids.contains(&row.tid)) {
                let name = hosts.iter().find(|host| host.tid == row.host).map_or("", |host| &host.name);
                self.task_line(name, row, false);
            }
        }
        Ok(Next::Go)
    }

    pub(super) fn pstat(&mut self, words: &Words) -> Done {
        let rows = self.rows()?;
        for text in words.texts() {
            let tid = tid(&text);
            let state = match tid {
                Some(tid) if rows.iter().any(|row| row.tid == tid) => "run",
                Some(_) => "No such task",
                None => "Bad parameter",
            };
            self.screen.line(&format!("t{:>8x}  {state}", tid.map_or(0, |tid| tid.0)));
        }
        Ok(Next::Go)
    }

    pub(super) fn kill(&mut self, words: &Words) -> Done {
        let children = words.text(0) == "-c";
        let named = words.rest(usize::from(children));
        if named.is_empty() {
            self.screen.line("kill: wrong #args");
            self.hint("usage: kill [ -c ] tid ...");
            return Ok(Next::Go);
        }
        if !children {
            return self.signal(15, &named);
        }
        let rows = self.rows()?;
        for text in named.texts() {
            let Some(parent) = tid(&text) else {
                self.no_tid(&text);
                continue;
            };
            for row in rows.iter().filter(|row| row.parent == Some(parent)) {
                self.send_signal(row.tid, 15)?;
            }
        }
        Ok(Next::Go)
    }

    pub(super) fn sig(&mut self, words: &Words) -> Done {
        match crate::terminal::signal_names::parse(&words.text(0)) {
            Ok(number @ 1..=64) => self.signal(number, &words.rest(1)),
            _ => {
                let text = super::commands::printable(&words.text(0));
                self.hint(&format!(
                    "{text}: a signal is a number from 1 to 64 or a name, such as 15 or TERM"
                ));
                Ok(Next::Go)
            }
        }
    }

    fn signal(&mut self, signal: i32, named: &Words) -> Done {
        for text in named.texts() {
            match tid(&text) {
                Some(tid) => self.send_signal(tid, signal)?,
                None => self.no_tid(&text),
            }
        }
        Ok(Next::Go)
    }

    fn send_signal(&mut self, tid: Tid, signal: i32) -> Result<(), SessionError> {
        match self.request(Request::Signal { tid, signal }) {
            Err(SessionError::Refused(why)) => self.hint(&why.to_string()),
            other => drop(other?),
        }
        Ok(())
    }

    fn no_tid(&mut self, text: &str) {
        let text = super::commands::printable(text);
        self.hint(&format!("{text}: Bad parameter: a task id looks like t40001; `ps` lists them"));
    }

    pub(super) fn reset(&mut self, words: &Words) -> Done {
        match (&*words.text(0), words.len()) {
            ("", 0) => self.end_tasks()?,
            ("info", _) => return self.reset_info(&words.rest(1)),
            (other, _) => {
                let other = super::commands::printable(other);
                self.screen.line(&format!("\"{other}\" arg to reset not valid"));
            }
        }
        Ok(Next::Go)
    }

    /// Ends all tasks but those that said they are to stay, such as consoles, and deletes what is left of them.
    fn end_tasks(&mut self) -> Result<(), SessionError> {
        let stay = self.kept_from_reset()?;
        for row in self.rows()?.iter().filter(|row| !stay.contains(&row.tid)) {
            let signal = if row.state == TaskState::Started { 9 } else { 15 };
            match self.request(Request::Signal { tid: row.tid, signal }) {
                // It has ended meanwhile.
                Err(SessionError::Refused(Failure { kind: ErrorKind::NoSuchTask, .. })) => {}
                other => drop(other?),
            }
        }
        self.drop_orphans(None, None)
    }
}

/// A task id as PVM's console takes it: hexadecimal, with or without its `t`.
pub(super) fn tid(text: &str) -> Option<Tid> {
    crate::parse_tid(text).ok().filter(|tid| tid.is_task())
}

fn flags(row: &TaskRow) -> String {
    let connected = row.state == TaskState::Enrolled;
    let value = CONNECTED * u32::from(connected) + FORKED * u32::from(row.spawned);
    let letters: Vec<_> =
        [(connected, "c"), (row.spawned, "f")].iter().filter(|f| f.0).map(|f| f.1).collect();
    format!("{value:x}/{}", letters.join(","))
}

/// The options of `ps`.
#[derive(Debug, Default, PartialEq, Eq)]
struct PsOptions {
    long: bool,
    all: bool,
    dtid: Option<Tid>,
    host: Option<String>,
    unknown: Vec<char>,
}

impl PsOptions {
    fn parse(text: &str) -> PsOptions {
        let mut wish = PsOptions::default();
        let mut signs = text.strip_prefix('-').unwrap_or(text).chars();
        while let Some(sign) = signs.next() {
            match sign {
                // All hosts: there is one.
                'a' => {}
                'l' => wish.long = true,
                'x' => wish.all = true,
                // What is no id is that of no host.
                'h' => wish.dtid = Some(crate::parse_tid(signs.as_str()).unwrap_or(Tid(0))),
                'n' => wish.host = Some(signs.as_str().to_owned()),
                other => wish.unknown.push(other),
            }
            if matches!(sign, 'h' | 'n') {
                break;
            }
        }
        wish
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ps_options_parse_from_one_word() {
        let wish = |text| PsOptions::parse(text);
        assert_eq!(wish("-axl"), PsOptions { long: true, all: true, ..Default::default() });
        assert_eq!(wish("-ht40000"), PsOptions { dtid: Some(Tid(0x40000)), ..Default::default() });
        assert_eq!(wish("-h40000"), wish("-ht40000"));
        assert_eq!(
            wish("-lnhere"),
            PsOptions { long: true, host: Some("here".into()), ..Default::default() }
        );
        assert_eq!(wish("foo").unknown, ['f', 'o', 'o']);
        assert_eq!(wish(""), PsOptions::default());
    }

    #[test]
    fn tid_parser_accepts_task_ids_only() {
        assert_eq!(tid("t40001"), Some(Tid(0x40001)));
        assert_eq!(tid("40001"), Some(Tid(0x40001)));
        for wrong in ["40000", "0", "-1", "tt40001", "x", "", "99999999999"] {
            assert_eq!(tid(wrong), None, "{wrong}");
        }
    }
}
