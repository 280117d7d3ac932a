//! Hosts whose clocks are wrong by years: nothing looks at the time of day.

use parvum_tests::bed::{Bed, Host};
use parvum_tests::{eventually, stage};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const YEAR: i64 = 31_556_952;

/// Sets the clock of everything that is started on the host from now on.
fn set_clock(host: &Host, years: i64) {
    host.set("LD_PRELOAD", stage::program("clock_library.so").to_str().expect("a plain path"));
    host.set("CLOCK_AHEAD", &(years * YEAR).to_string());
}

/// By how many years the daemon's clock is ahead: what the last line of its log says.
fn years_ahead(host: &Host) -> i64 {
    let log = host.log();
    let stamp = log.lines().last().and_then(|line| line.split('.').next()).expect("a stamp");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() as i64;
    (stamp.parse::<i64>().expect("seconds") - now + YEAR / 2).div_euclid(YEAR)
}

#[test]
fn hosts_with_clocks_years_apart_join() {
    let Some(bed) = Bed::of(4) else { return };
    let wrong = [0, 10, -10, 70];
    let names = ["alpha", "beta", "gamma", "delta"];
    for (host, years) in bed.hosts().iter().zip(wrong) {
        set_clock(host, years);
    }
    // The authority is made by a host that is right, by one that is ahead, by one that is behind.
    for first in 0..3 {
        let others = others_of(&names, names[first]);
        bed[first].add(&others);
        for (host, years) in bed.hosts().iter().zip(wrong) {
            host.await_hosts(&names);
            assert_eq!(years_ahead(host), years, "{}", host.name);
            host.check("across", &["places"], "auto");
        }
        bed[1].check("across", &["ring"], "tcp");
        bed[2].check("across", &["together"], "routed");
        // One is lost, which takes no longer than with good clocks, and comes again.
        let lost = &bed[3];
        lost.kill_daemon();
        bed[first].await_hosts(&others_of(&names, "delta"));
        bed[2].add(&["delta"]);
        lost.await_hosts(&names);
        bed[1].check("across", &["places"], "auto");
        bed[first].succeed(&["parvum", "down"]);
        for host in bed.hosts() {
            eventually("the daemon has ended", || host.daemon().is_none());
        }
    }
}

fn others_of<'a>(names: &[&'a str], without: &str) -> Vec<&'a str> {
    names.iter().copied().filter(|name| *name != without).collect()
}
