//! `parvum trace` over several hosts.

use parvum_tests::bed::Bed;
use parvum_tests::recorded::{trace, traced};
use std::collections::BTreeSet;

#[test]
fn trace_of_ring_over_two_hosts_is_complete() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    for (host, options) in [(&bed[0], &[][..]), (&bed[1], &["-n", "1"])] {
        let folder = bed.root().join("trace");
        let it =
            trace(host.command(parvum_tests::parvum()), &folder, options, &traced(), &["ring", "6", "10"]);
        assert_eq!(it.ended.status.code(), Some(3), "{}", it.report());
        let told = it.told();
        assert_eq!(told.len(), 6 * 10 + 5);
        assert_eq!(it.ends("send", "to"), told);
        assert_eq!(it.ends("receive", "from"), told);
        let on: BTreeSet<_> = it.named("thread_name").filter_map(|event| event["pid"].as_u64()).collect();
        assert_eq!(on.len(), 2, "tasks on both hosts: {}", it.report());
        // The two share a clock, which the recording must find out.
        for (from, sent, to, received) in it.arrows() {
            let error = if from >> 18 == to >> 18 { 0.0 } else { 2000.0 };
            assert!(received + error >= sent, "{from} at {sent} us, {to} at {received} us");
        }
        assert!(it.about.keys().any(|name| name == "clock of beta"), "{:?}", it.about);
    }
    bed[0].await_idle();
}
