//! The programs of `apps/` write what the laboratory reads. Nothing here judges a time.

use parvum_lab::stats::samples::read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds everything once into a folder of this test run.
fn build(name: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps/build.sh");
    let output = Command::new("sh").arg(script).arg(&out).output().expect("sh runs");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    assert!(!words.contains("warning"), "{words}");
    out
}

#[test]
fn baselines_and_sockets_write_samples_and_refuse_bad_arguments() {
    let programs = build("floors");
    let out = programs.join("floors.jsonl");
    let floors = programs.join("floors");
    let arguments = ["--sizes", "0,8,4096", "--time-ms", "1", "--least", "2", "--most", "20", "--out"];
    let status = Command::new(&floors).args(arguments).arg(&out).status().expect("floors starts");
    assert!(status.success());
    let lines = read(&out).expect("the samples are read");
    for floor in ["shared flag", "one-core hand-over", "memory copy", "unix socket", "loopback tcp"] {
        assert!(lines.iter().any(|line| line.floor.as_deref() == Some(floor)), "{floor} is missing");
    }

    let sockets = programs.join("sockets.sockets");
    for (experiment, size, tasks) in
        [("message", 4096, 2), ("buffer", 65536, 2), ("both", 32768, 2), ("pairs", 32768, 4), ("echo", 8, 2)]
    {
        let words = [
            "--operations",
            experiment,
            "--least",
            "2",
            "--most",
            "20",
            "--sizes",
            &size.to_string(),
            "--out",
        ];
        let status = Command::new(&sockets).args(words).arg(&out).status().expect("sockets starts");
        assert!(status.success(), "{experiment}");
        let lines = read(&out).expect("the samples are read");
        assert_eq!((lines.len(), lines[0].size, lines[0].tasks), (1, size, tasks), "{experiment}");
    }

    for (bad, reason) in [
        (&["--sizes", "8,x"][..], "not a number"),
        (&["--frob", "1"][..], "unknown argument"),
        (&["--sizes"][..], "value is missing"),
    ] {
        let output = Command::new(&floors).args(bad).output().expect("floors starts");
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(reason), "{bad:?}");
    }
}
