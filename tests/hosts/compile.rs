//! Programs in C that measure.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles one of the programs beside this file.
pub fn compile(into: &Path, name: &str, with_pvm: bool) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts/files").join(format!("{name}.c"));
    compile_of(into, name, &[&source], with_pvm)
}

/// Compiles these files to a program of that name.
pub fn compile_of(into: &Path, name: &str, sources: &[&Path], with_pvm: bool) -> Result<PathBuf, String> {
    let program = into.join(name);
    let mut cc = Command::new("cc");
    cc.env("LC_ALL", "C").args(["-O2", "-o"]).arg(&program).args(sources);
    if with_pvm {
        cc.args(["-I/usr/include", "-lpvm3"]);
    }
    let done = cc.output().map_err(|why| format!("cc: {why}"))?;
    let errors = String::from_utf8_lossy(&done.stderr);
    if done.status.success() { Ok(program) } else { Err(format!("{name}.c: {errors}")) }
}
