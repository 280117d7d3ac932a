//! Recordings of the tasks of this host, for `parvum trace`. They stay when their task has ended, until its runner, which fetches
//! them, is gone.

use crate::daemon::tasks::io::Fd;
use parvum_control::{Clock, Moment, RECORD_BYTES, Recording, monotonic_ns};
use parvum_wire::Tid;
use parvum_wire::control::{Blob, Recorded, RecordedTask, Recorder};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The recordings of tasks that have ended take no more memory than this, nor more places; then the oldest go.
const MOST_BYTES: u64 = 1 << 30;
const MOST_ENDED: usize = 8192;

/// Tasks of a job mostly have the same words. So many different texts go home at most, and tasks with others have none.
const MOST_TEXTS: usize = 64;

/// So many records go home at once.
const AT_ONCE: usize = 8192;

/// All recordings of this host.
#[derive(Default)]
pub(crate) struct Recordings {
    kept: BTreeMap<Tid, RecordingFile>,
    /// Those that have ended, in the order of their ends, with the memory that each takes.
    ended: VecDeque<(Tid, u64)>,
    /// How many of each job could not be made or kept.
    thrown_away: HashMap<Tid, u64>,
}

struct RecordingFile {
    job: Tid,
    name: String,
    recording: Recording,
    ended: u64,
}

impl Recordings {
    /// A recording for a task, to be handed on.
    pub fn begin(&mut self, tid: Tid, job: Tid, recorder: Recorder) -> Option<Fd> {
        // A task runs as well without one.
        let Ok((recording, file)) = Recording::create(recorder.bytes, recorder.processor_time) else {
            *self.thrown_away.entry(job).or_default() += 1;
            return None;
        };
        self.insert(tid, RecordingFile { job, name: String::new(), recording, ended: 0 });
        Some(Rc::new(file))
    }

    /// One that was made before its task had an id.
    pub fn adopt(&mut self, tid: Tid, job: Tid, file: &Fd) {
        if let Ok(recording) = Recording::open(&**file)
            && !self.kept.contains_key(&tid)
        {
            self.insert(tid, RecordingFile { job, name: String::new(), recording, ended: 0 });
        }
    }

    fn insert(&mut self, tid: Tid, kept: RecordingFile) {
        if let Some(earlier) = self.kept.insert(tid, kept) {
            // The id has gone round.
            *self.thrown_away.entry(earlier.job).or_default() += 1;
            self.ended.retain(|(ended, _)| *ended != tid);
        }
    }

    pub fn name(&mut self, tid: Tid, name: &str) {
        if let Some(kept) = self.kept.get_mut(&tid) {
            kept.name = name.to_owned();
        }
    }

    /// The task is gone.
    pub fn end(&mut self, tid: Tid, now: u64) {
        let Some(kept) = self.kept.get_mut(&tid) else { return };
        kept.ended = now;
        let records = kept.recording.ring().written().min(kept.recording.capacity());
        self.ended.push_back((tid, records * RECORD_BYTES as u64));
        let too_many = |ended: &VecDeque<(Tid, u64)>| {
            ended.len() > MOST_ENDED || ended.iter().map(|(_, bytes)| bytes).sum::<u64>() > MOST_BYTES
        };
        while too_many(&self.ended) {
            let Some(oldest) = self.ended.pop_front().and_then(|(tid, _)| self.kept.remove(&tid)) else {
                continue;
            };
            *self.thrown_away.entry(oldest.job).or_default() += 1;
        }
    }

    /// There is no such task after all.
    pub fn remove(&mut self, tid: Tid) {
        self.kept.remove(&tid);
    }

    /// Nobody will fetch what was recorded of that job.
    pub fn forget(&mut self, job: Tid) {
        self.kept.retain(|_, kept| kept.job != job);
        self.ended.retain(|(tid, _)| self.kept.contains_key(tid));
        self.thrown_away.remove(&job);
    }

    pub fn describe(&self, recorded: &mut Recorded) {
        let job = recorded.job;
        let texts = &mut recorded.words;
        let row = |(tid, kept): (&Tid, &RecordingFile)| {
            let Moment { ticks, monotonic } = kept.recording.began();
            RecordedTask {
                tid: *tid,
                name: kept.name.clone(),
                began: (ticks, monotonic),
                ended: kept.ended,
                written: kept.recording.ring().written(),
                kept: kept.recording.capacity(),
                routes: kept.recording.routes(),
                words: place_of(texts, kept.recording.words()),
            }
        };
        recorded.tasks = self.kept.iter().filter(|(_, kept)| kept.job == job).map(row).collect();
        recorded.thrown_away = self.thrown_away.get(&job).copied().unwrap_or(0);
        let Moment { ticks, monotonic } = Clock::of_this_host().moment();
        let passed = monotonic_ns() - monotonic;
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        recorded.now = (ticks, monotonic, since_1970 - passed);
    }

    pub fn piece(&self, tid: Tid, from: &mut u64, data: &mut Blob) {
        let Some(kept) = self.kept.get(&tid) else { return };
        let (first, records) = kept.recording.ring().read(*from, AT_ONCE);
        *from = first;
        data.0 = records.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
    }
}

/// The place of a text among those that go home.
fn place_of(texts: &mut Vec<String>, text: String) -> u32 {
    let place = texts.iter().position(|known| *known == text).unwrap_or(texts.len());
    if place == texts.len() && place < MOST_TEXTS {
        texts.push(text);
    }
    place as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_control::Happening;

    fn tid(local: u32) -> Tid {
        Tid::new(1, local).expect("in range")
    }

    fn told(recordings: &Recordings, job: Tid) -> Recorded {
        let (tasks, words) = (Vec::new(), Vec::new());
        let mut recorded = Recorded { job, host: tid(0), tasks, words, thrown_away: 0, now: (0, 0, 0) };
        recordings.describe(&mut recorded);
        recorded
    }

    fn of(bytes: u64) -> Recorder {
        Recorder { bytes, processor_time: false }
    }

    #[test]
    fn recording_outlives_task_and_ends_with_runner() {
        let mut recordings = Recordings::default();
        let file = recordings.begin(tid(2), tid(1), of(1 << 16)).expect("made");
        recordings.begin(tid(9), tid(8), of(1 << 16)).expect("made");
        recordings.name(tid(2), "ring");
        let task = Recording::open(&*file).expect("a recording");
        task.write_words("call csend\n");
        (0..3).for_each(|_| task.record(Happening::GoesOn));
        drop((task, file));
        recordings.end(tid(2), 77);
        let recorded = told(&recordings, tid(1));
        let [row] = &recorded.tasks[..] else { panic!("{recorded:?}") };
        assert_eq!((row.name.as_str(), row.ended, row.written), ("ring", 77, 3));
        assert_eq!((recorded.words.as_slice(), row.words), (&["call csend\n".to_owned()][..], 0));
        assert!(recorded.now.0 >= row.began.0 && recorded.now.1 >= row.began.1 && recorded.now.2 > 1 << 60);
        let (mut from, mut data) = (1, Blob(Vec::new()));
        recordings.piece(tid(2), &mut from, &mut data);
        assert_eq!((from, data.0.len()), (1, 2 * RECORD_BYTES));
        recordings.forget(tid(1));
        assert_eq!(told(&recordings, tid(1)).tasks, []);
        assert_eq!(told(&recordings, tid(8)).tasks.len(), 1);
    }

    #[test]
    fn recordings_beyond_limit_drop_oldest_and_count_them() {
        let mut recordings = Recordings::default();
        for local in 2..MOST_ENDED as u32 + 5 {
            recordings.begin(tid(local), tid(1), of(4096)).expect("made");
            recordings.end(tid(local), local.into());
        }
        let recorded = told(&recordings, tid(1));
        assert_eq!((recorded.tasks.len(), recorded.thrown_away), (MOST_ENDED, 3));
        assert_eq!(recorded.tasks[0].tid, tid(5), "the oldest are gone");
        assert_eq!(recorded.words, [""], "all have the same words");
    }
}
