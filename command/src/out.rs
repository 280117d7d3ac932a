//! Standard output of commands that look: what cannot be written is an error, and a reader that has gone is none.

use parvum_task::SessionError;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line.
pub fn line(text: impl Display) -> Result<(), SessionError> {
    written(writeln!(io::stdout(), "{text}"))
}

/// Prints rows in columns, the last column as it is.
pub fn table(table: &[Vec<String>]) -> Result<(), SessionError> {
    let columns = table.first().map_or(0, Vec::len);
    let width = |c: usize| table.iter().filter_map(|row| row.get(c)).map(|t| t.chars().count()).max();
    let widths: Vec<_> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    for row in table {
        let cells = row.iter().zip(&widths).map(|(text, width)| format!("{text:width$}"));
        line(cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
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

/// Says something on standard error. Where even that cannot be written nobody is left to be told.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "parvum: {text}");
}

/// `1 host`, `2 hosts`.
pub fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
