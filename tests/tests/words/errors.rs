//! Errors: each as it was last looked at, in the form that all have.

use super::{Folder, run, snapshot, text};
use parvum_tests::{TestMachine, parvum, stage};
use parvum_wire::control::{ErrorKind, Failure};
use std::fmt::Write as _;
use std::process::Command;

/// The errors that commands print, with what differs from run to run put in general words.
#[test]
fn errors_of_the_command_are_as_they_were_looked_at() {
    let (machine, down) = (TestMachine::up(), TestMachine::new());
    let folder = Folder::new("errors");
    let here = folder.0.to_str().expect("a plain path");
    let script = folder.script("a.sh", "#!/no/such/interpreter\n");
    let script = script.to_str().expect("a plain path");
    let plain = format!("{here}/plain");
    let (config, replay) = (format!("{here}/config"), format!("{here}/odd.replay"));
    for (path, said) in [(&plain, "x"), (&config, "run.labl = yes\n"), (&replay, "dance\n")] {
        std::fs::write(path, said).expect("writable");
    }
    let out = format!("{here}/none/out.json");
    // The folder of the command, its words, and its variables.
    type Case<'a> = (&'a TestMachine, Vec<&'a str>, Vec<(&'a str, &'a str)>);
    let cases: Vec<Case> = vec![
        (&down, vec!["ps"], vec![]),
        (&machine, vec!["run", "--lable", "true"], vec![]),
        (&machine, vec!["run"], vec![]),
        (&machine, vec!["rnu", "true"], vec![]),
        (&machine, vec!["run", "-n", "0", "true"], vec![]),
        (&machine, vec!["run", "--bind-to", "moon", "true"], vec![]),
        (&machine, vec!["run", "-x", "NO_SUCH_VARIABLE", "true"], vec![]),
        (&machine, vec!["run", "--stdin", "7", "true"], vec![]),
        (&machine, vec!["run", "no-such-program"], vec![]),
        (&machine, vec!["run", &plain], vec![]),
        (&machine, vec!["run", script], vec![]),
        (
            &machine,
            vec!["run", "-n", "2", "sh", "-c", "test $PARVUM_RANK = 1 && exit 3; exec sleep 600"],
            vec![],
        ),
        (&machine, vec!["run", "--timeout", "0.2", "sleep", "60"], vec![]),
        (&machine, vec!["run", "--host", "nowhere", "true"], vec![]),
        (&machine, vec!["run", "--json", &out, "true"], vec![]),
        (&machine, vec!["run", "true"], vec![("PARVUM_CONFIG", config.as_str())]),
        (&machine, vec!["kill", "t7fffff"], vec![]),
        (&machine, vec!["kill", "task"], vec![]),
        (&machine, vec!["why", "t7fffff"], vec![]),
        (&machine, vec!["add", "--start-by", "false", "beta"], vec![]),
        (&machine, vec!["remove", "nowhere"], vec![]),
        (&machine, vec!["up", &plain], vec![]),
        (&machine, vec!["predict", &replay, "--costs", &plain], vec![]),
        (&machine, vec!["compare", "--suite", "nothing"], vec![]),
        (&machine, vec!["explain", "e-nohots"], vec![]),
        (&machine, vec!["report", "-o", &plain], vec![]),
        (&machine, vec!["algorithms", "MPI_Nothing"], vec![]),
        (&down, vec!["up"], vec![("PARVUM_PORT", "seven")]),
        (&down, vec!["up"], vec![("PARVUM_DIR", "/proc")]),
        (
            &down,
            vec!["up"],
            vec![(
                "PARVUM_DIR",
                "/tmp/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            )],
        ),
    ];
    let host = rustix::system::uname();
    let host = host.nodename().to_str().expect("a plain name").to_owned();
    let mut all = String::new();
    for (machine, words, variables) in cases {
        let done = machine.command(&words).envs(variables.iter().copied()).output().expect("parvum runs");
        let said = text(&done.stderr)
            .replace(here, "FOLDER")
            .replace(machine.dir.to_str().expect("plain"), "MACHINE");
        let said =
            said.replace(&format!(" on {host}"), " on HOST").replace(&format!("has {host};"), "has HOST;");
        let line = words.join(" ").replace(here, "FOLDER");
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = write!(all, "$ parvum {line}\n{}\n", without_numbers(&said));
        in_form(&said);
    }
    snapshot("errors.txt", &all);
    let _ = run(&machine, &["down", "-q"]);
}

/// Task ids differ from run to run, and so do numbers of processes and folders of PATH.
fn without_numbers(said: &str) -> String {
    let mut out = String::new();
    for word in said.split_inclusive([' ', '\n', '(', ',']) {
        let bare = word.trim_end_matches([' ', '\n', '(', ',', ';', ')']);
        let is_tid = bare.len() > 4
            && bare.strip_prefix("t4").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit()));
        match is_tid {
            true => out += &word.replace(bare, "TID"),
            false => out += word,
        }
    }
    let Some((before, after)) = out.split_once("the daemon's PATH (") else { return out };
    format!("{before}the daemon's PATH (N{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// One line for each error: who, code, text; and nothing that sends its reader elsewhere.
fn in_form(said: &str) {
    for line in said.lines().filter(|line| line.contains("E-")) {
        assert!(line.starts_with("parvum: E-"), "{line}");
        for riddle in [
            "makes no sense",
            "make no sense",
            "see the cause",
            "see the system's",
            " above",
            "see the manual page of the call",
        ] {
            assert!(!line.contains(riddle), "{riddle}: {line}");
        }
    }
    assert!(said.contains("parvum: E-"), "no error: {said}");
}

#[test]
fn refusals_of_the_daemon_are_as_they_were_looked_at() {
    let mut all = String::new();
    for kind in ErrorKind::ALL {
        let _ = writeln!(all, "{}\n{}", Failure::from(*kind), Failure::new(*kind, "the detail"));
    }
    snapshot("refusals.txt", &all);
    for line in all.lines() {
        assert!(line.contains("; help: "), "{line}");
    }
}

#[test]
fn terminal_gets_notes_and_help_on_own_lines() {
    // `script` gives a terminal to what it runs.
    let Ok(done) = Command::new("script")
        .args(["-qec", &format!("{} run --lable true", parvum().display()), "/dev/null"])
        .env("NO_COLOR", "1")
        .output()
    else {
        return parvum_tests::skip(parvum_tests::Lack::Tools, "there is no `script`");
    };
    let said = text(&done.stdout).replace('\r', "");
    assert!(said.starts_with("error[E-USAGE]: unexpected argument '--lable' found\n"), "{said}");
    assert!(said.lines().any(|line| line.starts_with("help: a similar argument exists")), "{said}");
    assert!(said.lines().any(|line| line == "help: `parvum run --help`"), "{said}");
    assert!(!said.contains('\x1b'), "NO_COLOR: {said:?}");
}

#[test]
fn explain_prints_the_page_that_is_in_the_sources() {
    let machine = TestMachine::new();
    let page = run(&machine, &["explain", "--markdown"]);
    let path = stage::project().join("docs/errors.md");
    if std::env::var_os("PARVUM_BLESS").is_some() {
        std::fs::write(&path, &page.stdout).expect("the sources are writable");
    }
    assert_eq!(
        std::fs::read_to_string(&path).expect("the page"),
        text(&page.stdout),
        "PARVUM_BLESS=1 writes docs/errors.md again"
    );
    for word in ["E-NODAEMON", "nodaemon", "MPI_ERR_TRUNCATE", "PvmNoTask", "E-TMK-LOCK"] {
        let done = run(&machine, &["explain", word]);
        let said = text(&done.stdout);
        assert!(
            done.status.success() && said.contains("What happened") && said.contains("What to do"),
            "{word}: {said}"
        );
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    }
    let list = text(&run(&machine, &["explain"]).stdout);
    for code in ["E-NODAEMON", "E-WORKER", "MPI_ERR_RANK", "PvmBadParam"] {
        assert!(list.contains(code), "{code}");
    }
    let unknown = run(&machine, &["explain", "E-NODEMON"]);
    assert!(
        !unknown.status.success() && text(&unknown.stderr).contains("`parvum explain E-NODAEMON`"),
        "{unknown:?}"
    );
}

/// `docs/reference/options.md` with new tables, which the command printed.
fn with_tables(page: &str, tables: &str) -> String {
    let mut written = page.to_owned();
    for table in tables.split("## ").skip(1) {
        let (title, rows) = table.split_once("\n\n").expect("a heading and a table");
        let section =
            written.find(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("no section {title}"));
        let from = section + written[section..].find("\n| ").expect("a table in the section") + 1;
        let to = written[from..].find("\n\n").map_or(written.len(), |end| from + end);
        written.replace_range(from..to, rows.trim_end());
    }
    written
}

#[test]
fn page_of_options_has_the_tables_of_the_command() {
    let machine = TestMachine::new();
    let tables = text(&run(&machine, &["explain", "--variables", "--markdown"]).stdout);
    let path = stage::project().join("docs/reference/options.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let written = with_tables(&page, &tables);
    if std::env::var_os("PARVUM_BLESS").is_some() {
        std::fs::write(&path, &written).expect("the sources are writable");
    } else {
        assert_eq!(page, written, "PARVUM_BLESS=1 writes the tables of docs/reference/options.md again");
    }
    for name in ["PARVUM_CREDIT", "tmk_heap", "PVMTRCOPT"] {
        let said = text(&run(&machine, &["explain", name]).stdout);
        assert!(said.contains("\nDefault\n") && said.contains("\nEffect\n"), "{name}: {said}");
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    }
    assert!(text(&run(&machine, &["explain", "--variables"]).stdout).contains("PARVUM_SINGLE_COPY"));
    let unknown = text(&run(&machine, &["explain", "PARVUM_CREDITS"]).stderr);
    assert!(unknown.contains("`parvum explain PARVUM_CREDIT`"), "{unknown}");
    // The manual names some of the variables. Each of those is in the table.
    let manual = std::fs::read_to_string(stage::project().join("man/man1/parvum.1")).expect("the manual");
    let environment = manual.split(".SH ").find(|part| part.starts_with("ENVIRONMENT")).expect("a section");
    for line in environment.lines().filter(|line| line.starts_with(".B PARVUM") || line.starts_with(".B PVM"))
    {
        assert!(tables.contains(&format!("| `{}` |", &line[3..])), "{line}");
    }
}

#[test]
fn mpi_classes_and_pvm_codes_of_the_libraries_are_explained() {
    let page = text(&run(&TestMachine::new(), &["explain", "--markdown"]).stdout);
    let source = |path: &str| std::fs::read_to_string(stage::project().join(path)).expect("a source");
    let mpi = source("interfaces/mpi/src/errors.rs");
    let classes = mpi.split('"').filter(|word| word.starts_with("MPI_ERR_") || word.starts_with("MPIX_ERR_"));
    let classes = classes.filter(|word| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'));
    let pvm = source("interfaces/pvm/src/errors.rs");
    let codes =
        pvm.lines().filter(|line| line.ends_with("\";")).filter_map(|line| line.trim().split_once(" = "));
    let codes: Vec<String> = codes.map(|(name, _)| format!("Pvm{name}")).collect();
    let classes: Vec<&str> = classes.collect();
    assert!(classes.len() > 50 && codes.len() > 30, "{} {}", classes.len(), codes.len());
    for name in classes.into_iter().chain(codes.iter().map(String::as_str)) {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}
