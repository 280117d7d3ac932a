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
    budget: Duration,
    done: u64,
    left: Left,
}

/// The time left, which never grows: what was said stays true.
struct Left(Duration);

impl Left {
    fn at_most(&mut self, seconds: Duration) -> Duration {
        self.0 = self.0.min(seconds);
        self.0
    }
}

impl Progress {
    /// Begins, with the time that there is. It counts seconds: how many launches fit is not known before they have run.
    pub fn new(budget: Duration) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(budget.as_secs());
            let style = ProgressStyle::with_template("{bar:20.cyan/dim} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let now = Instant::now();
        Progress { bar, begun: now, said: now, budget, done: 0, left: Left(budget) }
    }

    /// A line that stays.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => eprintln!("{text}"),
        }
    }

    /// What is still planned takes about so long.
    pub fn remaining(&mut self, time: Duration) {
        self.left.at_most(time);
        self.budget = self.budget.min(self.begun.elapsed() + time);
        if let Some(bar) = &self.bar {
            bar.set_length(self.budget.as_secs());
        }
    }

    /// A launch begins.
    pub fn begin(&mut self, name: &str) {
        let left = self.left.at_most(self.budget.saturating_sub(self.begun.elapsed())).as_secs();
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.begun.elapsed().as_secs());
                bar.set_message(format!("{left} s left at most, launch {}: {name}", self.done + 1));
            }
            None if self.said.elapsed() > QUIET => {
                self.said = Instant::now();
                let seconds = self.begun.elapsed().as_secs();
                eprintln!("{seconds} s, {left} s left at most: launch {}, {name}", self.done + 1);
            }
            None => {}
        }
    }

    /// A launch ended.
    pub fn end(&mut self) {
        self.done += 1;
    }

    /// Everything is done.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_only_shrinks() {
        let mut left = Left(Duration::from_secs(60));
        let said: Vec<u64> = [50, 55, 20, 30].map(|s| left.at_most(Duration::from_secs(s)).as_secs()).into();
        assert_eq!(said, [50, 50, 20, 20]);
        let mut progress = Progress::new(Duration::from_secs(60));
        progress.remaining(Duration::from_secs(10));
        progress.remaining(Duration::from_secs(40));
        assert!(progress.left.0 <= Duration::from_secs(10) && progress.budget <= Duration::from_secs(60));
    }
}
