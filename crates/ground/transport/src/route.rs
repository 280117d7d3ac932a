//! Routes by number, and what a transport says of itself when it registers under one.

use crate::Limits;

/// A way from one task to another: the number that its transport has registered under. Numbers are told to other processes, in
/// pages and recordings, beside the names that belong to them; so a transport keeps its own for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Route(u8);

impl Route {
    /// Numbers are below this, a power of two: as many routes can there be.
    pub const BOUND: usize = 8;
    /// From a task to itself.
    pub const OWN: Route = Route(0);

    /// The route of that number.
    ///
    /// # Panics
    /// When the number is not below [`Route::BOUND`]; in a constant that is an error of the compiler's.
    pub const fn new(number: u8) -> Route {
        assert!((number as usize) < Self::BOUND, "there are no more routes");
        Route(number)
    }

    /// Every route that there can be, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Route> {
        (0..Self::BOUND as u8).map(Route)
    }

    /// The route of that number, which another process has told.
    pub fn of_number(number: u8) -> Option<Route> {
        ((number as usize) < Self::BOUND).then_some(Route(number))
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Its place in an array of [`Route::BOUND`].
    #[inline(always)]
    pub const fn place(self) -> usize {
        // Numbers are below the bound anyway; so the compiler knows it, and checks no index.
        self.0 as usize & (Self::BOUND - 1)
    }
}

const _: () = assert!(Route::BOUND.is_power_of_two());

/// What a transport registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// Its number.
    pub route: Route,
    /// The name that options and reports use: letters, digits and `-`, at most [`Transport::NAME_BYTES`].
    pub name: &'static str,
    /// The most that a link of it can do; each link says for itself what it can.
    pub limits: Limits,
    /// Without what there is no link.
    pub needs: Needs,
}

/// What a transport needs besides the two tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Both are on one host.
    pub one_host: bool,
    /// Their daemons carry what is sent.
    pub daemons: bool,
}

impl Transport {
    /// The longest name.
    pub const NAME_BYTES: usize = 15;

    /// Whether a link of it may have these limits.
    pub fn allows(&self, link: &Limits) -> bool {
        let most = &self.limits;
        link.frame <= most.frame
            && link.eager <= most.eager
            && (most.single_copy || !link.single_copy)
            && (most.buffered || !link.buffered)
    }

    /// Whether these can be built in together: each has a number and a name of its own, and one that fits.
    pub const fn are_apart(all: &[Transport]) -> bool {
        let mut at = 0;
        while at < all.len() {
            let name = all[at].name.as_bytes();
            if name.is_empty() || name.len() > Self::NAME_BYTES {
                return false;
            }
            let mut other = 0;
            while other < at {
                if all[other].route.0 == all[at].route.0 || is_same(all[other].name.as_bytes(), name) {
                    return false;
                }
                other += 1;
            }
            at += 1;
        }
        true
    }
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own;

    #[test]
    fn transports_must_differ_in_number_and_name() {
        let limits = own::TRANSPORT.limits;
        let some =
            |number, name| Transport { route: Route::new(number), name, limits, needs: Needs::default() };
        assert!(Transport::are_apart(&[own::TRANSPORT, some(1, "a"), some(2, "ab")]));
        assert!(!Transport::are_apart(&[own::TRANSPORT, some(0, "a")]), "its number is taken");
        assert!(!Transport::are_apart(&[some(1, "a"), some(2, "b"), some(3, "a")]), "its name is taken");
        assert!(!Transport::are_apart(&[some(1, "")]), "no name");
        assert!(!Transport::are_apart(&[some(1, "a-name-of-16-let")]), "no room for it in pages");
    }

    #[test]
    #[should_panic(expected = "no more routes")]
    fn route_number_beyond_bound_is_refused() {
        Route::new(Route::BOUND as u8);
    }
}
