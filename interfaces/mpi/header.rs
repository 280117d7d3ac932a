// Makes `mpi_functions.h` from `functions.txt`: for each function its prototype under MPI_X and PMPI_X, and the form with large
// counts where there is one. Used by the test that holds the header to the description, and to write it anew.

use crate::description::{self, Argument, Function, plain};
use std::fmt::Write;

/// The whole header.
pub fn make(text: &str) -> String {
    let mut out = String::from(
        "/* MPI's functions, for mpi.h. Made from interfaces/mpi/functions.txt by interfaces/mpi/header.rs; not to be edited. */\n\
         #ifndef PARVUM_MPI_FUNCTIONS_H\n#define PARVUM_MPI_FUNCTIONS_H\n",
    );
    for function in &description::read(text) {
        // The standard's own binary interface never had what MPI-3 removed.
        let removed = function.marks.contains("removed") || function.marks.contains("mpich");
        out.push_str(if removed { "#ifndef MPI_ABI\n" } else { "" });
        write_both(&mut out, function, false);
        out.push_str(if removed { "#endif\n" } else { "" });
        if function.marks.contains("large") {
            write_both(&mut out, function, true);
        }
    }
    out + "#endif\n"
}

fn write_both(out: &mut String, function: &Function, form: bool) {
    let name = format!("{}{}", function.name, if form { "_c" } else { "" });
    let large = name.ends_with("_c");
    let parameters: Vec<String> = function
        .arguments
        .iter()
        .map(|argument| {
            let text = parameter(argument, &name, large);
            // MPI-1 knew no const.
            if function.marks.contains("removed") { text.replace("const ", "") } else { text }
        })
        .collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    for profiled in ["", "P"] {
        let prefix = function.prefix();
        writeln!(out, "int {profiled}{prefix}{name}({parameters});").expect("a string grows");
    }
}

/// One parameter in C.
pub fn parameter(&Argument { kind, name }: &Argument, function: &str, large: bool) -> String {
    if let Some(tool) = of_tools(kind, name) {
        return tool;
    }
    let kind = plain(kind);
    let count = if large { "MPI_Count" } else { "int" };
    // The large forms count bytes of data as they count elements; what says a place in memory stays an address.
    let far = match large && !is_address(name, function) {
        true => "MPI_Count",
        false => "MPI_Aint",
    };
    let count = if name == "disp_unit" && large { "MPI_Aint" } else { count };
    match kind {
        "in" => format!("const void *{name}"),
        "out" => format!("void *{name}"),
        "count" => format!("{count} {name}"),
        "count_out" => format!("{count} *{name}"),
        "counts" if large && name.ends_with("displs") => format!("const MPI_Aint {name}[]"),
        "counts" => format!("const {count} {name}[]"),
        "aint" => format!("{far} {name}"),
        "aint_out" => format!("{far} *{name}"),
        "aints" => format!("const {far} {name}[]"),
        "aints_out" => format!("MPI_Aint {name}[]"),
        "large" => format!("MPI_Count {name}"),
        "large_out" => format!("MPI_Count *{name}"),
        "larges_out" => format!("MPI_Count {name}[]"),
        "offset" => format!("MPI_Offset {name}"),
        "offset_out" => format!("MPI_Offset *{name}"),
        "int" | "rank" | "root" | "tag" => format!("int {name}"),
        "int_out" => format!("int *{name}"),
        "ints" => format!("const int {name}[]"),
        "ints_out" => format!("int {name}[]"),
        "ranges" => format!("int {name}[][3]"),
        "status" => format!("const MPI_Status *{name}"),
        "status_out" => format!("MPI_Status *{name}"),
        "string" => format!("const char *{name}"),
        "text_out" => format!("char *{name}"),
        "argv" => format!("char *{name}[]"),
        "argv_inout" => format!("char ***{name}"),
        "argvs" => format!("char **{name}[]"),
        "call" => format!("{} *{name}", function_type(name, large)),
        "types" | "infos" | "requests" => format!("const {} {name}[]", handle(kind.trim_end_matches('s'))),
        "types_out" | "requests_out" => format!("{} {name}[]", handle(kind.trim_end_matches("s_out"))),
        kind => match kind.strip_suffix("_out") {
            Some(kind) => format!("{} *{name}", handle(kind)),
            None => format!("{} {name}", handle(kind)),
        },
    }
}

/// A parameter that only MPI_T has.
fn of_tools(kind: &str, name: &str) -> Option<String> {
    let (kind, star) = kind.strip_suffix("_out").map_or((kind, ""), |kind| (kind, "*"));
    let handle = match kind {
        "t_types" => return Some(format!("MPI_Datatype {name}[]")),
        "t_enum" => "enum",
        "t_cvar" => "cvar_handle",
        "t_pvar" => "pvar_handle",
        "t_session" => "pvar_session",
        "t_registration" => "event_registration",
        "t_instance" => "event_instance",
        "ordering" => "source_order",
        "safety" => "cb_safety",
        _ => return None,
    };
    Some(format!("MPI_T_{handle} {star}{name}"))
}

/// Places in a window, and of neighbours' data, are addresses in both forms.
fn is_address(name: &str, function: &str) -> bool {
    name == "target_disp" || name == "size" && function.starts_with("Win_") || function.contains("eighbor")
}

pub fn handle(kind: &str) -> String {
    match kind {
        "type" => "MPI_Datatype".to_owned(),
        kind => format!("MPI_{}{}", kind[..1].to_uppercase(), &kind[1..]),
    }
}

/// The type of the program's function that an argument is.
fn function_type(name: &str, large: bool) -> String {
    let wide = if large { "_c" } else { "" };
    match name {
        "user_fn" => format!("MPI_User_function{wide}"),
        "copy_fn" => "MPI_Copy_function".to_owned(),
        "delete_fn" => "MPI_Delete_function".to_owned(),
        "function" => "MPI_Handler_function".to_owned(),
        "query_fn" | "free_fn" | "cancel_fn" => format!("MPI_Grequest_{}nction", name.replace("_fn", "_fu")),
        "read_conversion_fn" | "write_conversion_fn" => format!("MPI_Datarep_conversion_function{wide}"),
        "event_cb_function" => "MPI_T_event_cb_function".to_owned(),
        "free_cb_function" | "dropped_cb_function" => format!("MPI_T_event_{name}"),
        "dtype_file_extent_fn" => "MPI_Datarep_extent_function".to_owned(),
        _ => match name.split_once('_') {
            Some((object, what)) => {
                let object = handle(object);
                let object = if object == "MPI_Datatype" { "MPI_Type" } else { &object };
                format!("{object}_{}", what.replace("_fn", "_function"))
            }
            None => panic!("no type for {name}"),
        },
    }
}
