//! On which hosts the tasks of a spawn request start.

use super::*;
use parvum_wire::control::SpawnWhere;

/// Loads that differ by less, in hundredths, are alike.
const ALIKE: u32 = 30;
/// On busy hosts, so are those that differ by less than this part of the mean: readings are a second old.
const ALIKE_PART: u32 = 4;

impl<F: Clone> Machine<F> {
    /// One host for each task, in the order of the request: idle ones first, then in turns.
    pub(super) fn place(&mut self, plan: &SpawnRequest) -> Result<Vec<u32>, Failure> {
        if let Some(named) = plan.details.each.iter().map(|each| each.host).collect::<Option<Vec<Tid>>>()
            && !named.is_empty()
        {
            if let Some(gone) = named.iter().find(|host| !self.others.knows(host.host())) {
                return Err(Failure::new(ErrorKind::NoSuchHost, gone.to_string()));
            }
            return Ok(named.into_iter().map(Tid::host).collect());
        }
        let fitting: Vec<HostRecord> =
            self.others.records().filter(|host| self.fits(&plan.place, host)).cloned().collect();
        if fitting.is_empty() {
            let there: Vec<_> = self.others.records().map(|host| host.row.name.clone()).collect();
            let wanted = match &plan.place {
                SpawnWhere::Anywhere => "any host".to_owned(),
                SpawnWhere::Host(name) => format!("host {name}"),
                SpawnWhere::Arch(arch) => format!("a host of architecture {arch}"),
                SpawnWhere::NotHost(name) => format!("a host other than {name}"),
                SpawnWhere::NotArch(arch) => format!("a host of another architecture than {arch}"),
            };
            let detail = format!("wanted {wanted}, there is {}", there.join(", "));
            return Err(Failure::new(ErrorKind::NoSuchHost, detail));
        }
        // How busy each would be, in hundredths of a processor for each of its processors.
        let loads: Vec<u32> = fitting.iter().filter_map(|host| self.others.load(host.number)).collect();
        let mean = loads.iter().sum::<u32>() / loads.len().max(1) as u32;
        let alike = ALIKE.max(mean / ALIKE_PART);
        let mut busy: Vec<(u32, u32, u32)> = Vec::new();
        for host in &fitting {
            let cpus = host.row.cpus.max(1);
            // One that has just come has not said yet how busy it is: that does not make it idle.
            busy.push((self.others.load(host.number).unwrap_or(mean), host.number, cpus));
        }
        let mut places = Vec::new();
        for _ in 0..plan.count {
            // Of hosts that are about as busy as one another the one after the last is next.
            let last = self.last_placed;
            let order = |load: u32, number: u32| (load / alike, number <= last, number);
            let Some((load, number, cpus)) =
                busy.iter_mut().min_by_key(|(load, number, _)| order(*load, *number))
            else {
                break;
            };
            *load += (100 / *cpus).max(1);
            places.push(*number);
            self.last_placed = *number;
        }
        Ok(places)
    }

    fn fits(&self, place: &SpawnWhere, host: &HostRecord) -> bool {
        let row = &host.row;
        let own = host.number == self.config.number;
        let is_host =
            |name: &String| *name == row.name || (own && name == ".") || *name == row.tid.0.to_string();
        match place {
            SpawnWhere::Anywhere => true,
            SpawnWhere::Host(name) => is_host(name),
            SpawnWhere::NotHost(name) => !is_host(name),
            SpawnWhere::Arch(arch) => *arch == row.arch,
            SpawnWhere::NotArch(arch) => *arch != row.arch,
        }
    }
}
