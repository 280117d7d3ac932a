//! Unix sockets and a third thread that passes on, as the daemon does on the routed route. The relay sleeps until something
//! comes. The ends wait as a task of Parvum's does on that route: they ask the kernel again and again, and now and then let
//! others have the core; were they to sleep, each hop would pay for a core that went idle, which a task's does not.

use crate::duel::{End, Layer, layer};
use parvum_wire::Header;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::sched_yield;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

/// The bare relay.
pub fn layers() -> Result<Vec<Layer>, String> {
    let failed = |why| format!("no unix socket: {why}");
    let ((left, near), (right, far)) =
        (UnixStream::pair().map_err(failed)?, UnixStream::pair().map_err(failed)?);
    std::thread::spawn(move || pass_on(&near, &far));
    for end in [&left, &right] {
        end.set_nonblocking(true).map_err(failed)?;
    }
    Ok(vec![layer("routed", "relay", 1, Task(left), Task(right))])
}

/// Carries frames between the two until one is closed.
fn pass_on(near: &UnixStream, far: &UnixStream) {
    loop {
        let mut sides = [near, far].map(|socket| PollFd::new(socket, PollFlags::IN));
        if poll(&mut sides, None).is_err() {
            continue;
        }
        let ready = sides.map(|side| !side.revents().is_empty());
        for (is_ready, mut from, mut to) in [(ready[0], near, far), (ready[1], far, near)] {
            let mut frame = [0; Header::SIZE];
            if is_ready && from.read_exact(&mut frame).and_then(|()| to.write_all(&frame)).is_err() {
                return;
            }
        }
    }
}

struct Task(UnixStream);

/// So often a task of Parvum's looks before it lets others have the core.
const ROUNDS: u32 = 32;

impl End for Task {
    fn send(&mut self) {
        // One frame is under way at most, so there is room.
        self.0.write_all(&[1; Header::SIZE]).expect("the relay is there");
    }

    fn receive(&mut self) {
        let (mut frame, mut filled, mut looks) = ([0; Header::SIZE], 0, 0);
        while filled < frame.len() {
            match self.0.read(&mut frame[filled..]) {
                Ok(0) => panic!("the relay is gone"),
                Ok(count) => filled += count,
                Err(why) if why.kind() == ErrorKind::WouldBlock => {
                    looks += 1;
                    if looks % ROUNDS == 0 {
                        sched_yield();
                    }
                }
                Err(why) => panic!("the relay broke: {why}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relay_ends_with_either_side() {
        let (near, left) = UnixStream::pair().expect("a pair");
        let (far, right) = UnixStream::pair().expect("a pair");
        let relay = std::thread::spawn(move || pass_on(&near, &far));
        let (mut left, mut right) = (Task(left), Task(right));
        left.send();
        right.receive();
        drop(left);
        relay.join().expect("it ends");
    }
}
