//! Members that run their plans, and the messages between them.
//!
//! Any member that can continue may be the next. Any message under way may be the next to arrive, unless an earlier
//! message of the same pair is still under way. The seed decides.

use crate::operators::Combine;
use crate::plans::{Area, Group, Piece, Plan};
use crate::{Course, Fault, Memory, Next};
use std::collections::VecDeque;

/// Numbers from a seed.
pub struct Chance(pub u64);

impl Chance {
    pub fn number(&mut self) -> u64 {
        parvum_seed::next(&mut self.0)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }
}

/// The final state of a member.
pub struct Ended {
    pub outcome: Result<(), Fault>,
    pub data: Vec<u8>,
}

struct Member<'p> {
    course: Course<&'p Plan>,
    mine: Vec<u8>,
    data: Vec<u8>,
    scratch: Vec<u8>,
    is_over: bool,
    is_dead: bool,
    /// Messages that it can still send or receive before it dies.
    lives: usize,
}

struct Message {
    word: u32,
    data: Vec<u8>,
}

#[derive(Default)]
struct Route {
    sent: VecDeque<Message>,
    come: VecDeque<Message>,
}

struct World<'p> {
    members: Vec<Member<'p>>,
    /// From each to each.
    ways: Vec<Route>,
    chance: Chance,
}

/// A member's contribution, and the initial contents of its result.
pub type Given = (Vec<u8>, Vec<u8>);

/// Runs the plans of all members; `victim` dies after this number of its messages. Returns the final state of each
/// living member.
pub fn run(
    plans: &[Plan],
    given: Vec<Given>,
    combine: Combine,
    victim: Option<(usize, usize)>,
    seed: u64,
) -> Vec<Option<Ended>> {
    let members: Vec<Member<'_>> = plans
        .iter()
        .zip(given)
        .enumerate()
        .map(|(member, (plan, (mine, data)))| {
            let scratch = vec![0xa5; plan.needs(Area::Scratch)];
            let lives = victim.filter(|(victim, _)| *victim == member).map_or(usize::MAX, |(_, lives)| lives);
            let course = Course::new(plan, plans.len());
            Member { course, mine, data, scratch, is_over: false, is_dead: false, lives }
        })
        .collect();
    let ways = (0..members.len().pow(2)).map(|_| Route::default()).collect();
    let mut world = World { members, ways, chance: Chance(seed) };
    world.run(combine);
    world.end()
}

impl World<'_> {
    fn way(&mut self, from: usize, to: usize) -> &mut Route {
        let size = self.members.len();
        &mut self.ways[from * size + to]
    }

    fn run(&mut self, combine: Combine) {
        let size = self.members.len();
        let mut idle = 0;
        while self.members.iter().any(|member| !member.is_over && !member.is_dead) {
            let (member, way) = (self.chance.below(size), self.chance.below(size * size));
            let mut moved = self.deliver(way) | self.act(member, combine);
            if idle > 20 {
                // All members get their turn.
                (0..size * size).for_each(|way| moved |= self.deliver(way));
                (0..size).for_each(|member| moved |= self.act(member, combine));
                assert!(moved, "a deadlock of {size}");
            }
            idle = if moved { 0 } else { idle + 1 };
        }
    }

    fn deliver(&mut self, way: usize) -> bool {
        let way = &mut self.ways[way];
        let next = way.sent.pop_front();
        let moved = next.is_some();
        way.come.extend(next);
        moved
    }

    fn act(&mut self, number: usize, combine: Combine) -> bool {
        let member = &mut self.members[number];
        if member.is_over || member.is_dead {
            return false;
        }
        if member.lives == 0 {
            self.kill(number);
            return true;
        }
        let mut memory = Memory { mine: &member.mine, data: &mut member.data, scratch: &mut member.scratch };
        match member.course.next(&mut memory, &mut |into, with| combine(into, with)) {
            Next::Over => member.is_over = true,
            Next::Send { to, piece, word } => {
                let message = Message { word, data: memory.piece(piece).to_vec() };
                self.send(number, to, message);
            }
            Next::Receive { from, piece } => return self.receive(number, from, piece),
        }
        true
    }

    fn send(&mut self, from: usize, to: usize, message: Message) {
        self.members[from].lives -= 1;
        // It may be known already that the other is gone, or not.
        if self.members[to].is_dead && self.chance.below(2) == 0 {
            return self.members[from].course.gone();
        }
        self.members[from].course.sent();
        self.way(from, to).sent.push_back(message);
    }

    fn receive(&mut self, number: usize, from: usize, piece: Piece) -> bool {
        let way = self.way(from, number);
        let (come, is_empty) = (way.come.pop_front(), way.sent.is_empty());
        let is_lost = is_empty && self.members[from].is_dead;
        let member = &mut self.members[number];
        match come {
            Some(message) => {
                let mut memory =
                    Memory { mine: &member.mine, data: &mut member.data, scratch: &mut member.scratch };
                let fits = message.data.len().min(piece.length);
                memory.room(piece)[..fits].copy_from_slice(&message.data[..fits]);
                member.course.received(message.word, message.data.len() as u64);
                member.lives -= 1;
            }
            None if is_lost => member.course.gone(),
            None => return false,
        }
        true
    }

    /// Its last messages may be lost with it.
    fn kill(&mut self, number: usize) {
        self.members[number].is_dead = true;
        for to in 0..self.members.len() {
            let sent = self.way(number, to).sent.len();
            let kept = self.chance.below(sent + 1);
            self.way(number, to).sent.truncate(kept);
        }
    }

    fn end(self) -> Vec<Option<Ended>> {
        let size = self.members.len();
        for (at, way) in self.ways.iter().enumerate() {
            let (from, to) = (at / size, at % size);
            let is_left = !way.sent.is_empty() || !way.come.is_empty();
            let lived = !self.members[from].is_dead && !self.members[to].is_dead;
            assert!(!is_left || !lived, "a message from {from} to {to} of {size} is left over");
        }
        let ended = |member: Member<'_>| {
            (!member.is_dead).then(|| Ended { outcome: member.course.outcome(), data: member.data })
        };
        self.members.into_iter().map(ended).collect()
    }
}

/// The plans of all members.
pub fn plans_of(size: usize, plan: &dyn Fn(Group) -> Plan) -> Vec<Plan> {
    (0..size).map(|own| plan(Group { own, size })).collect()
}
