//! An error message and its two forms.

use crate::Style;
use std::fmt;

const NOTE: &str = "; note: ";
const HELP: &str = "; help: ";

/// What an error says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Which error, such as `E-NOHOST`. Empty: none, for a text that has no code.
    pub code: String,
    /// What failed, with its name, and why.
    pub what: String,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// What to do: commands that can be pasted lead.
    pub help: Vec<String>,
}

impl Message {
    /// A message without notes.
    pub fn new(code: &str, what: impl Into<String>) -> Message {
        Message { code: code.into(), what: what.into(), ..Message::default() }
    }

    /// The same with a note more.
    pub fn note(mut self, note: impl Into<String>) -> Message {
        self.notes.push(note.into());
        self
    }

    /// The same with a help more.
    pub fn help(mut self, help: impl Into<String>) -> Message {
        self.help.push(help.into());
        self
    }

    /// Reads the form of one line. A text without a code is all `what`.
    pub fn read(text: &str) -> Message {
        let text = text.trim_end();
        let Some(code) = code_of(text) else { return Message::new("", text) };
        let mut rest = text.get(code.len()..).and_then(|rest| rest.strip_prefix(": ")).unwrap_or_default();
        let mut message = Message::new(code, "");
        let mut is_help = None;
        loop {
            let next =
                [(NOTE, false), (HELP, true)].map(|(mark, help)| rest.find(mark).map(|at| (at, mark, help)));
            let next = next.into_iter().flatten().min();
            let (part, after) = match next {
                Some((at, mark, _)) => (rest.split_at(at).0, rest.get(at + mark.len()..)),
                None => (rest, None),
            };
            match is_help {
                None => message.what = part.into(),
                Some(true) => message.help.push(part.into()),
                Some(false) => message.notes.push(part.into()),
            }
            let (Some((_, _, help)), Some(after)) = (next, after) else { return message };
            (is_help, rest) = (Some(help), after);
        }
    }

    /// The message as `who` shows it, without a line end behind it.
    pub fn shown(&self, who: &str, style: Style) -> String {
        match style.is_terminal {
            _ if self.code.is_empty() => format!("{who}: {self}"),
            true => self.lines(who, style),
            false => {
                let text = self.to_string();
                let rest = text.get(self.code.len()..).unwrap_or_default();
                format!("{who}: {}{rest}", style.bad(&self.code))
            }
        }
    }

    fn lines(&self, who: &str, style: Style) -> String {
        let begins = style.bad(&format!("error[{}]", self.code));
        // The command is the one that the reader has just called. A library's name says where the error comes from.
        let by = (who != "parvum").then(|| who.to_owned());
        let more = (self.code != "E-USAGE").then(|| format!("`parvum explain {}` says more", self.code));
        let mut all = vec![format!("{begins}: {}", self.what)];
        all.extend(self.notes.iter().chain(&by).map(|note| format!("{}: {note}", style.mild("note"))));
        all.extend(self.help.iter().map(|help| format!("{}: {help}", style.good("help"))));
        all.extend(more.map(|more| format!("{}: {more}", style.mild("note"))));
        all.join("\n")
    }
}

/// The code at the beginning of a text.
fn code_of(text: &str) -> Option<&str> {
    let (code, _) = text.split_once(": ")?;
    let name = code.strip_prefix("E-")?;
    let fits = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    fits.then_some(code)
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.code.is_empty() {
            write!(f, "{}: ", self.code)?;
        }
        f.write_str(&self.what)?;
        self.notes.iter().try_for_each(|note| write!(f, "{NOTE}{note}"))?;
        self.help.iter().try_for_each(|help| write!(f, "{HELP}{help}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Message {
        Message::new("E-NOHOST", "cannot add beta: ssh cannot resolve the name")
            .note("the command was `ssh beta parvum join`")
            .help("`ssh beta true` must work")
            .help("see /etc/hosts")
    }

    #[test]
    fn message_line_reads_back_as_same_message() {
        let plain = Message::new("E-TMK-DEAD", "node 1: it ended; so does the run");
        for message in [host(), plain, Message::new("", "no code; help: none")] {
            assert_eq!(Message::read(&message.to_string()), message);
        }
        let mixed = Message::read("E-TCP: text; help: one; note: two");
        assert_eq!((mixed.help, mixed.notes), (vec!["one".to_owned()], vec!["two".to_owned()]));
    }

    #[test]
    fn texts_without_a_code_stay_whole() {
        for text in ["", "E-mail: none", "E-", "E-: x", "plain; help: not one", "an E-TCP: inside"] {
            assert_eq!(Message::read(text), Message::new("", text), "{text}");
        }
    }

    #[test]
    fn pipe_gets_one_line_with_name_of_speaker() {
        let line = host().shown("parvum", Style::PIPE);
        assert_eq!(
            line,
            "parvum: E-NOHOST: cannot add beta: ssh cannot resolve the name; note: the command was `ssh beta parvum join`; \
             help: `ssh beta true` must work; help: see /etc/hosts"
        );
    }

    #[test]
    fn terminal_gets_a_line_for_each_note_and_help() {
        let terminal = Style { is_terminal: true, colour: false };
        assert_eq!(
            Message::new("", "ready; help: none").shown("parvum", terminal),
            "parvum: ready; help: none"
        );
        let lines = host().shown("libpvm [t40001]", terminal);
        assert_eq!(
            lines,
            "error[E-NOHOST]: cannot add beta: ssh cannot resolve the name\n\
             note: the command was `ssh beta parvum join`\n\
             note: libpvm [t40001]\n\
             help: `ssh beta true` must work\n\
             help: see /etc/hosts\n\
             note: `parvum explain E-NOHOST` says more"
        );
        let usage =
            Message::new("E-USAGE", "no such option").shown("parvum", Style { colour: true, ..terminal });
        assert_eq!(usage, "\x1b[1;31merror[E-USAGE]\x1b[0m: no such option");
    }
}
