//! The picture in a terminal.

use super::sample::{HostLine, Order, TaskLine};
use crate::look::bytes;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row, Table};

/// What stands above the hosts.
pub const HOSTS: [&str; 5] = ["HOST", "CPUS", "LOAD", "TASKS", "MEMORY"];
/// What stands above the tasks, and is left out from the right when the terminal is narrow.
const TASKS: [(&str, u16); 13] = [
    ("TASK", 8),
    ("NAME", 14),
    ("HOST", 10),
    ("MSG/S OUT", 9),
    ("B/S OUT", 9),
    ("MSG/S IN", 9),
    ("B/S IN", 9),
    ("QUEUED", 7),
    ("CPU %", 6),
    ("WAIT %", 6),
    ("COMM %", 6),
    ("MEMORY", 8),
    ("STATE", 40),
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
    let (count, of_hosts) = (view.tasks.len(), view.hosts.len());
    let title = format!("parvum top: {count} tasks on {of_hosts} hosts, by {}{paused}", view.order.name());
    frame.render_widget(Line::styled(title, Style::new().add_modifier(Modifier::BOLD)), head);
    frame.render_widget(host_table(view.hosts), above);
    frame.render_widget(task_table(view, below.width), below);
    let keys = "q quit   s sort   p pause   arrows scroll   `parvum why` says what hangs, `parvum info TASK` more of one";
    frame.render_widget(Paragraph::new(keys).style(Style::new().fg(Color::DarkGray)), foot);
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
    let row = |task: &TaskLine| {
        let style = match task.waiting {
            90.0.. => Style::new().fg(Color::Cyan),
            _ => Style::new(),
        };
        Row::new(cells(task).into_iter().take(columns)).style(style)
    };
    let widths = TASKS.iter().take(columns).enumerate().map(|(at, (_, width))| match at + 1 {
        last if last == columns => Constraint::Min(*width),
        _ => Constraint::Length(*width),
    });
    let rows = view.tasks.iter().skip(view.scrolled).map(row);
    Table::new(rows, widths).header(head(TASKS.iter().take(columns).map(|(name, _)| *name)))
}

/// How many columns a terminal has room for; the first one in any case. The state may be cut.
fn that_fit(width: u16) -> usize {
    let (last, before) = TASKS.split_last().expect("there are some");
    let mut used = 0;
    let fitting = before.iter().take_while(|(_, wanted)| {
        used += wanted + 1;
        used <= width
    });
    let fitting = fitting.count().max(1);
    let all = fitting == before.len() && used + last.1 / 4 <= width;
    fitting + usize::from(all)
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
        match task.routes.is_empty() {
            true => task.state.clone(),
            false => format!("{} [{}]", task.state, task.routes),
        },
    ]
}

/// The names of the columns.
pub fn columns() -> Vec<String> {
    TASKS.iter().map(|(name, _)| (*name).to_owned()).collect()
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
    fn hosts_and_tasks_are_on_the_screen() {
        let screen = drawn(160, 20);
        for text in ["1 tasks on 1 hosts", "alpha", "1.50", "t40001", "ring", "5000", "q quit"] {
            assert!(screen.contains(text), "{text}: {screen}");
        }
    }

    #[test]
    fn a_small_terminal_shows_what_it_can() {
        assert!(drawn(40, 8).contains("t40001"));
        drawn(3, 2);
    }
}
