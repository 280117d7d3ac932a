//! Up to 32 nodes with the paper's network, in simulation: its curves again, and those of today's protocols.

use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::markup::{escape, figure};
use crate::stats::summary::Row;
use cluster::curves::{Curve, NODES, SUBJECTS, Way, all};
use std::fmt::Write;
use std::sync::OnceLock;

/// What the paper says of its own curves of each program, in our words.
const FOUND: [&str; 4] = [
    "TreadMarks rose up to 8 nodes and fell below 1; MPI reached 23 and PVM 21 on 32.",
    "TreadMarks was good up to 16 nodes and fell to 3 on 32; MPI reached 21, and the hybrid nearly PVM's.",
    "A little gain on two nodes and then less; TreadMarks fell fastest.",
    "All much alike, nearly in proportion up to 24 nodes.",
];

const SPEED_UP: Axes = Axes {
    title: "Speed-up",
    x: |nodes| format!("{nodes:.0}"),
    x_name: "nodes",
    y_name: "one node's time / time, higher is better",
    break_even: true,
    width: 560.0,
};

const TRAFFIC: Axes =
    Axes { title: "Traffic", y_name: "MB of all nodes, lower is better", break_even: false, ..SPEED_UP };

/// The same whenever they are computed, so once is enough.
fn curves() -> &'static [Curve] {
    static CURVES: OnceLock<Vec<Curve>> = OnceLock::new();
    CURVES.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        all(&SUBJECTS, &NODES, threads)
    })
}

fn colour(way: Way) -> (&'static str, &'static str) {
    match way {
        Way::Classic => ("s-openmpi", ""),
        Way::Lazy => ("s-parvum", ""),
        Way::Home => ("s-parvum2", ""),
        Way::Hybrid => ("s-engine", "dash1"),
        Way::Mpi => ("s-mpich", ""),
        Way::Pvm => ("s-pvm", "dash1"),
    }
}

/// A line of a chart; what is nothing has no place on it.
fn line(curve: &Curve, values: impl Iterator<Item = (usize, f64)>) -> Series {
    let (class, dash) = colour(curve.way);
    let point = |(nodes, y): (usize, f64)| Point { x: nodes as f64, y, low: y, high: y };
    let points = values.filter(|(_, y)| *y > 0.0).map(point).collect();
    Series { label: curve.way.name().into(), class, dash, points }
}

fn megabytes(curve: &Curve) -> impl Iterator<Item = (usize, f64)> + '_ {
    curve.runs.iter().map(|(nodes, run)| (*nodes, run.bytes as f64 / 1e6))
}

/// The section of the page.
pub fn section(html: &mut String, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    html.push_str(
        "<h2 id=\"nodes\">32 nodes of 2004, in simulation</h2>\
         <p>The paper's network (100 Mbit/s, one switch) and processors (800 MHz) in simulation, where this machine has a few cores. The protocol \
         is the very one that Parvum's TreadMarks runs: its messages, bytes and diffs are real; what a message, a fault and a diff take is modelled \
         (<code>lab/cluster</code>). By the protocol of 1994 all nodes' changes of the net's matrix are sent again and again, and more nodes make it slower; sent \
         as one (<em>lazy</em>), or to a home, they do not. The same each time; nothing of it was measured on this machine.</p>",
    );
    for (subject, found) in SUBJECTS.iter().zip(FOUND) {
        let _ = write!(
            html,
            "<h3>{}</h3><p>The paper: {}</p><div class=\"pair\">",
            escape(subject.name),
            escape(found)
        );
        let own = || curves().iter().filter(|curve| curve.subject == *subject);
        let speed: Vec<Series> = own().map(|curve| line(curve, curve.speed_ups())).collect();
        let traffic: Vec<Series> = own().map(|curve| line(curve, megabytes(curve))).collect();
        figure(html, &chart(&speed, &SPEED_UP), "");
        figure(html, &chart(&traffic, &TRAFFIC), "");
        html.push_str("</div>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_curves_show_finding_of_paper_and_its_cure() {
        let on = |subject: usize, way: Way, nodes: usize| {
            let curve = curves().iter().find(|curve| curve.subject == SUBJECTS[subject] && curve.way == way);
            let found = curve.and_then(|curve| curve.speed_ups().find(|(of, _)| *of == nodes));
            found.map_or(0.0, |(_, speed)| speed)
        };
        // Both nets: up, and down again; messages go on rising, and so does what sends changes as one.
        for (net, peak) in [(0, 8), (1, 16)] {
            assert!(on(net, Way::Classic, 32) < 0.6 * on(net, Way::Classic, peak));
            assert!(on(net, Way::Mpi, 32) > 20.0 && on(net, Way::Lazy, 32) > 2.5 * on(net, Way::Classic, 32));
        }
        // The larger net at 32 nodes, which the paper gives as three and 21.
        assert!((2.5..4.5).contains(&on(1, Way::Classic, 32)) && on(1, Way::Hybrid, 32) > 18.0);
        assert!((2..=32).all(|nodes| on(2, Way::Classic, nodes) < 1.0), "mergesort gains nothing");
    }

    #[test]
    fn nodes_section_has_two_charts_per_program() {
        let mut html = String::new();
        section(&mut html, &[]);
        assert!(html.is_empty());
        section(&mut html, &super::super::tests::example());
        assert_eq!(html.matches("<svg").count(), 2 * SUBJECTS.len());
        assert!(!html.contains("NaN") && html.contains("TreadMarks classic"));
    }
}
