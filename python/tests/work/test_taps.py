"""The task performance suite TaPS with the executor `parvum`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_missing_suite_is_named_with_a_command_that_installs_it() -> None:
    without = "import sys; sys.modules['taps'] = None; import parvum.taps"
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: parvum.taps needs TaPS: ") and "help: python -m pip install git+" in last


@pytest.mark.usefixtures("machine")
def test_suite_runs_an_application_on_the_virtual_machine(tmp_path: Path) -> None:
    pytest.importorskip("taps.plugins", reason="TaPS is not installed: PyPI does not have it, only its repository")
    words = ["--app", "mapreduce", "--app.data-dir", str(tmp_path / "data"), "--app.map-tasks", "4", "--app.generate", "true"]
    words += ["--engine.executor", "parvum", "--engine.executor.workers", "2", "--run.dir-format", str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-m", "parvum.taps", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Finished benchmark (app=mapreduce" in done.stderr + done.stdout
