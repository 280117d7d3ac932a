//! Puts the tasks' lines on our own streams, never one inside another; or into files.

use parvum_wire::Tid;
use parvum_wire::control::Stream;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A line without an end longer than this is written in pieces.
const LONGEST_LINE: usize = 64 * 1024;

/// What is known of a task that writes.
#[derive(Clone)]
pub struct Who {
    pub rank: Option<u32>,
    pub host: String,
}

/// Why nothing more can be written.
pub enum Closed {
    /// Whoever read it has gone.
    Pipe,
    /// What could not be done, and the system's reason.
    Error(String, io::Error),
}

/// What stands in front of each line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Nothing,
    Tid,
    Rank,
    /// As MPICH shows ranks.
    Brackets,
}

pub struct Printer {
    mark: Mark,
    known: HashMap<Tid, Who>,
    /// Beginnings of lines.
    partial: HashMap<(Tid, Stream), Vec<u8>>,
    /// The last thing on a stream was a line without an end.
    dangling: HashMap<Stream, Tid>,
    /// How the files are named that take standard output and standard error instead.
    patterns: [Option<String>; 2],
    files: HashMap<PathBuf, File>,
    pub closed: Option<Closed>,
}

impl Printer {
    pub fn new(tag: bool, label: bool, pattern: Option<String>) -> Printer {
        let mark = match (tag, label) {
            (true, _) => Mark::Tid,
            (_, true) => Mark::Rank,
            _ => Mark::Nothing,
        };
        let pattern = pattern.map(whole_pattern);
        Printer {
            mark,
            known: HashMap::new(),
            partial: HashMap::new(),
            dangling: HashMap::new(),
            patterns: [pattern.clone(), pattern],
            files: HashMap::new(),
            closed: None,
        }
    }

    /// As MPICH's launcher does: ranks in brackets, and files as they are named.
    pub fn like_mpich(mut self, out: Option<String>, err: Option<String>) -> Printer {
        if self.mark == Mark::Rank {
            self.mark = Mark::Brackets;
        }
        for (pattern, given) in self.patterns.iter_mut().zip([out, err]) {
            *pattern = given.or(pattern.take());
        }
        self
    }

    /// Says who a task is.
    pub fn know(&mut self, tid: Tid, who: Who) {
        self.known.insert(tid, who);
    }

    pub fn print(&mut self, tid: Tid, stream: Stream, data: &[u8]) {
        if let Some(pattern) = &self.patterns[usize::from(stream == Stream::Err)] {
            let path = PathBuf::from(self.file_name(pattern, tid, stream));
            if let Err(error) = self.add_to_file(&path, data) {
                let what = format!("write the output of {tid} to {}", path.display());
                self.closed.get_or_insert(Closed::Error(what, error));
            }
            return;
        }
        let end = data.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let (lines, rest) = data.split_at(end);
        let mut begun = self.partial.remove(&(tid, stream)).unwrap_or_default();
        if !lines.is_empty() {
            begun.extend_from_slice(lines);
            self.write(tid, stream, &begun);
            begun.clear();
        }
        begun.extend_from_slice(rest);
        if begun.len() > LONGEST_LINE {
            self.write(tid, stream, &begun);
            begun.clear();
        }
        if !begun.is_empty() {
            self.partial.insert((tid, stream), begun);
        }
    }

    /// The task has ended: what it began is all there will be.
    pub fn finish(&mut self, tid: Tid) {
        for stream in [Stream::Out, Stream::Err] {
            if let Some(begun) = self.partial.remove(&(tid, stream)) {
                self.write(tid, stream, &begun);
            }
        }
    }

    fn add_to_file(&mut self, path: &Path, data: &[u8]) -> io::Result<()> {
        if !self.files.contains_key(path) {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            self.files.insert(path.to_owned(), File::create(path)?);
        }
        match self.files.get_mut(path) {
            Some(file) => file.write_all(data),
            None => Ok(()),
        }
    }

    /// What the pattern says for that task and stream.
    fn file_name(&self, pattern: &str, tid: Tid, stream: Stream) -> String {
        let mut name = String::new();
        let mut letters = pattern.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                name.push(letter);
                continue;
            }
            match letters.next() {
                Some('r') => name += &self.number(tid),
                Some('t') => name += &tid.to_string(),
                Some('h') => name += self.known.get(&tid).map_or("unknown", |who| &who.host),
                Some('s') => name += if stream == Stream::Out { "out" } else { "err" },
                Some('%') => name.push('%'),
                Some(other) => name.extend(['%', other]),
                None => name.push('%'),
            }
        }
        name
    }

    /// The task's number among those of the job; its id when a task has spawned it.
    fn number(&self, tid: Tid) -> String {
        let rank = self.known.get(&tid).and_then(|who| who.rank);
        rank.map_or_else(|| tid.to_string(), |rank| rank.to_string())
    }

    fn write(&mut self, tid: Tid, stream: Stream, text: &[u8]) {
        let mut bytes = Vec::new();
        let last = self.dangling.remove(&stream);
        if last.is_some_and(|last| last != tid) {
            bytes.push(b'\n');
        }
        let mark = match self.mark {
            Mark::Nothing => None,
            Mark::Tid => Some(format!("{tid}: ")),
            Mark::Rank => Some(format!("{}: ", self.number(tid))),
            Mark::Brackets => Some(format!("[{}] ", self.number(tid))),
        };
        if let Some(mark) = &mark {
            for (i, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
                if i > 0 || last != Some(tid) {
                    bytes.extend_from_slice(mark.as_bytes());
                }
                bytes.extend_from_slice(line);
            }
        }
        if !text.ends_with(b"\n") {
            self.dangling.insert(stream, tid);
        }
        let text = if mark.is_some() { &[][..] } else { text };
        let written = match stream {
            Stream::Out => put(&mut io::stdout().lock(), &bytes, text),
            Stream::Err => put(&mut io::stderr().lock(), &bytes, text),
        };
        if let Err(error) = written {
            self.closed.get_or_insert(match error.kind() {
                io::ErrorKind::BrokenPipe => Closed::Pipe,
                _ => Closed::Error("write the tasks' output".into(), error),
            });
        }
    }
}

/// A folder takes a file for each task and stream, and so does a name that says nothing of them.
fn whole_pattern(given: String) -> String {
    if given.ends_with('/') || Path::new(&given).is_dir() {
        format!("{}/%r.%s", given.trim_end_matches('/'))
    } else if given.contains('%') {
        given
    } else {
        format!("{given}.%r.%s")
    }
}

fn put(to: &mut impl Write, before: &[u8], text: &[u8]) -> io::Result<()> {
    to.write_all(before)?;
    to.write_all(text)?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_file_names_contain_rank_task_and_host() {
        let mut printer = Printer::new(false, false, Some("out/%r-%t-%h.%s".into()));
        printer.know(Tid(0x40001), Who { rank: Some(3), host: "alpha".into() });
        let name = |printer: &Printer, tid, stream| {
            printer.file_name(printer.patterns[0].as_deref().unwrap_or_default(), Tid(tid), stream)
        };
        assert_eq!(name(&printer, 0x40001, Stream::Out), "out/3-t40001-alpha.out");
        assert_eq!(name(&printer, 0x40002, Stream::Err), "out/t40002-t40002-unknown.err");
        assert_eq!(whole_pattern("job".into()), "job.%r.%s");
        assert_eq!(whole_pattern("some/where/".into()), "some/where/%r.%s");
        assert_eq!(whole_pattern("/".into()), "/%r.%s");
    }
}
