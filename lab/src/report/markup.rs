//! Small pieces of HTML.

use std::fmt::Write;

/// Text that is safe inside HTML and attributes.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            _ => safe.push(c),
        }
    }
    safe
}

/// A drawing with words under it, if there is something to see.
pub fn figure(html: &mut String, svg: &str, caption: &str) {
    if svg.is_empty() {
        return;
    }
    if caption.is_empty() {
        let _ = write!(html, "<figure>{svg}</figure>");
    } else {
        let _ = write!(html, "<figure>{svg}<figcaption>{}</figcaption></figure>", escape(caption));
    }
}

/// A number of bytes in its largest whole unit.
pub fn bytes(value: f64) -> String {
    match value {
        v if v >= 1_048_576.0 => format!("{} MiB", trim(v / 1_048_576.0)),
        v if v >= 1024.0 => format!("{} KiB", trim(v / 1024.0)),
        v => format!("{} B", trim(v)),
    }
}

/// A number of points, as a plain number or a power of two.
pub fn points(value: f64) -> String {
    if value < 8192.0 { trim(value) } else { format!("2^{}", value.log2().round()) }
}

fn trim(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// A table of words rather than numbers: everything to the left, long cells wrapped.
pub fn word_table(headings: &[&str], rows: &[Vec<String>]) -> String {
    table(headings, rows).replace("<td>", "<td class=\"text wrap\">").replace("<th>", "<th class=\"text\">")
}

/// A table. Cells are HTML already; a row starting with `!head` or `!paper` is a section or a quoted one.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut html = String::from("<div class=\"scroll\"><table><tr>");
    for heading in headings {
        html.push_str(&format!("<th>{}</th>", escape(heading)));
    }
    html.push_str("</tr>");
    for row in rows {
        let (class, cells) = match row.first().map(String::as_str) {
            Some("!head") => (" class=\"head\"", &row[1..]),
            Some("!paper") => (" class=\"paper\"", &row[1..]),
            _ => ("", &row[..]),
        };
        html.push_str(&format!("<tr{class}>"));
        if class.contains("head") {
            html.push_str(&format!("<td colspan=\"{}\">{}</td>", headings.len(), cells.concat()));
        } else {
            html.extend(cells.iter().map(|cell| format!("<td>{cell}</td>")));
        }
        html.push_str("</tr>");
    }
    html.push_str("</table></div>");
    html
}

/// The same without the columns behind the first in which nothing was measured.
pub fn table_of_measured(headings: &[&str], rows: &[Vec<String>]) -> String {
    let is_empty = |cell: &String| matches!(cell.as_str(), "" | "-" | "&ndash;");
    let is_kept =
        |at: &usize| *at == 0 || rows.iter().any(|row| row.get(*at).is_some_and(|cell| !is_empty(cell)));
    let kept: Vec<usize> = (0..headings.len()).filter(is_kept).collect();
    let headings: Vec<&str> = kept.iter().map(|&at| headings[at]).collect();
    let row = |row: &Vec<String>| kept.iter().filter_map(|&at| row.get(at).cloned()).collect();
    table(&headings, &rows.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_cannot_be_injected() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }

    #[test]
    fn column_without_value_is_omitted() {
        let words = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let rows = [words(&["a", "-", "1", "-"]), words(&["b", "&ndash;", "-", ""])];
        let shown = table_of_measured(&["", "2 tasks", "4 tasks", "8 tasks"], &rows);
        assert_eq!(shown, table(&["", "4 tasks"], &[words(&["a", "1"]), words(&["b", "-"])]));
    }

    #[test]
    fn sizes_print_in_readable_units() {
        assert_eq!(
            (bytes(8.0), bytes(4096.0), bytes(4_194_304.0)),
            ("8 B".into(), "4 KiB".into(), "4 MiB".into())
        );
        assert_eq!((points(1024.0), points(1_048_576.0)), ("1024".into(), "2^20".into()));
    }
}
