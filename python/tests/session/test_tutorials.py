"""The code of the documentation's pages runs, page by page, as a reader would type it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
PAGES = PROJECT / "docs"
sys.path.insert(0, str(PROJECT / "tools" / "docs"))

from blocks import blocks_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("machine")


def code_of(page: Path) -> str:
    """What a page has in Python. Blocks with a title, of other systems or files, and those that say why are not run."""
    blocks = [block for block in blocks_of(page) if block.language == "python" and not block.title and not block.reason]
    return "\n".join(block.text for block in blocks)


EXPECTED = {
    "index.md": ["[1, 2, 3]"],
    "how-to/programs/jupyter.md": ["[5, 6]", "[5, 5]"],
    "start/python.md": ["1024", "[1, 2, 3]", "host"],
    "start/task-farm.md": ["181", "111", "done at last", "E-WORKER", "[2.0, 4.0, 6.0]"],
    "start/actors.md": ["no bolt left", "hello", "[5, 5, 5]", "lost one", "{'number': 1}", "False"],
    "how-to/move/from-mpi4py.md": ["42", "[3, 2, 1]"],
    "how-to/move/from-multiprocessing.md": ["5050", "100000.0"],
    "how-to/move/from-ray.md": ["[0, 1, 4, 9]", "5"],
    "how-to/programs/python-failures.md": ["ValueError | True"],
}


WITH_CODE = sorted(str(path.relative_to(PAGES)) for path in PAGES.rglob("*.md") if code_of(path))


def test_expected_pages_have_code() -> None:
    assert set(EXPECTED) <= set(WITH_CODE) and len(WITH_CODE) >= 9, WITH_CODE


@pytest.mark.parametrize("page", WITH_CODE)
def test_tutorial_page_runs(page: str, tmp_path: Path) -> None:
    source = code_of(PAGES / page)
    for module in ("sklearn", "joblib", "numpy"):
        if re.search(rf"^\s*(import|from) {module}", source, re.MULTILINE):
            pytest.importorskip(module, reason=f"{module} is not installed")
    if re.search(r"^(@parvum|def |class )", source, re.MULTILINE):
        pytest.importorskip("cloudpickle", reason="cloudpickle is not installed: the page's functions are of __main__")
    script = tmp_path / "page.py"
    script.write_text(source, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    for text in EXPECTED.get(page, ()):
        assert text in done.stdout, f"{text!r} is not in {done.stdout}"
