//! What is measured on two sides in turns: the table of medians, and every number in a file.

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

/// Prints the medians, and keeps every number in `results/NAME-TIME.csv`.
pub fn show(rows: &[Row], name: &str) -> Result<(), String> {
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
    keep(rows, name)
}

/// Every number, for whoever wants to reckon otherwise.
fn keep(rows: &[Row], name: &str) -> Result<(), String> {
    let mut text = String::from("what,unit,system,round,value\n");
    for row in rows {
        for (system, numbers) in [(row.peer, &row.theirs), ("Parvum", &row.ours)] {
            for (round, number) in numbers.iter().enumerate() {
                let _ = writeln!(text, "\"{}\",{},{system},{round},{number}", row.what, row.unit);
            }
        }
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let path = format!("results/{name}-{}.csv", since.as_secs());
    std::fs::create_dir_all("results")
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|why| format!("{path}: {why}"))?;
    println!("every number is in {path}");
    Ok(())
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
    fn the_median_stands_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn the_variation_is_a_share_of_the_mean() {
        assert_eq!(variation(&[5.0, 5.0, 5.0]), 0.0);
        assert!((variation(&[1.0, 3.0]) - 2f64.sqrt() / 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_ratio_says_how_much_better() {
        let row =
            |more| Row { theirs: vec![4.0, 6.0], ours: vec![10.0], ..Row::new("it", "us", "PVM", 1.0, more) };
        assert_eq!(row(true).ratio(), 2.0);
        assert_eq!(row(false).ratio(), 0.5);
    }
}
