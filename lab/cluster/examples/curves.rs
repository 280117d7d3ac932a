//! Prints the curves: `cargo run --release --package parvum-cluster --example curves`.

use cluster::curves::{NODES, SUBJECTS, all};

fn main() {
    for curve in all(&SUBJECTS, &NODES, 2) {
        println!("{}, {}", curve.subject.name, curve.way.name());
        for ((nodes, speed), (_, run)) in curve.speed_ups().zip(&curve.runs) {
            let mega = run.bytes as f64 / 1e6;
            println!("  {nodes:2}  speed-up {speed:6.2}  {mega:9.2} MB  {:7} messages", run.messages);
        }
    }
}
