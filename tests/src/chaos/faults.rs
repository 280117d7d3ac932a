//! Doing the faults of a plan.

use super::damage::Damage;
use super::plan::{Fault, Kind};
use super::storm::Storm;
use crate::bed::{cut_between, heal_between};
use std::time::{Duration, Instant};

impl Storm<'_> {
    /// Does one fault, and undoes it as far as it can be: all hosts are in the machine again after it.
    pub fn strike(&mut self, fault: Fault) {
        let members = self.members();
        // The one that leads takes out whom it loses at once: of the two hosts of a split it must be neither.
        let first = self.leader().filter(|at| members.contains(at)).unwrap_or(members[0]);
        let others: Vec<usize> = members.iter().copied().filter(|at| *at != first).collect();
        let any = members[fault.victim % members.len()];
        let other = others[fault.victim % others.len()];
        let detect = |part: f64| self.detect.mul_f64(part);
        let (blink, split, cut) = (
            // Silence for 0.7 of the time of detection loses a host, and a probe that was lost is repeated late.
            detect(0.05 + 0.25 * fault.length),
            self.split(fault.length),
            Duration::from_secs_f64(fault.length),
        );
        let bed = self.bed;
        *self.faults.entry(fault.kind).or_default() += 1;
        let name = &bed[match fault.kind {
            Kind::First => first,
            Kind::Daemon | Kind::Split | Kind::Remove => other,
            _ => any,
        }]
        .name;
        if fault.kind != Kind::Task {
            self.say(&format!("{}: {name}", fault.kind.name()));
        }
        match fault.kind {
            Kind::Task => self.kill_task(fault.victim),
            Kind::Daemon | Kind::First => {
                let victim = if fault.kind == Kind::First { first } else { other };
                bed[victim].kill_daemon();
                self.lose(victim);
            }
            Kind::Crash => {
                self.write_off(any);
                bed[any].crash();
                if self.wait_lost(any) {
                    bed[any].boot().expect("as the first time");
                    self.come_back(any);
                }
            }
            Kind::Blink => {
                bed[any].cut_off();
                std::thread::sleep(blink);
                bed[any].reconnect();
            }
            Kind::Cut => {
                bed[any].cut_off();
                if self.wait_lost(any) {
                    std::thread::sleep(cut);
                    bed[any].reconnect();
                    self.await_end_of_daemon(any);
                    self.come_back(any);
                }
                // Nobody is cut off at the end.
                bed[any].reconnect();
            }
            Kind::Split => {
                let rest: Vec<usize> = others.iter().copied().filter(|at| *at != other).collect();
                let second = rest[fault.victim / 7 % rest.len()];
                self.say(&format!("  the other of them: {}", bed[second].name));
                cut_between(&bed[other], &bed[second]);
                std::thread::sleep(split);
                heal_between(&bed[other], &bed[second]);
            }
            Kind::Remove => {
                let done = bed[first].parvum(&["remove", name]);
                if !done.status.success() {
                    let said = String::from_utf8_lossy(&done.stderr).into_owned();
                    self.damages.add(Damage::HostKept, format!("{name} is not removed: {said}"));
                }
                self.lose(other);
            }
        }
    }

    /// How long two hosts do not hear each other: long enough for most to notice, and healed before the younger one must go.
    ///
    /// They notice after half of the time of detection at the earliest; three seconds later one goes, and to find each
    /// other again takes up to a second and a half.
    fn split(&self, length: f64) -> Duration {
        let (shortest, longest) =
            (self.detect.mul_f64(0.8), self.detect.mul_f64(0.5) + Duration::from_millis(1500));
        shortest + longest.saturating_sub(shortest).mul_f64(length)
    }

    fn kill_task(&mut self, which: usize) {
        let Some((name, pid, host)) = self.some_task(which) else { return };
        let words = ["kill", "-9", &pid.to_string()];
        let killed = host.run(&words).status.success();
        self.say(&format!("kill -9 of task {name}"));
        if killed {
            self.outside.killed.insert(name);
        }
    }

    /// The host's daemon is gone: the others find out, and it comes back.
    fn lose(&mut self, at: usize) {
        self.write_off(at);
        if self.wait_lost(at) {
            self.come_back(at);
        }
    }

    /// Waits until the others go on without the host.
    fn wait_lost(&mut self, at: usize) -> bool {
        let rest: Vec<usize> = (0..self.bed.hosts().len()).filter(|host| *host != at).collect();
        self.agree(&rest)
    }

    /// A daemon that was cut off hears that the others have gone on, and ends.
    fn await_end_of_daemon(&mut self, at: usize) {
        let until = Instant::now() + Duration::from_secs(30);
        while self.bed[at].daemon().is_some() {
            if Instant::now() > until {
                let words =
                    format!("the daemon of {} lives on though the others are without it", self.bed[at].name);
                self.damages.add(Damage::Disagreement, words);
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
