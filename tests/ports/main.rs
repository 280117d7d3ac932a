//! One program on every port of containers: `ports loop|ethernet|cube|engine PROCESSES`. It says what it has computed, which
//! must not depend on the port. On the engine each process is started by itself, on the others they are threads.

mod engine;
mod packets;
mod program;

use program::program;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, port, count] = &words[..] else { panic!("ports loop|ethernet|cube|engine PROCESSES") };
    let count: usize = count.parse().expect("a number of processes");
    let said = match port.as_str() {
        "engine" => {
            let (mut process, me) = engine::Process::join(count);
            program(&mut process, me, count)
        }
        "loop" if count == 1 => packets::on_loop(),
        "ethernet" => packets::on_ethernet(count),
        "cube" => packets::on_cube(count),
        other => panic!("no such port: {other}, for {count}"),
    };
    said.iter().for_each(|line| println!("{line}"));
}
