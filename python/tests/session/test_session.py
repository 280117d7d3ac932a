"""A machine for one block, what is seen of it, and cells of notebooks."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time

import pytest
import support

import parvum

pytestmark = pytest.mark.usefixtures("machine")


def test_machine_ends_with_its_with_block(tmp_path: object) -> None:
    done = support.run(
        """
        import parvum
        from parvum._task import session as _session
        assert not _session.is_running()
        with parvum.machine() as vm, parvum.Executor(1) as pool:
            assert _session.is_running() and vm.id in [task.id for task in vm.tasks()]
            left_open = pool.submit(pow, 2, 5)
        print(left_open.result())
        import time
        while _session.is_running():
            time.sleep(0.01)
        with parvum.machine() as vm:
            print(len(vm.hosts()))
        """,
        PARVUM_DIR=str(tmp_path),
    )
    assert done.stdout.split() == ["32", "1"], done.stderr


def test_existing_machine_stays_after_with_block() -> None:
    with parvum.machine() as vm:
        assert vm.id == parvum.enrol().id
    assert parvum.enrol().hosts()


def test_host_that_cannot_be_added_is_refused() -> None:
    with pytest.raises(parvum.ParvumError):
        with parvum.machine(hosts=["no-such-host.invalid"]):
            pass
    with pytest.raises(TypeError, match="list of names"):
        parvum.machine(hosts="abc")


def test_status_shows_hosts_and_pools() -> None:
    with parvum.Executor(2) as pool:
        pool.wait_for_workers(2)
        assert list(pool.map(pow, range(10), range(10)))
        picture = parvum.status()
        (shown,) = [row for row in picture.pools if row[2] == 10]
        assert shown[:2] == (2, 0)
        text = str(picture)
        assert "host" in text and "processors" in text and "per second" in text
        assert "<table" in picture._repr_html_() and str(picture.hosts[0][1]) in picture._repr_html_()


def test_monitor_prints_snapshots_during_block(capsys: pytest.CaptureFixture[str]) -> None:
    shown = ""
    with parvum.monitor(0.01):
        while shown.count("processors") < 2:
            shown += capsys.readouterr().out
    with pytest.raises(ValueError, match="interval"):
        parvum.monitor(0)


def test_widget_shows_hosts_tasks_and_rates(capsys: pytest.CaptureFixture[str]) -> None:
    """In a notebook: test_notebook.py."""
    vm = parvum.enrol()
    (echo,) = support.spawn("while True: vm.send(vm.recv(boss, 1), boss, 2)")
    with vm.widget(0.1, rows=3) as widget:
        until = time.monotonic() + 60
        while not [task for task in widget.picture.tasks if task.name == str(echo) and task.sent[0] > 0] if widget.picture else True:
            assert time.monotonic() < until
            vm.send(b"x" * 1000, echo, 1)
            vm.recv(echo, 2)
        picture = widget.picture
    vm.kill(echo)
    (row,) = [task for task in picture.tasks if task.name == str(echo)]
    # Messages and bytes are read one after the other while the task counts both: they need not agree to the last message.
    assert row.sent[1] >= 500 * row.sent[0] > 0 and row.memory > 0
    (host,) = [host.name for host in picture.hosts]
    assert row.host == host and "ended at" in capsys.readouterr().out
    text = str(picture)
    assert all(word in text for word in ("processors", "program", "per second", str(echo)))
    with pytest.raises(RuntimeError, match="make another"):
        widget.__enter__()
    with pytest.raises(ValueError, match="rows"):
        vm.widget(rows=0)
    page = picture.html("<now>")
    assert "&lt;now&gt;" in page and str(echo) in page


def test_widget_ends_with_the_machine(tmp_path: object) -> None:
    done = support.run(
        """
        import parvum
        widget = parvum.enrol().widget(0.1).__enter__()
        while widget.picture is None:
            pass
        parvum.enrol().halt()
        widget._thread.join()
        """,
        PARVUM_DIR=str(tmp_path),
    )
    assert done.returncode == 0 and "processors" in done.stdout, done.stderr


def test_widget_shows_limited_tasks_and_counts_others() -> None:
    from parvum._show import picture as _picture

    busy = [_picture.Task(f"t{n:x}", "a", "p", "runs", float(n), (0.0, 0.0), (0.0, 0.0), 0) for n in range(10)]
    table = _picture._tasks(busy, 3)
    assert [row[0] for row in table.rows] == ["t7", "t8", "t9"]
    assert table.more == "and 7 tasks more that do less"


def test_open_calls_fail_when_machine_goes_away(tmp_path: object) -> None:
    done = support.run(
        """
        import parvum, subprocess, sys, time
        pool = parvum.Executor(1)
        pool.wait_for_workers(1)
        waiting = pool.submit(time.sleep, 1000)
        parvum.enrol().halt()
        try:
            waiting.result(60)
        except parvum.executor.futures.BrokenExecutor as error:
            print("broken")
        try:
            pool.submit(pow, 2, 2)
        except parvum.executor.futures.BrokenExecutor as error:
            print("refused")
        """,
        PARVUM_DIR=str(tmp_path),
    )
    assert done.stdout.split() == ["broken", "refused"], done.stderr
    assert done.returncode == 0, done.stderr


# --- Cells ---


@pytest.fixture(scope="module")
def cells(machine: object) -> object:
    from parvum import notebook

    notebook.start(2)
    yield notebook
    notebook.stop_workers()


def test_notebook_cell_runs_on_all_workers(cells: object) -> None:
    from parvum import notebook

    assert notebook.run("x = rank * 10\nx + size") == [2, 12]
    assert notebook.run("x") == [0, 10], "names stay"
    assert notebook.run("y = 1") == [None, None]
    assert notebook.run("rank", [1]) == [1]
    assert notebook.run("__import__('threading').Lock()")[0].startswith("<unlocked")
    notebook.push(table=[1, 2])
    assert notebook.run("len(table)") == [2, 2]
    assert notebook.pull("x") == [0, 10]
    with pytest.raises(NameError, match="'nothing'"):
        notebook.pull("nothing")


def test_failing_cell_names_worker_and_line(cells: object) -> None:
    from parvum import notebook

    with pytest.raises(notebook.Failed, match="1 of 2 workers") as failed:
        notebook.run("if rank == 1:\n    raise ValueError('bad rank')")
    assert "worker 1: ValueError: bad rank" in str(failed.value)
    assert "raise ValueError('bad rank')" in str(failed.value)
    with pytest.raises(notebook.Failed, match="SyntaxError"):
        notebook.run("if")


def test_ipython_magics_work(cells: object, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "parvum")
    assert shell.run_cell_magic("parvum", "", "rank + 5") == [5, 6]
    assert shell.run_cell_magic("parvum", "1", "rank + 5") == [6]
    assert "processors" in str(shell.run_line_magic("parvum", "status"))
    shell.run_line_magic("parvum", "nonsense")
    assert "usage" in capsys.readouterr().out
    shell.run_cell_magic("parvum", "", "print('here')")
    out = ""
    while out.count("here") < 2:
        out += capsys.readouterr().out
    assert all(line.startswith("[t") for line in out.splitlines() if "here" in line)
    InteractiveShell.clear_instance()


def test_notebook_cells_run_in_plain_python() -> None:
    script = "import parvum.notebook as n; n.start(1); print(n.run('rank + size')); n.stop_workers()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "[1]\n", done.stderr


def test_error_text_has_code_cause_and_remedy() -> None:
    for kind in vars(parvum.errors).values():
        if isinstance(kind, type) and issubclass(kind, parvum.errors.ParvumError) and kind is not parvum.errors.PvmFailed:
            text = str(kind("the cause"))
            assert text == f"{kind.code}: the cause; help: {kind.remedy}"
            assert kind("the cause").help == kind.remedy
            assert "see the cause" not in text
            assert "errors.md" not in text
    # What the daemon says may have its help in it.
    refused = parvum.errors.Refused("cannot add beta; help: check its name", remedy="")
    assert str(refused) == "E-REFUSED: cannot add beta; help: check its name"
    assert (refused.cause, refused.help) == ("cannot add beta", "check its name")


def test_an_error_of_a_library_keeps_its_own_code_and_help() -> None:
    line = "E-NODAEMON: no machine is up in /tmp/x; help: `parvum up`"
    error = parvum.errors.MachineGone(line)
    assert (error.code, error.cause, error.help) == ("E-NODAEMON", "no machine is up in /tmp/x", "`parvum up`")
    assert str(error) == line
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.help) == (line, error.code, error.help)
    bare = parvum.errors.MachineGone("E-LOST: the daemon is gone")
    assert (str(bare), bare.help) == ("E-LOST: the daemon is gone", "")
