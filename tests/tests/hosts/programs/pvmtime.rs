//! `apps/pvmtime/pvmtime.c` with masters and slaves on several hosts.

use parvum_tests::bed::Bed;
use parvum_tests::stage::stage;
use std::path::Path;
use std::process::Command;

#[test]
fn masters_and_slaves_start_on_hosts_of_their_lines() {
    let Some(bed) = Bed::of(3) else { return };
    let apps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps");
    let program = bed.root().join("pvmtime");
    let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    compiler.args(["-O1", "-std=c11", "-I"]).arg(&stage().include).arg("-o").arg(&program);
    compiler
        .args(["pvmtime/pvmtime.c", "pvmtime/pvmtime_main.c", "common/bench.c"].map(|file| apps.join(file)));
    compiler.arg("-L").arg(&stage().lib).args(["-lpvm3", "-lm"]);
    assert!(compiler.status().expect("a C compiler runs").success());
    bed.join_all();
    let file = bed.root().join("places");
    std::fs::write(&file, "master alpha\nslave beta\nslave gamma\nmaster gamma\nslave alpha\nslave .\n")
        .expect("ours");
    let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
    for route in ["direct", "dont"] {
        let before = [0, 1, 2].map(|at| bed[at].sent());
        let words = [
            text(&program),
            "--config".into(),
            text(&file),
            "--route".into(),
            route.into(),
            "--messages".into(),
            "50".into(),
            "--sizes".into(),
            "16384".into(),
        ];
        let said = bed[0].succeed(&words.each_ref().map(String::as_str));
        assert!(said.contains("\"tasks\":6") && said.contains("\"moved\":3276800"), "{said}");
        // Both slaves of the first master are elsewhere, both of the second as well: 50 messages each, and their echoes.
        let sent = [0, 1, 2].map(|at| bed[at].sent() - before[at]);
        let least = [3, 1, 2].map(|streams| streams * 50 * 16384);
        assert!(
            sent.iter().zip(least).all(|(sent, least)| *sent > least),
            "{sent:?} by {route}, at least {least:?}"
        );
    }
    std::fs::write(&file, "master alpha\nslave delta\n").expect("ours");
    let done = bed[0].run(&[&text(&program), "--config", &text(&file)]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && said.contains("line 2: host \"delta\": no such host"), "{said}");
    bed[0].await_idle();
}
