//! The NAS benchmarks of `apps/npb`, compiled over one of the layer's bodies.

use crate::stage::{compiler, project, stage};
use std::path::PathBuf;

/// The kernel: all but the bodies.
const KERNEL: [&str; 14] = [
    "npb", "options", "report", "classes", "problem", "grid", "rhs", "lu", "sp", "solve", "bt", "bt_line",
    "verify", "traffic",
];

/// A compiled program, gone with this.
#[derive(Debug)]
pub struct Npb(PathBuf);

impl Npb {
    /// Over `pvm`, `mpi` or `alone`, as users of each compile; `name` tells tests of one process apart.
    pub fn over(body: &str, name: &str) -> Npb {
        let file = std::env::temp_dir().join(format!("parvum-npb-{name}-{}", std::process::id()));
        let apps = project().join("apps");
        let wrapper = stage().bin.join("mpicc");
        let mut cc = compiler(if body == "mpi" { wrapper.to_str().expect("a plain path") } else { "cc" });
        cc.args(["-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overread", "-o"])
            .arg(&file);
        cc.args(KERNEL.map(|part| apps.join("npb").join(format!("{part}.c"))));
        cc.arg(apps.join(format!("npb/layers/layer_{body}.c"))).arg(apps.join("common/bench.c"));
        if body == "pvm" {
            cc.arg(apps.join("teams/tasks_pvm.c"));
            // Tasks that others spawn find the libraries as well.
            cc.arg("-I").arg(&stage().include).arg(format!("-Wl,-rpath,{}", stage().lib.display()));
            cc.arg("-L").arg(&stage().lib).arg("-lpvm3");
        }
        let done = cc.arg("-lm").output().expect("a C compiler runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Npb(file)
    }

    /// Its path.
    pub fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for Npb {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The three.
pub const BENCHMARKS: [&str; 3] = ["lu", "sp", "bt"];

/// What class S takes with so many tasks, of which the layer must count every message.
pub fn messages_of_class_s(benchmark: &str, tasks: u32) -> Option<u32> {
    match (benchmark, tasks) {
        ("lu", 2) => Some(40),
        ("lu", 4) => Some(120),
        ("sp", 2) => Some(10),
        ("sp", 4) => Some(40),
        ("bt", 2) => Some(6),
        ("bt", 4) => Some(30),
        _ => None,
    }
}

/// Holds a page of output to what a good run says.
pub fn verified(said: &str, benchmark: &str, tasks: u32) {
    assert!(said.contains("  VERIFIED: ") && !said.contains("DIFFERS"), "{benchmark} on {tasks}: {said}");
    let agreeing = if benchmark == "lu" { 11 } else { 10 };
    assert_eq!(said.matches("agrees").count(), agreeing, "{benchmark} on {tasks}: {said}");
    if let Some(messages) = messages_of_class_s(benchmark, tasks) {
        let line =
            said.lines().find(|line| line.contains("messages of all tasks")).expect("they are counted");
        assert!(line.contains(&format!(" {messages}  (halo")), "{benchmark} on {tasks}, {messages}: {line}");
    }
}
