//! What is said about options of others that are not here.

/// Options by name, and what does the same.
const HINTS: [(&str, &str); 14] = [
    ("mca", "Parvum's settings are variables: PARVUM_ROUTE and its like (docs/reference/options.md)"),
    ("gmca", "Parvum's settings are variables: PARVUM_ROUTE and its like (docs/reference/options.md)"),
    ("prtemca", "Parvum's settings are variables: PARVUM_ROUTE and its like (docs/reference/options.md)"),
    ("pmixmca", "Parvum's settings are variables: PARVUM_ROUTE and its like (docs/reference/options.md)"),
    ("rankmap", "-map-by, or hosts in the order of the ranks"),
    ("rankfile", "-bind-to user:LIST, and hosts in the order of the ranks"),
    ("rmk", "-hosts names the hosts"),
    ("iface", "parvum add says by which address hosts reach each other"),
    ("add-host", "parvum add HOST"),
    ("prefix", "parvum add --remote PATH says where the command lies over there"),
    ("topolib", "Linux's own view of the processors is used"),
    ("membind", "Linux gives memory where it is first touched"),
    ("prepend-pattern", "-l puts the rank in front of each line"),
    ("gpus-per-proc", "no processors of graphics are given out"),
];

/// The sentence that refuses an option.
pub fn refuse(option: &str) -> String {
    let name = option.trim_start_matches('-').split('=').next().unwrap_or_default();
    let hint = HINTS.iter().find(|(known, _)| *known == name);
    let remedy = hint.map_or("mpiexec -help lists those that are", |(_, remedy)| remedy);
    format!("E-USAGE: {option}: no such option here; help: {remedy}")
}
