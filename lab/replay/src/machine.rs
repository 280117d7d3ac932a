//! A machine of given costs.

/// What a message costs the processor of one of its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overhead {
    /// Of each message, in nanoseconds: LogGP's o.
    pub message: f64,
    /// Of each byte besides.
    pub byte: f64,
}

impl Overhead {
    /// Of a message of so many bytes.
    pub fn of(self, bytes: u64) -> f64 {
        self.message + self.byte * bytes as f64
    }
}

/// Bytes that the frame of one of Parvum's messages takes of a network: Ethernet, its preamble and gap, IP and TCP take 90, Parvum's own head 40.
/// Counted with 8 hosts, acknowledgements ride with the next message the other way; only in a barrier, whose members do not answer each other,
/// there are 1.3 frames more for three messages.
pub const FRAME: f64 = 130.0;

/// How messages go from a task to another one. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Route {
    /// LogGP's L: from the end of a message at its sender's link to its end at the receiver's, beside what those take.
    pub latency: f64,
    /// The sender's processor.
    pub send: Overhead,
    /// The receiver's processor.
    pub receive: Overhead,
    /// LogGP's g: between the beginnings of two messages on a link.
    pub gap: f64,
    /// LogGP's G: of each byte on a link.
    pub byte: f64,
    /// Bytes that its frame takes of a link besides, by which one message keeps the next one waiting, however short it is.
    pub frame: f64,
}

impl Route {
    /// The same route, of which is known what a frame is: its time on the link was part of the latency that was measured. The gap has it not, for
    /// of many messages in a row to one host several share a frame.
    pub fn with_frame(self, bytes: f64) -> Route {
        Route { frame: bytes, latency: (self.latency - bytes * self.byte).max(0.0), ..self }
    }

    /// How long a message of so many bytes passes over a link.
    pub fn passes(&self, bytes: u64) -> f64 {
        self.byte * (bytes as f64 + self.frame)
    }

    /// How long it keeps others from that link.
    pub fn occupies(&self, bytes: u64) -> f64 {
        self.gap.max(self.passes(bytes))
    }

    /// From the beginning of a send to the end of its receive, when nothing else happens.
    pub fn alone(&self, bytes: u64) -> f64 {
        self.send.of(bytes) + self.latency + self.passes(bytes) + self.receive.of(bytes)
    }
}

/// Hosts, their processors, and what connects them.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Tasks are dealt out to so many hosts in blocks of neighbours.
    pub hosts: usize,
    /// Processors of each host.
    pub processors: usize,
    /// The hosts are none but in name: all of them share these processors.
    pub shared_processors: bool,
    /// Between tasks of one host.
    pub within: Route,
    /// Between hosts: each has a link of its own into a switch, both ways at once.
    pub between: Route,
    /// All hosts share one medium instead: one message at a time, and those that have some take turns.
    pub shared_medium: bool,
}

impl Machine {
    /// So many hosts of one processor each, in a switch, between which and within which messages cost the same.
    pub fn of(hosts: usize, route: Route) -> Machine {
        Machine {
            hosts,
            processors: 1,
            shared_processors: false,
            within: route,
            between: route,
            shared_medium: false,
        }
    }

    /// The host of a task, of so many tasks.
    pub fn host(&self, task: usize, tasks: usize) -> usize {
        let each = tasks.div_ceil(self.hosts.max(1)).max(1);
        task / each
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_placed_in_blocks() {
        let machine = Machine::of(3, Route::default());
        let hosts: Vec<usize> = (0..7).map(|task| machine.host(task, 7)).collect();
        assert_eq!(hosts, [0, 0, 0, 1, 1, 1, 2]);
    }

    #[test]
    fn message_costs_its_ends_and_route() {
        let end = Overhead { message: 100.0, byte: 0.5 };
        let route = Route { latency: 1000.0, send: end, receive: end, gap: 50.0, byte: 2.0, frame: 0.0 };
        assert_eq!(route.alone(10), 105.0 + 1000.0 + 20.0 + 105.0);
        assert_eq!((route.occupies(1), route.occupies(100)), (50.0, 200.0));
        // A frame was in what was measured; it is in the way of others besides.
        let framed = route.with_frame(40.0);
        assert_eq!(framed.alone(10), route.alone(10));
        assert_eq!((framed.occupies(1), framed.occupies(100)), (82.0, 280.0));
    }
}
