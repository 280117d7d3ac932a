"""The programs that the wheel puts into an environment's `bin`."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import support

tomllib = pytest.importorskip("tomllib")

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scripts that pip makes of the project's entry points."""
    folder = tmp_path_factory.mktemp("bin")
    for name, entry in PROJECT["scripts"].items():
        module, _, function = entry.partition(":")
        script = folder / name
        script.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


def test_mpiexec_of_environment_starts_processes(environment: Path) -> None:
    for name in ("mpiexec", "mpirun"):
        done = subprocess.run([environment / name, "-n", "2", "echo", "here"], capture_output=True, text=True, timeout=60, check=False)
        assert done.stdout == "here\n" * 2, done.stderr


def test_parvum_command_is_installed(environment: Path) -> None:
    done = subprocess.run([environment / "parvum", "--version"], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("parvum "), done.stderr


def test_compiler_wrappers_are_those_of_package(environment: Path, tmp_path: Path) -> None:
    """Each has the package's program of its name; without that it says what to do."""
    own = Path(support.COMMAND).parent
    for name in ("mpicc", "mpicxx", "mpifort"):
        done = subprocess.run([environment / name, "-show"], capture_output=True, text=True, timeout=60, check=False)
        if os.path.exists(own / name):
            assert done.returncode == 0, done.stderr
        else:
            assert done.returncode == 1 and f"E-NOCOMMAND: {own / name} is not there" in done.stderr
