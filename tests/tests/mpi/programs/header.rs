//! `mpi.h` and `mpi_abi.h`: made from the description, and the same interfaces as MPICH's.

use parvum_tests::stage::{compiler, cplusplus, mpi_include, stage};
use parvum_tests::{Lack, skip};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[allow(dead_code, reason = "the maker of the header uses the rest")]
#[path = "../../../../interfaces/mpi/header.rs"]
pub(crate) mod made;

type Names = BTreeSet<String>;

/// A binary interface: its header, what the compiler is told, its library, and the fields of a status.
struct Face {
    header: &'static str,
    define: Option<&'static str>,
    library: &'static str,
    fields: &'static [&'static str],
}

const FACES: [Face; 2] = [
    Face {
        header: "mpi.h",
        define: None,
        library: "libmpi.so.12",
        fields: &["count_lo", "count_hi_and_cancelled", "MPI_SOURCE", "MPI_TAG", "MPI_ERROR"],
    },
    Face {
        header: "mpi_abi.h",
        define: Some("-DMPI_ABI"),
        library: "libmpi_abi.so.1",
        fields: &["MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "MPI_internal"],
    },
];

/// The header of PyPI's mpich, when it is there.
fn peers_include() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or(home.join(".cache"), PathBuf::from);
    let include = cache.join("parvum/peers/mpich/include");
    if !include.join("mpi.h").exists() {
        skip(Lack::Peers, format!("{} has no mpi.h (./x peers)", include.display()));
        return None;
    }
    Some(include)
}

fn own(name: &str) -> String {
    fs::read_to_string(mpi_include().join(name)).expect("the header is there")
}

/// A file of this test's own.
fn scratch(name: &str, text: &str) -> PathBuf {
    let file = stage().programs.join(format!("mpi-header-{}-{name}", std::process::id()));
    fs::write(&file, text).expect("the target directory is writable");
    file
}

fn succeed(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn header_compiles_as_strict_c_and_cplusplus() {
    let program =
        "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0) + (MPI_COMM_WORLD == MPI_COMM_NULL); }\n";
    let strict = ["-Wall", "-Wextra", "-pedantic-errors", "-Werror", "-fsyntax-only"];
    let c = scratch("good.c", program);
    for standard in ["-std=c99", "-std=c11", "-std=c17"] {
        for face in FACES {
            let mut cc = compiler("cc");
            succeed(cc.arg(standard).args(strict).args(face.define).arg("-I").arg(mpi_include()).arg(&c));
        }
    }
    fs::remove_file(&c).expect("it is there");
    if !cplusplus() {
        return skip(Lack::Tools, "no c++ is installed");
    }
    let cpp = scratch("good.cpp", program);
    for standard in ["-std=c++11", "-std=c++17"] {
        for face in FACES {
            let mut cpps = compiler("c++");
            succeed(cpps.arg(standard).args(strict).args(face.define).arg("-I").arg(mpi_include()).arg(&cpp));
        }
    }
    fs::remove_file(&cpp).expect("it is there");
}

/// Words of a text that begin so.
fn words<'t>(text: &'t str, beginning: &str) -> impl Iterator<Item = &'t str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(move |word| word.starts_with(beginning))
}

/// Constants that our header defines, as far as they are numbers.
fn constants(face: &Face) -> Names {
    let text = own(face.header);
    let defined = text.lines().filter_map(|line| {
        let named = line.strip_prefix("    MPI_T_").and(line.strip_prefix("    "));
        line.strip_prefix("#define ").or(named)?.split([' ', '(']).next()
    });
    let functions = |name: &&str| name.ends_with("_FN") || name.contains("_FN_NULL");
    // What is each library's own.
    let others = ["MPI_INCLUDED", "MPI_VERSION", "MPI_SUBVERSION", "MPI_ABI"];
    // The standard has no numbers for these.
    let extra = |name: &&str| face.define.is_some() && name.starts_with("MPIX_");
    defined
        .filter(|name| name.starts_with("MPI_") || name.starts_with("MPIX_"))
        .filter(|name| !others.contains(name) && !functions(name) && !extra(name))
        .map(str::to_owned)
        .collect()
}

const TYPES: [&str; 17] = [
    "MPI_Datatype",
    "MPI_Comm",
    "MPI_Group",
    "MPI_Win",
    "MPI_Session",
    "MPI_Op",
    "MPI_Errhandler",
    "MPI_Request",
    "MPI_Message",
    "MPI_Info",
    "MPI_File",
    "MPI_Aint",
    "MPI_Fint",
    "MPI_Count",
    "MPI_Offset",
    "MPI_Status",
    "MPI_F08_status",
];

/// What one program says with the headers of that folder.
fn said_with(face: &Face, include: &Path) -> String {
    let mut program =
        String::from("#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n");
    for name in constants(face) {
        program += &format!("printf(\"{name} %lld %zu\\n\", (long long)({name}), sizeof({name}));\n");
    }
    let is_mpichs = |name: &str| matches!(name, "MPI_Fint" | "MPI_F08_status");
    for name in TYPES.into_iter().filter(|name| face.define.is_none() || !is_mpichs(name)) {
        program += &format!("printf(\"{name} %zu %d\\n\", sizeof({name}), ({name})-1 < ({name})0);\n")
            .replace("(MPI_Status)-1 < (MPI_Status)0", "0")
            .replace("(MPI_F08_status)-1 < (MPI_F08_status)0", "0");
    }
    for field in face.fields {
        program += &format!("printf(\"{field} %zu\\n\", offsetof(MPI_Status, {field}));\n");
    }
    let source = scratch("said.c", &(program + "return 0; }\n"));
    let target = source.with_extension("said");
    let mut cc = compiler("cc");
    // Nothing of the library is used.
    succeed(cc.args(face.define).args(["-w", "-I"]).arg(include).arg(&source).arg("-o").arg(&target));
    let said = succeed(&mut Command::new(&target));
    for file in [source, target] {
        fs::remove_file(file).expect("it is there");
    }
    said
}

#[test]
fn constants_and_types_equal_those_of_mpich() {
    let Some(theirs) = peers_include() else { return };
    for face in &FACES {
        assert!(constants(face).len() > 300, "{}: {}", face.header, constants(face).len());
        let (ours, theirs) = (said_with(face, &mpi_include()), said_with(face, &theirs));
        let different: Vec<_> =
            ours.lines().zip(theirs.lines()).filter(|(one, other)| one != other).collect();
        assert!(different.is_empty() && ours.lines().count() == theirs.lines().count(), "{different:?}");
    }
}

/// A prototype that differs from an earlier one is an error of the compiler's.
#[test]
fn functions_have_prototypes_of_mpich() {
    let Some(theirs) = peers_include() else { return };
    let functions = mpi_include().join("mpi_functions.h");
    let source = scratch("both.c", &format!("#include <mpi.h>\n#include \"{}\"\n", functions.display()));
    for face in FACES {
        succeed(compiler("cc").args(face.define).args(["-fsyntax-only", "-I"]).arg(&theirs).arg(&source));
    }
    fs::remove_file(&source).expect("it is there");
}

#[test]
fn libraries_export_what_headers_declare() {
    FACES.iter().for_each(has_what_its_header_declares);
}

fn has_what_its_header_declares(face: &Face) {
    let library = face.library;
    let listed = succeed(compiler("nm").args(["-D", "--defined-only"]).arg(stage().lib.join(library)));
    let exported: Names =
        listed.lines().filter_map(|line| line.split(' ').next_back()).map(str::to_owned).collect();
    let source = scratch("declared.c", "#include <mpi.h>\n");
    let text =
        succeed(compiler("cc").args(face.define).args(["-E", "-P", "-I"]).arg(mpi_include()).arg(&source));
    fs::remove_file(&source).expect("it is there");
    let last_word = |at: usize| {
        let before = text[..at].trim_end();
        before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()
    };
    let called = text.match_indices('(').filter_map(|(at, _)| last_word(at));
    let declared: Names = called
        .filter(|name| ["MPI_", "PMPI_", "MPIX_"].iter().any(|beginning| name.starts_with(beginning)))
        .map(str::to_owned)
        .collect();
    assert!(declared.len() > 1200, "{}", declared.len());
    let missing: Vec<_> = declared.difference(&exported).collect();
    assert!(missing.is_empty(), "{library} lacks {missing:?}");
    // And the other way round: variables, and functions for the Fortran library alone, are declared otherwise.
    let functions = exported.iter().filter(|name| name.starts_with("MPI_") || name.starts_with("MPIX_"));
    let silent: Vec<_> = functions.filter(|name| !words(&text, name).any(|word| word == *name)).collect();
    assert!(silent.is_empty(), "{} lacks {silent:?}", face.header);
}
