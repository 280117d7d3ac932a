//! The switch between the hosts, and what enters namespaces.

use super::emulated::Emulated;
use super::holder::Holder;
use super::room::Room;
use super::wire::Wire;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Tries once to make and use namespaces as a bed does.
pub(super) fn try_namespaces() -> Result<(), String> {
    let script = "ip link add one type veth peer name two && ip link add hub type bridge && ip link set lo up \
                  && mount -t tmpfs none /mnt";
    let mut command = Command::new("unshare");
    command.args(user()).args(["--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--", "sh", "-c"]);
    let done = command.arg(script).stdin(Stdio::null()).output();
    let done = done.map_err(|why| format!("no hosts out of namespaces: unshare(1): {why}"))?;
    match done.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&done.stderr);
            Err(format!("no hosts out of namespaces (root can make them): {}", said.trim()))
        }
    }
}

/// Who is not root becomes it in a user namespace.
fn user() -> &'static [&'static str] {
    match rustix::process::geteuid().is_root() {
        true => &[],
        false => &["--user", "--map-root-user"],
    }
}

/// Words that run a command in namespaces of that process.
pub(super) fn enter(pid: u32, which: &[&str]) -> Command {
    let mut command = Command::new("nsenter");
    command.arg("--target").arg(pid.to_string());
    if !user().is_empty() {
        command.args(["--user", "--preserve-credentials"]);
    }
    command.args(which).arg("--").stdin(Stdio::null());
    command
}

/// Runs it, and takes what it says when it fails for the reason.
pub(super) fn done(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|why| format!("{:?}: {why}", command.get_program()))?;
    if output.status.success() {
        return Ok(output);
    }
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{}`: {}: {}", words.join(" "), output.status, said.trim()))
}

/// The switch: a bridge in a namespace of its own.
pub(super) struct Switch {
    holder: RefCell<Holder>,
    net: (u8, u8),
    ports: Cell<u32>,
    /// What makes it another network than this machine's own speed.
    wire: RefCell<Wire>,
}

/// Where a host is connected.
#[derive(Clone, Debug)]
pub(super) struct Wires {
    /// `10.x.y.z`.
    pub v4: String,
    /// `fd00:...`.
    pub v6: String,
    /// The address made of the hardware's.
    pub link_local: String,
    pub hardware: String,
}

impl Switch {
    pub fn make(room: &Room, network: Option<&Emulated>) -> Result<Switch, String> {
        let mut command = Command::new("unshare");
        command.args(user()).args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--"]);
        // Whatever happens to the test, the holder removes the folder.
        let holder = Holder::start(command, &room.root.join("switch.log"), &[("--remove", &room.root)])?;
        let wire = RefCell::new(Wire::Bare);
        let switch = Switch { holder: RefCell::new(holder), net: room.net, ports: Cell::new(0), wire };
        switch.run(
            "ip link set lo up && ip link add hub type bridge mcast_snooping 0 && ip link set hub up \
             && { echo 1 >/proc/sys/net/ipv6/conf/hub/disable_ipv6 || :; }",
        )?;
        if let Some(network) = network {
            *switch.wire.borrow_mut() = Wire::of(network, room, &switch)?;
        }
        Ok(switch)
    }

    /// A command among the switch's processes, as far as whoever is not root must be there to enter the hosts' networks.
    pub fn beside(&self, program: &Path) -> Command {
        if user().is_empty() {
            return Command::new(program);
        }
        let mut command = enter(self.holder.borrow().pid(), &[]);
        command.arg(program);
        command
    }

    pub fn run(&self, script: &str) -> Result<(), String> {
        done(enter(self.holder.borrow().pid(), &["--net"]).args(["sh", "-c", script])).map(drop)
    }

    /// Starts the processes of a host.
    pub fn start_host(&self, folder: &Path) -> Result<Holder, String> {
        let mut command = enter(self.holder.borrow().pid(), &["--mount", "--pid"]);
        let apart = ["--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child", "--"];
        command.arg("unshare").args(apart);
        Holder::start(command, &folder.join("holder.log"), &[("--door", &folder.join("door"))])
    }

    pub fn wires(&self, at: usize) -> Wires {
        let ((a, b), host) = (self.net, at + 1);
        Wires {
            v4: format!("10.{a}.{b}.{host}"),
            v6: format!("fd00:{a:x}:{b:x}::{host:x}"),
            link_local: format!("fe80::ff:fe{a:02x}:{b:02x}{host:02x}"),
            hardware: format!("02:00:00:{a:02x}:{b:02x}:{host:02x}"),
        }
    }

    /// Connects the host whose holder that is; gives the name of its port.
    pub fn plug(&self, pid: u32, wires: &Wires) -> Result<String, String> {
        if let Wire::Relay(relay) = &mut *self.wire.borrow_mut() {
            relay.plug(pid, &wires.hardware)?;
            return Ok(String::new());
        }
        let number = self.ports.get();
        self.ports.set(number + 1);
        let (port, hardware) = (format!("p{number}"), &wires.hardware);
        self.run(&format!(
            "ip link add {port} type veth peer name eth0 address {hardware} netns {pid} \
             && {{ echo 1 >/proc/sys/net/ipv6/conf/{port}/disable_ipv6 || :; }} \
             && ip link set {port} master hub up"
        ))?;
        if let Wire::Kernel(network) = &*self.wire.borrow() {
            self.run(&network.shape(&port))?;
            done(enter(pid, &["--net"]).args(["sh", "-c", &network.shape("eth0")]))?;
        }
        Ok(port)
    }

    /// Ends the processes of all hosts.
    pub fn end(&self) {
        *self.wire.borrow_mut() = Wire::Bare;
        self.holder.borrow_mut().end();
    }
}
