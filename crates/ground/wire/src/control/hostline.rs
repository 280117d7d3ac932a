//! A host with its options, as a line of PVM's hostfile has them, and as `pvm_addhosts` and `parvum add` take them.
//!
//! `ep=`, `wd=` and `bx=` are read by the host that they are for: its variables and its home count there. The others
//! are for the daemon that starts the host.

use super::{Blob, HostSettings};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Looks up the value of a variable.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// What a line says of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostOptions {
    /// The login name over there (`lo=`).
    pub login: Option<String>,
    /// How the user has a hand in the start (`so=pw`, `so=ms`).
    pub start: Option<String>,
    /// The `parvum` over there (`dx=`, or `parvum=`).
    pub daemon: Option<String>,
    /// Folders of programs (`ep=`).
    pub search: Option<String>,
    /// Where programs begin (`wd=`).
    pub cwd: Option<String>,
    /// The relative speed (`sp=`).
    pub speed: Option<i32>,
    /// The debugger (`bx=`).
    pub debugger: Option<String>,
    /// The name that the start uses instead of the host's (`ip=`).
    pub address: Option<String>,
    /// PVM's name of the virtual machine (`id=`).
    pub machine: Option<String>,
    /// The command that starts a command over there (`by=`).
    pub by: Option<String>,
}

impl HostOptions {
    /// A host's name and its options. `by=COMMAND` comes last and goes to the end of the line.
    pub fn of_line(line: &str, variable: Variable) -> Result<(String, HostOptions), String> {
        let (words, by) = match line.split_once(" by=") {
            Some((words, by)) => (words, Some(by.trim().to_owned())),
            None => (line, None),
        };
        let mut words = words.split_whitespace();
        let name = words.next().unwrap_or_default().to_owned();
        let mut options = HostOptions { by, ..HostOptions::default() };
        words.try_for_each(|word| options.set(word, variable).map_err(|why| format!("{name}: {why}")))?;
        Ok((name, options))
    }

    /// Takes one option.
    pub fn set(&mut self, word: &str, variable: Variable) -> Result<(), String> {
        let Some((name, raw)) = word.split_once('=') else {
            return Err(format!("{word:?} is no option: one looks like ep=/usr/local/bin"));
        };
        let value = || {
            let value = expand(raw.as_bytes(), variable);
            let text = String::from_utf8(value).map_err(|_| format!("{word}: the value is no UTF-8 text"))?;
            if text.is_empty() { Err(format!("{name}= has no value")) } else { Ok(text) }
        };
        if raw.is_empty() {
            return Err(format!("{name}= has no value"));
        }
        match name {
            "lo" => {
                let login = value()?;
                if login.starts_with('-') || login.contains('@') {
                    return Err(format!("lo={login}: this is no login name"));
                }
                self.login = Some(login);
            }
            "so" => match raw {
                "pw" | "ms" => self.start = Some(raw.into()),
                _ => return Err(format!("so={raw}: there are so=pw and so=ms")),
            },
            "dx" | "parvum" => self.daemon = Some(raw.into()),
            "ep" => self.search = Some(raw.into()),
            "wd" => self.cwd = Some(raw.into()),
            "sp" => match value()?.parse() {
                Ok(speed @ 1..=1_000_000) => self.speed = Some(speed),
                _ => return Err(format!("sp={raw}: a speed is a number from 1 to 1000000")),
            },
            "bx" => self.debugger = Some(raw.into()),
            "ip" => {
                let address = value()?;
                if address.starts_with('-') {
                    return Err(format!("ip={address}: this is no name of a host"));
                }
                self.address = Some(address);
            }
            "id" => self.machine = Some(value()?),
            _ => {
                return Err(format!(
                    "{name}= is no option; help: use one of lo so dx ep wd sp bx ip id parvum by"
                ));
            }
        }
        Ok(())
    }

    /// These options, and those of `below` that are not set here.
    pub fn over(self, below: &HostOptions) -> HostOptions {
        let or = |own: Option<String>, other: &Option<String>| own.or_else(|| other.clone());
        HostOptions {
            login: or(self.login, &below.login),
            start: or(self.start, &below.start),
            daemon: or(self.daemon, &below.daemon),
            search: or(self.search, &below.search),
            cwd: or(self.cwd, &below.cwd),
            speed: self.speed.or(below.speed),
            debugger: or(self.debugger, &below.debugger),
            address: or(self.address, &below.address),
            machine: or(self.machine, &below.machine),
            by: or(self.by, &below.by),
        }
    }

    /// The option that Parvum cannot honour on another host, and what to do instead. A hoster takes `so=` itself.
    pub fn unfit(&self, hoster: bool) -> Result<(), String> {
        if let (Some(start), false) = (&self.start, hoster) {
            return Err(format!(
                "so={start}: Parvum asks nobody during the start; help: let ssh log in by key and leave so={start} out"
            ));
        }
        let daemon = self.daemon.as_deref().unwrap_or_default();
        if matches!(Path::new(daemon).file_name().map(OsStrExt::as_bytes), Some(b"pvmd" | b"pvmd3")) {
            return Err(format!(
                "dx={daemon}: this names PVM's daemon; help: name the parvum of that host (dx=/usr/bin/parvum)"
            ));
        }
        match &self.machine {
            Some(machine) => Err(format!(
                "id={machine}: PARVUM_DIR tells Parvum's machines apart; help: set it there and leave id= out"
            )),
            None => Ok(()),
        }
    }

    /// What the daemon of this very host takes over. As PVM has it, what is no full path begins at the user's home.
    pub fn settings(&self, home: &Path, variable: Variable) -> Result<HostSettings, String> {
        let value = |name: &str, raw: &String| match expand(raw.as_bytes(), variable) {
            empty if empty.is_empty() => Err(format!("{name}={raw} is empty on this host")),
            value => Ok(OsString::from_vec(value)),
        };
        let full = |path: OsString| Blob(home.join(path).into_os_string().into_vec());
        let search = self.search.as_ref().map(|raw| value("ep", raw)).transpose()?.unwrap_or_default();
        let parts = search.as_bytes().split(|byte| *byte == b':').filter(|part| !part.is_empty());
        let debugger = self.debugger.as_ref().map(|raw| value("bx", raw)).transpose()?;
        Ok(HostSettings {
            name: None,
            speed: self.speed,
            search: parts.map(|part| full(OsString::from_vec(part.to_vec()))).collect(),
            cwd: self.cwd.as_ref().map(|raw| value("wd", raw)).transpose()?.map(full),
            // A program without a slash is looked for in PATH.
            debugger: debugger.map(|path| match path.as_bytes().contains(&b'/') {
                true => full(path),
                false => Blob(path.into_vec()),
            }),
            known: Vec::new(),
        })
    }
}

/// Puts values in place of `$NAME`; a name that is not set has none.
fn expand(text: &[u8], variable: Variable) -> Vec<u8> {
    let mut pieces = text.split(|byte| *byte == b'$');
    let mut out = pieces.next().unwrap_or_default().to_vec();
    for piece in pieces {
        let end = piece.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_').unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        match std::str::from_utf8(name).unwrap_or_default() {
            "" => out.push(b'$'),
            name => out.extend(variable(name).unwrap_or_default().into_vec()),
        }
        out.extend(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<OsString> {
        (name == "PVM_ARCH").then(|| "LINUX64".into())
    }

    fn line(text: &str) -> Result<(String, HostOptions), String> {
        HostOptions::of_line(text, &variable)
    }

    #[test]
    fn host_options_follow_the_name() {
        let (name, options) = line("beta dx=/opt/bin/parvum sp=10 lo=me by=rsh {host}").expect("well formed");
        assert_eq!((name.as_str(), options.speed), ("beta", Some(10)));
        let words = [options.daemon.as_deref(), options.login.as_deref(), options.by.as_deref()];
        assert_eq!(words, [Some("/opt/bin/parvum"), Some("me"), Some("rsh {host}")]);
        assert_eq!(line("  "), Ok((String::new(), HostOptions::default())));
        for wrong in ["beta nonsense", "beta xx=1", "beta sp=0", "beta lo=-oProxyCommand=x", "beta ip=-x"] {
            let why = line(wrong).expect_err(wrong);
            assert!(why.starts_with("beta: "), "{why}");
        }
    }

    #[test]
    fn host_line_variables_expand_on_that_host() {
        let (_, options) = line("beta ep=bin/$PVM_ARCH:/x wd=w bx=gdb").expect("well formed");
        assert_eq!(options.search.as_deref(), Some("bin/$PVM_ARCH:/x"), "the other host expands it");
        let settings = options.settings(Path::new("/home/me"), &variable).expect("all are set");
        assert_eq!(settings.search, ["/home/me/bin/LINUX64".into(), Blob::from("/x")]);
        assert_eq!(settings.cwd, Some("/home/me/w".into()));
        assert_eq!(settings.debugger, Some("gdb".into()));
        let (_, unset) = line("beta wd=$NONE").expect("well formed");
        assert!(unset.settings(Path::new("/"), &variable).expect_err("empty").contains("wd=$NONE"));
        assert_eq!(expand(b"a/$PVM_ARCH/b:$NONE/c$", &variable), b"a/LINUX64/b:/c$");
    }

    #[test]
    fn unsupported_host_option_names_remedy() {
        for (option, remedy) in [
            ("so=pw", "key"),
            ("so=ms", "key"),
            ("dx=/usr/lib/pvm3/lib/pvmd", "parvum"),
            ("id=two", "PARVUM_DIR"),
        ] {
            let (_, options) = line(&format!("beta {option}")).expect("well formed");
            let why = options.unfit(false).expect_err(option);
            assert!(why.starts_with(&format!("{option}: ")) && why.contains(remedy), "{why}");
        }
        assert_eq!(line("beta so=pw").expect("well formed").1.unfit(true), Ok(()), "a hoster asks itself");
        assert_eq!(line("beta dx=bin/parvum lo=me ep=/x").expect("well formed").1.unfit(false), Ok(()));
    }

    #[test]
    fn later_host_options_override_hostfile() {
        let below = line("beta sp=5 wd=/w").expect("well formed").1;
        let both = line("beta sp=7").expect("well formed").1.over(&below);
        assert_eq!((both.speed, both.cwd.as_deref()), (Some(7), Some("/w")));
    }
}
