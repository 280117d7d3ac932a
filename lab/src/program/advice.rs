//! The answers: which system to use, what limits the program, and what more processes would do.

use super::measured::Measured;
use super::profile::{Process, Profile, is_start};
use super::systems::Named;
use super::{Asked, Judged};
use crate::stats::goals::digits;
use crate::stats::paired::Verdict;

/// A rank that computes so many times the mean is late.
const LATE: f64 = 1.05;
/// A share of all time that limits a program.
const LARGE: f64 = 0.2;

/// Which system to use, in a sentence for each number of processes, or why that cannot be said. Equal answers are one.
pub fn which(judged: &Judged) -> Vec<String> {
    let mut answers: Vec<(Vec<u32>, String)> = Vec::new();
    for processes in judged.asked.processes.iter().copied() {
        let answer = which_of(judged, processes);
        match answers.iter_mut().find(|one| one.1 == answer) {
            Some(one) => one.0.push(processes),
            None => answers.push((vec![processes], answer)),
        }
    }
    answers.into_iter().map(|(numbers, answer)| format!("{}: {answer}", counted(&numbers))).collect()
}

/// Several numbers of processes, in words.
fn counted(numbers: &[u32]) -> String {
    match numbers {
        [one] => plural(*one),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(u32::to_string).collect();
            format!("{} and {}", first.join(", "), plural(*last))
        }
        [] => String::new(),
    }
}

/// A number of processes, in words.
pub fn plural(processes: u32) -> String {
    if processes == 1 { "1 process".into() } else { format!("{processes} processes") }
}

fn which_of(judged: &Judged, processes: u32) -> String {
    let (measured, names) = (&judged.measured, &judged.names);
    if measured.left_out.contains(&processes) {
        return "not run, the time was over; --budget S gives more".into();
    }
    let name = |way: usize| names[way].name.as_str();
    let failed: Vec<usize> =
        (0..names.len()).filter(|way| measured.failure(processes, *way).is_some()).collect();
    let failures = failures_of(judged, processes, &failed);
    // Outputs first: the time of a wrong result is worth nothing.
    let outputs = measured.outputs(processes);
    if let Some(one) = outputs.differing.first() {
        return format!(
            "find out first which output is right. {} {}, which {} prints; --check COMMAND judges outputs{failures}",
            name(one.way),
            one.what,
            name(one.other)
        );
    }
    let mut times: Vec<(usize, f64)> = (0..names.len())
        .filter(|way| !failed.contains(way))
        .filter_map(|way| Some((way, measured.time(processes, way)?.median)))
        .collect();
    times.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(((best, _), rest)) = times.split_first() else {
        return match failed.len() {
            0 => "no system ran the program: the time was over; --budget S gives more".into(),
            _ => format!("no system ran the program without failure{failures}"),
        };
    };
    if rest.is_empty() {
        return match failed.is_empty() {
            true => format!("only {} is there; `./x peers` installs others", name(*best)),
            false => format!("use {}, which alone finished{failures}", name(*best)),
        };
    }
    let verdicts: Vec<(usize, Verdict)> =
        rest.iter().map(|(way, _)| (*way, measured.verdict(processes, *way, *best))).collect();
    let has_few = verdicts.iter().any(|one| one.1 == Verdict::TooFew);
    if has_few && measured.disturbed > 0 {
        return format!(
            "this run cannot tell, because the computer changed its speed or other programs used it in {} blocks; run it again when the \
             computer is idle{failures}",
            measured.disturbed
        );
    }
    if has_few {
        return format!(
            "{} came first, but there are too few runs to say more; --budget S gives more{failures}",
            name(*best)
        );
    }
    let same: Vec<&str> =
        verdicts.iter().filter(|one| one.1 != Verdict::Slower).map(|one| name(one.0)).collect();
    if same.is_empty() {
        let (second, _) = verdicts[0];
        let ratios = measured.ratios(processes, second, *best);
        let ratio = crate::stats::statistics::median(&ratios).unwrap_or(1.0);
        return format!("use {}; {} takes {}x as long{failures}", name(*best), name(second), digits(ratio));
    }
    format!("{} and {} are the same within noise{failures}", name(*best), same.join(" and "))
}

/// The systems under which the program failed, in words that follow an answer.
fn failures_of(judged: &Judged, processes: u32, failed: &[usize]) -> String {
    let (mut always, mut words) = (Vec::new(), String::new());
    for way in failed {
        let name = judged.names[*way].name.as_str();
        match judged.measured.worked_count(processes, *way) {
            0 => always.push(name),
            1 => words += &format!("; it failed under {name} after one good run"),
            count => words += &format!("; it failed under {name} after {count} good runs"),
        }
    }
    match always.len() {
        0 => words,
        count if count == judged.names.len() => format!("; it failed under every system{words}"),
        _ => format!("; the program failed under {}{words}", always.join(" and ")),
    }
}

/// Sentences about the outputs, and about processes and files that runs left behind.
pub fn remarks(judged: &Judged) -> Vec<String> {
    let mut remarks = Vec::new();
    for processes in judged.asked.processes.iter().copied() {
        let varying = judged.measured.outputs(processes).varying;
        if let (Some([one, other]), None) = (varying, &judged.asked.check) {
            remarks.push(format!(
                "The output changes from run to run under the same system: {one}, then {other}. Numbers in such lines were not compared; \
                 --check COMMAND judges the output."
            ));
            break;
        }
    }
    if judged.asked.python.is_none() {
        for (name, profile) in judged.names.iter().zip(&judged.profiles) {
            if let Err(why) = profile {
                remarks.push(format!("The page does not show where {} spends its time: {why}.", name.name));
            }
        }
    }
    for (processes, way, names) in &judged.measured.left_behind {
        remarks.push(format!(
            "Under {} with {}, the program left processes behind, and `parvum compare` ended them: {names}.",
            judged.names[*way].name,
            plural(*processes)
        ));
    }
    remarks
}

/// Why the program failed under every system, in one line.
pub fn all_failed(asked: &Asked, names: &[Named], measured: &Measured, absent: &[String]) -> String {
    /// The rest of a failure is on nobody's screen.
    const SHOWN: usize = 300;
    let mut causes: Vec<(Vec<&str>, String)> = Vec::new();
    for processes in &asked.processes {
        for (way, name) in names.iter().enumerate() {
            let Some(why) = measured.failure(*processes, way).and_then(|run| run.failure.clone()) else {
                continue;
            };
            let why: String = format!("{}: {why}", plural(*processes)).chars().take(SHOWN).collect();
            match causes.iter_mut().find(|one| one.1 == why) {
                Some(one) => one.0.push(&name.name),
                None => causes.push((vec![&name.name], why)),
            }
        }
    }
    let is_unfinished = |why: &String| why.contains("not finished") || why.contains("DEADLOCK");
    let help = if causes.iter().any(|one| is_unfinished(&one.1)) {
        "; help: --budget S gives a long program more time; `parvum why` explains a program that hangs"
    } else if asked.input.is_none() {
        "; help: if the program reads standard input, --input FILE gives it"
    } else {
        ""
    };
    let causes: Vec<String> =
        causes.into_iter().map(|(names, why)| format!("{}, {why}", names.join(" and "))).collect();
    // With two systems a fault is the program's; with one the other systems would show whose it is.
    let absent = match absent {
        all if names.len() == 1 => format!("; not compared: {}", all.join("; ")),
        _ => String::new(),
    };
    format!("the program finished under no system: {}{absent}{help}", causes.join("; "))
}

/// A sentence about the limit of the program under one system.
pub fn limits(profile: &Profile) -> String {
    let lived = profile.lived();
    let waits = profile.calls().into_iter().find(|call| call.3 && !is_start(&call.0));
    let sums: [(f64, &str); 3] = [
        (profile.ranks.iter().map(Process::computing).sum(), "computing"),
        (profile.ranks.iter().map(|rank| rank.in_calls(true)).sum(), "waiting"),
        (profile.ranks.iter().map(|rank| rank.in_calls(false)).sum(), "sending"),
    ];
    let percent = |seconds: f64| format!("{:.0} %", 100.0 * seconds / lived);
    let starting: f64 = profile.ranks.iter().map(Process::starting).sum();
    if starting > LARGE * lived {
        return format!(
            "{} of the time passes in MPI_Init and MPI_Finalize: the program is short",
            percent(starting)
        );
    }
    let Some((name, seconds, calls, _)) = waits.filter(|one| one.1 > LARGE * lived) else {
        let (most, what) =
            sums.into_iter().fold((0.0, ""), |best, one| if one.0 > best.0 { one } else { best });
        return format!("{} of the time is {what}; no call of MPI takes a large share", percent(most));
    };
    let mean = sums[0].0 / profile.ranks.len() as f64;
    let late: Vec<&Process> =
        profile.ranks.iter().filter(|rank| rank.computing() > LATE * mean && mean > 0.0).collect();
    let whole = format!("{} of the time is in {name} ({calls} calls)", percent(seconds));
    match late.as_slice() {
        [] => format!(
            "{whole}; all ranks compute about as long, so the call itself or its order costs the time"
        ),
        late => {
            let most = late.iter().map(|rank| rank.computing() / mean - 1.0).fold(0.0, f64::max);
            let names: Vec<String> = late
                .iter()
                .take(4)
                .map(|rank| rank.rank.map_or("?".into(), |rank| rank.to_string()))
                .collect();
            let (word, verb) = if late.len() == 1 { ("rank", "computes") } else { ("ranks", "compute") };
            format!(
                "{whole}; {word} {} {verb} up to {:.0} % longer than the mean, and the others wait",
                names.join(", "),
                100.0 * most
            )
        }
    }
}

/// Seconds that `factor` times as many processes would take: T(n) = a + b / n + c n, fitted to what was measured. Nothing with fewer than three
/// numbers of processes, or if the fit is worse than a tenth anywhere.
pub fn predicted(times: &[(u32, f64)], factor: u32) -> Option<(u32, f64)> {
    let last = times.last()?.0;
    if times.len() < 3 {
        return None;
    }
    let terms = |n: f64| [1.0, 1.0 / n, n];
    let mut normal = [[0.0; 4]; 3];
    for (n, seconds) in times {
        let row = terms(f64::from(*n));
        // Relative errors count: long and short times alike.
        let weight = 1.0 / (seconds * seconds);
        for i in 0..3 {
            for j in 0..3 {
                normal[i][j] += weight * row[i] * row[j];
            }
            normal[i][3] += weight * row[i] * seconds;
        }
    }
    let [a, b, c] = solved(normal)?;
    let at =
        |n: f64| terms(n).iter().zip([a, b, c.max(0.0)]).map(|(term, factor)| term * factor).sum::<f64>();
    let fits = times.iter().all(|(n, seconds)| (at(f64::from(*n)) / seconds - 1.0).abs() < 0.1);
    let wanted = last * factor;
    let seconds = at(f64::from(wanted));
    (fits && seconds > 0.0).then_some((wanted, seconds))
}

/// Three equations, by elimination.
fn solved(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let pivot = (column..3).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let lead = rows[column];
        if lead[column].abs() < 1e-12 {
            return None;
        }
        for (at, row) in rows.iter_mut().enumerate() {
            if at != column {
                let factor = row[column] / lead[column];
                row.iter_mut().zip(lead).for_each(|(value, of_lead)| *value -= factor * of_lead);
            }
        }
    }
    Some([rows[0][3] / rows[0][0], rows[1][3] / rows[1][1], rows[2][3] / rows[2][2]])
}

#[cfg(test)]
mod tests {
    use super::super::profile::tests::rank;
    use super::*;

    #[test]
    fn numbers_of_processes_are_listed() {
        assert_eq!(counted(&[1]), "1 process");
        assert_eq!(counted(&[1, 2, 4]), "1, 2 and 4 processes");
    }

    #[test]
    fn limits_name_the_call_and_the_late_rank() {
        let ranks = vec![rank(0, 6.0), rank(1, 6.0), rank(2, 6.0), rank(3, 1.0)];
        let said = limits(&Profile { processes: 4, ranks });
        assert_eq!(
            said,
            "48 % of the time is in MPI_Allreduce (40 calls); rank 3 computes up to 81 % longer than the mean, and the others wait"
        );
    }

    #[test]
    fn limits_say_that_a_program_computes() {
        let ranks = vec![rank(0, 0.5), rank(1, 0.5)];
        let said = limits(&Profile { processes: 2, ranks });
        assert_eq!(said, "89 % of the time is computing; no call of MPI takes a large share");
    }

    #[test]
    fn prediction_follows_the_fit_and_refuses_a_bad_one() {
        let times: Vec<(u32, f64)> = [1u32, 2, 4, 8].map(|n| (n, 1.0 + 16.0 / f64::from(n))).into();
        let (processes, seconds) = predicted(&times, 2).expect("a fit");
        assert!(processes == 16 && (seconds - 2.0).abs() < 1e-6, "{seconds}");
        assert_eq!(predicted(&times[..2], 2), None);
        assert_eq!(predicted(&[(1, 1.0), (2, 9.0), (4, 1.0), (8, 9.0)], 2), None);
    }
}
