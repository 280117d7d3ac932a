//! Unix sockets and a third thread that passes on, as the daemon does on the routed route. Whoever waits sleeps.

use crate::duel::{End, Layer, layer};
use parvum_wire::Header;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// The bare relay.
pub fn layers() -> Result<Vec<Layer>, String> {
    let failed = |why| format!("no unix socket: {why}");
    let ((left, near), (right, far)) =
        (UnixStream::pair().map_err(failed)?, UnixStream::pair().map_err(failed)?);
    std::thread::spawn(move || pass_on(&near, &far));
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

impl End for Task {
    fn send(&mut self) {
        self.0.write_all(&[1; Header::SIZE]).expect("the relay is there");
    }

    fn receive(&mut self) {
        self.0.read_exact(&mut [0; Header::SIZE]).expect("the relay is there");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_relay_ends_with_either_side() {
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
