//! Waiting until all have come.

use super::{Group, Plan, data};

/// In each of log2 n rounds a member tells another, twice as far away each time.
pub fn dissemination(group: Group) -> Plan {
    let mut plan = Plan::new();
    let mut far = 1;
    while far < group.size {
        plan.send(group.after(far), data(0, 0));
        plan.receive(group.before(far), data(0, 0));
        far *= 2;
    }
    plan
}
