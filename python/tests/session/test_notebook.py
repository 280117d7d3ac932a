"""A notebook, run as one: what workers print and raise is below the cell that asked for it, and the widget is live."""

from __future__ import annotations

import json
import os
import queue
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import support

import parvum

pytest.importorskip("jupyter_client")
pytest.importorskip("ipykernel")
pytest.importorskip("cloudpickle")
pytestmark = pytest.mark.usefixtures("machine")


SHOWN = ("stream", "display_data", "execute_result", "error")


def run(
    tmp_path: Path,
    *cells: str,
    interrupt_when: Callable[[str], bool] = lambda cell: False,
    after_interrupt: Callable[[], object] = lambda: None,
) -> list[Any]:
    """Runs the cells in a kernel; what each one's place shows in the end, as notebooks put it there."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import KernelManager

    specs = tmp_path / "kernels/here"
    specs.mkdir(parents=True)
    spec = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "here", "language": "python"}
    (specs / "kernel.json").write_text(json.dumps(spec))
    manager = KernelManager(kernel_name="here", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(tmp_path / "kernels")]))
    manager.start_kernel(cwd=str(tmp_path), env={**os.environ, "PYTHONPATH": str(Path(parvum.__file__).parents[1])})
    client = manager.blocking_client()
    outputs: dict[str, list[Any]] = {}
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        for cell in cells:
            its = client.execute(cell)
            outputs[its] = []
            interrupted = False
            until = time.monotonic() + 120
            while True:
                if not interrupted and interrupt_when(cell):
                    manager.interrupt_kernel()
                    interrupted = True
                try:
                    message = client.get_iopub_msg(timeout=0.2)
                except queue.Empty:
                    assert time.monotonic() < until, f"the cell does not end: {cell}"
                    continue
                kind, content = message["msg_type"], message["content"]
                place = outputs.get(message["parent_header"].get("msg_id", ""))
                if kind in SHOWN and place is not None:
                    place.append({"output_type": kind, **content})
                elif kind == "update_display_data":
                    for shown in (output for found in outputs.values() for output in found):
                        if shown.get("transient") == content["transient"]:
                            shown["data"] = content["data"]
                elif kind == "status" and content["execution_state"] == "idle" and message["parent_header"].get("msg_id") == its:
                    if interrupted:
                        after_interrupt()
                    break
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return list(outputs.values())


def text_of(outputs: list[Any]) -> str:
    return "".join(output.get("text", "") for output in outputs)


def test_outputs_appear_below_their_cells(tmp_path: Path) -> None:
    first, magic, actor, pool, later, failed, early, other = run(
        tmp_path,
        "%load_ext parvum\n%parvum start 2",
        "%%parvum\nprint('magic', rank)\nrank * 2",
        "%%parvum\nprint('again', rank)",
        "import parvum\npool = parvum.Executor(2)\nprint(pool.submit(pow, 2, 3).result())",
        "def speak(word):\n    print(word)\n    return 5\npool.submit(speak, 'later').result()",
        "def fail():\n    return 1 / 0\npool.submit(fail).result()",
        # Printed when another cell runs already.
        "import os, time\ndef wait(name):\n    while not os.path.exists(name):\n        time.sleep(0.01)\n    print('at last')\nlate = pool.submit(wait, os.path.abspath('go'))",
        "open('go', 'w').close()\nlate.result()\nprint('over')",
    )
    assert text_of(first) == ""
    assert sorted(re.sub(r"\[t\w+ \S+\] ", "", text_of(magic)).split("\n")) == ["", "magic 0", "magic 1"]
    assert all(line.startswith("[t") for line in text_of(magic).splitlines())
    assert "[0, 2]" in str(magic)
    assert sorted(re.sub(r"\[t\w+ \S+\] ", "", text_of(actor)).split("\n")) == ["", "again 0", "again 1"]
    assert text_of(pool) == "8\n"
    assert re.fullmatch(r"\[t\w+ \S+\] later\n", text_of(later)), later
    assert re.fullmatch(r"\[t\w+ \S+\] at last\n", text_of(early)), early
    assert text_of(other) == "over\n"
    (error,) = [output for output in failed if output["output_type"] == "error"]
    trace = "\n".join(error["traceback"])
    assert error["ename"] == "ZeroDivisionError" and re.search(r"In worker t\w+ on host \S+, process \d+", trace)


def test_kernel_interrupt_stops_calls_of_cell(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    begun.mkdir()
    spin = f"import os, time\ndef spin(_=0):\n    open({str(begun)!r} + f'/{{os.getpid()}}', 'w').close()\n    end = time.monotonic() + 60\n    while time.monotonic() < end: pass"
    sessions = (
        "[future.result() for future in [pool.submit(spin) for _ in range(4)]]",
        "list(parvum.map(spin, range(4), executor=pool))",
        "from concurrent.futures import wait\nwait([pool.submit(spin) for _ in range(4)])",
        f"%%parvum\n{spin}\nspin()",
    )
    cells = ["%load_ext parvum\n%parvum start 2\nimport parvum\npool = parvum.Executor(2)\npool.wait_for_workers(2)\n" + spin]
    for session in sessions:
        cells += [session, "print(pool.submit(pow, 2, 3).result(30), parvum.notebook.run('rank'))"]
    shown = run(tmp_path, *cells, interrupt_when=lambda cell: cell in sessions and len(list(begun.iterdir())) >= 2, after_interrupt=lambda: [path.unlink() for path in begun.iterdir()])
    for stopped, after in zip(shown[1::2], shown[2::2]):
        (error,) = [output for output in stopped if output["output_type"] == "error"]
        assert error["ename"] == "KeyboardInterrupt", error
        assert text_of(after) == "8 [0, 1]\n", after


def test_widget_displays_and_updates_in_place(tmp_path: Path) -> None:
    wait = "import time\nuntil = time.monotonic() + 60\nwhile widget.picture is None or not widget.picture.tasks:\n    assert time.monotonic() < until\n    time.sleep(0.05)"
    made, _, closed = run(tmp_path, "import parvum\nwidget = parvum.enrol().widget(0.2)\nwidget", wait, "widget.close()\nprint(widget)")
    (shown,) = [output for output in made if output["output_type"] == "display_data"]
    page = shown["data"]["text/html"]
    assert "<table" in page and "ended at" in page and "program" in page
    assert "processors" in shown["data"]["text/plain"]
    assert "processors" in text_of(closed)
    assert sys.modules.get("ipywidgets") is None


def test_tqdm_bar_follows_map() -> None:
    tqdm = pytest.importorskip("tqdm")
    import io

    said = io.StringIO()
    seen: list[int] = []

    class Bar(tqdm.tqdm):  # type: ignore[misc, name-defined]
        def __init__(self, **how: Any) -> None:
            super().__init__(file=said, mininterval=0, **how)

        def close(self) -> None:
            seen.append(self.n)
            super().close()

    assert list(parvum.map(abs, range(-50, 0), workers=2, progress=Bar)) == list(range(50, 0, -1))
    assert seen[0] == 50 and "50/50" in said.getvalue()
    assert support.COMMAND
