//! The search in simulated histories.

use super::*;
use crate::history::change::tests::normal;
use parvum_seed::Random;

/// A history in which one commit changes the figure, and some commits cannot be built.
struct Simulated {
    /// The first commit with the other value.
    change: usize,
    /// By which factor.
    factor: f64,
    /// Noise of a value, as a share of it.
    noise: f64,
    broken: Vec<usize>,
    random: Random,
    builds: usize,
}

impl Bench for Simulated {
    fn build(&mut self, commit: usize) -> Result<(), Failure> {
        self.builds += 1;
        if self.broken.contains(&commit) { Err(Failure::Skip("it does not build".into())) } else { Ok(()) }
    }

    fn block(&mut self, commits: &[usize]) -> Result<Vec<f64>, Failure> {
        // The host is twice as slow in every third block.
        let state = if self.random.below(3) == 0 { 2.0 } else { 1.0 };
        let value = |commit: &usize| {
            assert!(!self.broken.contains(commit), "it was never built");
            let level = if *commit < self.change { 1.0 } else { self.factor };
            state * level * (1.0 + self.noise * normal(&mut self.random))
        };
        Ok(commits.iter().map(value).collect())
    }

    fn say(&mut self, _: &str) {}
}

/// A random history of so many commits after GOOD; BAD is the last, which builds.
fn history(random: &mut Random) -> (Simulated, usize) {
    let last = 1 + random.below(60);
    let change = 1 + random.below(last);
    let noise = 0.005 + 0.03 * random.fraction();
    // From three and a half times the noise on, in both directions.
    let size = 1.0 + noise * (3.5 + 6.0 * random.fraction());
    let factor = if random.below(2) == 0 { size } else { 1.0 / size };
    let broken = (1..last).filter(|_| random.below(6) == 0).collect();
    (Simulated { change, factor, noise, broken, random: Random::new(random.number()), builds: 0 }, last)
}

#[test]
fn commit_is_found_in_every_one_of_thousand_histories() {
    let mut random = Random::new(21);
    for number in 0..1000 {
        let (mut bench, last) = history(&mut random);
        let found = search(&mut bench, last).expect("it ends").expect("they differ");
        let (known, rest) = found.suspects.split_last().expect("a commit");
        assert!(found.suspects.contains(&bench.change), "{number}: {found:?}, not {}", bench.change);
        assert!(rest.iter().all(|commit| bench.broken.contains(commit)), "{number}: {found:?}");
        assert!(!bench.broken.contains(known), "{number}: {found:?}");
        assert!(found.skipped.iter().all(|(commit, _)| bench.broken.contains(commit)));
        assert_eq!(found.values[0] < found.values[1], bench.factor > 1.0, "{number}: {found:?}");
        assert_eq!(found.factor > 1.0, bench.factor > 1.0);
    }
}

#[test]
fn search_builds_few_commits() {
    let mut bench = Simulated {
        change: 777,
        factor: 1.3,
        noise: 0.01,
        broken: vec![],
        random: Random::new(1),
        builds: 0,
    };
    let found = search(&mut bench, 1000).expect("it ends").expect("they differ");
    assert_eq!((found.suspects, found.skipped.len(), found.unclear.len()), (vec![777], 0, 0));
    assert!(bench.builds <= 12, "{}", bench.builds);
}

#[test]
fn ends_that_do_not_differ_are_seldom_searched() {
    let mut random = Random::new(22);
    let searched = (0..200)
        .filter(|_| {
            let (mut bench, last) = history(&mut random);
            bench.factor = 1.0;
            let found = search(&mut bench, last).expect("it ends");
            if found.is_none() {
                assert_eq!(bench.builds, 2, "only GOOD and BAD");
            }
            found.is_some()
        })
        .count();
    assert!(searched <= 16, "{searched} of 200");
}

#[test]
fn unbuildable_ends_stop_search_and_unbuildable_middle_leaves_suspects() {
    let with = |broken: &[usize]| Simulated {
        change: 4,
        factor: 1.5,
        noise: 0.01,
        broken: broken.to_vec(),
        random: Random::new(2),
        builds: 0,
    };
    for end in [0, 6] {
        let why = search(&mut with(&[end]), 6);
        assert!(matches!(why, Err(Failure::Skip(why)) if why == "it does not build"));
    }
    let found = search(&mut with(&[3, 4]), 6).expect("it ends").expect("they differ");
    assert_eq!(found.suspects, [3, 4, 5]);
    let found = search(&mut with(&[1, 2, 3, 4, 5]), 6).expect("it ends").expect("they differ");
    assert_eq!(found.suspects, [1, 2, 3, 4, 5, 6]);
    assert_eq!(found.skipped.len(), 5);
}

#[test]
fn commit_in_the_middle_is_unclear() {
    /// Two equal changes, one after the other.
    struct Stairs(Random);
    impl Bench for Stairs {
        fn build(&mut self, _: usize) -> Result<(), Failure> {
            Ok(())
        }
        fn block(&mut self, commits: &[usize]) -> Result<Vec<f64>, Failure> {
            let level = |commit: usize| [1.0, 1.1, 1.21][commit] * (1.0 + 0.01 * normal(&mut self.0));
            Ok(commits.iter().copied().map(level).collect())
        }
        fn say(&mut self, _: &str) {}
    }
    let unclear = (0..20)
        .filter(|seed| {
            let found = search(&mut Stairs(Random::new(*seed)), 2).expect("it ends").expect("they differ");
            assert_eq!(found.suspects.len(), 1);
            found.unclear == [1]
        })
        .count();
    assert!(unclear >= 10, "{unclear} of 20");
}
