// Makes the manual pages of MPI's functions from `functions.txt` and `manual.txt`. A page has the prototypes in C and Fortran, the
// arguments, the possible errors, whether the call waits, and the chapter of the standard.

use crate::description::{self, Argument, Function};
use crate::fortran08;
use std::collections::BTreeMap;
use std::fmt::Write;

macro_rules! line {
    ($out:expr, $($text:tt)*) => { writeln!($out, $($text)*).expect("a string grows") };
}

/// The text for several functions.
struct Family<'t> {
    chapter: &'t str,
    title: &'t str,
    text: &'t str,
}

/// The text for one function.
struct Entry<'t> {
    family: usize,
    text: &'t str,
    /// The prototype, if the description lacks it.
    prototype: Option<&'t str>,
}

struct Texts<'t> {
    families: Vec<Family<'t>>,
    entries: BTreeMap<&'t str, Entry<'t>>,
    /// In the order of the file: the page of a function names its neighbours.
    order: Vec<&'t str>,
}

fn read(text: &str) -> Texts<'_> {
    let mut all = Texts { families: Vec::new(), entries: BTreeMap::new(), order: Vec::new() };
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let parts: Vec<&str> = line.split(" | ").collect();
        if line.starts_with(": ") {
            let [_, chapter, title, text] = parts[..] else { panic!("no family: {line}") };
            all.families.push(Family { chapter, title, text });
            continue;
        }
        let [name, text] = parts[..] else { panic!("no function: {line}") };
        let (text, prototype) = text.split_once(" = ").map_or((text, None), |(text, c)| (text, Some(c)));
        all.entries.insert(name, Entry { family: all.families.len() - 1, text, prototype });
        all.order.push(name);
    }
    all
}

/// All pages: the name of each file, and its text.
pub fn pages(functions: &str, manual: &str) -> Vec<(String, String)> {
    let texts = read(manual);
    let functions = description::read(functions);
    let mut pages = Vec::new();
    for function in &functions {
        let name = format!("{}{}", function.prefix(), function.name);
        let told = Described::of(function, &texts);
        pages.push((format!("{name}.3"), page(function, &told, &texts)));
        if function.marks.contains("large") {
            pages.push((format!("{name}_c.3"), format!(".so man3/{name}.3\n")));
        }
    }
    for (name, entry) in &texts.entries {
        if let Some(prototype) = entry.prototype {
            pages.push((format!("MPI_{name}.3"), plain_page(name, prototype, entry, &texts)));
        }
    }
    pages.extend(conversions(&texts));
    pages
}

/// The text for a function: its own, or made from the blocking function.
struct Described<'t> {
    family: &'t Family<'t>,
    text: String,
    /// The function whose entry is used.
    listed: &'t str,
}

impl<'t> Described<'t> {
    fn of(function: &Function<'t>, texts: &'t Texts<'t>) -> Described<'t> {
        let name = function.name;
        let found = |name: &str| texts.entries.get_key_value(name);
        if let Some((&listed, entry)) = found(name) {
            return Described { family: &texts.families[entry.family], text: entry.text.to_owned(), listed };
        }
        let after = |base: &str, how: &str| {
            let (&listed, entry) =
                found(base).unwrap_or_else(|| panic!("manual.txt has no entry for {name}"));
            let first = entry.text.split(';').next().expect("a text");
            let text = format!("{how} {first}");
            Described { family: &texts.families[entry.family], text, listed }
        };
        if let Some(base) = name.strip_suffix("_init") {
            return after(
                base,
                &format!(
                    "prepares an operation like MPI_{base} that may be started many times; nothing happens before MPI_Start. MPI_{base}"
                ),
            );
        }
        let begun = name.strip_prefix('I').map(capital).unwrap_or_default();
        after(
            &begun,
            &format!(
                "starts a nonblocking MPI_{begun}, and returns at once; do not use the buffers before the request is complete. MPI_{begun}"
            ),
        )
    }
}

fn capital(word: &str) -> String {
    format!("{}{}", word[..1].to_uppercase(), &word[1..])
}

fn heading(out: &mut String, name: &str, title: &str, names: &[String], text: &str) {
    let short = text.split(';').next().expect("a text");
    line!(out, ".\\\" Made from interfaces/mpi/functions.txt and manual.txt by interfaces/mpi/manual.rs.");
    line!(out, ".TH {name} 3 2026-11-24 \"{title}\" \"Parvum\"");
    line!(out, ".SH NAME\n{} \\- {}", names.join(", "), escaped(short));
}

/// Hyphens stay hyphens in the output.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

fn standard(family: &Family) -> &'static str {
    match family.chapter {
        "20" => "MPI 5.0",
        "-" => "ULFM",
        _ => "MPI 4.1",
    }
}

fn page(function: &Function, told: &Described, texts: &Texts) -> String {
    let name = format!("{}{}", function.prefix(), function.name);
    let mut names = vec![name.clone()];
    let has_large = function.marks.contains("large");
    if has_large {
        names.push(format!("{name}_c"));
    }
    let mut out = String::new();
    heading(&mut out, &name, standard(told.family), &names, &told.text);
    line!(out, ".SH SYNOPSIS\n.nf\n.B #include <mpi.h>\n.PP");
    for large in if has_large { vec![false, true] } else { vec![function.name.ends_with("_c")] } {
        let parameters: Vec<String> =
            function.arguments.iter().map(|argument| c_parameter(function, argument, large)).collect();
        let list = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        line!(out, "int {name}{}({list});", if large && has_large { "_c" } else { "" });
    }
    line!(out, ".fi");
    write_fortran(&mut out, function, &name);
    line!(out, ".SH DESCRIPTION\n\\fB{name}\\fR {}.", escaped(&told.text));
    line!(out, ".PP\n{}", escaped(told.family.text));
    line!(out, ".PP\n{}", waiting(function, &name));
    if has_large {
        line!(out, ".PP\n\\fB{name}_c\\fR is the same function with counts and sizes of type MPI_Count.");
    }
    if function.marks.contains("mpich") || function.marks.contains("removed") {
        line!(out, ".PP\nThe standard ABI (\\fBmpicc \\-mpi\\-abi\\fR) does not have it.");
    }
    if !function.arguments.is_empty() {
        line!(out, ".SH PARAMETERS");
        for argument in &function.arguments {
            let (way, text) = meaning(function, argument);
            line!(out, ".TP\n.I {}\n({way}) {}", argument.name, escaped(&text));
        }
    }
    write_errors(&mut out, function);
    write_end(&mut out, function.name, told, texts);
    out
}

/// One parameter in C, as in the header but without decoration.
fn c_parameter(function: &Function, argument: &Argument, large: bool) -> String {
    let text = crate::header::parameter(
        argument,
        &format!("{}{}", function.name, if large { "_c" } else { "" }),
        large,
    );
    let place = text.rfind(argument.name).expect("the name is in it");
    let (before, behind) = (&text[..place], &text[place + argument.name.len()..]);
    format!("{}\\fI{}\\fR{behind}", escaped(before), argument.name)
}

fn write_fortran(out: &mut String, function: &Function, name: &str) {
    if !fortran08::is_in_module(function) {
        return;
    }
    let all = fortran08::arguments(function);
    let mut names: Vec<&str> = all.iter().map(|argument| argument.name).collect();
    names.push("ierror");
    line!(out, ".SS Fortran\n.nf\n.B use mpi_f08\n.PP\n{name}(\\fI{}\\fR)", names.join("\\fR, \\fI"));
    for argument in all {
        let (kind, shape) = fortran08::declaration(function, argument, function.name.ends_with("_c"));
        line!(out, "    {} :: \\fI{}\\fR{}", kind, argument.name, escaped(shape));
    }
    line!(out, "    integer, optional, intent(out) :: \\fIierror\\fR\n.fi");
    line!(
        out,
        ".PP\nWith \\fBuse mpi\\fR or \\fBmpif.h\\fR, handles and statuses are INTEGERs, and \\fIierror\\fR is not optional."
    );
}

/// The sentence about waiting.
fn waiting(function: &Function, name: &str) -> &'static str {
    let begins = function
        .arguments
        .iter()
        .any(|argument| argument.kind == "request_out" && argument.name == "request");
    if crate::functions::number(name) != 0 {
        "The call may wait for other processes. A waiting process sleeps, and \\fBparvum why\\fR prints the reason."
    } else if begins && !matches!(function.name, "Cancel" | "Start" | "Test" | "Request_free") {
        "The call never waits; \\fBMPI_Wait\\fR(3) and related functions wait for the request."
    } else {
        "The call never waits for other processes."
    }
}

/// Whether the call reads or writes an argument, and what the argument is.
fn meaning(function: &Function, argument: &Argument) -> (&'static str, String) {
    let (kind, name) = (argument.kind, argument.name);
    let way = match kind {
        "request_out" | "requests_out" if !creates(function) => "in, out",
        kind if kind.ends_with("_out") && is_changed(function, argument) => "in, out",
        kind if kind.ends_with("_out") || kind == "comm_later" => "out",
        "out" if function.name.ends_with("cast") && !function.name.starts_with('I') => "in, out",
        "out" if !["extra_state", "base", "obj_handle", "user_data"].contains(&name) && name != "buffer" => {
            "out"
        }
        _ => "in",
    };
    (way, what(function, kind, name))
}

fn creates(function: &Function) -> bool {
    let changes = ["Wait", "Test", "Start", "Cancel", "Request_free"];
    !changes.iter().any(|word| function.name.starts_with(word))
}

fn is_changed(function: &Function, argument: &Argument) -> bool {
    let ends = ["_free", "_disconnect", "_commit", "_close", "_finalize", "rrecv"];
    ends.iter().any(|end| function.name.ends_with(end))
        || matches!(argument.name, "position" | "name_len" | "desc_len" | "buflen" | "pset_len")
        || matches!(function.name, "Comm_agree" | "Comm_iagree" | "Dims_create" | "Mrecv" | "Imrecv")
            && argument.kind != "status_out"
            && argument.kind != "request_out"
        || function.name.starts_with("Status_set")
}

/// The text for an argument: by its name if the name has a text, otherwise by its kind.
fn what(function: &Function, kind: &str, name: &str) -> String {
    let by_name = match name {
        "buf" if kind == "in" => "the data to send or write",
        "buf" => "the buffer for the received or read data",
        "sendbuf" if function.name.contains("endrecv") || function.name.contains("eighbor") => {
            "the data of this process"
        }
        "sendbuf" => "the data of this process, or MPI_IN_PLACE if the standard allows it",
        "recvbuf" => "the buffer for the result of this process",
        "buffer" if function.name.contains("cast") => "the root's data; at other processes the buffer for it",
        "buffer" if function.name.contains("attach") => "memory of the program, or MPI_BUFFER_AUTOMATIC",
        "origin_addr" if kind == "in" => "the data for the target",
        "origin_addr" => "the buffer for the data from the target",
        "result_addr" => "the buffer for the old data of the target",
        "compare_addr" => "the expected value at the target",
        "inbuf" => "the data to read",
        "outbuf" | "inoutbuf" => "the buffer for the result",
        "extra_state" => "passed unchanged to the program's functions",
        "attribute_val" => "the attribute, or the place for it",
        "baseptr" => "the place for the address of the memory",
        "buffer_addr" => "the place for the address of the buffer",
        "base" => "the start address of the memory",
        "location" => "the variable",
        "obj_handle" => "the object to which the variable is bound; ignored, because no variable is bound",
        "dest" => "rank of the receiver, or MPI_PROC_NULL",
        "source" if kind == "rank" => "rank of the sender, MPI_ANY_SOURCE or MPI_PROC_NULL",
        "target_rank" => "rank of the target in the window's group",
        "target_disp" => "displacement in the target's window, in its units",
        "color" => "processes with the same colour share a communicator; MPI_UNDEFINED: no communicator",
        "key" if kind == "int" => "order of ranks in the new communicator",
        "flag" => "true or false",
        "position" => "offset in the buffer in bytes; the call advances it",
        "resultlen" => "length of the string, without a null character",
        "reorder" => "true if processes may get new ranks",
        "root" => "rank of the root",
        "commute" => "true if the operation commutes",
        "errorcode" => "an error code",
        "errorclass" => "an error class",
        "maxprocs" => "the number of processes to start",
        "array_of_errcodes" => "an error code for each process, or MPI_ERRCODES_IGNORE",
        "array_of_indices" => "indices of the complete requests",
        "indx" => "index in the list, or of the complete request",
        "outcount" => "the number of complete requests",
        "ndims" => "number of dimensions",
        "dims" => "processes in each dimension",
        "periods" => "for each dimension, true if it is periodic",
        "coords" => "coordinate in each dimension",
        "sourceweights" | "destweights" | "weights" => "weights of the edges, or MPI_UNWEIGHTED",
        "disp_unit" => "bytes of a unit of displacements",
        "datarep" => "representation of the data: native, internal or external32",
        "filename" => "name of the file",
        "port_name" => "name of the port",
        "service_name" => "name under which a port is published",
        _ => "",
    };
    if !by_name.is_empty() {
        return by_name.to_owned();
    }
    let by_kind = match kind {
        "count" => "the number of elements or bytes",
        "count_out" => "the number",
        "counts" if name.ends_with("displs") => "displacement of each block",
        "counts" => "a count for each block",
        "aint" | "aint_out" | "offset" | "offset_out" | "displacement" => {
            "an address, a distance or a size in bytes"
        }
        "aints" | "aints_out" => "displacements in bytes",
        "large" | "large_out" | "larges_out" => "a count",
        "rank" | "ranks" | "ranks_out" | "rank_out" => "a rank, or several",
        "tag" | "tag_out" => "the tag: 0 to the attribute MPI_TAG_UB; MPI_ANY_TAG in a receive or probe",
        "comm" => "the communicator",
        "comm_out" | "comm_later" => "the communicator that the call makes or frees",
        "type" => "the datatype",
        "types" | "types_out" => "datatypes",
        "type_out" => "the datatype that the call makes, returns, commits or frees",
        "group" => "the group",
        "group_out" => "the group that the call makes or frees",
        "op" | "op_out" => "the operation",
        "info" | "infos" | "info_out" => "hints, or MPI_INFO_NULL",
        "errhandler" | "errhandler_out" => "the error handler",
        "request" | "request_out" => "the request",
        "requests" | "requests_out" => "requests",
        "win" | "win_out" => "the window",
        "session" | "session_out" => "the session",
        "message" | "message_out" => "the message",
        "file" | "file_out" => "the file",
        "keyval" | "keyval_out" => "the key",
        "status" => "the status",
        "status_out" => "the place for the status, or MPI_STATUS_IGNORE (for several: MPI_STATUSES_IGNORE)",
        "string" => "a string",
        "text_out" => "the buffer for the string",
        "call" => "a function of the program",
        "assert" => "0, or assertions such as MPI_MODE_NOCHECK",
        "lock" => "MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE",
        "amode" | "amode_out" => "the access mode, such as MPI_MODE_RDONLY",
        "whence" => "MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END",
        "thread" | "thread_out" => "a level of threads: MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE",
        "order" => "MPI_ORDER_C or MPI_ORDER_FORTRAN",
        "comparison_out" => "MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL",
        "topology_out" => "MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH or MPI_UNDEFINED",
        "combiner_out" => "the constructor, such as MPI_COMBINER_NAMED",
        "split" => "the common property, such as MPI_COMM_TYPE_SHARED",
        "argv" | "argvs" | "argv_inout" => "arguments of the program, or commands",
        "ranges" => "first rank, last rank and stride of each range",
        "in" | "out" => "data",
        kind if kind.starts_with("t_") => "a handle of MPI_T",
        _ => "a number, or several",
    };
    by_kind.to_owned()
}

fn write_errors(out: &mut String, function: &Function) {
    let mut errors: Vec<(&str, String)> = Vec::new();
    let mut add = |name: &'static str, text: String| {
        if !errors.iter().any(|(other, _)| *other == name) {
            errors.push((name, text));
        }
    };
    if function.is_tool() {
        if function.name != "T_init_thread" {
            add("MPI_T_ERR_NOT_INITIALIZED", "MPI_T_init_thread was not called".into());
        }
        for argument in &function.arguments {
            match (argument.kind, argument.name) {
                ("string", _) => add("MPI_T_ERR_INVALID_NAME", "nothing has this name".into()),
                ("int", "indx") => add("MPI_T_ERR_INVALID_ITEM", "nothing has this index".into()),
                ("int", name) if name.ends_with("_index") => {
                    add("MPI_T_ERR_INVALID_INDEX", "nothing has this index".into())
                }
                ("t_session" | "t_session_out", _) if function.name != "T_pvar_session_create" => {
                    add("MPI_T_ERR_INVALID_SESSION", "the session is invalid".into())
                }
                (kind, _)
                    if kind.starts_with("t_") && !kind.ends_with("_out")
                        || function.name.ends_with("handle_free") && kind.starts_with("t_") =>
                {
                    add("MPI_T_ERR_INVALID_HANDLE", "the handle is invalid".into());
                }
                _ => {}
            }
        }
        match function.name {
            "T_cvar_write" => {
                add("MPI_T_ERR_CVAR_SET_NOT_NOW", "MPI has started; set the variable before MPI_Init".into())
            }
            "T_pvar_start" | "T_pvar_stop" => {
                add("MPI_T_ERR_PVAR_NO_STARTSTOP", "the variable always counts".into())
            }
            "T_pvar_write" | "T_pvar_reset" | "T_pvar_readreset" => {
                add("MPI_T_ERR_PVAR_NO_WRITE", "the variable shows a present state, and is read-only".into())
            }
            _ => {}
        }
    } else {
        let has = |kinds: &[&str]| function.arguments.iter().find(|argument| kinds.contains(&argument.kind));
        for (kinds, name, text) in ERRORS {
            if let Some(argument) = has(kinds) {
                add(name, text.replace("{}", &format!("\\fI{}\\fR", argument.name)));
            }
        }
        let waits = crate::functions::number(&format!("{}{}", function.prefix(), function.name)) != 0;
        let begins = has(&["request_out", "requests_out"]).is_some();
        if function.name.contains("recv") || function.name.contains("Recv") {
            add(
                "MPI_ERR_TRUNCATE",
                "the message is longer than the buffer; the buffer has its first bytes".into(),
            );
        }
        if has(&["status_out"]).is_some_and(|argument| argument.name.starts_with("array")) {
            add("MPI_ERR_IN_STATUS", "some requests have failed; the statuses have the error codes".into());
        }
        if (waits || begins) && has(&["comm", "request", "request_out", "requests_out", "win"]).is_some() {
            add("MPIX_ERR_PROC_FAILED", "a process that the call needs has died".into());
        }
        if waits && has(&["comm"]).is_some() {
            add("MPIX_ERR_REVOKED", "the communicator was revoked".into());
        }
        if function.marks.contains("unbuilt") {
            add("MPI_ERR_UNSUPPORTED_OPERATION", "always: Parvum does not have this function".into());
        }
        if !matches!(function.name, "Initialized" | "Finalized" | "Get_version" | "Get_library_version") {
            add(
                "MPI_ERR_OTHER",
                "MPI has not started, or has ended; otherwise MPI_Error_string has the reason".into(),
            );
        }
    }
    line!(
        out,
        ".SH RETURN VALUE\nMPI_SUCCESS{}",
        if errors.is_empty() { "." } else { ", or an error code whose class is one of these:" }
    );
    for (name, text) in errors {
        line!(out, ".TP\n.B {name}\n{text}");
    }
}

/// The error for each kind of argument.
const ERRORS: [(&[&str], &str, &str); 20] = [
    (&["comm"], "MPI_ERR_COMM", "{} is null, or not a communicator"),
    (&["count", "large"], "MPI_ERR_COUNT", "{} is negative"),
    (&["type", "types"], "MPI_ERR_TYPE", "{} is null, invalid or not committed"),
    (&["in"], "MPI_ERR_BUFFER", "{} is null with a nonzero count, or overlaps another buffer"),
    (&["rank", "ranks"], "MPI_ERR_RANK", "{} is not a rank of the communicator or group"),
    (&["tag"], "MPI_ERR_TAG", "{} is negative"),
    (&["root"], "MPI_ERR_ROOT", "{} is not a rank of the communicator"),
    (&["op"], "MPI_ERR_OP", "{} is null, invalid, or unsuitable for this datatype"),
    (&["group"], "MPI_ERR_GROUP", "{} is null, or not a group"),
    (&["win"], "MPI_ERR_WIN", "{} is null, or not a window"),
    (&["file"], "MPI_ERR_FILE", "{} is null, or not a file"),
    (&["info", "infos"], "MPI_ERR_INFO", "{} is not an object for hints"),
    (&["errhandler"], "MPI_ERR_ERRHANDLER", "{} is not an error handler, or is for other objects"),
    (&["request", "requests", "requests_out"], "MPI_ERR_REQUEST", "{} is not a request of this kind"),
    (&["session"], "MPI_ERR_SESSION", "{} is null, or not a session"),
    (&["keyval"], "MPI_ERR_KEYVAL", "{} is not a key, or is predefined"),
    (&["amode"], "MPI_ERR_AMODE", "{} is not valid"),
    (&["lock"], "MPI_ERR_LOCKTYPE", "{} is not valid"),
    (&["assert"], "MPI_ERR_ASSERT", "{} has undefined bits"),
    (
        &[
            "int_out",
            "ints_out",
            "comm_out",
            "type_out",
            "group_out",
            "request_out",
            "string",
            "text_out",
            "aint_out",
            "count_out",
        ],
        "MPI_ERR_ARG",
        "{} or another result pointer is null, or a number is invalid",
    ),
];

/// The chapter of the standard, and related functions.
fn write_end(out: &mut String, own: &str, told: &Described, texts: &Texts) {
    match told.family.chapter {
        "-" => line!(out, ".SH STANDARDS\n{}.", escaped(told.family.title)),
        chapter => line!(
            out,
            ".SH STANDARDS\n{}, chapter {chapter}: {}.",
            standard(told.family),
            escaped(told.family.title)
        ),
    }
    let place = texts.order.iter().position(|name| *name == told.listed).expect("it is listed");
    let family = texts.entries[told.listed].family;
    let first = place.saturating_sub(3);
    let near = texts.order[first..texts.order.len().min(place + 4)].iter();
    let near = near.filter(|name| texts.entries[*name].family == family && **name != own);
    let prefix =
        |name: &str| if told.family.chapter == "-" { format!("MPIX_{name}") } else { format!("MPI_{name}") };
    let names: Vec<String> = near.map(|name| prefix(name)).collect();
    line!(out, ".SH SEE ALSO");
    let mut all = vec![".BR parvum (7)".to_owned(), ".BR mpicc (1)".to_owned()];
    all.extend(names.iter().map(|name| format!(".BR {name} (3)")));
    line!(out, "{}", all.join(",\n"));
}

/// A function that the description lacks.
fn plain_page(name: &str, prototype: &str, entry: &Entry, texts: &Texts) -> String {
    let (family, whole) = (&texts.families[entry.family], format!("MPI_{name}"));
    let mut out = String::new();
    heading(&mut out, &whole, standard(family), std::slice::from_ref(&whole), entry.text);
    line!(out, ".SH SYNOPSIS\n.nf\n.B #include <mpi.h>\n.PP\n{};\n.fi", escaped(prototype));
    line!(out, ".SH DESCRIPTION\n\\fB{whole}\\fR {}.\n.PP\n{}", escaped(entry.text), escaped(family.text));
    line!(out, ".PP\nThe call never waits for other processes.");
    let gives = match prototype.split(' ').next() {
        Some("int") => "MPI_SUCCESS, or MPI_ERR_ARG if an argument is invalid.",
        _ => "The value in the description; there are no errors.",
    };
    line!(out, ".SH RETURN VALUE\n{gives}");
    let told = Described {
        family,
        text: entry.text.to_owned(),
        listed: texts.entries.get_key_value(name).expect("it is there").0,
    };
    write_end(&mut out, name, &told, texts);
    out
}

/// Conversions of handles: the same four functions for each kind of object.
fn conversions(texts: &Texts) -> Vec<(String, String)> {
    const OBJECTS: [(&str, &str); 11] = [
        ("Comm", "MPI_Comm"),
        ("Type", "MPI_Datatype"),
        ("Group", "MPI_Group"),
        ("Info", "MPI_Info"),
        ("Request", "MPI_Request"),
        ("Op", "MPI_Op"),
        ("Errhandler", "MPI_Errhandler"),
        ("Win", "MPI_Win"),
        ("Message", "MPI_Message"),
        ("Session", "MPI_Session"),
        ("File", "MPI_File"),
    ];
    let language = texts.families.iter().find(|family| family.chapter == "19").expect("it is there");
    let mut pages = Vec::new();
    for (name, kind) in OBJECTS {
        let first = format!("MPI_{name}_c2f");
        let ends = ["c2f", "f2c", "toint", "fromint"];
        let names: Vec<String> = ends.iter().map(|end| format!("MPI_{name}_{end}")).collect();
        let mut out = String::new();
        heading(
            &mut out,
            &first,
            "MPI 4.1",
            &names,
            &format!("convert a handle of type {kind} to a number and back"),
        );
        line!(out, ".SH SYNOPSIS\n.nf\n.B #include <mpi.h>\n.PP");
        line!(
            out,
            "MPI_Fint MPI_{name}_c2f({kind} \\fIhandle\\fR);\n{kind} MPI_{name}_f2c(MPI_Fint \\fIhandle\\fR);"
        );
        line!(
            out,
            "int MPI_{name}_toint({kind} \\fIhandle\\fR);\n{kind} MPI_{name}_fromint(int \\fInumber\\fR);\n.fi"
        );
        line!(
            out,
            ".SH DESCRIPTION\n\\fBMPI_{name}_c2f\\fR returns the Fortran handle of the same object, an INTEGER, and \\fBMPI_{name}_f2c\\fR the C handle."
        );
        line!(
            out,
            "\\fBMPI_{name}_toint\\fR and \\fBMPI_{name}_fromint\\fR convert to and from a C int, with every ABI. The standard ABI has only these two."
        );
        line!(out, ".PP\n{}\n.PP\nThe calls never wait.", language.text);
        line!(out, ".SH RETURN VALUE\nThe handle or number; there are no errors.");
        line!(
            out,
            ".SH STANDARDS\nMPI 4.1, chapter 19: {}; MPI_{name}_toint and MPI_{name}_fromint: MPI 5.0.",
            language.title
        );
        line!(out, ".SH SEE ALSO\n.BR parvum (7),\n.BR mpicc (1)");
        pages.push((format!("{first}.3"), out));
        pages.extend(names[1..].iter().map(|name| (format!("{name}.3"), format!(".so man3/{first}.3\n"))));
    }
    pages
}
