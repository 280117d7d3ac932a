//! The face that programs are compiled and linked against: `pvm3.h`, its kin, and the symbols behind them.

use parvum_tests::stage::{compiler, cplusplus, own_include, stage};
use parvum_tests::{Lack, skip};
use std::path::{Path, PathBuf};
use std::process::Command;

const DEBIANS: &str = "/usr/include/pvm3.h";

/// Every header of PVM's for C.
const HEADERS: [&str; 3] = ["pvm3.h", "pvmtev.h", "pvmproto.h"];

fn header() -> String {
    text_of("pvm3.h")
}

fn text_of(header: &str) -> String {
    std::fs::read_to_string(stage().include.join(header)).expect("it is there")
}

/// Names that the header defines as constants.
fn constants(header: &str) -> Vec<&str> {
    let names = header.lines().filter_map(|line| line.strip_prefix("#define")?.split_whitespace().next());
    names.filter(|name| !name.starts_with('_') && !name.contains('(')).collect()
}

/// Declarations of functions, each in one string.
fn prototypes(header: &str) -> Vec<String> {
    let text = header.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ");
    let ends = text.split(';').map(str::trim);
    ends.filter_map(|text| {
        let start = ["int pvm_", "char *pvm_", "void Pvm"].iter().filter_map(|s| text.find(s)).min()?;
        text.ends_with(')').then(|| text[start..].to_owned())
    })
    .collect()
}

/// The name in a declaration.
fn name(prototype: &str) -> &str {
    let before = prototype.split('(').next().expect("a function");
    before.rsplit([' ', '*']).next().expect("a name")
}

/// A directory for what a test compiles.
fn scratch(test: &str) -> PathBuf {
    let dir = stage().programs.join(format!("surface-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("writable");
    dir
}

fn succeed(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn headers_compile_alone_as_c_and_cplusplus() {
    for (name, standard, language) in [("cc", "c11", "c"), ("cc", "gnu89", "c"), ("c++", "c++17", "c++")] {
        if language == "c++" && !cplusplus() {
            skip(Lack::Tools, "no C++ compiler (c++) is installed");
            continue;
        }
        let headers = HEADERS.map(|header| stage().include.join(header));
        for header in headers.into_iter().chain([own_include().join("parvum.h")]) {
            let mut command = compiler(name);
            command.args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", language]);
            succeed(command.arg(format!("-std={standard}")).arg(header));
        }
    }
}

#[test]
fn declared_functions_are_all_exported() {
    let (header, dir) = (header(), scratch("exported"));
    let declared = prototypes(&header);
    let names = header
        .lines()
        .filter(|line| line.starts_with("int pvm_") || line.contains(" Pvm") && line.starts_with("void"));
    assert!(declared.len() > names.count(), "every one is found, and pvm_version");
    let addresses: Vec<String> = declared.iter().map(|p| format!("(void (*)(void)){}", name(p))).collect();
    let source = format!(
        "#define PVM33COMPAT\n#include <stdio.h>\n#include <pvm3.h>\nvoid (*all[])(void) = {{ {} }};\nint main(void) {{ return all[0] == 0; }}\n",
        addresses.join(",\n")
    );
    std::fs::write(dir.join("all.c"), source).expect("writable");
    let mut cc = compiler("cc");
    cc.args(["-std=c11", "-Wall", "-Werror", "-o"]).arg(dir.join("all")).arg(dir.join("all.c"));
    cc.arg("-I").arg(&stage().include).arg("-L").arg(&stage().lib).args(["-lpvm3", "-lgpvm3"]);
    succeed(&mut cc);
    succeed(Command::new(dir.join("all")).env("LD_LIBRARY_PATH", &stage().lib));
    std::fs::remove_dir_all(dir).expect("ours");
}

/// A program that prints every number and layout of the headers.
fn describing(header: &str) -> String {
    let mut body = String::new();
    for constant in constants(header) {
        if constant == "PVM_VER" || constant.starts_with("PVM") && constant.ends_with("CLASS") {
            body += &format!("printf(\"{constant} %s\\n\", {constant});\n");
        } else {
            body += &format!("printf(\"{constant} %d\\n\", (int)({constant}));\n");
        }
    }
    let structures = [
        ("pvmhostinfo", "hi_tid hi_name hi_arch hi_speed hi_dsig"),
        ("pvmtaskinfo", "ti_tid ti_ptid ti_host ti_flag ti_a_out ti_pid"),
        ("Pvmtevdid", "did desc"),
        ("Pvmtevinfo", "name desc_status mark total count"),
        ("Pvmtracer", "trctid trcctx trctag outtid outctx outtag trcbuf trcopt tmask"),
    ];
    for (structure, fields) in structures {
        body += &format!("printf(\"{structure} %zu\\n\", sizeof(struct {structure}));\n");
        for field in fields.split(' ') {
            body += &format!(
                "printf(\"{field} %zu %zu\\n\", offsetof(struct {structure}, {field}), \
                 sizeof ((struct {structure} *)0)->{field});\n"
            );
        }
    }
    // A mask with every third kind, and one taken away again.
    body += "Pvmtmask m; TEV_MASK_INIT(m) for (int k = 0; k <= TEV_MAX; k += 3) TEV_MASK_SET(m, k);\n\
             TEV_MASK_UNSET(m, 9); printf(\"mask %s %d %d\\n\", m, TEV_MASK_CHECK(m, 6), TEV_MASK_CHECK(m, 9));\n";
    format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include <sys/time.h>\n\
         #include <pvm3.h>\n#include <pvmtev.h>\n#include <pvmproto.h>\n\
         int main(void) {{\n{body}return 0;\n}}\n"
    )
}

#[test]
fn numbers_and_structures_equal_those_of_pvm() {
    if !Path::new(DEBIANS).exists() {
        return skip(Lack::Peers, format!("{DEBIANS} is not there (Debian's pvm-dev)"));
    }
    let (header, dir) = (HEADERS.map(text_of).concat(), scratch("numbers"));
    assert!(constants(&header).len() > 400);
    std::fs::write(dir.join("describe.c"), describing(&header)).expect("writable");
    let described = |include: &Path| {
        let mut cc = compiler("cc");
        cc.arg("-I").arg(include).arg("-o").arg(dir.join("describe")).arg(dir.join("describe.c"));
        succeed(&mut cc);
        succeed(&mut Command::new(dir.join("describe")))
    };
    let (ours, theirs) = (described(&stage().include), described(Path::new("/usr/include")));
    for (our, their) in ours.lines().zip(theirs.lines()) {
        assert_eq!(our, their);
    }
    assert_eq!(ours.lines().count(), theirs.lines().count());
    std::fs::remove_dir_all(dir).expect("ours");
}

#[test]
fn functions_have_prototypes_of_pvm() {
    if !Path::new(DEBIANS).exists() {
        return skip(Lack::Peers, format!("{DEBIANS} is not there (Debian's pvm-dev)"));
    }
    let dir = scratch("declared");
    // A second declaration that is not like the first does not compile.
    let source =
        format!("#include <stdio.h>\n#include \"{DEBIANS}\"\n{};\n", prototypes(&header()).join(";\n"));
    std::fs::write(dir.join("both.c"), source).expect("writable");
    succeed(compiler("cc").args(["-std=gnu11", "-fsyntax-only"]).arg(dir.join("both.c")));
    std::fs::remove_dir_all(dir).expect("ours");
}
