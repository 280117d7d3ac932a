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
            Some(format!("calls::there(a_{lower}.is_null(), \"{name}\")?;"))
        }
        _ => None,
    }
}
