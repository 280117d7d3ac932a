//! Options with words of their own: how processes are bound, placed and shown, and how daemons are started.

use crate::run::HostRules;
use std::ffi::OsString;

/// Passes an option on to `parvum run`.
type Run<'a> = dyn FnMut(&str, Option<OsString>) + 'a;

/// A word without the modifiers that change nothing here: `core:overload-allowed`, `slot:OVERSUBSCRIBE`.
fn without_modifiers<'w>(text: &'w str, known: &[&str]) -> (&'w str, Option<&'w str>) {
    let (word, modifiers) = text.split_once(':').unwrap_or((text, ""));
    let other = modifiers.split(',').filter(|one| !one.is_empty());
    let unknown = other.into_iter().find(|one| !known.iter().any(|known| one.eq_ignore_ascii_case(known)));
    (word, unknown)
}

/// `-bind-to WHAT`.
pub fn bind(option: &str, what: &str, run: &mut Run) -> Result<(), String> {
    if let Some(list) = what.strip_prefix("user:") {
        run("--cpu-list", Some(list.replace('+', ",").into()));
        return Ok(());
    }
    let (word, unknown) = without_modifiers(what, &["overload-allowed", "if-supported", "report", "1"]);
    let word = match (word, unknown) {
        ("core" | "socket" | "package" | "none", None) => word,
        // All processors of the host are one board here, and of a machine of one socket the same.
        ("board" | "machine", None) => "none",
        (_, None) => {
            return Err(format!(
                "E-USAGE: {option} {what}: not a way to bind; help: use core, socket, none, or user:LIST with a list of CPUs \
                 (`lscpu -e` shows caches and hardware threads)"
            ));
        }
        (_, Some(modifier)) => {
            return Err(format!(
                "E-USAGE: {option} {what}: {modifier} has no equivalent; help: use user:LIST with a list of CPUs"
            ));
        }
    };
    run("--bind-to", Some(word.into()));
    Ok(())
}

/// `-map-by HOW`.
pub fn map(option: &str, how: &str, run: &mut Run) -> Result<(), String> {
    let refuse =
        |why: &str| Err(format!("E-USAGE: {option} {how}: {why}; help: use slot, node, or ppr:N:node"));
    const SAME: [&str; 3] = ["oversubscribe", "pe=1", "span"];
    if let Some(rest) = how.strip_prefix("ppr:") {
        let (number, rest) = rest.split_once(':').unwrap_or((rest, ""));
        return match without_modifiers(rest, &SAME) {
            ("node" | "host", None) => {
                run("--ppn", Some(number.into()));
                Ok(())
            }
            ("node" | "host", Some(modifier)) => refuse(&format!("{modifier} has no equivalent")),
            _ => refuse("processes are counted for each host"),
        };
    }
    match without_modifiers(how, &SAME) {
        // The option that binds decides about the cores of a host.
        ("slot" | "core" | "hwthread", None) => run("--map-by", Some("slot".into())),
        ("node" | "host", None) => run("--map-by", Some("node".into())),
        (_, None) => return refuse("not a way to place"),
        (_, Some(modifier)) => return refuse(&format!("{modifier} has no equivalent")),
    }
    Ok(())
}

/// `-rank-by HOW`: ranks follow the places, as with `slot`.
pub fn rank(option: &str, how: &str) -> Result<(), String> {
    match how {
        "slot" | "core" | "fill" => Ok(()),
        _ => Err(format!(
            "E-USAGE: {option} {how}: ranks follow the places of the processes; help: use -map-by slot or node, or list the hosts \
             in the order of the ranks"
        )),
    }
}

/// `--display WHAT,...`.
pub fn display(option: &str, what: &str, run: &mut Run) -> Result<(), String> {
    for word in what.split(',') {
        match word {
            "map" | "map-devel" => run("--verbose", None),
            "bind" | "bindings" => run("--report-bindings", None),
            _ => {
                return Err(format!(
                    "E-USAGE: {option} {what}: {word} cannot be shown; help: use map or bind; `parvum hosts` shows the hosts"
                ));
            }
        }
    }
    Ok(())
}

/// How the daemons of hosts that are not in the machine yet are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    Ssh,
    Rsh,
    /// Only hosts of the machine are used: this host, and the hosts of Slurm's job.
    Nobody,
}

/// `-launcher HOW`.
pub fn launcher(option: &str, how: &str) -> Result<Launcher, String> {
    match how {
        "ssh" => Ok(Launcher::Ssh),
        "rsh" => Ok(Launcher::Rsh),
        "fork" | "slurm" => Ok(Launcher::Nobody),
        _ => Err(format!(
            "E-USAGE: {option} {how}: not a way to start daemons; help: use ssh, rsh, slurm or fork; -launcher-exec names a \
             command, and `parvum add --start-by COMMAND` any other way"
        )),
    }
}

/// `-launcher` and `-launcher-exec` together.
pub fn start_by(launcher: Option<Launcher>, command: Option<&str>, rules: &mut HostRules) {
    rules.only_known = launcher == Some(Launcher::Nobody);
    rules.start_by = match (command, launcher) {
        (Some(command), _) => Some(format!("{command} {{host}}")),
        (None, Some(Launcher::Rsh)) => Some("rsh {host}".into()),
        (None, _) => None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(by: impl FnOnce(&mut Run) -> Result<(), String>) -> Result<String, String> {
        let mut line = Vec::new();
        by(&mut |option, value| {
            line.push(option.to_owned());
            line.extend(value.map(|value| value.into_string().expect("text")));
        })?;
        Ok(line.join(" "))
    }

    #[test]
    fn ways_to_bind_are_those_of_both_launchers() {
        for (what, wanted) in [
            ("core", "--bind-to core"),
            ("core:overload-allowed", "--bind-to core"),
            ("core:1", "--bind-to core"),
            ("package:if-supported", "--bind-to package"),
            ("board", "--bind-to none"),
            ("user:0+2", "--cpu-list 0,2"),
        ] {
            assert_eq!(said(|run| bind("--bind-to", what, run)).as_deref(), Ok(wanted), "{what}");
        }
        for what in ["numa", "hwthread", "l3cache", "core:4", "core:", "core:wide"] {
            let result = said(|run| bind("--bind-to", what, run));
            if what == "core:" {
                assert!(result.is_ok());
            } else {
                let why = result.expect_err(what);
                assert!(why.contains(what) && why.contains("user:LIST"), "{why}");
            }
        }
    }

    #[test]
    fn ways_to_place_are_those_of_both_launchers() {
        for (how, wanted) in [
            ("slot", "--map-by slot"),
            ("core", "--map-by slot"),
            ("slot:OVERSUBSCRIBE", "--map-by slot"),
            ("node:span", "--map-by node"),
            ("ppr:2:node", "--ppn 2"),
            ("ppr:2:node:oversubscribe,pe=1", "--ppn 2"),
        ] {
            assert_eq!(said(|run| map("-map-by", how, run)).as_deref(), Ok(wanted), "{how}");
        }
        for how in ["seq", "numa", "slot:pe=4", "ppr:2:socket", "ppr:2", "ppr:2:node:pe=2"] {
            let why = said(|run| map("-map-by", how, run)).expect_err(how);
            assert!(why.contains(how) && why.contains("ppr:N:node"), "{why}");
        }
    }

    #[test]
    fn other_words_are_refused_with_their_alternative() {
        assert_eq!(
            said(|run| display("--display", "map,bind", run)).as_deref(),
            Ok("--verbose --report-bindings")
        );
        assert!(said(|run| display("--display", "topo", run)).expect_err("topo").contains("parvum hosts"));
        assert!(rank("--rank-by", "slot").is_ok() && rank("--rank-by", "span").is_err());
        assert!(launcher("-launcher", "pbs").expect_err("pbs").contains("--start-by"));
        let rules = |launcher, command| {
            let mut rules = HostRules::default();
            start_by(launcher, command, &mut rules);
            (rules.start_by, rules.only_known)
        };
        assert_eq!(rules(Some(Launcher::Rsh), None), (Some("rsh {host}".into()), false));
        assert_eq!(rules(Some(Launcher::Ssh), Some("/opt/ssh")), (Some("/opt/ssh {host}".into()), false));
        assert_eq!(rules(launcher("-launcher", "fork").ok(), None), (None, true));
        assert_eq!(rules(None, None), (None, false));
    }
}
