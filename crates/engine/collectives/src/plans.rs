//! Plans: what one member does in an operation, step by step.
//!
//! A plan is made from numbers that all members know: the number of members, the root, and the length. All members
//! therefore make plans that fit together. For each step that sends, the other member has a step that receives, in the
//! same order between the two. Any number of members will do, one included.
//!
//! - Steps are done in their order. A step that sends never waits for its receiver, and every plan completes in this
//!   way.
//! - A step sends the bytes that are there when the step comes. A driver that does not copy these bytes must send them
//!   before a later step changes them.
//! - Elements are never split: `unit` is the number of bytes of one element, and shares consist of whole elements.
//! - Results lie in [`Area::Data`]. A reduction finds a member's contribution there too; other operations find it in
//!   [`Area::Mine`], which is only read.
//! - Combining keeps the order of members unless a plan is asked for with [`Order::Any`] or [`Order::Exact`]. The
//!   combinations depend only on the number of members and the lengths.
//!
//! [`choose`] chooses the best plan for a length, a number of members and their hosts. [`two_level`] has plans for
//! members on several [`hosts`].

use crate::table::Algorithm;

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
pub mod broadcast;
pub mod choose;
pub mod gather;
pub mod hosts;
pub mod neighbours;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;
pub mod two_level;
pub mod ways;

/// A member's place among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its number, from 0.
    pub own: usize,
    /// How many members there are.
    pub size: usize,
}

impl Group {
    /// The member this number of places after this one, with wrap-around.
    fn after(self, places: usize) -> usize {
        (self.own + places) % self.size
    }

    /// The member this number of places before this one, with wrap-around.
    fn before(self, places: usize) -> usize {
        (self.own + self.size - places % self.size) % self.size
    }

    /// The other members, the next one first: so not all begin with the same.
    pub(crate) fn others(self) -> impl Iterator<Item = usize> {
        (1..self.size).map(move |places| self.after(places))
    }

    /// The group with `root` in the first place.
    fn turned_to(self, root: usize) -> Turned {
        Turned { own: (self.own + self.size - root) % self.size, size: self.size, root }
    }
}

/// A group counted from its root: the members of trees.
#[derive(Clone, Copy)]
struct Turned {
    own: usize,
    size: usize,
    root: usize,
}

impl Turned {
    /// The member at this place.
    fn member(self, place: usize) -> usize {
        (place + self.root) % self.size
    }

    /// In a binomial tree: how many places from `own` on belong to this one and those below, if there are as many.
    fn reach(self) -> usize {
        if self.own == 0 { self.size.next_power_of_two() } else { self.own & self.own.wrapping_neg() }
    }

    /// In that tree: the place above.
    fn parent(self) -> usize {
        self.own - self.reach()
    }

    /// In that tree: the places below, the one with the most below it first, each with its reach.
    fn children(self) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let steps = (0..self.reach().trailing_zeros()).rev().map(|bit| 1usize << bit);
        steps.map(move |step| (self.own + step, step)).filter(move |(place, _)| *place < self.size)
    }
}

/// Some bytes of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// Where they begin.
    pub at: usize,
    /// How many they are.
    pub length: usize,
}

impl Span {
    /// The bytes behind the last one.
    pub fn end(self) -> usize {
        self.at + self.length
    }

    /// The same bytes of an area.
    pub fn of(self, area: Area) -> Piece {
        Piece { area, at: self.at, length: self.length }
    }
}

/// Consecutive spans with these lengths.
pub fn in_a_row(lengths: impl IntoIterator<Item = usize>) -> Vec<Span> {
    let mut at = 0;
    let next = |length| {
        let span = Span { at, length };
        at += length;
        span
    };
    lengths.into_iter().map(next).collect()
}

/// Divides `length` bytes among `parts`, nearly equally, by whole elements of `unit` bytes.
pub(crate) fn shares(length: usize, unit: usize, parts: usize) -> Vec<Span> {
    let elements = length / unit.max(1);
    let share = |part| (elements / parts + usize::from(part < elements % parts)) * unit;
    let mut all = in_a_row((0..parts).map(share));
    // An incomplete element goes with the last one.
    let last = all.last_mut().expect("a group has members");
    last.length = length - last.at;
    all
}

/// Whose memory a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The member's contribution; only read.
    Mine,
    /// The member's result; in a reduction also its contribution.
    Data,
    /// Of the operation's own.
    Scratch,
}

/// Bytes in one of the areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where they lie.
    pub area: Area,
    /// Where they begin there.
    pub at: usize,
    /// How many they are.
    pub length: usize,
}

fn mine(at: usize, length: usize) -> Piece {
    Piece { area: Area::Mine, at, length }
}

fn data(at: usize, length: usize) -> Piece {
    Piece { area: Area::Data, at, length }
}

fn scratch(at: usize, length: usize) -> Piece {
    Piece { area: Area::Scratch, at, length }
}

/// The next step of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sends a piece to a member.
    Send {
        /// The receiver.
        to: usize,
        /// What.
        piece: Piece,
    },
    /// Waits for what a member sends: exactly as many bytes.
    Receive {
        /// The sender.
        from: usize,
        /// The destination.
        piece: Piece,
    },
    /// `into` becomes `into ∘ with`.
    Combine {
        /// The first operand, and the result.
        into: Piece,
        /// The second operand.
        with: Piece,
    },
    /// `into` becomes what `from` is.
    Copy {
        /// The copy.
        into: Piece,
        /// The original.
        from: Piece,
    },
}

/// In which order contributions may be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In that of members, for operators that do not commute. They are grouped anyhow.
    Members,
    /// In any, as long as it is the same each time.
    Any,
    /// In any, and grouped anyhow: the result is the same bit for bit, as a sum of integers is.
    Exact,
}

/// The steps of one member in one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
    /// Bytes of each area.
    needs: [usize; 3],
    algorithm: Option<Algorithm>,
}

impl Plan {
    #[inline]
    fn new() -> Plan {
        Plan { steps: Vec::with_capacity(8), needs: [0; 3], algorithm: None }
    }

    /// The same plan, marked with the algorithm that the table named for it.
    #[inline]
    fn by(self, algorithm: Algorithm) -> Plan {
        Plan { algorithm: Some(algorithm), ..self }
    }

    /// The algorithm of the steps, if [`choose`] or [`straight`](Plan::straight) made the plan.
    #[inline]
    pub fn algorithm(&self) -> Option<Algorithm> {
        self.algorithm
    }

    /// The same plan, marked as one of straight messages: for parts of unlike lengths, which the table does not know.
    #[inline]
    pub fn straight(self) -> Plan {
        self.by(Algorithm::Straight)
    }

    /// The steps, in their order.
    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How many bytes of an area the steps use.
    #[inline]
    pub fn needs(&self, area: Area) -> usize {
        self.needs[area as usize]
    }

    /// Whether the steps leave an area as it is.
    pub fn only_reads(&self, area: Area) -> bool {
        !self.steps.iter().any(|step| match step {
            Step::Send { .. } => false,
            Step::Receive { piece, .. } => piece.area == area,
            Step::Combine { into, .. } | Step::Copy { into, .. } => into.area == area,
        })
    }

    /// First this, then that.
    pub fn then(mut self, next: Plan) -> Plan {
        self.steps.extend(next.steps);
        for (one, other) in self.needs.iter_mut().zip(next.needs) {
            *one = other.max(*one);
        }
        self
    }

    fn uses(&mut self, piece: Piece) {
        let needs = &mut self.needs[piece.area as usize];
        *needs = (*needs).max(piece.at + piece.length);
    }

    fn send(&mut self, to: usize, piece: Piece) {
        self.uses(piece);
        self.steps.push(Step::Send { to, piece });
    }

    fn receive(&mut self, from: usize, piece: Piece) {
        self.uses(piece);
        self.steps.push(Step::Receive { from, piece });
    }

    fn combine(&mut self, into: Piece, with: Piece) {
        self.uses(into);
        self.uses(with);
        self.steps.push(Step::Combine { into, with });
    }

    fn copy(&mut self, into: Piece, from: Piece) {
        self.uses(into);
        self.uses(from);
        if into != from && from.length > 0 {
            self.steps.push(Step::Copy { into, from });
        }
    }
}
