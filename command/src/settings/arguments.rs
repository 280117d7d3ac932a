//! The arguments of `pvm` and `pvmd`, in PVM's manner: `-dmask`, `-nname`, and a hostfile.

use crate::settings::hostfile::Hostfile;
use parvum_wire::control::HostSettings;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The name that the host is to have (`-n`).
    pub name: Option<String>,
    /// PVM's debug mask, as it was written (`-d`).
    pub mask: Option<String>,
    pub hostfile: Option<PathBuf>,
    /// Only the usage is wanted.
    pub help: bool,
}

impl Arguments {
    /// Reads them; the environment's `PVMHOSTFILE` stands in for a hostfile that is not named.
    pub fn read(arguments: impl Iterator<Item = OsString>) -> Result<Arguments, String> {
        let mut found = Arguments::parse(arguments)?;
        if found.hostfile.is_none() {
            found.hostfile =
                std::env::var_os("PVMHOSTFILE").filter(|file| !file.is_empty()).map(PathBuf::from);
        }
        Ok(found)
    }

    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Arguments, String> {
        let mut found = Arguments::default();
        while let Some(argument) = arguments.next() {
            if !argument.as_bytes().starts_with(b"-") {
                if found.hostfile.is_some() {
                    return Err(format!("{}: one hostfile is enough", argument.display()));
                }
                found.hostfile = Some(argument.into());
                continue;
            }
            let text = argument.to_str().ok_or_else(|| format!("{}: is not UTF-8", argument.display()))?;
            let mut value = |flag: &str| match text.strip_prefix(flag) {
                Some("") => arguments.next().and_then(|next| next.into_string().ok()),
                rest => rest.map(str::to_owned),
            };
            match text.as_bytes() {
                b"-h" | b"--help" => found.help = true,
                [b'-', b'n', ..] => {
                    let name = value("-n").filter(|name| !name.is_empty());
                    found.name = Some(name.ok_or("-n wants the name of this host: -nmyhost")?);
                }
                [b'-', b'd', ..] => {
                    let mask = value("-d").filter(|mask| is_number(mask));
                    found.mask = Some(mask.ok_or("-d wants a number, such as -d0xff")?);
                }
                [b'-', b's' | b'S' | b'f', ..] => {
                    return Err(format!("{text}: Parvum's daemons are not started as slaves of another"));
                }
                _ => return Err(format!("{text}: no such option; help: use -dmask or -nname")),
            }
        }
        Ok(found)
    }

    /// What holds for this host, by hostfile and `-n`, what there is to say about the rest, and the
    /// other hosts that are wanted from the start.
    pub fn settings(&self) -> Result<(HostSettings, Vec<String>, Vec<String>), Vec<String>> {
        let mut remarks = Vec::new();
        if let Some(mask) = &self.mask {
            remarks
                .push(format!("-d{mask} is ignored: there is one log, and `parvum info` shows the counts"));
        }
        let given = self.name.as_deref();
        let file = self.hostfile.as_deref().map(Hostfile::read).transpose()?.unwrap_or_default();
        let mut others = Vec::new();
        for host in file.others(given) {
            match host.options.unfit(false) {
                Ok(()) => others.push(host.name.clone()),
                Err(why) => {
                    let path = self.hostfile.as_deref().unwrap_or(Path::new("")).display();
                    let (line, name) = (host.line, &host.name);
                    remarks.push(format!("{path}:{line}: {name} is not added: {why}"));
                }
            }
        }
        let own = file.hosts.iter().find(|host| crate::settings::hostfile::is_this_host(&host.name, given));
        let unused = own.map_or_else(Vec::new, |host| crate::settings::hostfile::unused(&host.options));
        if let (Some(host), false) = (own, unused.is_empty()) {
            remarks.push(format!("{}: {} ignored: they are for other hosts", host.name, unused.join(" ")));
        }
        let own = file.of_this_host(given, &|name| std::env::var_os(name)).map_err(|why| vec![why])?;
        let settings = HostSettings { name: self.name.clone(), ..own };
        Ok((settings, remarks, others))
    }
}

/// Decimal, octal with a leading 0, or hexadecimal with 0x.
fn is_number(text: &str) -> bool {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).is_ok(),
        None => text.parse::<u32>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Arguments, String> {
        Arguments::parse(words.iter().map(OsString::from))
    }

    #[test]
    fn pvmd_flags_parse_as_in_pvm() {
        let found = parse(&["-d0xff", "-nhere", "hosts"]).expect("they are good");
        assert_eq!((found.mask.as_deref(), found.name.as_deref()), (Some("0xff"), Some("here")));
        assert_eq!(found.hostfile, Some("hosts".into()));
        assert_eq!(parse(&["-n", "here"]).expect("good").name.as_deref(), Some("here"));
        assert_eq!(parse(&[]), Ok(Arguments::default()));
    }

    #[test]
    fn invalid_flags_are_refused() {
        for words in [&["-z"][..], &["-n"], &["-d"], &["-dmuch"], &["-s"], &["-S"], &["a", "b"], &["-"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
