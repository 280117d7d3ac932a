//! The site of the documentation: its blocks of code run, its links lead somewhere, and its builder refuses what is wrong.

use parvum_tests::stage::{compiler, project, stage};
use parvum_tests::{Lack, parvum, skip};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Parvum as `./x install` leaves it, gone when the test is over.
struct Installed {
    dir: PathBuf,
}

impl Installed {
    fn new(test: &str) -> Installed {
        Installed::with(test, |_| {})
    }

    /// The same of a build tree in which there is more.
    fn with(test: &str, more: impl FnOnce(&Path)) -> Installed {
        let dir = std::env::temp_dir().join(format!("parvum-site-{test}-{}", std::process::id()));
        let build = dir.join("build");
        fs::create_dir_all(build.join("bin")).expect("writable");
        symlink(parvum(), build.join("bin/parvum")).expect("writable");
        symlink(&stage().lib, build.join("lib")).expect("writable");
        symlink(stage().bin.with_file_name("include"), build.join("include")).expect("writable");
        fs::create_dir_all(build.join("share/man/man3")).expect("writable");
        more(&build);
        let mut install = Command::new("sh");
        install.arg(project().join("tools/install.sh")).arg("install").arg(&build).arg(dir.join("prefix"));
        let done = install.env_remove("DESTDIR").output().expect("sh runs");
        assert!(done.status.success(), "{}", words(&done));
        Installed { dir }
    }

    /// What `parvum docs` does.
    fn docs(&self, words: &[&str]) -> Output {
        Command::new(self.dir.join("prefix/bin/parvum"))
            .arg("docs")
            .args(words)
            .output()
            .expect("parvum runs")
    }

    /// Runs the blocks of pages.
    fn run(&self, pages: &[PathBuf]) -> Output {
        let mut blocks = Command::new("python3");
        blocks.arg(project().join("tools/docs/blocks.py")).arg(self.dir.join("prefix")).args(pages);
        blocks.env("PYTHONDONTWRITEBYTECODE", "1").output().expect("python3 was found")
    }

    /// Runs the blocks of one page with this text.
    fn run_text(&self, text: &str) -> Output {
        let page = self.dir.join("page.md");
        fs::write(&page, text).expect("writable");
        self.run(&[page])
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn words(done: &Output) -> String {
    String::from_utf8_lossy(&[done.stdout.as_slice(), done.stderr.as_slice()].concat()).into_owned()
}

/// Whether everything is there that pages compile and run with.
fn has_tools() -> bool {
    let recent = "import sys; sys.exit(sys.version_info < (3, 10))";
    if !Command::new("python3").args(["-c", recent]).status().is_ok_and(|done| done.success()) {
        skip(Lack::Tools, "there is no python3 of 3.10 or later");
        return false;
    }
    for tool in ["gfortran", "cmake", "pkg-config", "man"] {
        if !compiler(tool).arg("--version").output().is_ok_and(|done| done.status.success()) {
            skip(Lack::Tools, format!("no {tool} is installed"));
            return false;
        }
    }
    true
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder).expect("a folder").flatten().map(|file| file.path()) {
        match file.is_dir() {
            true => found.extend(pages(&file)),
            false if file.extension().is_some_and(|end| end == "md") => found.push(file),
            false => {}
        }
    }
    found.sort();
    found
}

#[test]
fn blocks_of_every_page_run_or_say_why_not() {
    if !has_tools() {
        return;
    }
    let all = pages(&project().join("docs"));
    assert!(all.len() > 60, "{all:?}");
    let done = Installed::new("pages").run(&all);
    assert!(done.status.success(), "{}", words(&done));
}

#[test]
fn blocks_that_are_wrong_are_refused_with_page_and_line() {
    if !has_tools() {
        return;
    }
    let installed = Installed::new("wrong");
    let fence = "```";
    let cases = [
        (format!("{fence}sh\ntrue\n{fence}\n\n{fence}sh\nfalse\n{fence}\n"), "page.md:5: ends with 1"),
        (format!("{fence}c\nint main(void) {{ return x; }}\n{fence}\n"), "does not compile"),
        (format!("{fence}python\ndef f(:\n{fence}\n"), "does not compile"),
        (format!("{fence}json\n{{\n{fence}\n"), "page.md:1: no JSON"),
        (
            format!("{fence}sh\necho 7 birds\n{fence}\n\n<!-- output -->\n{fence}text\n8 fish\n{fence}\n"),
            "page.md:6: this line was not printed: 8 fish",
        ),
        (format!("<!-- not run: no wish -->\n{fence}sh\ntrue\n{fence}\n"), "`not run: no wish` is no reason"),
        (format!("{fence}\ntrue\n{fence}\n"), "no language that is known here"),
        (format!("{fence}ini\na = b\n{fence}\n"), "needs the title of a file"),
        (format!("{fence}sh\ntrue\n"), "the block has no end"),
        ("Text.\n\n    indented\n".to_owned(), "page.md:3: an indented block"),
    ];
    for (text, why) in cases {
        let done = installed.run_text(&text);
        let said = words(&done);
        assert_eq!(done.status.code(), Some(1), "{text}{said}");
        assert!(said.contains(why) && said.contains("1 pages wrong"), "{why}: {said}");
    }
    // Numbers, ids and blanks may differ from what the page shows.
    let text = "```sh\necho 'task t40002 waits 1.5 s'\n```\n\n<!-- output -->\n```text\ntask t40007  waits 22 s\n```\n";
    let done = installed.run_text(text);
    assert!(done.status.success(), "{}", words(&done));
}

/// Where `parvum docs` leads, from the prefix; the file must be there.
fn led(installed: &Installed, topic: &[&str]) -> String {
    let done = installed.docs(topic);
    assert!(done.status.success(), "{topic:?}: {}", words(&done));
    let path = String::from_utf8_lossy(&done.stdout).trim_end().to_owned();
    let file = path.split('#').next().expect("a part");
    assert!(Path::new(file).is_file(), "{topic:?}: {path} is not there");
    let prefix = installed.dir.join("prefix").canonicalize().expect("it is there");
    path.strip_prefix(&format!("{}/share/doc/parvum/", prefix.display()))
        .expect("below the prefix")
        .to_owned()
}

#[test]
fn docs_prints_the_markdown_of_an_installation_without_site() {
    let installed = Installed::new("markdown");
    assert_eq!(led(&installed, &[]), "docs/index.md");
    assert_eq!(led(&installed, &["memory"]), "docs/how-to/programs/memory.md");
    assert_eq!(led(&installed, &["E-NOHOST"]), "docs/errors.md");
    assert_eq!(led(&installed, &["PARVUM_CREDIT"]), "docs/reference/options.md");
    let unknown = installed.docs(&["teapots"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", words(&unknown));
    assert!(
        words(&unknown).contains("E-USAGE: teapots: no page has that name or title"),
        "{}",
        words(&unknown)
    );
}

#[test]
fn site_is_installed_found_and_removed() {
    let installed = Installed::with("site", |build| {
        for (page, text) in [
            ("index.html", ""),
            ("index.md", "# Parvum\n"),
            ("errors.html", ""),
            ("how-to/memory.html", ""),
            ("how-to/memory.md", "# Limit memory\n"),
        ] {
            let file = build.join("docs").join(page);
            fs::create_dir_all(file.parent().expect("a folder")).expect("writable");
            fs::write(file, text).expect("writable");
        }
    });
    assert_eq!(led(&installed, &[]), "html/index.html");
    assert_eq!(led(&installed, &["limit memory"]), "html/how-to/memory.html");
    assert_eq!(led(&installed, &["E-NOHOST"]), "html/errors.html#E-NOHOST");
    let mut uninstall = Command::new("sh");
    uninstall.arg(project().join("tools/install.sh")).arg("uninstall").arg(installed.dir.join("prefix"));
    let done = uninstall.env_remove("DESTDIR").output().expect("sh runs");
    assert!(done.status.success(), "{}", words(&done));
    assert!(!installed.dir.join("prefix/share").exists(), "{}", words(&done));
}

/// The site is built as `./x docs` builds it: a link or an anchor that leads nowhere is an error.
#[test]
fn site_has_no_broken_link_and_needs_no_network() {
    let Some(mkdocs) = std::env::var_os("PARVUM_MKDOCS") else {
        return skip(Lack::Host, "PARVUM_MKDOCS names no mkdocs (./x test sets it)");
    };
    let site = std::env::temp_dir().join(format!("parvum-site-built-{}", std::process::id()));
    let mut build = Command::new(mkdocs);
    build.args(["build", "--quiet", "--strict", "--site-dir"]).arg(&site).current_dir(project());
    build.env("PARVUM_DOCS_BUILT", parvum().parent().expect("a folder")).env("NO_MKDOCS_2_WARNING", "1");
    let done = build.env("PYTHONDONTWRITEBYTECODE", "1").output().expect("mkdocs runs");
    assert!(done.status.success(), "{}", words(&done));
    for page in
        ["index.html", "errors.html", "reference/commands/run.html", "reference/man/man3/MPI_Bcast.html"]
    {
        let text = fs::read_to_string(site.join(page)).expect("a page");
        for fetched in [r#"src="http"#, r#"<link rel="stylesheet" href="http"#, "url(http"] {
            assert!(!text.contains(fetched), "{page} fetches {fetched}");
        }
        assert!(site.join(page).with_extension("md").is_file(), "{page} as Markdown");
    }
    let list = fs::read_to_string(site.join("llms.txt")).expect("llms.txt");
    let listed: Vec<&str> =
        list.lines().filter_map(|line| line.strip_suffix(')')?.split("](").nth(1)).collect();
    assert!(listed.len() > 60, "{list}");
    for page in listed {
        assert!(site.join(page).is_file(), "llms.txt names {page}");
    }
    fs::remove_dir_all(site).expect("removed");
}
