//! A program for the tests: a task that does as its first argument says.

#![forbid(unsafe_code)]

use parvum_task::{Options, Session};
use parvum_wire::control::{Blob, Request, Role, SpawnRequest};
use std::time::Duration;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut session = Session::open(&Options::new(Role::Task, "puppet")).expect("it enrols");
    println!("{}", session.me.tid);
    match words[0].as_str() {
        // Enrols and lives on.
        "stay" => std::thread::sleep(Duration::from_secs(600)),
        // Leaves the machine and lives on for a moment.
        "depart" => {
            session.request(Request::Depart).expect("it may");
            println!("departed");
            std::process::exit(7);
        }
        // Starts a program and lives on, or not.
        "spawn" | "spawn-and-end" => {
            let args = words[2..].iter().map(|w| Blob::from(w.as_str())).collect();
            let plan =
                SpawnRequest { program: Blob::from(words[1].as_str()), args, count: 1, ..Default::default() };
            session.request(Request::Spawn(plan)).expect("it starts");
            if words[0] == "spawn" {
                std::thread::sleep(Duration::from_secs(600));
            }
        }
        other => panic!("no such part: {other}"),
    }
}
