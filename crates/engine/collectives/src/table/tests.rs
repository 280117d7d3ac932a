//! The table against what it is to say.

use super::*;
use crate::plans::hosts;

#[test]
fn last_rule_of_each_operation_matches_every_case() {
    for operation in Operation::ALL {
        let last = rules(operation).last().expect("a rule");
        assert!(last.members == (0, usize::MAX) && last.bytes == (0, usize::MAX) && last.only.is_empty());
        assert_eq!(last.to_string(), "else", "{operation:?}");
    }
}

/// A rule that no case reaches is a mistake: some member count, size and condition must choose it.
#[test]
fn rule_is_reached_by_some_case() {
    let rows = hosts::Hosts::new([0, 0, 1, 1]).expect("two hosts");
    let placed = hosts::Placement::new(crate::plans::Group { own: 0, size: 4 }, Some(&rows));
    assert_eq!(Case::of(placed, 8).hosts, Hosts::Shared { in_rows: true });
    let mut reached = std::collections::HashSet::new();
    let sizes = [
        0,
        1,
        8,
        64,
        255,
        1024,
        1025,
        4096,
        4097,
        65_536,
        65_537,
        262_144,
        262_145,
        524_288,
        1 << 20,
        (1 << 20) + 1,
    ];
    let places =
        [Hosts::One, Hosts::Apart, Hosts::Shared { in_rows: true }, Hosts::Shared { in_rows: false }];
    for operation in Operation::ALL {
        for members in [1, 2, 3, 4, 5, 8, 16, 64, 65, 100] {
            for (bytes, unit) in sizes.into_iter().flat_map(|bytes| [(bytes, 1), (bytes, 1 << 20)]) {
                for (hosts, order) in
                    places.into_iter().flat_map(|place| [(place, Order::Members), (place, Order::Exact)])
                {
                    for (segment, rounds, is_regular) in [
                        (true, None, true),
                        (false, Some(true), true),
                        (false, Some(false), true),
                        (false, None, false),
                    ] {
                        let (has_segment, has_open_memory) = (segment && hosts == Hosts::One, segment);
                        let case = Case {
                            members,
                            bytes,
                            unit,
                            has_segment,
                            has_open_memory,
                            hosts,
                            order,
                            is_regular,
                            rounds,
                        };
                        let taken = rule(operation, &case);
                        let place = rules(operation).iter().position(|rule| std::ptr::eq(rule, taken));
                        reached.insert((operation, place));
                    }
                }
            }
        }
    }
    for operation in Operation::ALL {
        for place in 0..rules(operation).len() {
            let rule = &rules(operation)[place];
            assert!(reached.contains(&(operation, Some(place))), "{operation:?}: nothing reaches {rule}");
        }
    }
}

/// Bounds that users see in the documentation: a change of one is a change of the page as well.
#[test]
fn algorithm_bounds_equal_documentation() {
    use Algorithm::*;
    let kib = |n: usize| n << 10;
    let blocking = |operation, members, bytes| choose(operation, &Case::in_segment(members, bytes));
    let messages = |operation, members, bytes| choose(operation, &Case::new(members, bytes));
    assert_eq!(blocking(Operation::Broadcast, 8, kib(64)), SharedSegment);
    assert_eq!(messages(Operation::Broadcast, 8, kib(64)), Binomial);
    assert_eq!(blocking(Operation::Broadcast, 8, kib(1)), BroadcastRing);
    assert_eq!(blocking(Operation::Broadcast, 8, kib(1) + 1), Straight);
    assert_eq!(blocking(Operation::Broadcast, 8, kib(4) + 1), SharedSegment);
    assert_eq!(blocking(Operation::Broadcast, 2, kib(64)), Straight);
    assert_eq!(messages(Operation::Broadcast, 8, kib(512)), ScatterAllgather);
    assert_eq!(blocking(Operation::Allreduce, 2, kib(64)), SharedSegment);
    assert_eq!(blocking(Operation::Allreduce, 2, kib(64) + 1), OpenMemory);
    assert_eq!(blocking(Operation::Allreduce, 4, kib(1024)), SharedSegment);
    assert_eq!(blocking(Operation::Allreduce, 4, kib(1024) + 1), OpenMemory);
    assert_eq!(messages(Operation::Allreduce, 4, kib(64)), SharedOut);
    assert_eq!(blocking(Operation::Alltoall, 4, kib(256)), SharedSegment);
    assert_eq!(blocking(Operation::Alltoall, 4, kib(256) + 4), OpenMemory);
    assert_eq!(blocking(Operation::Alltoall, 2, kib(1024)), Pairwise);
    assert_eq!(blocking(Operation::Reduce, 2, kib(128)), Straight);
    assert_eq!(blocking(Operation::Reduce, 2, kib(1024)), OpenMemory);
    assert_eq!(blocking(Operation::Scatter, 2, 512), BroadcastRing);
    assert_eq!(blocking(Operation::Scatter, 4, 257), Straight);
    assert_eq!(messages(Operation::Scatter, 4, 8), Straight);
    assert_eq!(blocking(Operation::ReduceScatter, 8, kib(64)), SharedSegment);
    assert_eq!(blocking(Operation::ReduceScatter, 8, kib(64) + 8), OpenMemory);
    assert_eq!(messages(Operation::ReduceScatter, 8, 64), Straight);
    assert_eq!(blocking(Operation::Reduce, 3, kib(64) + 1), OpenMemory);
    assert_eq!(blocking(Operation::Barrier, 1, 0), Dissemination);
    let apart = Case { hosts: Hosts::Shared { in_rows: true }, ..Case::new(8, kib(64)) };
    assert_eq!(choose(Operation::Broadcast, &apart), TwoLevels);
}

#[test]
fn conditions_print_in_plain_words() {
    let said: Vec<String> = rules(Operation::Broadcast).iter().map(Rule::to_string).collect();
    assert_eq!(
        said,
        [
            "2 to 64 members, up to 1 KiB, one host, blocking call",
            "3 to 64 members, over 4 KiB, one host, blocking call",
            "up to 2 members",
            "3 to 64 members, up to 4 KiB",
            "several hosts with several members",
            "8 members or more, 512 KiB or more, an element for each member",
            "else"
        ]
    );
}
