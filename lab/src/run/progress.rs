//! Progress: a bar on a terminal, a line now and then in a pipe.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const QUIET: Duration = Duration::from_secs(15);

/// Where a session is one of several: the others are part of the time that is left.
#[derive(Debug, Clone, Default)]
pub struct Whole {
    /// Which of them it is, in words; empty where it is alone.
    pub name: String,
    /// What those before took.
    pub before: Duration,
    /// What those after may take.
    pub after: Duration,
    /// Whether it prints nothing, because it is one of very many.
    pub is_quiet: bool,
}

impl Whole {
    /// In front of what a launch is called.
    fn words(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!("{}, ", self.name) }
    }
}

/// Tells a waiting user what is going on, on standard error.
pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    said: Instant,
    budget: Duration,
    done: u64,
    left: Left,
    whole: Whole,
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
    /// Begins, with the time that there is for this session. It counts seconds: how many launches fit is not known before they have run.
    pub fn new(budget: Duration, whole: Whole) -> Self {
        let bar = (std::io::stderr().is_terminal() && !whole.is_quiet).then(|| {
            let bar = ProgressBar::new((whole.before + budget + whole.after).as_secs());
            let style = ProgressStyle::with_template("{bar:20.cyan/dim} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let now = Instant::now();
        Progress { bar, begun: now, said: now, budget, done: 0, left: Left(budget), whole }
    }

    /// The time that there is for this session.
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// A line that stays.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None if self.whole.is_quiet => {}
            None => eprintln!("{text}"),
        }
    }

    /// What is still planned takes about so long.
    pub fn remaining(&mut self, time: Duration) {
        // What this one leaves, those after it get.
        if !self.whole.after.is_zero() {
            return;
        }
        self.left.at_most(time);
        self.budget = self.budget.min(self.begun.elapsed() + time);
        if let Some(bar) = &self.bar {
            bar.set_length((self.whole.before + self.budget).as_secs());
        }
    }

    /// A launch begins.
    pub fn begin(&mut self, name: &str) {
        let left = self.left.at_most(self.budget.saturating_sub(self.begun.elapsed()));
        let left = (left + self.whole.after).as_secs();
        let of = self.whole.words();
        match &self.bar {
            Some(bar) => {
                bar.set_position((self.whole.before + self.begun.elapsed()).as_secs());
                bar.set_message(format!("{left} s left at most, {of}launch {}: {name}", self.done + 1));
            }
            None if self.said.elapsed() > QUIET && !self.whole.is_quiet => {
                self.said = Instant::now();
                let seconds = (self.whole.before + self.begun.elapsed()).as_secs();
                eprintln!("{seconds} s, {left} s left at most: {of}launch {}, {name}", self.done + 1);
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
    fn remaining_time_only_shrinks() {
        let mut left = Left(Duration::from_secs(60));
        let said: Vec<u64> = [50, 55, 20, 30].map(|s| left.at_most(Duration::from_secs(s)).as_secs()).into();
        assert_eq!(said, [50, 50, 20, 20]);
        let mut progress = Progress::new(Duration::from_secs(60), Whole::default());
        progress.remaining(Duration::from_secs(10));
        progress.remaining(Duration::from_secs(40));
        assert!(progress.left.0 <= Duration::from_secs(10) && progress.budget <= Duration::from_secs(60));
        let after = Whole { after: Duration::from_secs(100), ..Whole::default() };
        let mut one_of_several = Progress::new(Duration::from_secs(60), after);
        one_of_several.remaining(Duration::from_secs(10));
        assert_eq!(one_of_several.budget(), Duration::from_secs(60), "others get what it leaves");
    }
}
