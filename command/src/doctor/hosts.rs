//! Checks of other hosts: whether they can be reached and added.

use super::finding::Finding;
use super::probe::{Other, Ports, now, own_addresses};
use super::session::Doctor;
use parvum_wire::control::{HostOptions, PROTOCOL};
use serde_json::{Value, json};
use std::net::{IpAddr, ToSocketAddrs};
use std::time::Duration;

/// Beyond this, times in traces and of files do not fit together.
const CLOCKS_APART: f64 = 1.0;

/// How hosts are reached.
pub struct Way<'a> {
    pub start_by: Option<&'a str>,
    pub remote: Option<&'a str>,
    pub patience: Duration,
}

/// Checks all hosts at the same time.
pub fn all(hosts: &[String], way: &Way) -> Vec<Finding> {
    std::thread::scope(|scope| {
        let begun: Vec<_> = hosts.iter().map(|host| scope.spawn(move || one(host, way))).collect();
        let lost = |host: &String| {
            vec![Finding::error("doctor", "the check ended early", "`parvum report`").on(host)]
        };
        begun
            .into_iter()
            .zip(hosts)
            .flat_map(|(thread, host)| thread.join().unwrap_or_else(|_| lost(host)))
            .collect()
    })
}

fn one(line: &str, way: &Way) -> Vec<Finding> {
    let read = HostOptions::of_line(line, &|name| std::env::var_os(name));
    let (name, options) =
        match read.and_then(|(name, options)| options.unfit(false).map(|()| (name, options))) {
            Ok(read) => read,
            Err(why) => {
                return vec![
                    Finding::error("name", format!("{line}: {why}"), "`man parvum` describes names of hosts")
                        .on(line),
                ];
            }
        };
    let address = options.address.as_deref().unwrap_or(&name);
    let by = options.by.as_deref().or(way.start_by);
    let reach = match parvum_machine::way_to(address, options.login.as_deref(), by) {
        Ok(reach) => reach,
        Err(why) => {
            return vec![Finding::error("ssh", why, "correct PARVUM_START_BY or --start-by").on(&name)];
        }
    };
    let set = std::env::var("PARVUM_REMOTE").ok().filter(|remote| !remote.is_empty());
    let program = options
        .daemon
        .as_deref()
        .or(way.remote)
        .map(str::to_owned)
        .or(set)
        .unwrap_or_else(|| "parvum".into());
    let mut found = Vec::new();
    if let Err(finding) = ask(&name, address, &reach, &program, way.patience, &mut found) {
        found.push(finding);
    }
    found.into_iter().map(|finding| finding.on(&name)).collect()
}

/// Asks a host's doctor. The error is what ends the check.
fn ask(
    name: &str,
    address: &str,
    reach: &str,
    program: &str,
    patience: Duration,
    found: &mut Vec<Finding>,
) -> Result<(), Finding> {
    let mut doctor = Doctor::start(name, reach, program, patience)?;
    let hello = doctor.hear("doctor")?;
    found.push(Finding::ok("ssh", format!("`{reach} true` works")));
    let text = |name: &str| hello.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
    let (release, own) = (text("release"), env!("CARGO_PKG_VERSION"));
    let protocol = hello.get("protocol").and_then(Value::as_u64);
    if release != own || protocol != Some(PROTOCOL.into()) {
        let text =
            format!("{name} has release {release}, this host {own}: hosts of two releases do not join");
        found.push(Finding::error(
            "release",
            text,
            format!("`parvum add --push {name}` copies this release"),
        ));
    } else {
        found.push(Finding::ok("release", release));
    }
    let name_only = address.rsplit('@').next().unwrap_or(address);
    let resolved: Vec<IpAddr> =
        (name_only, 0).to_socket_addrs().map(|all| all.map(|one| one.ip()).collect()).unwrap_or_default();
    let ports = Ports::open()
        .map_err(|why| Finding::error("ports", format!("none can be opened here: {why}"), "`ulimit -n`"))?;
    // The other end tries while this one does.
    let share = (patience / 4).min(Duration::from_secs(3));
    let mut question = ports.json(&own_addresses(&resolved));
    question["patience_ms"] = json!(u64::try_from(share.as_millis()).unwrap_or(2000));
    let asked = now();
    doctor.say(&question);
    let answer = doctor.hear("ports")?;
    found.push(clock(&answer, asked, now()));
    match Other::of_json(&answer["ports"]) {
        Some(mut other) => {
            resolved
                .iter()
                .filter(|one| !other.addresses.contains(one))
                .copied()
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|one| other.addresses.push(one));
            let [tcp, udp] = other.try_ports(share);
            let back = doctor.hear("findings")?;
            found.push(port(
                "tcp-to",
                "TCP",
                &format!("here to {name}"),
                tcp.map(|address| address.to_string()),
            ));
            found.push(port("tcp-from", "TCP", &format!("{name} to here"), read_port(&back["tcp"])));
            found.push(port(
                "udp-to",
                "UDP",
                &format!("here to {name}"),
                udp.map(|address| address.to_string()),
            ));
            found.push(port("udp-from", "UDP", &format!("{name} to here"), read_port(&back["udp"])));
            let theirs = back["findings"].as_array().into_iter().flatten().filter_map(Finding::of_json);
            found.extend(theirs);
        }
        None => found.push(Finding::error(
            "ports",
            format!("{name} cannot open any: {}", answer["ports"]),
            format!("`ulimit -n` on {name}"),
        )),
    }
    doctor.end();
    Ok(())
}

fn read_port(value: &Value) -> Result<String, String> {
    match value.get("address").and_then(Value::as_str) {
        Some(address) => Ok(address.into()),
        None => Err(value.get("error").and_then(Value::as_str).unwrap_or("not tried").into()),
    }
}

fn port(check: &str, kind: &str, way: &str, result: Result<String, String>) -> Finding {
    match result {
        Ok(address) => Finding::ok(check, format!("{kind} from {way} works ({address})")),
        Err(why) => {
            let what = if kind == "UDP" { "daemons need UDP both ways" } else { "tasks need TCP both ways" };
            let help = match kind {
                "UDP" => {
                    "open UDP between the hosts in the firewall; PARVUM_PORT=40404 fixes the daemon's port"
                }
                _ => {
                    "open TCP between the hosts in the firewall; PARVUM_ROUTE=routed needs no TCP, and is slower"
                }
            };
            Finding::error(check, format!("{kind} from {way} fails ({why}); {what}"), help)
        }
    }
}

/// How far the other clock is from this one: it was read at some time between the question and the answer.
fn clock(answer: &Value, asked: i64, answered: i64) -> Finding {
    let Some(theirs) = answer.get("time_ns").and_then(Value::as_i64) else {
        return Finding::error("clock", "the host did not tell its time", "use one release on both hosts");
    };
    let half = answered.saturating_sub(asked) / 2;
    let apart = theirs.saturating_sub(asked.saturating_add(half)) as f64 / 1e9;
    let sure = apart.abs() - half as f64 / 1e9;
    let side = if apart < 0.0 { "behind" } else { "ahead" };
    match sure > CLOCKS_APART {
        true => Finding::warning(
            "clock",
            format!(
                "its clock is {:.1} s {side}; times in traces, logs and of files do not fit",
                apart.abs()
            ),
            "as root on both hosts, `timedatectl set-ntp true`",
        ),
        false => {
            Finding::ok("clock", format!("at most {:.1} s from this host's", apart.abs() + half as f64 / 1e9))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    fn states(host: &str, way: &Way) -> Vec<(String, State)> {
        all(&[host.to_owned()], way).into_iter().map(|finding| (finding.check, finding.state)).collect()
    }

    #[test]
    fn names_and_ways_that_cannot_be_used_are_errors() {
        let way = |by| Way { start_by: Some(by), remote: None, patience: Duration::from_secs(5) };
        assert_eq!(states("beta xx=1", &way("ssh")), [("name".to_owned(), State::Error)]);
        assert_eq!(states("beta lo=anna", &way("/bin/false")), [("ssh".to_owned(), State::Error)]);
        assert_eq!(states("beta", &way("/no/such/command")), [("ssh".to_owned(), State::Error)]);
    }

    #[test]
    fn clock_difference_is_a_warning() {
        let at =
            |theirs: i64| clock(&json!({ "time_ns": theirs }), 1_000_000_000_000, 1_000_200_000_000).state;
        assert_eq!(at(1_000_100_000_000), State::Ok);
        assert_eq!(at(1_005_100_000_000), State::Warning);
        assert_eq!(at(990_100_000_000), State::Warning);
        assert_eq!(clock(&json!({}), 0, 1).state, State::Error);
    }
}
