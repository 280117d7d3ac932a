//! The one table of all variables: value, default and effect. `parvum explain NAME` prints a row of the table,
//! `docs/reference/options.md` has the whole table, and `parvum info` shows a part of the table with this shell's values.

mod interfaces;
mod machine;

use super::{distance, paragraph};
use crate::terminal::{layout, out};
use parvum_task::SessionError;
use std::fmt::Write as _;

/// A variable, or variables that belong together. The texts are Markdown, as a cell of a table has it.
pub struct Variable {
    /// The names, each in backticks, separated by a comma.
    pub names: &'static str,
    /// The values that are allowed.
    pub value: &'static str,
    /// The value if the variable is not set.
    pub default: &'static str,
    /// The effect.
    pub effect: &'static str,
}

impl Variable {
    fn each_name(&self) -> impl Iterator<Item = &'static str> {
        self.names.split(", ").map(|name| name.trim_matches('`'))
    }
}

/// The tables, each with its heading on the page.
const TABLES: [(&str, &[Variable]); 7] = [
    ("Which virtual machine", machine::WHICH_MACHINE),
    ("The rank of a task", machine::RANK),
    ("How messages travel", machine::MESSAGES),
    ("NX", interfaces::NX),
    ("CMMD", interfaces::CMMD),
    ("TreadMarks", interfaces::TREADMARKS),
    ("PVM", interfaces::PVM),
];

fn variables() -> impl Iterator<Item = &'static Variable> {
    TABLES.iter().flat_map(|(_, rows)| rows.iter())
}

/// The row of a variable.
pub fn find(name: &str) -> Option<&'static Variable> {
    variables().find(|row| row.each_name().any(|one| one.eq_ignore_ascii_case(name.trim())))
}

/// Names of variables that are nearly `name`, the nearest first.
pub fn near(name: &str) -> Vec<&'static str> {
    let wanted = name.trim().to_ascii_uppercase();
    let names = variables().flat_map(Variable::each_name);
    let mut all: Vec<_> =
        names.map(|one| (distance(&wanted, one), one)).filter(|(far, _)| *far <= 3).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, one)| one).take(3).collect()
}

/// Prints one row.
pub fn print(row: &Variable) -> Result<(), SessionError> {
    out::line(row.names.replace('`', ""))?;
    for (head, text) in [("Value", row.value), ("Default", row.default), ("Effect", row.effect)] {
        out::line(format!("\n{head}"))?;
        paragraph(text)?;
    }
    Ok(())
}

/// Prints the names of all variables.
pub fn list() -> Result<(), SessionError> {
    for (title, rows) in &TABLES {
        out::line(format!("{title}:"))?;
        let names: Vec<_> = rows.iter().flat_map(Variable::each_name).collect();
        layout::wrapped(&format!("  {}", names.join(" ")), 80, 2).iter().try_for_each(out::line)?;
    }
    out::line("`parvum explain NAME` explains one variable.")
}

/// The tables of `docs/reference/options.md`, each below its heading.
pub fn markdown() -> String {
    let mut page = String::new();
    for (title, rows) in &TABLES {
        let _ = write!(page, "## {title}\n\n| variable | value | default | effect |\n|---|---|---|---|\n");
        for Variable { names, value, default, effect } in *rows {
            let _ = writeln!(page, "| {names} | {value} | {default} | {effect} |");
        }
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_variable_is_in_one_row() {
        let names: Vec<_> = variables().flat_map(Variable::each_name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(names.iter().all(|name| find(name).is_some()));
    }

    #[test]
    fn misspelled_name_finds_its_neighbour() {
        assert!(find("parvum_credits").is_none());
        assert_eq!(near("parvum_credits"), ["PARVUM_CREDIT"]);
        assert!(near("XYZZY").is_empty());
    }
}
