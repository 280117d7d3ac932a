//! Between neighbours, as a topology names them: each gets a part of this member's `Mine`, and gives one for `Data`.

use super::{Area, Plan, Span};

/// All is sent, and then received. Between two members the messages have the order of the lists. If a member is a
/// neighbour more than once, the other's list must name this member in the matching order.
pub fn exchange(give: &[(usize, Span)], get: &[(usize, Span)]) -> Plan {
    let mut plan = Plan::new();
    give.iter().for_each(|&(to, span)| plan.send(to, span.of(Area::Mine)));
    get.iter().for_each(|&(from, span)| plan.receive(from, span.of(Area::Data)));
    plan
}
