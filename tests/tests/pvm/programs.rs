//! Each program checks itself; here they are run, over each route.

use parvum_tests::TestMachine;

const ROUTES: [&str; 3] = ["shm", "tcp", "routed"];

/// Runs a program over each route, on one machine.
fn over_each_route(name: &str, args: &[&str]) {
    let machine = TestMachine::up();
    for route in ROUTES {
        eprintln!("{name} over {route}");
        machine.check(machine.program(name).args(args).env("PARVUM_ROUTE", route));
        parvum_tests::running::await_tasks(&machine, 0);
    }
}

macro_rules! programs {
    ($($test:ident: $name:literal $($arg:literal)*;)*) => {$(
        #[test]
        fn $test() {
            over_each_route($name, &[$($arg),*]);
        }
    )*};
}

programs! {
    every_type_is_packed_and_unpacked: "pack";
    formats: "packf";
    buffers: "buffers";
    every_way_to_send_and_receive: "calls";
    messages_keep_their_order: "order";
}
