//! The recording as Chrome's trace events in JSON, which Perfetto's viewer reads: a process for each host, a thread for each task,
//! slices for a task's life, its waits, and its messages' ends; arrows (flow events) for messages.

use super::story::{Message, Point, Story, Task};
use super::text::{Micros, Quoted, peer, tag};
use crate::terminal::signal_names;
use std::collections::HashMap;
use std::io::{self, Write};

/// The ends of messages are shown as long as this, if nothing else begins before: an arrow needs a slice to begin at.
const MARK: i64 = 1000;

pub fn write(story: &Story, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"program\":{}", Quoted(&story.program))?;
    for host in &story.hosts {
        let text = format!("{} ns, known to {} ns", host.ahead, host.round_trip / 2);
        write!(out, ",{}:{}", Quoted(&format!("clock of {}", host.name)), Quoted(&text))?;
    }
    for task in story.tasks.iter().filter(|task| task.dropped > 0) {
        write!(out, ",\"records of {} dropped\":{}", task.tid, task.dropped)?;
    }
    for (number, missing) in story.missing.iter().enumerate() {
        write!(out, ",\"missing {number}\":{}", Quoted(missing))?;
    }
    out.write_all(b"},\"traceEvents\":[\n")?;
    let mut events = Events { out, first: true };
    for host in &story.hosts {
        let name = Quoted(&host.name);
        events.add(format_args!(
            r#""ph":"M","pid":{},"name":"process_name","args":{{"name":{name}}}"#,
            host.number
        ))?;
    }
    for task in &story.tasks {
        events.task(story, task)?;
    }
    let process: HashMap<_, _> =
        story.tasks.iter().map(|task| (task.tid, story.hosts[task.host].number)).collect();
    for (number, message) in story.messages.iter().enumerate() {
        let of = |tid| process.get(&tid).copied();
        let route = message.route.and_then(|route| story.route(route)).unwrap_or("?");
        events.message(number, message, route, of(message.from), of(message.to))?;
    }
    out.write_all(b"\n]}\n")
}

struct Events<'a> {
    out: &'a mut dyn Write,
    first: bool,
}

impl Events<'_> {
    fn add(&mut self, fields: std::fmt::Arguments<'_>) -> io::Result<()> {
        let comma = if std::mem::replace(&mut self.first, false) { "" } else { ",\n" };
        write!(self.out, "{comma}{{{fields}}}")
    }

    fn task(&mut self, story: &Story, task: &Task) -> io::Result<()> {
        let (pid, tid) = (story.hosts[task.host].number, task.tid.0);
        let name = format!("{} {}", task.tid, task.name);
        let name = Quoted(&name);
        self.add(format_args!(
            r#""ph":"M","pid":{pid},"tid":{tid},"name":"thread_name","args":{{"name":{name}}}"#
        ))?;
        self.add(format_args!(
            r#""ph":"X","pid":{pid},"tid":{tid},"ts":{},"dur":{},"cat":"task","name":{name},"args":{{"records dropped":{},"killed by":{}}}"#,
            Micros(task.began),
            Micros(task.ended - task.began),
            task.dropped,
            Quoted(&task.killed_by.map_or_else(String::new, signal_names::name))
        ))?;
        for wait in &task.waits {
            let call = story.call(wait);
            self.add(format_args!(
                r#""ph":"X","pid":{pid},"tid":{tid},"ts":{},"dur":{},"cat":"wait","name":"waits: {call}","args":{{"for":"{}","tag":"{}","ended with its task":{}}}"#,
                Micros(wait.from),
                Micros(wait.to - wait.from),
                peer(wait.peer),
                tag(wait.tag),
                wait.is_cut
            ))?;
        }
        Ok(())
    }

    fn message(
        &mut self,
        id: usize,
        message: &Message,
        route: &str,
        from: Option<u32>,
        to: Option<u32>,
    ) -> io::Result<()> {
        let Message { tag, length, .. } = message;
        let mut end = |tid: i32, pid: u32, point: Point, what: &str, peer: &str, flow: &str| {
            let dur = Micros(MARK.min(point.next - point.at).max(0));
            let ts = Micros(point.at);
            self.add(format_args!(
                r#""ph":"X","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},"cat":"message","name":"{what}","args":{{{peer},"tag":{tag},"bytes":{length},"route":"{route}"}}"#
            ))?;
            if message.sent.is_some() && message.received.is_some() {
                self.add(format_args!(
                    r#"{flow},"id":{id},"pid":{pid},"tid":{tid},"ts":{ts},"cat":"message","name":"tag {tag}""#
                ))?;
            }
            Ok::<(), io::Error>(())
        };
        if let (Some(point), Some(pid)) = (message.sent, from) {
            end(message.from.0, pid, point, "send", &format!(r#""to":"{}""#, message.to), r#""ph":"s""#)?;
        }
        if let (Some(point), Some(pid)) = (message.received, to) {
            end(
                message.to.0,
                pid,
                point,
                "receive",
                &format!(r#""from":"{}""#, message.from),
                r#""ph":"f","bp":"e""#,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::story::tests::example;

    #[test]
    fn perfetto_message_has_two_ends_and_arrow() {
        let mut bytes = Vec::new();
        super::write(&example(), &mut bytes).expect("memory");
        let text = String::from_utf8(bytes).expect("text");
        let count = |what: &str| text.matches(what).count();
        assert_eq!((count(r#""name":"send""#), count(r#""name":"receive""#)), (3, 3));
        assert_eq!((count(r#""ph":"s""#), count(r#""ph":"f""#)), (2, 2));
        assert_eq!((count("process_name"), count("thread_name"), count(r#""cat":"wait""#)), (2, 3, 3));
        assert!(
            text.contains(r#""records of t80002 dropped":55"#) && text.contains("nothing of gamma"),
            "{text}"
        );
        assert!(text.contains(r#""ts":0.010,"dur":0.010,"cat":"message","name":"send""#), "{text}");
        assert!(!text.contains("</script>"));
    }
}
