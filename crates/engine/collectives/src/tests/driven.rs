//! The blocking driver, on threads.

use super::algorithms::{UNIT, combined, content, sum};
use crate::plans::{Group, Order, allreduce, barrier, choose, in_a_row, reduce};
use crate::{Exchange, Failure, Fault, Memory, contribute, none, reduce_of_two, run};
use parvum_api::Status;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A message: its word and its data.
type Parcel = (u32, Vec<u8>);

pub struct Node {
    group: Group,
    to: Vec<Sender<Parcel>>,
    from: Vec<Receiver<Parcel>>,
}

impl Exchange for Node {
    fn group(&self) -> Group {
        self.group
    }

    fn send(&mut self, to: usize, word: u32, data: &[u8]) -> Result<(), Status> {
        self.to[to].send((word, data.to_vec())).map_err(|_| Status::Gone)
    }

    fn receive(&mut self, from: usize, room: &mut [u8]) -> Result<(u32, u64), Status> {
        let (word, data) = self.from[from].recv().map_err(|_| Status::Gone)?;
        let fits = data.len().min(room.len());
        room[..fits].copy_from_slice(&data[..fits]);
        Ok((word, data.len() as u64))
    }
}

/// Runs `work` on each of this number of nodes. Returns the results, in the order of nodes.
pub fn on<R: Send>(size: usize, work: impl Fn(Node) -> R + Sync) -> Vec<R> {
    let node = |own| Node { group: Group { own, size }, to: Vec::new(), from: Vec::new() };
    let mut nodes: Vec<Node> = (0..size).map(node).collect();
    for from in 0..size {
        for to in 0..size {
            let (sender, receiver) = channel();
            nodes[from].to.push(sender);
            nodes[to].from.push(receiver);
        }
    }
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = nodes.into_iter().map(|node| scope.spawn(move || work(node))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node ends")).collect()
    })
}

/// Two contributions are combined in their order, and both members may run with or without a plan.
#[test]
fn reduction_of_two_with_and_without_plan_agrees() {
    let combine = |first: &mut [u8], second: &[u8]| {
        first
            .iter_mut()
            .zip(second)
            .for_each(|(first, second)| *first = first.wrapping_mul(3).wrapping_add(*second));
    };
    for (root, planned) in
        [(0, [false; 2]), (1, [false; 2]), (0, [true, false]), (1, [true, false]), (0, [false, true])]
    {
        let ended = on(2, |mut node| {
            let group = node.group;
            let (mut data, mut come) = ([[1, 2], [10, 20]][group.own], [0; 2]);
            if planned[group.own] {
                let plan = reduce::straight(group, root, 2, Order::Members);
                let mut scratch = [0; 4];
                let memory = Memory { mine: &[], data: &mut data, scratch: &mut scratch };
                run(&mut node, &plan, memory, &mut { combine }).expect("both are there");
            } else if group.own == root {
                reduce_of_two(&mut node, &mut data, &mut come, &mut { combine }).expect("both are there");
            } else {
                contribute(&mut node, root, &data).expect("both are there");
            }
            data
        });
        assert_eq!(ended[root], [13, 26], "{root} {planned:?}");
    }
}

#[test]
fn reduction_of_two_fails_on_length_mismatch_or_death() {
    let ended = on(2, |mut node| {
        let mut data = vec![1; 4 + node.group.own];
        let mut come = data.clone();
        match node.group.own {
            0 => reduce_of_two(&mut node, &mut data, &mut come, &mut none),
            _ => contribute(&mut node, 0, &data),
        }
    });
    assert_eq!(ended[0], Err(Failure::Fault(Fault::Disagreed)));
    let ended = on(2, |mut node| match node.group.own {
        0 => reduce_of_two(&mut node, &mut [1], &mut [0], &mut none),
        _ => Ok(()),
    });
    assert_eq!(ended[0], Err(Failure::Fault(Fault::Gone(1))));
}

#[test]
fn collectives_in_sequence_do_not_mix() {
    for size in 1..=9 {
        let length = 100 * UNIT;
        let parts = in_a_row((0..size).map(|_| length));
        let ended = on(size, |mut node| {
            let group = node.group;
            for round in 0..10 {
                let mut data = content(group.own, length);
                let plan = match round % 2 {
                    0 => choose::allreduce(group, length, UNIT, crate::plans::Order::Any),
                    _ => allreduce::halving(group, length, UNIT, crate::plans::Order::Any),
                };
                let mut scratch = vec![0; length];
                let memory = Memory { mine: &[], data: &mut data, scratch: &mut scratch };
                run(&mut node, &plan, memory, &mut sum).expect("it succeeds");
                assert_eq!(data, combined(0, group.size, length, sum));
                let (mine, mut data) = (content(group.own, length), vec![0; group.size * length]);
                let plan = choose::allgather(group, &parts);
                let memory = Memory { mine: &mine, data: &mut data, scratch: &mut [] };
                run(&mut node, &plan, memory, &mut none).expect("it succeeds");
                let wanted: Vec<u8> = (0..group.size).flat_map(|member| content(member, length)).collect();
                assert_eq!(data, wanted);
            }
            true
        });
        assert_eq!(ended, vec![true; size]);
    }
}

#[test]
fn barrier_ends_when_all_members_arrive() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for size in 1..=9 {
        let come = AtomicUsize::new(0);
        let seen = on(size, |mut node| {
            come.fetch_add(1, Ordering::SeqCst);
            let memory = Memory { mine: &[], data: &mut [], scratch: &mut [] };
            let plan = barrier::dissemination(node.group);
            run(&mut node, &plan, memory, &mut none).map(|()| come.load(Ordering::SeqCst))
        });
        assert_eq!(seen, vec![Ok(size); size]);
    }
}

#[test]
fn survivors_learn_which_member_died() {
    for size in 2..=9 {
        let ended = on(size, |mut node| {
            if node.group.own == 1 {
                return Ok(());
            }
            let (mut data, mut scratch) = ([1; 8], [0; 8]);
            let memory = Memory { mine: &[], data: &mut data, scratch: &mut scratch };
            let plan = allreduce::doubling(node.group, 8);
            run(&mut node, &plan, memory, &mut sum)
        });
        for (member, ended) in ended.into_iter().enumerate().filter(|(member, _)| *member != 1) {
            assert_eq!(ended, Err(Failure::Fault(Fault::Gone(1))), "{member} of {size}");
            assert_eq!(ended.expect_err("it failed").gone(), Some(1));
            assert_eq!(Status::from(ended.expect_err("it failed")), Status::Gone);
        }
    }
}

#[test]
fn members_fail_when_one_buffer_is_too_small() {
    let ended = on(4, |mut node| {
        let plan = allreduce::doubling(node.group, 8);
        // One member alone has too little: of data, of scratch, and of nothing.
        [(1, 8), (8, 1), (8, 8)].map(|(data, scratch)| {
            let length = |given: usize| if node.group.own == 1 && given < 8 { 7 } else { 64 };
            let (mut data, mut scratch) = (vec![0; length(data)], vec![0; length(scratch)]);
            let memory = Memory { mine: &[], data: &mut data, scratch: &mut scratch };
            run(&mut node, &plan, memory, &mut sum)
        })
    });
    let disagreed = Err(Failure::Fault(Fault::Disagreed));
    assert_eq!(ended, [[disagreed, disagreed, Ok(())]; 4]);
}
