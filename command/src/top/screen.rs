//! The picture in a terminal.

use super::sample::{HostLine, Order, TaskLine};
use crate::look::views::bytes;
use crate::terminal::out::counted;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row, Table};

/// What stands above the hosts.
pub const HOSTS: [&str; 5] = ["HOST", "CPUS", "LOAD", "TASKS", "MEMORY"];
/// What stands above the tasks, how wide it is, and how soon it is left out where the terminal is narrow: the highest
/// first. 80 columns have all up to 7.
const TASKS: [(&str, u16, u8); 13] = [
    ("TASK", 7, 0),
    ("NAME", 9, 4),
    ("HOST", 8, 9),
    ("OUT/S", 6, 5),
    ("B OUT/S", 8, 10),
    ("IN/S", 6, 6),
    ("B IN/S", 8, 11),
    ("QUEUED", 6, 3),
    ("CPU %", 5, 2),
    ("WAIT %", 6, 2),
    ("COMM %", 6, 8),
    ("MEMORY", 8, 7),
    ("STATE", 19, 1),
];

/// All that is shown.
pub struct View<'a> {
    pub hosts: &'a [HostLine],
    pub tasks: &'a [TaskLine],
    pub order: Order,
    /// How many tasks to leave out from the top.
    pub scrolled: usize,
    pub paused: bool,
}

/// Draws it.
pub fn draw(frame: &mut Frame, view: &View) {
    let hosts = view.hosts.len().min(8) as u16 + 1;
    let [head, above, _, below, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(hosts),
        Constraint::Length(1),
        Constraint::Min(2),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let paused = if view.paused { ", paused" } else { "" };
    let (tasks, hosts) = (counted(view.tasks.len(), "task"), counted(view.hosts.len(), "host"));
    let title = format!("parvum top: {tasks} on {hosts}, by {}{paused}", view.order.name());
    frame.render_widget(Line::styled(title, Style::new().add_modifier(Modifier::BOLD)), head);
    frame.render_widget(host_table(view.hosts), above);
    frame.render_widget(task_table(view, below.width), below);
    frame.render_widget(Paragraph::new(keys(foot.width)).style(Style::new().fg(Color::DarkGray)), foot);
}

/// What can be done here, as much of it as there is room for.
fn keys(width: u16) -> String {
    let all = [
        "q quit",
        "s sort",
        "p pause",
        "arrows scroll",
        "`parvum why` says what hangs",
        "`parvum info TASK` more of one",
    ];
    let mut line = String::new();
    for (at, key) in all.into_iter().enumerate() {
        let gap = if at == 0 { "" } else { "   " };
        if line.len() + gap.len() + key.len() > usize::from(width) {
            break;
        }
        line = line + gap + key;
    }
    line
}

fn head<'a>(names: impl Iterator<Item = &'a str>) -> Row<'a> {
    Row::new(names.map(Cell::from)).style(Style::new().add_modifier(Modifier::REVERSED))
}

fn host_table(hosts: &[HostLine]) -> Table<'_> {
    let row = |host: &HostLine| {
        let busy = host.load.is_some_and(|load| load > f64::from(host.cpus));
        let style = if busy { Style::new().fg(Color::Yellow) } else { Style::new() };
        Row::new(host_cells(host)).style(style)
    };
    Table::new(hosts.iter().take(8).map(row), [16, 5, 6, 6, 10].map(Constraint::Length))
        .header(head(HOSTS.into_iter()))
}

fn task_table<'a>(view: &View<'a>, width: u16) -> Table<'a> {
    let columns = that_fit(width);
    let shown = |at: &usize| columns.contains(at);
    let others: u16 = columns.iter().filter(|at| TASKS[**at].0 != "STATE").map(|at| TASKS[*at].1 + 1).sum();
    let room = usize::from(width.saturating_sub(others));
    // All of them in the same words.
    let in_full = view.tasks.iter().all(|task| state(task, &task.state).chars().count() <= room);
    let row = |task: &TaskLine| {
        let style = match task.waiting {
            90.0.. => Style::new().fg(Color::Cyan),
            _ => Style::new(),
        };
        let mut all = cells(task);
        if !in_full {
            all[TASKS.len() - 1] = task.brief.clone();
        }
        let cells = all.into_iter().enumerate().filter(|(at, _)| shown(at));
        Row::new(cells.map(|(_, cell)| cell)).style(style)
    };
    let widths = columns.iter().map(|at| match TASKS[*at] {
        // What is left over is the state's.
        ("STATE", width, _) => Constraint::Min(width),
        (_, width, _) => Constraint::Length(width),
    });
    let rows = view.tasks.iter().skip(view.scrolled).map(row);
    Table::new(rows, widths).header(head(columns.iter().map(|at| TASKS[*at].0)))
}

/// The columns that a terminal has room for, from the left; the first one in any case.
fn that_fit(width: u16) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..TASKS.len()).collect();
    let needed = |columns: &[usize]| columns.iter().map(|at| TASKS[*at].1 + 1).sum::<u16>().saturating_sub(1);
    while columns.len() > 1 && needed(&columns) > width {
        let last = columns.iter().enumerate().max_by_key(|(_, at)| TASKS[**at].2).map_or(0, |(at, _)| at);
        columns.remove(last);
    }
    columns
}

/// What stands in a host's line.
pub fn host_cells(host: &HostLine) -> [String; 5] {
    let load = host.load.map_or("-".into(), |load| format!("{load:.2}"));
    [host.name.clone(), host.cpus.to_string(), load, host.tasks.to_string(), bytes(host.memory)]
}

/// What stands in a task's line.
pub fn cells(task: &TaskLine) -> [String; 13] {
    let TaskLine { tid, name, host, sent, arrived, queued, cpu, waiting, communicating, memory, .. } = task;
    [
        tid.to_string(),
        name.clone(),
        host.clone(),
        format!("{:.0}", sent.0),
        bytes(sent.1 as u64),
        format!("{:.0}", arrived.0),
        bytes(arrived.1 as u64),
        format!("{}/{}", queued.0, queued.1),
        format!("{cpu:.0}"),
        format!("{waiting:.0}"),
        format!("{communicating:.0}"),
        bytes(*memory),
        state(task, &task.state),
    ]
}

/// What it does, in these words, and over which routes it has sent.
fn state(task: &TaskLine, words: &str) -> String {
    match task.routes.is_empty() {
        true => words.to_owned(),
        false => format!("{words} [{}]", task.routes),
    }
}

/// The names of the columns.
pub fn columns() -> Vec<String> {
    TASKS.iter().map(|(name, _, _)| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, tests::picture};
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use std::time::Duration;

    fn drawn(width: u16, height: u16) -> String {
        let (before, now) = (picture(&[(0x40001, 0)], 1), picture(&[(0x40001, 5000)], 1_000_000_000));
        let hosts = sample::hosts(&now);
        let tasks = sample::tasks(&before, &now, Duration::from_secs(1), Order::Tid);
        let view = View { hosts: &hosts, tasks: &tasks, order: Order::Tid, scrolled: 0, paused: false };
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| draw(frame, &view)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn screen_shows_hosts_and_tasks() {
        let screen = drawn(160, 20);
        for text in ["1 task on 1 host,", "alpha", "1.50", "t40001", "ring", "5000", "q quit"] {
            assert!(screen.contains(text), "{text}: {screen}");
        }
    }

    #[test]
    fn screen_of_eighty_columns_shows_main_columns() {
        let screen = drawn(80, 20);
        for text in
            ["TASK", "NAME", "OUT/S", "IN/S", "QUEUED", "CPU %", "WAIT %", "MEMORY", "STATE", "running"]
        {
            assert!(screen.contains(text), "{text}: {screen}");
        }
        let screen = drawn(200, 20);
        for (name, _, _) in TASKS {
            assert_eq!(screen.matches(&format!("{name} ")).count().min(1), 1, "{name}: {screen}");
        }
    }

    #[test]
    fn narrow_screen_shows_peer_that_task_waits_for() {
        use parvum_wire::control::Waits;
        let mut now = picture(&[(0x40001, 0)], 9);
        now.tasks[0].waits = Some(Waits {
            kind: 1,
            interface: "pvm".into(),
            word: None,
            closed: false,
            peer: 0x40002,
            tag: 8,
            context: 0,
            for_ms: 12_300,
            since: 1,
            ends: false,
            barrier: None,
            threads: false,
            operation: None,
        });
        let tasks = sample::tasks(&now.clone(), &now, Duration::from_secs(1), Order::Tid);
        let view = View { hosts: &[], tasks: &tasks, order: Order::Tid, scrolled: 0, paused: false };
        for (width, words) in [(80, "t40002, tag 8, 12 s"), (200, "waiting 12.3 s in ")] {
            let mut terminal = Terminal::new(TestBackend::new(width, 9)).expect("a terminal");
            terminal.draw(|frame| draw(frame, &view)).expect("drawn");
            let screen = terminal.backend().to_string();
            assert!(screen.contains(words), "{width}: {screen}");
        }
        assert!(keys(80).ends_with("what hangs") && keys(60).ends_with("scroll"), "whole words only");
    }

    #[test]
    fn small_terminal_draws_what_fits() {
        assert!(drawn(40, 8).contains("t40001"));
        drawn(3, 2);
    }
}
