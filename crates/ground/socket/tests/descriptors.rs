//! A process that may open nothing more. It is a program of its own: the limit is the whole process's.

use parvum_socket::{Filled, Inbox, send};
use parvum_wire::control::{Call, Request, frame};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

#[test]
fn frame_arrives_without_room_for_descriptors() {
    let (a, b) = UnixStream::pair().expect("a pair");
    let extra = [a.as_fd(), b.as_fd()];
    for id in [1, 2] {
        let fds = if id == 1 { &extra[..] } else { &[] };
        send(&a, &frame(&Call { id, request: Request::Info }, fds.len()).expect("fits"), fds).expect("room");
    }
    let mut inbox = Inbox::default();
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..before }).expect("lower");
    while inbox.fill(&b).expect("goes on") != Filled::Empty {}
    setrlimit(Resource::Nofile, before).expect("as before");
    let calls: Vec<_> = std::iter::from_fn(|| inbox.take::<Call>().expect("ours")).collect();
    assert_eq!(calls.iter().map(|(call, fds)| (call.id, fds.len())).collect::<Vec<_>>(), [(1, 0), (2, 0)]);
}
