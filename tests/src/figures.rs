//! What is measured on two sides in turns: the table of medians, and every number in a file.

use std::collections::HashMap;
use std::fmt::Write as _;

/// A measured thing.
pub struct Row {
    /// What, as the table calls it.
    pub what: &'static str,
    /// In which unit.
    pub unit: &'static str,
    /// Against whom.
    pub peer: &'static str,
    /// So many times better than the peer it is to be.
    pub goal: f64,
    /// Whether more is better.
    pub more: bool,
    /// The peer's numbers.
    pub theirs: Vec<f64>,
    /// Parvum's numbers.
    pub ours: Vec<f64>,
}

impl Row {
    /// A row without numbers.
    pub fn new(what: &'static str, unit: &'static str, peer: &'static str, goal: f64, more: bool) -> Row {
        Row { what, unit, peer, goal, more, theirs: Vec::new(), ours: Vec::new() }
    }

    /// How many times better than the peer, by the medians.
    pub fn ratio(&self) -> f64 {
        let (theirs, ours) = (median(&self.theirs), median(&self.ours));
        if self.more { ours / theirs } else { theirs / ours }
    }
}

/// Prints the medians, and keeps every number in `results/NAME-TIME.csv`, with the machine's load before the first was measured.
pub fn show(rows: &[Row], name: &str, load: f64) -> Result<(), String> {
    println!(
        "{:<46} {:>10} {:>12} {:>12} {:>7} {:>6}",
        "medians of one run", "peer", "its figure", "Parvum", "ratio", "goal"
    );
    for row in rows {
        let what = format!("{}, {}", row.what, row.unit);
        let (theirs, ours) = (median(&row.theirs), median(&row.ours));
        let (ratio, goal) = (row.ratio(), row.goal);
        println!("{what:<46} {:>10} {theirs:>12.2} {ours:>12.2} {ratio:>6.2}x {goal:>5}x", row.peer);
    }
    let mut table = Table::new(load);
    for row in rows {
        for (system, numbers) in [(row.peer, &row.theirs), ("Parvum", &row.ours)] {
            numbers.iter().for_each(|number| table.add(row.what, row.unit, system, *number));
        }
    }
    table.keep(name)
}

/// How busy the machine is: the load of the last minute.
pub fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}

/// Every number, for whoever wants to reckon otherwise, and to be published (`parvum compare --publish FILE`).
pub struct Table {
    text: String,
    /// How often a thing was measured of a system.
    rounds: HashMap<(String, String), u32>,
}

/// The row that says how busy the machine was; `lab/src/published/figures.rs` asks for it.
const LOAD: (&str, &str) = ("load before the first", "the machine");

impl Table {
    /// One without numbers, begun on a machine of this load.
    pub fn new(load: f64) -> Table {
        let mut table =
            Table { text: String::from("what,unit,system,round,value\n"), rounds: HashMap::new() };
        table.add(LOAD.0, "", LOAD.1, load);
        table
    }

    /// One more number.
    pub fn add(&mut self, what: &str, unit: &str, system: &str, number: f64) {
        let round = self.rounds.entry((what.to_owned(), system.to_owned())).or_default();
        let _ = writeln!(self.text, "\"{what}\",{unit},{system},{round},{number}");
        *round += 1;
    }

    /// Writes `results/NAME-TIME.csv`.
    pub fn keep(&self, name: &str) -> Result<(), String> {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let path = format!("results/{name}-{}.csv", since.as_secs());
        std::fs::create_dir_all("results")
            .and_then(|()| std::fs::write(&path, &self.text))
            .map_err(|why| format!("{path}: {why}"))?;
        println!("every number is in {path}");
        Ok(())
    }
}

/// The number in the middle, or between the two in the middle.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// The standard deviation, as a share of the mean.
pub fn variation(numbers: &[f64]) -> f64 {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (squares / (count - 1.0)).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_middle_value() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn variation_is_share_of_mean() {
        assert_eq!(variation(&[5.0, 5.0, 5.0]), 0.0);
        assert!((variation(&[1.0, 3.0]) - 2f64.sqrt() / 2.0).abs() < 1e-12);
    }

    #[test]
    fn figures_table_lists_number_with_its_round() {
        let mut table = Table::new(0.5);
        for number in [7.0, 8.5] {
            table.add("a hop, 8 B", "us", "Parvum", number);
        }
        table.add("a hop, 8 B", "us", "PVM", 9.0);
        let lines: Vec<&str> = table.text.lines().collect();
        assert_eq!(lines[1], "\"load before the first\",,the machine,0,0.5");
        assert_eq!(lines[2..4], ["\"a hop, 8 B\",us,Parvum,0,7", "\"a hop, 8 B\",us,Parvum,1,8.5"]);
        assert_eq!(lines[4], "\"a hop, 8 B\",us,PVM,0,9");
    }

    #[test]
    fn ratio_shows_how_much_better() {
        let row =
            |more| Row { theirs: vec![4.0, 6.0], ours: vec![10.0], ..Row::new("it", "us", "PVM", 1.0, more) };
        assert_eq!(row(true).ratio(), 2.0);
        assert_eq!(row(false).ratio(), 0.5);
    }
}
