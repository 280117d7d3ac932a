"""Runs the blocks of code of the documentation's pages with an installed Parvum.

usage: blocks.py PREFIX PAGE...

Of each page, in an empty folder, with a virtual machine and a home of its own:

- A block of C, C++, Fortran or Python is compiled; a title with a dot is the name of a file, which later blocks of the page find.
- Blocks of shell (sh) run in their order as one script, which stops at the first failure.
- A block of text after `<!-- output -->` has lines that the script has printed. Numbers may differ.
- JSON is read.
- `<!-- not run: REASON -->` before a block takes it out. REASON begins with one of those in `REASONS`.

A block that is indented, or has no language that is known here, is an error. The last line says how many blocks there were.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REASONS = (
    "needs a second host",
    "needs a network",
    "needs root",
    "needs Slurm",
    "needs Kubernetes",
    "needs Podman or Docker",
    "needs a build of the sources",
    "needs a terminal",
    "needs a notebook",
    "takes minutes",
    "of another system",
    "a form",
)
OUTPUT = "<!-- output -->"
MARK = re.compile(r"<!-- not run: (.+?) -->")
FENCE = re.compile(r"^( *)```(\S*)(.*)$")
TITLE = re.compile(r'title="([^"]+)"')
# How long the script of a page may take.
PATIENCE = 120


class Wrong(Exception):
    """A block does not do what its page says."""


@dataclass
class Block:
    page: Path
    line: int
    language: str
    title: str
    text: str
    before: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def reason(self) -> str | None:
        """Why the block is not run, if its page says so."""
        found = MARK.fullmatch(self.before)
        return found and found.group(1)

    @property
    def file(self) -> str | None:
        return self.title if re.fullmatch(r"[A-Za-z][\w-]*(\.\w+)?", self.title) and self.title not in ("before", "after") else None


def blocks_of(page: Path) -> list[Block]:
    found: list[Block] = []
    open_block: Block | None = None
    # What stands before a block, the last line that is not indented, and the line above.
    indent, before, outer, above = "", "", "", ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if open_block and fence and not fence.group(2):
            found.append(open_block)
            open_block, before = None, ""
        elif open_block:
            open_block.text += line.removeprefix(indent) + "\n"
        elif fence:
            indent = fence.group(1)
            title = TITLE.search(fence.group(3))
            open_block = Block(page, number, fence.group(2), title.group(1) if title else "", "", before)
        elif line.startswith("    ") and not above and not re.match(r"[-*] |\d+\. |===|!!!|\?\?\?|:   ", outer):
            raise Wrong(f"{page}:{number}: an indented block; write a fence with its language")
        if not open_block and line.strip() and not fence:
            before = line.strip()
            outer = outer if line.startswith(" ") else line
        above = line
    if open_block:
        raise Wrong(f"{open_block}: the block has no end")
    return found


def alike(line: str) -> str:
    """A line of output with what differs from run to run taken out: numbers, ids of tasks, lengths of blanks."""
    line = re.sub(r"\bt[0-9a-f]{5,}\b", "t0", line)
    line = re.sub(r"\d+(\.\d+)?", "0", line)
    # Pages call this host alpha.
    line = re.sub(rf"\b{re.escape(socket.gethostname())}\b", "alpha", line)
    return re.sub(r"\s+", " ", line).strip()


class Runner:
    """What runs the blocks of one page."""

    def __init__(self, prefix: Path, page: Path) -> None:
        self.prefix = prefix
        self.page = page
        self.place = Path(tempfile.mkdtemp(prefix="parvum-page-"))
        (self.place / "home").mkdir()
        (self.place / "work").mkdir()
        (self.place / "work/examples").symlink_to(ROOT / "examples")

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PARVUM_", "PVM_", "TMK_", "MPI", "LD_"))}
        # Of Python the package is that of this Parvum.
        kept |= {"HOME": str(self.place / "home"), "PARVUM_DIR": str(self.place / "machine"), "LC_ALL": "C", "NO_COLOR": "1"}
        if "PARVUM_PAGES_PYTHON" in os.environ:
            kept["PYTHONPATH"] = os.environ["PARVUM_PAGES_PYTHON"]
        return kept

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        """Runs a script in the folder of the page, after `parvum env` as a user would. What it leaves running is ended."""
        whole = f'eval "$({self.prefix}/bin/parvum env)"\n{script}'
        shell = subprocess.Popen(
            ["sh", "-euc", whole], cwd=self.place / "work", env=self.environment(), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            said, _ = shell.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            said, _ = shell.communicate()
            said += f"\n(ended after {PATIENCE} s)"
        return subprocess.CompletedProcess(whole, shell.returncode, said)

    def end(self) -> None:
        self.shell("parvum down --quiet 2>/dev/null || :")
        shutil.rmtree(self.place, ignore_errors=True)

    def compiled(self, block: Block, name: str) -> None:
        """Compiles a file alone, to see that it can be."""
        ending = name.rpartition(".")[2]
        own = next((word for word in ("mpi_f08", "mpi", "fpvm3") if re.search(rf"(use|include '?){word}\b", block.text.lower())), "mpi")
        command = {
            "c": f"mpicc -Wall -Wextra -Werror -c {name} -o page.o",
            "cpp": f"mpicxx -Wall -Wextra -Werror -c {name} -o page.o",
            "f90": f"mpifort -c {name} -o page.o" if own != "fpvm3" else f"gfortran -c {name} -o page.o",
            "py": f"python3 -m py_compile {name}",
        }[ending]
        done = self.shell(f"{command}\nrm -f page.o")
        if done.returncode != 0:
            raise Wrong(f"{block}: {name} does not compile:\n{done.stdout}")

    def run(self, blocks: list[Block]) -> list[str]:
        """Runs them; returns what each was."""
        script, outputs, kinds = "", [], []
        for block in blocks:
            kind = self.prepared(block)
            if kind == "run":
                script += f"echo '=== {block.line}'\n{block.text}"
            if kind == "output":
                outputs.append(block)
            kinds.append(kind)
        if script:
            done = self.shell(script)
            if done.returncode != 0:
                at = re.findall(r"^=== (\d+)$", done.stdout, re.MULTILINE)
                raise Wrong(f"{self.page}:{at[-1] if at else '?'}: ends with {done.returncode}:\n{done.stdout}")
            said = {alike(line) for line in done.stdout.splitlines()}
            for block in outputs:
                for line in block.text.splitlines():
                    if line.strip() not in ("", "...") and alike(line) not in said:
                        raise Wrong(f"{block}: this line was not printed: {line}\n{done.stdout}")
        elif outputs:
            raise Wrong(f"{outputs[0]}: output of a page that runs nothing")
        return kinds

    def prepared(self, block: Block) -> str:
        """Writes, compiles or reads a block, and says what it is."""
        if block.reason:
            if not block.reason.startswith(REASONS):
                raise Wrong(f"{block}: `not run: {block.reason}` is no reason; those are: {', '.join(REASONS)}")
            return f"not run: {block.reason}"
        endings = {"c": "c", "cpp": "cpp", "fortran": "f90", "python": "py"}
        match block.language:
            case "sh":
                return "run"
            case "text":
                return "output" if block.before == OUTPUT else "shown"
            case "json":
                try:
                    json.loads(block.text)
                except ValueError as why:
                    raise Wrong(f"{block}: no JSON: {why}") from None
                return "read"
            case language if language in endings:
                name = block.file or f"block{block.line}.{endings[language]}"
                (self.place / "work" / name).write_text(block.text, encoding="utf-8")
                if name.endswith(f".{endings[language]}"):
                    self.compiled(block, name)
                return "compiled"
            case "ini" | "make" | "cmake":
                if not block.file:
                    raise Wrong(f"{block}: a block of {block.language} needs the title of a file, which a block of shell uses")
                (self.place / "work" / block.file).write_text(block.text, encoding="utf-8")
                return "written"
            case other:
                raise Wrong(f"{block}: no language that is known here: {other or 'none'}")


def main(prefix: str, pages: list[str]) -> int:
    counts: dict[str, int] = {}
    wrong = 0
    for page in map(Path, pages):
        try:
            blocks = blocks_of(page)
            runner = Runner(Path(prefix).resolve(), page)
            try:
                kinds = runner.run(blocks)
            finally:
                runner.end()
        except Wrong as why:
            print(why, file=sys.stderr)
            wrong += 1
            continue
        for kind in kinds:
            counts[kind] = counts.get(kind, 0) + 1
    for kind in sorted(counts):
        print(f"{counts[kind]:4} {kind}")
    print(f"{sum(counts.values())} blocks of {len(pages)} pages, {wrong} pages wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]) if len(sys.argv) > 2 else __doc__)
