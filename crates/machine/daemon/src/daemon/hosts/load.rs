//! The load of this host: the shell measures it now and then, and then asks hosts that were silent again.

use crate::daemon::hosts::network::{Network, parse_all};
use crate::daemon::shell::Shell;
use crate::state::Input;
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// So long a host whose adder does not answer waits for another to take it in.
const TO_BE_TAKEN_IN: Duration = Duration::from_secs(10);

/// This is worth a line in the log.
const WORTH_TELLING: Duration = Duration::from_millis(500);

/// The machine hears of a change of the lateness by so much.
const WORTH_A_WORD: Duration = Duration::from_millis(50);

impl Shell {
    /// Tells the machine now and then how busy this host is.
    pub(super) async fn measure_load(self: Rc<Shell>) {
        // Load changes slowly, and a word to each host for every change is enough.
        let mut clock = tokio::time::interval(Duration::from_secs(1));
        let mut alone_since = None;
        loop {
            clock.tick().await;
            // In steps of a quarter, so that an idle machine is silent.
            self.input(Input::Load((load() * 4.0).round() as u32 * 25));
            // The steps of a mesh are long if `PARVUM_DETECT` is.
            if let Some(network) = self.network() {
                self.watch_hosts(&network);
            }
            self.look_for_the_silent().await;
            self.look_for_home(&mut alone_since).await;
        }
    }

    /// One that is being added may lose its home before it knows any other host that lives: then nobody would tell it what
    /// became of it, unless another takes it in.
    async fn look_for_home(self: &Rc<Shell>, alone_since: &mut Option<Instant>) {
        let Some((network, home)) = self.network().zip(self.home()) else { return };
        let Err(error) = network.mesh.connect(home.number, &parse_all(&home.addresses)).await else {
            *alone_since = None;
            return;
        };
        if error.says_that_life_is_over() {
            return self.end_of_life();
        }
        let since = *alone_since.get_or_insert_with(Instant::now);
        if since.elapsed() > TO_BE_TAKEN_IN && self.home().is_some() {
            self.log
                .line("the host that was adding this one does not answer, and no other takes it in: it ends");
            self.input(Input::Removed);
        }
    }

    /// Hosts that do not answer may do so again, or say that they have gone on without this one.
    async fn look_for_the_silent(self: &Rc<Shell>) {
        let Some(network) = self.network() else { return };
        for record in self.silent_hosts() {
            let tried = network.mesh.connect(record.number, &parse_all(&record.addresses)).await;
            if tried.is_err_and(|error| error.says_that_life_is_over()) {
                return self.end_of_life();
            }
        }
    }

    /// The work at each step of the mesh: finds out how late this daemon is called, and watches the right hosts.
    pub(super) fn take_steps(self: &Rc<Shell>, network: &Rc<Network>) {
        self.lateness.begin(Instant::now(), network.mesh.step());
        let (shell, weak, told) = (Rc::downgrade(self), Rc::downgrade(network), Cell::new(Duration::ZERO));
        network.mesh.at_each_step(move || {
            if let Some((shell, network)) = shell.upgrade().zip(weak.upgrade()) {
                shell.note_lateness(&told);
                shell.watch_hosts(&network);
            }
        });
    }

    fn note_lateness(self: &Rc<Shell>, told: &Cell<Duration>) {
        let now = Instant::now();
        let late = self.lateness.called(now);
        if late >= WORTH_TELLING {
            let seconds = late.as_secs_f64();
            self.log.line(&format!("this daemon was called {seconds:.1} s late: the host is busy"));
        }
        let worst = self.lateness.worst(now);
        if worst.abs_diff(told.get()) >= WORTH_A_WORD {
            told.set(worst);
            self.input(Input::Late(worst.as_nanos() as u64));
        }
    }
}

/// How many processes of this host run or wait for a processor, over the last minute.
pub(crate) fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}
