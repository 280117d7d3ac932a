//! The figures and the words under them.

use super::curve::{Axes, Point, Series, chart};
use super::headline::class;
use super::markup::{bytes, figure, points as points_text};
use super::split::{self, Group, Task};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System, fft_systems, ring_systems};

fn point(row: &Row) -> Point {
    Point { x: row.size as f64, y: row.median, low: row.low, high: row.high }
}

fn by_size(mut points: Vec<Point>) -> Vec<Point> {
    points.retain(|p| p.x > 0.0 && p.y > 0.0);
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

fn ring_series(
    rows: &Rows,
    systems: &[System],
    metric: &str,
    dash: fn(&System) -> &'static str,
) -> Vec<Series> {
    systems
        .iter()
        .map(|system| Series {
            label: system.label(),
            class: class(system),
            dash: dash(system),
            points: by_size(rows.of("ring", system).filter(|r| r.metric == metric).map(point).collect()),
        })
        .collect()
}

/// What the machine does without a library: the least time, but the most bandwidth.
fn floor_series(rows: &Rows, floors: &[&str], metric: &str) -> Vec<Series> {
    floors
        .iter()
        .map(|floor| Series {
            label: format!("{}: {floor}", if metric == "bandwidth" { "limit" } else { "floor" }),
            class: "s-floor",
            dash: "dash1",
            points: by_size(rows.floor(floor, metric).map(point).collect()),
        })
        .collect()
}

const HOP: Axes = Axes {
    title: "Time of one hop (half a round trip)",
    x: bytes,
    x_name: "message length",
    y_name: "\u{b5}s, lower is better",
    break_even: false,
    width: 1030.0,
};

/// Time and bandwidth of these systems' rings over hosts: of a network there are no floors here.
pub fn hops(html: &mut String, rows: &[Row], systems: &[System]) {
    let rows = &Rows(rows);
    figure(html, &chart(&ring_series(rows, systems, "half round trip", |_| ""), &HOP), "");
    let axes = Axes { title: "Bandwidth", y_name: "GB/s, higher is better", ..HOP };
    figure(
        html,
        &chart(&ring_series(rows, systems, "bandwidth", |_| ""), &axes),
        "Message length divided by the time of one hop.",
    );
}

/// Latency and bandwidth of these systems' rings, and the floors.
pub fn curves(html: &mut String, rows: &[Row], systems: &[System]) {
    let rows = &Rows(rows);
    html.push_str(
        "<h2 id=\"ring\">The ring: one message between two tasks</h2>\
         <p>Each task has a core of its own. Grey dashed lines are what this machine does with no messaging library at all, \
         measured in the same session: a floor below times, a limit above bandwidths.</p>",
    );
    let mut series = ring_series(rows, systems, "half round trip", |_| "");
    series.extend(floor_series(rows, &["shared flag", "unix socket", "loopback tcp"], "time"));
    figure(
        html,
        &chart(&series, &HOP),
        "Both axes are logarithmic; vertical marks are 95 % intervals, often smaller than the dots. Raw encoding where there is a \
         choice. The empty message has no place on a logarithmic axis; it is in the table of all numbers.",
    );
    let axes = Axes { title: "Bandwidth", y_name: "GB/s, higher is better", ..HOP };
    let mut series = ring_series(rows, systems, "bandwidth", |_| "");
    series.extend(floor_series(
        rows,
        &["memory copy", "copy between cores", "single-copy call"],
        "bandwidth",
    ));
    figure(
        html,
        &chart(&series, &axes),
        "Message length divided by the time of one hop. A message must be copied at least once, and one core copies no faster than the upper grey line; \
         a library that lets both sides copy at once can pass the single-copy call.",
    );
}

/// Latency and bandwidth of the ring, and what the encoding costs.
pub fn points(html: &mut String, rows: &[Row]) {
    let main: Vec<System> = ring_systems(Extent::Full)
        .into_iter()
        .filter(|s| matches!(s.encoding, Encoding::Raw | Encoding::None))
        .collect();
    curves(html, rows, &main);
    let rows = Rows(rows);
    let choices: Vec<System> = ring_systems(Extent::Full)
        .into_iter()
        .filter(|s| matches!((s.family, s.route), (Family::Parvum, "shm") | (Family::Pvm, "direct")))
        .collect();
    let dash: fn(&System) -> &'static str = |system| match system.encoding {
        Encoding::Xdr => "dash1",
        Encoding::InPlace => "dash2",
        _ => "",
    };
    let axes = Axes {
        title: "What the encoding costs: bandwidth of PVM programs",
        y_name: "GB/s, higher is better",
        ..HOP
    };
    figure(
        html,
        &chart(&ring_series(&rows, &choices, "bandwidth", dash), &axes),
        "Solid: raw. Dashed: XDR, PVM's default, which makes the bytes portable. Dotted: in place, which packs nothing and sends from \
         the program's own memory.",
    );
}

/// Time and speed-up of the transform, under the systems of the main suite.
pub fn transforms(html: &mut String, rows: &[Row]) {
    transforms_of(html, rows, &fft_systems(Extent::Full), &[2, 4]);
}

/// The same under these systems and on so many tasks.
pub fn transforms_of(html: &mut String, rows: &[Row], systems: &[System], tasks: &[u32]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"fft\">The parallel FFT</h2>\
         <p>A transform of n points in blocks over the tasks. log<sub>2</sub> P of its stages exchange whole blocks between tasks, so \
         small transforms are all message passing and large ones mostly arithmetic. The largest error against a serial transform in double precision \
         was below 10<sup>-5</sup> in every launch.</p><div class=\"pair\">",
    );
    for tasks in tasks.iter().copied() {
        let (time, speed_up) =
            (format!("Time on {tasks} tasks"), format!("Speed-up on {tasks} tasks over 1"));
        let axes = Axes {
            title: &time,
            x: points_text,
            x_name: "points",
            y_name: "\u{b5}s, lower is better",
            break_even: false,
            width: 560.0,
        };
        let series: Vec<Series> = systems
            .iter()
            .map(|system| Series {
                label: short(system),
                class: class(system),
                dash: "",
                points: by_size(
                    rows.of("fft", system)
                        .filter(|r| r.metric == "time" && r.tasks == tasks)
                        .map(point)
                        .collect(),
                ),
            })
            .collect();
        figure(html, &chart(&series, &axes), "");
        let axes =
            Axes { title: &speed_up, y_name: "times faster, higher is better", break_even: true, ..axes };
        let series: Vec<Series> = systems
            .iter()
            .map(|system| Series {
                label: short(system),
                class: class(system),
                dash: "",
                points: by_size(speed_ups(&rows, system, tasks)),
            })
            .collect();
        figure(html, &chart(&series, &axes), "");
    }
    html.push_str(
        "</div><p class=\"note\">Speed-up is against one task of the same program under the same system (which sends nothing); its \
         absolute times are in the table of all numbers. The interval combines the ends of both intervals. The dotted line is break-even.</p>",
    );
}

/// Labels without the encoding, for narrow charts.
fn short(system: &System) -> String {
    if system.route.is_empty() {
        system.family.name().into()
    } else {
        format!("{} {}", system.family.name(), system.route)
    }
}

/// Each size's time on one task over its time on `tasks`.
fn speed_ups(rows: &Rows, system: &System, tasks: u32) -> Vec<Point> {
    rows.of("fft", system)
        .filter(|r| r.metric == "time" && r.tasks == tasks)
        .filter_map(|many| {
            let one = rows.find("fft", system, "time", 1, many.size)?;
            Some(Point {
                x: many.size as f64,
                y: one.median / many.median,
                low: one.low / many.high,
                high: one.high / many.low,
            })
        })
        .collect()
}

/// Each task's wait, communication and computation.
pub fn groups(rows: &Rows, systems: &[System], tasks: u32, size: u64) -> Vec<Group> {
    let mut groups = Vec::new();
    for system in systems {
        let part = |metric: &str, task: u32| {
            rows.of("fft", system)
                .find(|r| r.metric == metric && r.tasks == tasks && r.size == size && r.task == Some(task))
                .map(|r| r.median)
        };
        let tasks: Option<Vec<Task>> = (0..tasks)
            .map(|task| {
                Some(Task {
                    wait: part("wait", task)?,
                    communication: part("communication", task)?,
                    computation: part("computation", task)?,
                })
            })
            .collect();
        if let Some(tasks) = tasks {
            groups.push(Group { label: short(system), tasks });
        }
    }
    groups
}

/// The stacked bars of the main suite.
pub fn splits(html: &mut String, rows: &[Row]) {
    splits_of(html, rows, &fft_systems(Extent::Full));
}

/// The same under these systems.
pub fn splits_of(html: &mut String, rows: &[Row], systems: &[System]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"split\">Where the time goes</h2>\
         <p>Every task of the transform on 4 tasks, as in Table 8 of Islam, McGrath and Campbell: blocked in a receive, \
         communicating (packing, sending, unpacking), or computing. A task whose core is taken by another task seems to compute meanwhile: \
         with 4 tasks on fewer cores that is part of the picture.</p>\
         <div class=\"legend\"><span><i style=\"background:var(--wait)\"></i>wait</span>\
         <span><i style=\"background:var(--communication)\"></i>communication</span>\
         <span><i style=\"background:var(--computation)\"></i>computation</span></div><div class=\"pair\">",
    );
    for (size, title) in
        [(128, "128 points"), (1024, "1024 points"), (65536, "65536 points"), (1 << 20, "2^20 points")]
    {
        figure(html, &split::bars(title, &groups(&rows, systems, 4, size), 560.0), "");
    }
    html.push_str("</div>");
}
