//! Hosts joined by another network than this machine's own speed. What a network's speed is, `./x hosts --calibrate` measures.

use parvum_tests::bed::emulated::Emulated;
use parvum_tests::bed::{Bed, Plan};

fn bed(hosts: usize, network: Emulated) -> Option<Bed> {
    Bed::or_skip(&Plan { network: Some(network), ..Plan::of(hosts) })
}

#[test]
fn every_message_crosses_a_slow_and_lossy_network() {
    let text = "rate = 200\ndelay = 300\nmtu = 1400\nmedium = shared\nloss = 0.003";
    let Some(bed) = bed(3, Emulated::parse("lossy", text).expect("well made")) else { return };
    let device = bed[0].succeed(&["ip", "link", "show", "eth0"]);
    assert!(device.contains("mtu 1400"), "{device}");
    bed.join_all();
    for route in ["tcp", "routed"] {
        bed[0].check("across", &["ring"], route);
    }
    bed[0].await_idle();
}

#[test]
fn a_network_of_long_packets_has_them() {
    let Some(bed) = bed(2, Emulated::find("hippi").expect("it is named")) else { return };
    let device = bed[1].succeed(&["ip", "link", "show", "eth0"]);
    assert!(device.contains("mtu 65280"), "{device}");
    bed.join_all();
    bed[0].check("across", &["fan"], "tcp");
    bed[0].await_idle();
}

#[test]
fn the_kernel_limits_a_rate_alone_where_it_can() {
    let Some(bed) = bed(2, Emulated::find("gigabit").expect("it is named")) else { return };
    let shaping = bed[0].succeed(&["tc", "qdisc", "show", "dev", "eth0"]);
    let device = bed[0].succeed(&["ip", "-details", "link", "show", "eth0"]);
    // Where the kernel has no token bucket, the relay does it.
    assert!(
        shaping.contains("qdisc tbf") && shaping.contains("1Gbit") || device.contains("tun "),
        "{shaping}{device}"
    );
    bed.join_all();
    bed[0].check("across", &["ring"], "tcp");
    bed[0].await_idle();
}
