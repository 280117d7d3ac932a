//! Runs the PVM and MPI programs that Debian ships, as they are, once on PVM 3.4.6 or MPICH and once on Parvum, and compares
//! what they print and how they end.
//!
//! `./x drop-in` runs all of them, `./x drop-in NAME ...` those whose names begin so. Each runs on a machine of its
//! own, both machines are gone when it is over, and so is everything that was started on them. `./x drop-in --speed`
//! measures instead.

#![forbid(unsafe_code)]

mod compare;
mod debian;
mod faults;
mod machines;
mod mpi;
mod normal;
mod speed;
mod steps;
mod symbols;
mod table;

use machines::{Kind, Place};
use parvum_tests::{Lack, skip};
use std::process::ExitCode;
use std::time::Duration;
use steps::Outcome;
use table::Case;

/// On what a program runs.
#[derive(Clone, Copy)]
enum Side {
    /// PVM or MPICH, whichever it was made for.
    Peer,
    Parvum,
}

/// What the command line asks for.
struct Wishes {
    /// Beginnings of names; none: all.
    names: Vec<String>,
    /// Only on this side, to see what is printed there.
    only: Option<Side>,
    /// Print what both sides said even when it is alike.
    show: bool,
}

impl Wishes {
    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wish| name.starts_with(wish.as_str()))
    }
}

const USAGE: &str =
    "usage: drop-in [--list] [--show] [--only peer|parvum] [NAME ...]\n       drop-in --speed [ROUNDS]";

fn main() -> ExitCode {
    let mut wishes = Wishes { names: Vec::new(), only: None, show: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--list" => {
                cases().for_each(|case| println!("{:<22} {}", case.name, case.line()));
                return ExitCode::SUCCESS;
            }
            "--show" => wishes.show = true,
            "--speed" => match words.next().map_or(Ok(5), |rounds| rounds.parse()) {
                Ok(rounds @ 1..=100) => return hurry(rounds),
                _ => return refuse(USAGE),
            },
            "--only" => match words.next().as_deref() {
                Some("peer") => wishes.only = Some(Side::Peer),
                Some("parvum") => wishes.only = Some(Side::Parvum),
                _ => return refuse(USAGE),
            },
            _ if word.starts_with('-') => return refuse(USAGE),
            _ => wishes.names.push(word),
        }
    }
    let known = |wish: &String| {
        let mut names = cases().map(|case| case.name).chain([table::FAULTS.name]);
        names.any(|name| name.starts_with(wish.as_str()))
    };
    if let Some(unknown) = wishes.names.iter().find(|wish| !known(wish)) {
        return refuse(&format!("drop-in: no case is called {unknown}; --list shows them"));
    }
    match run(&wishes) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => refuse(&format!("drop-in: {why}")),
    }
}

/// How long programs take on both.
fn hurry(rounds: u32) -> ExitCode {
    let done = debian::ready(Kind::Pvm).and_then(|()| {
        let place = Place::make()?;
        place.compile_for_pvm()?;
        speed::compare(&place, rounds)
    });
    done.map_or_else(|why| refuse(&format!("drop-in: {why}")), |()| ExitCode::SUCCESS)
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::from(2)
}

/// All cases.
fn cases() -> impl Iterator<Item = &'static Case> {
    table::CASES.iter().chain(mpi::CASES)
}

/// Of the peers that the wishes ask for, those that are to be had.
fn peers(wishes: &Wishes) -> Vec<Kind> {
    let asked = |peer: &Kind| {
        let faults = *peer == Kind::Pvm && wishes.wants("faults");
        faults || cases().any(|case| case.peer == *peer && wishes.wants(case.name))
    };
    let is_ready = |peer: &Kind| debian::ready(*peer).map_err(|why| skip(Lack::Peers, why)).is_ok();
    [Kind::Pvm, Kind::Mpich].into_iter().filter(asked).filter(is_ready).collect()
}

/// Whether everything is as it should be.
fn run(wishes: &Wishes) -> Result<bool, String> {
    let peers = peers(wishes);
    let place = Place::make()?;
    let mut good = true;
    for peer in &peers {
        match peer {
            Kind::Mpich => mpi::compile(&place)?,
            _ => place.compile_for_pvm()?,
        }
        if wishes.names.is_empty() && wishes.only.is_none() {
            good &= symbols::check(*peer, &place);
        }
    }
    if wishes.only.is_none() && wishes.wants("faults") && peers.contains(&Kind::Pvm) {
        good &= faults::check(&place)?;
    }
    let (mut alike, mut known, mut slower) = (0, 0, 0);
    println!("{:<22} {:>9} {:>9}", "program", "peer", "Parvum");
    let wanted = |case: &&Case| wishes.wants(case.name) && peers.contains(&case.peer);
    for case in cases().filter(wanted) {
        if let Some(missing) = debian::missing(case) {
            skip(Lack::Peers, format!("{}: {missing} is not installed", case.name));
            continue;
        }
        if let Some(side) = wishes.only {
            let kind = if matches!(side, Side::Peer) { case.peer } else { Kind::Parvum };
            let outcome = on(kind, &place, case)?;
            println!("{:<22} {}", case.name, seconds(outcome.took));
            println!("{}", compare::indented(&outcome));
            continue;
        }
        let (mut theirs, mut ours) = (on(case.peer, &place, case)?, on(Kind::Parvum, &place, case)?);
        let mut differences = compare::differences(case, &theirs, &ours);
        // Programs race with their own tasks, on both systems: what differs must differ twice.
        let again = !differences.is_empty() && case.known.is_none();
        if again {
            println!("{:<22} differed once:\n{differences}", case.name);
            (theirs, ours) = (on(case.peer, &place, case)?, on(Kind::Parvum, &place, case)?);
            differences = compare::differences(case, &theirs, &ours);
        }
        slower += usize::from(ours.took > theirs.took + Duration::from_millis(2));
        let verdict = match (differences.is_empty(), case.known) {
            (true, None) if again => "alike at the second try".to_owned(),
            (true, None) => "alike".to_owned(),
            (false, Some(why)) => format!("differs, as it should: {why}"),
            (true, Some(_)) => "ALIKE, but the table says that it differs: mend the table".to_owned(),
            (false, None) => "DIFFERS".to_owned(),
        };
        println!("{:<22} {:>9} {:>9}  {verdict}", case.name, seconds(theirs.took), seconds(ours.took));
        match (differences.is_empty(), case.known.is_some()) {
            (true, false) => alike += 1,
            (false, true) => known += 1,
            _ => {
                good = false;
                println!("{differences}");
            }
        }
        if wishes.show {
            let peer = case.peer.name();
            println!(
                "  on {peer}:\n{}\n  on Parvum:\n{}",
                compare::indented(&theirs),
                compare::indented(&ours)
            );
        }
    }
    if wishes.only.is_none() {
        println!("{alike} alike, {known} different for a known reason; {slower} slower on Parvum");
    }
    Ok(good)
}

/// Runs one case on a fresh machine.
fn on(kind: Kind, place: &Place, case: &'static Case) -> Result<Outcome, String> {
    let machine = place.start(kind)?;
    let outcome = steps::play(case, &machine, place);
    machine.stop()?;
    outcome
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}
