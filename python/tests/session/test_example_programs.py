"""The examples of examples/python, each run as a user runs it, with something short to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "python"

pytestmark = pytest.mark.usefixtures("machine")


def run(name: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words], capture_output=True, text=True, timeout=300, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_grid_search_example_runs() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("joblib", reason="joblib is not installed")
    out = run("grid_search.py", "--quick")
    assert out.startswith("12 fits in") and "best: C=" in out
    assert float(out.rpartition("right in ")[2].split("%")[0]) > 85


def test_heat_example_runs(tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="NumPy is not installed")
    out = run("heat.py", "--tasks", "3", "--size", "40", "--steps", "200")
    assert "3 tasks, 200 steps" in out and "the same bits as one task" in out
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    run("heat.py", "--size", "20", "--steps", "10", "--picture", str(tmp_path / "heat.png"))
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")


def test_pi_example_runs_while_workers_die() -> None:
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed: the example's functions are of __main__")
    out = run("pi.py", "--throws", "2000000", "--chaos")
    assert "2000000 darts" in out and "pi is 3.1" in out and "each dart was counted once" in out


def test_mandelbrot_example_runs(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed: the example's functions are of __main__")
    out = run("mandelbrot.py", "--width", "80", "--height", "50", "--picture", str(tmp_path / "m.ppm"))
    assert "50 rows" in out
    picture = (tmp_path / "m.ppm").read_bytes()
    assert picture.startswith(b"P6 80 50 255\n") and len(picture) == len(b"P6 80 50 255\n") + 3 * 80 * 50
    assert len(set(picture)) > 20


def test_word_count_example_runs(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed: the example's functions are of __main__")
    for n in range(7):
        (tmp_path / f"{n}.txt").write_text("alpha beta alpha gamma\n" * (n + 1))
    out = run("word_count.py", str(tmp_path), "--most", "2").split()
    assert out[:4] == ["56", "alpha", "28", "beta"]
    assert "all" in out and "MISSING" not in out
