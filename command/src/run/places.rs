//! On which hosts the tasks of a run start, and to which processors they are bound.

use super::{MapBy, RunArgs};
use crate::look::views::odd;
use parvum_task::{Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{HostRow, Reply, Request};

/// A list of processors, as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processors(pub Vec<u32>);

/// Reads a list of processors: `0,2,4-7`.
pub fn processors(text: &str) -> Result<Processors, String> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        (first <= last && last < 65536).then_some(first..=last)
    };
    let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
    let all = ranges.map(|ranges| ranges.into_iter().flatten().collect());
    all.map(Processors).ok_or_else(|| "a list of processors looks like 0,2,4-7".into())
}

/// The hosts of the machine.
pub fn hosts(session: &mut Session) -> Result<Vec<HostRow>, SessionError> {
    match session.request(Request::Hosts)? {
        Reply::Hosts(rows) => Ok(rows),
        _ => Err(odd()),
    }
}

/// Hosts that were asked for, with their slots where those were said.
pub type Wanted = Vec<(String, Option<u32>)>;

/// The hosts of the command line or of a hostfile; nothing when there is no word of hosts.
pub fn wanted(args: &RunArgs) -> Result<Wanted, String> {
    if let Some(file) = &args.hostfile {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("E-USAGE: --hostfile {}: {error}", file.display()))?;
        return hostfile(&text).map_err(|why| format!("E-USAGE: {}: {why}", file.display()));
    }
    named(&args.host)
}

/// Hosts by a list of names.
pub fn named(list: &[String]) -> Result<Wanted, String> {
    let names = list.iter().flat_map(|list| list.split(',')).filter(|name| !name.is_empty());
    names.map(|name| with_slots(name).map_err(|why| format!("E-USAGE: --host {why}"))).collect()
}

/// `alpha` or `alpha:2`.
fn with_slots(text: &str) -> Result<(String, Option<u32>), String> {
    match text.rsplit_once(':') {
        Some((name, slots)) => Ok((name.into(), Some(number_of_slots(slots, text)?))),
        None => Ok((text.into(), None)),
    }
}

fn number_of_slots(digits: &str, text: &str) -> Result<u32, String> {
    let number = digits.parse().ok().filter(|number| (1..=4096).contains(number));
    number.ok_or_else(|| format!("{text}: slots are a number from 1 to 4096"))
}

/// A hostfile as MPI has them: a host a line, what follows `#` is for people.
fn hostfile(text: &str) -> Result<Wanted, String> {
    let mut wanted = Wanted::new();
    for (at, line) in text.lines().enumerate() {
        let at = at + 1;
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let mut host = with_slots(name).map_err(|why| format!("line {at}: {why}"))?;
        for word in words {
            let Some(slots) = word.strip_prefix("slots=") else {
                return Err(format!(
                    "line {at}: {word}: behind the name of a host stands slots=N, and no more"
                ));
            };
            host.1 = Some(number_of_slots(slots, word).map_err(|why| format!("line {at}: {why}"))?);
        }
        wanted.push(host);
    }
    if wanted.is_empty() {
        return Err("it names no host".into());
    }
    Ok(wanted)
}

/// How many slots were named: those of the hosts that were asked for, one each if nothing else is said, or so many on each host of
/// the machine. Nothing: there was no word of either.
pub fn slots(wanted: &Wanted, each: Option<u32>, hosts: usize) -> Option<u32> {
    match (wanted.is_empty(), each) {
        (false, _) => Some(wanted.iter().map(|(_, slots)| slots.or(each).unwrap_or(1)).sum()),
        (true, Some(each)) => Some(each * hosts.max(1) as u32),
        (true, None) => None,
    }
}

/// The host of each of `count` tasks; nothing when the machine shall decide. `here` is the daemon of this host.
pub fn place(
    args: &RunArgs,
    wanted: &Wanted,
    hosts: &[HostRow],
    here: Tid,
    count: usize,
) -> Result<Option<Vec<Tid>>, String> {
    if wanted.is_empty() && args.map_by.is_none() && args.ppn.is_none() {
        return Ok(None);
    }
    let slots = |given: Option<u32>, row: &HostRow| given.or(args.ppn).unwrap_or(row.cpus).max(1);
    let chosen: Vec<(Tid, u32)> = match wanted.is_empty() {
        true => hosts.iter().map(|row| (row.tid, slots(None, row))).collect(),
        false => {
            let known = wanted.iter().map(|(name, given)| {
                let row = find(name, hosts, here).ok_or_else(|| {
                    let there: Vec<_> = hosts.iter().map(|row| row.name.as_str()).collect();
                    format!(
                        "E-NOHOST: {name} is no host of the machine, which has {}; help: `parvum add {name}` adds it",
                        there.join(", ")
                    )
                })?;
                Ok((row.tid, slots(*given, row)))
            });
            known.collect::<Result<_, String>>()?
        }
    };
    Ok(Some(match args.map_by.unwrap_or(MapBy::Slot) {
        MapBy::Slot => by_slot(&chosen, count),
        MapBy::Node => by_node(&chosen, count),
    }))
}

/// The host of a name.
pub fn find<'a>(name: &str, hosts: &'a [HostRow], here: Tid) -> Option<&'a HostRow> {
    let is_here = |row: &&HostRow| row.tid == here && matches!(name, "." | "localhost");
    let same = |row: &&HostRow| row.name == name;
    let short = |row: &&HostRow| row.name.split('.').next() == Some(name);
    // A name with a domain, of a host that is known without one.
    let is_address = name.parse::<std::net::IpAddr>().is_ok();
    let long =
        |row: &&HostRow| !is_address && name.split_once('.').is_some_and(|(first, _)| row.name == first);
    let looks: [&dyn Fn(&&HostRow) -> bool; 4] = [&same, &is_here, &short, &long];
    looks.iter().find_map(|is_it| hosts.iter().find(is_it))
}

/// All slots of one host, then those of the next; when none is left it begins anew.
fn by_slot(hosts: &[(Tid, u32)], count: usize) -> Vec<Tid> {
    let slots: Vec<Tid> =
        hosts.iter().flat_map(|(host, slots)| std::iter::repeat_n(*host, *slots as usize)).collect();
    slots.into_iter().cycle().take(count).collect()
}

/// One for each host that has a slot left, in turns; when none is left it begins anew.
fn by_node(hosts: &[(Tid, u32)], count: usize) -> Vec<Tid> {
    let rounds = hosts.iter().map(|(_, slots)| *slots).max().unwrap_or(0);
    let round = |number: u32| hosts.iter().filter(move |(_, slots)| *slots > number).map(|(host, _)| *host);
    let order: Vec<Tid> = (0..rounds).flat_map(round).collect();
    order.into_iter().cycle().take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_list_parses_as_in_the_kernel() {
        assert_eq!(processors("0,2,4-6"), Ok(Processors(vec![0, 2, 4, 5, 6])));
        assert!(processors("").is_err() && processors("3-1").is_err() && processors("core").is_err());
    }

    #[test]
    fn hostfile_parses_as_in_mpi() {
        let text = "# two hosts\nalpha slots=2\n\nbeta:3 # fast\ngamma\n";
        let named = |name: &str, slots| (name.to_owned(), slots);
        assert_eq!(
            hostfile(text),
            Ok(vec![named("alpha", Some(2)), named("beta", Some(3)), named("gamma", None)])
        );
        assert!(hostfile("alpha max_slots=2").is_err_and(|why| why.starts_with("line 1")));
        assert!(hostfile("alpha slots=no").is_err() && hostfile("#").is_err());
    }

    #[test]
    fn placement_fills_slots_or_cycles_over_hosts() {
        let [one, two] = [1, 2].map(|host| Tid::new(host, 0).expect("in range"));
        let hosts = [(one, 2), (two, 1)];
        assert_eq!(by_slot(&hosts, 5), [one, one, two, one, one]);
        assert_eq!(by_node(&hosts, 5), [one, two, one, one, two]);
        assert!(by_slot(&[], 3).is_empty() && by_node(&[], 3).is_empty());
    }
}
