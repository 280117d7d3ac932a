"""Calls and exceptions as bytes: what is refused says which part, and nothing that a worker raises is lost."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
import threading
from functools import partial

import pytest

from parvum.pool import calls, parts
from parvum.pool.calls import LARGE, Unpicklable, pack, pack_call, unpack
from parvum.pool.failures import RemoteError, RemoteTraceback, describe, restore


class Model:
    def __init__(self) -> None:
        self.weights = [1, 2]
        self.lock = threading.Lock()

    def fit(self) -> None: ...


class Slotted:
    __slots__ = ("inner",)

    def __init__(self, inner: object) -> None:
        self.inner = inner


class TwoArguments(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} {b}")


class WithLock(Exception):
    def __init__(self) -> None:
        super().__init__("locked")
        self.lock = threading.Lock()


class BadText(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_call_keeps_arguments_as_when_packed() -> None:
    things = [1, 2]
    packed = pack_call(sorted, (things,), {"reverse": True})
    things.append(3)
    function, args, kwargs = unpack(packed.data, packed.buffers)
    assert function(*args, **kwargs) == [2, 1]


@pytest.mark.parametrize(
    ("thing", "path"),
    [
        ((len, ([Model()],), {}), "args[0][0].lock"),
        ((len, (), {"model": {"a": Model()}}), "kwargs['model']['a'].lock"),
        ((Model().fit, (), {}), "function.__self__.lock"),
        ((len, (Slotted(Slotted(threading.Lock())),), {}), "args[0].inner.inner"),
        ((len, (partial(len, threading.Lock()),), {}), "args[0]"),
        ((len, ((x for x in "ab"),), {}), "args[0]"),
    ],
)
def test_unpicklable_error_names_path_to_part(thing: tuple[object, ...], path: str) -> None:
    with pytest.raises(Unpicklable) as refusal:
        pack_call(*thing)  # type: ignore[arg-type]
    assert refusal.value.path.startswith(path)
    assert path in str(refusal.value)


def test_unpicklable_closure_names_its_variable() -> None:
    pytest.importorskip("cloudpickle")
    handle = threading.Lock()

    def uses() -> object:
        return handle

    with pytest.raises(Unpicklable, match=r"function\.handle \(a _thread\.lock\)"):
        pack_call(uses, (), {})


def test_lambdas_are_sent_by_value() -> None:
    pytest.importorskip("cloudpickle")
    packed = pack_call(lambda x: x + 1, (41,), {})
    function, args, _ = unpack(packed.data)
    assert function(*args) == 42


def test_missing_cloudpickle_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "cloudpickle", lambda: None)
    with pytest.raises(Unpicklable, match="pip install cloudpickle"):
        pack_call(lambda: 1, (), {})
    # The user's function is named, not one of Parvum's that calls it.
    with pytest.raises(Unpicklable, match="'test_missing.*<lambda>'"):
        pack_call(parts.run, (lambda x: x, [(1,)], False), {})
    with pytest.raises(Unpicklable, match=r"args\[0\]\.lock"):
        pack_call(len, (Model(),), {})


def test_classes_of_main_return_as_themselves(tmp_path: object) -> None:
    pytest.importorskip("cloudpickle")
    script = """
        import pickle, subprocess, sys
        from parvum.pool.calls import pack_call, unpack
        class Point:
            def __init__(self, x): self.x = x
            def twice(self): return Point(self.x * 2)
        packed = pack_call(Point.twice, (Point(21),), {})
        there = '''if True:
            import sys
            from parvum.pool.calls import pack, unpack
            f, a, k = unpack(sys.stdin.buffer.read())
            sys.stdout.buffer.write(pack(f(*a, **k)).data)'''
        done = subprocess.run([sys.executable, "-c", there], input=packed.data, stdout=subprocess.PIPE, check=True)
        back = unpack(done.stdout)
        assert type(back) is Point and back.x == 42, back
        print("right")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert done.stdout == "right\n", done.stderr


def test_text_with_main_needs_no_cloudpickle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "cloudpickle", lambda: None)
    assert unpack(pack(["is __main__ here?"]).data) == ["is __main__ here?"]


def test_large_arrays_are_packed_out_of_band() -> None:
    numpy = pytest.importorskip("numpy")
    large, small = numpy.arange(LARGE // 8), numpy.arange(4)
    packed = pack([large, small, large[::2]])
    assert [b.raw().nbytes for b in packed.buffers] == [LARGE]
    back = unpack(packed.data, [bytes(b.raw()) for b in packed.buffers])
    assert (back[0] == large).all() and (back[1] == small).all() and (back[2] == large[::2]).all()
    back[1][0] = 5
    with pytest.raises(ValueError, match="read-only"):
        back[0][0] = 5


@pytest.mark.parametrize(
    ("error", "reason"),
    [(TwoArguments(1, 2), "reading it back"), (WithLock(), "lock"), (BadText(), "")],
)
def test_unpicklable_exception_is_described(error: Exception, reason: str) -> None:
    try:
        raise error
    except Exception as caught:
        failure = describe(caught, "task t1 on host a")
    back = restore(pickle.loads(pickle.dumps(failure)))
    if "tblib" in sys.modules and isinstance(back, type(error)):
        # Something loaded here (Dask does) has taught pickle to read any exception.
        reason = ""
    elif reason:
        assert isinstance(back, RemoteError) and reason in back.reason and type(error).__name__ in back.kind
    else:
        assert isinstance(back, BadText)
    assert isinstance(back.__cause__, RemoteTraceback)
    assert "In task t1 on host a" in str(back.__cause__) and "raise error" in str(back.__cause__)


def test_exception_arrives_with_its_causes() -> None:
    try:
        try:
            {}["key"]
        except KeyError as first:
            raise ValueError("second") from first
    except ValueError as caught:
        back = restore(describe(caught, "task t1"))
    assert isinstance(back, ValueError) and back.args == ("second",)
    assert "KeyError: 'key'" in str(back.__cause__)
    assert pickle.loads(pickle.dumps(back.__cause__)).text == str(back.__cause__)
