//! For whom a message is printed, and whether in colour.

use std::io::IsTerminal;

/// How a message is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// A person reads it: several lines.
    pub is_terminal: bool,
    /// In colour.
    pub colour: bool,
}

impl Style {
    /// One line, no colour.
    pub const PIPE: Style = Style { is_terminal: false, colour: false };

    /// What fits standard error and the environment.
    pub fn of_stderr() -> Style {
        Style::of(std::io::stderr().is_terminal(), |name| std::env::var_os(name)?.into_string().ok())
    }

    /// What fits standard output and the environment.
    pub fn of_stdout() -> Style {
        Style::of(std::io::stdout().is_terminal(), |name| std::env::var_os(name)?.into_string().ok())
    }

    /// `NO_COLOR` that is not empty forbids colour. `CLICOLOR_FORCE` other than 0 forces colour, also in a pipe. `CLICOLOR=0` and
    /// `TERM=dumb` switch colour off on a terminal.
    fn of(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Style {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is = |name: &str, value: &str| set(name).as_deref() == Some(value);
        let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let usual = is_terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb");
        Style { is_terminal, colour: set("NO_COLOR").is_none() && (forced || usual) }
    }

    /// Red: what failed.
    pub fn bad(self, text: &str) -> String {
        self.painted("1;31", text)
    }

    /// Yellow: what to look at.
    pub fn warned(self, text: &str) -> String {
        self.painted("1;33", text)
    }

    /// Green: what to do, or what is good.
    pub fn good(self, text: &str) -> String {
        self.painted("1;32", text)
    }

    /// Blue: what to know.
    pub fn mild(self, text: &str) -> String {
        self.painted("1;34", text)
    }

    fn painted(self, how: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{how}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Style;

    #[test]
    fn colour_follows_the_terminal_and_the_variables() {
        let colour = |is_terminal, set: &[(&str, &str)]| {
            let variable =
                |name: &str| set.iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_string());
            Style::of(is_terminal, variable).colour
        };
        for (is_terminal, set, expected) in [
            (true, &[][..], true),
            (false, &[], false),
            (true, &[("NO_COLOR", "1")], false),
            (true, &[("NO_COLOR", "")], true),
            (true, &[("CLICOLOR", "0")], false),
            (true, &[("TERM", "dumb")], false),
            (false, &[("CLICOLOR_FORCE", "1")], true),
            (false, &[("CLICOLOR_FORCE", "0")], false),
            (false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
            (true, &[("CLICOLOR", "0"), ("CLICOLOR_FORCE", "1")], true),
        ] {
            assert_eq!(colour(is_terminal, set), expected, "{is_terminal} {set:?}");
        }
    }
}
