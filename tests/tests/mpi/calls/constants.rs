//! Every constant of the headers is known to the library: a program is made of each header, which asks the library about all of them.

use parvum_tests::stage::{compiler, mpi_include, stage};
use std::fs;
use std::process::Command;

/// Handles of one kind: their type in the header, and the question.
const HANDLES: [(&str, &str); 6] = [
    ("MPI_Datatype", "MPI_Type_get_extent(X, &low, &far) || MPI_Type_get_name(X, text, &length) || !length"),
    ("MPI_Op", "MPI_Op_commutative(X, &flag)"),
    ("MPI_Errhandler", "MPI_Comm_set_errhandler(copy, X)"),
    ("MPI_Group", "MPI_Group_size(X, &flag)"),
    ("MPI_Comm", "MPI_Comm_size(X, &flag)"),
    ("MPI_Info", "MPI_Info_get_nkeys(X, &flag)"),
];

/// Constants that are no classes of errors though their names begin so, or that stand for none.
const NO_CLASSES: [&str; 2] = ["MPI_ERR_LASTCODE", "MPI_T_ERR"];
/// Attributes of MPI's own: of communicators.
const KEYS: [&str; 6] =
    ["MPI_TAG_UB", "MPI_HOST", "MPI_IO", "MPI_WTIME_IS_GLOBAL", "MPI_LASTUSEDCODE", "MPI_APPNUM"];
/// The same of windows.
const WINDOW_KEYS: [&str; 5] =
    ["MPI_WIN_BASE", "MPI_WIN_SIZE", "MPI_WIN_DISP_UNIT", "MPI_WIN_CREATE_FLAVOR", "MPI_WIN_MODEL"];

/// The questions about one line of a header.
fn question(line: &str) -> Option<String> {
    let (name, value) = line.strip_prefix("#define ")?.split_once(' ')?;
    if name.contains('(') || name.ends_with("_NULL") {
        return None;
    }
    if KEYS.contains(&name) {
        return Some(format!(
            "ask(MPI_Comm_get_attr(MPI_COMM_WORLD, {name}, &value, &flag) || !flag, \"{name}\");"
        ));
    }
    if WINDOW_KEYS.contains(&name) {
        return Some(format!("ask(MPI_Win_get_attr(window, {name}, &value, &flag) || !flag, \"{name}\");"));
    }
    let is_class = name.starts_with("MPI_ERR_") || name.starts_with("MPIX_ERR_");
    if is_class && !NO_CLASSES.iter().any(|none| name.starts_with(none)) {
        return Some(format!("ask(MPI_Error_class({name}, &flag) || flag != {name}, \"{name}\");"));
    }
    let (_, asks) = HANDLES.iter().find(|(kind, _)| value.starts_with(&format!("(({kind})")))?;
    Some(format!("ask({}, \"{name}\");", asks.replace('X', name)))
}

#[test]
fn mpi_library_knows_every_constant_of_header() {
    for (header, wrapper) in [("mpi.h", "mpicc"), ("mpi_abi.h", "mpicc_abi")] {
        let text = fs::read_to_string(mpi_include().join(header)).expect("the header is there");
        let questions: Vec<String> = text.lines().filter_map(question).collect();
        assert!(questions.len() > 150, "{header} has {} constants that can be asked for", questions.len());
        let source = stage().programs.join(format!("mpi-constants-{}-{wrapper}.c", std::process::id()));
        let program = format!(
            "#include <mpi.h>\n#include <stdio.h>\nstatic int wrong;\n\
             static void ask(int failed, const char *name) {{ if (failed) wrong++, printf(\"%s\\n\", name); }}\n\
             int main(void) {{ MPI_Aint low, far; int flag, length; char text[MPI_MAX_OBJECT_NAME]; void *value;\n\
             MPI_Comm copy; MPI_Win window; MPI_Init(0, 0); MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);\n\
             MPI_Comm_dup(MPI_COMM_SELF, &copy); MPI_Win_create(text, 8, 1, MPI_INFO_NULL, copy, &window);\n\
             {}\nMPI_Win_free(&window); MPI_Comm_free(&copy); MPI_Finalize(); return wrong; }}\n",
            questions.join("\n")
        );
        fs::write(&source, program).expect("the target directory is writable");
        let target = source.with_extension("out");
        let mut cc = compiler(stage().bin.join(wrapper).to_str().expect("a plain path"));
        let done = cc.args(["-w", "-o"]).arg(&target).arg(&source).output().expect("the wrapper runs");
        assert!(done.status.success(), "{header}: {}", String::from_utf8_lossy(&done.stderr));
        let machine = parvum_tests::TestMachine::up();
        let mut asked = Command::new(&target);
        machine.as_user(&mut asked);
        let said = asked.env("PARVUM_DIR", &machine.dir).output().expect("it is built");
        for file in [source, target] {
            fs::remove_file(file).expect("it is there");
        }
        assert!(said.status.success(), "{header}: not known: {}", String::from_utf8_lossy(&said.stdout));
    }
}
