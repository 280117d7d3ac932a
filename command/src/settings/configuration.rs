//! The user's file of settings: what the command line and the environment do not say.
//!
//! `NAME = value` is a variable of Parvum's or PVM's, `run.label = yes` an option of a command.

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

/// Variables that programs started by hand read too, which do not read the file: there they would mean something else.
const NOT_HERE: [&str; 5] = ["PARVUM_DIR", "PARVUM_TID", "PARVUM_TICKET", "PARVUM_BIN", "PARVUM_CONFIG"];

/// What the file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    variables: Vec<(String, String)>,
    /// Command, option, value.
    options: Vec<(String, String, String)>,
}

/// The file: `$PARVUM_CONFIG`, else `parvum/config` where the user's settings are.
fn file() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = || {
        let folder = set("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
        folder
            .or_else(|| set("HOME").map(|home| home.join(".config")))
            .map(|folder| folder.join("parvum/config"))
    };
    set("PARVUM_CONFIG").or_else(usual)
}

/// Reads the file; there need be none unless it was named.
pub fn read(cli: &Command) -> Result<Configuration, String> {
    let Some(path) = file() else { return Ok(Configuration::default()) };
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&text, cli).map_err(|why| format!("E-CONFIG: {}: {why}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_named() => {
            Ok(Configuration::default())
        }
        // Another user's home, perhaps: only a file that was named must be there.
        Err(_) if !is_named() => Ok(Configuration::default()),
        Err(error) => {
            Err(format!("E-CONFIG: {}: {error}; note: PARVUM_CONFIG names this file", path.display()))
        }
    }
}

fn is_named() -> bool {
    std::env::var_os("PARVUM_CONFIG").is_some_and(|value| !value.is_empty())
}

fn parse(text: &str, cli: &Command) -> Result<Configuration, String> {
    let mut found = Configuration::default();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let refuse = |why: &str| Err(format!("line {}: {line}: {why}", at + 1));
        let Some((name, value)) = line.split_once('=') else {
            return refuse("a setting looks like NAME = value");
        };
        let (name, value) = (name.trim(), value.trim());
        if NOT_HERE.contains(&name) {
            return refuse(
                "programs that you start by hand would not know of it; help: set it in the environment",
            );
        }
        if name.starts_with("PARVUM_") || name.starts_with("PVM") {
            found.variables.push((name.into(), value.into()));
            continue;
        }
        let Some((command, option)) = name.split_once('.') else {
            return refuse("neither a variable (PARVUM_..., PVM...) nor an option of a command (run.label)");
        };
        let known = cli.find_subcommand(command).and_then(|it| {
            it.get_arguments()
                .find(|it| it.get_long() == Some(option) && !matches!(option, "help" | "version"))
        });
        let Some(known) = known else {
            return refuse("no command has that option; help: `parvum run --help` lists the options of run");
        };
        let value = match (known.get_action(), value) {
            (ArgAction::SetTrue, "yes" | "true" | "on") => "true",
            (ArgAction::SetTrue, "no" | "false" | "off") => "false",
            (ArgAction::SetTrue, _) => return refuse("yes or no"),
            (_, "") => return refuse("a value is missing"),
            (_, value) => value,
        };
        found.options.push((command.into(), option.into(), value.into()));
    }
    Ok(found)
}

impl Configuration {
    /// Becomes the same command with the variables that the environment lacks; comes back when it has them all.
    pub fn take_variables(&self) -> Result<(), String> {
        let lacking: Vec<_> =
            self.variables.iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let mut arguments = std::env::args_os();
        let own = arguments.next().unwrap_or_else(|| "parvum".into());
        let program =
            std::env::current_exe().map_err(|error| format!("E-SYSTEM: could not begin anew: {error}"))?;
        let mut command = std::process::Command::new(program);
        command.arg0(own).args(arguments).envs(lacking.into_iter().map(|(name, value)| (name, value)));
        Err(format!("E-SYSTEM: could not begin anew: {}", command.exec()))
    }

    /// The command with the file's options as its defaults, where the line does not say otherwise.
    pub fn applied(&self, mut cli: Command, line: &[OsString]) -> Command {
        let said = cli.clone().try_get_matches_from(line).ok();
        for (command, option, value) in &self.options {
            let Some(known) = cli.find_subcommand(command) else { continue };
            let Some(arg) = known.get_arguments().find(|arg| arg.get_long() == Some(option.as_str())) else {
                continue;
            };
            let on_line = |id: &str| {
                let of = said.as_ref().and_then(ArgMatches::subcommand).filter(|(name, _)| name == command);
                of.is_some_and(|(_, of)| of.value_source(id) == Some(ValueSource::CommandLine))
            };
            // What the line says instead of it counts.
            if known.get_arg_conflicts_with(arg).iter().any(|other| on_line(other.get_id().as_str())) {
                continue;
            }
            let id = arg.get_id().clone();
            // Clap keeps defaults for the life of the process.
            let value: &'static str = Box::leak(value.clone().into_boxed_str());
            cli = cli.mut_subcommand(command, |it| it.mut_arg(id, |arg| arg.default_value(value)));
        }
        cli
    }
}

/// For messages: where the file is looked for.
pub fn shown() -> String {
    file().map_or_else(|| "none".into(), |path| Path::new(&path).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, FromArgMatches};

    fn run(file: &str, line: &str) -> Result<crate::Cli, String> {
        let cli = crate::Cli::command();
        let found = parse(file, &cli)?;
        let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let matches = found.applied(cli, &line).try_get_matches_from(&line).map_err(|why| why.to_string())?;
        crate::Cli::from_arg_matches(&matches).map_err(|why| why.to_string())
    }

    #[test]
    fn command_line_overrides_configuration_file() {
        let of = |file, line| match run(file, line).map(|cli| cli.command) {
            Ok(crate::Command::Top(args)) => args.shown_interval(),
            Ok(_) => panic!("another command"),
            Err(why) => panic!("{why}"),
        };
        assert_eq!(of("", "parvum top"), 1.0);
        assert_eq!(of("# mine\ntop.interval = 7\n", "parvum top"), 7.0);
        assert_eq!(of("top.interval = 7", "parvum top --interval 3"), 3.0);
    }

    #[test]
    fn configuration_refuses_invalid_line_with_its_number() {
        for (file, word) in [
            ("\nnonsense", "line 2"),
            ("run.labels = yes", "no command"),
            ("run.label = perhaps", "yes or no"),
            ("PARVUM_DIR = /tmp/x", "by hand"),
            ("LABEL = yes", "neither"),
        ] {
            let why = parse(file, &crate::Cli::command()).expect_err(file);
            assert!(why.contains(word), "{why}");
        }
    }
}
