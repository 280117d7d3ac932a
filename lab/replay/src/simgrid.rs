//! The same machine for SimGrid, which replays the same trace: its platform, and the order of hosts.

use crate::machine::Machine;
use std::fmt::Write;

/// A platform file. SimGrid's hosts have a link each into one switch; all costs of a message are in its latency and rate, for SimGrid has
/// overheads only for protocols that it knows. Of one medium there is one link that all use.
pub fn platform(machine: &Machine) -> String {
    let route = &machine.between;
    let ns = route.send.message + route.latency + route.passes(0) + route.receive.message;
    let rate = 1e9 / (route.byte + route.send.byte + route.receive.byte).max(1e-3);
    let hosts = machine.hosts.max(1);
    let mut text = String::from(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n",
    );
    // A message passes two links of a switch, and one medium.
    let links = if machine.shared_medium { 1.0 } else { 2.0 };
    let _ = match machine.shared_medium {
        false => writeln!(
            text,
            "  <cluster id=\"parvum\" prefix=\"h\" suffix=\"\" radical=\"0-{}\" speed=\"1Gf\" core=\"{}\" bw=\"{rate:.0}Bps\" lat=\"{:.0}ns\"/>",
            hosts - 1,
            machine.processors,
            ns / links,
        ),
        true => medium(&mut text, machine, rate, ns),
    };
    text.push_str("</platform>\n");
    text
}

fn medium(text: &mut String, machine: &Machine, rate: f64, ns: f64) -> std::fmt::Result {
    writeln!(text, "  <zone id=\"parvum\" routing=\"Full\">")?;
    for host in 0..machine.hosts {
        writeln!(text, "    <host id=\"h{host}\" speed=\"1Gf\" core=\"{}\"/>", machine.processors)?;
    }
    writeln!(
        text,
        "    <link id=\"medium\" bandwidth=\"{rate:.0}Bps\" latency=\"{ns:.0}ns\" sharing_policy=\"SHARED\"/>"
    )?;
    for host in 0..machine.hosts {
        for other in host + 1..machine.hosts {
            writeln!(text, "    <route src=\"h{host}\" dst=\"h{other}\"><link_ctn id=\"medium\"/></route>")?;
        }
    }
    writeln!(text, "  </zone>")
}

/// Which host each task is on, a line each.
pub fn hostfile(machine: &Machine, tasks: usize) -> String {
    (0..tasks).map(|task| format!("h{}\n", machine.host(task, tasks))).collect()
}

/// The seconds that `smpirun -replay` says the simulation took.
pub fn told(output: &str) -> Option<f64> {
    let line = output.lines().rev().find_map(|line| line.split_once("Simulation time "))?;
    line.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Route;

    #[test]
    fn simgrid_platform_lists_all_hosts() {
        let between = Route { latency: 1000.0, byte: 80.0, ..Route::default() };
        let mut machine = Machine { processors: 2, ..Machine::of(3, between) };
        let text = platform(&machine);
        assert!(
            text.contains("radical=\"0-2\"") && text.contains("bw=\"12500000Bps\" lat=\"500ns\""),
            "{text}"
        );
        machine.shared_medium = true;
        let text = platform(&machine);
        assert_eq!(text.matches("<route ").count(), 3, "{text}");
        assert_eq!(hostfile(&machine, 6), "h0\nh0\nh1\nh1\nh2\nh2\n");
    }

    #[test]
    fn simgrid_answer_is_parsed() {
        assert_eq!(
            told("x\n[h0:0:(1) 0.087913] [smpi_replay/INFO] Simulation time 0.087913\n"),
            Some(0.087913)
        );
        assert_eq!(told("nothing"), None);
    }
}
