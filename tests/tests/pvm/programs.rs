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
    types_are_all_packed_and_unpacked: "pack";
    packf_accepts_every_format: "packf";
    message_buffers_keep_ids_and_refuse_bad_unpacks: "buffers";
    send_and_receive_calls_all_work: "calls";
    messages_keep_their_order: "order";
    messages_keep_their_order_when_routes_change: "order" "switch";
    processes_start_end_and_report: "family";
    task_leaves_and_joins_again: "leave";
    messages_of_leaving_task_reach_a_sending_receiver: "farewell";
    group_of_one_works: "groups" "1";
    group_of_two_works: "groups" "2";
    group_of_five_works: "groups" "5";
    group_of_eight_works: "groups" "8";
    group_continues_after_losing_a_member: "bereft";
    threads_call_pvm_in_turns: "threads";
    threads_wait_at_the_same_time: "threads_waiting";
    signal_handlers_call_pvm_during_a_wait: "interrupted";
    forked_child_disturbs_nothing_and_may_join: "forks";
    forked_children_of_busy_thread_may_join: "forks_busy";
    receiver_gets_whole_messages_from_killed_senders: "halves";
    tasks_may_all_send_before_any_receives: "mutual";
    call_reports_missing_memory_without_harm: "scarce";
    peers_may_outnumber_descriptor_limit: "crowd";
    invalid_arguments_are_refused: "refuse";
    message_beyond_4_gib_is_refused: "overflow";
    sender_runs_ahead_of_its_receiver: "ahead";
    corner_cases_of_real_programs_work: "corners";
    tasks_in_large_number_run_on_few_cores: "many";
    tasks_in_large_number_all_exchange_messages: "all_to_all";
    functions_of_program_are_called_by_pvm: "handlers";
    trace_events_are_sent_and_summed: "trace";
    manager_and_tasker_receive_pvm_messages: "manager";
    machine_functions_and_nested_messages_work: "machine";
}

#[test]
fn program_names_that_are_bytes_pass_unchanged() {
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
fn short_messages_allocate_no_memory() {
    let machine = TestMachine::up();
    machine.check(machine.program("allocations").env("PARVUM_ROUTE", "shm"));
}

/// What a dead task has sent waits in the daemon for a receiver that is stopped: nobody else waits for it.
#[test]
fn death_notice_arrives_while_receiver_is_stopped() {
    let machine = TestMachine::up();
    machine.check(machine.program("last_words").env("PARVUM_ROUTE", "routed"));
    parvum_tests::running::await_tasks(&machine, 0);
}

/// Two that fill all memory they may have are told so; and nothing that was sent is lost.
#[test]
fn send_beyond_memory_limit_is_refused() {
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
fn task_without_descriptors_reports_and_loses_nothing() {
    let machine = TestMachine::up();
    let done = machine.program("cramped").env("PARVUM_ROUTE", "tcp").output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(said.matches("E-RESOURCES").count(), 1, "{said}");
}

/// What others have put into memory for it before it could take that in arrives as well.
#[test]
fn task_with_few_descriptors_exchanges_with_many() {
    let machine = TestMachine::up();
    machine.check(machine.program("few").env("PARVUM_ROUTE", "shm"));
}

/// All of them have few: who makes a connection and who is offered one.
#[test]
fn tasks_with_few_descriptors_all_exchange_messages() {
    let machine = TestMachine::up();
    let program = parvum_tests::stage::program("all_to_all");
    let script = format!("ulimit -n 40; exec {}", program.display());
    let mut run = machine.command(&["run", "-n", "1", "--", "sh", "-c", &script]);
    machine.as_user(&mut run);
    machine.check(run.env("PARVUM_ROUTE", "shm"));
}

/// The program knows the route by its number.
#[test]
fn task_reads_its_own_statistics() {
    let machine = TestMachine::up();
    for (route, number) in ROUTES.iter().zip(["1", "2", "3"]) {
        eprintln!("over {route}");
        machine.check(machine.program("asks").arg(number).env("PARVUM_ROUTE", route));
        parvum_tests::running::await_tasks(&machine, 0);
    }
}

/// The process has a copy of the engine's library from elsewhere: its own calls and PVM's are the same engine's.
#[test]
fn process_has_one_engine() {
    let machine = TestMachine::up();
    let shipped = parvum_tests::stage::stage().lib.join("libparvum.so.0");
    let copy = machine.dir.join("libparvum.so.0");
    std::fs::copy(shipped, &copy).expect("the machine's directory is writable");
    machine.check(machine.program("asks").arg("1").env("PARVUM_ROUTE", ROUTES[0]).env("LD_PRELOAD", &copy));
    std::fs::remove_file(copy).expect("it is ours");
}

/// Once: an entry of the mailbox may stay as long as its machine.
#[test]
fn mailbox_program_passes() {
    let machine = TestMachine::up();
    machine.check(&mut machine.program("mailbox"));
}

/// -7 alone does not say where was looked.
#[test]
fn missing_program_error_lists_searched_places() {
    let machine = TestMachine::up();
    let mut family = parvum_tests::running::Running::start(machine.program("family").env("HOME", "/tmp"));
    assert!(family.end().success());
    let said = family.complaints();
    let about = |name: &str| -> Vec<String> {
        let about = said.lines().filter(|line| line.contains("E-NOPROGRAM") && line.contains(name));
        about.map(str::to_owned).collect()
    };
    let absolute = about("cannot find /nowhere/no-such-program; help: give its whole path");
    assert!(absolute.len() == 1 && absolute[0].contains("pvm_spawn(): "), "once for both: {said}");
    let searched = about("cannot find \"no-such-program-anywhere\" on this host; searched ");
    assert!(
        searched.iter().any(|line| line.contains("pvm3/bin/LINUX64") && line.contains("the daemon's PATH (")),
        "{said}"
    );
    let relative = about("./no-such-program-here seen from ");
    assert_eq!(relative.len(), 1, "{said}");
}
