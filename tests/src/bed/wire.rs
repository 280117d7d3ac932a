//! What lies between a bed's hosts: nothing but the switch, the kernel's token bucket on each link, or the relay.

use super::emulated::Emulated;
use super::network::{Switch, done};
use super::room::{self, Room};
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
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
    _apart: Option<Apart>,
}

/// The relay has a core of its own, and all that this thread starts has the others: a program that shares the relay's core waits as long
/// as the relay looks for the moments of frames, and its messages take five times as long or not, by where the kernel has put it.
struct Apart {
    before: CpuSet,
    core: usize,
}

impl Apart {
    /// Leaves the last core to the relay, if there are two.
    fn take() -> Option<Apart> {
        let before = sched_getaffinity(None::<Pid>).ok()?;
        let core = (0..CpuSet::MAX_CPU).rfind(|core| before.is_set(*core))?;
        let mut others = before;
        others.unset(core);
        (others.count() > 0 && sched_setaffinity(None::<Pid>, &others).is_ok())
            .then_some(Apart { before, core })
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // At worst this thread keeps the other cores.
        let _ = sched_setaffinity(None::<Pid>, &self.before);
    }
}

impl Relay {
    fn start(network: &Emulated, room: &Room, switch: &Switch) -> Result<Relay, String> {
        let file = room.root.join("network");
        std::fs::write(&file, network.text()).map_err(|why| format!("{}: {why}", file.display()))?;
        let program = room::profile().join("hosts");
        // Where that is allowed it goes before all that it is to serve: a relay that waits for a processor is a slower network.
        let may = |priority: &str| done(Command::new("chrt").args(["-f", priority, "true"])).is_ok();
        let apart = Apart::take();
        let on_its_core =
            apart.as_ref().map(|apart| ["taskset".to_owned(), "-c".to_owned(), apart.core.to_string()]);
        let mut words: Vec<PathBuf> = on_its_core.into_iter().flatten().map(PathBuf::from).collect();
        words.push(program);
        let mut command = match may("20") {
            true => {
                let mut command = Command::new("chrt");
                command.args(["-f", "20"]).arg(&words[0]);
                command
            }
            false => switch.beside(&words[0]),
        };
        command.args(&words[1..]);
        command.arg("relay").arg(&file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|why| format!("the relay: {why}"))?;
        let said = BufReader::new(child.stdout.take().ok_or("the relay has no output")?);
        Ok(Relay { child, said, _apart: apart })
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
