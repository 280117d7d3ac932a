"""What mkdocs calls while it builds the site: pages that are made, links out of docs/, and the site as Markdown."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).resolve().parent))

import commands  # noqa: E402
import manual  # noqa: E402
import python_api  # noqa: E402

ROOT = commands.ROOT
# Pages of the repository that are no pages of docs/, and where the site has them.
COPIES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security-reports.md",
}
# What the site has as Markdown: the text of each page by its path, once mkdocs has read it.
texts: dict[str, str] = {}
titles: dict[str, str] = {}


def made() -> dict[str, str]:
    """All pages that are in no file."""
    pages = commands.pages() | manual.pages() | python_api.pages()
    for name, place in COPIES.items():
        pages[place] = (ROOT / name).read_text(encoding="utf-8")
    return pages


def on_files(files: Files, config: Any) -> Files:
    for path, text in made().items():
        files.append(File.generated(config, path, content=text))
    return files


def home(path: str) -> str:
    """The file of the repository that a page of the site is."""
    return next((name for name, place in COPIES.items() if place == path), f"docs/{path}")


def site_path(file: str) -> str | None:
    """Where the site has a file of the repository."""
    if file in COPIES:
        return COPIES[file]
    if found := re.match(r"man/man\d/(.+)$", file):
        return manual.path(found.group(1))
    return file.removeprefix("docs/") if file.startswith("docs/") else None


def moved(found: re.Match[str], path: str) -> str:
    """A link of a page, as the site needs it: to a page of the site, or no link if the site lacks the file."""
    text, target = found.group(1), found.group(2)
    if "://" in target or target.startswith(("#", "mailto:")):
        return found.group(0)
    file, mark, anchor = target.partition("#")
    folder = os.path.dirname(home(path))
    place = site_path(os.path.normpath(os.path.join(folder, file)))
    if place is None:
        return text
    return f"[{text}]({os.path.relpath(place, os.path.dirname(path) or '.')}{mark}{anchor})"


def anchored(text: str) -> str:
    """Tables of errors and options: each row has its name as anchor, so that `errors.html#E-NOHOST` leads to it."""
    row = re.compile(r"^\| `((?:E-|PARVUM_|PVM_|TMK_)[A-Z0-9_-]+)`", re.MULTILINE)
    return row.sub(lambda found: f'| <span id="{found.group(1)}"></span>`{found.group(1)}`', text)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    path = page.file.src_uri
    if path == "errors.md":
        markdown = commands.errors(markdown)
    if not path.startswith(("reference/man/", "reference/commands/")):
        markdown = re.sub(r"(?<!!)\[([^\]\[]*)\]\(([^)\s]+)\)", lambda found: moved(found, path), markdown)
    if path == "reference/pvm/functions.md":
        markdown = manual.mentioned(markdown, path)
    texts[path] = markdown
    return anchored(markdown) if path in ("errors.md", "reference/options.md") else markdown


def on_page_context(context: Any, page: Any, config: Any, nav: Any) -> Any:
    titles[page.file.src_uri] = str(page.title)
    return context


def in_order(items: Any, sections: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """The path of each page of the navigation, with the sections that the page is in: "Reference", "PVM"."""
    paths = {}
    for item in items:
        if item.children:
            paths |= in_order(item.children, (*sections, str(item.title)))
        elif getattr(item, "file", None):
            paths[item.file.src_uri] = sections
    return paths


order: dict[str, tuple[str, ...]] = {}


def on_nav(nav: Any, config: Any, files: Files) -> Any:
    order.clear()
    order.update(in_order(nav.items))
    return nav


def on_post_build(config: Any) -> None:
    """Each page as Markdown beside its HTML, llms.txt with the list of them, llms-full.txt with those of the navigation."""
    site = Path(config["site_dir"])
    found = python_api.package()
    for path, text in texts.items():
        if path.startswith("reference/python-api/"):
            texts[path] = text = python_api.written(text, found)
        place = site / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    # For debuggers of the theme, for other languages, and for search engines: half of the size.
    for file in [*site.glob("assets/**/*.map"), *site.glob("assets/javascripts/lunr/**/*.js"), *site.glob("sitemap.xml*")]:
        file.unlink()
    head = f"# {config['site_name']}\n\n> {config['site_description']}\n\n"
    short = head + "Each page is Markdown. Pages of the manual are listed in reference/man/index.md.\n\n"
    short += "".join(f"- [{': '.join((*sections, titles[path]))}]({path})\n" for path, sections in order.items())
    (site / "llms.txt").write_text(short, encoding="utf-8")
    full = "\n\n".join(f"<!-- {path} -->\n\n{texts[path].strip()}" for path in order if path not in LONG)
    (site / "llms-full.txt").write_text(head + full + "\n", encoding="utf-8")


# Made of measurements, for other readers, and longer than all other pages together.
LONG = {"project/findings.md", "project/papers.md", "project/history.md", "project/changelog.md"}
