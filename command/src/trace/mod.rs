//! `parvum trace`: runs a program and draws what its tasks did.

mod counts;
mod gather;
mod perfetto;
mod picture;
mod replay;
mod story;
mod text;

use crate::run::{self, RunArgs};
use crate::terminal::out::note;
use clap::Args;
use parvum_control::RECORDING_BYTES;
use parvum_task::SessionError;
use parvum_wire::control::Recorder;
use rustix::fs::{Access, access};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use story::Story;

#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum trace -n 4 ./app", "writes app.trace.html and app.trace.json"),
    ("parvum trace -o before -n 4 ./app", "writes before.html and before.json"),
    ("parvum trace --replay app.replay -n 8 ./app", "records for parvum predict"),
]))]
pub struct TraceArgs {
    /// Write NAME.json and NAME.html [default: PROGRAM.trace]
    #[arg(short, long, value_name = "NAME")]
    output: Option<OsString>,
    /// Record at most BYTES for each task, the newest records
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20, value_parser = clap::value_parser!(u64).range(RECORDING_BYTES))]
    memory: u64,
    /// Write a trace for `parvum predict` instead
    ///
    /// SimGrid's `smpirun -replay` reads FILE too.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    replay: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

pub fn trace(args: &TraceArgs) -> ExitCode {
    let program = Path::new(&args.run.program[0]).file_name().unwrap_or_default();
    let name = args.output.clone().unwrap_or_else(|| {
        let mut name = program.to_owned();
        name.push(".trace");
        name
    });
    let name = without_ending(name);
    run::end(attempt(args, &program.display().to_string(), &name))
}

/// Both files have the name and an ending of their own: one that was given is not wanted twice.
fn without_ending(name: OsString) -> OsString {
    let path = Path::new(&name);
    let is_ours = path.extension().is_some_and(|ending| ending == "json" || ending == "html");
    if is_ours { path.with_extension("").into_os_string() } else { name }
}

fn attempt(args: &TraceArgs, program: &str, name: &OsString) -> Result<u8, SessionError> {
    // Better now than after hours.
    let name_or_file = args.replay.as_deref().unwrap_or(Path::new(name));
    let folder = name_or_file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    access(folder, Access::WRITE_OK).map_err(|error| cannot_write(folder, error.into()))?;
    let recorder = Recorder { bytes: args.memory, processor_time: args.replay.is_some() };
    let run::Ended { code, mut session, killed } = run::attempt(&args.run, Some(recorder))?;
    if let Some(file) = &args.replay {
        let parts = gather::gather(&mut session)?;
        drop(session);
        return keep(&parts, program, file).map(|()| code);
    }
    let story = Story::of(program, gather::gather(&mut session)?, &killed);
    // Nobody needs the recordings any more.
    drop(session);
    let json = write(name, ".json", |out| perfetto::write(&story, out))?;
    let html = write(name, ".html", |out| picture::write(&story, out))?;
    report(&story, args.memory, &json, &html);
    Ok(code)
}

/// Writes what can be played again.
fn keep(parts: &gather::Parts, program: &str, file: &Path) -> Result<(), SessionError> {
    let trace = replay::of(parts).map_err(SessionError::Start)?;
    let about = [
        format!("{program} of {} tasks, by parvum trace --replay", trace.tasks.len()),
        "compute: nanoseconds of a processor; send, recv: task, number of the message between the two, bytes"
            .into(),
    ];
    let written = File::create(file).and_then(|file| {
        let mut out = BufWriter::new(file);
        trace.write(&about, &mut out)?;
        out.flush()
    });
    written.map_err(|error| cannot_write(file, error))?;
    let (messages, bytes) = trace.messages();
    note(format!(
        "{messages} messages, {bytes} bytes, {:.3} s of computing, of {} tasks: {}",
        trace.computing() / 1e9,
        trace.tasks.len(),
        file.display(),
    ));
    for missing in &parts.missing {
        note(missing);
    }
    Ok(())
}

fn write(
    name: &OsString,
    ending: &str,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, SessionError> {
    let mut path = name.clone();
    path.push(ending);
    let path = PathBuf::from(path);
    let written = File::create(&path).and_then(|file| {
        let mut out = BufWriter::new(file);
        content(&mut out)?;
        out.flush()
    });
    written.map_err(|error| cannot_write(&path, error))?;
    Ok(path)
}

fn cannot_write(path: &Path, error: io::Error) -> SessionError {
    SessionError::System(format!("write to {}", path.display()), error)
}

/// Says what was written and what is missing; standard output is the program's.
fn report(story: &Story, memory: u64, json: &Path, html: &Path) {
    let (tasks, hosts) = (story.tasks.len(), story.hosts.len());
    note(format!(
        "{} messages of {tasks} task{} on {hosts} host{}: {} (a picture, for a browser), {} (for ui.perfetto.dev)",
        story.messages.len(),
        if tasks == 1 { "" } else { "s" },
        if hosts == 1 { "" } else { "s" },
        html.display(),
        json.display(),
    ));
    if let Some(said) = counts::deadlock(story) {
        note(said);
    }
    let full: Vec<_> = story.tasks.iter().filter(|task| task.dropped > 0).collect();
    if let Some(first) = full.first() {
        note(format!(
            "{} records did not fit into {memory} bytes for each task ({} of {tasks}, such as {}): \
             the oldest were dropped; --memory gives them more",
            full.iter().map(|task| task.dropped).sum::<u64>(),
            full.len(),
            first.tid,
        ));
    }
    for missing in &story.missing {
        note(missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_name_drops_known_suffix_only() {
        for (given, name) in
            [("a.json", "a"), ("b.html", "b"), ("c", "c"), ("d.trace", "d.trace"), ("e/f.x.json", "e/f.x")]
        {
            assert_eq!(without_ending(given.into()), OsString::from(name));
        }
    }
}
