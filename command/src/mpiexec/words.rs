//! The lines of a `-configfile`: each is one part of the job.

use std::ffi::{OsStr, OsString};

/// The words of each part.
pub fn parts(file: &OsStr) -> Result<Vec<Vec<OsString>>, String> {
    let refuse = |why: String| format!("E-USAGE: -configfile {}: {why}", file.display());
    let content = std::fs::read_to_string(file).map_err(|error| refuse(error.to_string()))?;
    let lines = content.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.map(|line| {
        let words = split(line).ok_or_else(|| refuse(format!("{line}: a quotation mark is not closed")))?;
        Ok(words.into_iter().map(OsString::from).collect())
    });
    let parts = parts.collect::<Result<Vec<Vec<OsString>>, String>>()?;
    if parts.is_empty() { Err(refuse("it names no program".into())) } else { Ok(parts) }
}

/// The words of a line, as a shell has them: quotation marks and backslashes.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (mark, Some(open)) if mark == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().push(letters.next()?),
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (' ' | '\t', None) => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_splits_into_words_like_a_shell() {
        assert_eq!(
            split("-n 1 'a b' c\\ d \"e'f\" ''"),
            Some(["-n", "1", "a b", "c d", "e'f", ""].map(String::from).to_vec())
        );
        assert_eq!(split("'open"), None);
    }
}
