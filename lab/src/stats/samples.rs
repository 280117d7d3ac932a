//! The lines of samples that the programs write, read strictly: a damaged file is refused, not guessed at.

use crate::error::LabError;
use crate::stats::histogram;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The programs that have several forms.
const FORMED: [&str; 6] = ["token", "exchange", "vector", "threads", "window", "arrival"];

/// The NAS benchmarks, which say what each iteration took besides its time.
const APPLIED: [&str; 3] = ["lu", "sp", "bt"];

/// One line: one size of one program in one launch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Which program wrote it.
    pub program: String,
    /// The operation of a group of tasks, or the part of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Which of a program's forms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// pvm, mpi, nx or cmmd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub face: Option<String>,
    /// As the program was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// As the program was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// Which floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<String>,
    /// Which layer of a message's way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// How many tasks.
    pub tasks: u32,
    /// Bytes, or points of a transform.
    pub size: u64,
    /// How many hops or copies each sample holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// The first message of this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_ns: Option<u64>,
    /// Samples dropped as warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u32>,
    /// Samples whose tasks did not start together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<u32>,
    /// Whether the contents were verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// A transform's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// The samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples_ns: Vec<u64>,
    /// Samples that are too many to list: the least of each bucket, and how many fell into the bucket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<[u64; 2]>,
    /// Which guideline: `allreduce <= reduce + bcast`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guideline: Option<String>,
    /// The same result made from other collectives, right before or after each sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mock_up_ns: Vec<u64>,
    /// The communication that the program began before it computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<String>,
    /// The same communication without computation, right before each sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alone_ns: Vec<u64>,
    /// By how much the last tasks enter a collective later than the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_ns: Option<u64>,
    /// By how much the tasks' clocks may differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ns: Option<u64>,
    /// Instructions of each message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<u64>,
    /// System calls of each message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<u64>,
    /// Cache misses of each message, if the kernel has a counter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<u64>,
    /// Each task's time, by task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wall_ns: Vec<Vec<u64>>,
    /// Each task's time blocked in receives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wait_ns: Vec<Vec<u64>>,
    /// Each task's time packing, sending and unpacking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub communication_ns: Vec<Vec<u64>>,
    /// Computation in each sample: what it takes alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_ns: Option<u64>,
    /// Bytes that passed a master in each sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<u64>,
    /// By how much the daemon grew at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon_kib: Option<u64>,
    /// Counts of Parvum's ledger, over all tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// What an iteration of LU, SP or BT took besides its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// The memory of each task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Why a floor could not be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// A blocked task: processor time, elapsed time and memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<Blocked>,
}

/// An operation of a group of tasks, or a part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// All wait for all.
    Barrier,
    /// One to all.
    Broadcast,
    /// The sum of all, to one.
    Reduce,
    /// All to one.
    Gather,
    /// The sum of all, to all.
    AllReduce,
    /// Everybody's, to all.
    AllGather,
    /// To each its part of everybody's.
    AllToAll,
    /// Half a round trip, as the program `loggp` measures it.
    Half,
    /// The call that sends, alone.
    Send,
    /// The call that receives what is there.
    Receive,
    /// One of many messages in a row.
    Gap,
}

impl Operation {
    /// As programs write it, and the metric of its rows.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Barrier => "barrier",
            Operation::Broadcast => "broadcast",
            Operation::Reduce => "reduce",
            Operation::Gather => "gather",
            Operation::AllReduce => "allreduce",
            Operation::AllGather => "allgather",
            Operation::AllToAll => "alltoall",
            Operation::Half => "half",
            Operation::Send => "send",
            Operation::Receive => "receive",
            Operation::Gap => "gap",
        }
    }
}

/// The forms of a program that has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Token ring: every receive is posted before its message is sent.
    Posted,
    /// Token ring: no message is received before it has come.
    Unposted,
    /// The call alone in which a message is copied to or from a buffer.
    Copy,
    /// Exchange: compute, send, receive.
    Blocking,
    /// Exchange: post, begin to send, compute, wait.
    Overlapped,
    /// The same, all receives posted before any send.
    Synchronised,
    /// The same, with messages that are dropped rather than buffered.
    Forced,
    /// Vector: every second double.
    Second,
    /// Vector: every sixteenth double.
    Sixteenth,
    /// Threads: one in each task.
    One,
    /// Threads: four in each task.
    Four,
    /// Window: into another's memory.
    Put,
    /// Window: from another's memory.
    Get,
    /// Window: another's counter, counted on.
    Fetch,
    /// Arrival: all tasks enter at one moment.
    Together,
    /// Arrival: the last task enters later.
    Last,
    /// Arrival: each task enters later than the one before.
    Ramp,
    /// Arrival: the second half of the tasks enters later.
    Half,
}

impl Form {
    /// As programs write it.
    pub fn name(self) -> &'static str {
        match self {
            Form::Posted => "posted",
            Form::Unposted => "unposted",
            Form::Copy => "copy",
            Form::Blocking => "blocking",
            Form::Overlapped => "overlapped",
            Form::Synchronised => "synchronised",
            Form::Forced => "forced",
            Form::Second => "second",
            Form::Sixteenth => "sixteenth",
            Form::One => "one",
            Form::Four => "four",
            Form::Put => "put",
            Form::Get => "get",
            Form::Fetch => "fetch",
            Form::Together => "together",
            Form::Last => "last",
            Form::Ramp => "ramp",
            Form::Half => "half",
        }
    }
}

/// What the ledger counted of the messages of one line: bytes, but for `sent`, `unexpected` and `discarded`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Messages.
    pub sent: u64,
    /// Bytes in them.
    pub sent_bytes: u64,
    /// Copied into a transport, and out of it.
    pub copied: u64,
    /// Copied straight from the sender's memory.
    pub fetched: u64,
    /// Buffered at the receiver.
    pub buffered_here: u64,
    /// Buffered at the sender.
    pub buffered_at_sender: u64,
    /// Messages that came before their receive.
    pub unexpected: u64,
    /// Messages thrown away.
    pub discarded: u64,
}

/// The costs of an iteration of LU, SP or BT, as its layer of calls counts and times it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Applied {
    /// In calls of the layer: of the task that was there longest.
    pub layer_ns: u64,
    /// The mean of all tasks.
    pub layer_mean_ns: u64,
    /// Processor time of all tasks in these calls.
    pub layer_processor_ns: u64,
    /// Processor time of all tasks.
    pub processor_ns: u64,
    /// By how much it took longer than the computing alone would, shared evenly by the cores.
    pub beyond_ns: u64,
    /// Messages that all tasks sent.
    pub messages: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Hosts that the tasks were on.
    pub hosts: u32,
}

/// The memory of each task, in KiB: its private pages, and its part of the pages that it shares with others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// When all tasks have started.
    pub opened_kib: Vec<u64>,
    /// When each has exchanged a message with each other.
    pub met_kib: Vec<u64>,
}

/// Resources that a blocked task used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocked {
    /// Processor time.
    pub cpu_ns: u64,
    /// Time blocked.
    pub wall_ns: u64,
    /// Its largest resident size.
    pub resident_kib: u64,
}

impl Line {
    /// The samples as times of one hop, copy or transform.
    pub fn each(&self) -> impl Iterator<Item = f64> + '_ {
        let hops = f64::from(self.hops.unwrap_or(1));
        self.samples_ns.iter().map(move |ns| *ns as f64 / hops)
    }

    fn check(self) -> Result<Line, String> {
        let of_group = self.operation.map(|what| what <= Operation::AllToAll);
        let wanted = match self.program.as_str() {
            "group" | "arrival" => Some(true),
            "loggp" | "counted" => Some(false),
            _ => None,
        };
        if of_group != wanted {
            return Err(
                "an operation belongs to the programs group, arrival, loggp and counted, and to no other"
                    .into(),
            );
        }
        if FORMED.contains(&self.program.as_str()) != self.form.is_some() {
            return Err(format!("a form belongs to the programs {}, and to no other", FORMED.join(", ")));
        }
        if self.program == "halves" && self.work_ns.is_none_or(|work| work == 0) {
            return Err("halves of no work".into());
        }
        if (self.program == "layers") != self.layer.is_some() {
            return Err("a layer belongs to the program layers, and to no other".into());
        }
        if (self.program == "pvmtime") != self.moved.is_some_and(|bytes| bytes > 0) {
            return Err("bytes that passed a master belong to the program pvmtime, and to no other".into());
        }
        if APPLIED.contains(&self.program.as_str()) != self.applied.is_some() {
            return Err("what an iteration took belongs to the programs lu, sp, bt, and to no other".into());
        }
        if self.layer.is_some() && self.route.is_none() {
            return Err("a layer of no route".into());
        }
        if self.tasks == 0 {
            return Err("no tasks".into());
        }
        if self.hops == Some(0) {
            return Err("a sample of no hops".into());
        }
        if (self.program == "counted") == self.instructions.is_empty() {
            return Err("instructions belong to the program counted, and to no other".into());
        }
        if (self.program == "tail") == self.histogram.is_empty() {
            return Err("a histogram belongs to the program tail, and to no other".into());
        }
        histogram::check(&self.histogram)?;
        let has_guideline = self.guideline.is_some() && self.mock_up_ns.len() == self.samples_ns.len();
        if (self.program == "guidelines") != has_guideline || !has_guideline && !self.mock_up_ns.is_empty() {
            return Err("a guideline, with a mock-up beside each sample, belongs to the program guidelines, and to no other".into());
        }
        let has_overlap = self.begun.is_some()
            && self.alone_ns.len() == self.samples_ns.len()
            && self.work_ns.is_some_and(|work| work > 0);
        if (self.program == "overlap") != has_overlap || !has_overlap && !self.alone_ns.is_empty() {
            return Err("begun communication, with a time alone beside each sample, belongs to the program overlap, and to no other".into());
        }
        let of_all = |memory: &Memory| {
            [&memory.opened_kib, &memory.met_kib].iter().all(|all| all.len() == self.tasks as usize)
        };
        let has_memory = self.memory.as_ref().is_some_and(of_all);
        if (self.program == "growth") != has_memory || !has_memory && self.memory.is_some() {
            return Err("the memory of each task belongs to the program growth, and to no other".into());
        }
        let has_result = self.refused.is_some()
            || self.blocked.is_some()
            || self.memory.is_some()
            || !self.instructions.is_empty()
            || !self.histogram.is_empty();
        if !has_result && self.samples_ns.is_empty() {
            return Err("no samples".into());
        }
        if self.verified == Some(false) {
            return Err("contents were not verified".into());
        }
        for split in [&self.wall_ns, &self.wait_ns, &self.communication_ns] {
            let whole =
                split.len() == self.tasks as usize && split.iter().all(|t| t.len() == self.samples_ns.len());
            if !split.is_empty() && !whole {
                return Err("the split does not cover every task and sample".into());
            }
        }
        Ok(self)
    }
}

/// Reads one line.
pub fn parse_line(text: &str) -> Result<Line, String> {
    serde_json::from_str::<Line>(text).map_err(|e| e.to_string())?.check()
}

/// Reads the file of one launch.
pub fn read(path: &Path) -> Result<Vec<Line>, LabError> {
    let text = std::fs::read_to_string(path).map_err(LabError::file("read", path))?;
    let damaged = |line: usize, why: String| LabError::Samples { path: path.to_owned(), line, why };
    let lines: Vec<Line> = text
        .lines()
        .enumerate()
        .map(|(at, line)| parse_line(line).map_err(|why| damaged(at + 1, why)))
        .collect::<Result<_, _>>()?;
    if lines.is_empty() {
        return Err(damaged(1, "the file is empty".into()));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RING: &str = r#"{"program":"ring","face":"pvm","encoding":"raw","route":"direct","tasks":2,"size":8,"hops":8,"cold_ns":24000,"dropped":33,"verified":true,"samples_ns":[80,160]}"#;

    const TAIL_UNORDERED: &str =
        r#"{"program":"tail","tasks":2,"size":8,"hops":2,"histogram":[[9,1],[8,1]]}"#;
    const GROWTH_SHORT: &str =
        r#"{"program":"growth","tasks":2,"size":0,"memory":{"opened_kib":[1,2],"met_kib":[1]}}"#;
    const OVERLAP_SHORT: &str = r#"{"program":"overlap","begun":"exchange","tasks":2,"size":8,"work_ns":9,"samples_ns":[1,2],"alone_ns":[1]}"#;
    const GUIDELINE_SHORT: &str = r#"{"program":"guidelines","guideline":"a <= b","tasks":2,"size":8,"samples_ns":[1,2],"mock_up_ns":[1]}"#;

    #[test]
    fn ring_line_parses() {
        let line = parse_line(RING).unwrap();
        assert_eq!(line.size, 8);
        assert_eq!(line.each().collect::<Vec<_>>(), [10.0, 20.0]);
    }

    #[test]
    fn invalid_lines_are_refused_with_reason() {
        let cases = [
            ("", "EOF"),
            (&RING[..40], "EOF"),
            (&RING.replace("[80,160]", "[]"), "no samples"),
            (&RING.replace("[80,160]", "[-1]"), "invalid value"),
            (&RING.replace("\"hops\":8", "\"hops\":0"), "no hops"),
            (&RING.replace("\"tasks\":2", "\"tasks\":0"), "no tasks"),
            (&RING.replace("\"verified\":true", "\"verified\":false"), "not verified"),
            (&RING.replace("\"face\"", "\"fase\""), "unknown field"),
            (&RING.replace("}", ",\"wait_ns\":[[1,2]]}"), "split"),
            (&RING.replace("}", ",\"operation\":\"barrier\"}"), "belongs to"),
            (&RING.replace("\"ring\"", "\"group\""), "belongs to"),
            (&RING.replace("\"ring\"", "\"token\""), "belongs to"),
            (&RING.replace("\"ring\"", "\"window\""), "belongs to"),
            (&RING.replace("\"ring\"", "\"halves\""), "no work"),
            (&RING.replace("}", ",\"form\":\"posted\"}"), "belongs to"),
            (&RING.replace("}", ",\"layer\":\"cell\"}"), "belongs to"),
            (&RING.replace("\"ring\"", "\"layers\""), "belongs to"),
            (&RING.replace("\"ring\"", "\"pvmtime\""), "belong to"),
            (&RING.replace("\"ring\"", "\"lu\""), "belongs to"),
            (&RING.replace("}", ",\"moved\":9}"), "belong to"),
            (&RING.replace("}", ",\"instructions\":[9]}"), "belong to"),
            (&RING.replace("\"ring\"", "\"counted\""), "belongs to"),
            (&RING.replace("\"ring\"", "\"tail\""), "histogram belongs to"),
            (&RING.replace("}", ",\"histogram\":[[1,1]]}"), "histogram belongs to"),
            (&RING.replace("\"ring\"", "\"guidelines\""), "guideline"),
            (&RING.replace("}", ",\"guideline\":\"a <= b\",\"mock_up_ns\":[1,2]}"), "guideline"),
            (&RING.replace("}", ",\"mock_up_ns\":[1]}"), "guideline"),
            (&RING.replace("\"ring\"", "\"growth\""), "memory of each task"),
            (GROWTH_SHORT, "memory of each task"),
            (&GROWTH_SHORT.replace("growth", "ring"), "memory of each task"),
            (TAIL_UNORDERED, "not in order"),
            (GUIDELINE_SHORT, "mock-up beside each sample"),
            (OVERLAP_SHORT, "time alone beside each sample"),
            (r#"{"program":"layers","layer":"cell","tasks":2,"size":0,"samples_ns":[1]}"#, "no route"),
            (&RING.replace("}", ",\"operation\":\"scan\"}"), "unknown variant"),
        ];
        for (text, reason) in cases {
            let why = parse_line(text).unwrap_err();
            assert!(why.contains(reason), "{text}: {why}");
        }
    }

    #[test]
    fn damaged_file_error_names_its_line() {
        let path = std::env::temp_dir().join(format!("parvum-lab-samples-{}", std::process::id()));
        std::fs::write(&path, format!("{RING}\n{{\n")).unwrap();
        let message = read(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(message.contains("line 2"), "{message}");
    }

    proptest! {
        #[test]
        fn parser_accepts_or_refuses_any_text(text in ".{0,200}") {
            let _ = parse_line(&text);
        }

        #[test]
        fn sample_lines_survive_round_trip(samples in prop::collection::vec(any::<u64>(), 1..20), size in any::<u64>()) {
            let line = Line { program: "ring".into(), tasks: 2, size, samples_ns: samples, ..Line::default() };
            prop_assert_eq!(parse_line(&serde_json::to_string(&line).unwrap()).unwrap(), line);
        }
    }
}
