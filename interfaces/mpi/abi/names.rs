// Makes the conversions of numbers from the two headers: what has one name in both is one thing. `mpi.h` has the core's numbers.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Whether programs give such numbers, or are given them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ways {
    In,
    Out,
    Both,
}
use Ways::{Both, In, Out};

/// Numbers that are converted alike: the name of the conversion, and which names it is for, without `MPI_`.
const GROUPS: &[(&str, Ways, &[&str])] = &[
    ("rank", Both, &["ANY_SOURCE", "PROC_NULL", "ROOT"]),
    ("tag", Both, &["ANY_TAG"]),
    ("thread", Both, &["THREAD_*"]),
    ("comparison", Both, &["IDENT", "CONGRUENT", "SIMILAR", "UNEQUAL"]),
    ("topology", Both, &["GRAPH", "CART", "DIST_GRAPH", "UNDEFINED"]),
    ("split", In, &["COMM_TYPE_*", "UNDEFINED"]),
    ("order", Both, &["ORDER_*"]),
    ("distribution", Both, &["DISTRIBUTE_BLOCK", "DISTRIBUTE_CYCLIC", "DISTRIBUTE_NONE"]),
    ("darg", Both, &["DISTRIBUTE_DFLT_DARG"]),
    ("typeclass", In, &["TYPECLASS_*"]),
    ("combiner", Both, &["COMBINER_*"]),
    ("lock", In, &["LOCK_*"]),
    ("flavor", Out, &["WIN_FLAVOR_*"]),
    ("model", Out, &["WIN_SEPARATE", "WIN_UNIFIED"]),
    ("whence", In, &["SEEK_*"]),
    ("displacement", In, &["DISPLACEMENT_CURRENT"]),
    ("verbosity", Both, &["T_VERBOSITY_*"]),
    ("bind", Both, &["T_BIND_*"]),
    ("scope", Both, &["T_SCOPE_*"]),
    ("varclass", Both, &["T_PVAR_CLASS_*"]),
    ("ordering", Both, &["T_SOURCE_*"]),
    ("safety", In, &["T_CB_REQUIRE_*"]),
    ("tool", Out, &["T_ERR_*"]),
    (
        "keyval",
        Both,
        &[
            "KEYVAL_INVALID",
            "TAG_UB",
            "HOST",
            "IO",
            "WTIME_IS_GLOBAL",
            "UNIVERSE_SIZE",
            "LASTUSEDCODE",
            "APPNUM",
            "WIN_BASE",
            "WIN_SIZE",
            "WIN_DISP_UNIT",
            "WIN_CREATE_FLAVOR",
            "WIN_MODEL",
        ],
    ),
];

/// Classes of errors. What a code has for a class and is none goes in and comes out again all the same.
const CLASSES: &[&str] = &["SUCCESS", "ERR_*", "MPIX_ERR_*"];

/// Numbers that are sets of bits.
const BITS: &[(&str, Ways, &[&str])] = &[
    ("assert", In, &["MODE_NOCHECK", "MODE_NOSTORE", "MODE_NOPUT", "MODE_NOPRECEDE", "MODE_NOSUCCEED"]),
    (
        "amode",
        Both,
        &[
            "MODE_CREATE",
            "MODE_RDONLY",
            "MODE_WRONLY",
            "MODE_RDWR",
            "MODE_DELETE_ON_CLOSE",
            "MODE_UNIQUE_OPEN",
            "MODE_EXCL",
            "MODE_APPEND",
            "MODE_SEQUENTIAL",
        ],
    ),
];

/// A constant of a header: its number, and whether it is a handle.
type Constants<'t> = BTreeMap<&'t str, (i64, bool)>;

fn read(header: &str) -> Constants<'_> {
    header.lines().filter_map(constant).collect()
}

fn constant(line: &str) -> Option<(&str, (i64, bool))> {
    // What is of a type of its own: `    MPI_T_SOURCE_ORDERED = 1,`.
    if let Some((name, number)) = line.strip_prefix("    MPI_T_").and_then(|_| line.trim().split_once(" = "))
    {
        return Some((name, (number.trim_end_matches(',').parse().ok()?, false)));
    }
    let (name, rest) = line.strip_prefix("#define ")?.split_once(' ')?;
    let (cast, number) = match rest.strip_prefix("((") {
        Some(rest) => rest.strip_suffix(')')?.split_once(')')?,
        None => ("", rest.trim_start_matches('(').trim_end_matches(')')),
    };
    let is_handle = cast.starts_with("MPI_") && cast != "MPI_Offset" && !cast.contains([' ', '*']);
    let number = match number.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => number.parse(),
    };
    Some((name, (number.ok()?, is_handle)))
}

/// The conversions, as Rust.
pub fn make(core: &str, standard: &str) -> String {
    let (core, standard) = (read(core), read(standard));
    let both: Vec<(&str, i64, i64, bool)> = standard
        .iter()
        .filter_map(|(&name, &(number, is_handle))| {
            core.get(name).map(|&(other, _)| (name, number, other, is_handle))
        })
        .collect();
    let mut out = String::from(
        "/// Handles of what is always there: the standard's, and the core's.\n\
         pub const HANDLES: &[(u16, i32)] = &[\n",
    );
    for (name, standard, core, _) in both.iter().filter(|entry| entry.3) {
        line(&mut out, format_args!("({standard:#x}, {core:#x}_u32 as i32), // {name}"));
    }
    out += "];\n";
    for &(group, ways, names) in GROUPS {
        let pairs = chosen(&both, names);
        let kind = if group == "displacement" { "i64" } else { "i32" };
        if ways != Out {
            one_way(&mut out, &format!("{group}_in"), kind, &pairs);
        }
        let back: Vec<_> = pairs.iter().map(|&(standard, core)| (core, standard)).collect();
        if ways != In {
            one_way(&mut out, &format!("{group}_out"), kind, &back);
        }
    }
    permutation(&mut out, &chosen(&both, CLASSES));
    for &(group, ways, names) in BITS {
        let pairs = chosen(&both, names);
        assert_eq!(pairs.len(), names.len(), "{group}");
        bits(&mut out, &format!("{group}_in"), &pairs);
        let back: Vec<_> = pairs.iter().map(|&(standard, core)| (core, standard)).collect();
        if ways != In {
            bits(&mut out, &format!("{group}_out"), &back);
        }
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments) {
    writeln!(out, "    {text}").expect("a string grows");
}

/// The numbers of those names in both headers; each name or beginning must be there.
fn chosen(both: &[(&str, i64, i64, bool)], names: &[&str]) -> Vec<(i64, i64)> {
    let mut pairs = Vec::new();
    for name in names {
        let whole = if name.starts_with("MPIX_") { (*name).to_owned() } else { format!("MPI_{name}") };
        let fits = |other: &str| match whole.strip_suffix('*') {
            Some(beginning) => other.starts_with(beginning) && !other.ends_with("_LASTCODE"),
            None => other == whole,
        };
        let before = pairs.len();
        pairs.extend(both.iter().filter(|entry| fits(entry.0)).map(|entry| (entry.1, entry.2)));
        assert!(pairs.len() > before, "both headers must have {whole}");
    }
    pairs
}

/// What is none of the first numbers stays as it is, but is never taken for one of the second.
fn one_way(out: &mut String, name: &str, kind: &str, pairs: &[(i64, i64)]) {
    line(out, format_args!("#[inline]\npub fn {name}(number: {kind}) -> {kind} {{\n        match number {{"));
    for (from, to) in pairs {
        line(out, format_args!("        {from} => {to},"));
    }
    let others: Vec<String> = pairs
        .iter()
        .filter(|(_, to)| !pairs.iter().any(|(from, _)| from == to))
        .map(|(_, to)| to.to_string())
        .collect();
    if !others.is_empty() {
        line(out, format_args!("        {} => {kind}::MIN,", others.join(" | ")));
    }
    line(out, format_args!("        other => other,\n        }}\n    }}"));
}

/// Of 256 classes each has one to be converted to, those that are none as well.
fn permutation(out: &mut String, pairs: &[(i64, i64)]) {
    let known = |from: i64| pairs.iter().find(|pair| pair.0 == from).map(|pair| pair.1);
    let mut rest = (0..256).filter(|core| !pairs.iter().any(|pair| pair.1 == *core));
    let mut inward = Vec::new();
    for from in 0..256 {
        inward.push(known(from).unwrap_or_else(|| rest.next().expect("as many as are left")));
    }
    let mut outward = vec![0; 256];
    for (from, &to) in inward.iter().enumerate() {
        outward[to as usize] = from as i64;
    }
    writeln!(out, "pub const CLASS_IN: [u8; 256] = {inward:?};").expect("a string grows");
    writeln!(out, "pub const CLASS_OUT: [u8; 256] = {outward:?};").expect("a string grows");
}

/// A bit that has no name makes a set that has no meaning.
fn bits(out: &mut String, name: &str, pairs: &[(i64, i64)]) {
    line(
        out,
        format_args!(
            "#[inline]\npub fn {name}(bits: i32) -> i32 {{\n        let (mut rest, mut all) = (bits, 0);"
        ),
    );
    for (from, to) in pairs {
        line(out, format_args!("    if bits & {from} != 0 {{ rest &= !{from}; all |= {to}; }}"));
    }
    line(out, format_args!("    if rest == 0 {{ all }} else {{ all | 1 << 30 }}\n    }}"));
}
