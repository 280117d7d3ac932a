// Makes the module mpi from `functions.txt`: the constants and functions of mpif.h, and an interface for each subroutine. A buffer is of
// any type and rank, which the standard of Fortran 90 cannot say; compilers have a word of their own for it.

use crate::description::{self, Argument, Function, plain};
use crate::fortran::is_of_c_alone;
use std::fmt::Write;

macro_rules! line {
    ($out:expr, $($text:tt)*) => { writeln!($out, $($text)*).expect("a string grows") };
}

/// Numbers of C's that are LOGICAL.
const LOGICAL: &[&str] = &["flag", "reorder", "commute", "high", "weighted", "periods", "remain_dims"];
/// Functions of MPI-1 whose addresses are INTEGERs.
const NARROW: &[&str] =
    &["Address", "Type_extent", "Type_hindexed", "Type_hvector", "Type_lb", "Type_struct", "Type_ub"];

/// Whether the module has an interface for a function.
pub fn is_in_module(function: &Function) -> bool {
    !is_of_c_alone(function) && !function.name.ends_with("_c")
}

/// The arguments that Fortran has: a program's own argc and argv are C's alone.
fn arguments<'t>(function: &'t Function<'t>) -> Vec<&'t Argument<'t>> {
    let of_c = |argument: &Argument| matches!(argument.name, "argc" | "argv") && argument.kind != "argv";
    let is_env = function.name == "Info_create_env";
    function.arguments.iter().filter(|a| if is_env { a.kind == "info_out" } else { !of_c(a) }).collect()
}

/// How an argument is declared.
struct Declared {
    kind: String,
    shape: &'static str,
    /// Whatever the program gives is taken: data, and addresses that stand for something.
    is_any: bool,
}

fn declared(function: &Function, argument: &Argument) -> Declared {
    let (name, kind) = (argument.name, plain(argument.kind));
    let is_old = ["Attr_", "Keyval_"].iter().any(|old| function.name.starts_with(old));
    let address = if NARROW.contains(&function.name) || is_old { "integer" } else { "integer(kind=8)" };
    let logical = if LOGICAL.contains(&name) { "logical" } else { "integer" };
    let one = |kind: &str| Declared { kind: kind.to_owned(), shape: "", is_any: false };
    let many = |kind: &str, shape| Declared { kind: kind.to_owned(), shape, is_any: false };
    let is_array = name.starts_with("array_of_");
    match kind {
        "in" | "out" if matches!(name, "extra_state" | "attribute_val") => one(address),
        "in" | "out" => Declared { kind: "type(*)".into(), shape: "(*)", is_any: true },
        "ints" | "ints_out" if name.contains("weights") => {
            Declared { kind: "integer".into(), shape: "(*)", is_any: true }
        }
        "aint" | "aint_out" => one(address),
        "aints" | "aints_out" => many(address, "(*)"),
        "large" | "large_out" | "offset" | "offset_out" => one("integer(kind=8)"),
        "larges_out" => many("integer(kind=8)", "(*)"),
        "ranges" => many("integer", "(3, *)"),
        "status" => many("integer", "(5)"),
        "status_out" if is_array => many("integer", "(5, *)"),
        "status_out" => many("integer", "(5)"),
        "string" | "text_out" => one("character(len=*)"),
        "argv" => many("character(len=*)", "(*)"),
        "argvs" => many("character(len=*)", "(count, *)"),
        "call" => one("external"),
        "counts" | "types" | "infos" | "requests" | "types_out" | "requests_out" => many("integer", "(*)"),
        "ints" | "ints_out" => many(logical, "(*)"),
        kind if kind.ends_with("_out") && is_array => many("integer", "(*)"),
        _ => one(logical),
    }
}

/// The module, in Fortran.
pub fn module(text: &str) -> String {
    let mut out = String::from(
        "! The module mpi. Made from interfaces/mpi/functions.txt by interfaces/mpi/fortran90.rs; not to be edited.\n\
         module mpi\n  implicit none\n  public\n  include 'mpif.h'\n\n  interface\n",
    );
    for function in &description::read(text) {
        if is_in_module(function) {
            for profiled in ["", "P"] {
                write_interface(&mut out, function, profiled);
            }
        }
    }
    out + "  end interface\nend module\n"
}

fn write_interface(out: &mut String, function: &Function, profiled: &str) {
    let name = format!("{profiled}{}{}", function.prefix(), function.name);
    let all = arguments(function);
    let mut listed: Vec<&str> = all.iter().map(|argument| argument.name).collect();
    listed.push("ierror");
    let lines: Vec<String> = listed.chunks(5).map(|some| some.join(", ")).collect();
    line!(out, "    subroutine {name}({})\n      implicit none", lines.join(", &\n        "));
    // What another's shape is made of comes first.
    let is_shaped = |argument: &&&Argument| argument.kind == "argvs";
    for argument in all.iter().filter(|a| !is_shaped(a)).chain(all.iter().filter(is_shaped)) {
        let Declared { kind, shape, is_any } = declared(function, argument);
        let name = argument.name;
        if is_any {
            line!(out, "      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}");
            line!(out, "      !DEC$ ATTRIBUTES NO_ARG_CHECK :: {name}");
            line!(out, "      !DIR$ IGNORE_TKR {name}");
        }
        // What is written later, or only perhaps, has no intent.
        let reads =
            !argument.kind.ends_with("_out") && argument.kind != "comm_later" && argument.kind != "call";
        let intent = if reads && !is_any { ", intent(in)" } else { "" };
        line!(out, "      {kind}{intent} :: {name}{shape}");
    }
    line!(out, "      integer, intent(out) :: ierror\n    end subroutine");
}
