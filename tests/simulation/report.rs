//! The table, the fitted growth and the page of a simulation.

use super::Size;
use super::story::{Measured, Part};
use parvum_lab::report::curve::{Axes, Point, Series, chart};
use parvum_lab::report::markup::{escape, figure, table};
use parvum_lab::report::sheet;
use parvum_lab::run::record::short_name;
use parvum_lab::stats::goals::digits;
use parvum_lab::stats::growth::{Growth, growth};
use std::fmt::Write;

/// What is measured of each part of the story.
struct Measure {
    name: &'static str,
    unit: &'static str,
    of: fn(&Part) -> f64,
}

const MEASURES: [Measure; 9] = [
    Measure { name: "time to agree", unit: "s", of: |part| part.seconds },
    Measure { name: "messages per host, mean", unit: "", of: |part| part.bills.messages },
    Measure { name: "messages of the busiest host", unit: "", of: |part| part.bills.most_messages as f64 },
    Measure { name: "KiB per host, mean", unit: "KiB", of: |part| part.bills.bytes / 1024.0 },
    Measure {
        name: "KiB of the busiest host",
        unit: "KiB",
        of: |part| part.bills.most_bytes as f64 / 1024.0,
    },
    Measure { name: "connections per host, mean", unit: "", of: |part| part.bills.links },
    Measure { name: "connections of the busiest host", unit: "", of: |part| part.bills.most_links as f64 },
    Measure { name: "checked connections per host, mean", unit: "", of: |part| part.bills.watched },
    Measure {
        name: "checked connections of the busiest host",
        unit: "",
        of: |part| part.bills.most_watched as f64,
    },
];

/// A part of the story; a machine may be too small for it.
struct Chapter {
    name: &'static str,
    class: &'static str,
    of: fn(&Measured) -> Option<Part>,
}

const CHAPTERS: [Chapter; 3] = [
    Chapter { name: "all come", class: "s-parvum", of: |measured| Some(measured.join) },
    Chapter { name: "a tenth is lost", class: "s-pvm", of: |measured| Some(measured.fail) },
    Chapter { name: "leader and a tenth", class: "s-openmpi", of: |measured| measured.lead },
];

fn points(all: &[Size], chapter: &Chapter, measure: &Measure) -> Vec<(f64, f64)> {
    all.iter()
        .filter_map(|one| Some((one.hosts as f64, (measure.of)(&(chapter.of)(&one.measured)?))))
        .collect()
}

/// Over the lines that follow.
pub fn heading() -> String {
    "Virtual time until every living host's table is right; messages and KiB, sent and got, per host: mean/most.\n\
     hosts   all come                            a tenth is lost                     leader and a tenth                  links       real s"
        .into()
}

/// One size of machine.
pub fn line(size: &Size) -> String {
    let mut text = format!("{:5}", size.hosts);
    for chapter in &CHAPTERS {
        let cell = (chapter.of)(&size.measured).map_or_else(String::new, |Part { seconds, bills }| {
            format!(
                "{seconds:6.3} s {}/{} {}/{}",
                digits(bills.messages),
                bills.most_messages,
                digits(bills.bytes / 1024.0),
                digits(bills.most_bytes as f64 / 1024.0)
            )
        });
        let _ = write!(text, "  {cell:34}");
    }
    let links = size.measured.join.bills;
    let links = format!("{}/{}", digits(links.links), links.most_links);
    let _ = write!(text, "  {links:10}  {:.1}", size.wall);
    text
}

fn formula(growth: &Growth) -> String {
    let sign = |value: f64| if value < 0.0 { '-' } else { '+' };
    format!(
        "{:.3} {} {:.3} log2 N {} {:.5} N",
        growth.constant,
        sign(growth.doubling),
        growth.doubling.abs(),
        sign(growth.each),
        growth.each.abs()
    )
}

fn fits(all: &[Size]) -> Vec<[String; 5]> {
    let mut rows = Vec::new();
    for chapter in &CHAPTERS {
        for measure in &MEASURES {
            if let Some(fit) = growth(&points(all, chapter, measure)) {
                rows.push([
                    chapter.name.into(),
                    measure.name.into(),
                    formula(&fit),
                    format!("{:.4}", fit.r2),
                    format!("{:.2}", fit.exponent),
                ]);
            }
        }
    }
    rows
}

/// The fitted growth of everything, for a terminal.
pub fn growths(all: &[Size]) -> String {
    let mut text = String::from(
        "Fitted growth (least squares of relative residuals; the last column: by which power of N over the larger half)\n",
    );
    for [chapter, measure, formula, r2, exponent] in fits(all) {
        let _ = writeln!(text, "  {chapter:18}  {measure:32}  {formula:40}  r2 {r2}  N^{exponent}");
    }
    text
}

/// All numbers.
pub fn csv(all: &[Size]) -> String {
    let mut text = String::from("hosts,part,measure,unit,value\n");
    for one in all {
        for chapter in &CHAPTERS {
            let Some(part) = (chapter.of)(&one.measured) else { continue };
            for measure in &MEASURES {
                let value = (measure.of)(&part);
                let _ = writeln!(
                    text,
                    "{},{},\"{}\",{},{value}",
                    one.hosts, chapter.name, measure.name, measure.unit
                );
            }
        }
    }
    text
}

/// The page with the curves.
pub fn page(all: &[Size], csv: &str, date: &str, seed: u64) -> String {
    let most = all.last().map_or(0, |one| one.hosts);
    let mut html = format!(
        "<h1>A machine of {most} hosts, simulated</h1><p class=\"soft\">{} &middot; seed {seed}</p>\
         <p>The daemons' own logic and agreement run here, each host with its own, in virtual time; only sockets, processes \
         and encryption are left out. One <code>add</code> brings all hosts in, 128 at a time, each started in 100 to 200 ms; \
         then a tenth of them dies at one moment, without the leader; then the leader and a tenth of those left.</p>\
         <p>The network delays by 100 to 200 &micro;s; each host has a wire of 1 Gbit/s, and one thread that takes 10 &micro;s for a \
         message and 500 &micro;s for a new connection, so that a host that tells all others something tells them one after the \
         other. Each host checks the life of a few others five times a second, and takes a host for lost that leaves three questions \
         unanswered. Bytes are those of the encoded words; the questions and QUIC's own bytes are not counted.</p>",
        escape(date)
    );
    let charts: [(&'static str, &'static str, usize); 5] = [
        ("Time until every living host's table is right", "seconds of virtual time", 0),
        ("Messages per host, mean", "sent and got", 1),
        ("Messages of the busiest host", "sent and got", 2),
        ("Bytes per host, mean", "KiB sent and got", 3),
        ("Bytes of the busiest host", "KiB sent and got", 4),
    ];
    for (title, y_name, at) in charts {
        drawing(&mut html, all, title, y_name, &MEASURES[at]);
    }
    html.push_str("<h2>Fitted growth</h2>");
    let rows: Vec<Vec<String>> =
        fits(all).iter().map(|row| row.iter().map(|cell| escape(cell)).collect()).collect();
    html.push_str(&table(&["part", "measure", "a + b log2 N + c N", "r2", "power of N, larger half"], &rows));
    html.push_str("<h2>All numbers</h2>");
    for chapter in &CHAPTERS {
        let _ = write!(html, "<h3>{}</h3>", escape(chapter.name));
        let mut headings = vec!["hosts"];
        headings.extend(MEASURES.iter().map(|measure| measure.name));
        let row = |one: &Size| {
            let part = (chapter.of)(&one.measured)?;
            let cells = MEASURES.iter().map(|measure| digits((measure.of)(&part)));
            Some([one.hosts.to_string()].into_iter().chain(cells).collect::<Vec<_>>())
        };
        html.push_str(&table(&headings, &all.iter().filter_map(row).collect::<Vec<_>>()));
    }
    sheet(&format!("simulation of {most} hosts"), &html, &short_name(csv))
}

fn drawing(html: &mut String, all: &[Size], title: &'static str, y_name: &'static str, measure: &Measure) {
    let mut series = Vec::new();
    let mut caption = Vec::new();
    for chapter in &CHAPTERS {
        let measured: Vec<_> = points(all, chapter, measure).into_iter().filter(|(_, y)| *y > 0.0).collect();
        let point = |x: f64, y: f64| Point { x, y, low: y, high: y };
        let fit = growth(&measured);
        series.push(Series {
            label: chapter.name.into(),
            class: chapter.class,
            dash: "",
            points: measured.iter().map(|(x, y)| point(*x, *y)).collect(),
        });
        if let Some(fit) = fit {
            let fitted = measured.iter().map(|(x, _)| point(*x, fit.at(*x))).filter(|point| point.y > 0.0);
            series.push(Series {
                label: format!("fit, r2 {:.3}", fit.r2),
                class: chapter.class,
                dash: "dash2",
                points: fitted.collect(),
            });
            let (formula, r2, power) = (formula(&fit), fit.r2, fit.exponent);
            caption.push(format!(
                "{}: {formula}, r2 {r2:.4}; over the larger half as N^{power:.2}",
                chapter.name
            ));
        }
    }
    let axes = Axes {
        title,
        x: |hosts| format!("{hosts:.0}"),
        x_name: "hosts",
        y_name,
        break_even: false,
        width: 1030.0,
    };
    figure(html, &chart(&series, &axes), &caption.join("; "));
}
