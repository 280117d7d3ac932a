//! The addresses under which this host may be reached. None is guessed to be
//! the right one: the peer tries them all and what answers is kept.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::path::Path;

/// What an address is good for; the first are tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// An ordinary interface.
    Network,
    /// Only on the same wire, through one interface (fe80::, 169.254).
    Link,
    /// A bridge or pair that containers and virtual machines use inside the host.
    Bridge,
    /// Only inside this host.
    Loopback,
}

/// One address of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The address with the asked port; link-local ones of IPv6 have their
    /// scope, which means something on this host only.
    pub address: SocketAddr,
    /// The interface's name.
    pub interface: String,
    /// What it is good for.
    pub reach: Reach,
}

/// Lists them, for a daemon that listens at `port`: interfaces that are up,
/// both families, best first.
pub fn local_candidates(port: u16) -> io::Result<Vec<Candidate>> {
    let mut found = Vec::new();
    for interface in if_addrs::get_if_addrs()? {
        let ip = interface.ip();
        // A bridge without anybody on it is down though its address is there.
        if ip.is_unspecified() || ip.is_multicast() || state(&interface.name) == "down" {
            continue;
        }
        let address = match ip {
            IpAddr::V6(ip) if ip.is_unicast_link_local() => {
                // Without its scope such an address leads nowhere.
                let Some(scope) = interface.index else { continue };
                SocketAddrV6::new(ip, port, 0, scope).into()
            }
            ip => SocketAddr::new(ip, port),
        };
        found.push(Candidate { address, reach: reach(ip, &interface.name), interface: interface.name });
    }
    found.sort_by_key(|candidate| (candidate.reach, candidate.address.is_ipv6()));
    Ok(found)
}

fn state(interface: &str) -> String {
    let path = Path::new("/sys/class/net").join(interface).join("operstate");
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// How programs that make interfaces inside a host begin their names.
const INNER: [&str; 14] = [
    "docker", "virbr", "br-", "veth", "cni", "lxc", "lxdbr", "podman", "flannel", "cali", "vmnet", "vboxnet",
    "kube", "incusbr",
];

fn reach(ip: IpAddr, interface: &str) -> Reach {
    let link = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    match ip {
        _ if ip.is_loopback() || interface == "lo" => Reach::Loopback,
        _ if INNER.iter().any(|name| interface.starts_with(name)) => Reach::Bridge,
        _ if link => Reach::Link,
        _ => Reach::Network,
    }
}

/// A peer's link-local address says nothing about which of our interfaces
/// leads there: it becomes one address for each. Doubles go.
pub(crate) fn expand(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let mut all = Vec::new();
    let mut add = |address| {
        if !all.contains(&address) {
            all.push(address);
        }
    };
    for address in addresses {
        match address {
            SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() && v6.scope_id() == 0 => {
                scopes().into_iter().for_each(|scope| {
                    add(SocketAddrV6::new(*v6.ip(), v6.port(), 0, scope).into());
                });
            }
            _ => add(crate::socket::plain(*address)),
        }
    }
    all
}

fn scopes() -> Vec<u32> {
    let link_local = |ip: IpAddr| matches!(ip, IpAddr::V6(ip) if Ipv6Addr::is_unicast_link_local(&ip));
    let ours = if_addrs::get_if_addrs().unwrap_or_default();
    ours.iter().filter(|one| link_local(one.ip())).filter_map(|one| one.index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_last_of_local_candidates() {
        let all = local_candidates(7).expect("the system lists interfaces");
        let last = all.last().expect("at least loopback");
        assert!(last.address.ip().is_loopback() && last.address.port() == 7, "{all:?}");
        assert!(all.is_sorted_by_key(|candidate| candidate.reach), "{all:?}");
        for candidate in &all {
            if let SocketAddr::V6(v6) = candidate.address {
                assert_eq!(v6.ip().is_unicast_link_local(), v6.scope_id() != 0, "{candidate:?}");
            }
        }
    }

    #[test]
    fn container_bridges_are_distinguished_from_networks() {
        let ip = |text: &str| text.parse().expect("an address");
        assert_eq!(reach(ip("172.17.0.1"), "docker0"), Reach::Bridge);
        assert_eq!(reach(ip("fe80::1"), "virbr0"), Reach::Bridge);
        assert_eq!(reach(ip("fe80::1"), "eth0"), Reach::Link);
        assert_eq!(reach(ip("169.254.3.4"), "eth0"), Reach::Link);
        assert_eq!(reach(ip("192.0.2.1"), "br0"), Reach::Network);
        assert_eq!(reach(ip("127.0.0.1"), "lo"), Reach::Loopback);
    }

    #[test]
    fn peer_address_is_tried_once() {
        let one: SocketAddr = "192.0.2.1:7".parse().expect("an address");
        let same: SocketAddr = "[::ffff:192.0.2.1]:7".parse().expect("an address");
        assert_eq!(expand(&[one, same, one]), [one]);
    }
}
