//! Every argument of every function that can be wrong is, once by itself: a program is made from the description that calls each with a
//! null handle, a handle that was freed, a datatype that was not committed, a negative count, a rank, root or tag that nobody has, no
//! buffer, one buffer for both. Each must give the class that the standard has for it, send nothing and make nothing.

use crate::description::{self, Argument, Function, plain};
use parvum_tests::TestMachine;
use parvum_tests::stage::{compiler, program_include, project, stage};
use std::fmt::Write;
use std::fs;
use std::process::Command;

/// What is wrong with an argument: the class that it gives, and how the program writes it.
struct Wrong {
    class: &'static str,
    /// Another class that will do, where MPI leaves it open.
    or: &'static str,
    value: String,
}

fn wrong(class: &'static str, value: impl Into<String>) -> Wrong {
    Wrong { class, or: class, value: value.into() }
}

/// Handles: how the null one and the freed one are called, and their class.
fn handle(kind: &str) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match kind {
        "comm" => ("MPI_COMM_NULL", "freed_comm", "COMM"),
        "group" => ("MPI_GROUP_NULL", "freed_group", "GROUP"),
        "type" => ("MPI_DATATYPE_NULL", "freed_type", "TYPE"),
        "op" => ("MPI_OP_NULL", "freed_op", "OP"),
        "info" => ("MPI_INFO_NULL", "freed_info", "INFO"),
        "errhandler" => ("MPI_ERRHANDLER_NULL", "freed_errhandler", "ERRHANDLER"),
        "request" => ("MPI_REQUEST_NULL", "freed_request", "REQUEST"),
        "message" => ("MPI_MESSAGE_NULL", "MPI_MESSAGE_NULL", "REQUEST"),
        "win" => ("MPI_WIN_NULL", "freed_win", "WIN"),
        "session" => ("MPI_SESSION_NULL", "freed_session", "SESSION"),
        "file" => ("MPI_FILE_NULL", "MPI_FILE_NULL", "FILE"),
        _ => return None,
    })
}

/// Handles that the function takes by their place, and not only gives back.
fn is_taken(function: &str, argument: &Argument) -> bool {
    let ends = ["_free", "_disconnect", "_finalize", "_close"].iter().any(|end| function.ends_with(end));
    let waits = ["Start", "Cancel", "Test", "Wait", "Mrecv", "Imrecv", "Type_commit"].contains(&function);
    (ends || waits) && !matches!((function, argument.kind), ("Imrecv", "request_out"))
}

/// An operation that moves data of a type: its buffers may not be missing, its types must be committed.
fn moves_data(function: &Function) -> bool {
    let has = |kinds: &[&str]| function.arguments.iter().any(|argument| kinds.contains(&argument.kind));
    has(&["in", "out"]) && has(&["type", "types"]) && !function.name.contains("attr")
}

fn is_buffer(argument: &Argument) -> bool {
    matches!(argument.kind, "in" | "out")
        && (argument.name.contains("buf") || argument.name.ends_with("_addr"))
}

/// Where a null handle is as good as any.
fn may_be_null(function: &str, argument: &Argument) -> bool {
    match argument.kind {
        "info" => !function.starts_with("Info_") && !function.ends_with("set_info"),
        // An inactive request is over.
        "request" => function.starts_with("Request_get_status"),
        "request_out" => matches!(function, "Test" | "Wait"),
        // They ask what those of no file are; and a null handle has a name.
        "file" => function.ends_with("_errhandler"),
        "comm" | "type" | "win" => function.ends_with("get_name"),
        _ => false,
    }
}

/// All that can be wrong with an argument.
fn wrongs(function: &Function, argument: &Argument, large: bool) -> Vec<Wrong> {
    let name = function.name;
    let kind = argument.kind;
    let base = kind.strip_suffix("_out").unwrap_or(kind);
    if let Some((null, freed, class)) = handle(base)
        && (kind == base || is_taken(name, argument))
    {
        let by_place = |value: &str| match kind == base {
            true => value.to_owned(),
            false => format!("&({}){{{value}}}", crate::programs::header::made::handle(base)),
        };
        let mut all = Vec::new();
        if !may_be_null(name, argument) {
            all.push(wrong(class, by_place(null)));
        }
        if freed != null {
            all.push(wrong(class, by_place(freed)));
        }
        if base == "type" && moves_data(function) {
            all.push(wrong(class, "loose_type"));
        }
        return all;
    }
    let minus = |narrow: &str| format!("{}{narrow}", if large { "large_" } else { "" });
    match kind {
        "count" if argument.name != "stride" => vec![Wrong {
            // Sizes of memory are counts for some, and for others arguments.
            or: match argument.name {
                "disp_unit" => "DISP",
                "size" | "insize" | "outsize" => "ARG",
                _ => "COUNT",
            },
            ..wrong("COUNT", "-1")
        }],
        "large" if argument.name == "count" => vec![wrong("COUNT", "-1")],
        "counts" if argument.name.contains("counts") || argument.name.contains("lengths") => {
            vec![wrong("COUNT", minus("minus"))]
        }
        "types" => vec![wrong("TYPE", "null_types"), wrong("TYPE", "freed_types")],
        "rank" if !name.starts_with("Status_") => {
            vec![Wrong { or: "ARG", ..wrong("RANK", "7") }, Wrong { or: "ARG", ..wrong("RANK", "-9") }]
        }
        "root" => vec![wrong("ROOT", "7"), wrong("ROOT", "-9")],
        "tag" if !name.starts_with("Status_") => vec![wrong("TAG", "-9")],
        "keyval" => {
            vec![wrong("KEYVAL", "MPI_KEYVAL_INVALID"), wrong("KEYVAL", format!("freed_{}", keyval(name)))]
        }
        "in" | "out" if is_buffer(argument) && moves_data(function) => {
            let mut all = vec![wrong("BUFFER", "NULL")];
            let both = ["sendbuf", "recvbuf"];
            let has = |name| function.arguments.iter().any(|argument| argument.name == name);
            // Of two messages it is the program's own data alone that cannot be told, and programs have got away with it.
            let is_pair = name.contains("endrecv");
            if argument.name == "recvbuf" && both.into_iter().all(has) && !is_pair {
                all.push(wrong("BUFFER", "data"));
            }
            all
        }
        // Where a result shall go. What may be left out, and arrays, are other kinds.
        "int_out" | "count_out" | "comm_out" | "comm_later" | "group_out" | "type_out" | "op_out"
        | "info_out" | "errhandler_out" | "request_out" | "message_out" | "win_out" | "session_out"
        | "file_out" | "keyval_out" | "aint_out" | "large_out" | "offset_out" | "comparison_out"
        | "rank_out"
            if !name.starts_with("Init") =>
        {
            vec![wrong("ARG", "NULL")]
        }
        _ => Vec::new(),
    }
}

fn keyval(function: &str) -> &'static str {
    match function.split('_').next() {
        Some("Type") => "keyval[1]",
        Some("Win") => "keyval[2]",
        _ => "keyval[0]",
    }
}

/// Something good for an argument.
fn good(function: &Function, argument: &Argument, large: bool) -> String {
    let (name, wide) = (argument.name, if large { "large_" } else { "" });
    let of = |what: &str| what.to_owned();
    match (plain(argument.kind), name) {
        ("in", _) => of("data"),
        ("out", _) => of("room"),
        (_, "size" | "insize" | "outsize") if argument.kind != "int" => of("sizeof room"),
        (_, "count") if function.name == "Comm_spawn_multiple" => of("1"),
        ("count", _) => of("1"),
        ("counts", _)
            if name.ends_with("displs") || name.contains("displacements") || name == "array_of_starts" =>
        {
            of(if large { "(void *)large_zero" } else { "zero" })
        }
        ("counts", _) => format!("{wide}one"),
        ("aints", _) => of("(void *)far_zero"),
        ("large", "count") => of("1"),
        ("aint" | "large" | "offset", _) => of("0"),
        (
            "int",
            "direction" | "n" | "partition" | "partition_low" | "partition_high" | "local_leader"
            | "remote_leader",
        ) => of("0"),
        ("int", "split_type") => of("MPI_COMM_TYPE_SHARED"),
        ("int", "order") => of("MPI_ORDER_C"),
        ("int", "lock_type") => of("MPI_LOCK_SHARED"),
        ("int", "whence") => of("MPI_SEEK_SET"),
        ("int", "assert") => of("0"),
        ("int", "amode") => of("MPI_MODE_RDONLY"),
        ("int", "threadlevel" | "required") => of("MPI_THREAD_SINGLE"),
        ("int", _) if argument.kind == "keyval" => of(keyval(function.name)),
        ("int", "typeclass") => of("MPI_TYPECLASS_INTEGER"),
        ("int", _) => of("1"),
        ("ints", _) if argument.kind == "distributions" => of("no_distribution"),
        ("ints", _) if argument.kind == "dargs" => of("default_argument"),
        ("ints", "sources" | "destinations" | "edges" | "coords" | "array_of_partitions") => of("zero"),
        ("ints", _) if argument.kind == "ranks" => of("zero"),
        ("ints", _) => of("one"),
        ("ranges", _) => of("ranges"),
        ("rank" | "root" | "tag", _) => of("0"),
        ("comm", _) => of(match function.name {
            name if name.contains("eighbor_") || name.starts_with("Cart") => "cart",
            name if name.starts_with("Graph") => "graph",
            name if name.starts_with("Dist_graph_neighbors") => "dist",
            _ => "comm",
        }),
        ("type", _) => of("MPI_INT"),
        ("types", _) => of("types"),
        ("op", _) => of("MPI_SUM"),
        ("info", _) => of("info"),
        ("infos", _) => of("infos"),
        ("request", _) => of(if function.name == "Parrived" { "parts_in" } else { "parts_out" }),
        ("requests", _) => of("&persistent"),
        ("group" | "errhandler" | "session" | "file" | "win" | "message", _) => of(argument.kind),
        ("status", _) => of("&status"),
        ("string", "datarep") => {
            of(if function.name.starts_with("File") { "\"native\"" } else { "\"external32\"" })
        }
        ("string", "pset_name") => of("\"mpi://SELF\""),
        ("string" | "text_out", _) => of(if argument.kind == "string" { "\"key\"" } else { "text" }),
        ("argv" | "argvs", "array_of_commands") => of("commands"),
        ("argv" | "argvs", _) => of("NULL"),
        // Read as well as written: where results go lies what other calls have put there.
        ("aint_out", "position") => format!("&{}", if large { "large_place" } else { "far_place" }),
        ("count_out", "position") => format!("&{}", if large { "large_place" } else { "place" }),
        ("status_out", _) => of("&status"),
        ("call", _) => of("(void *)comm_failed"),
        ("ints_out", "array_of_errcodes") => of("MPI_ERRCODES_IGNORE"),
        ("request_out", _) if is_taken(function.name, argument) => of("&persistent"),
        ("request_out", _) => of("&request_out"),
        ("message_out", _) => of("&(MPI_Message){MPI_MESSAGE_NO_PROC}"),
        (kind, _) if kind.ends_with("_out") => of("(void *)room"),
        (kind, name) => panic!("nothing good for {kind} {name}"),
    }
}

/// All calls of one form of a function, each with one argument wrong.
fn write_calls(out: &mut String, function: &Function, large: bool) {
    let name = format!("{}{}{}", function.prefix(), function.name, if large { "_c" } else { "" });
    let large = large || name.ends_with("_c");
    for (place, argument) in function.arguments.iter().enumerate() {
        for Wrong { class, or, value } in wrongs(function, argument, large) {
            let values: Vec<String> = (function.arguments.iter().enumerate())
                .map(|(at, other)| if at == place { value.clone() } else { good(function, other, large) })
                .collect();
            let said = value.replace('"', "'");
            writeln!(
                out,
                "    TRY(MPI_ERR_{class}, MPI_ERR_{or}, \"{name}({} = {said})\", {name}({}));",
                argument.name,
                values.join(", ")
            )
            .expect("a string grows");
        }
    }
}

/// The program; in the standard's binary interface not everything is there.
fn program(text: &str, is_standard: bool) -> String {
    let mut out = String::from("#include \"mpi_arguments.h\"\nint main(int count, char **words)\n{\n");
    out += "    if (count != 2)\n        return 8;\n    make_everything(words[1]);\n";
    for function in &description::read(text) {
        let lacks = function.marks.contains("removed") || function.marks.contains("mpich");
        // What ends the job, what has no errors but its own, and what waits for others whatever it is given.
        if function.is_tool() || function.name == "Abort" || lacks && is_standard {
            continue;
        }
        write_calls(&mut out, function, false);
        if function.marks.contains("large") {
            write_calls(&mut out, function, true);
        }
    }
    out + "    return close_everything();\n}\n"
}

#[test]
fn mpi_functions_check_each_argument() {
    let text = fs::read_to_string(project().join("interfaces/mpi/functions.txt")).expect("the description");
    for (wrapper, is_standard) in [("mpicc", false), ("mpicc_abi", true)] {
        let source = stage().programs.join(format!("mpi-arguments-{}-{wrapper}.c", std::process::id()));
        let target = source.with_extension("out");
        fs::write(&source, program(&text, is_standard)).expect("the target directory is writable");
        let mut cc = compiler(stage().bin.join(wrapper).to_str().expect("a plain path"));
        cc.args(["-w", "-O0", "-I"]).arg(program_include()).arg("-o").arg(&target).arg(&source);
        let built = cc.output().expect("mpicc runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let machine = TestMachine::up();
        let mut command = Command::new(stage().bin.join("mpiexec"));
        machine.as_user(&mut command);
        let file = machine.dir.join("data");
        let done = command.args(["-n", "1"]).arg(&target).arg(&file).output().expect("mpiexec runs");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{wrapper}: {said}{}", String::from_utf8_lossy(&done.stderr));
        let refused = said.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
        assert!(refused > 1500, "{wrapper}: {said}");
        for file in [source, target] {
            fs::remove_file(file).expect("it is there");
        }
    }
}
