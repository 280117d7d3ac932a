//! Bars, in a terminal and on a page.

use crate::report::markup::escape;
use crate::stats::goals::digits;
use std::fmt::Write;

/// A line of the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The bars of one group stand together.
    pub group: String,
    /// The name.
    pub name: String,
    /// The value; a launch that was ended by force has none.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
}

/// Characters of the longest bar.
const LONGEST: f64 = 36.0;
/// Lengths are logarithms if the ratio of the largest to the smallest value is larger.
const WIDE: f64 = 30.0;

/// The share of the longest bar that each bar has.
fn lengths(bars: &[Bar]) -> (Vec<Option<f64>>, bool) {
    let values: Vec<f64> = bars.iter().filter_map(|bar| bar.value).filter(|value| *value > 0.0).collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let is_logarithmic = largest > WIDE * least;
    let share = |value: f64| match () {
        () if value <= 0.0 || largest <= 0.0 => 0.0,
        // The smallest value still has a bar.
        () if is_logarithmic => 0.08 + 0.92 * (value / least).ln() / (largest / least).ln(),
        () => value / largest,
    };
    (bars.iter().map(|bar| bar.value.map(share)).collect(), is_logarithmic)
}

fn value(bar: &Bar) -> String {
    bar.value.map_or_else(
        || "did not finish".to_owned(),
        |value| format!("{} {}", digits(value), bar.unit).trim().to_owned(),
    )
}

const LOGARITHMIC: &str = "Lengths of bars are logarithmic.";

/// With block characters.
pub fn in_terminal(bars: &[Bar]) -> String {
    let (lengths, is_logarithmic) = lengths(bars);
    let width = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
    let (mut text, mut group) = (String::new(), None);
    for (bar, length) in bars.iter().zip(lengths) {
        if group != Some(&bar.group) {
            let _ = writeln!(text, "  {}", bar.group);
            group = Some(&bar.group);
        }
        let filled = "\u{2588}".repeat((length.unwrap_or(0.0) * LONGEST).round() as usize);
        let _ = writeln!(text, "    {:width$}  {filled} {}", bar.name, value(bar));
    }
    if is_logarithmic {
        let _ = writeln!(text, "  {LOGARITHMIC}");
    }
    text
}

/// With boxes.
pub fn on_page(bars: &[Bar]) -> String {
    let (lengths, is_logarithmic) = lengths(bars);
    let (mut html, mut group) = (String::from("<div class=\"bars\">"), None);
    for (bar, length) in bars.iter().zip(lengths) {
        if group != Some(&bar.group) {
            let _ = write!(html, "<h3>{}</h3>", escape(&bar.group));
            group = Some(&bar.group);
        }
        let _ = write!(
            html,
            "<div class=\"bar\"><span class=\"who\">{}</span><span class=\"line\"><u style=\"width:{:.1}%\"></u></span><span>{}</span></div>",
            escape(&bar.name),
            100.0 * length.unwrap_or(0.0),
            escape(&value(bar)),
        );
    }
    html.push_str("</div>");
    if is_logarithmic {
        let _ = write!(html, "<p class=\"note\">{LOGARITHMIC}</p>");
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, value: Option<f64>) -> Bar {
        Bar { group: "8 B".into(), name: name.into(), value, unit: "us" }
    }

    #[test]
    fn longest_bar_belongs_to_largest_value() {
        let text = in_terminal(&[bar("one", Some(1.0)), bar("two", Some(2.0)), bar("three", None)]);
        let lengths: Vec<usize> = text.lines().map(|line| line.matches('\u{2588}').count()).collect();
        assert_eq!(lengths, [0, 18, 36, 0]);
        assert!(text.contains("did not finish") && !text.contains("logarithmic"), "{text}");
    }

    #[test]
    fn wide_range_is_drawn_with_logarithms() {
        let text =
            in_terminal(&[bar("one", Some(1.0)), bar("thousand", Some(1000.0)), bar("none", Some(0.0))]);
        assert!(text.contains("logarithmic"), "{text}");
        let page = on_page(&[bar("<one>", Some(1.0))]);
        assert!(page.contains("&lt;one&gt;") && page.contains("width:100.0%"), "{page}");
    }
}
