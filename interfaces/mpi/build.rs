//! Lists the libraries of the other interfaces, as these say themselves.

use std::path::Path;

include!("../../tools/shipped.rs");

fn main() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("cargo:rerun-if-changed=build.rs");
    watch_shipped(&project);
    let others: Vec<String> = shipped(&project)
        .into_iter()
        .filter(|(folder, [what, _, file])| {
            what == "library" && file != "-" && folder != "mpi" && folder != "runtime"
        })
        .map(|(_, [_, _, file])| file)
        .collect();
    let out = std::env::var_os("OUT_DIR").expect("Cargo sets it");
    std::fs::write(Path::new(&out).join("others.rs"), format!("&{others:?}")).expect("writable");
}
