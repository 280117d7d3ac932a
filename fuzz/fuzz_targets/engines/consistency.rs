//! Letters of other nodes, as they come to a node that keeps shared pages consistent; and calls of its program in between.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_consistency::{Access, Homes, Memory, Node, Setup, Start};

const PAGES: u32 = 4;
const BYTES: usize = 32;

struct Pages([u8; PAGES as usize * BYTES]);

impl Memory for Pages {
    fn load(&self, page: u32, out: &mut [u8]) {
        out.copy_from_slice(&self.0[page as usize * BYTES..][..BYTES]);
    }
    fn store(&mut self, page: u32, offset: usize, data: &[u8]) {
        assert!(offset + data.len() <= BYTES);
        self.0[page as usize * BYTES + offset..][..data.len()].copy_from_slice(data);
    }
    fn protect(&mut self, first: u32, count: u32, _: Access) {
        assert!(first + count <= PAGES);
    }
}

// The first byte is the setup; then calls, and letters with their length before them. Who hears nonsense ends.
fuzz_target!(|input: &[u8]| {
    let Some((&kind, mut rest)) = input.split_first() else { return };
    let replicas = kind & 0x80 != 0;
    let setup = Setup {
        nodes: 3,
        page_bytes: BYTES,
        pages: PAGES,
        locks: 4,
        barriers: 2,
        views: 2,
        start: if kind & 1 == 0 || replicas { Start::Everybody } else { Start::First },
        homes: if kind & 2 == 0 && !replicas { Homes::None } else { Homes::InTurn },
        fold: kind & 4 == 0,
        room: if kind & 8 == 0 { u64::MAX } else { 0 },
        push: (kind & 1 == 0 && !replicas).then_some(1),
        further: if kind & 4 == 0 { 3 } else { 0 },
        races: kind & 8 == 0 && !replicas,
        // Homes move if all pages have one and nobody replicates them.
        move_homes: kind & 2 != 0 && !replicas,
        replicas,
    };
    let mut node = Node::new(setup, usize::from(kind >> 4 & 7) % 3);
    let mut pages = Pages([0; PAGES as usize * BYTES]);
    let _ = node.make_view(1, PAGES - 1, 1, &mut pages);
    while let Some((&step, after)) = rest.split_first() {
        rest = after;
        let number = u32::from(step >> 4);
        let done = match step & 7 {
            0 => node.acquire(number, &mut pages).map(drop),
            1 => node.release(number, &mut pages).map(drop),
            2 if number > 8 => node.gone(number as usize - 9, &mut pages).map(drop),
            2 => node.barrier(number, &mut pages).map(drop),
            3 => node.fault(number, Access::Read, &mut pages).map(drop),
            4 => node.fault(number, Access::Write, &mut pages).map(drop),
            from => {
                let length = rest.first().map_or(0, |&length| usize::from(length));
                let letter = rest.get(1..1 + length).unwrap_or_default();
                rest = rest.get(1 + length..).unwrap_or_default();
                if node.receive(usize::from(from) - 5, letter, &mut pages).is_err() {
                    return;
                }
                Ok(())
            }
        };
        // Wrong calls change nothing.
        let _: Result<(), _> = done;
        node.outbox();
    }
});
