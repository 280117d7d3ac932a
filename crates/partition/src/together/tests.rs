//! Every operation on 1 to 9 nodes, each a thread, short and long.

use super::{Exchange, SHORT, Together};
use parvum_waist::Status;
use std::sync::mpsc::{Receiver, Sender, channel};

struct Node {
    own: usize,
    to: Vec<Sender<(i32, Vec<u8>)>>,
    from: Vec<Receiver<(i32, Vec<u8>)>>,
}

impl Exchange for Node {
    fn own(&self) -> usize {
        self.own
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, tag: i32, data: &[u8]) -> Result<(), Status> {
        self.to[to].send((tag, data.to_vec())).map_err(|_| Status::Gone)
    }

    fn receive(&self, from: usize, tag: i32, room: &mut [u8]) -> Result<(), Status> {
        let (came, data) = self.from[from].recv().map_err(|_| Status::Gone)?;
        assert_eq!((came, data.len()), (tag, room.len()), "another operation's message");
        room.copy_from_slice(&data);
        Ok(())
    }
}

/// Does `work` on each of so many nodes; what each gave, in the order of nodes.
fn on<R: Send>(nodes: usize, work: impl Fn(Together<'_, Node>, usize) -> R + Sync) -> Vec<R> {
    let mut ends: Vec<Node> = (0..nodes).map(|own| Node { own, to: Vec::new(), from: Vec::new() }).collect();
    for from in 0..nodes {
        for to in 0..nodes {
            let (sender, receiver) = channel();
            ends[from].to.push(sender);
            ends[to].from.push(receiver);
        }
    }
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            ends.into_iter().map(|node| scope.spawn(move || work(Together(&node), node.own))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node ends")).collect()
    })
}

fn everywhere(check: impl Fn(usize, usize)) {
    for nodes in 1..=9 {
        for length in [0, 8, SHORT + 8] {
            check(nodes, length);
        }
    }
}

fn content(node: usize, length: usize) -> Vec<u8> {
    (0..length).map(|at| (node * 31 + at) as u8).collect()
}

/// Neither commutative nor associative: the order shows.
fn in_order(have: &mut [u8], come: &[u8]) {
    for (have, come) in have.iter_mut().zip(come) {
        *have = have.wrapping_mul(3).wrapping_add(*come);
    }
}

#[test]
fn a_broadcast_reaches_all_from_any_root() {
    everywhere(|nodes, length| {
        for root in 0..nodes {
            let got = on(nodes, |all, own| {
                let mut data = if own == root { content(root, length) } else { vec![0; length] };
                all.broadcast(root, &mut data).map(|()| data)
            });
            assert!(got.iter().all(|data| *data == Ok(content(root, length))), "{nodes} {length} {root}");
        }
    });
}

#[test]
fn a_reduction_combines_all_and_is_the_same_on_all_nodes() {
    everywhere(|nodes, length| {
        let sum = |all: Together<'_, Node>, own| {
            let (mut data, mut part) = (content(own, length), vec![0; length]);
            let add = &mut |have: &mut [u8], come: &[u8]| {
                have.iter_mut().zip(come).for_each(|(have, come)| *have = have.wrapping_add(*come));
            };
            all.reduce_all(&mut data, &mut part, add).map(|()| data)
        };
        let mut wanted = vec![0u8; length];
        for node in 0..nodes {
            wanted.iter_mut().zip(content(node, length)).for_each(|(sum, one)| *sum = sum.wrapping_add(one));
        }
        assert!(on(nodes, sum).iter().all(|data| *data == Ok(wanted.clone())));
        let ordered = |all: Together<'_, Node>, own| {
            let (mut data, mut part) = (content(own, length), vec![0; length]);
            all.reduce_all(&mut data, &mut part, &mut in_order).map(|()| data)
        };
        let (once, again) = (on(nodes, ordered), on(nodes, ordered));
        assert!(
            once.iter().all(|data| *data == once[0]) && once == again,
            "the order depends on nothing else"
        );
    });
}

#[test]
fn data_is_collected_in_the_order_of_nodes() {
    everywhere(|nodes, length| {
        let wanted: Vec<u8> = (0..nodes).flat_map(|node| content(node, length)).collect();
        let root = nodes / 2;
        let gathered = on(nodes, |all, own| {
            let mut room = vec![0; if own == root { nodes * length } else { 0 }];
            all.gather(root, &content(own, length), &mut room).map(|()| room)
        });
        assert_eq!(gathered[root], Ok(wanted));
        let lengths: Vec<usize> = (0..nodes).map(|node| node * length % 1000).collect();
        let wanted: Vec<u8> = (0..nodes).flat_map(|node| content(node, lengths[node])).collect();
        let everybody = on(nodes, |all, own| {
            let mut room = vec![0; wanted.len() + 3];
            all.concat(&content(own, lengths[own]), &lengths, &mut room).map(|()| room)
        });
        assert!(everybody.iter().all(|got| got.as_ref().is_ok_and(|got| got[..wanted.len()] == wanted[..])));
    });
}

#[test]
fn an_exchange_gives_each_its_pieces() {
    everywhere(|nodes, each| {
        let piece = |from: usize, to: usize| content(from * 16 + to, each);
        let got = on(nodes, |all, own| {
            let mine: Vec<u8> = (0..nodes).flat_map(|to| piece(own, to)).collect();
            let mut room = vec![0; nodes * each];
            all.all_to_all(&mine, &mut room, each).map(|()| room)
        });
        for (own, got) in got.iter().enumerate() {
            let wanted: Vec<u8> = (0..nodes).flat_map(|from| piece(from, own)).collect();
            assert_eq!(got.as_ref(), Ok(&wanted));
        }
    });
}

#[test]
fn a_scan_combines_those_before() {
    for nodes in 1..=9 {
        for (upward, inclusive) in [(true, true), (true, false), (false, true), (false, false)] {
            let got = on(nodes, |all, own| {
                let mut value = [own as u8 + 1];
                all.scan(&mut value, upward, inclusive, &[77], &mut in_order).map(|()| value[0])
            });
            for (own, got) in got.into_iter().enumerate() {
                let mut before: Vec<usize> =
                    if upward { (0..own).collect() } else { (own + 1..nodes).rev().collect() };
                before.extend(inclusive.then_some(own));
                let wanted = before.iter().map(|node| *node as u8 + 1).reduce(|have, come| {
                    let mut have = [have];
                    in_order(&mut have, &[come]);
                    have[0]
                });
                assert_eq!(got, Ok(wanted.unwrap_or(77)), "{nodes} {own} {upward} {inclusive}");
            }
        }
    }
}

#[test]
fn a_barrier_ends_when_all_have_come() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for nodes in 1..=9 {
        let come = AtomicUsize::new(0);
        let seen = on(nodes, |all, _| {
            come.fetch_add(1, Ordering::SeqCst);
            all.barrier().map(|()| come.load(Ordering::SeqCst))
        });
        assert!(seen.iter().all(|seen| *seen == Ok(nodes)));
    }
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_sent() {
    let got = on(1, |all, _| {
        let mut short = [0; 4];
        [
            all.reduce(0, &mut [0; 8], &mut short, &mut in_order),
            all.gather(0, &[0; 8], &mut short),
            all.concat(&[0; 8], &[8], &mut short),
            all.concat(&[0; 8], &[4], &mut [0; 8]),
            all.concat(&[0; 8], &[8, 8], &mut [0; 32]),
            all.concat(&[0; 8], &[usize::MAX], &mut [0; 32]),
            all.all_to_all(&[0; 8], &mut short, 8),
            all.scan(&mut short, true, true, &[0], &mut in_order),
        ]
    });
    assert_eq!(got[0], [Err(Status::BadArgument); 8]);
}
