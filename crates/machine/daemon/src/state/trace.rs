//! What the daemon itself tells a tracer, in PVM's trace events: tasks that begin and end.

use super::*;
use parvum_wire::control::{Blob, OutputMessages, Spawned};
use parvum_wire::trace::DATA;
use parvum_wire::words::Words;

/// PVM's kinds of events, and of the data in them.
const NEW_TASK: i32 = 75;
const END_TASK: i32 = 76;
const SPAWNED_TASK: i32 = 77;
const SECONDS: i32 = 106;
const MICROSECONDS: i32 = 107;
const TASK: i32 = 88;
const PARENT: i32 = 89;
const FLAGS: i32 = 91;
const NAME: i32 = 92;
/// Exit status, then user and system time in seconds and microseconds.
const ENDINGS: std::ops::RangeInclusive<i32> = 98..=102;
const INT: i32 = 6;
const STRING: i32 = 12;

impl<F: Clone> Machine<F> {
    pub(super) fn trace_beginnings(&mut self, results: &[Result<Spawned, Failure>]) {
        for Spawned { tid, .. } in results.iter().flatten() {
            let Some(process) = self.processes.get(tid) else { continue };
            let Some(tracer) = process.trace else { continue };
            self.introduce_data(tracer);
            let Some(process) = self.processes.get(tid) else { continue };
            let parent = process.parent.map_or(0, |parent| parent.0);
            let (flag, name) = (process.flag, process.name.clone());
            self.trace_new_task(tracer, *tid, parent, flag, &name);
            let spawned = value(self.event_words(SPAWNED_TASK, "spntask", *tid), PARENT, parent).number(-6);
            self.trace(tracer, spawned);
        }
    }

    fn trace_new_task(&mut self, tracer: OutputMessages, tid: Tid, parent: i32, flag: i32, name: &str) {
        let begun = self.event_words(NEW_TASK, "newtask", tid);
        let begun = value(value(begun, PARENT, parent), FLAGS, flag);
        self.trace(tracer, begun.number(NAME).number(STRING).text(name.as_bytes()).number(-6));
    }

    /// A task that was started by hand has enrolled: a tracer of all tasks hears of it.
    pub(super) fn trace_guest(&mut self, tracer: OutputMessages, tid: Tid) {
        self.introduce_data(tracer);
        let task = &self.tasks[&tid];
        if task.process.is_none() && tracer.to != tid {
            let name = task.name.clone();
            self.trace_new_task(tracer, tid, 0, 0, &name);
            self.tasks.get_mut(&tid).expect("just seen").trace = Some(tracer);
        }
    }

    pub(super) fn trace_end(&mut self, tid: Tid, tracer: Option<OutputMessages>) {
        if let Some(tracer) = tracer {
            let words = self.event_words(END_TASK, "endtask", tid);
            let words = ENDINGS.fold(words, |words, what| value(words, what, 0)).number(-6);
            self.trace(tracer, words);
        }
    }

    /// A tracer that hears for the first time is told what all data is called.
    pub(super) fn introduce_data(&mut self, tracer: OutputMessages) {
        if !self.tracers.insert(tracer.to) {
            return;
        }
        let begun = Words::default().number(-3);
        let row = |words: Words, (number, (id, description)): (usize, &(&str, &str))| {
            words.number(number as i32).text(id.as_bytes()).text(description.as_bytes())
        };
        let words = DATA.iter().enumerate().fold(begun, row).number(-4);
        self.trace(tracer, words);
    }

    fn event_words(&self, kind: i32, name: &str, tid: Tid) -> Words {
        let (seconds, nanoseconds) = (self.config.clock)();
        let words = Words::default().number(-5).number(kind).text(name.as_bytes());
        let words = value(words, SECONDS, seconds as i32);
        let words = value(words, MICROSECONDS, (nanoseconds / 1000) as i32);
        value(words, TASK, tid.0)
    }

    fn trace(&mut self, tracer: OutputMessages, Words(data): Words) {
        let OutputMessages { to, context, tag } = tracer;
        self.event(to, Event::Word { context, tag, data: Blob(data) }, Vec::new());
    }
}

fn value(words: Words, what: i32, number: i32) -> Words {
    words.number(what).number(INT).number(number)
}
