"""Pages of the manual: those in man/, and those of MPI's functions, which are made from their description."""

from __future__ import annotations

import os
import re

import commands
import roff

ROOT = commands.ROOT
SECTIONS = {"1": "Commands", "3": "Functions", "7": "Overviews"}
# How the interface of a function is told from its name.
INTERFACES = [
    ("MPI", r"MPIX?_"),
    ("PVM", r"[Pp]vm"),
    ("NX", r"[a-z]+$|nx_"),
    ("CMMD", r"CMMD_"),
    ("TreadMarks", r"Tmk_"),
    ("Message containers", r"ch_"),
    ("Parvum", r"parvum_"),
]


def sources() -> dict[str, str]:
    """All pages by name.section; names that only refer to another page refer to it here too."""
    texts = {file.name: file.read_text(encoding="utf-8") for file in ROOT.glob("man/man*/*")}
    texts |= commands.mpi_manual()
    for line in (ROOT / "man/names.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            page, *others = line.split()
            texts |= {f"{other}.3": f".so man3/{page}.3" for other in others}
    return texts


def target(name: str, texts: dict[str, str]) -> str:
    """The page that has a name's text."""
    while found := re.match(r"\.so man\d/(\S+)", texts[name]):
        name = found.group(1)
    return name


def path(name: str) -> str:
    """Where the page `pvm_send.3` lies in the site."""
    word, _, section = name.rpartition(".")
    return f"reference/man/man{section}/{word}.md"


def linked(text: str, texts: dict[str, str]) -> str:
    """Mentions of other pages as links: `pvm_send`(3)."""

    def link(found: re.Match[str]) -> str:
        name = f"{found.group(1)}.{found.group(2)}"
        if name not in texts:
            return found.group(0)
        place = path(target(name, texts)).removeprefix("reference/man/")
        return f"[{found.group(0)}](../{place})"

    return re.sub(r"`([\w+-]+)`\(([137])\)", link, text)


def mentioned(markdown: str, page: str) -> str:
    """A page whose names of functions lead to their pages of the manual."""
    texts = sources()

    def link(found: re.Match[str]) -> str:
        name = f"{found.group(1)}.3"
        if name not in texts:
            return found.group(0)
        return f"[{found.group(0)}]({os.path.relpath(path(target(name, texts)), os.path.dirname(page))})"

    return re.sub(r"`((?:pvm|Pvm)\w+)`", link, markdown)


def title(text: str) -> str:
    """What stands behind the hyphen in the page's first section."""
    found = re.search(r"^\.SH NAME\n(.*?) \\- (.*?)$", text, re.MULTILINE)
    return commands.prose(roff.plain(found.group(2))) if found else ""


def pages() -> dict[str, str]:
    texts = sources()
    made = {}
    for name, text in texts.items():
        if target(name, texts) == name:
            word, _, section = name.rpartition(".")
            made[path(name)] = f"# {roff.escaped(word)}({section})\n\n{linked(roff.page(text), texts)}"
    made["reference/man/index.md"] = index(texts)
    return made


def entry(name: str, texts: dict[str, str]) -> str:
    word, _, section = name.rpartition(".")
    page = target(name, texts)
    place = path(page).removeprefix("reference/man/")
    return f"| [`{word}`]({place}) | {title(texts[page])} |\n"


def index(texts: dict[str, str]) -> str:
    """All names, by section, and functions by interface."""
    text = "# Manual pages\n\nInstalled Parvum has the same pages for `man`. The search finds a function by its name.\n"
    table = "\n| name | what it does |\n|---|---|\n"
    for section in ("1", "7"):
        members = sorted(name for name in texts if name.endswith(f".{section}"))
        text += f"\n## {SECTIONS[section]}\n{table}" + "".join(entry(name, texts) for name in members)
    functions = sorted((name for name in texts if name.endswith(".3")), key=str.lower)
    for interface, pattern in INTERFACES:
        members = [name for name in functions if re.match(pattern, name[:-2])]
        functions = [name for name in functions if name not in members]
        # A form with _c stands on the page of the one without.
        members = [name for name in members if not name.endswith("_c.3")]
        text += f"\n## Functions of {interface}\n{table}" + "".join(entry(name, texts) for name in members)
    if functions:
        raise RuntimeError(f"no interface is known for {functions}")
    return text
