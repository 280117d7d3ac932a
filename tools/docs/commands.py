"""Pages that are made from what the built commands print: the commands' help, the errors, MPI's manual."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class NotBuilt(Exception):
    """There is no `parvum` to ask."""


def folder() -> Path:
    """The folder of the built programs: $PARVUM_DOCS_BUILT, else the build for release or for development."""
    named = os.environ.get("PARVUM_DOCS_BUILT")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for place in [Path(named)] if named else [target / "release", target / "debug"]:
        if (place / "parvum").is_file() and (place / "mpi-described").is_file():
            return place
    raise NotBuilt(f"{named or target} has no parvum and mpi-described: build them with ./x build")


def said(*words: str | Path) -> str:
    """What a command prints; it must not fail."""
    # The width of the help is that of a terminal, and no terminal is asked here.
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))} ends with {done.returncode}: {done.stderr}")
    return done.stdout


def names() -> dict[str, str]:
    """The subcommands that `parvum --help` lists, with their sentences."""
    found: dict[str, str] = {}
    for line in said(folder() / "parvum", "-h").splitlines():
        if line.startswith("Options:"):
            break
        if listed := re.match(r"  ([a-z]+)  +(\S.*)$", line):
            found[listed.group(1)] = listed.group(2)
        elif found and (more := re.match(r"   {4,}(\S.*)$", line)):
            found[list(found)[-1]] += f" {more.group(1)}"
    found.pop("help", None)
    if len(found) < 10:
        raise RuntimeError(f"`parvum -h` lists too few commands: {list(found)}")
    return found


# Which command is for what; those that are new stand at the end.
GROUPS = {
    "Run": "run trace predict",
    "Look": "ps top why info hosts algorithms explain",
    "Virtual machine": "up down add remove kill console",
    "Shell": "env completion docs doctor report",
    "Measure": "compare",
}


def pages() -> dict[str, str]:
    """A page for each command, and the list of them."""
    listed = names()
    made = {}
    for name in listed:
        text = said(folder() / "parvum", name, "--help").strip()
        head, usage = text.split("Usage:", 1)
        made[f"reference/commands/{name}.md"] = (
            f"# parvum {name}\n\n{prose(head)}\n\n```text\nUsage:{usage.rstrip()}\n```\n\n"
            f"This page is what `parvum {name} --help` prints.\n"
        )
    grouped = {group: [name for name in words.split() if name in listed] for group, words in GROUPS.items()}
    known = {name for group in grouped.values() for name in group}
    grouped["Others"] = [name for name in listed if name not in known]
    text = "# Commands\n\nEach page is made from the help of the command itself.\n"
    for group, members in grouped.items():
        if members:
            text += f"\n## {group}\n\n| command | what it does |\n|---|---|\n"
            text += "".join(f"| [`parvum {name}`]({name}.md) | {cell(listed[name])} |\n" for name in members)
    text += (
        "\n## Under other names\n\n| command | what it does |\n|---|---|\n"
        "| [`mpiexec`, `mpirun`](../mpi/mpiexec.md) | start MPI programs |\n"
        "| [`mpicc`, `mpicxx`, `mpifort`](../man/man1/mpicc.md) | compile MPI programs |\n"
        "| [`pvm`](../pvm/console.md) | PVM's console |\n"
        "| [`pvmd`](../man/man1/pvmd.md) | the daemon in the foreground |\n"
    )
    made["reference/commands/index.md"] = text
    return made


def cell(text: str) -> str:
    return prose(text).replace("|", "\\|")


def prose(text: str) -> str:
    """Words of a help text as Markdown: what looks like a tag or an emphasis means nothing."""
    parts = re.split(r"(`[^`]*`)", text.strip())
    return "".join(part if part.startswith("`") else re.sub(r"([<*_])", r"\\\1", part) for part in parts)


def errors(page: str) -> str:
    """The page of errors: that of `parvum explain --markdown` if the command has it, else the page itself."""
    command = [folder() / "parvum", "explain", "--markdown"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 and "`E-" in done.stdout else page


def mpi_manual() -> dict[str, str]:
    """The manual's pages of MPI's functions, in the man macros, by the names of their files."""
    with tempfile.TemporaryDirectory() as place:
        said(folder() / "mpi-described", "manual", place)
        return {file.name: file.read_text(encoding="utf-8") for file in Path(place).iterdir()}
