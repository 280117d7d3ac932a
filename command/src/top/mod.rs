//! `parvum top`: the machine, live. In a pipe: the same as plain text.

pub mod sample;
mod screen;

use crate::look::views::odd;
use crate::{look::json, terminal::out, tool};
use clap::Args;
use parvum_task::{Session, SessionError};
use parvum_wire::control::{Reply, Request};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use sample::{Order, Picture};
use screen::View;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How to look.
#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum top", "live; q ends it"),
    ("parvum top -n 1", "one snapshot as text"),
    ("parvum top -i 10 > load.txt", "a snapshot each 10 s into a file"),
    ("parvum top --json", "one snapshot for a program"),
]))]
pub struct TopArgs {
    /// Update every INTERVAL seconds
    #[arg(short, long, default_value_t = 1.0, value_parser = interval)]
    interval: f64,
    /// Print COUNT snapshots as text, then exit
    #[arg(short = 'n', long)]
    count: Option<u32>,
    /// Print one snapshot as JSON
    #[arg(long, conflicts_with = "count")]
    json: bool,
}

#[cfg(test)]
impl TopArgs {
    /// The seconds between two pictures.
    pub fn shown_interval(&self) -> f64 {
        self.interval
    }
}

fn interval(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0.1 to 3600".into()),
    }
}

/// Shows the machine until it is told to end, or the machine is stopped.
pub fn top(args: &TopArgs) -> Result<(), SessionError> {
    let mut session = tool()?;
    let every = Duration::from_secs_f64(args.interval);
    if args.json {
        return once(&mut session, every);
    }
    if args.count.is_some() || !std::io::stdout().is_terminal() {
        return plain(&mut session, every, args.count.unwrap_or(u32::MAX));
    }
    let mut terminal = ratatui::init();
    let result = live(&mut session, &mut terminal, every);
    ratatui::restore();
    result
}

fn picture(session: &mut Session) -> Result<Picture, SessionError> {
    let Reply::Hosts(hosts) = session.request(Request::Hosts)? else { return Err(odd()) };
    let Reply::Loads(loads) = session.request(Request::Loads)? else { return Err(odd()) };
    let request = Request::Tasks { of: None, deep: true };
    let Reply::Tasks(tasks) = session.request(request)? else { return Err(odd()) };
    Ok(Picture { hosts, loads, tasks })
}

/// What there is and what goes on, over one interval.
fn once(session: &mut Session, every: Duration) -> Result<(), SessionError> {
    let (before, taken) = (picture(session)?, Instant::now());
    std::thread::sleep(every);
    let now = picture(session)?;
    let apart = taken.elapsed();
    let tasks = sample::tasks(&before, &now, apart, Order::Tid);
    let hosts = sample::hosts(&now);
    out::json(&serde_json::json!({
        "seconds": apart.as_secs_f64(),
        "hosts": hosts.iter().map(json::host_line).collect::<Vec<_>>(),
        "tasks": tasks.iter().map(json::task_line).collect::<Vec<_>>(),
    }))
}

fn plain(session: &mut Session, every: Duration, count: u32) -> Result<(), SessionError> {
    let (mut before, mut taken) = (picture(session)?, Instant::now());
    for _ in 0..count {
        std::thread::sleep(every);
        let now = picture(session)?;
        let tasks = sample::tasks(&before, &now, taken.elapsed(), Order::Tid);
        (before, taken) = (now, Instant::now());
        let mut table = vec![screen::HOSTS.map(String::from).to_vec()];
        table.extend(sample::hosts(&before).iter().map(|host| screen::host_cells(host).to_vec()));
        out::table(&table)?;
        let mut table = vec![screen::columns()];
        table.extend(tasks.iter().map(|task| screen::cells(task).to_vec()));
        out::table(&table)?;
        out::line("")?;
    }
    Ok(())
}

fn live(session: &mut Session, terminal: &mut DefaultTerminal, every: Duration) -> Result<(), SessionError> {
    let (mut order, mut scrolled, mut paused) = (Order::Tid, 0usize, false);
    let mut before = picture(session)?;
    let (mut now, mut taken, mut apart) = (before.clone(), Instant::now(), every);
    loop {
        let (hosts, tasks) = (sample::hosts(&now), sample::tasks(&before, &now, apart, order));
        scrolled = scrolled.min(tasks.len().saturating_sub(1));
        let view = View { hosts: &hosts, tasks: &tasks, order, scrolled, paused };
        if terminal.draw(|frame| screen::draw(frame, &view)).is_err() {
            return Ok(());
        }
        // The first rates come soon.
        let due = if before.tasks.is_empty() { Duration::from_millis(100) } else { every };
        match key(due.saturating_sub(taken.elapsed())) {
            Some(KeyCode::Char('q') | KeyCode::Esc) => return Ok(()),
            Some(KeyCode::Char('s')) => order = order.next(),
            Some(KeyCode::Char('p')) => paused = !paused,
            Some(KeyCode::Down) => scrolled += 1,
            Some(KeyCode::Up) => scrolled = scrolled.saturating_sub(1),
            Some(KeyCode::PageDown) => scrolled += 10,
            Some(KeyCode::PageUp) => scrolled = scrolled.saturating_sub(10),
            _ => {}
        }
        if !paused && taken.elapsed() >= due {
            before = std::mem::replace(&mut now, picture(session)?);
            apart = taken.elapsed();
            taken = Instant::now();
        } else if paused {
            taken = Instant::now();
        }
    }
}

/// The next key within this time. Ctrl-C counts as `q`: the terminal passes it on as a key.
fn key(within: Duration) -> Option<KeyCode> {
    if !event::poll(within).unwrap_or(false) {
        return None;
    }
    match event::read() {
        Ok(Event::Key(key)) if key.kind == KeyEventKind::Release => None,
        Ok(Event::Key(key))
            if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') =>
        {
            Some(KeyCode::Char('q'))
        }
        Ok(Event::Key(key)) => Some(key.code),
        // The terminal is gone.
        Err(_) => Some(KeyCode::Char('q')),
        _ => None,
    }
}
