// Which function of the core does what a function of the description says.

/// Collective operations: each has a blocking form, one that is begun and one that is prepared.
const COLLECTIVE: &[&str] = &[
    "barrier",
    "bcast",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
];

/// The core's function, and how it is called for when it is collective.
pub fn target(name: &str, large: bool) -> (String, Option<&'static str>) {
    let lower = name.to_lowercase();
    if COLLECTIVE.contains(&lower.as_str()) {
        return (lower, Some("CallForm::Blocking"));
    }
    if let Some(begun) = lower.strip_prefix('i').filter(|begun| COLLECTIVE.contains(begun)) {
        return (begun.to_owned(), Some("CallForm::Begun(a_request)"));
    }
    if let Some(prepared) = lower.strip_suffix("_init").filter(|prepared| COLLECTIVE.contains(prepared)) {
        return (prepared.to_owned(), Some("CallForm::Prepared(a_request)"));
    }
    let target = match lower.as_str() {
        "pack" | "unpack" | "pack_external" | "unpack_external" | "abort" => format!("mpi_{lower}"),
        "put" | "get" => format!("mpi_{lower}"),
        "op_create" if large => "op_create_c".to_owned(),
        // Older names for what the standard has by now.
        "delete_error_class" | "delete_error_code" | "delete_error_string" => {
            lower.replace("delete", "remove")
        }
        _ => lower,
    };
    (target, None)
}
