//! What a run of all papers was begun with. Samples of other settings, of another machine or of other versions do not belong to it.

use crate::error::LabError;
use crate::host::factors::Factors;
use crate::run::options::CompareOptions;
use crate::suites;
use crate::systems::peers::{Own, Toolbox};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file of a folder that says so.
pub const FILE: &str = "papers.json";

/// Counted up when folders of before cannot be gone on with.
const FORMAT: u32 = 1;

/// Everything that decides what samples mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Of the files of such a folder.
    pub format: u32,
    /// When it was begun, in UTC.
    pub begun: String,
    /// quick or full.
    pub extent: String,
    /// As `--systems` was given.
    pub systems: String,
    /// Decides the order of launches.
    pub seed: u64,
    /// Seconds for all launches of all suites.
    pub budget_s: u64,
    /// The machine and what is installed on it: a name and a value each.
    pub machine: Vec<(String, String)>,
}

impl Settings {
    /// Those of a new run.
    pub fn new(options: &CompareOptions, seed: u64, budget_s: u64, own: &Own) -> Settings {
        Settings {
            format: FORMAT,
            begun: crate::host::factors::date_and_time(),
            extent: if options.full { "full" } else { "quick" }.to_owned(),
            systems: options.systems.clone(),
            seed,
            budget_s,
            machine: machine(own),
        }
    }

    /// Those that a folder was begun with.
    pub fn read(folder: &Path) -> Result<Settings, LabError> {
        let refused = |why: String| LabError::NoRunOfPapers { folder: folder.to_owned(), why };
        if !folder.is_dir() {
            return Err(refused("there is no such folder".into()));
        }
        let file = folder.join(FILE);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                return Err(refused(format!("there is no {FILE} in it")));
            }
            Err(cause) => return Err(LabError::file("read", file)(cause)),
        };
        let settings: Settings =
            serde_json::from_str(&text).map_err(|why| refused(format!("its {FILE} is damaged: {why}")))?;
        if settings.format != FORMAT {
            return Err(refused(format!("its format is {}, and this Parvum's {FORMAT}", settings.format)));
        }
        Ok(settings)
    }

    /// Writes them, whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<(), LabError> {
        let (file, new) = (folder.join(FILE), folder.join("papers.json.new"));
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        std::fs::write(&new, text).map_err(LabError::file("write", &new))?;
        std::fs::rename(&new, &file).map_err(LabError::file("write", file))
    }

    /// Refuses what is given now and differs. What is not given stays as it was.
    pub fn holds(&self, options: &CompareOptions, own: &Own, folder: &Path) -> Result<(), LabError> {
        let mut differences = self.given(options);
        differences.extend(differing(&self.machine, &machine(own)));
        if differences.is_empty() {
            return Ok(());
        }
        Err(LabError::OtherSettings { folder: PathBuf::from(folder), differences: differences.join("; ") })
    }

    fn given(&self, options: &CompareOptions) -> Vec<String> {
        let mut differences = Vec::new();
        let mut see = |name: &str, was: String, is: Option<String>| {
            if let Some(is) = is.filter(|is| *is != was) {
                differences.push(format!("{name} was {was}, now {is}"));
            }
        };
        let extent = (options.full || options.quick).then_some(if options.full { "full" } else { "quick" });
        see("the extent", self.extent.clone(), extent.map(str::to_owned));
        let all = |list: &str| if list.is_empty() { "all".to_owned() } else { list.to_owned() };
        let systems = (!options.systems.is_empty()).then(|| options.systems.clone());
        see("--systems", all(&self.systems), systems);
        see("--seed", self.seed.to_string(), options.seed.map(|seed| seed.to_string()));
        see("--budget", self.budget_s.to_string(), options.budget.map(|budget| budget.to_string()));
        differences
    }
}

/// What samples depend on, whatever the user chooses.
fn machine(own: &Own) -> Vec<(String, String)> {
    let factors = Factors::record();
    let mut machine = vec![
        ("processor".to_owned(), factors.processor),
        ("cores".to_owned(), factors.cores),
        ("kernel".to_owned(), factors.kernel),
        ("compiler".to_owned(), factors.compiler),
    ];
    for suite in suites::ALL {
        for kit in Toolbox::find(own, suite.families).kits {
            let version = (kit.family.name().to_owned(), kit.version);
            if !machine.contains(&version) {
                machine.push(version);
            }
        }
    }
    machine
}

/// In which of these two lists differ.
fn differing(before: &[(String, String)], now: &[(String, String)]) -> Vec<String> {
    let lacks = |of: &[(String, String)], pair: &(String, String)| !of.contains(pair);
    let gone = before.iter().filter(|pair| lacks(now, pair)).map(|(name, was)| {
        match now.iter().find(|(other, _)| other == name) {
            Some((_, is)) => format!("{name} was {was}, now {is}"),
            None => format!("{name} was {was}, and is not there now"),
        }
    });
    let come = now.iter().filter(|(name, _)| !before.iter().any(|(other, _)| other == name));
    gone.chain(come.map(|(name, is)| format!("{name} was not there, now {is}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings::new(
            &CompareOptions { systems: "sockets".into(), ..Default::default() },
            7,
            60,
            &Own::default(),
        )
    }

    fn refused(settings: &Settings, options: CompareOptions) -> String {
        let held = settings.holds(&options, &Own::default(), Path::new("results/x"));
        held.expect_err("refused").to_string()
    }

    #[test]
    fn settings_keep_defaults_and_name_differences() {
        let settings = settings();
        let same =
            CompareOptions { quick: true, seed: Some(7), systems: "sockets".into(), ..Default::default() };
        for options in [CompareOptions::default(), same] {
            settings.holds(&options, &Own::default(), Path::new("results/x")).expect("the same");
        }
        let other = CompareOptions { full: true, seed: Some(8), budget: Some(60), ..Default::default() };
        let why = refused(&settings, other);
        assert!(why.contains("results/x") && why.contains("the extent was quick, now full"), "{why}");
        assert!(why.contains("--seed was 7, now 8") && !why.contains("--budget"), "{why}");
        let why = refused(&settings, CompareOptions { systems: "mpich".into(), ..Default::default() });
        assert!(why.contains("--systems was sockets, now mpich"), "{why}");
    }

    #[test]
    fn settings_refuse_other_machine_or_versions() {
        let mut settings = settings();
        settings.machine[0].1 = "an abacus".into();
        settings.machine.push(("LAM".into(), "7".into()));
        let why = refused(&settings, CompareOptions::default());
        assert!(why.contains("processor was an abacus, now "), "{why}");
        assert!(why.contains("LAM was 7, and is not there now"), "{why}");
    }

    #[test]
    fn settings_refuse_missing_or_damaged_folder() {
        let folder = std::env::temp_dir().join(format!("parvum-lab-settings-{}", std::process::id()));
        let why = || Settings::read(&folder).expect_err("refused").to_string();
        assert!(why().contains("there is no such folder"), "{}", why());
        std::fs::create_dir_all(&folder).expect("a folder");
        assert!(why().contains("there is no papers.json in it"), "{}", why());
        std::fs::write(folder.join(FILE), "{\"format\":1,").expect("a file");
        assert!(why().contains("damaged"), "{}", why());
        let mut settings = settings();
        settings.write(&folder).expect("written");
        assert_eq!(Settings::read(&folder).expect("read"), settings);
        settings.format = 99;
        settings.write(&folder).expect("written");
        assert!(why().contains("its format is 99"), "{}", why());
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
