//! What lies between a bed's hosts: nothing but the switch, the kernel's token bucket on each link, or the relay.

use super::emulated::Emulated;
use super::network::{Switch, done};
use super::room::{self, Room};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

pub(super) enum Wire {
    /// As fast as this machine can.
    Bare,
    /// Links whose rate the kernel limits.
    Kernel(Emulated),
    /// A process that is the network.
    Relay(Relay),
}

impl Wire {
    pub fn of(network: &Emulated, room: &Room, switch: &Switch) -> Result<Wire, String> {
        // tc may know it and the kernel not.
        let has_bucket = || {
            let try_it = "ip link add try type veth peer name try2 && tc qdisc add dev try root tbf rate 1mbit burst 2kb latency 1ms; ok=$?; ip link del try; exit $ok";
            switch.run(try_it).is_ok()
        };
        match network.is_rate_alone() && has_bucket() {
            true => Ok(Wire::Kernel(network.clone())),
            false => Relay::start(network, room, switch).map(Wire::Relay),
        }
    }
}

impl Emulated {
    /// The script that has the kernel limit what leaves by a device.
    pub(super) fn shape(&self, device: &str) -> String {
        let (rate, mtu) = (self.rate, self.mtu);
        // A bucket of 2 ms, since on a busy machine the kernel comes late to fill it. Packets may pass many as one: sent one by one they overtake
        // each other on their way to the other processor.
        let burst = (rate * 250.0) as u64;
        format!(
            "ip link set {device} mtu {mtu} && tc qdisc replace dev {device} root tbf rate {}kbit burst {burst} latency 20ms",
            (rate * 1000.0) as u64
        )
    }
}

/// The relay's process.
pub(super) struct Relay {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Relay {
    fn start(network: &Emulated, room: &Room, switch: &Switch) -> Result<Relay, String> {
        let file = room.root.join("network");
        std::fs::write(&file, network.text()).map_err(|why| format!("{}: {why}", file.display()))?;
        let program = room::profile().join("hosts");
        // Where that is allowed it goes before all that it is to serve: a relay that waits for a processor is a slower network.
        let may = |priority: &str| done(Command::new("chrt").args(["-f", priority, "true"])).is_ok();
        let mut command = match may("20") {
            true => {
                let mut command = Command::new("chrt");
                command.args(["-f", "20"]).arg(&program);
                command
            }
            false => switch.beside(&program),
        };
        command.arg("relay").arg(&file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|why| format!("the relay: {why}"))?;
        let said = BufReader::new(child.stdout.take().ok_or("the relay has no output")?);
        Ok(Relay { child, said })
    }

    /// Connects a host; its device is there when this returns.
    pub fn plug(&mut self, pid: u32, hardware: &str) -> Result<(), String> {
        let mut line = String::new();
        let input = self.child.stdin.as_mut().ok_or("the relay has no input")?;
        writeln!(input, "{pid} {hardware}")
            .and_then(|()| self.said.read_line(&mut line))
            .map_err(|why| format!("the relay: {why}"))?;
        match line.trim() {
            "ok" => Ok(()),
            "" => Err("the relay ended".to_owned()),
            why => Err(format!("the relay: {why}")),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It ends when its input does.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
