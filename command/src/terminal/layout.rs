//! How text fits into a terminal: words are not cut in two at its edge, and columns stay columns.

/// The last column gets its own place beside the others while so much is left for it; else it goes below.
const BESIDE: usize = 24;
/// How far in what goes below stands.
const BELOW: usize = 4;
/// Between two columns.
const GAP: usize = 2;

/// Breaks between words, so that no line is wider; lines after the first are indented so far. A longer word stays whole.
pub fn wrapped(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let lead: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut line = lead.clone();
    let mut is_new = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !is_new && count(&line) + 1 + count(word) > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            is_new = true;
        }
        if !is_new {
            line.push(' ');
        }
        line.push_str(word);
        is_new = false;
    }
    lines.push(line);
    lines
}

/// Rows in columns, the last column as it is. Where `width` is known none is wider, if its words allow it: the last
/// column's words are broken into lines, beside the others or below them; and of a table whose other columns are too
/// many, some are told after the rest, each part with the first column.
pub fn table(table: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let widths = widths(table);
    let Some((last, others)) = widths.split_last() else { return Vec::new() };
    let before = others.iter().map(|width| width + GAP).sum::<usize>();
    let Some(width) = width.filter(|width| before + last > *width) else { return plain(table, &widths) };
    if before > width || longest_word(table) + BELOW > width || !has_words(table) {
        return in_parts(table, &widths, width);
    }
    let mut lines = Vec::new();
    for row in table {
        let (end, cells) = row.split_last().expect("a row has cells");
        let start = joined(cells, &widths);
        if width >= before + BESIDE {
            let start = if cells.is_empty() {
                start
            } else {
                format!("{start}{}", " ".repeat(before - count(&start)))
            };
            // By another sign for the blanks of the columns, which are no ends of words.
            let kept = start.replace(' ', "\u{1}");
            lines.extend(
                wrapped(&format!("{kept}{end}"), width, before).iter().map(|line| line.replace('\u{1}', " ")),
            );
        } else if before + count(end) <= width {
            lines.push(joined(row, &widths));
        } else {
            lines.push(start.trim_end().to_owned());
            lines.extend(wrapped(&format!("{}{end}", " ".repeat(BELOW)), width, BELOW));
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

fn count(text: &str) -> usize {
    text.chars().count()
}

fn widths(table: &[Vec<String>]) -> Vec<usize> {
    let columns = table.first().map_or(0, Vec::len);
    let width = |c: usize| table.iter().filter_map(|row| row.get(c)).map(|t| count(t)).max();
    (0..columns).map(|c| width(c).unwrap_or(0)).collect()
}

/// Cells under each other, without what would stand behind the last.
fn joined(cells: &[String], widths: &[usize]) -> String {
    let cells = cells.iter().zip(widths).map(|(text, width)| format!("{text:width$}"));
    cells.collect::<Vec<_>>().join(&" ".repeat(GAP))
}

fn plain(table: &[Vec<String>], widths: &[usize]) -> Vec<String> {
    table.iter().map(|row| joined(row, widths).trim_end().to_owned()).collect()
}

/// The last column is of words, which may be broken.
fn has_words(table: &[Vec<String>]) -> bool {
    table.iter().skip(1).filter_map(|row| row.last()).any(|cell| cell.trim().matches(' ').count() >= 3)
}

fn longest_word(table: &[Vec<String>]) -> usize {
    table.iter().filter_map(|row| row.last()).flat_map(|cell| cell.split(' ')).map(count).max().unwrap_or(0)
}

/// As many columns as fit beside the first, then the first again and those that come next. At least one each time.
fn in_parts(table: &[Vec<String>], widths: &[usize], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut next = 1;
    while next < widths.len() {
        let mut shown = vec![0, next];
        let mut taken = widths[0] + GAP + widths[next];
        next += 1;
        while next < widths.len() && taken + GAP + widths[next] <= width {
            taken += GAP + widths[next];
            shown.push(next);
            next += 1;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let of = |row: &Vec<String>| shown.iter().filter_map(|at| row.get(*at).cloned()).collect::<Vec<_>>();
        let part: Vec<Vec<String>> = table.iter().map(of).collect();
        lines.extend(plain(&part, &shown.iter().map(|at| widths[*at]).collect::<Vec<_>>()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn wrapped_lines_break_between_words() {
        let text = "  t40011 dead waits in pvm receive for a message from t40010, tag 8";
        let lines = wrapped(text, 40, 6);
        assert_eq!(lines, ["  t40011 dead waits in pvm receive for a", "      message from t40010, tag 8"]);
        assert_eq!(wrapped("one", 2, 0), ["one"], "a longer word stays whole");
        assert_eq!(wrapped("", 9, 3), [""]);
    }

    #[test]
    fn table_that_fits_or_goes_to_pipe_is_unchanged() {
        let all = rows(&[&["TID", "STATE"], &["t40001", "waiting 2.3 s in pvm receive: anyone, tag 99"]]);
        let plain = ["TID     STATE", "t40001  waiting 2.3 s in pvm receive: anyone, tag 99"];
        assert_eq!(table(&all, None), plain);
        assert_eq!(table(&all, Some(80)), plain);
    }

    #[test]
    fn table_wraps_words_of_last_column() {
        let all = rows(&[
            &["TID", "STATE"],
            &["t40001", "waiting 2.3 s in pvm receive: anyone, tag 99"],
            &["t2", ""],
        ]);
        let lines = table(&all, Some(40));
        let wanted =
            ["TID     STATE", "t40001  waiting 2.3 s in pvm receive:", "        anyone, tag 99", "t2"];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn table_moves_last_column_below_the_others() {
        let (long, meaning) = ("x".repeat(50), "the UDP port for the daemons of other hosts");
        let all =
            rows(&[&["WHAT", "VALUE", "MEANING"], &["port", &long, meaning], &["tasks", "0", "in use"]]);
        let lines = table(&all, Some(70));
        assert_eq!(lines[0], format!("WHAT   VALUE{}  MEANING", " ".repeat(45)));
        assert_eq!(lines[1], format!("port   {long}"));
        assert_eq!(lines[2], format!("    {meaning}"));
        assert_eq!(lines[3], format!("tasks  0{}  in use", " ".repeat(49)));
    }

    #[test]
    fn table_splits_when_columns_exceed_width() {
        let cell = |at: usize| format!("C{at:07}");
        let all: Vec<Vec<String>> = (0..3).map(|_| (0..16).map(cell).collect()).collect();
        let lines = table(&all, Some(80));
        assert!(lines.iter().all(|line| count(line) <= 80), "{lines:?}");
        let all_there = (1..16).all(|at| lines.iter().filter(|line| line.contains(&cell(at))).count() == 3);
        assert!(
            all_there
                && lines.iter().filter(|line| !line.is_empty()).all(|line| line.starts_with("C0000000"))
        );
    }
}
