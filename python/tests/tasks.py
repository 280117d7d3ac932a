"""Calls that tests have workers run: a module that workers import by its name."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import parvum


def square(x: int) -> int:
    return x * x


def fail(kind: type[BaseException], *args: object) -> None:
    raise kind(*args)


def wait_for(path: str) -> str:
    """Until that file is there. Its own is written first: a test sees that the call has begun."""
    Path(f"{path}.begun-{os.getpid()}").touch()
    while not os.path.exists(path):
        time.sleep(0.002)
    return path


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_until(path: str, times: int) -> int:
    """Kills its worker so many times, then gives how often it was begun."""
    with open(path, "a", encoding="ascii") as file:
        file.write("x")
    begun = os.path.getsize(path)
    if begun <= times:
        die()
    return begun


@parvum.idempotent(retries=5)
def die_until_marked(path: str, times: int) -> int:
    return die_until(path, times)


def count_in(path: str, value: int) -> int:
    """Notes that it was run."""
    with open(path, "a", encoding="ascii") as file:
        file.write(f"{value}\n")
    return value


state: dict[str, Any] = {}


def remember(*args: Any) -> None:
    state["args"] = args


def recall() -> Any:
    return state.get("args")


def where() -> tuple[int, bool, str]:
    return os.getpid(), threading.current_thread() is threading.main_thread(), os.getcwd()


def modules() -> set[str]:
    return set(sys.modules)


def total(array: Any) -> float:
    return float(array.sum())


def try_to_write(array: Any) -> str:
    try:
        array[0] = 1
    except ValueError as error:
        return str(error)
    return "written"


def mapped_files(array: Any) -> tuple[float, list[str]]:
    """What the array sums to, and the memory of pools that this process has mapped."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        return float(array.sum()), [line for line in file if "memfd:parvum-" in line]


class BadToPickle:
    def __reduce__(self) -> Any:
        raise RuntimeError("never pickled")


class BadToRead:
    def __reduce__(self) -> Any:
        return fail, (KeyError, "cannot be read")


def give(kind: type[Any]) -> Any:
    return kind()


class TwoArguments(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


def fail_with_two() -> None:
    raise TwoArguments(1, 2)


def speak(text: str) -> None:
    print(text)
    print(text.upper(), file=sys.stderr)


def name_and_total(thing: dict[str, Any]) -> tuple[str, float]:
    return thing["name"], float(thing["data"].sum())


def identity_of(thing: object) -> tuple[int, int]:
    return os.getpid(), id(thing)


def many_arrays(count: int) -> list[Any]:
    import numpy

    return [numpy.full(100_000, n) for n in range(count)]


def slow_square(x: int) -> int:
    time.sleep(0.002)
    return x * x


def count_in_slowly(path: str, value: int) -> int:
    count_in(path, value)
    time.sleep(0.003)
    return value


def wait_for_another(path: str) -> str:
    """The first that begins waits until the second has come, and longer."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return "second"
    while not os.path.exists(f"{path}.done"):
        time.sleep(0.002)
    return "first"


def pretend_numpy(version: str) -> None:
    import numpy

    numpy.__version__ = version


def wait_unless(path: str) -> str:
    return wait_for(path) if path else ""


def squares_by_joblib(count: int) -> list[int]:
    import joblib

    found: list[int] = joblib.Parallel(n_jobs=2)(joblib.delayed(square)(n) for n in range(count))
    return found


def identity(thing: Any) -> Any:
    return thing


@functools.lru_cache(maxsize=3)
def cached(x: int) -> int:
    return x * x


def ask_counter(counter: Any) -> int:
    found: int = counter.add(1).result()
    return found


def write_in_all_ways() -> None:
    """To both descriptors: Python, a shell, another program, C with its own buffers, a forked child."""
    import ctypes
    import subprocess

    print("1 print")
    os.system("echo 2 os.system")
    subprocess.run(["echo", "3 subprocess"], check=True)
    print("4 print")
    os.write(1, b"5 os.write\n")
    library = ctypes.CDLL(None)
    library.puts(b"6 puts")
    library.printf(b"7 printf")
    library.fflush(None)
    os.write(1, b", and the rest of the line\n")
    child = os.fork()
    if child == 0:
        print("8 fork", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print("9 no newline", end="")


def complain() -> None:
    os.write(2, b"to descriptor 2\n")
    print("to stdout")
    print("to stderr", file=sys.stderr)
    print("to stdout again")
    sys.stdout.buffer.write(b"\xff no text\n")
    sys.stdout.flush()


def print_much(lines: int) -> None:
    for n in range(lines):
        print(n, "x" * 50)


def inverse(x: int) -> float:
    return 1 / x


def die_once_at_200(item: tuple[str, int]) -> int:
    """Kills its worker at one item, the first time."""
    path, n = item
    if n == 207 and not os.path.exists(path):
        Path(path).touch()
        die()
    return n


def limits() -> dict[str, str | None]:
    """What limits the threads of libraries here."""
    return {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def meet_in(folder: str, count: int) -> int:
    """Waits until so many calls have come at the same time."""
    Path(folder, f"{os.getpid()}").touch()
    while len(os.listdir(folder)) < count:
        time.sleep(0.002)
    return os.getpid()


def end_by(how: int) -> None:
    """Has a signal end its worker."""
    os.kill(os.getpid(), how)
    time.sleep(60)


def spin_in(folder: str) -> str:
    """Computes for a minute, if it is told where."""
    import stopping

    if folder:
        stopping.spin(folder)
    return folder


def memory_of(array: Any) -> tuple[float, str]:
    """The sum of an array, and the memory where it lies: the name and the number of the file."""
    address = array.__array_interface__["data"][0]
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        place, _, _, _, number, *name = line.split(maxsplit=5)
        first, last = (int(end, 16) for end in place.split("-"))
        if first <= address < last:
            return float(array.sum()), f"{name[0] if name else '-'} {number}"
    raise LookupError("no mapping")


def total_after(path: str, array: Any) -> float:
    wait_for(path)
    return float(array.sum())
