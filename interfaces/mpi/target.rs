// Which function of the core does what a function of the description says.

use super::description::Function;

/// The collectives: each has a blocking form, one that is begun, and one that is prepared and given hints (`Send_init` has no hints).
fn collectives(functions: &[Function]) -> Vec<String> {
    let is_there = |name: &str| functions.iter().any(|function| function.name.eq_ignore_ascii_case(name));
    let prepared = functions.iter().filter(|function| function.arguments.iter().any(|it| it.kind == "info"));
    let bases = prepared.filter_map(|function| function.name.strip_suffix("_init"));
    bases.filter(|base| is_there(base) && is_there(&format!("I{base}"))).map(str::to_lowercase).collect()
}

/// The core's function, and how it is called for when it is collective.
pub fn target(functions: &[Function], name: &str, large: bool) -> (String, Option<&'static str>) {
    let (lower, collectives) = (name.to_lowercase(), collectives(functions));
    let is_collective = |name: &str| collectives.iter().any(|one| one == name);
    if is_collective(&lower) {
        return (lower, Some("CallForm::Blocking"));
    }
    if let Some(begun) = lower.strip_prefix('i').filter(|begun| is_collective(begun)) {
        return (begun.to_owned(), Some("CallForm::Begun(a_request)"));
    }
    if let Some(prepared) = lower.strip_suffix("_init").filter(|prepared| is_collective(prepared)) {
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
