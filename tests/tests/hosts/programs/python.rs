//! Python's named things, and the host that kept them is lost.

use parvum_tests::bed::Bed;
use parvum_tests::running::Running;
use parvum_tests::{Lack, skip, stage};
use std::process::Command;

const WAITS: &str = "
import parvum
from parvum.actors.keeper import NAME, Keeper
vm = parvum.enrol()
# Who keeps queues is started by hand here, to be on that host.
Keeper.start(name=NAME, host='beta', detached=True, output=False)
jobs = parvum.Queue('jobs')
jobs.put(1)
jobs.get()
other = Keeper.start(name='other', host='beta')
print('ready', flush=True)
for wait in (jobs.get, lambda: other.now('is_set', '').result()):
    try:
        print('came to an end:', wait())
    except (parvum.PlaceLost, parvum.ActorLost) as lost:
        print(type(lost).__name__, str(lost).replace('\\n', ' '))
jobs.put(2)
print('anew:', jobs.get())
";

#[test]
fn python_names_objects_lost_with_their_host() {
    let looked =
        Command::new("python3").args(["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).output();
    if !looked.is_ok_and(|looked| looked.status.success()) {
        return skip(Lack::Tools, "there is no python3 of 3.10 or later");
    }
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    let mut python = bed[0].command("python3");
    python.args(["-c", WAITS]).env("PYTHONPATH", stage::python()).env("PYTHONDONTWRITEBYTECODE", "1");
    let mut running = Running::start(&mut python);
    running.told("ready");
    bed[1].crash();
    let queue = running.told("PlaceLost");
    assert!(
        queue.contains("queue 'jobs' is lost: actor '") && queue.contains("gone with its host beta"),
        "{queue}"
    );
    let actor = running.told("ActorLost");
    assert!(actor.contains("actor 'other' (t") && actor.contains("gone with its host beta"), "{actor}");
    running.told("anew: 2");
    assert!(running.end().success(), "{}", running.complaints());
    bed[0].parvum(&["down"]);
}
