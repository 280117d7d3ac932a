// Makes `functions.c` and `mpif.h` from `functions.txt` and `mpi.h`: each function that takes its arguments as they are,
// by reference, under mpi_x_ and pmpi_x_, and each constant. What needs more is written by hand in `fortran/`. Both are made when Parvum is built.

use crate::description::{self, Argument, Function, plain};
use std::fmt::Write;

/// Functions written by hand, and those that Fortran does not have.
const BY_HAND: &[&str] = &[
    "Init",
    "Init_thread",
    "Pcontrol",
    "Register_datarep",
    "Info_create_env",
    "Buffer_detach",
    "Comm_detach_buffer",
    "Session_detach_buffer",
    "Comm_spawn",
    "Comm_spawn_multiple",
    "Grequest_start",
    "Info_get",
    "Info_get_string",
    "Info_get_nthkey",
    "Session_get_nth_pset",
    "Address",
    "Type_extent",
    "Type_lb",
    "Type_ub",
    "Type_hvector",
    "Type_hindexed",
    "Type_struct",
    "Waitany",
    "Testany",
    "Waitsome",
    "Testsome",
    "Request_get_status_any",
    "Request_get_status_some",
    "Keyval_create",
    "Attr_get",
    "Attr_put",
];
/// Of the bearers of attributes these are by hand.
const OF_ATTRIBUTES: &[&str] = &["_create_keyval", "_get_attr", "_set_attr"];

pub fn is_by_hand(name: &str) -> bool {
    BY_HAND.contains(&name) || name.starts_with("Abi_") || OF_ATTRIBUTES.iter().any(|end| name.ends_with(end))
}

/// Functions that Fortran does not have.
pub fn is_of_c_alone(function: &Function) -> bool {
    function.is_tool() || function.marks.contains("mpich") || function.name.starts_with("Abi_")
}

/// The functions, in C.
pub fn functions(text: &str) -> String {
    let mut out = String::from(
        "/* MPI's functions for Fortran. Made from interfaces/mpi/functions.txt by interfaces/mpi/fortran.rs; not to be edited. */\n\
         #include \"face.h\"\n",
    );
    for function in &description::read(text) {
        if !is_by_hand(function.name) && !function.name.ends_with("_c") && !is_of_c_alone(function) {
            write_both(&mut out, function);
        }
    }
    out
}

fn write_both(out: &mut String, function: &Function) {
    let Function { name, arguments, .. } = function;
    let (mut parameters, mut lengths) = (Vec::new(), Vec::new());
    let (mut before, mut after, mut passed) = (String::new(), String::new(), Vec::new());
    for Argument { kind, name: argument } in arguments {
        // Fortran has MPICH's numbers.
        let kind = plain(kind);
        let (parameter, value) = parameter(kind, argument);
        parameters.push(parameter);
        passed.push(value);
        match kind {
            "string" => {
                lengths.push(format!("size_t {argument}_length"));
                let made = if name.starts_with("Info_") { "parvum_trimmed" } else { "parvum_text" };
                write!(before, "\tstruct text {argument}_text;\n\tchar *{argument}_c = {made}(&{argument}_text, {argument}, {argument}_length);\n").expect("a string grows");
                writeln!(after, "\tparvum_text_done(&{argument}_text);").expect("a string grows");
            }
            "text_out" => {
                lengths.push(format!("size_t {argument}_length"));
                let longest = longest(name);
                writeln!(before, "\tchar {argument}_c[{longest} + 1] = \"\";").expect("a string grows");
                writeln!(
                    after,
                    "\tif (!*ierror) parvum_give_text({argument}, {argument}_length, {argument}_c);"
                )
                .expect("a string grows");
            }
            "file_out" => {
                writeln!(before, "\tMPI_File {argument}_c = MPI_File_f2c(*{argument});")
                    .expect("a string grows");
                writeln!(after, "\t*{argument} = MPI_File_c2f({argument}_c);").expect("a string grows");
            }
            _ => {}
        }
    }
    parameters.push("MPI_Fint *ierror".to_owned());
    parameters.extend(lengths);
    let (parameters, passed, lower) = (parameters.join(", "), passed.join(", "), name.to_lowercase());
    for profiled in ["", "P"] {
        let large = format!("{profiled}{}", function.prefix());
        let small = large.to_lowercase();
        writeln!(
            out,
            "\nMPIF void {small}{lower}_({parameters})\n{{\n{before}\t*ierror = {large}{name}({passed});\n{after}}}"
        )
        .expect("a string grows");
    }
}

/// How an argument comes, and what C gets for it.
fn parameter(kind: &str, name: &str) -> (String, String) {
    let is_weights = name.contains("weights");
    match kind {
        "in" | "out" => (format!("void *{name}"), format!("data({name})")),
        "count" | "int" | "rank" | "root" | "tag" => (format!("MPI_Fint *{name}"), format!("*{name}")),
        "aint" => (format!("MPI_Aint *{name}"), format!("*{name}")),
        "large" => (format!("MPI_Count *{name}"), format!("*{name}")),
        "offset" => (format!("MPI_Offset *{name}"), format!("*{name}")),
        "aint_out" | "aints" | "aints_out" => (format!("MPI_Aint *{name}"), name.to_owned()),
        "large_out" | "larges_out" => (format!("MPI_Count *{name}"), name.to_owned()),
        "offset_out" => (format!("MPI_Offset *{name}"), name.to_owned()),
        "ints" | "ints_out" if is_weights => (format!("MPI_Fint *{name}"), format!("weighted({name})")),
        "ranges" => (format!("MPI_Fint {name}[][3]"), name.to_owned()),
        "status" => (format!("MPI_Fint *{name}"), format!("(const MPI_Status *){name}")),
        "status_out" => (format!("MPI_Fint *{name}"), format!("wanted({name})")),
        "string" | "text_out" => (format!("char *{name}"), format!("{name}_c")),
        "file" => (format!("MPI_Fint *{name}"), format!("MPI_File_f2c(*{name})")),
        "file_out" => (format!("MPI_Fint *{name}"), format!("&{name}_c")),
        // A function of Fortran's gets references, and so do these of C's.
        "call" => (format!("void (*{name})(void)"), format!("(void *){name}")),
        "comm" | "type" | "group" | "op" | "info" | "errhandler" | "request" | "win" | "session"
        | "message" => (format!("MPI_Fint *{name}"), format!("*{name}")),
        _ => (format!("MPI_Fint *{name}"), name.to_owned()),
    }
}

/// The longest text that a function gives.
pub fn longest(function: &str) -> &'static str {
    match function {
        "Error_string" => "MPI_MAX_ERROR_STRING",
        "Get_library_version" => "MPI_MAX_LIBRARY_VERSION_STRING",
        "Get_processor_name" => "MPI_MAX_PROCESSOR_NAME",
        "Lookup_name" | "Open_port" => "MPI_MAX_PORT_NAME",
        "File_get_view" => "MPI_MAX_DATAREP_STRING",
        _ => "MPI_MAX_OBJECT_NAME",
    }
}

/// Fortran's header: every constant of C's that is a number.
pub fn header(c: &str) -> String {
    let mut out = String::from(
        "! mpif.h: MPI for Fortran, with MPICH's numbers. Made from interfaces/mpi/include/mpi.h by interfaces/mpi/fortran.rs;\n\
         ! not to be edited. It may be included in programs of either form.\n",
    );
    for line in c.lines() {
        let Some((name, value)) = constant(line) else { continue };
        let kind = if name == "MPI_DISPLACEMENT_CURRENT" { "INTEGER*8" } else { "INTEGER" };
        write_constant(&mut out, kind, name, &value.to_string());
    }
    for (name, value) in OF_FORTRAN {
        write_constant(&mut out, "INTEGER", name, value);
    }
    for name in ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"] {
        write_constant(&mut out, "LOGICAL", name, ".FALSE.");
    }
    out + PLACES
}

fn write_constant(out: &mut String, kind: &str, name: &str, value: &str) {
    writeln!(out, "      {kind} {name}\n      PARAMETER ({name}={value})").expect("a string grows");
}

/// What C's header does not have as a number.
pub const OF_FORTRAN: [(&str, &str); 9] = [
    ("MPI_STATUS_SIZE", "5"),
    ("MPI_SOURCE", "3"),
    ("MPI_TAG", "4"),
    ("MPI_ERROR", "5"),
    ("MPI_ADDRESS_KIND", "8"),
    ("MPI_OFFSET_KIND", "8"),
    ("MPI_COUNT_KIND", "8"),
    ("MPI_INTEGER_KIND", "4"),
    ("MPI_FILE_NULL", "0"),
];

/// What stands for something by its address, and functions.
const PLACES: &str = "
      INTEGER MPI_BOTTOM, MPI_IN_PLACE
      INTEGER MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      INTEGER MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
      INTEGER MPI_ERRCODES_IGNORE(1)
      INTEGER MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
      CHARACTER*1 MPI_ARGVS_NULL(1,1), MPI_ARGV_NULL(1)
      COMMON /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE
      COMMON /MPIPRIV2/ MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE
      COMMON /MPIPRIVC/ MPI_ARGVS_NULL, MPI_ARGV_NULL
      COMMON /MPIFCMB5/ MPI_UNWEIGHTED
      COMMON /MPIFCMB9/ MPI_WEIGHTS_EMPTY
      SAVE /MPIPRIV1/, /MPIPRIV2/, /MPIPRIVC/, /MPIFCMB5/, /MPIFCMB9/

      EXTERNAL MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, MPI_DUP_FN
      EXTERNAL MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN
      EXTERNAL MPI_COMM_DUP_FN
      EXTERNAL MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN
      EXTERNAL MPI_TYPE_DUP_FN
      EXTERNAL MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN
      EXTERNAL MPI_WIN_DUP_FN, MPI_CONVERSION_FN_NULL
      DOUBLE PRECISION MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      EXTERNAL MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      INTEGER(KIND=MPI_ADDRESS_KIND) MPI_AINT_ADD, MPI_AINT_DIFF
      INTEGER(KIND=MPI_ADDRESS_KIND) PMPI_AINT_ADD, PMPI_AINT_DIFF
      EXTERNAL MPI_AINT_ADD, MPI_AINT_DIFF
      EXTERNAL PMPI_AINT_ADD, PMPI_AINT_DIFF

      INTERFACE MPI_SIZEOF
      SUBROUTINE PARVUM_SIZEOF(X, SIZE, IERROR) BIND(C)
      USE, INTRINSIC :: ISO_C_BINDING, ONLY: C_INT
      TYPE(*), DIMENSION(..), INTENT(IN) :: X
      INTEGER(C_INT), INTENT(OUT) :: SIZE
      INTEGER(C_INT), INTENT(OUT) :: IERROR
      END SUBROUTINE
      END INTERFACE
";

/// A constant of C's, as Fortran has it.
pub fn constant(line: &str) -> Option<(&str, i64)> {
    let (name, value) = line.strip_prefix("#define ")?.split_once(' ')?;
    let is_ours = name.starts_with("MPI_") || name.starts_with("MPIX_");
    if !is_ours || name.starts_with("MPI_T_") || name.starts_with("MPI_F_") || name.ends_with("_FILE_NULL") {
        return None;
    }
    // ((MPI_Comm)0x44000000), (-1), 3; not pointers and functions.
    let value = value.split("/*").next()?.trim();
    if value.contains('*') {
        return None;
    }
    let value = value.trim_matches(['(', ')']);
    let value = value.rsplit(')').next()?;
    let number = match value.strip_prefix("0x") {
        Some(digits) => i64::from(u32::from_str_radix(digits, 16).ok()? as i32),
        None => value.parse().ok()?,
    };
    let is_length = name.starts_with("MPI_MAX_");
    // An attribute of MPI's own is a pointer under one key, and a number under the next.
    let is_key = matches!(number, 0x6440_0001..=0x6440_000f | 0x6600_0001..=0x6600_000f);
    // A text of C's has a null at its end.
    Some((name, number - i64::from(is_length) + i64::from(is_key)))
}
