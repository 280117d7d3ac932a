// Reads `functions.txt`. Used by what makes faces and headers of it.

/// An argument: its kind and its name.
pub struct Argument<'t> {
    pub kind: &'t str,
    pub name: &'t str,
}

pub struct Function<'t> {
    pub name: &'t str,
    pub arguments: Vec<Argument<'t>>,
    pub marks: &'t str,
}

impl Function<'_> {
    /// What its name begins with.
    pub fn prefix(&self) -> &'static str {
        if self.marks.contains("beside") { "MPIX_" } else { "MPI_" }
    }

    /// One of MPI_T: it answers with codes of its own, and calls no error handler.
    pub fn is_tool(&self) -> bool {
        self.name.starts_with("T_")
    }
}

/// All functions of the description.
pub fn read(description: &str) -> Vec<Function<'_>> {
    description.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(line).collect()
}

fn line(line: &str) -> Function<'_> {
    let (name, rest) = line.split_once('(').expect("a function");
    let (list, marks) = rest.split_once(')').expect("its arguments");
    let arguments = list
        .split(", ")
        .filter(|text| !text.is_empty())
        .map(|text| {
            let (kind, name) = text.split_once(' ').expect("a kind and a name");
            Argument { kind, name }
        })
        .collect();
    Function { name, arguments, marks }
}

/// The kind as far as a type of C goes: what a number means is known to a face that has other numbers.
pub fn plain(kind: &str) -> &str {
    match kind {
        "code" | "keyval" | "thread" | "order" | "typeclass" | "split" | "assert" | "lock" | "amode"
        | "whence" | "varclass" | "safety" => "int",
        "code_out" | "keyval_out" | "rank_out" | "tag_out" | "comparison_out" | "topology_out"
        | "thread_out" | "combiner_out" | "amode_out" | "verbosity_out" | "bind_out" | "scope_out"
        | "varclass_out" | "ordering_out" => "int_out",
        "ranks" | "distributions" | "dargs" => "ints",
        "ranks_out" => "ints_out",
        "displacement" => "offset",
        "comm_later" => "comm_out",
        kind => kind,
    }
}

/// The object of a handle's kind, if an argument is one handle; its null has the name `X_NULL`.
pub fn object<'t>(argument: &Argument<'t>) -> Option<&'t str> {
    let kind = match argument.kind {
        "comm_later" => "comm",
        kind => kind.strip_suffix("_out").unwrap_or(kind),
    };
    let kinds =
        ["comm", "type", "group", "op", "info", "errhandler", "request", "message", "win", "session", "file"];
    (kinds.contains(&kind) && !argument.name.starts_with("array_")).then_some(kind)
}

/// A kind with a capital letter.
pub fn title(kind: &str) -> String {
    let (first, rest) = kind.split_at(1);
    first.to_uppercase() + rest
}

/// The name of a kind's null handle, without MPI_.
pub fn null(kind: &str) -> String {
    format!("{}_NULL", if kind == "type" { "datatype" } else { kind }.to_uppercase())
}

/// Whether a call is a constructor of datatypes in the form with large counts.
pub fn makes_large(function: &Function, large: bool) -> bool {
    large
        && function.arguments.iter().any(|argument| argument.kind == "type_out" && argument.name == "newtype")
}

/// Whether a call reads the handle that a place has, and changes it.
pub fn is_changed(function: &Function, argument: &Argument) -> bool {
    let name = function.name;
    match argument.kind {
        "message_out" => matches!(name, "Mrecv" | "Imrecv"),
        "request_out" => matches!(name, "Cancel" | "Start" | "Test" | "Wait") || name.ends_with("_free"),
        kind if kind.ends_with("_out") => {
            name.ends_with("_free")
                || matches!(name, "Comm_disconnect" | "File_close" | "Session_finalize" | "Type_commit")
        }
        _ => false,
    }
}

/// The kind of handle that a call only gives back: the place has the null handle if the call fails.
pub fn given<'t>(function: &Function, argument: &Argument<'t>) -> Option<&'t str> {
    let is_place = argument.kind == "comm_later" || argument.kind.ends_with("_out");
    object(argument).filter(|_| is_place && !function.is_tool() && !is_changed(function, argument))
}

/// Which object's error handler a call's errors go to.
pub enum Errors<'t> {
    /// That of the object of an argument: its kind and the argument.
    Of(&'t str, &'t Argument<'t>),
    /// The one that the call is given for the object that it makes.
    Given(&'t Argument<'t>),
    /// That of files to come.
    Files,
    /// None of an object.
    Nothing,
}

/// See [`Errors`].
pub fn errors<'t>(function: &'t Function<'t>) -> Errors<'t> {
    if matches!(function.name, "File_open" | "File_delete") {
        return Errors::Files;
    }
    let made = function.arguments.iter().any(|argument| matches!(argument.kind, "comm_out" | "session_out"));
    let errhandler = function.arguments.iter().find(|argument| argument.kind == "errhandler");
    let bearer = function.arguments.iter().find_map(|argument| {
        let kind = object(argument).filter(|kind| matches!(*kind, "comm" | "win" | "session" | "file"))?;
        let is_there = !argument.kind.ends_with("_out") || is_changed(function, argument);
        (is_there && argument.kind != "comm_later").then_some((kind, argument))
    });
    match (bearer, errhandler) {
        (Some((kind, argument)), _) => Errors::Of(kind, argument),
        (None, Some(errhandler)) if made => Errors::Given(errhandler),
        _ => Errors::Nothing,
    }
}

/// What a face checks of an argument before it calls the core, as Rust; `handle` is the core's number of one that is a handle.
///
/// What the core makes something of (communicators, datatypes, counts, ranks) it refuses itself when it does. This is what it would
/// find too late, when messages are sent already, or never: a result that has no place, and hints that nobody heeds.
pub fn check(function: &Function, argument: &Argument, handle: &str) -> Option<String> {
    let Argument { kind, name } = *argument;
    let lower = name.to_lowercase();
    // An array may be empty, and MPI_Init's arguments need not be given.
    let may_lack = name.starts_with("array_") || function.name.starts_with("Init") || function.is_tool();
    match plain(kind) {
        "info" if !function.is_tool() => Some(format!("calls::known_hints({handle})?;")),
        "int_out" | "count_out" | "aint_out" | "large_out" | "offset_out" | "comm_out" | "group_out"
        | "type_out" | "op_out" | "info_out" | "errhandler_out" | "request_out" | "message_out"
        | "win_out" | "session_out" | "file_out"
            if !may_lack =>
        {
            let there = format!("calls::there(a_{lower}.is_null(), \"{name}\")?;");
            // What is begun must be named.
            let is_begun = given(function, argument) == Some("request");
            Some(if is_begun { format!("{there} calls::room_for_a_request()?;") } else { there })
        }
        _ => None,
    }
}
