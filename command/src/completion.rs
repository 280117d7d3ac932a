//! `parvum completion`: what makes a shell complete the command's words.

use clap::{Command, ValueEnum};
use parvum_task::SessionError;
use std::io::Write;

/// Whose language the lines are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Prints the lines.
pub fn print(shell: Shell, cli: &mut Command) -> Result<(), SessionError> {
    let mut text = Vec::new();
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    clap_complete::generate(shell, cli, "parvum", &mut text);
    crate::terminal::out::written(std::io::stdout().write_all(&text))
}
