"""`parvum.map`: in order, as they come, balanced, with a bar."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import TimeoutError as FuturesTimeout
from itertools import count, islice
from pathlib import Path

import pytest
import tasks

import parvum
from parvum.progress import PlainBar

pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(scope="module")
def pool(machine: object) -> Iterator[parvum.Executor]:
    with parvum.Executor(2) as executor:
        yield executor


class Bar:
    """Like tqdm's."""

    def __init__(self, total: int | None) -> None:
        self.total, self.steps, self.closed = total, [], 0

    def update(self, n: int = 1) -> None:
        self.steps.append(n)

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("chunksize", [None, 1, 7])
@pytest.mark.parametrize("items", [0, 1, 5, 1000])
def test_results_come_in_order(pool: parvum.Executor, chunksize: int | None, items: int) -> None:
    found = parvum.map(pow, range(items), [2] * items, executor=pool, chunksize=chunksize)
    assert list(found) == [n * n for n in range(items)]


def test_results_come_as_they_come(pool: parvum.Executor, tmp_path: Path) -> None:
    found = parvum.map(tasks.wait_unless, [str(tmp_path / "go"), "", "", ""], executor=pool, ordered=False)
    assert [next(found) for _ in range(3)] == ["", "", ""]
    (tmp_path / "go").touch()
    assert list(found) == [str(tmp_path / "go")]


def test_it_makes_a_pool_of_its_own() -> None:
    assert sorted(parvum.map(tasks.square, range(20), workers=2, ordered=False)) == [n * n for n in range(20)]


def test_endless_items_are_taken_as_they_are_needed(pool: parvum.Executor) -> None:
    taken: list[int] = []

    def source() -> Iterator[int]:
        for n in count():
            taken.append(n)
            yield n

    found = parvum.map(tasks.square, source(), executor=pool)
    assert list(islice(found, 3)) == [0, 1, 4]
    found.close()  # type: ignore[attr-defined]
    assert len(taken) < 100_000


def test_what_a_call_raises_ends_it(pool: parvum.Executor) -> None:
    found = parvum.map(divmod, [1] * 1000, [1, 1, 0] + [1] * 997, executor=pool, chunksize=1)
    assert next(found) == (1, 0)
    assert next(found) == (1, 0)
    with pytest.raises(ZeroDivisionError):
        next(found)
    assert list(found) == []


@pytest.mark.parametrize("ordered", [True, False])
def test_time_is_over(pool: parvum.Executor, tmp_path: Path, ordered: bool) -> None:
    found = parvum.map(tasks.wait_for, [str(tmp_path / "go")], executor=pool, timeout=0.05, ordered=ordered)
    with pytest.raises(FuturesTimeout):
        next(found)
    (tmp_path / "go").touch()


def test_the_bar_hears_of_each_item(pool: parvum.Executor) -> None:
    bars: list[Bar] = []

    def make(total: int | None) -> Bar:
        bars.append(Bar(total))
        return bars[-1]

    assert len(list(parvum.map(tasks.square, range(300), executor=pool, progress=make))) == 300
    assert bars[0].total == 300 and sum(bars[0].steps) == 300 and bars[0].closed == 1


def test_a_plain_bar_is_one_line_in_a_file() -> None:
    out = io.StringIO()
    bar = PlainBar(4, "work", out)
    for _ in range(4):
        bar.update()
    bar.close()
    assert out.getvalue().startswith("work: [####################] 4/4, ") and out.getvalue().count("\n") == 1


def test_arguments_that_make_no_sense_are_refused(pool: parvum.Executor) -> None:
    with pytest.raises(ValueError, match="chunksize"):
        parvum.map(tasks.square, [1], executor=pool, chunksize=0)
    with pytest.raises(TypeError, match="iterable"):
        parvum.map(tasks.square, executor=pool)
