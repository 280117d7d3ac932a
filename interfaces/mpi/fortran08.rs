// Makes the module mpi_f08 from `functions.txt` and `mpi.h`: its types and constants, an interface for each function and its form with
// large counts, and in C what they call. Data comes as descriptors of Fortran's (TYPE(*), DIMENSION(..)), so sections of arrays go as
// they are; what takes none has the calling convention of mpif.h's functions, and calls those when they are written by hand.

use crate::description::{self, Argument, Function};
use crate::fortran::{OF_FORTRAN, constant, is_of_c_alone, longest};
use std::fmt::Write;

macro_rules! line {
    ($out:expr, $($text:tt)*) => { writeln!($out, $($text)*).expect("a string grows") };
}

/// What is data of C's, and an address or a number in Fortran.
const OPAQUE: &[&str] = &["baseptr", "buffer_addr", "extra_state", "attribute_val"];
/// Numbers of C's that are LOGICAL.
const LOGICAL: &[&str] = &["flag", "reorder", "commute", "high", "weighted", "periods", "remain_dims"];
/// Handles that a call changes rather than gives.
const CHANGES: &[&str] = &[
    "free",
    "disconnect",
    "Cancel",
    "Start",
    "Wait",
    "Test",
    "commit",
    "Mrecv",
    "Imrecv",
    "close",
    "finalize",
    "position",
    "buflen",
    "pset_len",
];

/// The arguments that Fortran has, without those that only C's programs have.
pub fn arguments<'t>(function: &'t Function<'t>) -> Vec<&'t Argument<'t>> {
    let of_c = |argument: &Argument| matches!(argument.name, "argc" | "argv") && argument.kind != "argv";
    let is_env = function.name == "Info_create_env";
    function.arguments.iter().filter(|a| if is_env { a.kind == "info_out" } else { !of_c(a) }).collect()
}

/// Whether it has a place in the module.
pub fn is_in_module(function: &Function) -> bool {
    let old = ["Attr_", "Keyval_"].iter().any(|old| function.name.starts_with(old));
    let is_removed = function.marks.contains("removed") || function.marks.contains("unbuilt");
    !is_of_c_alone(function)
        && !is_removed
        && !old
        && !["Pcontrol", "Register_datarep"].contains(&function.name)
}

fn is_choice(argument: &Argument) -> bool {
    matches!(argument.kind, "in" | "out") && !OPAQUE.contains(&argument.name)
}

fn has_choice(function: &Function) -> bool {
    function.arguments.iter().any(is_choice)
}

/// How an argument is declared in Fortran: its type, and behind its name the shape.
pub fn declaration(function: &Function, argument: &Argument, large: bool) -> (String, &'static str) {
    let (kind, name) = (argument.kind, argument.name);
    let is_address = name == "target_disp"
        || name == "size" && function.name.starts_with("Win_")
        || function.name.contains("eighbor");
    let count = match large {
        true if name == "disp_unit" || name.ends_with("displs") => "integer(kind=MPI_ADDRESS_KIND)",
        true => "integer(kind=MPI_COUNT_KIND)",
        false => "integer",
    };
    let far = match large && !is_address {
        true => "integer(kind=MPI_COUNT_KIND)",
        false => "integer(kind=MPI_ADDRESS_KIND)",
    };
    let changes = CHANGES.iter().any(|word| function.name.contains(word) || name == *word);
    let intent = match kind.strip_suffix("_out") {
        Some(_) if changes => ", intent(inout)",
        Some(_) => ", intent(out)",
        None => ", intent(in)",
    };
    let logical = if LOGICAL.contains(&name) { "logical" } else { "integer" };
    let scalar = |kind: &str| (format!("{kind}{intent}"), "");
    let list = |kind: &str| (format!("{kind}{intent}"), "(*)");
    match kind {
        "in" | "out" if matches!(name, "baseptr" | "buffer_addr") => ("type(c_ptr), intent(out)".into(), ""),
        "in" | "out" if OPAQUE.contains(&name) => {
            let given = function.name.contains("_get_attr");
            (format!("integer(kind=MPI_ADDRESS_KIND), intent({})", if given { "out" } else { "in" }), "")
        }
        "in" => (format!("type(*), dimension(..), intent(in){}", asynchronous(function)), ""),
        "out" => (format!("type(*), dimension(..){}", asynchronous(function)), ""),
        "count" | "count_out" => scalar(count),
        "counts" => list(count),
        "aint" | "aint_out" => scalar(far),
        "aints" => list(far),
        "aints_out" => list("integer(kind=MPI_ADDRESS_KIND)"),
        "large" | "large_out" => scalar("integer(kind=MPI_COUNT_KIND)"),
        "larges_out" => list("integer(kind=MPI_COUNT_KIND)"),
        "offset" | "offset_out" | "displacement" => scalar("integer(kind=MPI_OFFSET_KIND)"),
        // MPI_UNWEIGHTED may stand there, which nobody writes.
        "ints_out" if name.contains("weights") || name == "array_of_errcodes" => ("integer".into(), "(*)"),
        "ints" | "ranks" | "distributions" | "dargs" | "ints_out" | "ranks_out" => list(logical),
        "ranges" => ("integer, intent(in)".into(), "(3, *)"),
        "status" => scalar("type(MPI_Status)"),
        "status_out" if name.starts_with("array") => ("type(MPI_Status)".into(), "(*)"),
        "status_out" if function.name.starts_with("Status_set") => {
            ("type(MPI_Status), intent(inout)".into(), "")
        }
        "status_out" => ("type(MPI_Status)".into(), ""),
        "string" => scalar("character(len=*)"),
        "text_out" => scalar("character(len=*)"),
        "argv" => list("character(len=*)"),
        "argvs" => ("character(len=*), intent(in)".into(), "(count, *)"),
        "call" => (format!("procedure({})", callback(name, large)), ""),
        "types" | "infos" | "requests" => list(&handle(kind.trim_end_matches('s'))),
        "types_out" => list(&handle("type")),
        "requests_out" => ("type(MPI_Request), intent(inout)".into(), "(*)"),
        // It is written when the request is over.
        "comm_later" => ("type(MPI_Comm), intent(out), asynchronous".into(), ""),
        "request_out" if name.starts_with("array") => ("type(MPI_Request), intent(inout)".into(), "(*)"),
        kind => {
            let object = kind.trim_end_matches("_out");
            let handles = [
                "comm",
                "type",
                "group",
                "op",
                "info",
                "errhandler",
                "request",
                "win",
                "session",
                "message",
                "file",
            ];
            if handles.contains(&object) { scalar(&handle(object)) } else { scalar(logical) }
        }
    }
}

/// Whether data is used after the call.
fn asynchronous(function: &Function) -> &'static str {
    let begins = function.arguments.iter().any(|argument| argument.kind == "request_out");
    let keeps = ["_begin", "_end", "attach", "Win_create"].iter().any(|word| function.name.contains(word));
    let accesses = matches!(
        function.name,
        "Put" | "Get" | "Accumulate" | "Get_accumulate" | "Fetch_and_op" | "Compare_and_swap"
    );
    if begins || keeps || accesses { ", asynchronous" } else { "" }
}

fn handle(object: &str) -> String {
    match object {
        "type" => "type(MPI_Datatype)".to_owned(),
        object => format!("type(MPI_{}{})", object[..1].to_uppercase(), &object[1..]),
    }
}

/// The interface of a function of the program's.
fn callback(name: &str, large: bool) -> String {
    match name {
        "user_fn" => format!("MPI_User_function{}", if large { "_c" } else { "" }),
        "query_fn" | "free_fn" | "cancel_fn" => format!("MPI_Grequest_{}nction", name.replace("_fn", "_fu")),
        name => {
            let (object, what) = name.split_once('_').expect("an object and what it does");
            format!("MPI_{}{}_{}", object[..1].to_uppercase(), &object[1..], what.replace("_fn", "_function"))
        }
    }
}

/// The forms of a function: with counts of INTEGERs, and with large ones.
fn forms<'t>(function: &'t Function) -> impl Iterator<Item = bool> + use<'t> {
    let is_large = function.name.ends_with("_c");
    [is_large, true].into_iter().take(if function.marks.contains("large") { 2 } else { 1 })
}

/// The name in Fortran and in C of one form, under the profiling interface or not.
fn names(function: &Function, large: bool, profiled: &str) -> (String, String) {
    let base = function.name.strip_suffix("_c").unwrap_or(function.name);
    let wide = if large { "_c" } else { "" };
    let c = format!("{profiled}{}{base}{wide}", function.prefix());
    let end = if has_choice(function) { "f08ts" } else { "f08" };
    (format!("{c}_{end}"), c)
}

/// The name that programs call it by: the same for both forms, when the compiler can tell them apart.
fn generic(function: &Function, large: bool, profiled: &str) -> String {
    let base = function.name.strip_suffix("_c").unwrap_or(function.name);
    let shape = |large: bool| -> Vec<String> {
        let all = arguments(function).into_iter().filter(|argument| argument.kind != "call");
        all.map(|a| declaration(function, a, large).0.replace("ADDRESS", "COUNT").replace("OFFSET", "COUNT"))
            .collect()
    };
    let is_alike = !function.name.ends_with("_c") && large && shape(false) == shape(true);
    format!("{profiled}{}{base}{}", function.prefix(), if is_alike { "_c" } else { "" })
}

// --- The module ------------------------------------------------------------------------------------------------------

const HANDLES: [&str; 11] =
    ["Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"];

/// The module, in Fortran.
pub fn module(text: &str, c: &str) -> String {
    let mut out = String::from(
        "! The module mpi_f08. Made from interfaces/mpi/functions.txt and mpi.h by interfaces/mpi/fortran08.rs; not to be edited.\n\
         module mpi_f08\n  use, intrinsic :: iso_c_binding, only: c_ptr\n  implicit none\n  public\n  private :: c_ptr\n\n",
    );
    for name in HANDLES {
        line!(out, "  type, bind(C) :: MPI_{name}\n    integer :: MPI_VAL\n  end type");
    }
    out += STATUS;
    for line in c.lines() {
        let Some((name, value)) = constant(line) else { continue };
        let cast = line.split_once("((").and_then(|(_, rest)| Some(rest.split_once(')')?.0));
        let of =
            cast.and_then(|cast| HANDLES.iter().find(|handle| cast.strip_prefix("MPI_") == Some(handle)));
        match of {
            Some(handle) => line!(out, "  type(MPI_{handle}), parameter :: {name} = MPI_{handle}({value})"),
            None if name == "MPI_DISPLACEMENT_CURRENT" => {
                line!(out, "  integer(8), parameter :: {name} = {value}")
            }
            None => line!(out, "  integer, parameter :: {name} = {value}"),
        }
    }
    for (name, value) in OF_FORTRAN {
        match name {
            "MPI_FILE_NULL" => line!(out, "  type(MPI_File), parameter :: {name} = MPI_File({value})"),
            _ => line!(out, "  integer, parameter :: {name} = {value}"),
        }
    }
    out += REST;
    for name in HANDLES {
        line!(out, "  interface operator(==)\n    procedure parvum_same_{name}\n  end interface");
        line!(out, "  interface operator(/=)\n    procedure parvum_other_{name}\n  end interface");
        line!(out, "  private :: parvum_same_{name}, parvum_other_{name}");
    }
    for function in &description::read(text) {
        if is_in_module(function) {
            for large in forms(function) {
                for profiled in ["", "P"] {
                    write_interface(&mut out, function, large, profiled);
                }
            }
        }
    }
    out += "contains\n";
    for name in HANDLES {
        for (word, sign) in [("same", "=="), ("other", "/=")] {
            line!(
                out,
                "  elemental logical function parvum_{word}_{name}(one, other)\n    type(MPI_{name}), intent(in) :: one, other\n    \
                 parvum_{word}_{name} = one%MPI_VAL {sign} other%MPI_VAL\n  end function"
            );
        }
    }
    out + "end module\n"
}

const STATUS: &str = "  type, bind(C) :: MPI_Status
    integer :: parvum_count, parvum_count_and_cancelled
    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR
  end type
";

/// What stands for something by its place, and functions of the program's.
const REST: &str = "  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true., MPI_ASYNC_PROTECTS_NONBLOCKING = .true.
  integer :: MPI_BOTTOM, MPI_IN_PLACE, parvum_ignored(MPI_STATUS_SIZE)
  integer :: parvum_ignored_all(MPI_STATUS_SIZE), MPI_ERRCODES_IGNORE(1)
  integer :: MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
  character(1) :: MPI_ARGVS_NULL(1, 1), MPI_ARGV_NULL(1)
  common /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, parvum_ignored
  common /MPIPRIV2/ parvum_ignored_all, MPI_ERRCODES_IGNORE
  common /MPIPRIVC/ MPI_ARGVS_NULL, MPI_ARGV_NULL
  common /MPIFCMB5/ MPI_UNWEIGHTED
  common /MPIFCMB9/ MPI_WEIGHTS_EMPTY
  private :: parvum_ignored, parvum_ignored_all
  type(MPI_Status), bind(C, name=\"parvum_f08_status_ignore\") :: MPI_STATUS_IGNORE
  type(MPI_Status), bind(C, name=\"parvum_f08_statuses_ignore\") :: MPI_STATUSES_IGNORE(1)

  abstract interface
    subroutine MPI_User_function(invec, inoutvec, len, datatype)
      import
      type(c_ptr), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
    end subroutine
    subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
      import
      type(c_ptr), value :: invec, inoutvec
      integer(kind=MPI_COUNT_KIND) :: len
      type(MPI_Datatype) :: datatype
    end subroutine
    subroutine MPI_Comm_copy_attr_function(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
      import
      type(MPI_Comm) :: oldcomm
      integer :: comm_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine
    subroutine MPI_Comm_delete_attr_function(comm, comm_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_Comm) :: comm
      integer :: comm_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine
    subroutine MPI_Type_copy_attr_function(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
      import
      type(MPI_Datatype) :: oldtype
      integer :: type_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine
    subroutine MPI_Type_delete_attr_function(datatype, type_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_Datatype) :: datatype
      integer :: type_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine
    subroutine MPI_Win_copy_attr_function(oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
      import
      type(MPI_Win) :: oldwin
      integer :: win_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine
    subroutine MPI_Win_delete_attr_function(win, win_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_Win) :: win
      integer :: win_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine
    subroutine MPI_Comm_errhandler_function(comm, error_code)
      import
      type(MPI_Comm) :: comm
      integer :: error_code
    end subroutine
    subroutine MPI_Win_errhandler_function(win, error_code)
      import
      type(MPI_Win) :: win
      integer :: error_code
    end subroutine
    subroutine MPI_File_errhandler_function(file, error_code)
      import
      type(MPI_File) :: file
      integer :: error_code
    end subroutine
    subroutine MPI_Session_errhandler_function(session, error_code)
      import
      type(MPI_Session) :: session
      integer :: error_code
    end subroutine
    subroutine MPI_Grequest_query_function(extra_state, status, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Status) :: status
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_free_function(extra_state, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
    end subroutine
  end interface
  procedure(MPI_Comm_copy_attr_function) :: MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN
  procedure(MPI_Comm_delete_attr_function) :: MPI_COMM_NULL_DELETE_FN
  procedure(MPI_Type_copy_attr_function) :: MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN
  procedure(MPI_Type_delete_attr_function) :: MPI_TYPE_NULL_DELETE_FN
  procedure(MPI_Win_copy_attr_function) :: MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN
  procedure(MPI_Win_delete_attr_function) :: MPI_WIN_NULL_DELETE_FN
  interface
    double precision function MPI_Wtime()
    end function
    double precision function MPI_Wtick()
    end function
    double precision function PMPI_Wtime()
    end function
    double precision function PMPI_Wtick()
    end function
    function MPI_Aint_add(base, disp)
      import
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: base, disp
      integer(kind=MPI_ADDRESS_KIND) :: MPI_Aint_add
    end function
    function MPI_Aint_diff(addr1, addr2)
      import
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
      integer(kind=MPI_ADDRESS_KIND) :: MPI_Aint_diff
    end function
    function PMPI_Aint_add(base, disp)
      import
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: base, disp
      integer(kind=MPI_ADDRESS_KIND) :: PMPI_Aint_add
    end function
    function PMPI_Aint_diff(addr1, addr2)
      import
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
      integer(kind=MPI_ADDRESS_KIND) :: PMPI_Aint_diff
    end function
    subroutine MPI_Pcontrol(level)
      integer, intent(in) :: level
    end subroutine
  end interface
  interface MPI_Sizeof
    subroutine MPI_Sizeof_f08ts(x, size, ierror) bind(C, name=\"parvum_sizeof\")
      type(*), dimension(..), intent(in) :: x
      integer, intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPI_Status_f2f08
    subroutine MPI_Status_f2f08_f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPI_Status_f082f
    subroutine MPI_Status_f082f_f08(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
";

fn write_interface(out: &mut String, function: &Function, large: bool, profiled: &str) {
    let (name, _) = names(function, large, profiled);
    let all = arguments(function);
    let mut listed: Vec<&str> = all.iter().map(|argument| argument.name).collect();
    listed.push("ierror");
    let lines: Vec<String> = listed.chunks(5).map(|some| some.join(", ")).collect();
    let listed = lines.join(", &\n      ");
    let binding = match has_choice(function) {
        true => format!(" &\n      bind(C, name=\"{}\")", name.to_lowercase()),
        false => String::new(),
    };
    line!(
        out,
        "  interface {}\n    subroutine {name}({listed}){binding}\n      import",
        generic(function, large, profiled)
    );
    // What another's shape is made of comes first.
    let is_shaped = |argument: &&&Argument| argument.kind == "argvs";
    for argument in all.iter().filter(|a| !is_shaped(a)).chain(all.iter().filter(is_shaped)) {
        let (kind, shape) = declaration(function, argument, large);
        line!(out, "      {kind} :: {}{shape}", argument.name);
    }
    line!(out, "      integer, optional, intent(out) :: ierror\n    end subroutine\n  end interface");
}

// --- What they call, in C --------------------------------------------------------------------------------------------

/// The functions behind the module, in C.
pub fn functions(text: &str) -> String {
    let mut out = String::from(
        "/* The functions behind the module mpi_f08. Made from interfaces/mpi/functions.txt by interfaces/mpi/fortran08.rs. */\n\
         #include \"sections.h\"\n",
    );
    for function in &description::read(text) {
        if is_in_module(function) {
            for large in forms(function) {
                for profiled in ["", "P"] {
                    match !has_choice(function) && !large {
                        true => write_passed(&mut out, function, profiled),
                        false => write_own(&mut out, function, large, profiled),
                    }
                }
            }
        }
    }
    out
}

/// As the function of mpif.h, but that the error code may be left out.
fn write_passed(out: &mut String, function: &Function, profiled: &str) {
    let (name, c) = names(function, false, profiled);
    let all = arguments(function);
    let is_text = |argument: &&&Argument| matches!(argument.kind, "string" | "text_out" | "argv" | "argvs");
    let texts: Vec<&str> = all.iter().filter(is_text).map(|argument| argument.name).collect();
    let typed = |kind: &str, names: &[&str], end: &str| -> String {
        names.iter().map(|name| format!("{kind}{name}{end}, ")).collect()
    };
    let listed: Vec<&str> = all.iter().map(|argument| argument.name).collect();
    let parameters = format!(
        "{}MPI_Fint *ierror{}",
        typed("void *", &listed, ""),
        before(&typed("size_t ", &texts, "_length"))
    );
    let passed =
        format!("{}ierror ? ierror : &code{}", typed("", &listed, ""), before(&typed("", &texts, "_length")));
    let (lower, called) = (name.to_lowercase(), c.to_lowercase());
    line!(
        out,
        "\nvoid {called}_({parameters});\nMPIF void {lower}_({parameters})\n{{\n\tMPI_Fint code;\n\t{called}_({passed});\n}}"
    );
}

/// What is in a list, with its comma before instead of behind it.
fn before(list: &str) -> String {
    if list.is_empty() { String::new() } else { format!(", {}", list.trim_end_matches(", ")) }
}

/// What becomes of data in the call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// One message of so many elements of a type: a section becomes a type of its own.
    Message,
    /// Used within the call: a section is copied.
    Within,
    /// Used after the call, in no such form: a section is refused.
    Kept,
    /// Only its place matters.
    Place,
}

fn use_of(function: &Function, place: usize) -> Use {
    let name = function.name.to_lowercase();
    let argument = &function.arguments[place];
    let is_counted = matches!(&function.arguments[place + 1..], [count, kind, ..] if count.kind == "count" && kind.kind == "type");
    let is_reduction = name.contains("reduce") || name.contains("scan");
    let in_blocks = match argument.name {
        "sendbuf" => name.contains("scatter") || name.contains("alltoall"),
        "recvbuf" => name.contains("gather") || name.contains("alltoall"),
        _ => false,
    };
    let keeps = !asynchronous(function).is_empty() || name == "free_mem" || name == "win_detach";
    match argument.name {
        "location" => Use::Place,
        _ if name.ends_with("_end") => Use::Place,
        _ if is_counted && !is_reduction && !in_blocks => Use::Message,
        _ if keeps => Use::Kept,
        _ => Use::Within,
    }
}

/// A function with data, or with large counts: it calls C's.
fn write_own(out: &mut String, function: &Function, large: bool, profiled: &str) {
    let (name, c) = names(function, large, profiled);
    let with_data = has_choice(function);
    let (mut parameters, mut lengths, mut passed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut before, mut checks, mut after) = (String::new(), String::new(), String::new());
    let count = if large { "MPI_Count" } else { "int" };
    let mut replaced: Option<&str> = None;
    for (place, argument) in function.arguments.iter().enumerate() {
        let (kind, own) = (argument.kind, argument.name);
        if is_choice(argument) {
            parameters.push(format!("CFI_cdesc_t *{own}"));
            let used = use_of(function, place);
            if used == Use::Place {
                passed.push(format!("data({own}->base_addr)"));
                continue;
            }
            line!(before, "\tstruct section {own}_s = {{0}};");
            let (check, gives) = match used {
                Use::Message => {
                    replaced = Some(own);
                    let (count, kind) =
                        (function.arguments[place + 1].name, function.arguments[place + 2].name);
                    (format!("parvum_message(&{own}_s, {own}, *{count}, *{kind})"), 0)
                }
                Use::Within => (format!("parvum_within(&{own}_s, {own})"), i32::from(kind == "out")),
                _ => (format!("parvum_kept(&{own}_s, {own})"), 0),
            };
            line!(checks, "\tif (!code) code = {check};");
            line!(after, "\tparvum_section_done(&{own}_s, {own}, {gives});");
            passed.push(format!("{own}_s.address"));
            continue;
        }
        // Count and type of what has become a message.
        if let Some(of) = replaced
            && matches!(kind, "count" | "type")
        {
            parameters.push(if kind == "type" || !large {
                format!("MPI_Fint *{own}")
            } else {
                format!("MPI_Count *{own}")
            });
            passed.push(if kind == "type" {
                format!("{of}_s.type")
            } else {
                format!("({count}){of}_s.count")
            });
            replaced = replaced.filter(|_| kind == "count");
            continue;
        }
        let (parameter, value) = own_parameter(function, argument, large, with_data);
        match kind {
            "string" => {
                let text = if with_data {
                    (format!("(char *){own}->base_addr"), format!("{own}->elem_len"))
                } else {
                    lengths.push(format!("size_t {own}_length"));
                    (own.to_owned(), format!("{own}_length"))
                };
                line!(
                    before,
                    "\tstruct text {own}_text;\n\tchar *{own}_c = parvum_text(&{own}_text, {}, {});",
                    text.0,
                    text.1
                );
                line!(after, "\tparvum_text_done(&{own}_text);");
            }
            "text_out" => {
                lengths.push(format!("size_t {own}_length"));
                line!(before, "\tchar {own}_c[{} + 1] = \"\";", longest(function.name));
                line!(after, "\tif (!code) parvum_give_text({own}, {own}_length, {own}_c);");
            }
            "file_out" => {
                line!(before, "\tMPI_File {own}_c = MPI_File_f2c(*{own});");
                line!(after, "\t*{own} = MPI_File_c2f({own}_c);");
            }
            _ => {}
        }
        parameters.push(parameter);
        passed.push(value);
    }
    parameters.push("MPI_Fint *ierror".to_owned());
    parameters.extend(lengths);
    let on = function
        .arguments
        .iter()
        .find(|argument| argument.kind == "comm")
        .map_or("MPI_COMM_SELF".to_owned(), |a| format!("*{}", a.name));
    let called = format!("{c}({})", passed.join(", "));
    let body = match checks.is_empty() {
        true => format!("\tint code = {called};\n"),
        false => format!(
            "\tint code = MPI_SUCCESS;\n{checks}\tcode = code ? parvum_refused({on}, code) : {called};\n"
        ),
    };
    let symbol = if with_data { name.to_lowercase() } else { format!("{}_", name.to_lowercase()) };
    line!(
        out,
        "\nMPIF void {symbol}({})\n{{\n{before}{body}{after}\tif (ierror) *ierror = code;\n}}",
        parameters.join(", ")
    );
}

/// How an argument that is no data comes, and what C gets for it.
fn own_parameter(function: &Function, argument: &Argument, large: bool, with_data: bool) -> (String, String) {
    let (kind, name) = (description::plain(argument.kind), argument.name);
    let wide = large && !matches!(function.name, "Type_get_envelope_c");
    match kind {
        "in" | "out" => (format!("void *{name}"), name.to_owned()),
        "count" if wide && name == "disp_unit" => (format!("MPI_Aint *{name}"), format!("*{name}")),
        "count" if wide => (format!("MPI_Count *{name}"), format!("*{name}")),
        "count_out" if wide && name == "disp_unit" => (format!("MPI_Aint *{name}"), name.to_owned()),
        "count_out" if wide => (format!("MPI_Count *{name}"), name.to_owned()),
        "counts" if wide && name.ends_with("displs") => (format!("MPI_Aint *{name}"), name.to_owned()),
        "counts" if wide => (format!("MPI_Count *{name}"), name.to_owned()),
        "aint" => (format!("MPI_Aint *{name}"), format!("*{name}")),
        // As wide as an address, whichever of the two it is.
        "aint_out" | "aints" => (format!("MPI_Aint *{name}"), format!("(void *){name}")),
        "aints_out" => (format!("MPI_Aint *{name}"), name.to_owned()),
        "large" => (format!("MPI_Count *{name}"), format!("*{name}")),
        "large_out" | "larges_out" => (format!("MPI_Count *{name}"), name.to_owned()),
        "offset" => (format!("MPI_Offset *{name}"), format!("*{name}")),
        "offset_out" => (format!("MPI_Offset *{name}"), name.to_owned()),
        "count" | "int" | "rank" | "root" | "tag" => (format!("MPI_Fint *{name}"), format!("*{name}")),
        "status" => (format!("MPI_Fint *{name}"), format!("(const MPI_Status *){name}")),
        "status_out" => (format!("MPI_Fint *{name}"), format!("wanted({name})")),
        "string" if with_data => (format!("CFI_cdesc_t *{name}"), format!("{name}_c")),
        "string" | "text_out" => (format!("char *{name}"), format!("{name}_c")),
        "file" => (format!("MPI_Fint *{name}"), format!("MPI_File_f2c(*{name})")),
        "file_out" => (format!("MPI_Fint *{name}"), format!("&{name}_c")),
        "call" => (format!("void (*{name})(void)"), format!("(void *){name}")),
        "comm" | "type" | "group" | "op" | "info" | "errhandler" | "request" | "win" | "session"
        | "message" => (format!("MPI_Fint *{name}"), format!("*{name}")),
        _ => (format!("MPI_Fint *{name}"), name.to_owned()),
    }
}
