//! The report: one page that needs nothing but itself.

pub mod curve;
pub mod exhibit;
pub mod figures;
pub mod first;
pub mod headline;
pub mod markup;
pub(crate) mod papers;
mod split;
pub mod tables;
pub mod trust;

use crate::lessons;
use crate::run::record::{Manifest, fingerprint};
use crate::stats::goals::{Goal, Outcome};
use crate::stats::summary::{Row, Rows};
use crate::suites::Suite;
use markup::{escape, word_table};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// The whole page. Goals are Parvum's own targets; a page without them has no such section.
pub fn page(suite: &Suite, rows: &[Row], goals: &[Goal], manifest: &Manifest) -> String {
    let mut html = String::with_capacity(256 * 1024);
    opening(&mut html, suite, rows, !goals.is_empty(), manifest);
    for section in suite.pages.sections {
        section(&mut html, rows);
    }
    papers::claims(&mut html, suite.name, rows, !manifest.hosts.is_empty());
    if let Some(note) = manifest.cut_short() {
        let _ = write!(html, "<p class=\"missed\">{}</p>", escape(&note));
    }
    if !goals.is_empty() {
        bars(&mut html, goals);
    }
    (suite.pages.details)(&mut html, rows);
    method(&mut html, suite, manifest);
    let fingerprint = fingerprint(manifest);
    let _ = write!(
        html,
        "<p class=\"note\">Manifest {fingerprint}. Raw samples: raw.jsonl beside this page; every number above can be computed from it.</p>"
    );
    sheet(&format!("comparison of {}", manifest.factors.date), &html, &fingerprint)
}

/// A page around these contents. Every figure names the data it can be made from again.
pub fn sheet(title: &str, contents: &str, data: &str) -> String {
    let contents = contents.replace("<figure>", &format!("<figure data-manifest=\"{data}\">"));
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Parvum: {}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><style>{STYLE}</style></head><body><main>\
         {contents}</main></body></html>\n",
        escape(title)
    )
}

/// The suite whose page begins with an answer.
const CHOOSER: &str = "choose";

fn opening(html: &mut String, suite: &Suite, rows: &[Row], has_goals: bool, manifest: &Manifest) {
    let factors = &manifest.factors;
    let link = |(anchor, name): &(&str, &str)| format!("<a href=\"#{anchor}\">{}</a>", escape(name));
    let contents: String = suite.pages.contents.iter().map(link).collect();
    let claims = papers::link(suite.name, rows, !manifest.hosts.is_empty());
    let (systems, questions) = ((suite.systems)(), suite.pages.questions);
    let doubts = trust::doubts(questions, &systems, &Rows(rows), manifest);
    let _ = write!(
        html,
        "<h1>What message passing costs {}</h1>\
         <p class=\"soft\">{} &middot; {} &middot; {} &middot; {} runs of programs in {:.0} s</p>",
        escape(&place(manifest)),
        escape(&factors.date),
        escape(&factors.processor),
        escape(&factors.cores),
        manifest.launches.len(),
        manifest.elapsed_s,
    );
    if !doubts.is_empty() {
        let _ = write!(html, "<p class=\"banner\">{}</p>", escape(&trust::banner(&doubts, suite.name)));
    }
    lessons::on_page(html, rows, manifest);
    if suite.name == CHOOSER {
        html.push_str(&first::on_page(questions, &systems, rows, manifest, &doubts));
    }
    let _ = write!(
        html,
        "<p>{} Each number is the median of several runs. All systems run one right after the other, in random order. Contents of messages were verified.</p>\
         <nav>{contents}{claims}{}<a href=\"#numbers\">All numbers</a><a href=\"#method\">Method and machine</a></nav>",
        suite.pages.introduction,
        if has_goals { "<a href=\"#goals\">Targets</a>" } else { "" },
    );
    if let Some(warning) = crate::run::disturbed::warning(&manifest.launches) {
        let _ = write!(html, "<p class=\"soft\">{}</p>", escape(&warning));
    }
    html.push_str(&headline::cards(questions, &systems, rows, manifest, !doubts.is_empty()));
    let _ = write!(
        html,
        "<p class=\"note\">{} A dot is a median, on a logarithmic scale; the line through the dot is its 95 % interval. \
         <em>Same within noise</em>: no significant difference between runs that followed one another (signed-rank test, 1 %). \
         <em>Too few runs</em>: fewer than three pairs; <code>--full</code> makes more.</p>",
        suite.pages.cards
    );
    let mut systems: Vec<Vec<String>> =
        manifest.systems.iter().map(|s| vec![escape(s.name), escape(&s.version)]).collect();
    systems.extend(
        manifest.absent.iter().map(|a| vec![escape(&a.name), format!("not compared: {}", escape(&a.remedy))]),
    );
    html.push_str(&word_table(&["system", "version"], &systems));
}

/// Where it was measured.
fn place(manifest: &Manifest) -> String {
    let hosts = match manifest.hosts.len() {
        0 => return "on this machine".to_owned(),
        1 => "on one host".to_owned(),
        several => format!("between {several} hosts"),
    };
    match manifest.factors.network.split(':').next() {
        None | Some("") => hosts,
        Some(name) => format!("{hosts} of an emulated network, {name}"),
    }
}

fn bars(html: &mut String, goals: &[Goal]) {
    html.push_str(
        "<h2 id=\"goals\">Parvum's own targets</h2><p>Developers of Parvum set these targets. Each is a ratio within this run, so the machine \
         cancels out.</p>",
    );
    let rows: Vec<Vec<String>> = goals
        .iter()
        .map(|goal| {
            let (class, word) = match goal.outcome {
                Outcome::Reached => ("reached", "reached"),
                Outcome::Missed => ("missed", "missed"),
                Outcome::NoData => ("nodata", "no data"),
            };
            vec![
                escape(goal.what),
                escape(goal.bar),
                format!("<span class=\"{class}\">{word}</span>"),
                escape(&goal.found),
            ]
        })
        .collect();
    html.push_str(&word_table(&["what", "target", "", "found"], &rows));
}

fn method(html: &mut String, suite: &Suite, manifest: &Manifest) {
    let _ = write!(
        html,
        "<h2 id=\"method\">Method and machine</h2>\
         <p>The launch is the unit. Every value is the median of one median per launch; brackets give the non-parametric 95 % \
         interval of that median (the whole range when there are fewer than six launches). Launches go in blocks: all \
         systems of a measurement run one right after the other, in random order (seed {}). A difference is significant if Wilcoxon's \
         signed-rank test on the ratios within blocks says so (two-sided, 1 %). Before and after each launch the laboratory looks at \
         the machine: a cache line from core to core, the frequency, the speed of copies, ready processes of others, time that the \
         host gave to others. Blocks with unequal looks are repeated, or not compared. Sizes within a launch have a random order too. Warm-up was dropped until two blocks agreed within 3 %; the first message of each size \
         is kept as a number of its own. Every message carries its own number and rotates over four buffers; whole contents are \
         verified after timing. PVM messages are timed from before packing to after unpacking. Transforms start on all tasks at one \
         agreed moment of the host's clock, without a barrier of the system under test; a transform's time is that of its last task. \
         Left out of the quick run: {}.</p>",
        manifest.seed, suite.pages.omitted
    );
    let mut rows: Vec<Vec<String>> =
        manifest.factors.rows().into_iter().map(|(name, value)| vec![escape(name), escape(&value)]).collect();
    if !manifest.hosts.is_empty() {
        rows.push(vec!["hosts".into(), escape(&manifest.hosts.join(", "))]);
    }
    rows.push(vec!["load after the run".into(), escape(&manifest.load_after)]);
    rows.push(vec!["command".into(), escape(&manifest.command)]);
    rows.push(vec![
        "extent, budget, elapsed".into(),
        format!("{}, {} s, {:.0} s", manifest.extent, manifest.budget_s, manifest.elapsed_s),
    ]);
    html.push_str(&word_table(&["factor", "value"], &rows));
    for (heading, has_failed) in
        [("Launches that failed", true), ("Launches that were repeated, because the host was slow", false)]
    {
        let of_kind = manifest.launches.iter().filter(|launch| launch.has_failed() == has_failed);
        let rows: Vec<Vec<String>> = of_kind
            .filter_map(|launch| Some(vec![escape(&launch.job), escape(launch.failure.as_deref()?)]))
            .collect();
        if !rows.is_empty() {
            let _ = write!(html, "<h3>{heading} ({} of {})</h3>", rows.len(), manifest.launches.len());
            html.push_str(&word_table(&["launch", "why"], &rows));
        }
    }
    if !manifest.left_out.is_empty() {
        let names: Vec<String> = manifest.left_out.iter().map(|name| escape(name)).collect();
        let _ = write!(html, "<h3>Planned, but the time was over</h3><p>{}</p>", names.join("; "));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::host::factors::Factors;
    use crate::host::state::State;
    use crate::run::record::{Installed, LaunchRecord};
    use crate::stats::samples::parse_line;
    use crate::stats::summary::{Recorded, summarise};
    use crate::suites::main::SUITE;
    use crate::systems::peers::Absent;
    use crate::systems::system::{Encoding, Family, System};

    fn sample() -> Vec<Recorded> {
        let system = System { family: Family::Pvm, route: "direct", encoding: Encoding::Raw };
        let mut lines = Vec::new();
        for launch in 0..6 {
            for (size, ns) in [(0u64, 22_000), (8, 23_000), (1_048_576, 3_000_000)] {
                let text = format!(
                    r#"{{"program":"ring","tasks":2,"size":{size},"hops":2,"cold_ns":90000,"verified":true,"samples_ns":[{ns},{}]}}"#,
                    ns + launch
                );
                lines.push(Recorded::new(launch as usize, "ring", Some(&system), parse_line(&text).unwrap()));
            }
            for tasks in [1usize, 2, 4] {
                let split = |value: u64| vec![format!("[{value}]"); tasks].join(",");
                for size in [512, 1024] {
                    let text = format!(
                        r#"{{"program":"fft","tasks":{tasks},"size":{size},"verified":true,"error":1e-7,"samples_ns":[9000],"wall_ns":[{}],"wait_ns":[{}],"communication_ns":[{}]}}"#,
                        split(9000),
                        split(2000),
                        split(3000)
                    );
                    lines.push(Recorded::new(
                        launch as usize + 100 * tasks,
                        "fft",
                        Some(&system),
                        parse_line(&text).unwrap(),
                    ));
                }
            }
        }
        lines
    }

    /// A launch that worked, in which a cache line took so long.
    pub fn launch(number: usize, line_ns: f64) -> LaunchRecord {
        LaunchRecord {
            launch: number,
            job: "ring".into(),
            program: "ring".into(),
            system: String::new(),
            tasks: 2,
            command: String::new(),
            elapsed_s: 1.0,
            load: String::new(),
            before: State { line_ns: Some(line_ns), ..State::default() },
            failure: None,
            ..LaunchRecord::default()
        }
    }

    /// A manifest of no launches.
    pub fn manifest() -> Manifest {
        Manifest {
            format: crate::run::record::FORMAT,
            command: "compare <test>".into(),
            suite: "main".into(),
            extent: "quick",
            seed: 1,
            budget_s: 1,
            elapsed_s: 1.0,
            systems: vec![Installed { name: "PVM 3.4.6", version: "3.4.6".into() }],
            absent: vec![Absent { name: "MPICH".into(), remedy: "run `./x peers`".into() }],
            hosts: vec![],
            commit: None,
            factors: Factors::record(),
            load_after: "0".into(),
            launches: vec![],
            left_out: vec!["ring: <late>".into()],
        }
    }

    #[test]
    fn page_is_complete_for_small_session() {
        let rows = summarise(&sample());
        let page = page(&SUITE, &rows, &(SUITE.goals)(&rows), &manifest());
        for part in [
            "<svg",
            "PVM 3.4.6 direct, raw",
            "r_max",
            "not compared: run `./x peers`",
            "no data",
            "Table 8",
            "task 3",
            "ring: &lt;late&gt;",
        ] {
            assert!(page.contains(part), "{part} is missing");
        }
        assert!(page.contains("a launcher that starts cold"), "what is unequal is said beside the figures");
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("max-width: 640px"));
        assert!(page.contains("Parvum's own targets"), "they were asked for");
        assert!(!page.contains("<test>"), "the command line must be escaped");
        assert!(!page.contains("http"), "the page must need nothing from outside");
        assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
        assert!(!page.contains("NaN") && !page.contains("inf"), "a figure has no place");
    }

    #[test]
    fn page_exists_for_empty_session() {
        assert!(page(&SUITE, &[], &(SUITE.goals)(&[]), &manifest()).contains("no data"));
        assert!(!page(&SUITE, &[], &[], &manifest()).contains("targets"), "only who asks gets targets");
    }

    #[test]
    fn page_heading_names_where_it_was_measured() {
        let mut manifest = manifest();
        let heading = |manifest: &Manifest| {
            let page = page(&SUITE, &[], &[], manifest);
            let (_, from) = page.split_once("<h1>").expect("a heading");
            from.split_once("</h1>").expect("its end").0.to_owned()
        };
        assert_eq!(heading(&manifest), "What message passing costs on this machine");
        manifest.hosts = vec!["alpha".into(), "beta".into()];
        assert_eq!(heading(&manifest), "What message passing costs between 2 hosts");
        manifest.factors.network = "atm: 140 Mbit/s".into();
        assert_eq!(
            heading(&manifest),
            "What message passing costs between 2 hosts of an emulated network, atm"
        );
    }
}
