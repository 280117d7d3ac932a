//! LU, SP and BT of the NAS benchmarks with tasks on two hosts.

use parvum_tests::bed::Bed;
use parvum_tests::npb::{BENCHMARKS, Npb, verified};

#[test]
fn class_s_values_are_official_on_two_hosts() {
    let Some(bed) = Bed::of(2) else { return };
    let program = Npb::over("pvm", "hosts");
    bed.join_all();
    for benchmark in BENCHMARKS {
        let before = bed[1].sent();
        let said =
            bed[0].succeed(&[program.path(), "--benchmark", benchmark, "--class", "S", "--tasks", "4"]);
        assert!(said.contains("on 2 hosts, by pvm"), "{said}");
        verified(&said, benchmark, 4);
        // Half of the tasks are there, and send at least a part of what class S sends in fifty iterations.
        assert!(bed[1].sent() > before + 200_000, "{benchmark}: {}", bed[1].sent() - before);
    }
    bed[0].await_idle();
}
