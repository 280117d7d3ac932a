// Makes the face of the standard's binary interface from `functions.txt`: each function converts what it is given to the core's
// numbers, calls the core, and converts what that gives.

#[path = "../description.rs"]
mod description;
#[path = "../target.rs"]
mod target;

use description::{Argument, Errors, Function, plain};
use std::fmt::Write;

/// Functions of which more must be known than the kinds of their arguments: those of `special.rs`.
const SPECIAL: &[&str] = &[
    "comm_create_keyval",
    "keyval_create",
    "type_create_keyval",
    "win_create_keyval",
    "comm_get_attr",
    "attr_get",
    "win_get_attr",
    "type_get_contents",
    "type_get_contents_c",
];

/// The whole face, as Rust.
pub fn make(text: &str) -> String {
    let mut out = String::from("// Made from functions.txt by face.rs.\n");
    let functions = description::read(text);
    for function in &functions {
        if function.marks.contains("removed") || function.marks.contains("mpich") {
            continue;
        }
        write_form(&mut out, &functions, function, false);
        if function.marks.contains("large") {
            write_form(&mut out, &functions, function, true);
        }
    }
    out
}

fn is_handle(kind: &str) -> bool {
    let kinds = ["comm", "type", "group", "op", "info", "errhandler", "request", "win", "session", "message"];
    kinds.contains(&kind) || kind == "file"
}

/// The C type of an argument.
fn c_type(kind: &str, large: bool) -> &'static str {
    match (plain(kind), large) {
        ("in", _) => "*const u8",
        ("out", _) => "*mut u8",
        ("count", false) | ("int" | "rank" | "root" | "tag", _) => "c_int",
        ("count", true) | ("aint" | "large" | "offset", _) => "i64",
        ("counts", false) | ("ints", _) => "*const c_int",
        ("counts", true) | ("aints", _) => "*const i64",
        ("count_out", false) | ("int_out" | "ints_out", _) => "*mut c_int",
        ("count_out", true) | ("aint_out" | "large_out" | "offset_out" | "aints_out" | "larges_out", _) => {
            "*mut i64"
        }
        ("types" | "infos" | "requests", _) => "*const usize",
        ("status", _) => "*const MpiStatus",
        ("status_out", _) => "*mut MpiStatus",
        ("string", _) => "*const c_char",
        ("text_out", _) => "*mut c_char",
        ("argv", _) => "*const *const c_char",
        ("argv_inout", _) => "*mut *mut *mut c_char",
        ("argvs", _) => "*const *const *const c_char",
        ("call", _) => "usize",
        ("ranges", _) => "*mut [c_int; 3]",
        (kind, _) if kind.starts_with("t_") && kind.ends_with("_out") => "*mut usize",
        (kind, _) if kind.starts_with("t_") || is_handle(kind) => "usize",
        (kind, _) if kind.ends_with("_out") => "*mut usize",
        (kind, _) => panic!("no C type for the kind {kind}"),
    }
}

/// How an argument is converted: what is done before the call, what the core gets, and what is done after it.
struct Steps {
    before: String,
    passed: String,
    after: String,
}

fn steps(function: &Function, argument: &Argument, large: bool) -> Steps {
    let name = format!("a_{}", argument.name.to_lowercase());
    let own = format!("c_{}", argument.name.to_lowercase());
    let only = |passed: String| Steps { before: String::new(), passed, after: String::new() };
    // A value of its own, which the core is given a pointer to, and which is given to the program after the call.
    let taken = |made: String, passed: String, give: &str| Steps {
        before: format!("let mut {own} = {made};\n    "),
        passed,
        after: format!("{own}.{give};\n    "),
    };
    let read = |made: String, passed: String| Steps {
        before: format!("let {own} = {made};\n    "),
        passed,
        after: String::new(),
    };
    let pointer = format!("{own}.pointer()");
    match argument.kind {
        "in" | "out" if argument.name == "buffer_addr" => Steps {
            before: String::new(),
            passed: format!("{name}.cast()"),
            after: format!("give_buffer({name});\n    "),
        },
        "in" | "out" if ["sendbuf", "recvbuf", "buffer"].contains(&argument.name) => {
            only(format!("{name}.map_addr(buffer).cast()"))
        }
        "in" | "out" if function.name == "Reduce_local" => only(format!("{name}.map_addr(buffer).cast()")),
        "in" | "out" => only(format!("{name}.cast()")),
        "count" if !large => only(format!("i64::from({name})")),
        "aints" => only(format!("Numbers::wide({name})")),
        "counts" => only(format!("Numbers::{}({name})", if large { "wide" } else { "narrow" })),
        "count_out" => only(format!("CountTarget::{}({name})", if large { "wide" } else { "narrow" })),
        "rank" | "root" => only(format!("rank_in({name})")),
        "tag" | "keyval" | "thread" | "order" | "typeclass" | "split" | "assert" | "lock" | "amode"
        | "whence" | "displacement" | "varclass" | "safety" => only(format!("{}_in({name})", argument.kind)),
        kind if kind.starts_with("t_") && kind.ends_with("_out") => only(format!("calls::given({name})")),
        kind if kind.starts_with("t_") => only(name),
        "code" => only(format!("code_in({name})")),
        "distributions" | "dargs" => {
            let convert = if argument.kind == "dargs" { "darg_in" } else { "distribution_in" };
            read(format!("Ints::read({name}, length({}), {convert})", size(function, argument)), pointer)
        }
        "ranks" => {
            read(format!("Ints::read({name}, length({}), rank_in)", size(function, argument)), pointer)
        }
        "ranks_out" => taken(
            format!("Ints::take({name}, length({}), rank_in)", size(function, argument)),
            format!("calls::given({own}.place())"),
            "give(rank_out)",
        ),
        "types" | "infos" | "requests" => {
            read(format!("Handles::read({name}, {})", length(function, argument)), pointer)
        }
        "requests_out" if argument.name.starts_with("array") => taken(
            format!("Handles::take({name}, {})", length(function, argument)),
            format!("calls::given({own}.place())"),
            "give()",
        ),
        "types_out" => taken(
            format!("Handles::take({name}, {})", length(function, argument)),
            format!("calls::given({own}.place())"),
            "give()",
        ),
        "status" => read(format!("Statuses::read({name})"), pointer),
        "status_out" => {
            let count = match argument.name.starts_with("array") {
                true => length(function, argument),
                false => "1".to_owned(),
            };
            taken(
                format!("Statuses::take({name}, {count})"),
                format!("calls::given({own}.place())"),
                "give()",
            )
        }
        // It is written later, by `programs.rs`.
        "comm_later" => only(format!("{name}.cast()")),
        "message_out" => {
            taken(format!("Handle::take({name})"), format!("calls::given({own}.place())"), "give_message()")
        }
        "file_out" => taken(
            format!("Handle::take({name})"),
            format!("calls::given({own}.place().cast::<usize>())"),
            "give()",
        ),
        kind if is_handle(kind) => read(format!("narrow({name})"), own.clone()),
        kind => match kind.strip_suffix("_out") {
            Some(handle) if is_handle(handle) => {
                taken(format!("Handle::take({name})"), format!("calls::given({own}.place())"), "give()")
            }
            Some("int" | "aint" | "large" | "offset" | "text" | "ints" | "aints" | "larges") => {
                only(format!("calls::given({name})"))
            }
            None if kind == "string" => only(format!("calls::given({name})")),
            None => only(name),
            Some(number) => taken(
                format!("Int::take({name}, {number}_in)"),
                format!("calls::given({own}.place())"),
                &format!("give({number}_out)"),
            ),
        },
    }
}

/// The argument that says how long an array is.
fn size(function: &Function, argument: &Argument) -> String {
    let names: &[&str] = match argument.kind {
        "types_out" => &["max_datatypes"],
        _ => &["count", "incount", "n", "ndims"],
    };
    let found = function.arguments.iter().find(|other| names.contains(&other.name));
    let found = found.unwrap_or_else(|| panic!("{} does not say how long its arrays are", function.name));
    format!("a_{}", found.name)
}

/// How long an array is, as Rust.
fn length(function: &Function, argument: &Argument) -> String {
    if !function.name.to_lowercase().contains("alltoallw") {
        return format!("length({})", size(function, argument));
    }
    // Nothing is said: there is one for each rank or neighbour, and none for what is in place.
    let of = if function.name.contains("eighbor") { "neighbour_types" } else { "rank_types" };
    match argument.name.starts_with("send") {
        true => format!("if a_sendbuf.addr() == IN_PLACE {{ 0 }} else {{ calls::{of}(narrow(a_comm)).0 }}"),
        false => format!("calls::{of}(narrow(a_comm)).1"),
    }
}

fn write_form(out: &mut String, functions: &[Function], function: &Function, large: bool) {
    let name = format!("{}{}{}", function.prefix(), function.name, if large { "_c" } else { "" });
    let rust = |argument: &Argument| format!("a_{}", argument.name.to_lowercase());
    let names: Vec<String> = function.arguments.iter().map(rust).collect();
    let parameters: Vec<String> = function
        .arguments
        .iter()
        .map(|argument| format!("{}: {}", rust(argument), c_type(argument.kind, large)))
        .collect();
    let (parameters, called) = (parameters.join(", "), names.join(", "));
    let on = on(function);
    let body = if function.marks.contains("unbuilt") {
        format!("let _ = ({called},); given(answer(\"{name}\", {on}, calls::unsupported()))")
    } else {
        let (target, way) = target::target(functions, function.name, large);
        let room = if SPECIAL.contains(&target.as_str()) { "special" } else { "calls" };
        let mut all =
            function.arguments.iter().map(|argument| (argument.kind, steps(function, argument, large)));
        let (mut before, mut after, mut passed) = (String::new(), String::new(), Vec::new());
        for (kind, steps) in &mut all {
            before.push_str(&steps.before);
            after.push_str(&steps.after);
            // What a prepared operation is told in hints is nothing that it heeds.
            if way.is_none() || !matches!(kind, "info" | "request_out") {
                passed.push(steps.passed);
            }
        }
        let checks: Vec<String> = function
            .arguments
            .iter()
            .filter_map(|argument| {
                let handle = format!("c_{}", argument.name.to_lowercase());
                description::check(function, argument, &handle)
            })
            .collect();
        passed.extend(way.map(|way| way.replace("a_request", "c_request.place()")));
        let core = format!("{room}::{target}({})", passed.join(", "));
        let core = if description::makes_large(function, large) {
            format!("calls::in_large_form(|| {core})")
        } else {
            core
        };
        let (call, give) = match function.is_tool() {
            true => (core, "tool_out(code)".to_owned()),
            false => {
                let call = match checks.is_empty() {
                    true => core,
                    false => format!("(|| {{ {} {core} }})()", checks.join(" ")),
                };
                (call, format!("given(answer(\"{name}\", on, code))"))
            }
        };
        // What the program gets is there before its error handler is called, which need not return.
        let nulls: String =
            function.arguments.iter().filter_map(|argument| null(function, argument)).collect();
        let nulls = match nulls.is_empty() {
            true => nulls,
            false => format!("if code.is_err() {{ {nulls}}}\n    "),
        };
        let on = if function.is_tool() { String::new() } else { format!("let on = {on};\n    ") };
        format!(
            "// SAFETY: the program's promise.\n    unsafe {{\n    {before}{on}let code = {call};\n    {nulls}{after}{give}\n    }}"
        )
    };
    // What may wait is kept in mind; of messages the slow way does that.
    let body = match function.name {
        "Send" | "Ssend" | "Rsend" | "Bsend" | "Recv" => body,
        _ if function.is_tool() => body,
        _ => format!("enter(const {{ number(\"{}{}\") }});\n    {body}", function.prefix(), function.name),
    };
    writeln!(
        out,
        "#[unsafe(export_name = \"P{name}\")]\npub unsafe extern \"C\" fn p{lower}({parameters}) -> c_int {{\n    {body}\n}}\n\
         #[unsafe(export_name = \"{name}\")]\npub unsafe extern \"C\" fn {lower}({parameters}) -> c_int {{\n    \
         // SAFETY: the program's promise.\n    unsafe {{ p{lower}({called}) }}\n}}",
        lower = name.to_lowercase(),
    )
    .expect("a string grows");
}

/// Where the errors of a function go.
fn on(function: &Function) -> String {
    match description::errors(function) {
        Errors::Of(kind, argument) => {
            let own = format!("c_{}", argument.name.to_lowercase());
            let handle = if argument.kind.ends_with("_out") { format!("{own}.now()") } else { own };
            format!("On::{}({handle})", description::title(kind))
        }
        Errors::Given(argument) => format!("On::Given(c_{})", argument.name.to_lowercase()),
        Errors::Files => "On::File(0)".to_owned(),
        Errors::Nothing => "On::Nothing".to_owned(),
    }
}

/// Puts the null handle where a call that has failed should have put a handle.
fn null(function: &Function, argument: &Argument) -> Option<String> {
    let (name, own) = (argument.name.to_lowercase(), format!("c_{}", argument.name.to_lowercase()));
    let kind = description::given(function, argument)?;
    Some(match (argument.kind, kind) {
        ("comm_later", _) => format!("no_comm(a_{name}); "),
        (_, "file") => format!("calls::put_no_file({own}.place().cast()); "),
        (_, kind) => {
            format!(
                "calls::put_null_of({own}.place(), parvum_mpi::objects::numbers::{}); ",
                description::null(kind)
            )
        }
    })
}
