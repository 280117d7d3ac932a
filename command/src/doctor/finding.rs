//! The result of a check.

use serde_json::{Value, json};

/// How good it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Ok,
    Warning,
    Error,
}

impl State {
    /// The word that is printed, and the value in JSON.
    pub fn word(self) -> &'static str {
        match self {
            State::Ok => "OK",
            State::Warning => "warning",
            State::Error => "error",
        }
    }

    fn of_word(word: &str) -> Option<State> {
        [State::Ok, State::Warning, State::Error].into_iter().find(|state| state.word() == word)
    }
}

/// One line of the doctor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// On which other host; none: on this one.
    pub host: Option<String>,
    /// The check, in one word.
    pub check: String,
    pub state: State,
    /// The result in words.
    pub text: String,
    /// Cures; commands come first.
    pub help: Vec<String>,
}

impl Finding {
    fn new(check: &str, state: State, text: impl Into<String>) -> Finding {
        Finding { host: None, check: check.into(), state, text: text.into(), help: Vec::new() }
    }

    pub fn ok(check: &str, text: impl Into<String>) -> Finding {
        Finding::new(check, State::Ok, text)
    }

    /// Programs run, and something is slower or other than expected.
    pub fn warning(check: &str, text: impl Into<String>, help: impl Into<String>) -> Finding {
        Finding::new(check, State::Warning, text).help(help)
    }

    /// Something does not work.
    pub fn error(check: &str, text: impl Into<String>, help: impl Into<String>) -> Finding {
        Finding::new(check, State::Error, text).help(help)
    }

    pub fn help(mut self, help: impl Into<String>) -> Finding {
        self.help.push(help.into());
        self
    }

    /// The same, of another host.
    pub fn on(mut self, host: &str) -> Finding {
        self.host = Some(host.into());
        self
    }

    pub fn json(&self) -> Value {
        json!({
            "host": self.host,
            "check": self.check,
            "state": self.state.word(),
            "text": self.text,
            "help": self.help,
        })
    }

    /// Reads what another host's doctor has written.
    pub fn of_json(value: &Value) -> Option<Finding> {
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        let help = value.get("help")?.as_array()?.iter().filter_map(|line| line.as_str().map(str::to_owned));
        Some(Finding {
            host: None,
            check: text("check")?,
            state: State::of_word(&text("state")?)?,
            text: text("text")?,
            help: help.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_of_other_host_is_read_as_written() {
        let written = Finding::warning("limits", "64 descriptors", "`ulimit -n 4096`").help("log in again");
        assert_eq!(Finding::of_json(&written.json()), Some(written));
        assert_eq!(Finding::of_json(&json!({ "check": "x", "state": "fine", "text": "", "help": [] })), None);
        assert_eq!(Finding::of_json(&json!([])), None);
    }
}
