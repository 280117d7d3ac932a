//! PVM 3.4.6 on the same hosts, for comparisons.

use parvum_tests::bed::{Bed, Rival};

#[test]
fn rival_pvm_runs_on_hosts_of_bed() {
    let Some(bed) = Bed::of(2) else { return };
    let Some(pvm) = Rival::over(&bed) else { return };
    assert_eq!(pvm.conf(), ["alpha", "beta"]);
    // One on each: the host is the upper part of a tid.
    let said = pvm.console("spawn -2 /bin/hostname");
    for host in ["t4", "t8"] {
        assert_eq!(said.lines().filter(|line| line.starts_with(host)).count(), 1, "{said}");
    }
}
