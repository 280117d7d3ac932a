//! What is measured: a machine of N hosts comes to be, a tenth of it is lost, then its leader and a tenth of the rest.

use super::daemon::Daemon;
use super::world::{Bills, World, simulate};
use std::rc::Rc;

const SECOND: u64 = 1_000_000_000;
/// What has not been agreed after this will not be.
const PATIENCE: u64 = 600 * SECOND;
/// What follows an agreement, so that it is counted as well.
const AFTERWARDS: u64 = 8 * SECOND;

/// What one part of the story took.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Seconds until every living host's table was as it should be.
    pub seconds: f64,
    /// What was sent and got until some seconds later.
    pub bills: Bills,
}

/// One size of machine.
pub struct Measured {
    pub join: Part,
    pub fail: Part,
    /// None: one host was left.
    pub lead: Option<Part>,
}

pub fn measure(hosts: usize, seed: u64) -> Result<Measured, String> {
    simulate(seed, |world| story(world, hosts))
}

async fn story(world: Rc<World>, hosts: usize) -> Result<Measured, String> {
    let first = Daemon::new(&world, 1, 1, "n0001", Vec::new());
    world.come(first.clone());
    world.want(hosts);
    first.add((2..=hosts).map(|number| format!("n{number:04}")).collect());
    let join = part(&world, "has come together").await?;
    match world.take_answer() {
        Some(added) if added == hosts - 1 => {}
        other => return Err(format!("{hosts} hosts: who added them was told {other:?}")),
    }
    let fail = lose(&world, false).await?;
    let lead = if world.alive().len() > 2 { Some(lose(&world, true).await?) } else { None };
    Ok(Measured { join, fail, lead })
}

/// A tenth of the hosts dies, with or without the one that leads.
async fn lose(world: &Rc<World>, leader_too: bool) -> Result<Part, String> {
    let leader = world.leader().ok_or("nobody leads")?;
    let mut alive = world.alive();
    let count = (alive.len() / 10).max(1);
    alive.retain(|host| *host != leader);
    let mut dead = if leader_too { vec![leader] } else { Vec::new() };
    while dead.len() < count {
        let at = world.dice.borrow_mut().below(alive.len() as u64) as usize;
        dead.push(alive.swap_remove(at));
    }
    world.kill(&dead);
    world.want(world.alive().len());
    part(world, "has agreed on who is lost").await
}

async fn part(world: &Rc<World>, what: &str) -> Result<Part, String> {
    world.take_bills();
    let began = world.now();
    if !world.pass(began + PATIENCE, World::agrees).await {
        return Err(format!("not every host {what} after {} s", PATIENCE / SECOND));
    }
    let seconds = (world.now() - began) as f64 / 1e9;
    world.pass(world.now() + AFTERWARDS, |_| false).await;
    if !world.agrees() {
        return Err(format!("every host {what}, and then not any more"));
    }
    Ok(Part { seconds, bills: world.take_bills() })
}
