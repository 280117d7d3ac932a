//! Each program checks itself; here they are run, over each route.

use parvum_tests::TestMachine;

/// `unix` is in builds for development only: it shows that a transport needs no more than its folder and a line.
const ROUTES: [&str; 4] = ["shm", "tcp", "routed", "unix"];

/// Runs a program over each route, on one machine.
fn over_each_route(name: &str, args: &[&str]) {
    let machine = TestMachine::up();
    // A program that changes its route must not be kept to one.
    let routes = if args == ["switch"] { &["auto"] } else { &ROUTES[..] };
    for route in routes {
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
    messages_keep_their_order_when_routes_change: "order" "switch";
    processes: "family";
    leaving_and_coming_back: "leave";
    last_words_to_one_who_still_talks: "farewell";
    a_group_of_one: "groups" "1";
    a_group_of_two: "groups" "2";
    a_group_of_five: "groups" "5";
    a_group_of_eight: "groups" "8";
    a_group_that_has_lost_a_member: "bereft";
    threads_in_turns: "threads";
    threads_that_wait_at_the_same_time: "threads_waiting";
    signal_handlers_that_call_pvm_in_a_wait: "interrupted";
    forked_children: "forks";
    children_forked_beside_a_busy_thread: "forks_busy";
    senders_killed_in_the_middle_of_a_message: "halves";
    everybody_sends_before_anybody_receives: "mutual";
    memory_that_is_not_given: "scarce";
    more_peers_than_descriptors: "crowd";
    arguments_that_cannot_be: "refuse";
    a_message_too_large: "overflow";
    a_sender_runs_ahead_of_its_receiver: "ahead";
    corners_that_real_programs_turn: "corners";
    sixty_four_tasks_on_a_few_cores: "many";
    sixty_tasks_that_all_talk_to_all: "all_to_all";
    functions_that_pvm_calls: "handlers";
    traces: "trace";
    a_resource_manager_and_a_tasker: "manager";
    hosts_contexts_families_and_messages_in_messages: "machine";
}

#[test]
fn names_that_are_bytes_and_no_text_come_through() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let machine = TestMachine::up();
    let folder = machine.dir.with_extension("bytes").join(OsStr::from_bytes(b"d\xff"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join(OsStr::from_bytes(b"bytes\xfe"));
    std::fs::copy(parvum_tests::stage::program("bytes"), &program).expect("it can be copied");
    let mut command = std::process::Command::new(&program);
    machine.as_user(&mut command);
    machine.check(command.current_dir(&folder));
    std::fs::remove_dir_all(folder.parent().expect("made above")).expect("it is ours");
}

/// In shared memory; who sleeps for a socket makes a list of what to sleep for.
#[test]
fn short_messages_ask_for_no_memory() {
    let machine = TestMachine::up();
    machine.check(machine.program("allocations").env("PARVUM_ROUTE", "shm"));
}

/// What a dead task has sent waits in the daemon for a receiver that is stopped: nobody else waits for it.
#[test]
fn a_death_is_told_while_a_receiver_of_the_dead_task_is_stopped() {
    let machine = TestMachine::up();
    machine.check(machine.program("last_words").env("PARVUM_ROUTE", "routed"));
    parvum_tests::running::await_tasks(&machine, 0);
}

/// Two that fill all memory they may have are told so; and nothing that was sent is lost.
#[test]
fn beyond_its_memory_a_send_is_refused() {
    let machine = TestMachine::up();
    for route in ROUTES {
        eprintln!("over {route}");
        let mut program = machine.program("mutual");
        let small = [("PARVUM_CREDIT", "8000000"), ("PARVUM_MEMORY", "20000000"), ("PARVUM_ROUTE", route)];
        machine.check(program.arg("full").envs(small));
        parvum_tests::running::await_tasks(&machine, 0);
    }
}

/// Over shared memory the daemon has its own way of not losing what finds no descriptor.
#[test]
fn a_task_without_descriptors_says_so_and_loses_nothing() {
    let machine = TestMachine::up();
    let done = machine.program("cramped").env("PARVUM_ROUTE", "tcp").output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(said.matches("E-RESOURCES").count(), 1, "{said}");
}

/// What others have put into memory for it before it could take that in arrives as well.
#[test]
fn a_task_with_few_descriptors_talks_with_many() {
    let machine = TestMachine::up();
    machine.check(machine.program("few").env("PARVUM_ROUTE", "shm"));
}

/// All of them have few: who makes a connection and who is offered one.
#[test]
fn tasks_with_few_descriptors_all_talk_to_all() {
    let machine = TestMachine::up();
    let program = parvum_tests::stage::program("all_to_all");
    let script = format!("ulimit -n 40; exec {}", program.display());
    let mut run = machine.command(&["run", "-n", "1", "--", "sh", "-c", &script]);
    machine.as_user(&mut run);
    machine.check(run.env("PARVUM_ROUTE", "shm"));
}

/// The program knows the route by its number.
#[test]
fn a_task_asks_for_its_own_ledger() {
    let machine = TestMachine::up();
    for (route, number) in ROUTES.iter().zip(["1", "2", "3"]) {
        eprintln!("over {route}");
        machine.check(machine.program("asks").arg(number).env("PARVUM_ROUTE", route));
        parvum_tests::running::await_tasks(&machine, 0);
    }
}

/// The process has a copy of the engine's library from elsewhere: its own calls and PVM's are the same engine's.
#[test]
fn a_process_has_one_engine() {
    let machine = TestMachine::up();
    let shipped = parvum_tests::stage::stage().lib.join("libparvum.so.0");
    let copy = machine.dir.join("libparvum.so.0");
    std::fs::copy(shipped, &copy).expect("the machine's directory is writable");
    machine.check(machine.program("asks").arg("1").env("PARVUM_ROUTE", ROUTES[0]).env("LD_PRELOAD", &copy));
    std::fs::remove_file(copy).expect("it is ours");
}

/// Once: an entry of the mailbox may stay as long as its machine.
#[test]
fn the_mailbox() {
    let machine = TestMachine::up();
    machine.check(&mut machine.program("mailbox"));
}

/// -7 alone does not say where was looked.
#[test]
fn a_program_that_is_not_found_is_said_with_the_places() {
    let machine = TestMachine::up();
    let mut family = parvum_tests::running::Running::start(machine.program("family").env("HOME", "/tmp"));
    assert!(family.end().success());
    let said = family.complaints();
    let about = |name: &str| -> Vec<String> {
        let about = said.lines().filter(|line| line.contains("E-NOPROGRAM") && line.contains(name));
        about.map(str::to_owned).collect()
    };
    let absolute = about("cannot find /nowhere/no-such-program; give its path");
    assert!(absolute.len() == 1 && absolute[0].contains("pvm_spawn(): "), "once for both: {said}");
    let searched = about("cannot find \"no-such-program-anywhere\" on this host; searched ");
    assert!(
        searched.iter().any(|line| line.contains("pvm3/bin/LINUX64") && line.contains("the daemon's PATH (")),
        "{said}"
    );
    let relative = about("./no-such-program-here seen from ");
    assert_eq!(relative.len(), 1, "{said}");
}
