//! `parvum env`: the lines that make a shell, its compilers and its programs use this Parvum.
//!
//! The command knows where it lies: `bin` of a build tree or of a prefix. All
//! else is beside it, and so the same lines fit a tree that was moved.

use clap::{Args, ValueEnum};
use parvum_task::SessionError;
use std::borrow::Cow;
use std::io;
use std::path::Path;

/// Whose language the lines are in.
#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("eval \"$(parvum env)\"", "for this shell: sh, bash, zsh"),
    ("parvum env --shell fish | source", "for fish"),
    ("eval `parvum env --shell csh`", "for csh and tcsh"),
]))]
pub struct EnvArgs {
    /// Print lines for SHELL
    #[arg(long, value_enum, default_value_t = Shell::Sh)]
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    /// sh, bash, dash, zsh
    Sh,
    /// csh, tcsh
    Csh,
    /// fish
    Fish,
}

/// Variables that list directories, and the directory below the root that each gets first.
const LISTS: [(&str, &str); 9] = [
    ("PATH", "bin"),
    ("LD_LIBRARY_PATH", "lib"),
    ("LIBRARY_PATH", "lib"),
    ("C_INCLUDE_PATH", "include"),
    ("CPLUS_INCLUDE_PATH", "include"),
    ("PKG_CONFIG_PATH", "lib/pkgconfig"),
    ("CMAKE_PREFIX_PATH", "."),
    ("MANPATH", "share/man"),
    // A build tree alone has it: pip installs the package.
    ("PYTHONPATH", "python"),
];

/// Prints the lines, for directories that are there.
pub fn print(args: &EnvArgs) -> Result<(), SessionError> {
    let found = std::env::current_exe().and_then(|command| command.canonicalize());
    let command = found.map_err(|error| SessionError::System("find this command".into(), error))?;
    let root = command.ancestors().nth(2).unwrap_or(Path::new("/"));
    for (name, below) in LISTS {
        let directory = if below == "." { root.to_owned() } else { root.join(below) };
        if directory.is_dir() {
            // What is not text cannot be said to a shell in a line of text.
            let text = directory.to_str().ok_or_else(|| {
                let what = format!("say {} to a shell", directory.display());
                SessionError::System(what, io::ErrorKind::InvalidFilename.into())
            })?;
            crate::terminal::out::line(line(args.shell, name, text, std::env::var(name).ok()))?;
        }
    }
    Ok(())
}

/// One line. An empty part of MANPATH means what man would search anyway, so that one keeps its colon.
///
/// In csh a variable that is not set is an error even where it is not used, so the line has its `old` value written out.
fn line(shell: Shell, name: &str, directory: &str, old: Option<String>) -> String {
    let quoted = quote(shell, directory);
    let keeps_colon = name == "MANPATH";
    match shell {
        Shell::Sh if keeps_colon => format!("export {name}={quoted}:\"${{{name}:-}}\""),
        Shell::Sh => format!("export {name}={quoted}\"${{{name}:+:${name}}}\""),
        Shell::Csh => {
            let old = old.filter(|old| !old.is_empty());
            let colon = if keeps_colon || old.is_some() { ":" } else { "" };
            let whole = format!("{directory}{colon}{}", old.unwrap_or_default());
            format!("setenv {name} {};", quote(shell, &whole))
        }
        Shell::Fish if name == "PATH" => format!("set -gx PATH {quoted} $PATH;"),
        Shell::Fish if keeps_colon => format!("set -gx {name} {quoted}:(string join : -- ${name});"),
        Shell::Fish => format!("set -gx {name} (string join : -- {quoted} ${name});"),
    }
}

/// The text as one word of the shell.
fn quote(shell: Shell, text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%".contains(c);
    if text.chars().all(plain) {
        return text.into();
    }
    let inner = match shell {
        Shell::Sh => text.replace('\'', r"'\''"),
        // There the exclamation mark speaks even within quotes.
        Shell::Csh => text.replace('\'', r"'\''").replace('!', r"'\!'"),
        Shell::Fish => text.replace('\\', r"\\").replace('\'', r"\'"),
    };
    format!("'{inner}'").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_line_puts_directory_first() {
        let line = |shell, name, old: Option<&str>| line(shell, name, "/p", old.map(str::to_owned));
        assert_eq!(line(Shell::Sh, "PATH", None), r#"export PATH=/p"${PATH:+:$PATH}""#);
        assert_eq!(line(Shell::Sh, "MANPATH", None), r#"export MANPATH=/p:"${MANPATH:-}""#);
        assert_eq!(line(Shell::Csh, "PATH", Some("/a b:/c")), "setenv PATH '/p:/a b:/c';");
        assert_eq!(line(Shell::Csh, "LIBRARY_PATH", None), "setenv LIBRARY_PATH /p;");
        assert_eq!(line(Shell::Csh, "MANPATH", None), "setenv MANPATH '/p:';");
        assert_eq!(line(Shell::Fish, "PATH", None), "set -gx PATH /p $PATH;");
    }

    #[test]
    fn environment_quotes_odd_paths() {
        assert_eq!(quote(Shell::Sh, "/it's here/$x"), r"'/it'\''s here/$x'");
        assert_eq!(quote(Shell::Csh, "/wow!"), r"'/wow'\!''");
        assert_eq!(quote(Shell::Fish, "/it's"), r"'/it\'s'");
    }
}
