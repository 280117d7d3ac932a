//! The relay: a process between the hosts' devices that is the network they see, `hosts relay FILE`.
//!
//! On its standard input come the hosts, a line `PID HARDWARE` each, and it answers with a line when one's device is there. It ends when its
//! standard input does.

use super::emulated::Emulated;
use super::medium::{IDLE, Medium};
use super::tap;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use std::io::{BufRead, Write};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::time::{Duration, Instant};

/// The longest frame, with room.
const LONGEST: usize = 66_000;

/// So long before a frame is due the relay looks for the moment itself: a core that has nothing to do is woken as late as this, on virtual
/// machines.
const EARLY: Duration = Duration::from_micros(40);

/// Is the relay.
pub fn run(file: &str) -> Result<(), String> {
    let network = Emulated::find(file)?;
    let mtu = network.mtu;
    let mut medium = Medium::new(network, Instant::now());
    // Else the kernel wakes it up to 50 us late, to save power.
    let _ = std::fs::write("/proc/self/timerslack_ns", "1");
    let mut devices: Vec<OwnedFd> = Vec::new();
    let mut room = vec![0; LONGEST];
    loop {
        let wait = medium.next().map_or(IDLE, |next| next.saturating_duration_since(Instant::now()));
        let wait = wait.min(IDLE).saturating_sub(EARLY);
        let (over, ready) = await_frames(&medium, &devices, wait)?;
        for port in ready {
            while medium.has_room(port) {
                match read(&devices[port], &mut room[..]) {
                    Ok(bytes) => medium.send(port, room[..bytes].to_vec(), Instant::now()),
                    // Also while the device is down.
                    Err(_) => break,
                }
            }
        }
        for arrival in medium.arrived(Instant::now()) {
            // A host that is gone, or whose queue is full, loses it, as on a wire.
            let _ = write(&devices[arrival.port], &arrival.frame);
        }
        if over {
            let mut line = String::new();
            if std::io::stdin().lock().read_line(&mut line).map_err(|why| why.to_string())? == 0 {
                return Ok(());
            }
            let answer = plug(&line, mtu).map(|device| {
                medium.add(Instant::now());
                devices.push(device);
            });
            let answer = answer.map_or_else(|why| why.replace('\n', " "), |()| "ok".to_owned());
            println!("{answer}");
            std::io::stdout().flush().map_err(|why| why.to_string())?;
        }
    }
}

/// Waits for frames, a host, or the time; gives whether standard input has something, and which ports have.
fn await_frames(
    medium: &Medium,
    devices: &[OwnedFd],
    wait: std::time::Duration,
) -> Result<(bool, Vec<usize>), String> {
    let input = std::io::stdin();
    let mut fds = vec![PollFd::new(&input, PollFlags::IN)];
    // A host whose queue is full here waits with its next frame.
    let open: Vec<usize> = (0..devices.len()).filter(|port| medium.has_room(*port)).collect();
    fds.extend(open.iter().map(|port| PollFd::new(&devices[*port], PollFlags::IN)));
    let time = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
    match poll(&mut fds, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(why) => return Err(why.to_string()),
    }
    let has = |fd: &PollFd| !fd.revents().is_empty();
    let ready = open.iter().zip(&fds[1..]).filter(|(_, fd)| has(fd)).map(|(port, _)| *port);
    Ok((has(&fds[0]), ready.collect()))
}

/// Makes a host's device.
fn plug(line: &str, mtu: u32) -> Result<OwnedFd, String> {
    let mut words = line.split_whitespace();
    let (Some(Ok(pid)), Some(hardware)) = (words.next().map(str::parse::<u32>), words.next()) else {
        return Err(format!("no host: {line}"));
    };
    let device =
        tap::make(pid, "eth0").map_err(|why| format!("no network device of ours (/dev/net/tun): {why}"))?;
    let target = format!("--target={pid}");
    let set = ["link", "set", "eth0", "address", hardware, "mtu", &mtu.to_string()].map(str::to_owned);
    let done = Command::new("nsenter").args([&target, "--net", "--", "ip"]).args(set).output();
    let done = done.map_err(|why| why.to_string())?;
    if done.status.success() { Ok(device) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}
