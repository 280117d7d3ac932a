//! What the costs say of more hosts than anybody here has.

use super::costs;
use super::hosts::{OURS, machine, predicted};
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::markup::figure;
use crate::stats::summary::{Row, Rows};
use replay::group::Operation;

/// Numbers of tasks, each on a host of its own.
const TASKS: [usize; 9] = [2, 8, 32, 64, 128, 512, 2048, 4096, 10_000];

/// What is drawn: an operation, bytes of one task's data, the most tasks (all to all are too many messages for more), a colour.
const DRAWN: [(Operation, u64, usize, &str, &str); 4] = [
    (Operation::Barrier, 0, 10_000, "barrier", "s-mpi"),
    (Operation::Broadcast, 8, 10_000, "broadcast, 8 B", "s-parvum"),
    (Operation::Allreduce, 8, 10_000, "allreduce, 8 B", "s-engine"),
    (Operation::Alltoall, 8, 512, "alltoall, 8 B to each", "s-pvm"),
];

/// A curve for each operation, up to 10,000 tasks.
pub(super) fn section(html: &mut String, rows: &[Row]) {
    let Some(between) = costs(&Rows(rows), &OURS) else { return };
    let series: Vec<Series> = DRAWN
        .into_iter()
        .map(|(operation, data, most, label, class)| {
            let tasks = TASKS.into_iter().filter(|tasks| *tasks <= most);
            let points = tasks.map(|tasks| {
                let ms = predicted(operation, data, &machine(between, tasks)) / 1000.0;
                Point { x: tasks as f64, y: ms, low: ms, high: ms }
            });
            Series { label: label.to_owned(), class, dash: "", points: points.collect() }
        })
        .collect();
    html.push_str(
        "<h2 id=\"many\">Up to 10,000</h2><p>The same operations on as many hosts of the same costs, by the plans that the library would choose; nobody has measured these. \
         All to all end at 512 hosts.</p>",
    );
    let axes = Axes {
        title: "Predicted time of a group operation",
        x: |tasks| format!("{tasks:.0}"),
        x_name: "hosts, a task on each",
        y_name: "ms, lower is better",
        break_even: false,
        width: 900.0,
    };
    figure(html, &chart(&series, &axes), "Predicted by the costs of a message between two of these hosts.");
}
