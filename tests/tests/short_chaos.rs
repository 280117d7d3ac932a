//! A short chaos; `./x chaos MINUTES` is the long one.
//!
//! A program of its own, so that it runs alone: without a processor for too long hosts give each other up.

use parvum_tests::bed::{Plan, possible};
use parvum_tests::chaos::{Settings, run};
use parvum_tests::{Lack, skip};
use std::time::Duration;

#[test]
fn short_chaos_finds_no_damage() {
    if parvum_tests::is_left_out() {
        return;
    }
    if let Err(why) = possible() {
        return skip(Lack::Root, why);
    }
    let settings = Settings {
        seed: 11,
        time: Duration::from_secs(25),
        least: 3,
        plan: Plan::of(4),
        detect: Duration::from_secs(3),
        keep: None,
    };
    let report = run(&settings, &mut |line| eprintln!("{line}")).expect("the bed can be made");
    assert!(report.damages.is_empty(), "{report}");
    assert!(report.faults.values().sum::<usize>() > 2, "hardly any faults:\n{report}");
}
