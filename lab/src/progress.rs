//! Progress: a bar on a terminal, a line now and then in a pipe.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const QUIET: Duration = Duration::from_secs(15);

/// Tells a waiting user what is going on, on standard error.
pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    said: Instant,
    total: u64,
    done: u64,
}

impl Progress {
    /// Begins with an estimate of the launches to come.
    pub fn new(total: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total as u64);
            let style = ProgressStyle::with_template(
                "{bar:32.cyan/dim} {pos}/{len}  {elapsed} / about {duration}  {msg}",
            );
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let now = Instant::now();
        Progress { bar, begun: now, said: now, total: total as u64, done: 0 }
    }

    /// A line that stays.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => eprintln!("{text}"),
        }
    }

    /// More launches are planned.
    pub fn extend(&mut self, launches: usize) {
        self.total += launches as u64;
        if let Some(bar) = &self.bar {
            bar.set_length(self.total);
        }
    }

    /// A launch begins.
    pub fn begin(&mut self, name: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(name.to_owned()),
            None if self.said.elapsed() > QUIET => {
                self.said = Instant::now();
                let seconds = self.begun.elapsed().as_secs();
                eprintln!("{seconds} s: launch {} of {}, {name}", self.done + 1, self.total);
            }
            None => {}
        }
    }

    /// A launch ended.
    pub fn end(&mut self) {
        self.done += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Everything is done.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
