//! Tables as CSV (RFC 4180): a line of names, then a line for each row.

/// Joins cells and lines. Cells with commas, quotes or ends of lines get quotes.
pub fn csv(names: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = String::new();
    line(&mut text, names.iter().map(|name| (*name).to_owned()).collect());
    for row in rows {
        line(&mut text, row);
    }
    text
}

fn line(text: &mut String, cells: Vec<String>) {
    let cells: Vec<String> = cells.into_iter().map(quoted).collect();
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}

fn quoted(cell: String) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

/// A number, or nothing.
pub fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let rows =
            [vec!["job, cold".to_owned(), "a \"b\"".to_owned()], vec![number(Some(1.5)), number(None)]];
        assert_eq!(
            csv(&["program", "note"], rows),
            "program,note\r\n\"job, cold\",\"a \"\"b\"\"\"\r\n1.5,\r\n"
        );
    }
}
