//! Changes of simulated series, and of series in which Apache Otava has looked for changes.

use super::{Change, SEGMENT, best, by_orders};
use parvum_seed::Random;

/// A normal deviate (Box and Muller).
pub(crate) fn normal(random: &mut Random) -> f64 {
    let (radius, angle) = (1.0 - random.fraction(), random.fraction());
    (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
}

/// Noise of one sigma around levels; each level has its number of values.
fn series(levels: &[(f64, usize)], random: &mut Random) -> Vec<f64> {
    let values = levels.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
    values.map(|level| level + normal(random)).collect()
}

/// With fewer orders than users get, so that the tests are quick.
fn changes(values: &[f64], seed: u64) -> Vec<Change> {
    by_orders(values, seed, 499)
}

/// Whether exactly these places are found, within one.
fn finds(values: &[f64], places: &[usize]) -> bool {
    let found = changes(values, 7);
    found.len() == places.len()
        && found.iter().zip(places).all(|(change, place)| change.at.abs_diff(*place) <= 1)
}

#[test]
fn noise_has_changes_in_at_most_five_of_a_hundred_series() {
    let mut random = Random::new(1);
    let wrong = |random: &mut Random, count| !finds(&series(&[(100.0, count)], random), &[]);
    for count in [12, 40] {
        let wrong = (0..200).filter(|_| wrong(&mut random, count)).count();
        assert!(wrong <= 10, "{wrong} of 200 series of {count} values");
    }
    // Skewed noise, as times have.
    let skewed =
        |random: &mut Random| -> Vec<f64> { (0..40).map(|_| 10.0 + normal(random).exp().powi(2)).collect() };
    let wrong = (0..200).filter(|_| !finds(&skewed(&mut random), &[])).count();
    assert!(wrong <= 10, "{wrong} of 200 skewed series");
}

#[test]
fn step_of_three_sigma_is_found_within_one_place() {
    let mut random = Random::new(2);
    let found = (0..100)
        .filter(|number| {
            let at = SEGMENT + number % 20;
            let values = series(&[(100.0, at), (103.0, 30 - at)], &mut random);
            // A second change by chance is another matter.
            changes(&values, 7).iter().any(|change| change.at.abs_diff(at) <= 1)
        })
        .count();
    assert!(found >= 95, "{found} of 100");
}

#[test]
fn two_steps_are_both_found() {
    let mut random = Random::new(3);
    for (second, what) in [(112.0, "both up"), (100.0, "up and back")] {
        let mut more = 0;
        let found = (0..100)
            .filter(|_| {
                let values = series(&[(100.0, 15), (106.0, 15), (second, 15)], &mut random);
                let found = changes(&values, 7);
                more += usize::from(found.len() > 2);
                [15, 30].iter().all(|place| found.iter().any(|one| one.at.abs_diff(*place) <= 1))
            })
            .count();
        // Each of the three segments is tested at five of a hundred.
        assert!(found >= 97 && more <= 15, "{what}: {found} of 100, a third change in {more}");
    }
}

#[test]
fn best_place_has_largest_energy_distance_by_definition() {
    let mut random = Random::new(5);
    let mean = |left: &[f64], right: &[f64], pairs: f64| {
        let sum: f64 = left.iter().flat_map(|a| right.iter().map(move |b| (a - b).abs())).sum();
        sum / pairs
    };
    for _ in 0..20 {
        let values = series(&[(100.0, 9), (101.0, 9), (99.0, 6)], &mut random);
        let mut most = (0, 0.0);
        for end in 2 * SEGMENT..=values.len() {
            for at in SEGMENT..=end - SEGMENT {
                let (left, right) = (&values[..at], &values[at..end]);
                let (n, m) = (left.len() as f64, right.len() as f64);
                let within = mean(left, left, n * (n - 1.0)) + mean(right, right, m * (m - 1.0));
                let distance = n * m / (n + m) * (2.0 * mean(left, right, n * m) - within);
                if distance > most.1 {
                    most = (at, distance);
                }
            }
        }
        let (at, distance) = best(&values, &mut Vec::new()).expect("values differ");
        assert!(at == most.0 && (distance - most.1).abs() < 1e-9, "{at} {distance} {most:?}");
    }
}

#[test]
fn outliers_alone_are_no_changes() {
    let mut random = Random::new(4);
    let wrong = (0..100)
        .filter(|number| {
            let mut values = series(&[(100.0, 30)], &mut random);
            let at = random.below(29);
            values[at] += 50.0;
            // In every second series the next run was disturbed too.
            values[at + 1] += if number % 2 == 0 { 30.0 } else { 0.0 };
            !finds(&values, &[])
        })
        .count();
    assert!(wrong <= 5, "{wrong} of 100");
}

#[test]
fn changes_have_medians_of_their_segments() {
    let values: Vec<f64> =
        [10.0, 11.0, 12.0].repeat(4).into_iter().chain([20.0, 21.0, 22.0].repeat(4)).collect();
    let [change] = changes(&values, 1)[..] else { panic!("{:?}", changes(&values, 1)) };
    assert_eq!((change.at, change.before, change.after), (12, 11.0, 21.0));
    assert!(change.p < 0.01, "{change:?}");
}

#[test]
fn short_constant_and_broken_series_have_no_changes() {
    for values in [vec![], vec![1.0; 9], vec![1.0, 2.0, 9.0, 9.0], vec![3.0; 60]] {
        assert_eq!(changes(&values, 1), []);
    }
    let mut broken = [vec![1.0; 10], vec![2.0; 10]].concat();
    assert_eq!(changes(&broken, 1).len(), 1);
    broken[3] = f64::NAN;
    assert_eq!(changes(&broken, 1), []);
}

/// Series with what Apache Otava finds in them. `series_for_otava.py` makes the file.
const OTAVA: &str = include_str!("otava.txt");

#[test]
fn apache_otava_finds_the_same_changes() {
    let lines: Vec<&str> = OTAVA.lines().filter(|line| !line.starts_with('#')).collect();
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace().map(|word| word.parse().expect("a number")).collect()
    };
    let same = lines
        .iter()
        .filter(|line| {
            let (places, values) = line.split_once(':').expect("places: values");
            let places: Vec<usize> = numbers(places).into_iter().map(|place| place as usize).collect();
            finds(&numbers(values), &places)
        })
        .count();
    assert_eq!(lines.len(), 20);
    assert!(same >= 18, "{same} of 20");
}
