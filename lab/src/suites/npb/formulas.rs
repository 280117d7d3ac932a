//! How many messages and bytes an iteration takes, by its algorithm: what the layer counts is held against it.

/// Groups into which SP cuts the lines of a block: `apps/npb/options.c`.
const GROUPS: u32 = 4;

/// Messages and bytes of all tasks in an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub messages: u64,
    pub bytes: u64,
}

/// The largest divisor that is at most the root of this degree.
fn divisor(tasks: u32, degree: u32) -> u32 {
    (1..=tasks)
        .take_while(|d| d.pow(degree) <= tasks)
        .filter(|d| tasks.is_multiple_of(*d))
        .last()
        .unwrap_or(1)
}

/// Blocks along x, y and z, as `apps/npb/grid.c` splits the cube.
pub fn blocks(program: &str, tasks: u32) -> [u32; 3] {
    let z = match program {
        "bt" => tasks,
        "sp" => divisor(tasks, 3),
        _ => 1,
    };
    let y = divisor(tasks / z, 2);
    [tasks / z / y, y, z]
}

/// What the algorithm sends with so many points each way; nothing is said of blocks thinner than the two layers that neighbours want.
pub fn sent(program: &str, n: u64, tasks: u32) -> Option<Sent> {
    let split = blocks(program, tasks).map(u64::from);
    if split.iter().any(|blocks| n / blocks < 2) {
        return None;
    }
    let [x, y, z] = split;
    let inner = n - 2;
    // Pairs of neighbours, and cuts through the whole cube.
    let pairs = (x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1);
    let cuts = x + y + z - 3;
    let (messages, bytes) = match program {
        "lu" => {
            let along = |cuts: u64, across: u64| cuts * (inner + across * (inner - 1));
            (2 * (along(x - 1, y) + along(y - 1, x)), 80 * inner * inner * cuts)
        }
        "sp" => (2 * u64::from(GROUPS) * pairs, 256 * inner * inner * cuts),
        _ => {
            let first = |block: u64| n * block / z;
            let own: u64 = (0..z).map(|block| (first(block + 1) - first(block)).pow(2)).sum();
            (2 * z * (z - 1), 120 * n * (n * n - own))
        }
    };
    Some(Sent { messages: messages + 2 * pairs, bytes: bytes + 160 * n * n * cuts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_is_split_as_in_paper() {
        assert_eq!(
            [1, 2, 4, 8].map(|tasks| blocks("lu", tasks)),
            [[1, 1, 1], [2, 1, 1], [2, 2, 1], [4, 2, 1]]
        );
        assert_eq!([2, 4, 8].map(|tasks| blocks("sp", tasks)), [[2, 1, 1], [2, 2, 1], [2, 2, 2]]);
        assert_eq!([4, 8].map(|tasks| blocks("bt", tasks)), [[1, 1, 4], [1, 1, 8]]);
    }

    /// The numbers of section 5.4 of the specification.
    #[test]
    fn class_a_message_counts_match_specification() {
        let of = |program, tasks| sent(program, 64, tasks).expect("blocks are thick");
        assert_eq!([of("lu", 4).messages, of("lu", 8).messages], [8 + 736, 20 + 1716]);
        assert_eq!([of("sp", 4).messages, of("sp", 8).messages], [8 + 8 * 4, 24 + 24 * 4]);
        assert_eq!([of("bt", 4).messages, of("bt", 8).messages], [6 + 24, 14 + 112]);
        let mb = |program, tasks| (of(program, tasks).bytes as f64 / 1e4).round() / 100.0;
        assert_eq!([mb("lu", 4), mb("lu", 8)], [1.93, 3.85]);
        assert_eq!([mb("sp", 4), mb("sp", 8), mb("bt", 4), mb("bt", 8)], [3.28, 4.92, 25.56, 32.11]);
        assert_eq!(sent("bt", 12, 8), None);
        assert_eq!(sent("lu", 12, 1), Some(Sent { messages: 0, bytes: 0 }));
    }
}
