//! Both ends of a check between two hosts: ports that answer, and the other end that the doctor starts over there.

use super::finding::Finding;
use parvum_task::MachineDirectory;
use serde_json::{Value, json};
use std::io::{BufRead, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The answer of a doctor's port.
const GREETING: &[u8] = b"parvum-doctor";
/// How often a datagram is sent: one may be lost.
const TRIES: u32 = 4;

/// Ports that answer until the process ends.
pub struct Ports {
    pub tcp: u16,
    pub udp: u16,
}

impl Ports {
    /// Opens both, of all addresses of this host.
    pub fn open() -> std::io::Result<Ports> {
        // The daemon's own port, if it is chosen and free: firewalls may let only that through.
        let chosen = std::env::var("PARVUM_PORT").ok().and_then(|port| port.trim().parse().ok()).unwrap_or(0);
        let any = |port| {
            [SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)), SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))]
        };
        let listener = TcpListener::bind(&any(0)[..])?;
        let socket = UdpSocket::bind(&any(chosen)[..]).or_else(|_| UdpSocket::bind(&any(0)[..]))?;
        let ports = Ports { tcp: listener.local_addr()?.port(), udp: socket.local_addr()?.port() };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = stream;
                let _ = stream.write_all(GREETING);
            }
        });
        std::thread::spawn(move || {
            let mut datagram = [0; 64];
            while let Ok((length, from)) = socket.recv_from(&mut datagram) {
                // Others get no answer.
                if datagram.get(..length) == Some(GREETING) {
                    let _ = socket.send_to(GREETING, from);
                }
            }
        });
        Ok(ports)
    }

    pub fn json(&self, addresses: &[IpAddr]) -> Value {
        let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
        json!({ "tcp": self.tcp, "udp": self.udp, "addresses": addresses })
    }
}

/// The ports of the other end, and by which addresses it may be reached.
pub struct Other {
    tcp: u16,
    udp: u16,
    pub addresses: Vec<IpAddr>,
}

impl Other {
    pub fn of_json(value: &Value) -> Option<Other> {
        let port = |name: &str| u16::try_from(value.get(name)?.as_u64()?).ok();
        let addresses = value.get("addresses")?.as_array()?.iter();
        let addresses = addresses.filter_map(|address| address.as_str()?.parse().ok()).collect();
        Some(Other { tcp: port("tcp")?, udp: port("udp")?, addresses })
    }

    /// Whether TCP and UDP lead there: by which address, or what each has done.
    pub fn try_ports(&self, patience: Duration) -> [Result<IpAddr, String>; 2] {
        let first = |try_one: &dyn Fn(IpAddr) -> Result<(), String>| {
            let mut failed = Vec::new();
            for address in &self.addresses {
                match try_one(*address) {
                    Ok(()) => return Ok(*address),
                    Err(why) => failed.push(format!("{address}: {why}")),
                }
            }
            Err(if failed.is_empty() { "no address is known".to_owned() } else { failed.join(", ") })
        };
        let share = patience / u32::try_from(self.addresses.len().max(1)).unwrap_or(1);
        [
            first(&|address| tcp(SocketAddr::new(address, self.tcp), share)),
            first(&|address| udp(SocketAddr::new(address, self.udp), share)),
        ]
    }
}

fn tcp(to: SocketAddr, patience: Duration) -> Result<(), String> {
    let said = |why: std::io::Error| match why.kind() {
        std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => "silent".to_owned(),
        _ => why.to_string(),
    };
    let mut stream = TcpStream::connect_timeout(&to, patience).map_err(said)?;
    stream.set_read_timeout(Some(patience)).map_err(said)?;
    let mut heard = [0; GREETING.len()];
    stream.read_exact(&mut heard).map_err(said)?;
    if heard == GREETING { Ok(()) } else { Err("another program answered".into()) }
}

fn udp(to: SocketAddr, patience: Duration) -> Result<(), String> {
    let any: IpAddr = if to.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
    let said = |why: std::io::Error| why.to_string();
    let socket = UdpSocket::bind((any, 0)).map_err(said)?;
    socket.connect(to).map_err(said)?;
    socket.set_read_timeout(Some(patience / TRIES)).map_err(said)?;
    let mut heard = [0; 64];
    let mut why = "silent".to_owned();
    for _ in 0..TRIES {
        socket.send(GREETING).map_err(said)?;
        match socket.recv(&mut heard) {
            Ok(length) if heard.get(..length) == Some(GREETING) => return Ok(()),
            Ok(_) => why = "another program answered".into(),
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(said(error)),
        }
    }
    Err(why)
}

/// The addresses of this host from which those others would be called.
pub fn own_addresses(others: &[IpAddr]) -> Vec<IpAddr> {
    let mut own = Vec::new();
    for other in others {
        let any: IpAddr =
            if other.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
        // Nothing is sent: the kernel only chooses the way.
        let chosen = UdpSocket::bind((any, 0)).and_then(|socket| {
            socket.connect((*other, 9))?;
            socket.local_addr()
        });
        if let Ok(address) = chosen
            && !own.contains(&address.ip())
        {
            own.push(address.ip());
        }
    }
    own
}

/// Nanoseconds since 1970.
pub fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

/// The other end: three lines on standard output, the second as soon as a line has come. It ends with its input.
pub fn answer() {
    let say = |value: Value| {
        println!("{value}");
        let _ = std::io::stdout().flush();
    };
    say(
        json!({ "doctor": 1, "release": env!("CARGO_PKG_VERSION"), "protocol": parvum_wire::control::PROTOCOL }),
    );
    let mut line = String::new();
    let mut input = std::io::stdin().lock();
    if !input.read_line(&mut line).is_ok_and(|length| length > 0) {
        return;
    }
    let time = now();
    let asked = serde_json::from_str::<Value>(&line).unwrap_or_default();
    // `client address, port, server address, port`
    let connection = std::env::var("SSH_CONNECTION").unwrap_or_default();
    let by_ssh: Vec<IpAddr> = connection.split(' ').filter_map(|word| word.parse().ok()).collect();
    let mut other = Other::of_json(&asked);
    if let (Some(other), Some(client)) = (&mut other, by_ssh.first())
        && !other.addresses.contains(client)
    {
        other.addresses.insert(0, *client);
    }
    let ports = Ports::open();
    let mut addresses: Vec<IpAddr> = by_ssh.get(1).copied().into_iter().collect();
    addresses.extend(other.iter().flat_map(|other| own_addresses(&other.addresses)));
    addresses.dedup();
    let opened =
        ports.as_ref().map_or_else(|why| json!({ "error": why.to_string() }), |ports| ports.json(&addresses));
    say(json!({ "time_ns": time, "ports": opened }));
    let patience = asked.get("patience_ms").and_then(Value::as_u64).unwrap_or(2000);
    let back = other.map(|other| other.try_ports(Duration::from_millis(patience)));
    let said = |result: &Result<IpAddr, String>| match result {
        Ok(address) => json!({ "address": address.to_string() }),
        Err(why) => json!({ "error": why }),
    };
    let [tcp, udp] = back.as_ref().map_or([Value::Null, Value::Null], |[tcp, udp]| [said(tcp), said(udp)]);
    let findings: Vec<Value> = super::system::all().iter().map(Finding::json).collect();
    let place = MachineDirectory::from_env();
    say(
        json!({ "tcp": tcp, "udp": udp, "findings": findings, "directory": place.dir().display().to_string() }),
    );
    // The ports answer as long as the doctor asks.
    let _ = std::io::copy(&mut input, &mut std::io::sink());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_ports_answer_and_closed_ones_are_named() {
        let ports = Ports::open().expect("ports");
        let here: IpAddr = Ipv4Addr::LOCALHOST.into();
        let other = Other::of_json(&ports.json(&[here])).expect("what was written");
        let patience = Duration::from_secs(5);
        assert_eq!(other.try_ports(patience), [Ok(here), Ok(here)]);
        let closed = TcpListener::bind((here, 0)).expect("a port").local_addr().expect("its number").port();
        let nobody = Other { tcp: closed, udp: closed, addresses: vec![here] };
        assert!(
            nobody
                .try_ports(patience)
                .iter()
                .all(|result| result.as_ref().is_err_and(|why| why.contains("127.0.0.1")))
        );
        let nowhere = Other { tcp: 1, udp: 1, addresses: Vec::new() };
        assert_eq!(nowhere.try_ports(patience)[0], Err("no address is known".into()));
        assert_eq!(own_addresses(&[here]), [here]);
    }

    #[test]
    fn ports_that_are_no_ports_are_refused() {
        assert!(Other::of_json(&json!({ "tcp": 70000, "udp": 1, "addresses": [] })).is_none());
        assert!(Other::of_json(&json!({ "tcp": 7 })).is_none());
    }
}
