//! Whether hosts agree which of them are in the machine; and if not, what is wrong.

use super::damage::Damage;

/// The hosts as one host knows them: names and tids. Empty when it has no daemon.
pub(super) type Table = Vec<(String, u64)>;

/// What the tables of the hosts say; those of `wanted` are to know each other, and nobody else.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Agreed,
    /// All who are left say the same, and these are not among them: they were lost. Hosts that only went away agree.
    Lost(Vec<String>),
    /// Something worse.
    Wrong(Damage, String),
}

pub(super) fn verdict(wanted: &[&str], tables: &[(&str, Table)]) -> Verdict {
    let listed = |table: &Table, name: &str| table.iter().any(|(listed, _)| listed == name);
    let living = || tables.iter().filter(|(_, table)| !table.is_empty());
    let Some((_, first)) = living().next() else {
        return Verdict::Wrong(Damage::Disagreement, format!("none of {wanted:?} has a daemon"));
    };
    if living().any(|(_, table)| table != first) {
        let all: Vec<String> =
            tables.iter().map(|(name, table)| format!("{name} knows {}", names(table))).collect();
        return Verdict::Wrong(Damage::Disagreement, all.join("; "));
    }
    // Who lives and is not in the one table that all have cannot be: it would be in its own.
    if let Some((extra, _)) = first.iter().find(|(name, _)| !wanted.contains(&name.as_str())) {
        return Verdict::Wrong(
            Damage::HostKept,
            format!("{extra} is gone, and is still in the table: {}", names(first)),
        );
    }
    let has_daemon = |name: &str| living().any(|(living, _)| *living == name);
    let lost: Vec<String> = wanted
        .iter()
        .filter(|name| !listed(first, name) || !has_daemon(name))
        .map(|name| (*name).to_owned())
        .collect();
    if lost.is_empty() {
        return Verdict::Agreed;
    }
    match lost.iter().find(|name| listed(first, name)) {
        Some(name) => Verdict::Wrong(
            Damage::HostKept,
            format!("{name} has no daemon, and is still in the table: {}", names(first)),
        ),
        None => Verdict::Lost(lost),
    }
}

fn names(table: &Table) -> String {
    match table.iter().map(|(name, tid)| format!("{name} t{tid:x}")).collect::<Vec<_>>() {
        none if none.is_empty() => "nobody (no daemon)".to_owned(),
        some => some.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[(&str, u64)]) -> Table {
        names.iter().map(|(name, tid)| ((*name).to_owned(), *tid)).collect()
    }

    #[test]
    fn verdict_is_agreed_for_equal_tables() {
        let all = table(&[("alpha", 1), ("beta", 2)]);
        assert_eq!(verdict(&["alpha", "beta"], &[("alpha", all.clone()), ("beta", all)]), Verdict::Agreed);
    }

    #[test]
    fn verdict_is_lost_for_host_missing_everywhere() {
        let left = table(&[("alpha", 1), ("beta", 2)]);
        let tables = [("alpha", left.clone()), ("beta", left), ("gamma", vec![])];
        assert_eq!(verdict(&["alpha", "beta", "gamma"], &tables), Verdict::Lost(vec!["gamma".to_owned()]));
    }

    #[test]
    fn verdict_is_disagreement_for_different_tables_or_incarnations() {
        let disagree = |one: Table, other: Table| {
            let found = verdict(&["alpha", "beta"], &[("alpha", one), ("beta", other)]);
            assert!(matches!(&found, Verdict::Wrong(Damage::Disagreement, _)), "{found:?}");
        };
        // Apart, each by itself.
        disagree(table(&[("alpha", 1)]), table(&[("beta", 2)]));
        disagree(table(&[("alpha", 1), ("beta", 2)]), table(&[("alpha", 1), ("beta", 3)]));
    }

    #[test]
    fn verdict_is_wrong_if_gone_host_is_still_listed() {
        let kept = |wanted: &[&str], tables: &[(&str, Table)]| {
            let found = verdict(wanted, tables);
            assert!(
                matches!(&found, Verdict::Wrong(Damage::HostKept, words) if words.starts_with("gamma")),
                "{found:?}"
            );
        };
        let all = table(&[("alpha", 1), ("beta", 2), ("gamma", 3)]);
        kept(&["alpha", "beta"], &[("alpha", all.clone()), ("beta", all.clone())]);
        kept(&["alpha", "beta", "gamma"], &[("alpha", all.clone()), ("beta", all), ("gamma", vec![])]);
    }
}
