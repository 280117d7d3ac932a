//! The recording as a page for a browser, with all that it needs inside.

use super::counts;
use super::story::{Point, Story, Sums, Task, place};
use super::text::Quoted;
use crate::terminal::signal_names;
use std::io::{self, Write};

const PAGE: &str = include_str!("picture.html");
/// What is only arithmetic, so that it can be run without a page.
const TICKS: &str = include_str!("ticks.js");
/// Where the data goes.
const PLACE: &str = "@DATA@";

pub fn write(story: &Story, out: &mut dyn Write) -> io::Result<()> {
    let page = PAGE.replace("@TICKS@", TICKS);
    let (before, after) = page.split_once(PLACE).expect("the page has a place for the data");
    out.write_all(before.as_bytes())?;
    write!(out, "{{\"program\":{},\"end\":{}", Quoted(&story.program), story.end)?;
    let routes: Vec<&str> = story.routes.iter().map(String::as_str).collect();
    let quoted =
        |texts: &[&str]| texts.iter().map(|text| Quoted(text).to_string()).collect::<Vec<_>>().join(",");
    write!(out, ",\"calls\":[{}],\"routes\":[{}]", quoted(&story.calls()), quoted(&routes))?;
    let missing: Vec<&str> = story.missing.iter().map(String::as_str).collect();
    write!(out, ",\"missing\":[{}]", quoted(&missing))?;
    list(out, "hosts", &story.hosts, |out, host| {
        let (ahead, error) = (host.ahead, host.round_trip / 2);
        write!(out, "{{\"name\":{},\"ahead\":{ahead},\"error\":{error}}}", Quoted(&host.name))
    })?;
    let tasks: Vec<(&Task, Sums)> = story.tasks.iter().zip(story.sums()).collect();
    list(out, "tasks", &tasks, |out, (task, sums)| task_row(out, task, sums))?;
    // Numbers alone, for there may be many.
    list(out, "messages", &story.messages, |out, message| {
        let time = |point: Option<Point>| point.map_or("null".to_owned(), |point| point.at.to_string());
        let (sent, received) = (time(message.sent), time(message.received));
        let route = message.route.map_or(-1, i32::from);
        let (from, to, tag, length) = (message.from.0, message.to.0, message.tag, message.length);
        write!(out, "{from},{to},{sent},{received},{tag},{length},{route}")
    })?;
    sums(story, out)?;
    out.write_all(b"}")?;
    out.write_all(after.as_bytes())
}

/// What the recording adds up to.
fn sums(story: &Story, out: &mut dyn Write) -> io::Result<()> {
    let pairs: Vec<_> = counts::pairs(story).into_iter().collect();
    list(out, "pairs", &pairs, |out, ((from, to), pair)| {
        write!(out, "[{},{},{},{},{}]", from.0, to.0, pair.messages, pair.bytes, pair.unreceived)
    })?;
    let bin = |out: &mut dyn Write, (least, count): &(u64, u64)| write!(out, "[{least},{count}]");
    list(out, "lengths", &counts::lengths(story), bin)?;
    list(out, "latencies", &counts::latencies(story), bin)?;
    list(out, "longest", &counts::longest_waits(story), |out, (task, wait)| {
        let (length, cut) = (wait.to - wait.from, u8::from(wait.is_cut));
        write!(out, "[{task},{},{length},{},{},{},{cut}]", wait.from, place(wait), wait.peer, wait.tag)
    })?;
    let containers: Vec<_> = counts::containers(story).into_iter().collect();
    list(out, "containers", &containers, |out, (tid, number)| write!(out, "[{},{number}]", tid.0))?;
    list(out, "stuck", &counts::stuck(story), |out, task| write!(out, "{task}"))?;
    let said = counts::deadlock(story);
    write!(out, ",\"deadlock\":{}", Quoted(said.as_deref().unwrap_or("")))
}

fn list<T>(
    out: &mut dyn Write,
    name: &str,
    items: &[T],
    mut write_one: impl FnMut(&mut dyn Write, &T) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (place, item) in items.iter().enumerate() {
        out.write_all(if place == 0 { b"" } else { b",\n" })?;
        write_one(out, item)?;
    }
    out.write_all(b"]")
}

fn task_row(out: &mut dyn Write, task: &Task, sums: &Sums) -> io::Result<()> {
    let Task { tid, host, began, ended, known_from, dropped, .. } = task;
    write!(
        out,
        "{{\"tid\":{},\"name\":{},\"host\":{host},\"began\":{began},\"ended\":{ended},\"known\":{known_from},\
         \"dropped\":{dropped},\"there\":{},\"killed\":{},\"waiting\":{},\"sent\":[{},{}],\"received\":[{},{}]",
        tid.0,
        Quoted(&task.name),
        task.is_there,
        Quoted(&task.killed_by.map_or_else(String::new, signal_names::name)),
        sums.waiting,
        sums.sent.0,
        sums.sent.1,
        sums.received.0,
        sums.received.1
    )?;
    list(out, "waits", &task.waits, |out, wait| {
        let length = wait.to - wait.from;
        let cut = u8::from(wait.is_cut);
        write!(out, "{},{length},{},{},{},{cut}", wait.from, place(wait), wait.peer, wait.tag)
    })?;
    out.write_all(b"}")
}

#[cfg(test)]
mod tests {
    use super::super::story::tests::example;

    #[test]
    fn page_embeds_data_and_loads_nothing() {
        let mut bytes = Vec::new();
        super::write(&example(), &mut bytes).expect("memory");
        let text = String::from_utf8(bytes).expect("text");
        assert!(text.contains("262145,524289,10,40,7,100,2"), "{text}");
        assert!(text.contains("262145,524290,null,90,7,100,-1"));
        assert!(text.contains("15,26,1,-1,7,0") && text.contains("70,20,1,-1,7,1"));
        // A program's name ends no script: there are the two of the page.
        assert_eq!(text.matches("</script>").count(), 2);
        assert!(text.contains(r"a\u003c/script\u003e"));
        assert!(!text.contains("http://") && !text.contains("https://") && !text.contains(" src="));
    }
    #[test]
    fn page_shows_totals_and_dark_style() {
        let mut bytes = Vec::new();
        super::write(&example(), &mut bytes).expect("memory");
        let text = String::from_utf8(bytes).expect("text");
        for part in [
            "[262145,524289,2,200,1]",
            "\"lengths\":[[64,4]]",
            "\"longest\":[[0,30,31,1,-1,7,0]",
            "\"deadlock\":\"\"",
            "\"killed\":\"SIGKILL (9)\"",
            "\"killed\":\"\"",
            "prefers-color-scheme: dark",
            "sent and not received",
            "killed, or lost while it waited",
            "id=\"matrix\"",
        ] {
            assert!(text.contains(part), "{part} is missing");
        }
        assert!(!text.contains("@TICKS@") && !text.contains("@DATA@"));
    }

    #[test]
    fn axis_labels_differ_at_every_zoom() {
        let script = format!(
            "{}\nconst all = [];\nfor (const [from, to] of [[0, 3e9], [-1e7, 1.01e9], [1234567890, 1234567990], [999999000, 1000001000], [0, 20]])\n\
             all.push(ticks(from, to, 9));\nconsole.log(JSON.stringify(all));",
            super::TICKS
        );
        let Ok(ran) = std::process::Command::new("node").args(["-e", &script]).output() else {
            println!("skipped: there is no node to run the page's arithmetic");
            return;
        };
        assert!(ran.status.success(), "{}", crate::shown::shown(&ran.stderr));
        let told: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
        for axis in told.as_array().expect("a list") {
            let words: Vec<&str> = axis["ticks"]
                .as_array()
                .expect("ticks")
                .iter()
                .map(|tick| tick[1].as_str().expect("words"))
                .collect();
            let different: std::collections::BTreeSet<_> = words.iter().collect();
            assert!(different.len() == words.len() && words.len() > 2, "{words:?}");
            assert!(words.iter().all(|word| word.len() <= 12), "{words:?}");
        }
        // A hundred nanoseconds of a second: counted from the first tick, whose whole time is said.
        assert_eq!(told[2]["base"], "1.23456790 s");
    }
}
