//! Two engines over a link.

use crate::duel::End;
use parvum_engine::{
    Buffering, Completion, Counters, Destination, Engine, Envelope, Look, Outgoing, Pattern, Room, Sent,
    Settings, TagMatch,
};
use parvum_transport::{Link, Route};
use parvum_wire::Tid;

const TIDS: [Tid; 2] = [Tid(0x40001), Tid(0x40002)];
const TAG: i32 = 7;

struct Joined {
    engine: Engine,
    peer: Tid,
    route: Route,
    pattern: Pattern,
}

fn joined(route: Route, links: [Box<dyn Link>; 2]) -> [Joined; 2] {
    let mut own = 0;
    links.map(|link| {
        let (me, peer) = (TIDS[own], TIDS[1 - own]);
        own += 1;
        let mut engine = Engine::new(me, Settings::default(), Counters::private());
        engine.attach(peer, route, link);
        let pattern = Pattern { from: Some(peer), tag: TagMatch::Exactly(TAG), context: Some(0) };
        Joined { engine, peer, route, pattern }
    })
}

/// As the library sends and receives a short message over shared memory while it looks for it.
pub struct Short(Joined);

/// Two of them.
pub fn short(route: Route, left: Box<dyn Link>, right: Box<dyn Link>) -> (Short, Short) {
    let [left, right] = joined(route, [left, right]);
    (Short(left), Short(right))
}

impl End for Short {
    #[inline]
    fn send(&mut self) {
        let Joined { engine, peer, route, .. } = &mut self.0;
        let empty =
            parvum_engine::Short { tag: TAG, context: 0, meta: 0, data: &[], buffering: Buffering::BySize };
        while !engine.send_short(*peer, *route, empty) {
            engine.progress();
        }
    }

    #[inline]
    fn receive(&mut self) {
        let Joined { engine, pattern, .. } = &mut self.0;
        let (mut inside, mut block, mut envelope) = ([0; 64], None, Envelope::NONE);
        let mut room = Room::Inside { inside: &mut inside, block: &mut block };
        loop {
            if !engine.is_quiet() {
                engine.progress();
            }
            match engine.take_next(pattern, &mut room, &mut envelope) {
                Look::Taken => return,
                Look::Nothing | Look::Other => std::hint::spin_loop(),
            }
        }
    }
}

/// As the library sends and receives where a link has sockets: a receive is posted, and all links are looked at.
pub struct Posted(Joined);

/// Two of them.
pub fn posted(route: Route, left: Box<dyn Link>, right: Box<dyn Link>) -> (Posted, Posted) {
    let [left, right] = joined(route, [left, right]);
    (Posted(left), Posted(right))
}

impl End for Posted {
    fn send(&mut self) {
        let Joined { engine, peer, .. } = &mut self.0;
        let message = Outgoing {
            to: *peer,
            tag: TAG,
            context: 0,
            meta: 0,
            pieces: &[&[]],
            keep: None,
            buffering: Buffering::BySize,
            completion: Completion::Copied,
        };
        // SAFETY: the message has no data, so there is no memory that would have to stay.
        let sent = unsafe { engine.send(message) }.expect("the peer is joined");
        if let Sent::Later(request) = sent {
            while !engine.is_over(request) {
                engine.progress();
            }
        }
    }

    fn receive(&mut self) {
        let Joined { engine, pattern, .. } = &mut self.0;
        let request = engine.post(*pattern, Destination::Block, false, false);
        while !engine.is_over(request) {
            engine.progress();
        }
        engine.completed(request).expect("the receive is over");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duel::layer;
    use parvum_engine::Counter;
    use std::sync::{Arc, Mutex};

    /// What one engine counted, when its end is dropped.
    struct Counted(Posted, Arc<Mutex<Vec<u64>>>);

    impl End for Counted {
        fn send(&mut self) {
            self.0.send();
        }

        fn receive(&mut self) {
            self.0.receive();
        }
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            let ledger = self.0.0.engine.ledger();
            let counts = [Counter::Sent, Counter::Received].map(|counter| ledger.read(counter));
            self.1.lock().expect("whole").extend(counts);
        }
    }

    #[test]
    fn bout_sends_messages_through_both_engines() {
        let [left, right] = crate::sockets::pair(false).expect("a connection");
        let (left, right) = posted(parvum_tcp::TRANSPORT.route, Box::new(left), Box::new(right));
        let counts = Arc::new(Mutex::new(Vec::new()));
        let ends = [left, right].map(|end| Counted(end, counts.clone()));
        let [lead, follow] = ends;
        let mut layer = layer("tcp", "engine", 1, lead, follow);
        (layer.bout)([0, 0], 10).expect("measured");
        drop(layer);
        assert_eq!(*counts.lock().expect("whole"), [210; 4]);
    }
}
