//! Two threads, a core each, that pass one message to and fro.

use rustix::thread::{CpuSet, sched_setaffinity};
use std::time::Instant;

/// One end of a way for messages.
pub trait End: Send {
    /// Sends the next message.
    fn send(&mut self);
    /// Waits for the next message, and takes it.
    fn receive(&mut self);
}

/// So many samples, with the threads on these cores; gives their nanoseconds.
pub type Bout = Box<dyn FnMut([usize; 2], u32) -> Result<Vec<u64>, String>>;

/// One layer, ready to be measured.
pub struct Layer {
    /// The way of its messages.
    pub route: &'static str,
    /// Which layer.
    pub name: &'static str,
    /// Round trips in each sample.
    pub trips: u32,
    /// Measures it.
    pub bout: Bout,
}

/// Reading the clock costs a noticeable part of a short trip, so these are timed together.
pub const TOGETHER: u32 = 4;
/// Round trips before the clock runs.
const WARM: u32 = 200;

/// What one thread writes and the other must not have in a cache line of its own.
#[repr(align(128))]
struct Apart<T>(T);

/// The layer that these two ends make.
pub fn layer<A, B>(route: &'static str, name: &'static str, trips: u32, lead: A, follow: B) -> Layer
where
    A: End + 'static,
    B: End + 'static,
{
    let (mut lead, mut follow) = (Apart(lead), Apart(follow));
    let bout = move |cores: [usize; 2], samples: u32| {
        let warm = WARM.div_ceil(trips);
        let mut times = Vec::with_capacity(samples as usize);
        let (lead, follow) = (&mut lead, &mut follow);
        std::thread::scope(|scope| {
            let follower = scope.spawn(|| {
                pin(cores[1])?;
                for _ in 0..(warm + samples) * trips {
                    follow.0.receive();
                    follow.0.send();
                }
                Ok::<(), String>(())
            });
            pin(cores[0])?;
            for sample in 0..warm + samples {
                let begun = Instant::now();
                for _ in 0..trips {
                    lead.0.send();
                    lead.0.receive();
                }
                if sample >= warm {
                    times.push(begun.elapsed().as_nanos() as u64);
                }
            }
            follower.join().map_err(|_| "the second thread failed".to_owned())?
        })?;
        Ok(times)
    };
    Layer { route, name, trips, bout: Box::new(bout) }
}

/// Keeps this thread on a core.
pub(crate) fn pin(core: usize) -> Result<(), String> {
    if core >= CpuSet::MAX_CPU {
        return Err(format!("there is no core {core}"));
    }
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).map_err(|why| format!("cannot run on core {core}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    struct Channel(Sender<()>, Receiver<()>, u32);

    impl End for Channel {
        fn send(&mut self) {
            self.0.send(()).expect("there");
        }

        fn receive(&mut self) {
            self.1.recv().expect("there");
            self.2 += 1;
        }
    }

    #[test]
    fn bout_returns_requested_samples_and_leaves_no_message() {
        let ((to_b, at_b), (to_a, at_a)) = (channel(), channel());
        let mut layer = layer("none", "channel", 2, Channel(to_b, at_a, 0), Channel(to_a, at_b, 0));
        for samples in [1, 5] {
            let times = (layer.bout)([0, 0], samples).expect("measured");
            assert_eq!(times.len(), samples as usize);
            assert!(times.iter().all(|ns| *ns > 0));
        }
    }

    #[test]
    fn missing_core_is_named() {
        assert!(pin(1 << 20).expect_err("no core").contains("1048576"));
    }
}
