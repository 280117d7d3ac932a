//! PVM's hostfile: one host to a line, with options.
//!
//! ```text
//! # a comment
//! name  option=value ...      a host, started with the machine
//! & name  option=value ...    a host that is only known, for `add`
//! * option=value ...          defaults for the lines below, up to the next `*`
//! ```

use crate::shown::shown;
use parvum_wire::control::{HostOptions, HostSettings, Variable};
use std::path::{Path, PathBuf};

/// Larger is no hostfile.
const LARGEST: u64 = 1024 * 1024;
const LONGEST_LINE: usize = 4096;

/// One host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLine {
    pub name: String,
    pub options: HostOptions,
    /// Belongs to the machine from the start (no `&`).
    pub wanted: bool,
    /// Wants a daemon of its own although the host has one (`$`).
    pub overload: bool,
    /// Where it stands in the file, counted from 1.
    pub line: usize,
}

/// What a hostfile says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hostfile {
    pub hosts: Vec<HostLine>,
    /// The last `*` line.
    pub defaults: HostOptions,
}

impl Hostfile {
    /// Reads a file. Every fault is told with file and line.
    pub fn read(path: &Path) -> Result<Hostfile, Vec<String>> {
        let fault = |what: String| vec![format!("{}: {what}", path.display())];
        let meta = std::fs::metadata(path).map_err(|error| fault(format!("cannot be read: {error}")))?;
        if meta.is_dir() {
            return Err(fault("is a directory, not a hostfile".into()));
        }
        if meta.len() > LARGEST {
            return Err(fault(format!("has {} bytes: this is no hostfile", meta.len())));
        }
        let bytes = std::fs::read(path).map_err(|error| fault(format!("cannot be read: {error}")))?;
        // A line with bytes that are not UTF-8 is refused by their replacements.
        let text = shown(&bytes);
        Hostfile::parse(&text, &|name| std::env::var_os(name)).map_err(|faults| {
            let told = faults.into_iter().take(20);
            told.map(|(line, what)| format!("{}:{line}: {what}", path.display())).collect()
        })
    }

    /// Reads what a file says; `variable` looks up what stands after a `$`. Every fault is told with its line.
    pub fn parse(text: &str, variable: Variable) -> Result<Hostfile, Vec<(usize, String)>> {
        let (mut file, mut faults) = (Hostfile::default(), Vec::new());
        for (at, line) in text.lines().enumerate() {
            match parse_line(line, &file.defaults, variable) {
                Ok(None) => {}
                Ok(Some(Line::Defaults(options))) => file.defaults = options,
                Ok(Some(Line::Host(host))) => {
                    let host = HostLine { line: at + 1, ..host };
                    let twice = |other: &HostLine| other.name == host.name && !host.overload;
                    if file.hosts.iter().any(twice) {
                        faults.push((at + 1, format!("{} stands in this file twice", host.name)));
                    }
                    file.hosts.push(host);
                }
                Err(what) => faults.push((at + 1, what)),
            }
        }
        if faults.is_empty() { Ok(file) } else { Err(faults) }
    }

    /// What it says of the host this runs on: its own line, or the last defaults.
    pub fn of_this_host(&self, given: Option<&str>, variable: Variable) -> Result<HostSettings, String> {
        let line = self.hosts.iter().find(|host| !host.overload && is_this_host(&host.name, given));
        // As PVM has it, what is no full path begins at the user's home.
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or("/".into());
        let own = line.map_or(&self.defaults, |line| &line.options).settings(&home, variable)?;
        Ok(HostSettings { known: self.known(given), ..own })
    }

    /// What it says of the other hosts, also of those that are added later.
    fn known(&self, given: Option<&str>) -> Vec<(String, HostOptions)> {
        let others = self.hosts.iter().filter(|host| !host.overload && !is_this_host(&host.name, given));
        let lines = others.map(|host| (host.name.clone(), host.options.clone()));
        let defaults = Some((HostSettings::ANY.to_owned(), self.defaults.clone()));
        lines.chain(defaults.filter(|(_, options)| *options != HostOptions::default())).collect()
    }

    /// The other hosts that it wants from the start.
    pub fn others(&self, given: Option<&str>) -> impl Iterator<Item = &HostLine> {
        self.hosts
            .iter()
            .filter(move |host| host.wanted && (host.overload || !is_this_host(&host.name, given)))
    }
}

/// Whether the name means the host this runs on. Nothing is asked of a name service.
pub fn is_this_host(name: &str, given: Option<&str>) -> bool {
    let uname = rustix::system::uname();
    let node = uname.nodename().to_str().unwrap_or_default();
    let short = node.split('.').next().unwrap_or_default();
    let loopback = name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    loopback || name == "localhost" || name == node || name == short || Some(name) == given
}

/// The options that mean nothing on this host, as they were written.
pub fn unused(options: &HostOptions) -> Vec<&'static str> {
    let all = [
        ("lo=", options.login.is_some()),
        ("so=", options.start.is_some()),
        ("dx=", options.daemon.is_some()),
        ("ip=", options.address.is_some()),
        ("id=", options.machine.is_some()),
    ];
    all.into_iter().filter(|(_, set)| *set).map(|(name, _)| name).collect()
}

enum Line {
    Defaults(HostOptions),
    Host(HostLine),
}

fn parse_line(line: &str, defaults: &HostOptions, variable: Variable) -> Result<Option<Line>, String> {
    if line.len() > LONGEST_LINE {
        return Err(format!("the line is longer than {LONGEST_LINE} bytes"));
    }
    if line.contains(['\0', '\u{fffd}']) {
        return Err("the line is not text".into());
    }
    let mut words = line.split_whitespace();
    let Some(first) = words.next().filter(|word| !word.starts_with('#')) else { return Ok(None) };
    let mut options = defaults.clone();
    if first == "*" {
        words.try_for_each(|word| options.set(word, variable))?;
        return Ok(Some(Line::Defaults(options)));
    }
    let (wanted, name) = match first.strip_prefix('&') {
        None => (true, first),
        Some("") => (false, words.next().ok_or("a host is missing after &")?),
        Some(name) => (false, name),
    };
    let (overload, name) = name.strip_prefix('$').map_or((false, name), |name| (true, name));
    let fits = |c: char| c.is_alphanumeric() || ".-_:".contains(c);
    if name.is_empty() || !name.chars().all(fits) || name.starts_with('-') {
        return Err(format!("{first:?} is no name of a host"));
    }
    words.try_for_each(|word| options.set(word, variable))?;
    Ok(Some(Line::Host(HostLine { name: name.into(), options, wanted, overload, line: 0 })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<std::ffi::OsString> {
        (name == "PVM_ARCH").then(|| "LINUX64".into())
    }

    fn parse(text: &str) -> Result<Hostfile, Vec<(usize, String)>> {
        Hostfile::parse(text, &variable)
    }

    #[test]
    fn hostfile_parses_whole_format() {
        let text = "# a comment\n   # another\n\nfonebone\n*\tlo=guest so=pw\nsigi.cs dx=/x/pvmd ep=a:b/$PVM_ARCH\n\
                    & igor lo=me so=ms ip=10.0.0.9\n&other\n* sp=500\n$fred wd=/w bx=/b id=two\n";
        let file = parse(text).expect("it is well formed");
        let names: Vec<_> = file.hosts.iter().map(|h| (h.name.as_str(), h.wanted, h.overload)).collect();
        let wanted = [
            ("fonebone", true, false),
            ("sigi.cs", true, false),
            ("igor", false, false),
            ("other", false, false),
            ("fred", true, true),
        ];
        assert_eq!(names, wanted);
        assert_eq!(file.hosts[0].options, HostOptions::default(), "defaults hold for the lines below");
        let sigi = &file.hosts[1].options;
        assert_eq!((sigi.login.as_deref(), sigi.start.as_deref()), (Some("guest"), Some("pw")));
        assert_eq!(sigi.search.as_deref(), Some("a:b/$PVM_ARCH"), "that host puts it in");
        assert_eq!(file.hosts[1].line, 6);
        let igor = &file.hosts[2].options;
        assert_eq!((igor.login.as_deref(), igor.start.as_deref()), (Some("me"), Some("ms")));
        assert_eq!(file.hosts[4].options.speed, Some(500));
        assert_eq!(unused(igor), ["lo=", "so=", "ip="]);
        assert_eq!(
            file.others(None).map(|h| h.name.as_str()).collect::<Vec<_>>(),
            ["fonebone", "sigi.cs", "fred"]
        );
    }

    #[test]
    fn hostfile_reports_line_of_each_error() {
        let text =
            "good\nbad sp=fast\nworse nonsense\n* xx=1\n&\n-dx\ngood\nso so=maybe\nempty ep=\nhost,other";
        let faults = parse(text).expect_err("all but one line are wrong");
        assert_eq!(faults.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert!(faults[0].1.contains("1 to 1000000"), "{faults:?}");
        assert!(faults[5].1.contains("twice"), "{faults:?}");
        for speed in ["0", "1000001", "-5", "99999999999999999999"] {
            assert!(parse(&format!("h sp={speed}")).is_err(), "{speed}");
        }
        assert!(parse("\0\u{1}").is_err());
        assert!(parse(&"x".repeat(LONGEST_LINE + 1)).is_err());
    }

    #[test]
    fn hostfile_gives_this_host_its_line_or_defaults() {
        let file = parse("* sp=300\nlocalhost sp=700 ep=/a:/b wd=/w\nelsewhere sp=1").expect("well formed");
        let own = file.of_this_host(None, &variable).expect("all can be");
        assert_eq!(own.speed, Some(700));
        let known: Vec<_> = own.known.iter().map(|(name, options)| (name.as_str(), options.speed)).collect();
        assert_eq!(known, [("elsewhere", Some(1)), ("*", Some(300))], "others are known for later");
        assert_eq!((own.search, own.cwd), (vec!["/a".into(), "/b".into()], Some("/w".into())));
        let file = parse("* sp=300\nelsewhere\n* sp=400").expect("well formed");
        assert_eq!(file.of_this_host(None, &variable).expect("good").speed, Some(400));
        assert_eq!(
            file.of_this_host(Some("elsewhere"), &variable).expect("good").speed,
            Some(300),
            "by the name that -n gave"
        );
        assert!(is_this_host("127.0.0.1", None) && !is_this_host("10.1.2.3", None));
    }

    #[test]
    fn hostfile_read_refuses_missing_file_and_folder() {
        let faults = Hostfile::read(Path::new("/nonexistent/hosts")).expect_err("it is not there");
        assert!(faults[0].starts_with("/nonexistent/hosts: cannot be read"), "{faults:?}");
        assert!(Hostfile::read(Path::new("/")).is_err());
    }
}
