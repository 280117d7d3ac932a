//! Links that are there: taking them in, and saying why messages take them.

use crate::runtime::Runtime;
use parvum_control::Taken;
use parvum_transport::{Link, Route};
use parvum_wire::Tid;

impl Runtime {
    /// Attaches a link that the other task has made.
    pub(crate) fn joined_by(&mut self, from: Tid, route: Route, link: Box<dyn Link>) {
        self.engine.attach(from, route, link);
        // Otherwise the first send asks for another link, and publishes the reason.
        if self.engine.route_to(from) == Some(route)
            && self.connections.routes.wanted(self.engine.me(), from) == route
        {
            self.explain(from, route, &[]);
        }
    }

    /// Publishes for tools why messages to a task take a route, and not the others.
    pub(crate) fn explain(&mut self, to: Tid, taken: Route, refused: &[Route]) {
        let here = self.engine.me().host() == to.host();
        let mut reasons = self.connections.routes.reasons(taken, refused, here);
        if !self.engine.stands(to, taken) {
            reasons[taken.place()] = Taken::Unanswered as u8;
            self.connections.unanswered.push((to, taken));
        }
        self.engine.explain_route(to, reasons);
    }

    /// Marks links whose peers have accepted the connection since.
    #[cold]
    pub(crate) fn look_who_answered(&mut self) {
        for (to, route) in std::mem::take(&mut self.connections.unanswered) {
            if self.engine.stands(to, route) {
                self.explain(to, route, &[]);
            } else if self.engine.is_attached(to, route) {
                self.connections.unanswered.push((to, route));
            }
        }
    }
}
