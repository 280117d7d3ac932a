//! Standard output of commands that look: what cannot be written is an error, and a reader that has gone is none.

use crate::terminal::layout;
use parvum_task::SessionError;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

/// Writes a line. Names come from programs: what would command the terminal is not passed on.
pub fn line(text: impl Display) -> Result<(), SessionError> {
    written(writeln!(io::stdout(), "{}", fit_to_show(&text.to_string())))
}

/// Writes a line that begins with words of our own, which may be in colour.
pub fn painted(own: impl Display, text: &str) -> Result<(), SessionError> {
    written(writeln!(io::stdout(), "{own}{}", fit_to_show(text)))
}

/// The text without what would command a terminal.
pub fn fit_to_show(text: &str) -> Cow<'_, str> {
    let commands = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match text.contains(commands) {
        true => text.chars().map(|c| if commands(c) { '?' } else { c }).collect::<String>().into(),
        false => text.into(),
    }
}

/// Writes a line for people to read: a terminal gets it in as many as it has room for, the later ones further in.
pub fn words(text: impl Display) -> Result<(), SessionError> {
    let text = text.to_string();
    let indent = text.chars().take_while(|c| *c == ' ').count() + 4;
    match width() {
        Some(width) => layout::wrapped(&text, width, indent).iter().try_for_each(line),
        None => line(text),
    }
}

/// Prints rows in columns, fitted to the terminal; in a pipe each row is one line.
pub fn table(table: &[Vec<String>]) -> Result<(), SessionError> {
    layout::table(table, width()).iter().try_for_each(line)
}

/// How many columns the terminal has that standard output is.
fn width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns >= 20)
}

/// Prints a value for programs.
pub fn json(value: &serde_json::Value) -> Result<(), SessionError> {
    line(serde_json::to_string_pretty(value).unwrap_or_default())
}

/// The result of writing. Of a reader that has gone the signal tells, before this comes about.
pub fn written(result: io::Result<()>) -> Result<(), SessionError> {
    result
        .and_then(|()| io::stdout().flush())
        .map_err(|error| SessionError::System("write the output".into(), error))
}

/// Says something on standard error: an error with its code in the form that standard error calls for. Where even that cannot be
/// written nobody is left to be told.
pub fn note(text: impl Display) {
    note_by("parvum", text);
}

/// The same, said by another name of the command.
pub fn note_by(who: &str, text: impl Display) {
    let text = text.to_string();
    let _ = writeln!(io::stderr(), "{}", parvum_errors::shown(who, &fit_to_show(&text)));
}

/// `1 host`, `2 hosts`.
pub fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
