//! From raw lines to rows: one median per launch, then the median of the launches with its interval.

use crate::stats::fit::{self, Link, Point};
use crate::stats::histogram::{QUANTILES, quantile as quantile_of};
use crate::stats::samples::{Line, Memory};
use crate::stats::statistics::{Estimate, bootstrap, estimate, median, quantile, sorted};
use crate::systems::system::System;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One row of `summary.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// ring, ring-one-core, fft, blocked, start, floors and others; `docs/reference/report-files.md` has all.
    pub program: String,
    /// Whose system, or which floor.
    pub system: String,
    /// The way of a message; empty where there is no choice.
    pub route: String,
    /// The encoding; empty where there is no choice.
    pub encoding: String,
    /// Tasks.
    pub tasks: u32,
    /// Bytes, or points of a transform.
    pub size: u64,
    /// What was measured.
    pub metric: String,
    /// In which unit.
    pub unit: String,
    /// Which task, where the metric is one task's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u32>,
    /// Median over launches of each launch's median.
    pub median: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// How many launches.
    pub samples: usize,
    /// Spread of the single samples of all launches together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// Each launch's median; none where the row is fitted to several others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<f64>,
    /// The numbers of these launches in the session, where it was one: what rows of the same ones have in common is not chance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launch_numbers: Vec<usize>,
    /// The numbers of the blocks in which these launches ran; none if any of them may not be compared with others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<usize>,
}

/// Quantiles of single samples, in the row's unit.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Spread {
    /// The smallest.
    pub minimum: f64,
    /// 99% lie below.
    pub p99: f64,
    /// 99.9% lie below.
    pub p999: f64,
    /// The largest.
    pub maximum: f64,
    /// How many samples.
    pub count: usize,
}

/// One line with its origin.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recorded {
    /// Number of the launch in the session.
    pub launch: usize,
    /// The program, with its arrangement (`ring-one-core`).
    pub program: String,
    /// Whose system, or which floor.
    pub system: String,
    /// The way of a message.
    pub route: String,
    /// The encoding.
    pub encoding: String,
    /// What the program wrote.
    pub line: Line,
    /// The block of its launch, if the block may be compared; known at the end of the session.
    #[serde(skip)]
    pub block: Option<usize>,
}

impl Recorded {
    /// Labels a line with the system it came from; of what is no system's, the floor or the layer stands there.
    pub fn new(launch: usize, program: &str, system: Option<&System>, line: Line) -> Self {
        let floor = line.floor.clone().or_else(|| line.layer.clone()).unwrap_or_default();
        let layers_route = line.layer.as_ref().and(line.route.clone()).unwrap_or_default();
        Recorded {
            launch,
            program: program.to_owned(),
            system: system.map_or(floor, |s| s.family.name().to_owned()),
            route: system.map_or(layers_route, |s| s.route.to_owned()),
            encoding: system.map_or_else(String::new, |s| s.encoding.name().to_owned()),
            line,
            block: None,
        }
    }
}

/// One metric of one line: its value for the launch, and its single samples.
struct Value {
    metric: Cow<'static, str>,
    unit: &'static str,
    task: Option<u32>,
    launch: f64,
    singles: Vec<f64>,
}

fn value(
    metric: impl Into<Cow<'static, str>>,
    unit: &'static str,
    task: Option<u32>,
    singles: Vec<f64>,
) -> Option<Value> {
    Some(Value { metric: metric.into(), unit, task, launch: median(&singles)?, singles })
}

/// Bytes of a message of `apps/floors/sockets.c` where the buffer's size is what changes.
const MESSAGE: f64 = 32768.0;

/// The values of a line, in the units people read.
fn values(recorded: &Recorded) -> Vec<Value> {
    let line = &recorded.line;
    let mut found = Vec::new();
    let ms = |values: Vec<f64>| values.into_iter().map(|ns| ns / 1e6).collect::<Vec<_>>();
    let us = |values: Vec<f64>| values.into_iter().map(|ns| ns / 1e3).collect::<Vec<_>>();
    match recorded.program.as_str() {
        _ if line.moved.is_some() => found.extend(of_pvmtime(line)),
        "blocked" | "python-idle" => {
            if let Some(blocked) = line.blocked {
                let share = 100.0 * blocked.cpu_ns as f64 / blocked.wall_ns.max(1) as f64;
                found.extend(value("processor", "%", None, vec![share]));
                found.extend(value("processor time", "s", None, vec![blocked.cpu_ns as f64 / 1e9]));
                found.extend(value("resident", "MiB", None, vec![blocked.resident_kib as f64 / 1024.0]));
            }
        }
        "start" | "start, cold" | "job" | "job, cold" => {
            found.extend(value("start and end", "ms", None, ms(line.each().collect())))
        }
        "spawn" => found.extend(value("to first messages", "ms", None, ms(line.each().collect()))),
        "rate" | "rate-1024" | "rate-blocking" => {
            let rates = line.each().filter(|ns| *ns > 0.0).map(|ns| 1e3 / ns).collect();
            found.extend(value("message rate", "M/s", None, rates));
        }
        program if program == "tail" || program.starts_with("tail, ") => {
            let hops = f64::from(line.hops.unwrap_or(1));
            for (share, name) in QUANTILES {
                let bound = quantile_of(&line.histogram, share).map(|ns| ns / hops / 1e3);
                found.extend(value(name, "us", None, bound.into_iter().collect()));
            }
        }
        "growth" => found.extend(line.memory.as_ref().into_iter().flat_map(memory)),
        "guidelines" => found.extend(guideline(line)),
        "overlap" => found.extend(overlap(line)),
        "arrival" => {
            if let (Some(operation), Some(form)) = (line.operation, line.form) {
                let name = format!("{}, {}", operation.name(), form.name());
                found.extend(value(name, "us", None, us(line.each().collect())));
            }
        }
        "pairs" => {
            let each: Vec<f64> = line.each().filter(|ns| *ns > 0.0).collect();
            let bandwidths = each.iter().map(|ns| line.size as f64 / ns).collect();
            found.extend(value("message rate", "M/s", None, each.iter().map(|ns| 1e3 / ns).collect()));
            found.extend(value("bandwidth", "GB/s", None, bandwidths));
        }
        "sockets" | "sockets, both ways" | "sockets, four machines" | "sockets, by buffer" => {
            // Where the size is that of a buffer, the message is always the same.
            let bytes = if recorded.program == "sockets, by buffer" { MESSAGE } else { line.size as f64 };
            let rates = line.each().filter(|ns| *ns > 0.0).map(|ns| bytes / ns).collect();
            found.extend(value("bandwidth", "GB/s", None, rates));
        }
        "stream" => {
            let rates = line.each().filter(|ns| *ns > 0.0).map(|ns| line.size as f64 / ns).collect();
            found.extend(value("bandwidth", "GB/s", None, rates));
        }
        "token" | "exchange" => found.extend(formed(line)),
        "vector" | "threads" | "window" => found.extend(of_mpi(line)),
        "python-first" => found.extend(value("first result", "ms", None, ms(line.each().collect()))),
        "python-single" | "python-chunks" => {
            let rates = line.each().filter(|ns| *ns > 0.0).map(|ns| 1e6 / ns).collect();
            found.extend(value("calls", "k/s", None, rates));
        }
        "halves" | "python-joblib" => {
            let work = line.work_ns.unwrap_or(1).max(1) as f64;
            found.extend(value("time over the work", "x", None, line.each().map(|ns| ns / work).collect()));
        }
        "sort" | "mandelbrot" | "network" => {
            found.extend(value("run", "ms", None, ms(line.each().collect())));
            if let Some(counts) = line.counts {
                found.extend(value("messages", "", None, vec![counts.sent as f64]));
                found.extend(value("traffic", "MB", None, vec![counts.sent_bytes as f64 / 1e6]));
            }
        }
        "lu" | "sp" | "bt" => found.extend(of_npb(line)),
        "counted" => found.extend(counted(line)),
        "group" | "loggp" => {
            if let Some(operation) = line.operation {
                found.extend(value(operation.name(), "us", None, us(line.each().collect())));
            }
        }
        "fft-alone" | "fft-rival" | "fft-rival-gang" => {
            found.extend(value("job", "ms", None, ms(line.each().collect())));
        }
        program if program == "fft" || program.starts_with("fft, ") => {
            found.extend(value("time", "us", None, us(line.each().collect())));
            for (task, wall) in line.wall_ns.iter().enumerate() {
                let at = |split: &[Vec<u64>], i: usize| split.get(task).map_or(0, |t| t[i]) as f64;
                let split = |pick: &dyn Fn(usize) -> f64| us((0..wall.len()).map(pick).collect());
                let wait = split(&|i| at(&line.wait_ns, i));
                let communication = split(&|i| at(&line.communication_ns, i));
                let computation = split(&|i| {
                    (wall[i] as f64 - at(&line.wait_ns, i) - at(&line.communication_ns, i)).max(0.0)
                });
                let task = Some(task as u32);
                found.extend(value("wait", "us", task, wait));
                found.extend(value("communication", "us", task, communication));
                found.extend(value("computation", "us", task, computation));
            }
        }
        _ => {
            let hops: Vec<f64> = line.each().collect();
            if line.size > 0 {
                let rates = hops.iter().filter(|ns| **ns > 0.0).map(|ns| line.size as f64 / ns).collect();
                found.extend(value("bandwidth", "GB/s", None, rates));
            }
            let metric = if recorded.program == "floors" { "time" } else { "half round trip" };
            found.extend(value(metric, "us", None, us(hops)));
            if let Some(cold) = line.cold_ns {
                found.extend(value(
                    "first message",
                    "us",
                    None,
                    us(vec![cold as f64 / f64::from(line.tasks)]),
                ));
            }
        }
    }
    found
}

/// The memory of a task, at two moments.
fn memory(memory: &Memory) -> impl Iterator<Item = Value> {
    // The mean: all tasks together take this, times their number.
    let mean = |kib: &[u64]| kib.iter().sum::<u64>() as f64 / kib.len().max(1) as f64 / 1024.0;
    let moments = [("memory, started", &memory.opened_kib), ("memory, met all", &memory.met_kib)];
    moments.into_iter().filter_map(move |(name, kib)| value(name, "MiB", None, vec![mean(kib)]))
}

/// The metrics of communication that was begun before a computation. They are the time of both together, the time of the communication alone,
/// and the share of the shorter that passes during the longer.
fn overlap(line: &Line) -> Vec<Value> {
    let Some(name) = &line.begun else { return Vec::new() };
    let hops = f64::from(line.hops.unwrap_or(1));
    let us = |samples: &[u64]| samples.iter().map(|ns| *ns as f64 / hops / 1e3).collect::<Vec<_>>();
    let (both, alone) = (us(&line.samples_ns), us(&line.alone_ns));
    let work = line.work_ns.unwrap_or(0) as f64 / 1e3;
    let pairs = both.iter().zip(&alone).filter(|(_, alone)| **alone > 0.0 && work > 0.0);
    let share =
        |(both, alone): (&f64, &f64)| 100.0 * ((alone + work - both) / alone.min(work)).clamp(0.0, 1.0);
    let shares = pairs.map(share).collect();
    let all = [
        value(name.clone(), "us", None, both),
        value(format!("{name}, alone"), "us", None, alone),
        value(format!("{name}, overlap"), "%", None, shares),
    ];
    all.into_iter().flatten().collect()
}

/// The metric of a guideline: the collective, its mock-up, and the ratio of each pair.
fn guideline(line: &Line) -> Vec<Value> {
    let Some(name) = &line.guideline else { return Vec::new() };
    let hops = f64::from(line.hops.unwrap_or(1));
    let us = |samples: &[u64]| samples.iter().map(|ns| *ns as f64 / hops / 1e3).collect::<Vec<_>>();
    let (collective, mock_up) = (us(&line.samples_ns), us(&line.mock_up_ns));
    let pairs = collective.iter().zip(&mock_up).filter(|(one, other)| **one > 0.0 && **other > 0.0);
    let ratios = pairs.map(|(one, other)| one / other).collect();
    let all = [
        value(name.clone(), "us", None, collective),
        value(format!("{name}, mock-up"), "us", None, mock_up),
        value(format!("{name}, ratio"), "x", None, ratios),
    ];
    all.into_iter().flatten().collect()
}

/// Counts of a message.
fn counted(line: &Line) -> Vec<Value> {
    let Some(operation) = line.operation else { return Vec::new() };
    let counts =
        [("instructions", &line.instructions), ("system calls", &line.calls), ("cache misses", &line.misses)];
    let each = counts.into_iter().filter_map(|(what, counts)| {
        let singles = counts.iter().map(|count| *count as f64).collect();
        value(format!("{what} to {}", operation.name()), "", None, singles)
    });
    each.collect()
}

/// The values of a line of a NAS benchmark, for one iteration.
fn of_npb(line: &Line) -> Vec<Value> {
    let mut found: Vec<Value> =
        value("iteration", "ms", None, line.each().map(|ns| ns / 1e6).collect()).into_iter().collect();
    let Some(applied) = line.applied else { return found };
    let ms = |ns: u64| vec![ns as f64 / 1e6];
    found.extend(value("messages", "", None, vec![applied.messages as f64]));
    found.extend(value("traffic", "MB", None, vec![applied.bytes as f64 / 1e6]));
    if line.tasks > 1 {
        found.extend(value("communication", "ms", None, ms(applied.layer_ns)));
        found.extend(value("beyond computing", "ms", None, ms(applied.beyond_ns)));
        found.extend(value("processor in communication", "ms", None, ms(applied.layer_processor_ns)));
    }
    found
}

/// What a line of pvmtime says: the mean of the masters' throughputs, and what the daemon held.
fn of_pvmtime(line: &Line) -> Vec<Value> {
    let moved = line.moved.unwrap_or_default() as f64;
    let rates: Vec<f64> = line.each().filter(|ns| *ns > 0.0).map(|ns| 8e3 * moved / ns).collect();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let memory =
        line.daemon_kib.and_then(|kib| value("daemon's memory", "MiB", None, vec![kib as f64 / 1024.0]));
    value("throughput", "Mbit/s", None, vec![mean]).into_iter().chain(memory).collect()
}

/// What a line of the suite mpi's own programs says; the form names the metric.
fn of_mpi(line: &Line) -> Option<Value> {
    let form = line.form?.name();
    let times = line.each().filter(|ns| *ns > 0.0);
    match line.program.as_str() {
        "vector" => {
            let rates = times.map(|ns| line.size as f64 / ns).collect();
            value(format!("bandwidth, every {form}"), "GB/s", None, rates)
        }
        "threads" => value(
            format!("message rate, {form} {}", if form == "one" { "thread" } else { "threads" }),
            "M/s",
            None,
            times.map(|ns| 1e3 / ns).collect(),
        ),
        _ => value(form, "us", None, times.map(|ns| ns / 1e3).collect()),
    }
}

/// What a line of a program with several forms says; the form is part of each metric's name.
fn formed(line: &Line) -> Vec<Value> {
    let Some(form) = line.form else { return Vec::new() };
    let us: Vec<f64> = line.each().map(|ns| ns / 1e3).collect();
    let mut found = Vec::new();
    let name = |what: &str| format!("{what}, {}", form.name());
    let mut add = |what: &str, unit, singles| found.extend(value(name(what), unit, None, singles));
    match line.work_ns {
        None => add("hop", "us", us),
        Some(0) => add("exchange", "us", us),
        Some(work) => {
            add("exchange with work", "us", us);
            return found
                .into_iter()
                .chain(value(name("work"), "us", None, vec![work as f64 / 1e3]))
                .collect();
        }
    }
    if let Some(counts) = line.counts {
        let share = |part: u64, whole: u64| vec![part as f64 / whole.max(1) as f64];
        let of_data = |bytes: u64| share(bytes, counts.sent_bytes);
        // What the sender buffers it copies there, in memory of the link or of its own; that is counted once, as buffered.
        let copies = counts.copied + counts.fetched + counts.buffered_at_sender;
        add("copies", "of the data", of_data(copies));
        add("buffered at the receiver", "of the data", of_data(counts.buffered_here));
        add("buffered at the sender", "of the data", of_data(counts.buffered_at_sender));
        add("unexpected", "of the messages", share(counts.unexpected, counts.sent));
        add("dropped", "of the messages", share(counts.discarded, counts.sent));
    }
    found
}

type Key = (String, String, String, String, u32, u64, Cow<'static, str>, Option<u32>);

/// The findings about a row.
#[derive(Default)]
struct Group {
    unit: &'static str,
    launches: Vec<f64>,
    launch_numbers: Vec<usize>,
    blocks: Vec<Option<usize>>,
    singles: Vec<f64>,
}

/// All rows of a session, in a stable order.
pub fn summarise(lines: &[Recorded]) -> Vec<Row> {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for recorded in lines {
        for value in values(recorded) {
            let key = (
                recorded.program.clone(),
                recorded.system.clone(),
                recorded.route.clone(),
                recorded.encoding.clone(),
                recorded.line.tasks,
                recorded.line.size,
                value.metric,
                value.task,
            );
            let group = groups.entry(key).or_default();
            group.unit = value.unit;
            group.launches.push(value.launch);
            group.launch_numbers.push(recorded.launch);
            group.blocks.push(recorded.block);
            group.singles.extend(value.singles);
        }
    }
    let mut rows: Vec<Row> = groups
        .into_iter()
        .filter_map(|((program, system, route, encoding, tasks, size, metric, task), group)| {
            let Group { unit, launches, launch_numbers, blocks, singles } = group;
            let e = estimate(&launches)?;
            Some(Row {
                program,
                system,
                route,
                encoding,
                tasks,
                size,
                metric: metric.into_owned(),
                unit: unit.to_owned(),
                task,
                median: e.median,
                low: e.low,
                high: e.high,
                samples: e.count,
                spread: (singles.len() > launches.len()).then(|| spread(&singles)).flatten(),
                launches,
                launch_numbers,
                blocks: blocks.into_iter().collect::<Option<_>>().unwrap_or_default(),
            })
        })
        .collect();
    drop_partial_quantiles(&mut rows);
    rows.extend(link_rows(lines, "ring"));
    // The time of its shortest message is that of one in a stream, not of one that is waited for.
    rows.extend(
        link_rows(lines, "sockets")
            .into_iter()
            .filter(|row| ["r_max", "n_1/2"].contains(&row.metric.as_str())),
    );
    rows
}

/// Drops each quantile that some launches have too few samples for. These are the slow launches: the others alone would look too good.
fn drop_partial_quantiles(rows: &mut Vec<Row>) {
    let key = |row: &Row| {
        (
            row.program.clone(),
            row.system.clone(),
            row.route.clone(),
            row.encoding.clone(),
            row.tasks,
            row.size,
        )
    };
    let mut launches: BTreeMap<_, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.program.starts_with("tail")) {
        let most = launches.entry(key(row)).or_default();
        *most = row.samples.max(*most);
    }
    rows.retain(|row| launches.get(&key(row)).is_none_or(|most| row.samples == *most));
}

fn spread(singles: &[f64]) -> Option<Spread> {
    let values = sorted(singles);
    Some(Spread {
        minimum: *values.first()?,
        p99: quantile(&values, 0.99)?,
        p999: quantile(&values, 0.999)?,
        maximum: *values.last()?,
        count: values.len(),
    })
}

/// The points of one launch of one system's ring.
type Curve = Vec<(u64, f64)>;

/// The launches' curves, by system, route and encoding.
fn curves(lines: &[Recorded], program: &str) -> BTreeMap<(String, String, String), Vec<Curve>> {
    let mut by_launch: BTreeMap<((String, String, String), usize), Curve> = BTreeMap::new();
    for recorded in lines.iter().filter(|r| r.program == program && r.line.tasks == 2) {
        let system = (recorded.system.clone(), recorded.route.clone(), recorded.encoding.clone());
        if let Some(ns) = median(&recorded.line.each().collect::<Vec<_>>()) {
            by_launch.entry((system, recorded.launch)).or_default().push((recorded.line.size, ns));
        }
    }
    let mut curves: BTreeMap<_, Vec<Curve>> = BTreeMap::new();
    for ((system, _), curve) in by_launch {
        curves.entry(system).or_default().push(curve);
    }
    curves
}

/// The median over launches at each size.
fn points(curves: &[Curve]) -> Vec<Point> {
    let mut sizes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (size, ns) in curves.iter().flatten() {
        sizes.entry(*size).or_default().push(*ns);
    }
    sizes.into_iter().filter_map(|(size, ns)| Some(Point { bytes: size as f64, ns: median(&ns)? })).collect()
}

fn link_rows(lines: &[Recorded], program: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for ((system, route, encoding), launches) in curves(lines, program) {
        let mut add = |metric: &str, unit: &str, e: Option<Estimate>| {
            let Some(e) = e else { return };
            rows.push(Row {
                program: program.into(),
                system: system.clone(),
                route: route.clone(),
                encoding: encoding.clone(),
                tasks: 2,
                size: 0,
                metric: metric.into(),
                unit: unit.into(),
                task: None,
                median: e.median,
                low: e.low,
                high: e.high,
                samples: e.count,
                spread: None,
                launches: Vec::new(),
                launch_numbers: Vec::new(),
                blocks: Vec::new(),
            });
        };
        let of = |pick: fn(Link) -> f64| {
            bootstrap(&launches, 200, 1994, move |sample| fit::link(&points(sample)).map(pick))
        };
        add("r_max", "GB/s", of(|link| link.r_max));
        add("n_1/2", "B", of(|link| link.n_half));
        add("t_0", "us", of(|link| link.t_zero / 1e3));
        let line = |pick: fn(fit::Line) -> f64| {
            bootstrap(&launches, 200, 1994, move |sample| fit::line(&points(sample)).map(pick))
        };
        add("line: rate", "GB/s", line(|l| l.rate));
        add("line: start", "us", line(|l| l.t_zero / 1e3));
        add("line: worst residual", "%", line(|l| 100.0 * l.worst));
    }
    rows
}

/// Finds rows by what they are about.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a>(pub &'a [Row]);

impl<'a> Rows<'a> {
    /// The row of a system for one program, metric, number of tasks and size.
    pub fn find(
        &self,
        program: &str,
        system: &System,
        metric: &str,
        tasks: u32,
        size: u64,
    ) -> Option<&'a Row> {
        self.of(program, system)
            .find(|r| r.metric == metric && r.tasks == tasks && r.size == size && r.task.is_none())
    }

    /// All rows of a system for one program.
    pub fn of(&self, program: &str, system: &System) -> impl Iterator<Item = &'a Row> {
        let (program, system) = (program.to_owned(), *system);
        self.0.iter().filter(move |r| {
            r.program == program
                && r.system == system.family.name()
                && r.route == system.route
                && r.encoding == system.encoding.name()
        })
    }

    /// The half round trip of an empty message over one layer.
    pub fn layer(&self, route: &str, layer: &str) -> Option<&'a Row> {
        self.0.iter().find(|r| {
            r.program == "layers" && r.route == route && r.system == layer && r.metric == "half round trip"
        })
    }

    /// All rows of one floor for one metric.
    pub fn floor(&self, floor: &str, metric: &str) -> impl Iterator<Item = &'a Row> {
        let (floor, metric) = (floor.to_owned(), metric.to_owned());
        self.0.iter().filter(move |r| r.program == "floors" && r.system == floor && r.metric == metric)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::systems::system::{Extent, ring_systems};

    /// A row of two tasks with these launches.
    pub fn row(system: &System, program: &str, metric: &str, size: u64, launches: &[f64]) -> Row {
        let e = estimate(launches).unwrap();
        Row {
            program: program.into(),
            system: system.family.name().into(),
            route: system.route.into(),
            encoding: system.encoding.name().into(),
            tasks: 2,
            size,
            metric: metric.into(),
            unit: "us".into(),
            task: None,
            median: e.median,
            low: e.low,
            high: e.high,
            samples: e.count,
            spread: None,
            launches: launches.to_vec(),
            launch_numbers: (0..launches.len()).collect(),
            blocks: Vec::new(),
        }
    }

    fn recorded(launch: usize, size: u64, ns: u64) -> Recorded {
        let system = ring_systems(Extent::Quick)[0];
        let line = Line {
            program: "ring".into(),
            tasks: 2,
            size,
            hops: Some(2),
            samples_ns: vec![2 * ns; 5],
            ..Line::default()
        };
        Recorded::new(launch, "ring", Some(&system), line)
    }

    #[test]
    fn summary_uses_one_median_per_launch() {
        let lines: Vec<Recorded> = (0..10).map(|launch| recorded(launch, 8, 400 + launch as u64)).collect();
        let rows = summarise(&lines);
        let system = ring_systems(Extent::Quick)[0];
        let row = Rows(&rows).find("ring", &system, "half round trip", 2, 8).unwrap();
        assert_eq!(row.samples, 10);
        assert!((row.median - 0.4045).abs() < 1e-9);
        assert_eq!((row.low, row.high), (0.401, 0.408));
        assert_eq!(row.spread.unwrap().count, 50);
    }

    #[test]
    fn sockets_have_rates_by_message_and_by_buffer() {
        let system =
            System::new(crate::systems::system::Family::Sockets, "", crate::systems::system::Encoding::None);
        let line = |size, ns| Line {
            program: "sockets".into(),
            tasks: 2,
            size,
            samples_ns: vec![ns],
            ..Line::default()
        };
        let recorded = |program, size, ns| Recorded::new(0, program, Some(&system), line(size, ns));
        let rows = summarise(&[
            recorded("sockets", 1000, 1000),
            recorded("sockets", 100_000, 10_000),
            recorded("sockets, by buffer", 1024, 32768),
        ]);
        let of = |program: &str, metric: &str, size| {
            Rows(&rows).find(program, &system, metric, 2, size).map(|row| row.median)
        };
        assert_eq!(of("sockets, by buffer", "bandwidth", 1024), Some(1.0));
        assert_eq!((of("sockets", "bandwidth", 1000), of("sockets", "r_max", 0)), (Some(1.0), Some(10.0)));
        assert_eq!(of("sockets", "t_0", 0), None);
    }

    #[test]
    fn pairs_have_message_rate_and_bandwidth_of_all_together() {
        let system = ring_systems(Extent::Quick)[0];
        // Two pairs sent 1,000 messages each in a millisecond.
        let line = Line {
            program: "pairs".into(),
            tasks: 4,
            size: 1000,
            hops: Some(2000),
            samples_ns: vec![1_000_000; 3],
            ..Line::default()
        };
        let rows = summarise(&[Recorded::new(0, "pairs", Some(&system), line)]);
        let of = |metric: &str| Rows(&rows).find("pairs", &system, metric, 4, 1000).map(|row| row.median);
        assert_eq!((of("message rate"), of("bandwidth")), (Some(2.0), Some(2.0)));
    }

    #[test]
    fn tail_has_quantiles_that_its_samples_allow() {
        let system = ring_systems(Extent::Quick)[0];
        let line = Line {
            program: "tail".into(),
            tasks: 2,
            size: 8,
            hops: Some(2),
            histogram: vec![[40, 990], [60, 10]],
            ..Line::default()
        };
        let rows = summarise(&[Recorded::new(0, "tail, neighbour", Some(&system), line)]);
        let of =
            |metric: &str| Rows(&rows).find("tail, neighbour", &system, metric, 2, 8).map(|row| row.median);
        assert_eq!((of("p50"), of("p99"), of("p99.9")), (Some(0.02), Some(0.02), None));
    }

    #[test]
    fn quantile_that_slow_launches_lack_is_dropped() {
        let system = ring_systems(Extent::Quick)[0];
        let recorded = |launch, histogram| {
            let line = Line { program: "tail".into(), tasks: 2, size: 8, histogram, ..Line::default() };
            Recorded::new(launch, "tail", Some(&system), line)
        };
        let rows = summarise(&[recorded(0, vec![[40, 1000]]), recorded(1, vec![[4096, 100]])]);
        let found: Vec<(&str, usize)> = rows.iter().map(|row| (row.metric.as_str(), row.samples)).collect();
        assert_eq!(found, [("p50", 2), ("p90", 2)], "the second launch has no p99");
    }

    #[test]
    fn guideline_has_both_times_and_ratio_of_pairs() {
        let system = ring_systems(Extent::Quick)[0];
        let line = Line {
            program: "guidelines".into(),
            guideline: Some("a <= b".into()),
            tasks: 2,
            size: 8,
            hops: Some(10),
            samples_ns: vec![10_000, 20_000, 30_000],
            mock_up_ns: vec![20_000, 40_000, 60_000],
            ..Line::default()
        };
        let rows = summarise(&[Recorded::new(0, "guidelines", Some(&system), line)]);
        let of = |metric: &str| Rows(&rows).find("guidelines", &system, metric, 2, 8).map(|row| row.median);
        assert_eq!(
            (of("a <= b"), of("a <= b, mock-up"), of("a <= b, ratio")),
            (Some(2.0), Some(4.0), Some(0.5))
        );
    }

    #[test]
    fn throughputs_of_masters_are_averaged() {
        let line = |samples_ns| Line {
            program: "pvmtime".into(),
            tasks: 8,
            size: 1000,
            moved: Some(1_000_000),
            daemon_kib: Some(2048),
            samples_ns,
            ..Line::default()
        };
        let system = ring_systems(Extent::Quick)[0];
        let lines = [Recorded::new(0, "blast, 4.1-4.1", Some(&system), line(vec![8_000_000, 4_000_000]))];
        let rows = summarise(&lines);
        let of =
            |metric: &str| Rows(&rows).find("blast, 4.1-4.1", &system, metric, 8, 1000).map(|row| row.median);
        assert_eq!((of("throughput"), of("daemon's memory")), (Some(1500.0), Some(2.0)));
    }

    #[test]
    fn summary_of_curve_gives_link_numbers() {
        let lines: Vec<Recorded> = (0..6)
            .flat_map(|l| [(0, 500), (1000, 750), (1_000_000, 250_500)].map(|(n, t)| recorded(l, n, t)))
            .collect();
        let rows = summarise(&lines);
        let r_max = rows.iter().find(|r| r.metric == "r_max").unwrap();
        assert!((r_max.median - 1e6 / 250_500.0).abs() < 1e-9);
        assert_eq!(r_max.samples, 6);
        let residual = rows.iter().find(|r| r.metric == "line: worst residual").unwrap();
        assert!(residual.median < 0.1);
    }
}
