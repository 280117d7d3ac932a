//! `parvum explain`: what an error code or a variable means, without a network.

mod codes;
mod near;
pub mod options;

pub use near::distance;

use crate::terminal::{layout, out};
use clap::Args;
use codes::{Row, SECTIONS, Section};
use parvum_task::SessionError;
use std::fmt::Write as _;

/// Explain an error code or a variable such as PARVUM_CREDIT
#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum explain E-NOHOST", "what E-NOHOST means"),
    ("parvum explain MPI_ERR_TRUNCATE", "an MPI error class"),
    ("parvum explain PARVUM_CREDIT", "values, default and effect of a variable"),
    ("parvum explain", "list all codes"),
    ("parvum explain --variables", "list all variables"),
]))]
pub struct ExplainArgs {
    /// A code of Parvum, MPI or PVM, or a variable [default: list codes]
    #[arg(value_name = "NAME")]
    code: Option<String>,
    /// List the environment variables that Parvum reads
    #[arg(long, conflicts_with = "code")]
    variables: bool,
    /// Print the page of all codes, or all variables, as Markdown
    #[arg(long, conflicts_with = "code")]
    markdown: bool,
}

/// Prints what was asked for.
pub fn explain(args: &ExplainArgs) -> Result<(), Box<dyn std::error::Error>> {
    match &args.code {
        _ if args.markdown && args.variables => out::line(options::markdown().trim_end())?,
        _ if args.markdown => out::line(markdown().trim_end())?,
        _ if args.variables => options::list()?,
        None => list()?,
        Some(name) => match (find(name), options::find(name)) {
            (Some((section, row)), _) => print(section, row)?,
            (None, Some(variable)) => options::print(variable)?,
            (None, None) => return Err(unknown(name).into()),
        },
    }
    Ok(())
}

fn rows() -> impl Iterator<Item = (&'static Section, &'static Row)> {
    SECTIONS.iter().flat_map(|section| section.rows.iter().map(move |row| (section, row)))
}

/// The code as the table has it, in capitals and without what may be missing in front.
fn key(code: &str) -> String {
    let key = code.trim().to_ascii_uppercase().replace('_', "-");
    let short = ["E-", "MPI-ERR-", "MPIX-ERR-", "PVM"].iter().find_map(|begin| key.strip_prefix(begin));
    short.map_or(key.clone(), str::to_owned)
}

/// The row of a code. If several sections have a code with this end, Parvum's own code is the answer.
fn find(code: &str) -> Option<(&'static Section, &'static Row)> {
    let whole = rows().find(|(_, row)| row.0.eq_ignore_ascii_case(code.trim()));
    whole.or_else(|| rows().find(|(_, row)| key(row.0) == key(code)))
}

fn unknown(code: &str) -> String {
    let wanted = key(code);
    let mut all: Vec<_> = rows().map(|(_, row)| (distance(&wanted, &key(row.0)), row.0)).collect();
    all.sort_unstable();
    let near = all.iter().filter(|(far, _)| *far <= 3 && *far < wanted.len()).take(3).map(|(_, name)| *name);
    let mut text = format!("E-NOCODE: {code}: no error or variable has this name");
    for name in near.chain(options::near(code)) {
        let _ = write!(text, "; help: `parvum explain {name}`");
    }
    text + "; help: `parvum explain` lists all codes, and `parvum explain --variables` all variables"
}

fn list() -> Result<(), SessionError> {
    for section in &SECTIONS {
        out::line(format!("{}:", section.title))?;
        let codes: Vec<_> = section.rows.iter().map(|row| row.0).collect();
        layout::wrapped(&format!("  {}", codes.join(" ")), 80, 2).iter().try_for_each(out::line)?;
    }
    out::line("`parvum explain CODE` explains one.")
}

fn print(section: &Section, row: &Row) -> Result<(), SessionError> {
    out::line(format!("{} ({})\n\nWhat happened", row.0, section.title))?;
    paragraph(row.1)?;
    out::line("\nWhat to do")?;
    paragraph(row.2)
}

fn paragraph(text: &str) -> Result<(), SessionError> {
    layout::wrapped(&format!("  {}", without_links(text)), 80, 2).iter().try_for_each(out::line)
}

/// `[page](target)` becomes `page`.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(at) = plain.rfind('[') {
            plain.remove(at);
        }
        plain += part.split_once(')').map_or(part, |(_, rest)| rest);
    }
    plain
}

/// The page `docs/errors.md`.
fn markdown() -> String {
    let mut page = BEGINNING.to_owned();
    for Section { title, about, rows } in &SECTIONS {
        let _ = write!(page, "## {title}\n\n");
        if !about.is_empty() {
            let _ = write!(page, "{about}\n\n");
        }
        page += "| code | what happened | what to do |\n|---|---|---|\n";
        for (code, what, cure) in *rows {
            let _ = writeln!(page, "| `{code}` | {what} | {cure} |");
        }
        page.push('\n');
    }
    page + END
}

const BEGINNING: &str = "\
# Errors

<!-- `parvum explain --markdown` prints this page. Edit command/src/explain/codes instead. -->

Every error of the command, the daemon and the libraries has a code. A terminal shows several lines:

```text
error[E-NODAEMON]: no machine is up in /tmp/parvum-1000
help: `parvum up`
note: `parvum explain E-NODAEMON` says more
```

A pipe or a file gets one line:

```text
parvum: E-NODAEMON: no machine is up in /tmp/parvum-1000; help: `parvum up`
```

Exceptions of the Python package and texts of the C libraries have the same form. `NO_COLOR=1` and `CLICOLOR=0` switch colour off.
`CLICOLOR_FORCE=1` switches colour on.

`parvum explain CODE` prints the row of a code without a network. Capitals and the beginning `E-` may be left out.

";

const END: &str = "\
## What the daemon writes only into its log

The daemon logs each kind of refusal when it first happens, and when its count doubles. `parvum info` prints the counts.

| line | cause |
|---|---|
| `refused, not a request` | bytes on the socket that are no request |
| `refused, another version` | a program of another release |
| `refused, another user's connection` | a program of another user |
| `refused, bad routed frame` | a data connection that broke the framing; the daemon closed that connection |
| `refused, connection` | a connection that the daemon could not take, mostly because no descriptors were left |
| `log lines lost` | a full disk; the machine goes on |

At 16 MiB the daemon begins a new log. The old one is `daemon.log.old`.
";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_code_stands_once_and_has_both_texts() {
        let codes: Vec<_> = rows().map(|(_, row)| row.0).collect();
        assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len());
        assert!(
            rows().all(|(_, row)| row.1.ends_with('.') && row.2.ends_with(['.', '`'])),
            "whole sentences"
        );
    }

    #[test]
    fn codes_are_found_in_small_letters_and_without_their_beginning() {
        for (asked, found) in [
            ("E-NOHOST", "E-NOHOST"),
            ("e-nohost", "E-NOHOST"),
            ("nohost", "E-NOHOST"),
            ("tmk-lock", "E-TMK-LOCK"),
            ("MPI_ERR_RANK", "MPI_ERR_RANK"),
            ("mpi_err_rank", "MPI_ERR_RANK"),
            ("rank", "MPI_ERR_RANK"),
            ("PvmNoTask", "PvmNoTask"),
            ("pvmnotask", "PvmNoTask"),
            ("notask", "E-NOTASK"),
        ] {
            assert_eq!(find(asked).map(|(_, row)| row.0), Some(found), "{asked}");
        }
    }

    #[test]
    fn unknown_code_names_the_nearest() {
        assert!(find("e-nohots").is_none());
        let said = unknown("e-nohots");
        assert!(
            said.starts_with("E-NOCODE: e-nohots: ") && said.contains("`parvum explain E-NOHOST`"),
            "{said}"
        );
        assert!(
            unknown("xyzzy")
                .contains("no error or variable has this name; help: `parvum explain` lists all codes")
        );
        assert!(unknown("parvum_credits").contains("`parvum explain PARVUM_CREDIT`"));
    }

    #[test]
    fn links_become_words() {
        assert_eq!(without_links("see [options.md](options.md#a) and [b](c)."), "see options.md and b.");
    }
}
