//! What is known of the daemon's own host, and what a hostfile may change of it.

use super::*;

/// PVM's speed of a host about which nobody has said anything.
pub const USUAL_SPEED: i32 = 1000;
const SPEEDS: std::ops::RangeInclusive<i32> = 1..=1_000_000;

impl<F: Clone> Machine<F> {
    /// Takes over what is said, as a whole or not at all.
    pub(super) fn configure(&mut self, said: HostSettings) -> Result<(), Failure> {
        let bad = |detail: String| Err(Failure::new(ErrorKind::BadParameter, detail));
        if let Some(name) = &said.name {
            check_name(name)?;
        }
        if let Some(speed) = said.speed.filter(|speed| !SPEEDS.contains(speed)) {
            return bad(format!("speed {speed} is not between {} and {}", SPEEDS.start(), SPEEDS.end()));
        }
        let paths = said.search.iter().chain(&said.cwd).chain(&said.debugger);
        if paths.into_iter().any(|path| path.0.is_empty() || path.0.contains(&0)) {
            return bad("an empty path, or one with a NUL byte".into());
        }
        let HostSettings { name, speed, search, cwd, debugger, known: others } = said;
        if let Some(name) = name {
            self.config.host = name;
        }
        let known = &mut self.config.settings;
        known.speed = speed.or(known.speed);
        known.cwd = cwd.or(known.cwd.take());
        known.debugger = debugger.or(known.debugger.take());
        if !search.is_empty() {
            known.search = search;
        }
        if !others.is_empty() {
            known.known = others;
        }
        self.renew_own_record();
        Ok(())
    }

    /// What a hostfile has said of this host.
    pub fn settings(&self) -> &HostSettings {
        &self.config.settings
    }

    /// A spawn request with what the host adds to it.
    pub(super) fn at_home(&self, mut plan: SpawnRequest) -> SpawnRequest {
        let HostSettings { search, cwd, .. } = self.settings();
        plan.search.splice(0..0, search.iter().cloned());
        plan.cwd = plan.cwd.or_else(|| cwd.clone());
        plan
    }

    pub(super) fn host_row(&self) -> HostRow {
        HostRow {
            tid: self.daemon_tid(),
            name: self.config.host.clone(),
            arch: self.config.arch.clone(),
            speed: self.config.settings.speed.unwrap_or(USUAL_SPEED),
            cpus: self.config.cpus,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_wire::control::Blob;

    fn machine() -> Machine<u32> {
        Machine::new(Config {
            number: 1,
            life: 1,
            addresses: Vec::new(),
            hosts: Vec::new(),
            host: "here".into(),
            arch: "LINUX64".into(),
            cpus: 2,
            clock: Box::new(|| (0, 0)),
            encrypt: false,
            settings: HostSettings::default(),
            entropy: Box::new(|| [0; 16]),
            limits: Limits::default(),
        })
    }

    #[test]
    fn host_applies_given_settings_and_keeps_the_rest() {
        let mut machine = machine();
        let said = HostSettings { speed: Some(70), search: vec!["/a".into()], ..Default::default() };
        machine.configure(said).expect("all of it can be");
        let said = HostSettings { name: Some("there".into()), cwd: Some("/w".into()), ..Default::default() };
        machine.configure(said).expect("all of it can be");
        let row = machine.host_row();
        assert_eq!((row.name.as_str(), row.speed), ("there", 70));
        let asked = SpawnRequest { search: vec!["/b".into()], ..Default::default() };
        let plan = machine.at_home(asked);
        assert_eq!(plan.search, [Blob::from("/a"), Blob::from("/b")]);
        assert_eq!(plan.cwd, Some("/w".into()));
        let asked = SpawnRequest { cwd: Some("/x".into()), ..Default::default() };
        assert_eq!(machine.at_home(asked).cwd, Some("/x".into()), "the spawner has the last word");
    }

    #[test]
    fn invalid_host_settings_change_nothing() {
        let mut machine = machine();
        let wrong = [
            HostSettings { speed: Some(0), ..Default::default() },
            HostSettings { speed: Some(1_000_001), ..Default::default() },
            HostSettings { name: Some(String::new()), ..Default::default() },
            HostSettings { cwd: Some("".into()), speed: Some(5), ..Default::default() },
            HostSettings { search: vec!["a\0b".into()], ..Default::default() },
        ];
        for said in wrong {
            assert!(machine.configure(said.clone()).is_err(), "{said:?}");
            assert_eq!(machine.settings(), &HostSettings::default());
        }
        assert_eq!(machine.host_row().name, "here");
    }
}
