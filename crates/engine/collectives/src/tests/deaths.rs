//! One member dies, at any of its messages or before the first. The others end, and name the dead member if they lack
//! data.

use super::algorithms::{UNIT, chain, combined, content, sum};
use super::simulated::{Chance, Ended, plans_of, run};
use super::two_levels::{cyclic, rows};
use crate::Fault;
use crate::plans::hosts::Hosts;
use crate::plans::{
    Group, Order, Plan, allgather, allreduce, alltoall, barrier, broadcast, gather, in_a_row, reduce,
    reduce_scatter, scan, scatter, two_level,
};

const LENGTH: usize = 7 * UNIT;

/// Two ways in which members live on hosts; two have one each.
fn on_hosts(size: usize) -> (Hosts, Hosts) {
    let apart = || Hosts::new(0..size as u32).expect("several hosts");
    (rows(size, 3).unwrap_or_else(apart), cyclic(size, 2).unwrap_or_else(apart))
}

/// Plans with a result that all have, or miss.
fn for_all(group: Group) -> Vec<Plan> {
    let parts = in_a_row((0..group.size).map(|_| LENGTH));
    let own = group.own;
    let (rows, cyclic) = on_hosts(group.size);
    vec![
        two_level::meet(own, &rows),
        two_level::allreduce(own, &rows, (LENGTH, UNIT), Order::Any),
        two_level::allreduce(own, &cyclic, (LENGTH, UNIT), Order::Exact),
        two_level::allgather(own, &cyclic, &parts),
        barrier::dissemination(group),
        allreduce::straight(group, LENGTH),
        allreduce::doubling(group, LENGTH),
        allreduce::halving(group, LENGTH, UNIT, Order::Members),
        allreduce::ring(group, LENGTH, UNIT),
        allgather::straight(group, &parts),
        allgather::ring(group, &parts),
        allgather::bruck(group, &parts),
        allgather::doubling(group, &parts),
        alltoall::straight(group, &parts, &parts),
        alltoall::pairwise(group, &parts, &parts, 1),
        alltoall::pairwise(group, &parts, &parts, 3),
        alltoall::bruck(group, LENGTH),
        reduce_scatter::straight(group, &parts),
        reduce_scatter::pairwise(group, &parts, Order::Any),
        reduce_scatter::ring(group, &parts),
    ]
}

/// Plans whose result some have without the others.
fn for_some(group: Group) -> Vec<Plan> {
    let parts = in_a_row((0..group.size).map(|_| LENGTH));
    let root = group.size / 2;
    let own = group.own;
    let (rows, cyclic) = on_hosts(group.size);
    vec![
        two_level::broadcast(own, &cyclic, root, LENGTH),
        two_level::reduce(own, &rows, root, (LENGTH, UNIT), Order::Members),
        two_level::reduce(own, &cyclic, root, (LENGTH, UNIT), Order::Exact),
        broadcast::straight(group, root, LENGTH),
        broadcast::binomial(group, root, LENGTH),
        broadcast::scattered(group, root, LENGTH),
        broadcast::pipelined(group, root, LENGTH, 9),
        scatter::straight(group, root, &parts, LENGTH),
        scatter::binomial(group, root, LENGTH),
        gather::straight(group, root, &parts, LENGTH),
        gather::binomial(group, root, LENGTH),
        reduce::straight(group, root, LENGTH, Order::Members),
        reduce::binomial(group, root, LENGTH, Order::Any),
        reduce::binomial(group, root, LENGTH, Order::Members),
        reduce::halving(group, root, LENGTH, UNIT, Order::Any),
        scan::doubling(group, LENGTH),
        scan::chained(group, LENGTH),
        scan::exclusive_doubling(group, LENGTH),
        scan::exclusive_chained(group, LENGTH),
    ]
}

fn run_one(
    plan: &dyn Fn(Group) -> Plan,
    size: usize,
    victim: (usize, usize),
    seed: u64,
) -> Vec<Option<Ended>> {
    let given =
        (0..size).map(|member| (content(member, size * LENGTH), content(member, size * LENGTH))).collect();
    run(&plans_of(size, plan), given, sum, Some(victim), seed)
}

#[test]
fn members_return_dead_member_without_blocking() {
    for size in 2..=9 {
        for victim in 0..size {
            for which in 0..for_all(Group { own: 0, size }).len() {
                let plan = |group| for_all(group).swap_remove(which);
                for (member, ended) in run_one(&plan, size, (victim, 0), which as u64).into_iter().enumerate()
                {
                    let Some(ended) = ended else { continue };
                    assert_eq!(ended.outcome, Err(Fault::Gone(victim)), "{which}: {member} of {size}");
                }
            }
        }
    }
}

#[test]
fn death_in_collective_never_yields_wrong_result() {
    let plans = |group| {
        let mut all = for_all(group);
        all.append(&mut for_some(group));
        all
    };
    for size in 2..=9 {
        for which in 0..plans(Group { own: 0, size }).len() {
            let plan = |group| plans(group).swap_remove(which);
            let whole = run_one(&plan, size, (size, 0), 0);
            for seed in 0..30 {
                let mut chance = Chance(seed);
                let victim = (chance.below(size), chance.below(6));
                let ended = run_one(&plan, size, victim, seed);
                for (member, ended) in ended.into_iter().enumerate() {
                    let (Some(ended), Some(whole)) = (ended, &whole[member]) else { continue };
                    match ended.outcome {
                        Ok(()) => assert!(ended.data == whole.data, "{which}: {member} of {size}"),
                        why => assert_eq!(why, Err(Fault::Gone(victim.0)), "{which}: {member} of {size}"),
                    }
                }
            }
        }
    }
}

#[test]
fn scan_succeeds_for_members_before_the_dead() {
    let scan = |group| scan::chained(group, LENGTH);
    let given = |size| (0..size).map(|member| (Vec::new(), content(member, LENGTH))).collect();
    let ended = run(&plans_of(5, &scan), given(5), chain, Some((3, 0)), 1);
    for (member, ended) in ended.into_iter().enumerate() {
        let Some(ended) = ended else { continue };
        if member == 4 {
            assert_eq!(ended.outcome, Err(Fault::Gone(3)));
        } else {
            assert_eq!(ended.data, combined(0, member + 1, LENGTH, chain));
            // The member before it may know that its receiver is gone.
            assert!(ended.outcome.is_ok() || member == 2, "{member}");
        }
    }
}

#[test]
fn scatter_serves_survivors_when_member_dies() {
    let parts = in_a_row((0..6).map(|_| LENGTH));
    let plan = |group| scatter::straight(group, 0, &parts, LENGTH);
    for seed in 0..20 {
        let all = content(0, 6 * LENGTH);
        let given = (0..6).map(|_| (all.clone(), vec![0; LENGTH])).collect();
        for (member, ended) in
            run(&plans_of(6, &plan), given, sum, Some((3, 0)), seed).into_iter().enumerate()
        {
            let Some(ended) = ended else { continue };
            assert_eq!(ended.data, all[member * LENGTH..(member + 1) * LENGTH]);
            // The root may have heard of it, or not.
            assert!(ended.outcome.is_ok() || (member, ended.outcome) == (0, Err(Fault::Gone(3))));
        }
    }
}

#[test]
fn members_that_differ_on_length_get_error() {
    for size in 2..=9 {
        for odd in 0..size {
            for seed in 0..3 {
                let length = |group: Group| if group.own == odd { LENGTH + UNIT } else { LENGTH };
                let plans = plans_of(size, &|group| allreduce::straight(group, length(group)));
                let given = (0..size).map(|member| (Vec::new(), content(member, LENGTH + UNIT))).collect();
                for ended in run(&plans, given, sum, None, seed).into_iter().flatten() {
                    assert_eq!(ended.outcome, Err(Fault::Disagreed), "{size} {odd}");
                }
            }
        }
    }
}
