//! What the environment says to a daemon. Read once, when it begins: what makes no sense is refused then.

use crate::shown::shown;
use parvum_wire::control::OptionRow;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// A host that does not answer for so long is gone, unless `PARVUM_DETECT` says otherwise.
const DETECT: Duration = Duration::from_secs(1);

/// The daemon's options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// A host that does not answer for so long is gone.
    pub detect: Duration,
    /// The UDP port; 0 lets the system choose.
    pub port: u16,
    /// Whether connections between tasks of two hosts are encrypted.
    pub encrypt: bool,
    /// Which of them were set.
    set: Vec<&'static str>,
}

impl Options {
    /// Those of this process.
    pub fn read() -> Result<Options, String> {
        // A value that is no text is refused as it is shown.
        Options::from(|name| std::env::var_os(name).map(|value| shown(value.as_bytes()).into_owned()))
    }

    fn from(variable: impl Fn(&str) -> Option<String>) -> Result<Options, String> {
        let mut set = Vec::new();
        let mut text = |name: &'static str| {
            let text = variable(name).filter(|text| !text.trim().is_empty());
            set.extend(text.as_ref().map(|_| name));
            text
        };
        let number = |name: &str, text: Option<String>, from: u64, to: u64, usual: u64, what: &str| match text
        {
            None => Ok(usual),
            Some(text) => {
                text.trim().parse().ok().filter(|number| (from..=to).contains(number)).ok_or_else(|| {
                    format!("E-OPTION: {name}={text} is not valid; help: use {what} from {from} to {to}")
                })
            }
        };
        let usual = DETECT.as_millis() as u64;
        let detect = text("PARVUM_DETECT");
        let detect = number("PARVUM_DETECT", detect, 20, 3_600_000, usual, "a number of milliseconds")?;
        let port = text("PARVUM_PORT");
        let port = number("PARVUM_PORT", port, 0, u16::MAX.into(), 0, "a port")? as u16;
        let encrypt = match text("PARVUM_ENCRYPT").as_deref() {
            None | Some("yes" | "on" | "1") => true,
            Some("no" | "off" | "0") => false,
            Some(other) => {
                return Err(format!("E-OPTION: PARVUM_ENCRYPT={other} is not valid; help: use yes or no"));
            }
        };
        Ok(Options { detect: Duration::from_millis(detect), port, encrypt, set })
    }

    /// Whether the user has said that there must be encryption, and not only not said no.
    pub fn insists_on_encryption(&self) -> bool {
        self.encrypt && self.set.contains(&"PARVUM_ENCRYPT")
    }

    /// For people: the values that hold; `port` is the one in use, if others may call, and so is `encrypts`.
    pub fn rows(&self, port: Option<u16>, encrypts: bool) -> Vec<OptionRow> {
        let row = |name: &str, value: String, help: &str| OptionRow {
            name: name.into(),
            value,
            source: if self.set.contains(&name) { "daemon's environment" } else { "default" }.into(),
            help: help.into(),
        };
        let port = match port {
            Some(port) => port.to_string(),
            None => format!("{} (not open)", self.port),
        };
        vec![
            row(
                "PARVUM_DETECT",
                self.detect.as_millis().to_string(),
                "milliseconds: a host that is silent for so long is lost",
            ),
            row("PARVUM_PORT", port, "the UDP port for the daemons of other hosts"),
            row(
                "PARVUM_ENCRYPT",
                if encrypts { "yes" } else { "no" }.into(),
                "tasks of two hosts encrypt what they send to each other",
            ),
        ]
    }
}

/// The value of a variable of the environment, unless that is empty.
pub(crate) fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Options, String> {
        Options::from(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn daemon_options_refuse_invalid_values() {
        assert_eq!(with("PARVUM_DETECT", "250").map(|it| it.detect), Ok(Duration::from_millis(250)));
        assert_eq!(with("PARVUM_PORT", "").map(|it| it.port), Ok(0));
        let encrypts =
            |value| with("PARVUM_ENCRYPT", value).map(|it| (it.encrypt, it.insists_on_encryption()));
        assert_eq!(
            ["", "yes", "no"].map(encrypts),
            [Ok((true, false)), Ok((true, true)), Ok((false, false))]
        );
        for (name, value) in [
            ("PARVUM_DETECT", "soon"),
            ("PARVUM_DETECT", "0"),
            ("PARVUM_PORT", "70000"),
            ("PARVUM_PORT", "-1"),
            ("PARVUM_ENCRYPT", "perhaps"),
        ] {
            let why = with(name, value).expect_err(value);
            assert!(why.starts_with("E-OPTION: ") && why.contains(value), "{why}");
        }
    }
}
