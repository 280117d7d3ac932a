//! The three programs of the paper, as steps: in shared memory, by messages, and by both.
//!
//! They are those of `apps/` (`network_tmk.c`, `network_pass.c` and the others), with what they compute replaced by the time that it
//! took on one processor of the paper's.

use crate::pages::PAGE;
use crate::world::{Program, Step};
use std::collections::VecDeque;

/// How a program's tasks share what they work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In shared memory.
    Shared,
    /// By messages; what all get goes through a tree, as MPICH's broadcast.
    Messages,
    /// By messages; what all get goes from one to each, as PVM's.
    MessagesToEach,
    /// In shared memory, and what is gathered by messages.
    Hybrid,
}

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// A net trained for some epochs.
    Network {
        /// Doubles of weights.
        weights: usize,
        /// Of the epoch on one processor, in seconds.
        epoch: f64,
        /// How many.
        epochs: usize,
    },
    /// Numbers of four bytes sorted.
    Sort {
        /// How many.
        numbers: usize,
    },
    /// A picture computed row by row.
    Mandelbrot {
        /// Rows, and points of each.
        points: usize,
    },
}

/// So long a comparison and move of mergesort took, in seconds: 32 cycles of 800 MHz.
const COMPARE: f64 = 40e-9;
/// And a step of Mandelbrot's iteration, whose operations wait for each other: 48 cycles.
const ITERATE: f64 = 60e-9;
/// At most so many steps.
const STEPS: u32 = 1000;

/// All nodes' programs.
pub struct Steps {
    nodes: Vec<VecDeque<Step>>,
    pool: Option<Pool>,
}

/// Rows that nobody has taken yet.
struct Pool {
    form: Form,
    points: usize,
    piece: usize,
    next: usize,
    /// Seconds of each row.
    rows: Vec<f64>,
    /// Nodes that have a piece to bring back (by messages).
    busy: usize,
    /// What is left of each node's own piece.
    own: Vec<(usize, usize)>,
    /// Nodes that know which piece is theirs.
    told: Vec<bool>,
    ended: Vec<bool>,
    /// Pieces that node 0 has not computed itself.
    others: usize,
}

impl Program for Steps {
    fn next(&mut self, node: usize, mail: Option<usize>) -> Option<Step> {
        if let Some(step) = self.nodes[node].pop_front() {
            return Some(step);
        }
        let pool = self.pool.as_mut()?;
        self.nodes[node] = match pool.form {
            Form::Shared | Form::Hybrid => pool.take(node),
            Form::Messages | Form::MessagesToEach => pool.deal(node, mail),
        };
        self.nodes[node].pop_front()
    }
}

/// Where the net's weights and changes lie.
const WEIGHTS: usize = 0;

impl Steps {
    /// The program on so many nodes.
    pub fn new(work: Work, form: Form, nodes: usize) -> Steps {
        match work {
            Work::Network { weights, epoch, epochs } => network(weights, epoch, epochs, form, nodes),
            Work::Sort { numbers } => sort(numbers, form, nodes),
            Work::Mandelbrot { points } => mandelbrot(points, form, nodes),
        }
    }
}

/// How many pages a program's shared memory has.
pub fn pages_of(work: Work) -> u32 {
    let bytes = match work {
        Work::Network { weights, .. } => 2 * whole_pages(weights * 8),
        Work::Sort { numbers } => 2 * whole_pages(numbers * 4),
        Work::Mandelbrot { points } => PAGE + whole_pages(points * points * 4),
    };
    (bytes / PAGE) as u32
}

fn whole_pages(bytes: usize) -> usize {
    bytes.next_multiple_of(PAGE)
}

fn network(weights: usize, epoch: f64, epochs: usize, form: Form, nodes: usize) -> Steps {
    let bytes = weights * 8;
    let changes = whole_pages(bytes);
    let lists = (0..nodes).map(|node| {
        let mut list = VecDeque::new();
        let is_shared = matches!(form, Form::Shared | Form::Hybrid);
        if is_shared {
            if node == 0 {
                list.push_back(Step::Write { at: WEIGHTS, bytes });
            }
            list.push_back(Step::Barrier(1));
        }
        for _ in 0..epochs {
            match form {
                Form::Shared | Form::Hybrid => list.push_back(Step::Read { at: WEIGHTS, bytes }),
                Form::Messages => list.extend(tree(node, nodes, bytes)),
                Form::MessagesToEach if node == 0 => {
                    list.extend((1..nodes).map(|to| Step::Send { to, bytes }));
                }
                Form::MessagesToEach => list.push_back(Step::Receive),
            }
            list.push_back(Step::Compute(epoch / nodes as f64));
            if form == Form::Shared {
                list.push_back(Step::Acquire(2));
                list.push_back(Step::Write { at: changes, bytes });
                list.push_back(Step::Release(2));
                list.push_back(Step::Barrier(1));
                if node == 0 {
                    list.push_back(Step::Write { at: changes, bytes });
                    list.push_back(Step::Write { at: WEIGHTS, bytes });
                }
            } else if node == 0 {
                list.extend((1..nodes).map(|_| Step::Receive));
                if is_shared {
                    list.push_back(Step::Write { at: WEIGHTS, bytes });
                }
            } else {
                list.push_back(Step::Send { to: 0, bytes });
            }
            if is_shared {
                list.push_back(Step::Barrier(1));
            }
        }
        list
    });
    Steps { nodes: lists.collect(), pool: None }
}

/// A broadcast from node 0 by a binomial tree.
fn tree(node: usize, nodes: usize, bytes: usize) -> impl Iterator<Item = Step> {
    let receives = (node > 0).then_some(Step::Receive);
    // The lowest bit that is set is where the data came from; below it go the node's own children.
    let below = if node == 0 { nodes.next_power_of_two() } else { 1 << node.trailing_zeros() };
    let spans = std::iter::successors(Some(below / 2), |span| Some(span / 2)).take_while(|span| *span > 0);
    let children = spans.map(move |span| node + span).filter(move |to| *to < nodes);
    receives.into_iter().chain(children.map(move |to| Step::Send { to, bytes }))
}

fn part(numbers: usize, node: usize, nodes: usize) -> usize {
    numbers * node.min(nodes) / nodes
}

fn sort(numbers: usize, form: Form, nodes: usize) -> Steps {
    let other = whole_pages(numbers * 4);
    let sorting = |count: usize| COMPARE * count as f64 * (count.max(2) as f64).log2();
    let lists = (0..nodes).map(|node| {
        let mut list = VecDeque::new();
        let first = part(numbers, node, nodes);
        let mut mine = part(numbers, node + 1, nodes) - first;
        let is_shared = matches!(form, Form::Shared | Form::Hybrid);
        if is_shared {
            if node == 0 {
                list.push_back(Step::Write { at: 0, bytes: numbers * 4 });
            }
            list.push_back(Step::Barrier(1));
            list.push_back(Step::Read { at: first * 4, bytes: mine * 4 });
        } else if node == 0 {
            let of = |to: usize| part(numbers, to + 1, nodes) - part(numbers, to, nodes);
            list.extend((1..nodes).map(|to| Step::Send { to, bytes: of(to) * 4 }));
        } else {
            list.push_back(Step::Receive);
        }
        if form == Form::Shared {
            list.push_back(Step::Write { at: first * 4, bytes: mine * 4 });
            list.push_back(Step::Write { at: other + first * 4, bytes: mine * 4 });
        }
        list.push_back(Step::Compute(sorting(mine)));
        let (mut from, mut to) = (0, other);
        let mut span = 1;
        let mut has_given = false;
        while span < nodes {
            if form == Form::Shared {
                list.push_back(Step::Barrier(1));
            }
            let merges = node.is_multiple_of(2 * span) && node + span < nodes;
            if merges {
                let theirs =
                    part(numbers, (node + 2 * span).min(nodes), nodes) - part(numbers, node + span, nodes);
                mine += theirs;
                if form == Form::Shared {
                    list.push_back(Step::Read { at: from + first * 4, bytes: mine * 4 });
                    list.push_back(Step::Write { at: to + first * 4, bytes: mine * 4 });
                } else {
                    list.push_back(Step::Receive);
                }
                list.push_back(Step::Compute(COMPARE * mine as f64));
            } else if form != Form::Shared && !node.is_multiple_of(2 * span) && !has_given {
                list.push_back(Step::Send { to: node - span, bytes: mine * 4 });
                has_given = true;
            }
            (from, to) = (to, from);
            span *= 2;
        }
        if is_shared {
            list.push_back(Step::Barrier(1));
        }
        list
    });
    Steps { nodes: lists.collect(), pool: None }
}

fn mandelbrot(points: usize, form: Form, nodes: usize) -> Steps {
    let piece = (points / (4 * nodes)).max(1);
    let mut lists = vec![VecDeque::new(); nodes];
    if matches!(form, Form::Shared | Form::Hybrid) {
        lists.iter_mut().for_each(|list| list.push_back(Step::Barrier(1)));
    }
    let (own, told, ended) = (vec![(0, 0); nodes], vec![false; nodes], vec![false; nodes]);
    let rows = (0..points).map(|row| seconds_of_row(points, row)).collect();
    let mut pool = Pool { form, points, piece, next: 0, rows, busy: 0, own, told, ended, others: 0 };
    if matches!(form, Form::Messages | Form::MessagesToEach) {
        for node in 1..nodes {
            // The first piece of each is dealt by node 0's message.
            let rows = pool.hand_out();
            lists[0].push_back(Step::Send { to: node, bytes: 4 });
            pool.busy += usize::from(rows.0 < rows.1);
            pool.own[node] = rows;
        }
    }
    Steps { nodes: lists, pool: Some(pool) }
}

/// What a row takes: every fourth of its points is iterated, and stands for four.
fn seconds_of_row(points: usize, row: usize) -> f64 {
    let at = |place: usize, low: f64, width: f64| low + width * place as f64 / points as f64;
    let steps: u32 = (0..points).step_by(4).map(|x| escape(at(x, -2.0, 3.0), at(row, -1.5, 3.0))).sum();
    f64::from(steps) * 4.0 * ITERATE
}

fn escape(real: f64, imaginary: f64) -> u32 {
    let (mut x, mut y) = (0.0f64, 0.0f64);
    for step in 0..STEPS {
        if x * x + y * y > 4.0 {
            return step;
        }
        (x, y) = (x * x - y * y + real, 2.0 * x * y + imaginary);
    }
    STEPS
}

impl Pool {
    /// The next rows: the first, and the one behind the last.
    fn hand_out(&mut self) -> (usize, usize) {
        let first = self.next.min(self.points);
        self.next = (first + self.piece).min(self.points);
        (first, self.next)
    }

    fn seconds(&self, (first, end): (usize, usize)) -> f64 {
        self.rows[first..end].iter().sum()
    }

    fn bytes(&self, (first, end): (usize, usize)) -> usize {
        (end - first) * self.points * 4
    }

    /// Shared: a piece for who asks for the lock of the pool. (Which it is makes no difference to the time.)
    fn take(&mut self, node: usize) -> VecDeque<Step> {
        if self.ended[node] {
            return VecDeque::new();
        }
        let rows = self.hand_out();
        let mut list = VecDeque::from([Step::Acquire(1), Step::Read { at: 0, bytes: 4 }]);
        if rows.0 == rows.1 {
            self.ended[node] = true;
            list.push_back(Step::Release(1));
            if node == 0 && self.form == Form::Hybrid {
                list.extend((0..self.others).map(|_| Step::Receive));
            }
            list.push_back(Step::Barrier(1));
            if node == 0 && self.form == Form::Shared {
                list.push_back(Step::Read { at: PAGE, bytes: self.points * self.points * 4 });
            }
            return list;
        }
        self.others += usize::from(node != 0);
        list.extend([Step::Write { at: 0, bytes: 4 }, Step::Release(1), Step::Compute(self.seconds(rows))]);
        match self.form {
            Form::Hybrid if node != 0 => list.push_back(Step::Send { to: 0, bytes: self.bytes(rows) }),
            Form::Hybrid => {}
            _ => list.push_back(Step::Write { at: PAGE + rows.0 * self.points * 4, bytes: self.bytes(rows) }),
        }
        list
    }

    /// By messages: node 0 deals, and computes a row of its own whenever nobody has written to it.
    fn deal(&mut self, node: usize, mail: Option<usize>) -> VecDeque<Step> {
        if node != 0 {
            return self.work(node);
        }
        if let Some(from) = mail {
            let rows = self.hand_out();
            self.own[from] = rows;
            self.busy -= usize::from(rows.0 == rows.1);
            return VecDeque::from([Step::Receive, Step::Send { to: from, bytes: 4 }]);
        }
        if self.own[0].0 == self.own[0].1 {
            self.own[0] = self.hand_out();
        }
        let (row, end) = self.own[0];
        if row < end {
            self.own[0].0 += 1;
            return VecDeque::from([Step::Compute(self.rows[row])]);
        }
        if self.busy > 0 { VecDeque::from([Step::Compute(10e-6)]) } else { VecDeque::new() }
    }

    fn work(&mut self, node: usize) -> VecDeque<Step> {
        if self.ended[node] {
            return VecDeque::new();
        }
        if !std::mem::replace(&mut self.told[node], true) {
            return VecDeque::from([Step::Receive]);
        }
        self.told[node] = false;
        let rows = self.own[node];
        if rows.0 == rows.1 {
            self.ended[node] = true;
            return VecDeque::new();
        }
        let (seconds, bytes) = (self.seconds(rows), self.bytes(rows));
        VecDeque::from([Step::Compute(seconds), Step::Send { to: 0, bytes }])
    }
}
