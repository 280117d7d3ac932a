//! `parvum docs`: where the documentation lies on this host, and the page about a topic.

use clap::Args;
use parvum_task::SessionError;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is asked for.
#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum docs", "the path of the first page"),
    ("parvum docs E-NOHOST", "the page about an error"),
    ("parvum docs --open MPI_Bcast", "the page of a function, in a browser"),
]))]
pub struct DocsArgs {
    /// A page, an error code, a variable, or a function
    ///
    /// For example: memory, E-NOHOST, PARVUM_CREDIT, MPI_Bcast.
    topic: Option<String>,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
}

/// Prints the path of the first page, or of the page about the topic.
pub fn docs(args: &DocsArgs) -> Result<(), String> {
    let found = std::env::current_exe().and_then(|command| command.canonicalize());
    let command =
        found.map_err(|error| SessionError::System("find this command".into(), error).to_string())?;
    let root = command.ancestors().nth(2).unwrap_or(Path::new("/"));
    let pages = Pages::of(root).ok_or_else(|| {
        let lacking = io::Error::new(
            io::ErrorKind::NotFound,
            format!(
                "{} has no share/doc/parvum; help: `./x docs` in the sources makes the pages",
                root.display()
            ),
        );
        SessionError::System("find the pages".into(), lacking).to_string()
    })?;
    let address = match &args.topic {
        None => pages.address("index.md", None),
        Some(topic) => pages.about(topic)?,
    };
    crate::terminal::out::line(&address).map_err(|error| error.to_string())?;
    if args.open { open(&address) } else { Ok(()) }
}

/// Hands an address to the desktop, which goes on without this command.
fn open(address: &str) -> Result<(), String> {
    let mut browser = Command::new("xdg-open");
    browser.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match browser.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("E-SYSTEM: could not open {address}: xdg-open ended with {status}")),
        Err(error) => Err(SessionError::System("start xdg-open".into(), error).to_string()),
    }
}

/// The pages of an installation: the site, else their Markdown.
struct Pages {
    folder: PathBuf,
    is_site: bool,
    /// The title of each page by its path below the folder, with the ending `md`.
    titles: BTreeMap<String, String>,
}

impl Pages {
    /// Those beside a prefix or a build tree; Debian has the pages in a separate folder.
    fn of(root: &Path) -> Option<Pages> {
        let homes = [root.join("share/doc/parvum"), root.join("../../share/doc/parvum")];
        let sites = homes.iter().map(|home| home.join("html")).chain([root.join("docs")]);
        let markdown = homes.iter().map(|home| home.join("docs")).chain([root.join("../docs")]);
        let site = sites.into_iter().find(|folder| folder.join("index.html").is_file());
        let is_site = site.is_some();
        let folder =
            site.or_else(|| markdown.into_iter().find(|folder| folder.join("index.md").is_file()))?;
        let folder = folder.canonicalize().ok()?;
        let mut titles = BTreeMap::new();
        collect(&folder, &folder, &mut titles);
        Some(Pages { folder, is_site, titles })
    }

    /// The path of a page, as a browser or a reader of files takes it.
    fn address(&self, page: &str, anchor: Option<&str>) -> String {
        let page = if self.is_site { page.replace(".md", ".html") } else { page.to_owned() };
        let anchor = anchor.filter(|_| self.is_site).map(|name| format!("#{name}")).unwrap_or_default();
        format!("{}{anchor}", self.folder.join(page).display())
    }

    /// The page about a topic.
    fn about(&self, topic: &str) -> Result<String, String> {
        let wanted = topic.to_lowercase();
        let upper = topic.to_uppercase();
        if upper.starts_with("E-") {
            return Ok(self.address("errors.md", Some(&upper)));
        }
        if ["PARVUM_", "PVM_", "TMK_"].iter().any(|beginning| topic.starts_with(beginning)) {
            return Ok(self.address("reference/options.md", Some(topic)));
        }
        let stem = |page: &str| {
            // The names of our pages are plain.
            Path::new(page).file_stem().and_then(OsStr::to_str).unwrap_or_default().to_lowercase()
        };
        let is_named = |page: &&String| stem(page) == wanted;
        // A command and a page may have one name: the page says more.
        let named: Vec<&String> = self.titles.keys().filter(is_named).collect();
        if let Some(page) = named.iter().find(|page| !page.contains("/commands/")).or(named.first()) {
            return Ok(self.address(page, None));
        }
        let has_words =
            |title: &str| wanted.split_whitespace().all(|word| title.to_lowercase().contains(word));
        let titled: Vec<_> = self.titles.iter().filter(|(_, title)| has_words(title)).collect();
        match titled[..] {
            [] => Err(format!(
                "E-USAGE: {topic}: no page has that name or title; help: `parvum docs` prints where to begin"
            )),
            [(page, _)] => Ok(self.address(page, None)),
            _ => {
                let names: Vec<String> = titled.iter().map(|(page, _)| stem(page)).take(12).collect();
                Err(format!(
                    "E-USAGE: {topic}: several pages have it in their titles; name one: {}",
                    names.join(", ")
                ))
            }
        }
    }
}

/// The titles of all pages below a folder: their first headings.
fn collect(top: &Path, folder: &Path, titles: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(top, &path, titles);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let heading = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
            if let Some(page) = path.strip_prefix(top).ok().and_then(Path::to_str) {
                titles.insert(page.to_owned(), heading.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An installation with these pages, gone when the test is over.
    struct Prefix(PathBuf);

    impl Prefix {
        fn new(name: &str, pages: &[(&str, &str)]) -> Prefix {
            let root = std::env::temp_dir().join(format!("parvum-docs-{name}-{}", std::process::id()));
            for (page, text) in pages {
                let file = root.join("share/doc/parvum").join(page);
                fs::create_dir_all(file.parent().expect("a folder")).expect("writable");
                fs::write(file, text).expect("writable");
            }
            Prefix(root)
        }

        fn about(&self, topic: &str) -> Result<String, String> {
            let pages = Pages::of(&self.0).expect("pages");
            let found = pages.about(topic)?;
            Ok(found.strip_prefix(&format!("{}/", pages.folder.display())).expect("below").to_owned())
        }
    }

    impl Drop for Prefix {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const SITE: [(&str, &str); 6] = [
        ("html/index.html", ""),
        ("html/index.md", "# Parvum"),
        ("html/how-to/memory.md", "# Limit memory"),
        ("html/reference/commands/trace.md", "# parvum trace"),
        ("html/how-to/trace.md", "# Trace a program"),
        ("html/reference/man/man3/MPI_Bcast.md", "# MPI\\_Bcast(3)"),
    ];

    #[test]
    fn about_finds_pages_codes_variables_and_functions() {
        let prefix = Prefix::new("site", &SITE);
        let about = |topic: &str| prefix.about(topic).expect("a page");
        assert_eq!(about("memory"), "how-to/memory.html");
        assert_eq!(about("limit Memory"), "how-to/memory.html");
        assert_eq!(about("e-nohost"), "errors.html#E-NOHOST");
        assert_eq!(about("PARVUM_CREDIT"), "reference/options.html#PARVUM_CREDIT");
        assert_eq!(about("MPI_Bcast"), "reference/man/man3/MPI_Bcast.html");
        // The page says more than the help.
        assert_eq!(about("trace"), "how-to/trace.html");
    }

    #[test]
    fn about_refuses_topics_without_a_page_or_with_several() {
        let prefix = Prefix::new("refused", &SITE);
        let unknown = prefix.about("teapots").expect_err("no page");
        assert!(unknown.contains("teapots: no page"), "{unknown}");
        let several = prefix.about("a").expect_err("several pages");
        assert!(several.contains("name one: "), "{several}");
    }

    #[test]
    fn pages_are_markdown_if_there_is_no_site() {
        let prefix =
            Prefix::new("markdown", &[("docs/index.md", "# Parvum"), ("docs/errors.md", "# Errors")]);
        assert_eq!(prefix.about("E-LOST"), Ok("errors.md".to_owned()));
        assert!(Pages::of(&prefix.0.join("nowhere")).is_none());
    }
}
