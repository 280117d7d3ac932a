// Makes a face of the core from `functions.txt`: for each function MPI_X and PMPI_X, and MPI_X_c and PMPI_X_c where there is a form with
// large counts. Both names are entries of their own, so a tool's MPI_X is found before ours and calls our PMPI_X.

#[path = "description.rs"]
mod description;
#[path = "target.rs"]
mod target;

use description::{Argument, Errors, Function, plain};
use std::fmt::Write;

/// The whole face, as Rust.
pub fn make(text: &str) -> String {
    let mut out = String::from("// Made from functions.txt by faces.rs.\n");
    let functions = description::read(text);
    for function in &functions {
        write_form(&mut out, &functions, function, false);
        if function.marks.contains("large") {
            write_form(&mut out, &functions, function, true);
        }
    }
    out
}

/// The name of an argument in Rust.
fn rust(argument: &Argument) -> String {
    format!("a_{}", argument.name.to_lowercase())
}

/// The C type of a kind, in the form with large counts or without.
fn c_type(kind: &str, large: bool) -> &'static str {
    match (plain(kind), large) {
        ("in", _) => "*const u8",
        ("out", _) => "*mut u8",
        ("count", false) | ("int" | "rank" | "root" | "tag", _) => "c_int",
        ("count", true) | ("aint" | "large" | "offset", _) => "i64",
        ("count_out", false) => "*mut c_int",
        ("count_out", true) | ("aint_out" | "large_out" | "offset_out" | "aints_out" | "larges_out", _) => {
            "*mut i64"
        }
        ("counts", false) | ("ints", _) => "*const c_int",
        ("counts", true) | ("aints", _) => "*const i64",
        ("int_out" | "ints_out", _) => "*mut c_int",
        (
            "comm" | "type" | "group" | "op" | "info" | "errhandler" | "request" | "win" | "session"
            | "message",
            _,
        ) => "c_int",
        ("file", _) => "*mut c_void",
        ("file_out", _) => "*mut *mut c_void",
        ("types" | "infos" | "requests", _) => "*const c_int",
        ("status", _) => "*const Status",
        ("status_out" | "statuses_out", _) => "*mut Status",
        ("string", _) => "*const c_char",
        ("text_out", _) => "*mut c_char",
        ("argv", _) => "*const *const c_char",
        ("argv_inout", _) => "*mut *mut *mut c_char",
        ("argvs", _) => "*const *const *const c_char",
        ("call", _) => "usize",
        ("ranges", _) => "*mut [c_int; 3]",
        (kind, _) if kind.starts_with("t_") && kind.ends_with("_out") => "*mut usize",
        (kind, _) if kind.starts_with("t_") => "usize",
        (kind, _) if kind.ends_with("_out") => "*mut c_int",
        (kind, _) => panic!("no C type for the kind {kind}"),
    }
}

/// What the core gets for an argument.
fn converted(argument: &Argument, large: bool) -> String {
    let name = rust(argument);
    match (argument.kind, large) {
        ("in" | "out", _) => format!("{name}.cast()"),
        ("count", false) => format!("i64::from({name})"),
        ("counts", false) => format!("Numbers::narrow({name})"),
        ("counts", true) | ("aints", _) => format!("Numbers::wide({name})"),
        ("count_out", false) => format!("CountTarget::narrow({name})"),
        ("count_out", true) => format!("CountTarget::wide({name})"),
        ("file", _) => format!("number_of({name})"),
        ("file_out", _) => format!("calls::given({name}.cast::<usize>())"),
        ("string", _) => format!("calls::given({name})"),
        ("status", _) => format!("known_status({name})"),
        ("status_out" | "statuses_out", _) => format!("wanted_status({name})"),
        // An array's length is another argument, so the call gets the pointer itself.
        (kind, _) if kind.ends_with("_out") => format!("calls::given({name})"),
        _ => name,
    }
}

/// Where the errors of a function go; and what is done before the call for that: a handle that the call changes is read.
fn on(function: &Function) -> (String, String) {
    let known = |on: String| (String::new(), on);
    match description::errors(function) {
        Errors::Of(kind, argument) => {
            let (object, name) = (description::title(kind), rust(argument));
            match (argument.kind.ends_with("_out"), kind) {
                (true, _) => (
                    format!(
                        "// SAFETY: the program's place.\n    let on = On::{object}(unsafe {{ calls::named_at({name}.cast()) }});\n    "
                    ),
                    "on".to_owned(),
                ),
                (false, "file") => known(format!("On::File(number_of({name}))")),
                (false, _) => known(format!("On::{object}({name})")),
            }
        }
        Errors::Given(argument) => known(format!("On::Given({})", rust(argument))),
        Errors::Files => known("On::File(0)".to_owned()),
        Errors::Nothing => known("On::Nothing".to_owned()),
    }
}

/// Puts the null handle where a call that has failed should have put a handle.
fn null(function: &Function, argument: &Argument) -> Option<String> {
    let name = rust(argument);
    match description::given(function, argument)? {
        "file" => Some(format!("calls::put_no_file({name}.cast()); ")),
        kind => Some(format!(
            "calls::put_null_of({name}, parvum_mpi::objects::numbers::{}); ",
            description::null(kind)
        )),
    }
}

fn write_form(out: &mut String, functions: &[Function], function: &Function, large: bool) {
    let name = format!("{}{}{}", function.prefix(), function.name, if large { "_c" } else { "" });
    let parameters: Vec<String> = function
        .arguments
        .iter()
        .map(|argument| format!("{}: {}", rust(argument), c_type(argument.kind, large)))
        .collect();
    let parameters = parameters.join(", ");
    let names: Vec<String> = function.arguments.iter().map(rust).collect();
    let (before, on) = on(function);
    let body = if function.marks.contains("unbuilt") {
        format!("let _ = ({},); answer(\"{name}\", {on}, calls::unsupported())", names.join(", "))
    } else {
        let (target, way) = target::target(functions, function.name, large);
        let mut passed: Vec<String> = function
            .arguments
            .iter()
            // What a prepared operation is told in hints is nothing that it heeds.
            .filter(|argument| way.is_none() || !matches!(argument.kind, "request_out" | "info"))
            .map(|argument| converted(argument, large))
            .collect();
        passed.extend(way.map(str::to_owned));
        let promise = "// SAFETY: the program's promise.\n    ";
        let core = format!("unsafe {{ calls::{target}({}) }}", passed.join(", "));
        let core = if description::makes_large(function, large) {
            format!("calls::in_large_form(|| {core})")
        } else {
            core
        };
        let checks: Vec<String> = function
            .arguments
            .iter()
            .filter_map(|argument| description::check(function, argument, &rust(argument)))
            .collect();
        let nulls: String =
            function.arguments.iter().filter_map(|argument| null(function, argument)).collect();
        let nulls = match nulls.is_empty() {
            true => nulls,
            false => format!(
                "if outcome.is_err() {{\n    // SAFETY: the program's places.\n    unsafe {{ {nulls} }}\n    }}\n    "
            ),
        };
        match function.is_tool() {
            true => format!("{promise}{core}"),
            false if checks.is_empty() => format!("{promise}answer(\"{name}\", {on}, {core})"),
            false => format!(
                "{before}let call = || {{\n    {}\n    {promise}{core}\n    }};\n    let outcome = call();\n    \
                 {nulls}answer(\"{name}\", {on}, outcome)",
                checks.join("\n    ")
            ),
        }
    };
    // What may wait is kept in mind; of messages the slow way does that.
    let body = match function.name {
        "Send" | "Ssend" | "Rsend" | "Bsend" | "Recv" => body,
        _ if function.is_tool() => body,
        _ => format!("enter(const {{ number(\"{}{}\") }});\n    {body}", function.prefix(), function.name),
    };
    let called = names.join(", ");
    writeln!(
        out,
        "#[unsafe(export_name = \"P{name}\")]\npub unsafe extern \"C\" fn p{lower}({parameters}) -> c_int {{\n    {body}\n}}\n\
         #[unsafe(export_name = \"{name}\")]\npub unsafe extern \"C\" fn {lower}({parameters}) -> c_int {{\n    \
         // SAFETY: the program's promise.\n    unsafe {{ p{lower}({called}) }}\n}}",
        lower = name.to_lowercase(),
    )
    .expect("a string grows");
}
