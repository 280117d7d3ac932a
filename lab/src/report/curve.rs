//! Line charts on logarithmic axes.

use super::markup::escape;
use std::fmt::Write;

/// One measured point.
#[derive(Debug, Clone)]
pub struct Point {
    /// Bytes or points.
    pub x: f64,
    /// Median.
    pub y: f64,
    /// Its interval.
    pub low: f64,
    /// Its interval.
    pub high: f64,
}

/// One line of a chart.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name, written at its end.
    pub label: String,
    /// Its colour.
    pub class: &'static str,
    /// Solid, dashed or dotted.
    pub dash: &'static str,
    /// In ascending order of x. A single point is drawn as a level: a bound that holds everywhere.
    pub points: Vec<Point>,
}

/// What the axes say.
#[derive(Debug, Clone, Copy)]
pub struct Axes<'a> {
    /// Above the chart.
    pub title: &'a str,
    /// Writes an x tick.
    pub x: fn(f64) -> String,
    /// What x counts.
    pub x_name: &'static str,
    /// The unit of y.
    pub y_name: &'a str,
    /// Draws the level at 1.
    pub break_even: bool,
    /// Width of the drawing; narrow charts stand in pairs.
    pub width: f64,
}

const TOP: f64 = 58.0;
const LEFT: f64 = 58.0;
const BOTTOM: f64 = 46.0;
const HEIGHT: f64 = 454.0;
const SPACING: f64 = 16.0;

struct Frame {
    x: (f64, f64),
    y: (f64, f64),
    right: f64,
}

impl Frame {
    fn of(series: &[Series], axes: &Axes) -> Option<Frame> {
        let all = || series.iter().flat_map(|s| &s.points);
        let wide = || series.iter().filter(|s| s.points.len() > 1).flat_map(|s| &s.points);
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
        let x = (least(&mut wide().map(|p| p.x)).log2(), most(&mut wide().map(|p| p.x)).log2());
        let mut y =
            (least(&mut all().map(|p| p.y)).log2().floor(), most(&mut all().map(|p| p.y)).log2().ceil());
        if axes.break_even {
            y = (y.0.min(-1.0), y.1.max(1.0));
        }
        let longest = series.iter().map(|s| s.label.chars().count()).max()? as f64;
        let sound = x.0.is_finite() && x.1 > x.0 && y.0.is_finite() && y.1 >= y.0;
        sound.then(|| Frame { x, y: (y.0, y.1.max(y.0 + 1.0)), right: axes.width - longest * 7.0 - 34.0 })
    }

    fn at_x(&self, x: f64) -> f64 {
        LEFT + (x.log2() - self.x.0) / (self.x.1 - self.x.0) * (self.right - LEFT)
    }

    fn at_y(&self, y: f64) -> f64 {
        let y = y.log2().clamp(self.y.0, self.y.1);
        HEIGHT - BOTTOM - (y - self.y.0) / (self.y.1 - self.y.0) * (HEIGHT - BOTTOM - TOP)
    }
}

/// The chart, or nothing when there is nothing to draw.
pub fn chart(series: &[Series], axes: &Axes) -> String {
    let drawn: Vec<Series> = series.iter().filter(|s| !s.points.is_empty()).cloned().collect();
    let Some(frame) = Frame::of(&drawn, axes) else { return String::new() };
    // On a narrow screen it is moved sideways rather than made so small that nobody can read it.
    let mut svg = format!(
        "{}<div class=\"plot\"><svg viewBox=\"0 0 {} {HEIGHT}\" style=\"--least:{:.0}px\" role=\"img\" aria-label=\"{}\">",
        key(&drawn),
        axes.width,
        axes.width * 0.75,
        escape(axes.title)
    );
    let _ = write!(svg, "<text class=\"title\" x=\"0\" y=\"16\">{}</text>", escape(axes.title));
    let _ = write!(svg, "<text class=\"soft\" x=\"0\" y=\"35\">{}</text>", escape(axes.y_name));
    ticks(&mut svg, &frame, axes);
    for series in &drawn {
        line(&mut svg, &frame, series);
    }
    labels(&mut svg, &frame, &drawn);
    svg.push_str("</svg></div>");
    svg
}

/// Names and colours of the lines, for screens on which the ends of the lines are out of sight.
fn key(series: &[Series]) -> String {
    let name =
        |s: &Series| format!("<span class=\"{} {}\"><i></i>{}</span>", s.class, s.dash, escape(&s.label));
    format!("<div class=\"key\">{}</div>", series.iter().map(name).collect::<String>())
}

/// Round numbers between two powers of two: 1, 2 and 5 of each decade, or fewer where there are many decades.
fn rounds(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.exp2().log10().floor() as i32, high.exp2().log10().ceil() as i32);
    let decades = last - first;
    let of_each: &[f64] = if decades <= 4 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let step = (decades / 12 + 1) as usize;
    let all = (first..=last).step_by(step).flat_map(|ten| of_each.iter().map(move |n| round(*n, ten)));
    all.filter(|value| (low - 1e-9..=high + 1e-9).contains(&value.log2())).collect()
}

/// So many times a power of ten, exactly what its decimal says.
fn round(n: f64, ten: i32) -> f64 {
    if ten < 0 { n / 10f64.powi(-ten) } else { n * 10f64.powi(ten) }
}

/// A number beside the axis, for which there is so much room.
fn tick(value: f64) -> String {
    let plain = value.to_string();
    if plain.len() > 6 { format!("{value:e}") } else { plain }
}

fn ticks(svg: &mut String, frame: &Frame, axes: &Axes) {
    for value in rounds(frame.y.0, frame.y.1) {
        let y = frame.at_y(value);
        let class = if axes.break_even && value == 1.0 { "one" } else { "grid" };
        let _ = write!(
            svg,
            "<line class=\"{class}\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
            frame.right
        );
        let _ = write!(
            svg,
            "<text class=\"soft\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.5,
            tick(value),
        );
    }
    let (low, high) = (frame.x.0.ceil() as i32, frame.x.1.floor() as i32);
    let room = ((frame.right - LEFT) / 72.0).max(2.0) as i32;
    let step = ((high - low) / room + 1).max(1);
    for exponent in (low..=high).step_by(step as usize) {
        let value = f64::from(exponent).exp2();
        let x = frame.at_x(value);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{}\"/>",
            HEIGHT - BOTTOM
        );
        let _ = write!(
            svg,
            "<text class=\"soft\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM + 19.0,
            escape(&(axes.x)(value))
        );
    }
    let _ = write!(
        svg,
        "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y}\" y2=\"{y}\"/>\
         <text class=\"soft\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        frame.right,
        (LEFT + frame.right) / 2.0,
        HEIGHT - 6.0,
        escape(axes.x_name),
        y = HEIGHT - BOTTOM,
    );
}

fn line(svg: &mut String, frame: &Frame, series: &Series) {
    let _ = write!(svg, "<g class=\"{}\">", series.class);
    if let [bound] = &series.points[..] {
        let y = frame.at_y(bound.y);
        let _ = write!(
            svg,
            "<line class=\"line {}\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/></g>",
            series.dash, frame.right
        );
        return;
    }
    let path: Vec<String> =
        series.points.iter().map(|p| format!("{:.1},{:.1}", frame.at_x(p.x), frame.at_y(p.y))).collect();
    let _ = write!(svg, "<polyline class=\"line {}\" points=\"{}\"/>", series.dash, path.join(" "));
    for p in &series.points {
        let (x, y) = (frame.at_x(p.x), frame.at_y(p.y));
        if p.high > p.low {
            let _ = write!(
                svg,
                "<line class=\"error\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                frame.at_y(p.high),
                frame.at_y(p.low)
            );
        }
        let _ = write!(
            svg,
            "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{}: {} ({} to {})</title></circle>",
            escape(&series.label),
            crate::stats::goals::digits(p.y),
            crate::stats::goals::digits(p.low),
            crate::stats::goals::digits(p.high)
        );
    }
    svg.push_str("</g>");
}

/// Names at the ends of the lines, moved apart until none touches another.
fn labels(svg: &mut String, frame: &Frame, series: &[Series]) {
    let mut ends: Vec<(f64, f64, &Series)> = series
        .iter()
        .filter_map(|s| s.points.last().map(|p| (frame.at_y(p.y), frame.at_y(p.y), s)))
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    spread(&mut ends, |end| &mut end.1);
    for (end, label, series) in ends {
        let last = series.points.last().filter(|_| series.points.len() > 1);
        let from = last.map_or(frame.right, |p| frame.at_x(p.x)) + 5.0;
        let to = frame.right + 22.0;
        let _ = write!(
            svg,
            "<g class=\"{}\"><path class=\"leader\" d=\"M{from:.1} {end:.1} L{:.1} {label:.1} L{:.1} {label:.1}\"/>\
             <text class=\"label\" x=\"{to:.1}\" y=\"{:.1}\">{}</text></g>",
            series.class,
            to - 8.0,
            to - 3.0,
            label + 4.5,
            escape(&series.label)
        );
    }
}

/// Moves ascending places apart to at least `SPACING`, staying inside the drawing and near where they belong.
fn spread<T>(items: &mut [T], place: impl Fn(&mut T) -> &mut f64) {
    for i in 1..items.len() {
        let least = *place(&mut items[i - 1]) + SPACING;
        let here = place(&mut items[i]);
        *here = here.max(least);
    }
    let mut most = HEIGHT - BOTTOM;
    for item in items.iter_mut().rev() {
        let here = place(item);
        *here = here.min(most);
        most = *here - SPACING;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round_decimals() {
        let words = |low: f64, high: f64| -> Vec<String> {
            rounds(low.log2().floor(), high.log2().ceil()).iter().map(f64::to_string).collect()
        };
        assert_eq!(words(0.3, 6.0), ["0.5", "1", "2", "5"]);
        assert_eq!(words(0.002, 9000.0), ["0.01", "0.1", "1", "10", "100", "1000", "10000"]);
        assert!(words(0.9, 1.1).contains(&"1".to_owned()), "the break-even line has its number");
        assert_eq!([1e6, 1e5, 0.0001, 0.00001].map(tick), ["1e6", "100000", "0.0001", "1e-5"]);
    }

    #[test]
    fn curve_without_points_is_no_chart() {
        let axes = Axes {
            title: "t",
            x: |x| x.to_string(),
            x_name: "",
            y_name: "",
            break_even: false,
            width: 900.0,
        };
        assert_eq!(chart(&[], &axes), "");
        let alone = Series { label: "a".into(), class: "s-pvm", dash: "", points: vec![] };
        assert_eq!(chart(&[alone], &axes), "");
    }

    proptest! {
        #[test]
        fn curve_labels_never_touch(mut places in prop::collection::vec(TOP..HEIGHT - BOTTOM, 1..14)) {
            places.sort_by(f64::total_cmp);
            spread(&mut places, |p| p);
            for pair in places.windows(2) {
                prop_assert!(pair[1] - pair[0] >= SPACING - 1e-9);
            }
        }
    }
}
