//! Many names, of several processes.

use parvum_tests::TestMachine;
use parvum_tests::running::Running;

const PROCESSES: usize = 4;
/// Of each. By hand a million were bound: see `docs/reference/interfaces/containers.md`.
const NAMES: usize = 5_000;

#[test]
fn container_names_are_found_and_end_with_owners() {
    let machine = TestMachine::up();
    let start = |me: usize| {
        let words = [me, PROCESSES, NAMES].map(|number| number.to_string());
        Running::start(machine.program("containers_names").args(words))
    };
    let mut all: Vec<Running> = (0..PROCESSES).map(start).collect();
    for done in ["bound in ", "found in "] {
        for running in &mut all {
            eprintln!("{done}{}", running.told(done));
        }
        all.iter_mut().for_each(|running| running.tell("go on"));
    }
    all.into_iter().for_each(|running| drop(running.succeed(&machine)));
    // Nothing of theirs is left in the way of the next.
    let mut again = start(0);
    again.told("bound in ");
    again.kill();
}
