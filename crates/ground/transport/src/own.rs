//! The transport from a task to itself: a queue.

use crate::{Gather, Limits, Link, Needs, Refused, Route, Sink, Transport};
use parvum_wire::Header;
use std::collections::VecDeque;

/// The bytes that may wait in a task's queue to itself.
const CAPACITY: usize = 1 << 20;

/// The transport.
pub const TRANSPORT: Transport = Transport {
    route: Route::OWN,
    name: "itself",
    limits: Limits { frame: CAPACITY / 4, eager: CAPACITY / 4, single_copy: false, buffered: false },
    needs: Needs { one_host: true, daemons: false },
};

/// A queue whose two ends are the same task.
#[derive(Default)]
pub struct OwnLink {
    frames: VecDeque<(Header, Vec<u8>)>,
    waiting: usize,
    spare: Vec<Vec<u8>>,
}

impl Link for OwnLink {
    fn limits(&self) -> Limits {
        TRANSPORT.limits
    }

    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        if self.waiting + payload.len() > CAPACITY {
            return Err(Refused::Full);
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.resize(payload.len(), 0);
        payload.copy_to(&mut bytes);
        self.waiting += bytes.len();
        self.frames.push_back((*header, bytes));
        Ok(())
    }

    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        for taken in 0..most {
            let Some((header, bytes)) = self.frames.pop_front() else { return Ok(taken) };
            self.waiting -= bytes.len();
            sink.frame(&header, &bytes);
            if self.spare.len() < 4 {
                self.spare.push(bytes);
            }
        }
        Ok(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{self, Pair};
    use std::sync::{Arc, Mutex};

    /// Both ends of a pair, as the suite wants them, over one queue each way.
    struct Half {
        out: Arc<Mutex<OwnLink>>,
        incoming: Arc<Mutex<OwnLink>>,
    }

    impl Link for Half {
        fn limits(&self) -> Limits {
            self.out.lock().unwrap().limits()
        }
        fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
            self.out.lock().unwrap().send(header, payload)
        }
        fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
            self.incoming.lock().unwrap().receive(most, sink)
        }
    }

    #[test]
    fn own_transport_passes_conformance() {
        conformance::run(&TRANSPORT, || {
            let (a, b) = (Arc::<Mutex<OwnLink>>::default(), Arc::<Mutex<OwnLink>>::default());
            Pair {
                left: Box::new(Half { out: a.clone(), incoming: b.clone() }),
                right: Box::new(Half { out: b, incoming: a }),
                keep: Box::new(()),
            }
        });
    }
}
