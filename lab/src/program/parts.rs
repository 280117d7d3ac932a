//! A program of several parts, as launchers take them: `-n 1 ./master : ./worker`.

use std::ffi::OsString;

/// The word between two parts.
pub const BETWEEN: &str = ":";

/// The word for the number of processes.
const COUNT: &str = "{n}";

/// A part: a program, its arguments, and how many processes run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// As `-n` of the part says; without `-n` the part gets the processes that others leave.
    pub count: Option<u32>,
    /// The program and its arguments.
    pub words: Vec<OsString>,
}

/// Divides the words of a command.
pub fn split(words: &[OsString]) -> Result<Vec<Part>, String> {
    let parts: Vec<Part> = words.split(|word| word == BETWEEN).map(part).collect::<Result<_, _>>()?;
    if parts.iter().filter(|part| part.count.is_none()).count() > 1 {
        return Err(
            "two parts of the program have no -n. help: name the number of processes of every part but one: \
             -n 1 ./master : ./worker"
                .into(),
        );
    }
    Ok(parts)
}

fn part(words: &[OsString]) -> Result<Part, String> {
    let refused = |why: &str| Err(format!("{why}. help: -n 1 ./master : ./worker"));
    match words {
        [] => refused("a part of the program is empty"),
        [option, count, rest @ ..] if option == "-n" || option == "-np" => {
            let number = count.to_str().and_then(|text| text.parse().ok()).filter(|count| *count > 0);
            match (number, rest) {
                (None, _) => refused(&format!("{} is no number of processes", count.to_string_lossy())),
                (Some(_), []) => refused("a part of the program has -n and no program"),
                (count, rest) => Ok(Part { count, words: rest.to_vec() }),
            }
        }
        [option] if option == "-n" || option == "-np" => {
            refused("a part of the program has -n and no program")
        }
        words => Ok(Part { count: None, words: words.to_vec() }),
    }
}

/// The number of processes of each part, for a total.
pub fn counts(parts: &[Part], processes: u32) -> Result<Vec<u32>, String> {
    let fixed: u32 = parts.iter().filter_map(|part| part.count).sum();
    let rest = processes.checked_sub(fixed).filter(|rest| *rest > 0);
    parts
        .iter()
        .map(|part| match (part.count, rest) {
            (Some(count), _) => Ok(count),
            (None, Some(rest)) => Ok(rest),
            (None, None) => Err(format!(
                "-n {processes}: the other parts take {fixed}, and {} gets no process. help: -n {} or more",
                part.words[0].to_string_lossy(),
                fixed + 1
            )),
        })
        .collect()
}

/// The words with the number of all processes for `{n}`: some programs want that number as an argument.
pub fn filled(words: &[OsString], processes: u32) -> Vec<OsString> {
    let fill = |word: &OsString| match word.to_str() {
        Some(text) if text.contains(COUNT) => text.replace(COUNT, &processes.to_string()).into(),
        _ => word.clone(),
    };
    words.iter().map(fill).collect()
}

/// The number of processes, if the parts fix it.
pub fn fixed(parts: &[Part]) -> Option<u32> {
    parts.iter().map(|part| part.count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_line(line: &str) -> Result<Vec<Part>, String> {
        split(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn parts_get_their_processes_and_one_the_rest() {
        let parts = split_line("-n 1 ./master -v : ./worker").expect("two parts");
        assert_eq!(parts[0].words, ["./master", "-v"]);
        assert_eq!(counts(&parts, 4), Ok(vec![1, 3]));
        assert_eq!(fixed(&parts), None);
        let parts = split_line("-n 1 a : -np 2 b").expect("two parts");
        assert_eq!(fixed(&parts), Some(3));
        assert_eq!(counts(&parts, 3), Ok(vec![1, 2]));
        assert_eq!(counts(&split_line("a -n 7").expect("one"), 4), Ok(vec![4]), "-n of the program itself");
    }

    #[test]
    fn arguments_have_the_number_of_processes() {
        let words = ["./a", "--tasks={n}", "{n}", "x"].map(OsString::from);
        assert_eq!(filled(&words, 8), ["./a", "--tasks=8", "8", "x"]);
    }

    #[test]
    fn parts_without_processes_or_programs_are_refused() {
        for (line, wanted) in [
            ("a : b", "two parts of the program have no -n"),
            ("a :", "a part of the program is empty"),
            ("-n 2 : a", "has -n and no program"),
            ("-n", "has -n and no program"),
            ("-n x a", "x is no number of processes"),
            ("-n 0 a", "0 is no number of processes"),
        ] {
            let why = split_line(line).expect_err(line);
            assert!(why.contains(wanted), "{line}: {why}");
        }
        let parts = split_line("-n 2 a : b").expect("two parts");
        let why = counts(&parts, 2).expect_err("no process for b");
        assert!(why.contains("b gets no process") && why.contains("-n 3 or more"), "{why}");
    }
}
