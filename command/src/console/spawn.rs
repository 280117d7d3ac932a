//! `spawn`: starts tasks, as a job if somebody wants to see what they say.

use super::commands::printable;
use super::jobs::Sink;
use super::line::Words;
use super::{Console, Done, Next};
use crate::shown::shown;
use parvum_task::SessionError;
use parvum_wire::control::{
    Blob, Details, ErrorKind, Failure, HostRow, OptionRow, Output, Reply, Request, SpawnRequest, SpawnWhere,
    Spawned, program_folders,
};
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The most tasks of one request.
const MOST: u32 = 4096;
/// PVM's spawn flags.
const ON_HOST: i32 = 1;
const ON_ARCH: i32 = 2;
const DEBUG: i32 = 4;
const NO_PARENT: i32 = 64;

/// Where a job's output is to go.
#[derive(Debug, PartialEq, Eq)]
enum Show {
    Here,
    NewFile(PathBuf),
    EndOfFile(PathBuf),
}

/// The options of `spawn`.
#[derive(Debug, PartialEq, Eq)]
struct SpawnOptions {
    count: u32,
    place: Option<String>,
    cwd: Option<Vec<u8>>,
    debug: bool,
    show: Option<Show>,
    /// Where the program's name stands.
    program: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum WishError {
    Count(String),
    Place(String),
    NoProgram,
    Traced,
}

impl SpawnOptions {
    fn parse(words: &Words) -> Result<SpawnOptions, WishError> {
        let mut wish =
            SpawnOptions { count: 1, place: None, cwd: None, debug: false, show: None, program: 0 };
        for word in &words.0 {
            let Some(option) = word.strip_prefix(b"-") else { break };
            wish.program += 1;
            wish.option(option)?;
        }
        if wish.program >= words.len() { Err(WishError::NoProgram) } else { Ok(wish) }
    }

    fn option(&mut self, option: &[u8]) -> Result<(), WishError> {
        let show = |file: &[u8], way: fn(PathBuf) -> Show| match file {
            b"" => Some(Show::Here),
            _ => Some(way(OsStr::from_bytes(file).into())),
        };
        if !option.is_empty() && option.iter().all(u8::is_ascii_digit) {
            let text = shown(option);
            let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
            self.count = count.ok_or_else(|| WishError::Count(text.into()))?;
        } else if option == b"?" {
            self.debug = true;
        } else if let Some(file) = option.strip_prefix(b">>") {
            self.show = show(file, Show::EndOfFile);
        } else if let Some(file) = option.strip_prefix(b">") {
            self.show = show(file, Show::NewFile);
        } else if option.starts_with(b"@") {
            return Err(WishError::Traced);
        } else {
            let option = option.strip_prefix(b"-host=").unwrap_or(option);
            let mut parts = option.splitn(2, |byte| *byte == b':');
            let (place, cwd) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            if !cwd.is_empty() {
                self.cwd = Some(cwd.to_vec());
            }
            // `-` and `--` say nothing.
            if !matches!(place, b"" | b"-") {
                let name = std::str::from_utf8(place).map_err(|_| WishError::Place(shown(place).into()))?;
                self.place = Some(name.to_owned());
            }
        }
        Ok(())
    }

    /// PVM has one word for a host and for a kind of host.
    fn place(&self, hosts: &[HostRow]) -> SpawnWhere {
        match &self.place {
            None => SpawnWhere::Anywhere,
            Some(arch) if hosts.iter().any(|row| row.arch == *arch) => SpawnWhere::Arch(arch.clone()),
            Some(host) => SpawnWhere::Host(host.clone()),
        }
    }
}

impl Console {
    pub(super) fn spawn(&mut self, words: &Words) -> Done {
        let wish = match SpawnOptions::parse(words) {
            Ok(wish) => wish,
            Err(why) => {
                self.tell_wrong(&why);
                return Ok(Next::Go);
            }
        };
        if wish.debug && !self.has_debugger()? {
            return Ok(Next::Go);
        }
        let job = wish.show.is_some().then(|| self.jobs.number());
        if let Some(number) = job {
            self.screen.line(&format!("[{number}]"));
        }
        let sink = match wish.show.as_ref().map(open).transpose() {
            Ok(sink) => sink,
            Err(why) => {
                self.hint(&why);
                return Ok(Next::Go);
            }
        };
        let plan = self.plan(&wish, words)?;
        let results = match self.request(Request::Spawn(plan)) {
            Ok(Reply::Spawned(results)) => results,
            Ok(_) => return self.odd(),
            // One refusal for all of them.
            Err(SessionError::Refused(why)) => vec![Err(why)],
            Err(error) => return Err(error),
        };
        self.tell_spawned(&results);
        if let (Some(number), Some(sink)) = (job, sink) {
            let tids: Vec<_> = results.iter().flatten().map(|spawned| spawned.tid).collect();
            self.jobs.begin(number, &tids, sink);
        }
        Ok(Next::Go)
    }

    fn plan(&mut self, wish: &SpawnOptions, words: &Words) -> Result<SpawnRequest, SessionError> {
        let place = wish.place(&self.host_rows()?);
        let where_flag = match place {
            SpawnWhere::Host(_) => ON_HOST,
            SpawnWhere::Arch(_) => ON_ARCH,
            _ => 0,
        };
        Ok(SpawnRequest {
            program: Blob(words.0[wish.program].clone()),
            args: words.0[wish.program + 1..].iter().cloned().map(Blob).collect(),
            count: wish.count,
            cwd: wish.cwd.clone().map(Blob),
            env_add: self.environment.for_tasks(),
            output: if wish.show.is_some() { Output::Spawner } else { Output::Log },
            place,
            flag: NO_PARENT | where_flag | if wish.debug { DEBUG } else { 0 },
            orphan: true,
            // The shell of the console may have another PATH than the daemon.
            search: program_folders(|name| std::env::var_os(name)),
            details: Box::new(Details { one_stream: true, ..Details::default() }),
            ..SpawnRequest::default()
        })
    }

    /// What came of it, in PVM's words; and why not, in ours.
    fn tell_spawned(&mut self, results: &[Result<Spawned, Failure>]) {
        self.screen.line(&format!("{} successful", results.iter().flatten().count()));
        for spawned in results.iter().flatten() {
            self.screen.line(&spawned.tid.to_string());
        }
        let failures = || results.iter().filter_map(|result| result.as_ref().err());
        for why in failures() {
            self.screen.line(in_pvms_words(why.kind));
        }
        if let Some(why) = failures().next() {
            self.hint(&why.to_string());
        }
    }

    fn tell_wrong(&mut self, why: &WishError) {
        match why {
            WishError::NoProgram => {
                self.screen.line("incorrect arg count");
                self.hint("which program? spawn -2 -> /bin/echo hello");
            }
            WishError::Count(count) => {
                self.hint(&format!("{}: there may be 1 to {MOST} tasks at a time", printable(count)));
            }
            WishError::Place(place) => {
                self.hint(&format!("{}: is not UTF-8; no host has such a name", printable(place)));
            }
            WishError::Traced => self.hint("-@: this release traces no tasks; leave it out to start them"),
        }
    }

    fn has_debugger(&mut self) -> Result<bool, SessionError> {
        let Reply::Info(rows) = self.request(Request::Info)? else { return self.odd() };
        let known = rows.iter().any(|OptionRow { name, value, .. }| name == "bx" && value != "none");
        if !known {
            self.hint(
                "-?: there is no debugger; start the machine with PVM_DEBUGGER, or bx= in its hostfile",
            );
        }
        Ok(known)
    }
}

/// Opens a job's file. A file that is there is not written over, as in PVM; `->>` adds to it.
fn open(show: &Show) -> Result<Sink, String> {
    let (file, opened) = match show {
        Show::Here => return Ok(Sink::Console),
        Show::NewFile(file) => (file, OpenOptions::new().write(true).create_new(true).open(file)),
        Show::EndOfFile(file) => (file, OpenOptions::new().append(true).create(true).open(file)),
    };
    opened.map(Sink::File).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{0}: File exists; ->>{0} adds to it", file.display()),
        _ => format!("{}: {error}", file.display()),
    })
}

fn in_pvms_words(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ProgramNotFound => "No such file",
        ErrorKind::NotExecutable | ErrorKind::Denied => "Permission denied",
        ErrorKind::NoSuchHost => "No such host",
        ErrorKind::BadParameter | ErrorKind::TooLarge => "Bad parameter",
        ErrorKind::ExecFailed | ErrorKind::OutOfResources => "Out of resources",
        _ => "Pvmd system error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(line: &str) -> Result<SpawnOptions, WishError> {
        SpawnOptions::parse(&Words::parse(line.as_bytes()).expect("well formed"))
    }

    fn plain(program: usize) -> SpawnOptions {
        SpawnOptions { count: 1, place: None, cwd: None, debug: false, show: None, program }
    }

    #[test]
    fn spawn_options_precede_the_program() {
        assert_eq!(wish("prog -2 ->"), Ok(plain(0)));
        assert_eq!(wish("-2 -> prog"), Ok(SpawnOptions { count: 2, show: Some(Show::Here), ..plain(2) }));
        assert_eq!(wish("-1 -3 prog").map(|wish| wish.count), Ok(3), "the last one counts");
        assert_eq!(wish("->out prog").map(|wish| wish.show), Ok(Some(Show::NewFile("out".into()))));
        assert_eq!(wish("->>out prog").map(|wish| wish.show), Ok(Some(Show::EndOfFile("out".into()))));
        assert_eq!(wish("-? prog").map(|wish| wish.debug), Ok(true));
        assert_eq!(wish("- -- prog"), Ok(plain(2)));
    }

    #[test]
    fn spawn_parses_host_or_arch_and_folder() {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let place = |line| wish(line).map(|wish| (wish.place, wish.cwd.map(text)));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(place("-here prog"), Ok((some("here"), None)));
        assert_eq!(place("-here:/tmp prog"), Ok((some("here"), some("/tmp"))));
        assert_eq!(place("-:/tmp prog"), Ok((None, some("/tmp"))));
        assert_eq!(place("--host=10.0.0.1:/tmp prog"), Ok((some("10.0.0.1"), some("/tmp"))));
        assert_eq!(place("-127.0.0.1 prog"), Ok((some("127.0.0.1"), None)), "an address is no count");
        let (tid, speed, cpus) = (parvum_wire::Tid(0x40000), 1000, 1);
        let hosts = [HostRow { tid, name: "here".into(), arch: "LINUX64".into(), speed, cpus }];
        let arch = wish("-LINUX64 prog").expect("good").place(&hosts);
        assert_eq!(arch, SpawnWhere::Arch("LINUX64".into()));
        assert_eq!(wish("-SUN4 prog").expect("good").place(&hosts), SpawnWhere::Host("SUN4".into()));
    }

    #[test]
    fn spawn_accepts_folders_and_files_that_are_bytes() {
        let words = Words::parse(b"->out\xff -:/d\xff prog").expect("well formed");
        let wish = SpawnOptions::parse(&words).expect("good");
        assert_eq!(wish.show, Some(Show::NewFile(OsStr::from_bytes(b"out\xff").into())));
        assert_eq!(wish.cwd.as_deref(), Some(&b"/d\xff"[..]));
        let words = Words::parse(b"-h\xff prog").expect("well formed");
        assert!(matches!(SpawnOptions::parse(&words), Err(WishError::Place(_))));
    }

    #[test]
    fn invalid_spawn_options_are_refused() {
        for line in ["->", "-2", "-> -2", "-?"] {
            assert_eq!(wish(line), Err(WishError::NoProgram), "{line}");
        }
        for count in ["0", "4097", "99999999999999999999"] {
            assert_eq!(wish(&format!("-{count} prog")), Err(WishError::Count(count.into())));
        }
        assert_eq!(wish("-@ prog"), Err(WishError::Traced));
    }
}
