//! Which route messages take: what the user fixed, else what the program asked for, else the best that leads there.

use parvum_control::Taken;
use parvum_transport::{Needs, Route, Transport, own};
use parvum_wire::Tid;
use std::collections::HashMap;

/// Which routes messages take.
pub(crate) struct RoutePolicy {
    /// All transports, the one to prefer first.
    all: &'static [Transport],
    /// From `PARVUM_ROUTE`; goes before what the program asks for.
    fixed: Option<Route>,
    /// The choice of the program.
    asked: Option<Route>,
    /// To tasks of this host.
    here: Route,
    /// To tasks of others.
    elsewhere: Route,
    /// Tasks to which the wanted route did not lead, and which one is taken instead.
    detours: HashMap<Tid, [Route; 2]>,
}

/// The choices of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteWish {
    /// Whatever is best.
    Best,
    /// From task to task.
    Direct,
    /// Through the daemons.
    ByDaemons,
}

impl RoutePolicy {
    /// The policy for these transports. `name` is the route of all messages, if it is fixed; the error lists the valid
    /// names.
    pub(crate) fn new(all: &'static [Transport], name: Option<&str>) -> Result<RoutePolicy, String> {
        let others = || all.iter().filter(|transport| transport.route != Route::OWN);
        let fixed = match name {
            None => None,
            Some(name) => match others().find(|transport| transport.name == name) {
                Some(transport) => Some(transport.route),
                None => {
                    let names: Vec<&str> = others().map(|transport| transport.name).collect();
                    let (last, first) = names.split_last().expect("there are transports");
                    return Err(format!("auto, {} or {last}", first.join(", ")));
                }
            },
        };
        let (here, elsewhere) = (Route::OWN, Route::OWN);
        let mut policy = RoutePolicy { all, fixed, asked: None, here, elsewhere, detours: HashMap::new() };
        policy.choose();
        Ok(policy)
    }

    /// The program asks for a way.
    pub(crate) fn ask(&mut self, way: RouteWish) {
        self.asked = match way {
            RouteWish::Best => None,
            RouteWish::Direct => self.first(|needs| !needs.daemons),
            RouteWish::ByDaemons => self.first(|needs| needs.daemons),
        };
        self.choose();
    }

    fn choose(&mut self) {
        let chosen = self.fixed.or(self.asked).or_else(|| self.first(|_| true)).unwrap_or(Route::OWN);
        let leads = |needs: &Needs| !needs.one_host;
        self.here = chosen;
        self.elsewhere = match self.transport(chosen) {
            Some(transport) if leads(&transport.needs) => chosen,
            _ => self.first(leads).unwrap_or(chosen),
        };
    }

    fn first(&self, fits: impl Fn(&Needs) -> bool) -> Option<Route> {
        let fitting =
            self.all.iter().find(|transport| transport.route != Route::OWN && fits(&transport.needs));
        fitting.map(|transport| transport.route)
    }

    fn transport(&self, route: Route) -> Option<&Transport> {
        self.all.iter().find(|transport| transport.route == route)
    }

    /// The route to use from one task to another.
    #[inline]
    pub(crate) fn wanted(&self, from: Tid, to: Tid) -> Route {
        if from.host() == to.host() { self.here } else { self.elsewhere }
    }

    /// Whether messages to tasks of this host go through memory that both have.
    pub(crate) fn shares_memory(&self) -> bool {
        self.transport(self.here).is_some_and(|transport| transport.needs.one_host)
    }

    /// The next route to try to a task of another host if `route` does not reach it.
    pub(crate) fn after(&self, route: Route) -> Option<Route> {
        let behind = self.all.iter().skip_while(|transport| transport.route != route).skip(1);
        let mut leading =
            behind.filter(|transport| transport.route != Route::OWN && !transport.needs.one_host);
        leading.next().map(|transport| transport.route)
    }

    /// Messages to a task take the route `taken`, until the route `wanted` exists or the task is gone.
    pub(crate) fn take_detour(&mut self, to: Tid, wanted: Route, taken: Route) {
        self.detours.insert(to, [wanted, taken]);
    }

    /// The route that is taken to a task because the wanted one does not lead there.
    pub(crate) fn detour(&self, to: Tid, wanted: Route) -> Option<Route> {
        self.detours.get(&to).filter(|[instead_of, _]| *instead_of == wanted).map(|[_, taken]| *taken)
    }

    /// The task is gone, and its id may be another's.
    pub(crate) fn forget(&mut self, tid: Tid) {
        self.detours.remove(&tid);
    }

    /// Why messages to a task take that route and not the others, for tools: by number. `refused` are the routes
    /// that failed.
    pub(crate) fn reasons(&self, taken: Route, refused: &[Route], here: bool) -> [u8; Route::BOUND] {
        let asked = self.fixed.or(self.asked).is_some();
        let mut reasons = [Taken::Unknown as u8; Route::BOUND];
        for transport in self.all.iter().filter(|transport| transport.route != own::TRANSPORT.route) {
            let reason = match transport.route {
                route if route == taken => Taken::InUse,
                _ if transport.needs.one_host && !here => Taken::OtherHost,
                route if refused.contains(&route) => Taken::Refused,
                _ if asked => Taken::AskedOther,
                _ => Taken::NotNeeded,
            };
            reasons[transport.route.place()] = reason as u8;
        }
        reasons
    }

    /// The names of all routes, with their numbers.
    pub(crate) fn names(&self) -> Vec<(u8, &'static str)> {
        self.all.iter().map(|transport| (transport.route.number(), transport.name)).collect()
    }
}
