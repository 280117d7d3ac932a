//! Frames of a peer, in any order and of any content, between receives of the task: what arrives at the engine.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parvum_engine::{Engine, Destination, Counters, Pattern, Received, RequestId, Settings, TagMatch};
use parvum_transport::{Gather, Limits, Link, Refused, Route, Sink};
use parvum_wire::{Header, Tid};
use std::sync::{Arc, Mutex};

/// What has come, and was not taken in.
type Wire = Arc<Mutex<Vec<(Header, Vec<u8>)>>>;

/// A link whose other end is the input.
struct Input(Wire);

impl Link for Input {
    fn limits(&self) -> Limits {
        Limits { frame: 1 << 16, eager: 1 << 14, single_copy: true, buffered: false }
    }

    fn send(&mut self, _: &Header, _: Gather<'_>) -> Result<(), Refused> {
        Ok(())
    }

    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        let mut wire = self.0.lock().expect("one thread");
        let count = wire.len().min(most);
        wire.drain(..count).for_each(|(header, payload)| sink.frame(&header, &payload));
        Ok(count)
    }
}

/// Messages of more are not announced: they cost the memory that they take, and libFuzzer counts it.
const LONGEST: u64 = 1 << 16;

fn frame(rest: &mut &[u8]) -> Option<(Header, Vec<u8>)> {
    let (bytes, behind) = rest.split_first_chunk::<{ Header::SIZE }>()?;
    let (mut header, _, inline) = Header::decode(bytes).ok()?;
    header.length %= LONGEST;
    let (payload, behind) = behind.split_at(behind.len().min(inline.into()));
    *rest = behind;
    Some((header, payload.to_vec()))
}

fuzz_target!(|input: &[u8]| {
    let (me, peer) = (Tid(0x4_0001), Tid(0x4_0002));
    let mut engine = Engine::new(me, Settings::default(), Counters::private());
    let wires: [Wire; 2] = Default::default();
    for (wire, route) in wires.iter().zip([Route::new(1), Route::new(3)]) {
        engine.attach(peer, route, Box::new(Input(wire.clone())));
    }
    let mut posted: Vec<RequestId> = Vec::new();
    let mut rest = input;
    while let Some((order, behind)) = rest.split_first() {
        rest = behind;
        match order % 8 {
            0..4 => {
                let Some(frame) = frame(&mut rest) else { break };
                wires[usize::from(order % 2)].lock().expect("one thread").push(frame);
            }
            4 => {
                let from = (order & 8 != 0).then_some(peer);
                let tag =
                    if order & 16 != 0 { TagMatch::Exactly((order >> 5).into()) } else { TagMatch::Any };
                let into = if order & 32 != 0 { Destination::Lazily } else { Destination::Block };
                posted.push(engine.post(Pattern { from, tag, context: None }, into, order & 64 != 0, false));
            }
            5 => {
                if let Some(id) = posted.pop() {
                    engine.cancel(id);
                }
            }
            6 => {
                posted.retain(|id| matches!(engine.test(*id), Received::Pending));
            }
            _ => {
                engine.progress();
            }
        }
    }
    engine.progress();
    posted.into_iter().for_each(|id| drop(engine.test(id)));
    engine.peer_gone(peer);
    engine.progress();
});
