//! A claim of a paper, and whether today's rows bear it out.

use super::measured::{Measured, measure};
use crate::run::experiment::Job;
use crate::stats::summary::Row;
use serde::Deserialize;
use std::borrow::Cow;

/// What a paper says of one of its tables or figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// In our words.
    pub says: String,
    /// The paper's value, with its unit.
    #[serde(default)]
    pub paper: String,
    /// The unit of today's value; empty for ratios.
    #[serde(default)]
    pub unit: String,
    /// It holds from here; without both ends there is nothing to judge, and the two values only stand beside each other.
    #[serde(default)]
    pub from: Option<f64>,
    /// It holds up to here.
    #[serde(default)]
    pub to: Option<f64>,
    /// Where today's values come from.
    #[serde(default)]
    pub today: Vec<Today>,
}

/// A value of today: rows multiplied, divided by others.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Today {
    /// Whose value it is.
    pub by: String,
    /// Factors.
    pub over: Vec<Claimed>,
    /// Divisors.
    #[serde(default)]
    pub under: Vec<Claimed>,
    /// For another unit than the rows'.
    #[serde(default = "one")]
    pub times: f64,
}

fn one() -> f64 {
    1.0
}

/// Metrics that are counted in programs.
const COUNTED: [&str; 2] = ["messages", "traffic"];

impl Claim {
    /// As it is asked of a run on one host, or over several.
    pub fn asked_of(&self, over_hosts: bool) -> Cow<'_, Claim> {
        if over_hosts { Cow::Owned(self.over_hosts()) } else { Cow::Borrowed(self) }
    }

    /// The same asked of tasks on several hosts. What was asked of both of our routes is then asked once; that a PVM made for its machine is
    /// ahead of one that is not says nothing of hosts, where both have the same wire.
    pub fn over_hosts(&self) -> Claim {
        let mut today: Vec<Today> = Vec::new();
        for one in self.today.iter().filter(|one| !one.is_of_its_machine()).map(Today::over_hosts) {
            if !today.iter().any(|known| known.over == one.over && known.under == one.under) {
                today.push(one);
            }
        }
        Claim { today, ..self.clone() }
    }

    /// Whether rows of tasks on several hosts have a value for who is asked here.
    pub fn is_answered_over_hosts(&self, by: &str, rows: &[Row]) -> bool {
        let mut own = self.today.iter().filter(|today| today.by == by && !today.is_of_its_machine());
        own.any(|today| measure(&today.over_hosts(), rows).is_some())
    }
}

impl Today {
    /// Whether our shared memory is held against another system.
    fn is_of_its_machine(&self) -> bool {
        let mut asked = self.over.iter().chain(&self.under);
        let is_ours = |one: &Claimed| one.system.starts_with("Parvum");
        asked.clone().any(|one| is_ours(one) && one.route == "shm") && asked.any(|one| !is_ours(one))
    }

    /// Whether it is of what programs count, not of times.
    fn is_counted(&self) -> bool {
        self.over.iter().chain(&self.under).all(|one| COUNTED.contains(&one.metric.as_str()))
    }

    fn over_hosts(&self) -> Today {
        let over = |all: &[Claimed]| all.iter().map(Claimed::over_hosts).collect();
        let by = self.by.replace("shared memory", "TCP");
        Today { by, over: over(&self.over), under: over(&self.under), times: self.times }
    }
}

/// Rows of a summary, written `program|system|route|encoding|tasks|size|metric`, for one task's value with `|task` behind. The size is a
/// number, or `from..to` for each of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Claimed {
    program: String,
    system: String,
    route: String,
    encoding: String,
    tasks: u32,
    sizes: (u64, u64),
    metric: String,
    task: Option<u32>,
}

impl TryFrom<String> for Claimed {
    type Error = String;

    fn try_from(text: String) -> Result<Claimed, String> {
        let words: Vec<&str> = text.split('|').collect();
        let (fields, task) = match words.len() {
            7 => (&words[..], None),
            8 => (&words[..7], Some(words[7])),
            _ => return Err(format!("{text:?} names no rows")),
        };
        let number = |word: &str| word.parse::<u64>().map_err(|_| format!("{text:?}: {word:?} is no number"));
        let sizes = match fields[5].split_once("..") {
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(fields[5])?, number(fields[5])?),
        };
        let small =
            |word: &str| number(word)?.try_into().map_err(|_| format!("{text:?}: {word} is too large"));
        Ok(Claimed {
            program: fields[0].to_owned(),
            system: fields[1].to_owned(),
            route: fields[2].to_owned(),
            encoding: fields[3].to_owned(),
            tasks: small(fields[4])?,
            sizes,
            metric: fields[6].to_owned(),
            task: task.map(small).transpose()?,
        })
    }
}

impl Claimed {
    /// What shares memory on one host goes over TCP between several.
    fn over_hosts(&self) -> Claimed {
        let route = if self.route == "shm" { "tcp" } else { &self.route };
        Claimed { route: route.to_owned(), ..self.clone() }
    }

    /// Whether this row is one of them.
    pub fn takes(&self, row: &Row) -> bool {
        row.program == self.program
            && row.system == self.system
            && row.route == self.route
            && row.encoding == self.encoding
            && row.tasks == self.tasks
            && (self.sizes.0..=self.sizes.1).contains(&row.size)
            && row.metric == self.metric
            && row.task == self.task
    }

    /// Whether this row is of the same program under the same system, whatever its size or number of tasks.
    pub fn is_of_line(&self, row: &Row) -> bool {
        let own = (&self.program, &self.system, &self.route, &self.encoding);
        own == (&row.program, &row.system, &row.route, &row.encoding)
    }

    pub(super) fn is_ranged(&self) -> bool {
        self.sizes.0 != self.sizes.1
    }

    /// The size that is named, or the first of a range.
    pub(super) fn first_size(&self) -> u64 {
        self.sizes.0
    }

    /// Whether a job's launches give such rows, as far as can be known beforehand.
    pub fn is_given_by(&self, job: &Job) -> bool {
        let sizes = job.measure.sizes;
        // Size 0 is that of what has none, and of what is fitted to a whole curve.
        let sized =
            self.sizes.0 == 0 || sizes.iter().any(|size| (self.sizes.0..=self.sizes.1).contains(size));
        let by = job.system.is_none_or(|system| {
            self.system == system.family.name()
                && self.route == system.route
                && self.encoding == system.encoding.name()
        });
        self.program == job.measure.program && self.tasks == job.measure.tasks && sized && by
    }
}

/// Whether a claim still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval is where the claim puts it.
    Holds,
    /// None of it is.
    No,
    /// Some of it is.
    Unclear,
    /// There is a value, and the claim has no bounds.
    Beside,
    /// This session has no value.
    NoData,
}

impl Verdict {
    /// As people write it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "still holds",
            Verdict::No => "no longer",
            Verdict::Unclear => "unclear",
            Verdict::Beside => "",
            Verdict::NoData => "no data",
        }
    }
}

/// What came of one claim for one system.
#[derive(Debug)]
pub struct Judged<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// For whom.
    pub by: &'a str,
    /// The value, if this session has it.
    pub measured: Option<Measured>,
    /// The judgement.
    pub verdict: Verdict,
}

/// Holds a claim against rows, once for each system that it is asked of.
pub fn judge<'a>(claim: &'a Claim, rows: &[Row]) -> Vec<Judged<'a>> {
    let each = claim.today.iter().map(|today| {
        let measured = measure(today, rows);
        Judged { claim, by: &today.by, measured, verdict: verdict(claim, today, measured) }
    });
    each.collect()
}

fn verdict(claim: &Claim, today: &Today, measured: Option<Measured>) -> Verdict {
    let Some(Measured { low, high, launches, .. }) = measured else { return Verdict::NoData };
    if claim.from.is_none() && claim.to.is_none() {
        return Verdict::Beside;
    }
    // One launch has no interval that could lie across a bound; what is counted is the same in each.
    if launches < 2 && !today.is_counted() {
        return Verdict::Unclear;
    }
    let (from, to) = (claim.from.unwrap_or(f64::NEG_INFINITY), claim.to.unwrap_or(f64::INFINITY));
    if from <= low && high <= to {
        Verdict::Holds
    } else if high < from || to < low {
        Verdict::No
    } else {
        Verdict::Unclear
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::tests::row;
    use crate::systems::system::{Encoding, Family, System};

    const PVM: System = System::new(Family::Pvm, "direct", Encoding::Raw);

    fn claim(from: Option<f64>, to: Option<f64>, over: &[&str], under: &[&str]) -> Claim {
        let asked = |all: &[&str]| {
            all.iter().map(|one| Claimed::try_from((*one).to_owned()).expect("well made")).collect()
        };
        let today = Today { by: "PVM 3.4.6".into(), over: asked(over), under: asked(under), times: 1.0 };
        Claim { says: "more".into(), paper: "3".into(), unit: String::new(), from, to, today: vec![today] }
    }

    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for (size, one, four) in [(8, 1.0, 2.0), (1024, 1.0, 8.0), (4096, 10.0, 10.0)] {
            rows.push(row(&PVM, "blast", "throughput", size, &[one; 6]));
            rows.push(row(&PVM, "blast, 4 slaves", "throughput", size, &[four; 6]));
        }
        rows
    }

    const FOUR: &str = "blast, 4 slaves|PVM 3.4.6|direct|raw|2|8..1024|throughput";
    const ONE: &str = "blast|PVM 3.4.6|direct|raw|2|8..1024|throughput";

    #[test]
    fn claim_over_sizes_uses_geometric_mean() {
        let judged = |from, to| {
            let claim = claim(from, to, &[FOUR], &[ONE]);
            let judged = judge(&claim, &rows());
            (judged[0].verdict, judged[0].measured.expect("there are rows"))
        };
        let (verdict, measured) = judged(Some(3.0), Some(4.5));
        assert_eq!(verdict, Verdict::Holds);
        assert!((measured.value - 4.0).abs() < 1e-9 && measured.sizes == 2 && measured.launches == 6);
        assert_eq!(judged(Some(5.0), None).0, Verdict::No);
        assert_eq!(judged(None, None).0, Verdict::Beside);
    }

    #[test]
    fn claim_across_bound_is_unclear() {
        let mut rows = rows();
        for row in &mut rows {
            row.launches.iter_mut().zip([0.5, 1.0, 1.0, 1.0, 1.0, 2.0]).for_each(|(one, by)| *one *= by);
        }
        let claim = claim(Some(3.0), None, &[FOUR], &[ONE]);
        assert_eq!(judge(&claim, &rows)[0].verdict, Verdict::Unclear);
        assert_eq!(judge(&claim, &rows[..1])[0].verdict, Verdict::NoData);
        assert_eq!(judge(&claim, &[])[0].verdict, Verdict::NoData);
    }

    #[test]
    fn slope_claim_compares_two_sizes() {
        let at = |size| format!("blast|PVM 3.4.6|direct|raw|2|{size}|throughput");
        let claim = claim(Some(1.0), None, &[&at(4096)], &[&at(8)]);
        let judged = judge(&claim, &rows());
        assert_eq!(
            (judged[0].verdict, judged[0].measured.map(|m| m.value.round())),
            (Verdict::Holds, Some(10.0))
        );
    }

    /// What is asked of shared memory on one host is asked of TCP between hosts, once.
    #[test]
    fn shared_memory_claim_uses_tcp_over_hosts() {
        let ours = |route| format!("ring|Parvum|{route}|raw|2|8|half round trip");
        let mut claim = claim(Some(1.0), None, &[&ours("shm")], &[]);
        claim.today[0].by = "Parvum, shared memory".into();
        let mut tcp = claim.today[0].clone();
        tcp.over = vec![Claimed::try_from(ours("tcp")).expect("well made")];
        claim.today.push(tcp);
        let rows = [row(
            &System::new(Family::Parvum, "tcp", Encoding::Raw),
            "ring",
            "half round trip",
            8,
            &[5.0; 6],
        )];
        let over = claim.over_hosts();
        let judged = judge(&over, &rows);
        assert_eq!((judged.len(), judged[0].by, judged[0].verdict), (1, "Parvum, TCP", Verdict::Holds));
        assert_eq!(judge(&claim, &rows)[0].verdict, Verdict::NoData);
        assert!(claim.is_answered_over_hosts("Parvum, shared memory", &rows));
        assert!(!claim.is_answered_over_hosts("Parvum, shared memory", &[]));

        claim.today[0].under = vec![Claimed::try_from(FOUR.to_owned()).expect("well made")];
        assert_eq!(claim.over_hosts().today.len(), 1, "against PVM it is of one host");
        assert!(!claim.is_answered_over_hosts("PVM 3.4.6", &rows));
    }

    #[test]
    fn single_launch_confirms_counts_but_not_times() {
        for (metric, verdict) in [("throughput", Verdict::Unclear), ("messages", Verdict::Holds)] {
            let rows = [row(&PVM, "blast", metric, 8, &[5.0])];
            let claim = claim(Some(1.0), None, &[&format!("blast|PVM 3.4.6|direct|raw|2|8|{metric}")], &[]);
            assert_eq!(judge(&claim, &rows)[0].verdict, verdict, "{metric}");
        }
    }

    #[test]
    fn claim_names_without_rows_are_refused() {
        for bad in ["", "a|b|c", "a|b|c|d|two|8|m", "a|b|c|d|2|x..8|m", "a|b|c|d|2|8|m|1|2"] {
            assert!(Claimed::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
