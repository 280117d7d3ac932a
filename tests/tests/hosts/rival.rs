//! PVM 3.4.6 on the same hosts, for comparisons.

use parvum_tests::bed::{Bed, Rival};

#[test]
fn pvm_has_the_hosts_of_a_bed() {
    let Some(bed) = Bed::of(2) else { return };
    let Some(pvm) = Rival::over(&bed) else { return };
    assert_eq!(pvm.conf(), ["alpha", "beta"]);
    let done = pvm.command(&bed[0], "sh").args(["-c", "echo 'spawn -> -2 /bin/hostname' | pvm"]).output();
    let said = String::from_utf8_lossy(&done.expect("it runs").stdout).into_owned();
    for host in ["alpha", "beta"] {
        assert!(said.contains(host), "{said}");
    }
}
