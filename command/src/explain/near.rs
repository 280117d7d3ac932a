//! How near two words are to each other.

/// How many letters have to be added, left out or changed to make one word the other.
pub fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    // A long word is near to none.
    for (above, letter) in one.chars().take(32).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (at, against) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *against);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[other.len()]
}
