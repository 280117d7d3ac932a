//! PMI-1, which MPICH's Hydra and Slurm's `--mpi=pmi2` speak: a line each way, `cmd=NAME KEY=VALUE ...`, over a socket that the
//! process has inherited. The processes tell each other through it which tasks of the machine they are.

use super::{Place, refuse_several_machines};
use crate::errors::{Error, Mpi, class};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The variables of PMI-1.
pub(super) const VARIABLES: [&str; 6] =
    ["PMI_FD", "PMI_PORT", "PMI_ID", "PMI_SPAWNED", "PMI_RANK", "PMI_SIZE"];

/// The launcher of this process, over the inherited socket.
pub(super) type Inherited = Pmi<BufReader<File>>;

/// The launcher, if it has started this process as one of several. The variables alone do not tell: a child of such a process has
/// the variables as well, but not the socket.
pub(super) fn inherited() -> Found {
    let number = |name: &str| std::env::var(name).ok()?.parse::<i32>().ok();
    let Some(fd) = number("PMI_FD").filter(|fd| is_socket(*fd)) else { return Found::Nothing };
    match (number("PMI_RANK"), number("PMI_SIZE")) {
        // A launcher that has started one process: the variables of an outer launcher do not count.
        (_, Some(1)) => Found::Alone,
        (Some(rank), Some(size)) if (0..size).contains(&rank) => match take(fd) {
            Some(socket) => {
                let stream = BufReader::new(File::from(socket));
                Found::Several(Pmi::new(stream, rank as usize, size as usize))
            }
            None => Found::Nothing,
        },
        _ => Found::Nothing,
    }
}

/// The launcher of this process.
pub(super) enum Found {
    /// PMI-1 has not started it.
    Nothing,
    /// It is the only process.
    Alone,
    /// It is one of several.
    Several(Inherited),
}

fn is_socket(fd: i32) -> bool {
    // SAFETY: a number that is no open file is only found not to be one.
    unsafe {
        let mut stat = std::mem::zeroed();
        libc::fstat(fd, &mut stat) == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFSOCK
    }
}

/// Takes the inherited socket. Processes that this process starts do not get it.
fn take(fd: i32) -> Option<OwnedFd> {
    // SAFETY: the launcher gives the open file with this number to MPI.
    unsafe {
        let closes = libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) == 0;
        closes.then(|| OwnedFd::from_raw_fd(fd))
    }
}

/// How long a launcher may take to end those whose end was asked for.
const ABORTING: Duration = Duration::from_secs(5);

/// A stream both ways, of which lines are read.
pub(super) trait Lines: BufRead {
    fn send(&mut self, line: &[u8]) -> std::io::Result<()>;

    /// Reads give up after that time.
    fn limit(&mut self, _patience: Duration) {}
}

impl Lines for BufReader<File> {
    fn send(&mut self, line: &[u8]) -> std::io::Result<()> {
        self.get_mut().write_all(line)
    }

    fn limit(&mut self, patience: Duration) {
        // A socket it is, of whatever kind: `inherited` takes nothing else.
        let socket = self.get_ref().try_clone().map(|file| UnixStream::from(OwnedFd::from(file)));
        let _ = socket.and_then(|socket| socket.set_read_timeout(Some(patience)));
    }
}

/// The launcher, over a stream.
pub(super) struct Pmi<S> {
    stream: S,
    rank: usize,
    size: usize,
    /// The launcher takes nothing but `init` before.
    has_begun: bool,
}

/// Longer than any line of PMI-1 may be; a launcher that says more is none.
const LINE: u64 = 4096;

impl<S: Lines> Pmi<S> {
    fn new(stream: S, rank: usize, size: usize) -> Self {
        Pmi { stream, rank, size, has_begun: false }
    }

    /// Says that this process ends in peace: without that the launcher ends the others.
    pub(super) fn finish(&mut self) {
        // A launcher that is gone has nobody to end.
        let _ = self.ask("finalize", "finalize_ack");
    }

    /// Has all processes ended.
    pub(super) fn abort(&mut self, code: i32) {
        if !self.has_begun {
            return;
        }
        let _ = self.say(&format!("abort exitcode={code}"));
        // It ends this process with the others. One that is gone before it has acted makes Hydra die of SIGPIPE, code and all.
        self.await_end(ABORTING);
    }

    /// The tasks of all processes, in the order of their ranks. This process is `task`.
    pub(super) fn meet(&mut self, task: i32, host: &str) -> Mpi<Vec<i32>> {
        self.ask("init pmi_version=1 pmi_subversion=1", "response_to_init")?;
        self.has_begun = true;
        let space = self.ask("get_my_kvsname", "my_kvsname")?.value("kvsname")?;
        let place = Place { task, host: host.to_owned() };
        let own = format!("put kvsname={space} key=parvum-{} value={place}", self.rank);
        self.ask(&own, "put_result")?;
        self.ask("barrier_in", "barrier_out")?;
        let mut all = Vec::with_capacity(self.size);
        for rank in 0..self.size {
            let wanted = format!("get kvsname={space} key=parvum-{rank}");
            let told = self.ask(&wanted, "get_result")?.value("value")?;
            all.push(Place::read(&told).ok_or_else(|| strange(&told))?);
        }
        refuse_several_machines(all)
    }

    fn say(&mut self, words: &str) -> Mpi {
        let lost = |error| Error::new(class::OTHER, format!("the launcher does not listen: {error}"));
        self.stream.send(format!("cmd={words}\n").as_bytes()).map_err(lost)
    }

    /// Waits until the launcher has closed the stream, for so long between two words of its.
    fn await_end(&mut self, patience: Duration) {
        self.stream.limit(patience);
        let mut line = String::new();
        while (&mut self.stream).take(LINE).read_line(&mut line).is_ok_and(|read| read > 0) {
            line.clear();
        }
    }

    /// Says something, and takes the answer, which is to be of that kind.
    fn ask(&mut self, words: &str, kind: &str) -> Mpi<Answer> {
        self.say(words)?;
        let mut line = String::new();
        let read = (&mut self.stream).take(LINE).read_line(&mut line);
        let lost = |why: String| Error::new(class::OTHER, format!("the launcher does not answer: {why}"));
        if read.map_err(|error| lost(error.to_string()))? == 0 {
            return Err(lost("it has ended".into()));
        }
        Answer::of(&line, kind)
    }
}

/// A line of the launcher's.
#[derive(Debug)]
struct Answer(Vec<(String, String)>);

impl Answer {
    /// It must be of that kind, and no refusal.
    fn of(line: &str, kind: &str) -> Mpi<Answer> {
        if !line.ends_with('\n') {
            return Err(strange(line));
        }
        let pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
        let answer = Answer(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect());
        if answer.value("cmd")? != kind {
            return Err(strange(line));
        }
        match answer.value("rc") {
            Ok(code) if code != "0" => {
                Err(Error::new(class::OTHER, format!("the launcher has refused: {}", line.trim())))
            }
            _ => Ok(answer),
        }
    }

    fn value(&self, key: &str) -> Mpi<String> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.clone()).ok_or_else(|| strange(&format!("no {key}")))
    }
}

fn strange(what: &str) -> Error {
    Error::new(class::OTHER, format!("the launcher speaks no PMI-1: {:?}", what.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A launcher that says what it was told to, and remembers what it heard.
    struct Scripted(Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Scripted {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(room)
        }
    }

    impl BufRead for Scripted {
        fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
            self.0.fill_buf()
        }
        fn consume(&mut self, amount: usize) {
            self.0.consume(amount);
        }
    }

    impl Lines for Scripted {
        fn send(&mut self, line: &[u8]) -> std::io::Result<()> {
            self.1.extend(line);
            Ok(())
        }
    }

    fn meeting(said: &str) -> (Mpi<Vec<i32>>, String) {
        let stream = Scripted(Cursor::new(said.as_bytes().to_vec()), Vec::new());
        let mut launcher = Pmi::new(stream, 1, 2);
        let met = launcher.meet(0x40002, "alpha");
        (met, String::from_utf8(launcher.stream.1).unwrap())
    }

    const BEGINNING: &str = "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n\
        cmd=my_kvsname kvsname=kvs_7\ncmd=put_result rc=0 msg=success\ncmd=barrier_out rc=0\n";

    fn told(first: &str, second: &str) -> String {
        format!(
            "{BEGINNING}cmd=get_result rc=0 value={first}\ncmd=get_result value={second} msg=success rc=0\n"
        )
    }

    #[test]
    fn tasks_are_returned_in_rank_order() {
        let (met, heard) = meeting(&told("40001@alpha", "40002@alpha"));
        assert_eq!(met.unwrap(), [0x40001, 0x40002]);
        let wanted = "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_my_kvsname\n\
            cmd=put kvsname=kvs_7 key=parvum-1 value=40002@alpha\ncmd=barrier_in\n\
            cmd=get kvsname=kvs_7 key=parvum-0\ncmd=get kvsname=kvs_7 key=parvum-1\n";
        assert_eq!(heard, wanted);
        let (met, _) = meeting(&told("80001@beta", "40002@alpha"));
        assert_eq!(met.unwrap(), [0x80001, 0x40002]);
    }

    #[test]
    fn tasks_of_several_machines_are_refused() {
        for first in ["40002@alpha", "40001@beta", "80001@alpha"] {
            let error = meeting(&told(first, "40002@alpha")).0.unwrap_err();
            assert!(error.text.contains("several machines"), "{first}: {}", error.text);
        }
    }

    #[test]
    fn launcher_refuses_invalid_answer() {
        for (said, why) in [
            ("", "it has ended"),
            ("cmd=response_to_init rc=-1\n", "has refused: cmd=response_to_init rc=-1"),
            ("cmd=finalize_ack rc=0\n", "speaks no PMI-1"),
            ("hello\n", "no cmd"),
            ("cmd=response_to_init rc=0", "speaks no PMI-1"),
            ("cmd=response_to_init rc=0\ncmd=my_kvsname rc=0\n", "no kvsname"),
            (&told("40001", "40002@alpha"), "speaks no PMI-1"),
            (&told("here@alpha", "40002@alpha"), "speaks no PMI-1"),
        ] {
            let error = meeting(said).0.unwrap_err();
            assert!(error.text.contains(why), "{said:?}: {}", error.text);
        }
    }

    #[test]
    fn launcher_end_is_awaited_until_connection_closes() {
        let stream = Scripted(Cursor::new(b"cmd=a\ncmd=b\nhalf".to_vec()), Vec::new());
        let mut launcher = Pmi::new(stream, 1, 2);
        launcher.await_end(ABORTING);
        assert_eq!(launcher.stream.0.position(), 16);
    }

    #[test]
    fn launcher_line_without_end_is_bounded() {
        let error = meeting(&"x".repeat(3 * LINE as usize)).0.unwrap_err();
        assert!(error.text.contains("speaks no PMI-1"));
    }
}
