//! Outputs of a program: outputs of two systems are compared without the numbers that change from run to run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Longer outputs are compared by a sum alone: a program may print gigabytes.
const KEPT: usize = 1 << 20;
/// A longer line counts as several.
const LINE: u64 = 64 << 10;
/// The longest quotation of a line.
const QUOTED: usize = 120;

/// The output of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// Its first lines, sorted: ranks print in any order.
    lines: Vec<Vec<u8>>,
    /// A sum over the other lines, in any order.
    rest: u64,
}

impl Output {
    /// Reads a file, however large it is.
    pub fn read(file: &Path) -> io::Result<Output> {
        Output::of(BufReader::new(File::open(file)?))
    }

    fn of(mut reader: impl BufRead) -> io::Result<Output> {
        let (mut output, mut bytes) = (Output::default(), 0);
        loop {
            let mut line = Vec::new();
            if reader.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
                output.lines.sort_unstable();
                return Ok(output);
            }
            bytes += line.len();
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            if bytes <= KEPT {
                output.lines.push(line);
            } else {
                // The hash needs no secret, because it guards nothing.
                let mut hasher = DefaultHasher::new();
                line.hash(&mut hasher);
                output.rest = output.rest.wrapping_add(hasher.finish());
            }
        }
    }

    /// Lines of this output that the other one does not have as often.
    fn without(&self, other: &Output) -> Vec<&[u8]> {
        let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
        other.lines.iter().for_each(|line| *counts.entry(line).or_default() += 1);
        let is_more = |line: &&Vec<u8>| match counts.get_mut(line.as_slice()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        let mut more: Vec<&[u8]> = self.lines.iter().filter(is_more).map(Vec::as_slice).collect();
        // An empty line tells a reader nothing: the others come first.
        more.sort_by_key(|line| line.trim_ascii().is_empty());
        more
    }
}

/// The number of runs whose outputs are kept, for each system and number of processes. A time that is printed with few digits is the same
/// in two runs now and then, and seldom in all of these.
pub const RUNS: usize = 5;

/// The outputs of one system with one number of processes: of its first runs that worked.
#[derive(Debug, Clone)]
pub struct Printed {
    /// With how many processes.
    pub processes: u32,
    /// Which system, by its place.
    pub way: usize,
    /// At least one, at most [`RUNS`].
    pub outputs: Vec<Output>,
}

/// A system whose output differs from that of most systems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which system.
    pub way: usize,
    /// A system that prints what most print.
    pub other: usize,
    /// The first difference, as words after the name of the system.
    pub what: String,
}

/// The result of a comparison of outputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    /// Systems that print something else.
    pub differing: Vec<Difference>,
    /// Two forms of a line that changes from run to run under one system: a time, or the number of a process.
    pub varying: Option<[String; 2]>,
}

/// Lines of an output in the form in which they are compared, each with what the program printed.
struct Normal<'a> {
    lines: Vec<(Vec<u8>, &'a [u8])>,
    rest: u64,
}

impl<'a> Normal<'a> {
    fn of(output: &'a Output, masks: &BTreeSet<Vec<u8>>, rest_varies: bool) -> Normal<'a> {
        let of_line = |line: &'a Vec<u8>| {
            let masked = mask(line);
            (if masks.contains(&masked) { masked } else { line.clone() }, line.as_slice())
        };
        // A program may print which MPI it runs on: that differs, and is right.
        let mut lines: Vec<_> =
            output.lines.iter().filter(|line| !names_version(line)).map(of_line).collect();
        lines.sort_unstable();
        Normal { lines, rest: if rest_varies { 0 } else { output.rest } }
    }

    fn is_same(&self, other: &Normal) -> bool {
        let forms = |one: &Normal| one.lines.iter().map(|line| line.0.clone()).collect::<Vec<_>>();
        self.rest == other.rest && forms(self) == forms(other)
    }

    /// Lines of this output that the other one does not have as often, as the program printed them.
    fn without(&self, other: &Normal<'a>) -> Vec<&'a [u8]> {
        let forms = |one: &Normal| Output {
            lines: one.lines.iter().map(|line| line.0.clone()).collect(),
            ..Output::default()
        };
        let (own, others) = (forms(self), forms(other));
        let more = own.without(&others);
        more.iter()
            .filter_map(|form| self.lines.iter().find(|line| line.0 == *form))
            .map(|line| line.1)
            .collect()
    }
}

fn names_version(line: &[u8]) -> bool {
    line.to_ascii_lowercase().windows(7).any(|word| word == b"version")
}

/// Compares the outputs of several systems.
pub fn compare<'a>(all: impl Iterator<Item = &'a Printed>) -> Compared {
    let all: Vec<&Printed> = all.collect();
    let (mut masks, mut varying, mut rest_varies) = (BTreeSet::new(), None, false);
    let runs = all.iter().filter_map(|printed| printed.outputs.split_first());
    for (first, other) in runs.flat_map(|(first, others)| others.iter().map(move |other| (first, other))) {
        let (gone, new) = (first.without(other), other.without(first));
        if let ([one, ..], [other, ..]) = (&gone[..], &new[..]) {
            varying.get_or_insert_with(|| [quoted(one), quoted(other)]);
        }
        masks.extend(gone.into_iter().chain(new).map(mask));
        rest_varies |= first.rest != other.rest;
    }
    let mut groups: Vec<(Normal, Vec<usize>)> = Vec::new();
    for printed in &all {
        let Some(output) = printed.outputs.first() else { continue };
        let output = Normal::of(output, &masks, rest_varies);
        match groups.iter_mut().find(|group| group.0.is_same(&output)) {
            Some(group) => group.1.push(printed.way),
            None => groups.push((output, vec![printed.way])),
        }
    }
    // The first of equally large groups.
    let most = groups.iter().map(|group| group.1.len()).max().unwrap_or(0);
    let Some(usual) = groups.iter().position(|group| group.1.len() == most) else {
        return Compared::default();
    };
    let mut differing = Vec::new();
    for (_, (output, ways)) in groups.iter().enumerate().filter(|(at, _)| *at != usual) {
        let what = difference(output, &groups[usual].0);
        let other = groups[usual].1[0];
        differing.extend(ways.iter().map(|way| Difference { way: *way, other, what: what.clone() }));
    }
    differing.sort_by_key(|one| one.way);
    Compared { differing, varying }
}

/// The first difference, in words: of two lines that differ in a number alone, if there are such lines.
fn difference<'a>(output: &Normal<'a>, usual: &Normal<'a>) -> String {
    let (ours, others) = (output.without(usual), usual.without(output));
    let alike = ours
        .iter()
        .find_map(|one| Some((*one, *others.iter().find(|other| mask(other) == mask(one))?)))
        .or_else(|| Some((*ours.first()?, *others.first()?)));
    match (alike, &ours[..], &others[..]) {
        (Some((one, other)), ..) => format!("prints {} instead of {}", quoted(one), quoted(other)),
        (None, [one, ..], _) => format!("also prints {}", quoted(one)),
        (None, [], [other, ..]) => format!("does not print {}", quoted(other)),
        (None, [], []) => format!("prints something else after the first {} MiB", KEPT >> 20),
    }
}

fn quoted(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let printable: String =
        text.trim().chars().map(|one| if one.is_control() { ' ' } else { one }).take(QUOTED).collect();
    format!("\"{printable}\"")
}

/// The kind of a byte of a line.
#[derive(PartialEq, Eq)]
enum Byte {
    Word,
    Blank,
    Sign,
}

impl Byte {
    fn of(byte: u8) -> Byte {
        match byte {
            b'.' | b'+' | b'-' | b'_' => Byte::Word,
            byte if byte.is_ascii_alphanumeric() => Byte::Word,
            byte if byte.is_ascii_whitespace() => Byte::Blank,
            _ => Byte::Sign,
        }
    }
}

/// A line with a sign for each word that has a digit, and without blanks: columns move if a number grows.
fn mask(line: &[u8]) -> Vec<u8> {
    let mut masked: Vec<u8> = Vec::with_capacity(line.len());
    for chunk in line.chunk_by(|a, b| Byte::of(*a) == Byte::of(*b)) {
        match Byte::of(chunk[0]) {
            Byte::Blank => {}
            Byte::Word if chunk.iter().any(u8::is_ascii_digit) => masked.push(b'#'),
            // Two words stay two words.
            Byte::Word => masked.extend(chunk.iter().chain(b" ")),
            Byte::Sign => masked.extend_from_slice(chunk),
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(way: usize, texts: &[&str]) -> Printed {
        let outputs = texts.iter().map(|text| Output::of(text.as_bytes()).expect("bytes")).collect();
        Printed { processes: 2, way, outputs }
    }

    fn compared(all: &[Printed]) -> Compared {
        compare(all.iter())
    }

    #[test]
    fn outputs_agree_in_any_order_of_lines() {
        let all = [printed(0, &["a\nb\n", "b\na\n"]), printed(1, &["b\na\n", "a\nb\n"])];
        assert_eq!(compared(&all), Compared::default());
    }

    #[test]
    fn the_one_that_differs_from_most_is_named() {
        let all = [printed(0, &["result 41\n"]), printed(1, &["result 42\n"]), printed(2, &["result 42\n"])];
        let what = "prints \"result 41\" instead of \"result 42\"".to_owned();
        assert_eq!(compared(&all).differing, [Difference { way: 0, other: 1, what }]);
    }

    #[test]
    fn numbers_that_change_under_one_system_are_not_compared() {
        let all = [
            printed(0, &["took  9.5 s\nsum 7\n", "took 10.25 s\nsum 7\n"]),
            printed(1, &["took 3 s\nsum 7\n", "took 3 s\nsum 7\n"]),
        ];
        let found = compared(&all);
        assert_eq!(found.differing, []);
        let [first, second] = found.varying.expect("the time changes");
        assert_eq!((first.as_str(), second.as_str()), ("\"took  9.5 s\"", "\"took 10.25 s\""));
    }

    #[test]
    fn columns_of_a_table_may_move_beside_its_signs() {
        let all = [
            printed(0, &["Comm    | 0.0032774  |   0.0\n", "Comm    | 0.003  | 10.0\n"]),
            printed(1, &["Comm    | 0.00261    |   0.0\n", "Comm    | 0.00262    |   0.0\n"]),
        ];
        assert_eq!(compared(&all).differing, []);
    }

    #[test]
    fn line_that_changes_in_a_later_run_only_is_not_compared() {
        let all = [
            printed(0, &["99.9% CPU\n", "99.9% CPU\n", "99.9% CPU\n", "100.0% CPU\n"]),
            printed(1, &["99.8% CPU\n", "99.8% CPU\n"]),
        ];
        assert_eq!(compared(&all).differing, []);
    }

    #[test]
    fn a_wrong_result_beside_a_time_is_found() {
        let all = [
            printed(0, &["took 1 s\nsum 8\n", "took 2 s\nsum 8\n"]),
            printed(1, &["took 3 s\nsum 7\n", "took 4 s\nsum 7\n"]),
        ];
        assert_eq!(compared(&all).differing[0].what, "prints \"sum 7\" instead of \"sum 8\"");
    }

    #[test]
    fn quoted_lines_are_those_that_the_program_printed() {
        let all = [
            printed(0, &["began 10:31\nsum 8\n", "began 10:32\nsum 8\n"]),
            printed(1, &["Ended\nsum 7\n", "Ended\nsum 7\n"]),
        ];
        assert_eq!(compared(&all).differing[0].what, "prints \"sum 7\" instead of \"sum 8\"");
        let all = [printed(0, &["began 10:31\n", "began 10:32\n"]), printed(1, &["none\n"])];
        assert_eq!(compared(&all).differing[0].what, "prints \"none\" instead of \"began 10:31\"");
    }

    #[test]
    fn line_with_a_version_is_not_compared() {
        let all =
            [printed(0, &["# MPI Version : 4.1\nsum 7\n"]), printed(1, &["# MPI Version : 4.0\nsum 7\n"])];
        assert_eq!(compared(&all), Compared::default());
    }

    #[test]
    fn missing_and_surplus_lines_are_quoted() {
        let all = [printed(0, &["a\nb\n"]), printed(1, &["a\n"]), printed(2, &["\n\na\nb\nc\n"])];
        let what: Vec<String> = compared(&all).differing.into_iter().map(|one| one.what).collect();
        assert_eq!(what, ["does not print \"b\"", "also prints \"c\""]);
    }

    #[test]
    fn an_output_of_any_size_is_compared_whole() {
        let long = "0123456789\n".repeat(KEPT / 10);
        let other = format!("{long}x\n");
        let (one, other) = (printed(0, &[&long]), printed(1, &[&other]));
        assert!(one.outputs[0].lines.len() * 11 <= KEPT);
        assert_eq!(compared(&[one.clone(), printed(1, &[&long])]), Compared::default());
        let found = compared(&[one, other]);
        assert_eq!(found.differing[0].what, "prints something else after the first 1 MiB");
    }

    #[test]
    fn a_line_without_end_is_read_in_parts() {
        let endless = "x".repeat(3 * LINE as usize);
        assert_eq!(printed(0, &[&endless]).outputs[0].lines.len(), 3);
    }
}
