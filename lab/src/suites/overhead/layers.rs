//! Where the time of a null message goes: the paper's Table 4, made by peeling. Each part is the difference of two layers'
//! round trips, the whole is measured by other launches than the parts.

use super::{CMMD, CONTAINERS, ENGINE, NX, PVM, ROUTED, TCP};
use crate::papers::printed;
use crate::stats::goals::digits;
use crate::stats::summary::Rows;
use crate::systems::system::System;
use crate::table::columns;
use std::fmt::Write;

/// The program of the launches that the parts come from, and of those that the whole comes from.
pub const PARTS: &str = "null, for parts";
pub const WHOLE: &str = "null";
/// By how much the parts may differ from the whole.
pub const TOLERANCE: f64 = 0.05;

/// A part of a message's way, in the paper's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What an interface does.
    Call,
    /// What the library does.
    LookUp,
    /// What the engine does.
    Protocol,
    /// What it takes to find out that nobody sleeps.
    WakeUp,
    /// What the ring, or the framing, does.
    Queue,
    /// What the hardware, or the kernel, does.
    Transfer,
}

impl Part {
    /// In the paper's order: from the program down.
    pub const ALL: [Part; 6] =
        [Part::Call, Part::LookUp, Part::Protocol, Part::WakeUp, Part::Queue, Part::Transfer];

    /// As the tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Part::Call => "call",
            Part::LookUp => "look-up",
            Part::Protocol => "protocol",
            Part::WakeUp => "wake-up",
            Part::Queue => "queue",
            Part::Transfer => "transfer",
        }
    }

    /// What it stands for here.
    pub fn meaning(self) -> &'static str {
        match self {
            Part::Call => "the interface: names, argument rules, node numbers, what is said of a message",
            Part::LookUp => {
                "the library: table of functions, lock, peer and route, clock; routed: the daemon and all below too"
            }
            Part::Protocol => "the engine: order, credit, matching, ledger",
            Part::WakeUp => "the link: a fence, and a look at the receiver's door",
            Part::Queue => "shm: a frame into a cell of the ring and out of it; tcp: frames over the stream",
            Part::Transfer => "shm: a cache line between two cores; tcp: bare sockets; routed: a bare relay",
        }
    }

    /// The paper's activity of this kind.
    fn activity(self) -> Option<&'static str> {
        match self {
            Part::Call => Some("proxy call"),
            Part::LookUp => Some("end point look-up"),
            Part::Protocol => Some("protocol processing"),
            Part::WakeUp => Some("network interrupt handler"),
            Part::Queue => None,
            Part::Transfer => Some("network transmission"),
        }
    }
}

/// What was measured with all up to one part on the way.
#[derive(Debug, Clone, Copy)]
enum Up {
    /// By the program `layers`.
    Layer(&'static str),
    /// By the ring, through this system's calls.
    Ring(System),
}

/// A way of messages with its layers, the lowest first.
pub struct MessagePath {
    /// For headings.
    pub name: &'static str,
    route: &'static str,
    steps: &'static [(Part, Up)],
    /// Through whose calls the whole is measured.
    whole: System,
}

const BELOW: [(Part, Up); 4] = [
    (Part::Transfer, Up::Layer("cell")),
    (Part::Queue, Up::Layer("ring")),
    (Part::WakeUp, Up::Layer("link")),
    (Part::Protocol, Up::Layer("engine")),
];

const fn over_shm(name: &'static str, steps: &'static [(Part, Up)], whole: System) -> MessagePath {
    MessagePath { name, route: "shm", steps, whole }
}

const fn interface(system: System) -> [(Part, Up); 6] {
    let [transfer, queue, wake_up, protocol] = BELOW;
    [transfer, queue, wake_up, protocol, (Part::LookUp, Up::Ring(ENGINE)), (Part::Call, Up::Ring(system))]
}

/// All ways.
pub const WAYS: [MessagePath; 6] = [
    over_shm("NX", &const { interface(NX) }, NX),
    over_shm("CMMD", &const { interface(CMMD) }, CMMD),
    over_shm("containers", &const { interface(CONTAINERS) }, CONTAINERS),
    over_shm("PVM raw", &const { interface(PVM) }, PVM),
    MessagePath {
        name: "tcp",
        route: "tcp",
        steps: &[
            (Part::Transfer, Up::Layer("socket")),
            (Part::Queue, Up::Layer("link")),
            (Part::Protocol, Up::Layer("engine")),
            (Part::LookUp, Up::Ring(TCP)),
        ],
        whole: TCP,
    },
    MessagePath {
        name: "routed",
        route: "routed",
        steps: &[(Part::Transfer, Up::Layer("relay")), (Part::LookUp, Up::Ring(ROUTED))],
        whole: ROUTED,
    },
];

/// A null round trip taken apart, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Peeled {
    /// What each layer adds; less than nothing where it cannot be told from noise.
    pub parts: Vec<(Part, f64)>,
    /// Of the parts.
    pub sum: f64,
    /// Measured by launches of its own.
    pub whole: f64,
}

impl Peeled {
    /// By how much the parts are off, as a share of the whole.
    pub fn off(&self) -> f64 {
        self.sum / self.whole - 1.0
    }

    /// The smallest part, as a share of the whole. Less than nothing is what the launches differ by, or a mistake.
    pub fn least(&self) -> f64 {
        self.parts.iter().map(|(_, ns)| ns / self.whole).fold(f64::INFINITY, f64::min)
    }

    /// Of one part.
    pub fn part(&self, part: Part) -> Option<f64> {
        self.parts.iter().find(|(which, _)| *which == part).map(|(_, ns)| *ns)
    }
}

/// Nanoseconds of a round trip from microseconds of half of one.
fn round_trip(us: f64) -> f64 {
    2000.0 * us
}

/// Takes one way apart, if all of it was measured.
pub fn peel(rows: &Rows, way: &MessagePath) -> Option<Peeled> {
    let ring = |program, system: &System| {
        rows.find(program, system, "half round trip", 2, 0).map(|row| round_trip(row.median))
    };
    let (mut parts, mut below) = (Vec::new(), 0.0);
    for (part, up) in way.steps {
        let with = match up {
            Up::Layer(layer) => rows.layer(way.route, layer).map(|row| round_trip(row.median)),
            Up::Ring(system) => ring(PARTS, system),
        }?;
        parts.push((*part, with - below));
        below = with;
    }
    let sum = parts.iter().map(|(_, ns)| ns).sum();
    Some(Peeled { parts, sum, whole: ring(WHOLE, &way.whole)? })
}

/// Half round trips over a link in microseconds: the receiver awake, and asleep before each message.
pub fn wake_up(rows: &Rows) -> Option<[f64; 2]> {
    let half = |layer| rows.layer("shm", layer).map(|row| row.median);
    Some([half("link")?, half("link, receiver asleep")?])
}

/// The table's lines: a part each, then the sums.
pub fn lines(rows: &Rows) -> Vec<Vec<String>> {
    let ways: Vec<Option<Peeled>> = WAYS.iter().map(|way| peel(rows, way)).collect();
    if ways.iter().all(Option::is_none) {
        return Vec::new();
    }
    let cells = |cell: &dyn Fn(&Peeled) -> Option<String>| -> Vec<String> {
        ways.iter().map(|way| way.as_ref().and_then(cell).unwrap_or_else(|| "-".into())).collect()
    };
    let mut lines = Vec::new();
    let mut add = |name: &str, ours: Vec<String>, paper: [String; 3]| {
        lines.push(std::iter::once(name.to_owned()).chain(ours).chain(paper).collect());
    };
    for part in Part::ALL {
        let ours = cells(&|way| way.part(part).map(|ns| format!("{ns:.0}")));
        add(part.name(), ours, papers(part.activity()));
    }
    add("(virtual calls)", cells(&|_| None), papers(Some("virtual function call")));
    add("sum", cells(&|way| Some(format!("{:.0}", way.sum))), [const { String::new() }; 3]);
    let whole = printed::NULL_ROUND_TRIPS.map(digits);
    add("measured", cells(&|way| Some(format!("{:.0}", way.whole))), whole);
    let off = cells(&|way| Some(format!("{:+.1} %", 100.0 * way.off())));
    add("off by", off, [const { String::new() }; 3]);
    lines
}

/// What one of the paper's activities cost on its three systems.
fn papers(activity: Option<&str>) -> [String; 3] {
    let found = printed::NULL_ACTIVITIES.iter().find(|known| Some(known.name) == activity);
    std::array::from_fn(|system| {
        found.map(|known| known.cost(system)).filter(|us| *us > 0.0).map_or_else(|| "-".into(), digits)
    })
}

/// The table's headings.
pub fn headings() -> Vec<&'static str> {
    let mut headings = vec![""];
    headings.extend(WAYS.iter().map(|way| way.name));
    headings.extend(["Multimax", "iPSC/2", "SPARC"]);
    headings
}

/// For a terminal.
pub fn render(text: &mut String, rows: &Rows) {
    let lines = lines(rows);
    if !lines.is_empty() {
        text.push_str(
            "\nWhere the time of a null round trip goes (Table 4): ns here, us in the paper's last three columns.\n",
        );
        columns(text, &headings(), &lines);
        for part in Part::ALL {
            let _ = writeln!(text, "  {:8}  {}", part.name(), part.meaning());
        }
    }
    if let Some([awake, asleep]) = wake_up(rows) {
        let _ = writeln!(
            text,
            "\nA receiver that is awake has a message after {} us, one that sleeps after {} us.\n\
             (A context switch of the paper's SPARCstation II: {} us.)",
            digits(awake),
            digits(asleep),
            digits(printed::CONTEXT_SWITCH)
        );
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stats::summary::tests::row;
    use crate::stats::summary::{Recorded, Row, summarise};

    /// Rows in which every layer adds 10 ns to half a round trip, and the whole is as said.
    pub fn layers(whole: f64) -> Vec<Row> {
        let line = |route: &str, layer: &str, ns: u64| {
            let text = format!(
                r#"{{"program":"layers","layer":"{layer}","route":"{route}","tasks":2,"size":0,"samples_ns":[{ns}]}}"#
            );
            let line = crate::stats::samples::parse_line(&text).expect("a line");
            Recorded::new(0, "layers", None, line)
        };
        let lines = [
            line("shm", "cell", 100),
            line("shm", "ring", 110),
            line("shm", "link", 120),
            line("shm", "engine", 130),
            line("shm", "link, receiver asleep", 9000),
            line("tcp", "socket", 5000),
            line("tcp", "link", 5010),
            line("tcp", "engine", 5020),
            line("routed", "relay", 20_000),
        ];
        let mut rows = summarise(&lines);
        for (system, us) in [
            (ENGINE, 0.140),
            (NX, 0.150),
            (CMMD, 0.150),
            (CONTAINERS, 0.150),
            (PVM, 0.150),
            (TCP, 5.03),
            (ROUTED, 30.0),
        ] {
            rows.push(row(&system, PARTS, "half round trip", 0, &[us; 6]));
            rows.push(row(&system, WHOLE, "half round trip", 0, &[us * whole; 6]));
        }
        rows
    }

    #[test]
    fn layer_parts_are_differences_and_add_up() {
        let rows = layers(1.0);
        let found = peel(&Rows(&rows), &WAYS[0]).expect("all was measured");
        for part in [Part::Queue, Part::WakeUp, Part::Protocol, Part::LookUp, Part::Call] {
            let ns = found.part(part).expect("there");
            assert!((ns - 20.0).abs() < 1e-6, "{}: {ns}", part.name());
        }
        assert!((found.part(Part::Transfer).expect("there") - 200.0).abs() < 1e-6);
        assert!(found.off().abs() < 1e-9 && (found.whole - 300.0).abs() < 1e-6);
    }

    #[test]
    fn sum_of_parts_may_differ_from_whole() {
        let rows = layers(1.25);
        let found = peel(&Rows(&rows), &WAYS[4]).expect("all was measured");
        assert!((found.off() + 0.2).abs() < 1e-9, "{}", found.off());
    }

    #[test]
    fn missing_layer_omits_its_route() {
        let mut rows = layers(1.0);
        rows.retain(|row| row.system != "engine" || row.route != "shm");
        let rows = Rows(&rows);
        assert_eq!(peel(&rows, &WAYS[0]), None);
        assert!(peel(&rows, &WAYS[4]).is_some());
    }

    #[test]
    fn layers_table_shows_paper_values_and_fits() {
        let rows = layers(1.0);
        let mut text = String::new();
        render(&mut text, &Rows(&rows));
        for part in ["call", "288", "2170", "+0.0 %", "after 9.00 us", "150 us", "40000"] {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
        let mut text = String::new();
        render(&mut text, &Rows(&[]));
        assert_eq!(text, "");
    }
}
