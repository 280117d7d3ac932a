//! Hosts joined by another network than this machine's own speed. What a network's speed is, `./x hosts --calibrate` measures.

use parvum_tests::bed::emulated::Emulated;
use parvum_tests::bed::{Bed, Plan};
use parvum_tests::stage::{project, stage};
use std::path::Path;

fn bed(hosts: usize, network: Emulated) -> Option<Bed> {
    Bed::or_skip(&Plan { network: Some(network), ..Plan::of(hosts) })
}

#[test]
fn messages_cross_slow_and_lossy_network() {
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
fn network_with_large_mtu_uses_it() {
    let Some(bed) = bed(2, Emulated::find("hippi").expect("it is named")) else { return };
    let device = bed[1].succeed(&["ip", "link", "show", "eth0"]);
    assert!(device.contains("mtu 65280"), "{device}");
    bed.join_all();
    bed[0].check("across", &["fan"], "tcp");
    bed[0].await_idle();
}

#[test]
fn rate_limit_uses_kernel_if_available() {
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

#[test]
fn comparison_over_hosts_names_its_network() {
    let Some(bed) = bed(2, Emulated::find("lan").expect("it is named")) else { return };
    let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let (apps, libraries) = (text(&project().join("apps")), text(&stage().lib));
    let out = bed.root().join("results");
    let words = ["parvum", "compare", "--suite", "main", "--systems", "parvum", "--host", "alpha,beta"];
    let files = ["--apps", &apps, "--libraries", &libraries, "--out", &text(&out), "--budget", "3"]
        .map(str::to_owned);
    let words: Vec<&str> = words.into_iter().chain(files.iter().map(String::as_str)).collect();
    // It builds its program first, which takes its time beside other tests.
    let mut compare = bed[0].command("timeout");
    let done =
        compare.args(["--foreground", "--signal=KILL", "300"]).args(&words).output().expect("nsenter runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(said.contains("each on a host of its own") && said.contains("Parvum tcp, raw"), "{done:?}");
    let run = std::fs::read_dir(&out).expect("a folder").flatten().next().expect("a run").path();
    let manifest = std::fs::read_to_string(run.join("manifest.json")).expect("a manifest");
    let network = "lan: 100 Mbit/s, 30 us of delay, packets of 1500 bytes, switch";
    assert!(manifest.contains(network) && manifest.contains("beta"), "{manifest}");
    // A hundred Mbit/s carry no more: the tasks were on both hosts.
    let rows = std::fs::read_to_string(run.join("summary.json")).expect("rows");
    let rows: serde_json::Value = serde_json::from_str(&rows).expect("well made");
    let rate =
        rows.as_array().into_iter().flatten().find(|row| row["metric"] == "r_max").expect("there is one");
    assert!(rate["median"].as_f64().expect("a number") < 0.013, "{rate}");
}
