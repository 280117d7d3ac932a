//! Cutting hosts off, and healing.
//!
//! A cut is silent: packets go out and nobody hears them, as behind a switch that failed. Nothing
//! tells either side, so it must find out.

use super::Host;
use super::network::Wires;

impl Host {
    /// Cuts it off from all others, both ways, silently.
    pub fn cut_off(&self) {
        // 0: the port of the bridge forwards nothing. On a busy machine a new host's port has its carrier late, and that
        // makes it forward: before it does there is nothing to cut.
        self.set_port(
            "tries=0
            until bridge link show dev {port} | grep -q 'state forwarding' || [ $tries -ge 500 ]; do
                tries=$((tries + 1))
                sleep 0.01
            done
            bridge link set dev {port} state 0",
        );
    }

    /// Pulls its plug: the host sees that its cable is dead.
    pub fn unplug(&self) {
        self.set_port("ip link set {port} down");
    }

    /// Undoes [`Host::cut_off`] and [`Host::unplug`].
    pub fn reconnect(&self) {
        // A port has its carrier a moment after it is up, and no state before.
        self.set_port(
            "ip link set {port} up && tries=0
            until bridge link set dev {port} state 3 2>/dev/null; do
                tries=$((tries + 1))
                [ $tries -lt 500 ] || exec bridge link set dev {port} state 3
                sleep 0.01
            done",
        );
    }

    /// Drops whatever this host would answer by TCP to other hosts, silently, as a firewall does; all else passes.
    pub fn drop_tcp(&self) {
        // Behind the rule for addresses of the host itself, before all others.
        for family in ["-4", "-6"] {
            self.succeed(&["ip", family, "rule", "add", "priority", "10", "ipproto", "tcp", "blackhole"]);
        }
    }

    fn set_port(&self, script: &str) {
        let script = script.replace("{port}", &self.port.borrow());
        self.switch.run(&script).unwrap_or_else(|why| panic!("{}: {why}", self.name));
    }

    /// What this host sends to that one is lost from now on; the other way round it is not.
    pub fn stop_reaching(&self, other: &Host) {
        // An address of the hardware that nobody has.
        self.set_neighbour(other, "replace", "lladdr 02:00:00:00:00:00 nud permanent");
    }

    /// Undoes [`Host::stop_reaching`].
    pub fn reach_again(&self, other: &Host) {
        self.set_neighbour(other, "del", "");
    }

    fn set_neighbour(&self, other: &Host, verb: &str, how: &str) {
        let Wires { v4, v6, link_local, .. } = &other.wires;
        for address in [v4, v6, link_local] {
            self.succeed(&["sh", "-c", &format!("ip neighbour {verb} {address} {how} dev eth0")]);
        }
    }
}

/// Cuts two hosts off from each other; both still hear the rest.
pub fn cut_between(one: &Host, other: &Host) {
    one.stop_reaching(other);
    other.stop_reaching(one);
}

/// Undoes [`cut_between`].
pub fn heal_between(one: &Host, other: &Host) {
    one.reach_again(other);
    other.reach_again(one);
}
