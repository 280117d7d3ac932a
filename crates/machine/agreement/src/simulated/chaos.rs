//! Seeds: whatever happens, there is one order, and what was agreed stays agreed while a majority lives.

use super::world::World;
use crate::Standing;
use std::rc::Rc;
use tokio::task::LocalSet;

/// So many machines live through so many misfortunes each.
const SEEDS: u64 = 300;
const MISFORTUNES: u64 = 40;

#[test]
fn agreed_entries_are_never_lost() {
    let first: u64 = std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    for seed in first..first + SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        // The seed of a failure stands in the test's output.
        println!("seed {seed}");
        LocalSet::new().block_on(&runtime.expect("a runtime"), live(seed));
    }
}

async fn live(seed: u64) {
    let world = World::new(seed, 1 + seed % 50);
    world.come();
    world.pass(1000).await;
    let others = 2 + world.net.borrow_mut().dice.below(7);
    for _ in 0..others {
        world.come();
        world.pass(500).await;
    }
    for number in 0..MISFORTUNES {
        suffer(&world, number).await;
        world.check_order();
        let wait = world.net.borrow_mut().dice.below(2000);
        world.pass(wait).await;
        dismiss_strangers(&world);
    }
    world.heal().await;
    world.pass(10_000).await;
    dismiss_strangers(&world);
    world.check_whole();
}

/// Who came and was never taken in, because the leader was lost meanwhile, ends.
fn dismiss_strangers(world: &Rc<World>) {
    for host in world.alive() {
        let node = world.node(host);
        if node.standing.get() == Standing::Minority && node.list.borrow().is_empty() {
            world.kill(host);
        }
    }
}

async fn suffer(world: &Rc<World>, number: u64) {
    let alive = world.alive();
    let throw = |bound| world.net.borrow_mut().dice.below(bound);
    let (what, one, other) = (throw(11), throw(1000) as usize, throw(1000) as usize);
    let (one, other) = (alive[one % alive.len()], alive[other % alive.len()]);
    match what {
        0 if one != other => world.cut(one, other),
        1 => world.cut_off(&[one]),
        2 => world.cut_off(&[one, other]),
        // A majority must live on: only in a machine that is whole, and has one to spare, somebody dies.
        3 | 4 if may_spare(world) => {
            // Who votes has changed a moment later.
            world.pass(1000).await;
            world.kill(one);
        }
        5 if world.leader().is_some() && alive.len() < 9 => {
            world.come();
        }
        6 | 7 => world.heal().await,
        8 if may_spare(world) => world.node(other).say(format!("~{one}")),
        _ => {
            let burst = throw(5);
            for burst in 0..burst {
                world.node(one).say(format!("{number}.{burst} of {one}"));
            }
        }
    }
}

fn may_spare(world: &World) -> bool {
    let nodes = world.nodes.borrow();
    let members = nodes.len();
    let whole = |node: &super::world::Node| node.members.borrow().len() == members;
    world.net.borrow().broken.iter().all(|(a, b)| !(nodes.contains_key(a) && nodes.contains_key(b)))
        && members >= 3
        && nodes.values().all(|node| whole(node))
}
