//! The pages in a real browser: every plot is drawn, and nothing complains.

use super::place::Place;
use parvum_lab::papers::run;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Added to a copy of a page: writes behind its end what of each plot has a place, and whether the page is wider than the window.
const LOOK: &str = r#"<script>
const drawn = [...document.querySelectorAll('svg')].map(plot => {
  const box = plot.getBoundingClientRect();
  const marks = [...plot.querySelectorAll('circle, rect, polyline')].filter(mark => {
    const own = mark.getBoundingClientRect();
    return own.width + own.height > 0 && own.left >= box.left - 1 && own.right <= box.right + 1;
  });
  return `${Math.round(box.width)}x${Math.round(box.height)}:${marks.length}`;
});
const seen = document.createElement('pre');
seen.id = 'seen';
seen.textContent = `plots ${drawn.join(' ')}; wide ${document.documentElement.scrollWidth > window.innerWidth}`;
document.body.append(seen);
</script></body>"#;

/// The browser, by its name on this system.
fn browser() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .flat_map(|folder| ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

struct Look {
    /// Width, height and marks of each plot.
    plots: Vec<(u32, u32, usize)>,
    is_too_wide: bool,
    complaints: Vec<String>,
}

/// Opens a page in a window so wide.
fn look(browser: &Path, page: &Path, folder: &Path, width: u32) -> Look {
    let text = std::fs::read_to_string(page).expect("the page");
    let copy = folder.join("looked-at.html");
    std::fs::write(&copy, text.replace("</body>", LOOK)).expect("a copy");
    let profile = folder.join("profile");
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--dump-dom",
    ]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args([
        "--enable-logging=stderr",
        "--virtual-time-budget=5000",
        &format!("--window-size={width},1200"),
    ]);
    command.arg(format!("--user-data-dir={}", profile.display())).arg(format!("file://{}", copy.display()));
    let ended = command.output().expect("the browser starts");
    let _ = std::fs::remove_dir_all(&profile);
    let said = String::from_utf8_lossy(&ended.stderr);
    let complains = |line: &&str| line.contains("CONSOLE") || line.contains("Uncaught");
    let complaints = said.lines().filter(complains).map(str::to_owned).collect();
    let dom = String::from_utf8_lossy(&ended.stdout);
    let seen = dom
        .split_once("<pre id=\"seen\">plots ")
        .unwrap_or_else(|| panic!("the page ran no script: {said}"))
        .1;
    let (plots, rest) = seen.split_once("; wide ").expect("as it was written");
    let plot = |word: &str| {
        let (size, marks) = word.split_once(':')?;
        let (width, height) = size.split_once('x')?;
        Some((width.parse().ok()?, height.parse().ok()?, marks.parse().ok()?))
    };
    let plots = plots.split_whitespace().map(|word| plot(word).unwrap_or_else(|| panic!("{word}"))).collect();
    Look { plots, is_too_wide: rest.starts_with("true"), complaints }
}

#[test]
fn plots_are_all_drawn_in_browser_without_errors() {
    let Some(browser) = browser() else {
        eprintln!(
            "skipped: plots_are_all_drawn_in_browser_without_errors: no browser (apt-get install chromium)"
        );
        return;
    };
    let place = Place::new("papers-looked-at");
    let done = run(&place.options()).expect("it comes to its end");
    for (page, plots) in
        [(done.folder.join("sockets/report.html"), true), (done.folder.join("report.html"), false)]
    {
        for width in [1200, 500] {
            let seen = look(&browser, &page, &place.0, width);
            let (page, written) = (page.display(), std::fs::read_to_string(&page).expect("the page"));
            assert!(seen.complaints.is_empty(), "{page}: {:?}", seen.complaints);
            assert_eq!(seen.plots.len(), written.matches("<svg").count(), "{page}");
            assert!(!plots || !seen.plots.is_empty(), "{page} has plots");
            for (width, height, marks) in &seen.plots {
                assert!(
                    *width > 100 && *height > 50 && *marks > 1,
                    "{page}: {width} x {height}, {marks} marks"
                );
            }
            assert!(!seen.is_too_wide, "{page} is wider than a window of {width}");
        }
    }
}
