"""What type checkers see of the package, as a user writes it: pyright in its strict mode, and mypy in its."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import parvum

USER = """
    from __future__ import annotations

    from concurrent.futures import Future
    from typing import Any

    import parvum
    from typing_extensions import assert_type


    def square(x: int) -> int:
        return x * x


    async def awaits(pool: parvum.Executor) -> None:
        assert_type(pool.submit(square, 3), parvum.Task[int])
        assert_type(await pool.submit(square, 3), int)
        assert_type(pool.submit(square, 3).result(1.0), int)
        assert_type(await pool.submit_with(square, (3,), timeout=2.0, retries=1), int)
        taken: Future[int] = pool.submit(square, 3)
        taken.cancel()


    class Counter(parvum.Actor):
        def __init__(self, start: int = 0) -> None:
            self.value = start

        def add(self, n: int) -> int:
            self.value += n
            return self.value

        async def later(self) -> str:
            return "late"


    async def acts() -> None:
        counter = Counter.start(5, name="counter")
        assert_type(counter, parvum.Handle[Counter])
        assert_type(counter.call(Counter.add, 2).result(), int)
        assert_type(await counter.call(Counter.later), str)
        assert_type(counter.add(2), parvum.Answer[Any])
        assert_type(Counter.start_group(2)[0].call(Counter.add, n=3), parvum.Answer[int])
        parvum.stop(counter)


    for number in parvum.map(square, [1, 2], workers=2):
        assert_type(number, int)
    for either in parvum.map(square, [1, 2], return_exceptions=True):
        assert_type(either, "int | BaseException")
    with parvum.Executor(2, max_time=1.0, inner_threads=1) as pool:
        pool.interrupt()
"""

# What is wrong, and what a checker must say of it.
WRONG = """
    import parvum


    def square(x: int) -> int:
        return x * x


    with parvum.Executor() as pool:
        pool.submit(square, "three")
        text: str = pool.submit(square, 3).result()
"""

DECORATED = """
    import parvum
    from typing_extensions import assert_type


    @parvum.actor
    class Counter:
        def add(self, n: int) -> int:
            return n


    counter = Counter.start()
    assert_type(counter.call(Counter.cls.add, 3).result(), int)
"""


def check(command: list[str], folder: Path, source: str) -> tuple[int, str]:
    """What a type checker says of a program."""
    (folder / "program.py").write_text(textwrap.dedent(source))
    # Only what is Python: it looks into all that lies there.
    package = folder / "package"
    if not package.exists():
        package.mkdir()
        shutil.copytree(Path(parvum.__file__).resolve().parent, package / "parvum", ignore=shutil.ignore_patterns("lib", "bin", "*.so", "__pycache__"))
    env = {**os.environ, "MYPYPATH": str(package), "MYPY_CACHE_DIR": str(folder / "cache")}
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "extraPaths": ["package"], "include": ["program.py"]}')
    done = subprocess.run([*command, "program.py"] if "mypy" in command else command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


def mypy() -> list[str]:
    pytest.importorskip("mypy")
    pytest.importorskip("typing_extensions")
    # What the package's own files might be told is their affair.
    return [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]


def pyright() -> list[str]:
    pytest.importorskip("pyright")
    pytest.importorskip("typing_extensions")
    return [sys.executable, "-m", "pyright", "-p", ".", "--pythonpath", sys.executable]


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_typed_program_passes_mypy(tmp_path: Path, checker: object) -> None:
    code, said = check(checker(), tmp_path, USER)  # type: ignore[operator]
    assert code == 0, said


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_wrong_types_are_found_by_mypy(tmp_path: Path, checker: object) -> None:
    code, said = check(checker(), tmp_path, WRONG)  # type: ignore[operator]
    errors = [line for line in said.splitlines() if "error:" in line]
    assert code == 1 and len(errors) == 2 and "program.py:10" in errors[0] and "program.py:11" in errors[1], said


def test_decorated_class_is_typed_in_pyright(tmp_path: Path) -> None:
    """mypy ignores what a decorator makes of a class: `parvum.Actor` is for it."""
    code, said = check(pyright(), tmp_path, DECORATED)
    assert code == 0, said
