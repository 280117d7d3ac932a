//! The options of MPICH's mpiexec and of Open MPI's mpirun: what each means here.

use super::forms::{self, Launcher};
use super::hints;
use crate::run::HostRules;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Which variables of here the processes get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inherit {
    All,
    None,
    These(Vec<String>),
}

/// Options of the whole job.
#[derive(Default)]
pub struct Common {
    /// Options of `parvum run` that mean the same.
    pub given: Vec<(String, Option<OsString>)>,
    pub inherit: Option<Inherit>,
    pub variables: Vec<(OsString, OsString)>,
    pub path: Vec<OsString>,
    pub out: Option<String>,
    pub err: Option<String>,
    pub all_codes: bool,
    /// The total number of processes, with spawned processes.
    pub universe: Option<u32>,
    /// The file that has the parts.
    pub file: Option<OsString>,
    /// Which hosts may be used, and how hosts that are not in the machine are added.
    pub hosts: HostRules,
    /// How daemons are started: `-launcher`, and the command of `-launcher-exec`.
    pub launcher: Option<Launcher>,
    pub launches_by: Option<String>,
    /// `-rank-by slot` was given.
    pub ranks_by_slot: bool,
    pub help: bool,
    pub version: bool,
    pub info: bool,
}

/// Options of one program.
pub struct Own {
    /// Nothing: what was said of hosts tells how many.
    pub count: Option<u32>,
    pub wdir: Option<PathBuf>,
    pub hosts: Vec<String>,
    pub inherit: Option<Inherit>,
    pub variables: Vec<(OsString, OsString)>,
}

/// Reads the options of one part; the rest is its program with its arguments.
pub fn read<'w>(words: &'w [OsString], common: &mut Common) -> Result<(Own, &'w [OsString]), String> {
    let mut own = Own { count: None, wdir: None, hosts: Vec::new(), inherit: None, variables: Vec::new() };
    let mut left = Words { rest: words, given: None, option: String::new() };
    while let Some(word) = left.rest.first() {
        if word == "--" {
            left.rest = &left.rest[1..];
            break;
        }
        let bytes = word.as_bytes();
        let name = bytes.strip_prefix(b"--").or_else(|| bytes.strip_prefix(b"-"));
        let Some(name) = name.filter(|name| !name.is_empty()) else { break };
        let (name, value) = match name.iter().position(|byte| *byte == b'=') {
            Some(at) => (&name[..at], Some(OsStr::from_bytes(&name[at + 1..]).to_owned())),
            None => (name, None),
        };
        let option_as_shown = word.display().to_string();
        let name =
            std::str::from_utf8(name).map_err(|_| format!("E-USAGE: {option_as_shown}: no such option"))?;
        left = Words { rest: &left.rest[1..], given: value, option: option_as_shown };
        option(name, &mut left, &mut own, common)?;
    }
    Ok((own, left.rest))
}

/// The words that are not read yet, behind an option.
struct Words<'w> {
    rest: &'w [OsString],
    /// The value that stood in the option itself.
    given: Option<OsString>,
    option: String,
}

impl Words<'_> {
    fn value(&mut self) -> Result<OsString, String> {
        if let Some(given) = self.given.take() {
            return Ok(given);
        }
        let (first, rest) =
            self.rest.split_first().ok_or_else(|| format!("E-USAGE: {}: a value is missing", self.option))?;
        self.rest = rest;
        Ok(first.clone())
    }

    fn text(&mut self) -> Result<String, String> {
        let value = self.value()?;
        value
            .into_string()
            .map_err(|value| format!("E-USAGE: {} {}: is not UTF-8", self.option, value.display()))
    }

    fn number(&mut self) -> Result<u32, String> {
        let text = self.text()?;
        let number = text.parse().ok().filter(|number| (1..=4096).contains(number));
        number.ok_or_else(|| format!("E-USAGE: {} {text}: not a number; help: use 1 to 4096", self.option))
    }

    fn list(&mut self) -> Result<Vec<String>, String> {
        Ok(self.text()?.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    fn variable(&mut self) -> Result<(OsString, OsString), String> {
        let name = self.text()?;
        if name.is_empty() || name.contains('=') {
            let option = &self.option;
            return Err(format!("E-USAGE: {option} {name}: not a variable; help: `{option} NAME VALUE`"));
        }
        Ok((name.into(), self.value()?))
    }
}

fn option(name: &str, words: &mut Words, own: &mut Own, common: &mut Common) -> Result<(), String> {
    let mut run = |option: &str, value: Option<OsString>| common.given.push((option.to_owned(), value));
    match name {
        "n" | "np" | "c" => own.count = Some(words.number()?),
        "wdir" | "wd" => own.wdir = Some(words.value()?.into()),
        "host" | "H" => own.hosts.extend(words.list()?),
        "hosts" => run("--host", Some(words.value()?)),
        "f" | "hostfile" | "machinefile" | "default-hostfile" => run("--hostfile", Some(words.value()?)),
        "ppn" | "perhost" | "N" | "npernode" => run("--ppn", Some(words.number()?.to_string().into())),
        "pernode" => run("--ppn", Some("1".into())),
        "env" => own.variables.push(words.variable()?),
        "genv" => common.variables.push(words.variable()?),
        "x" => own.variables.extend(exported(&words.text()?)?),
        "envall" => own.inherit = Some(Inherit::All),
        "envnone" => own.inherit = Some(Inherit::None),
        "envlist" => own.inherit = Some(Inherit::These(words.list()?)),
        "genvall" => common.inherit = Some(Inherit::All),
        "genvnone" => common.inherit = Some(Inherit::None),
        "genvlist" => common.inherit = Some(Inherit::These(words.list()?)),
        "path" => common.path.extend(std::env::split_paths(&words.value()?).map(PathBuf::into_os_string)),
        "l" | "prepend-rank" | "tag-output" => run("--label", None),
        "outfile-pattern" => common.out = Some(words.text()?),
        "errfile-pattern" => common.err = Some(words.text()?),
        "output-filename" => run("--output-filename", Some(words.value()?)),
        "bind-to" => {
            let what = words.text()?;
            forms::bind(&words.option, &what, &mut run)?;
        }
        "bind-to-core" | "bind-to-socket" | "bind-to-none" => {
            run("--bind-to", Some(name.trim_start_matches("bind-to-").into()));
        }
        "map-by" => {
            let how = words.text()?;
            forms::map(&words.option, &how, &mut run)?;
        }
        "byslot" | "bynode" => run("--map-by", Some(name.trim_start_matches("by").into())),
        "rank-by" => {
            let how = words.text()?;
            forms::rank(&words.option, &how)?;
            common.ranks_by_slot = true;
        }
        "display" => {
            let what = words.text()?;
            forms::display(&words.option, &what, &mut run)?;
        }
        "display-map" => run("--verbose", None),
        "launcher" | "bootstrap" => {
            let launcher = words.text()?;
            common.launcher = Some(forms::launcher(&words.option, &launcher)?);
        }
        "launcher-exec" | "bootstrap-exec" | "launch-exec" => {
            common.launches_by = Some(words.text()?);
        }
        "nolocal" => common.hosts.not_here = true,
        "nooversubscribe" => common.hosts.no_more_than_slots = true,
        "cpu-set" | "cpu-list" => run("--cpu-list", Some(words.value()?)),
        "report-bindings" => run("--report-bindings", None),
        "s" | "stdin" => run("--stdin", Some(words.value()?)),
        "timeout" => run("--timeout", Some(words.value()?)),
        "disable-auto-cleanup" | "continuous" | "enable-recovery" => {
            run("--on-failure", Some("continue".into()));
        }
        "enable-auto-cleanup" => run("--on-failure", Some("end".into())),
        "print-all-exitcodes" => common.all_codes = true,
        "configfile" | "app" => common.file = Some(words.value()?),
        "v" | "verbose" => run("--verbose", None),
        "q" | "quiet" => run("--quiet", None),
        // Wanted by others, and so here without being asked: more processes than processors, root.
        "oversubscribe" | "allow-run-as-root" | "use-hwthread-cpus" => {}
        "usize" => common.universe = universe(words)?,
        "h" | "help" => common.help = true,
        "V" | "version" => common.version = true,
        "info" => common.info = true,
        _ => return Err(hints::refuse(&words.option)),
    }
    if words.given.is_some() {
        return Err(format!("E-USAGE: {}: this option takes no value", words.option));
    }
    Ok(())
}

/// How many processes there may be in all: a number, or a word for as many as can be started.
fn universe(words: &mut Words) -> Result<Option<u32>, String> {
    let text = words.text()?;
    if matches!(text.to_ascii_lowercase().as_str(), "infinite" | "system") {
        return Ok(None);
    }
    let number = text.parse().ok().filter(|number| *number > 0 && i32::try_from(*number).is_ok());
    number.map(Some).ok_or_else(|| {
        format!("E-USAGE: {} {text}: not a number; help: use a number, infinite or system", words.option)
    })
}

/// `NAME=VALUE`; NAME alone insists that it is set here.
fn exported(text: &str) -> Result<Option<(OsString, OsString)>, String> {
    match text.split_once('=') {
        Some(("", _)) => Err(format!("E-USAGE: -x {text}: the name is missing; help: `-x NAME=VALUE`")),
        Some((name, value)) => Ok(Some((name.into(), value.into()))),
        // Also where the others of here are not handed on.
        None => match std::env::var_os(text) {
            Some(value) => Ok(Some((text.into(), value))),
            None => Err(format!(
                "E-USAGE: -x {text}: that variable is not set here; help: `-x {text}=VALUE` sets it"
            )),
        },
    }
}
