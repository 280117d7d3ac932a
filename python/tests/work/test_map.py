"""`parvum.map`: in order, as they come, balanced, with a bar."""

from __future__ import annotations

import io
import time
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
def test_map_returns_results_in_order(pool: parvum.Executor, chunksize: int | None, items: int) -> None:
    found = parvum.map(pow, range(items), [2] * items, executor=pool, chunksize=chunksize)
    assert list(found) == [n * n for n in range(items)]


def test_map_returns_unordered_results_as_they_complete(pool: parvum.Executor, tmp_path: Path) -> None:
    found = parvum.map(tasks.wait_unless, [str(tmp_path / "go"), "", "", ""], executor=pool, ordered=False)
    assert [next(found) for _ in range(3)] == ["", "", ""]
    (tmp_path / "go").touch()
    assert list(found) == [str(tmp_path / "go")]


def test_map_makes_its_own_pool() -> None:
    assert sorted(parvum.map(tasks.square, range(20), workers=2, ordered=False)) == [n * n for n in range(20)]


def test_map_takes_endless_items_on_demand(pool: parvum.Executor) -> None:
    taken: list[int] = []

    def source() -> Iterator[int]:
        for n in count():
            taken.append(n)
            yield n

    found = parvum.map(tasks.square, source(), executor=pool)
    assert list(islice(found, 3)) == [0, 1, 4]
    found.close()  # type: ignore[attr-defined]
    assert len(taken) < 100_000


def test_map_ends_at_exception_of_a_call(pool: parvum.Executor) -> None:
    found = parvum.map(divmod, [1] * 1000, [1, 1, 0] + [1] * 997, executor=pool, chunksize=1)
    assert next(found) == (1, 0)
    assert next(found) == (1, 0)
    with pytest.raises(ZeroDivisionError):
        next(found)
    assert list(found) == []


@pytest.mark.parametrize("ordered", [True, False])
def test_map_times_out(pool: parvum.Executor, tmp_path: Path, ordered: bool) -> None:
    found = parvum.map(tasks.wait_for, [str(tmp_path / "go")], executor=pool, timeout=0.05, ordered=ordered)
    with pytest.raises(FuturesTimeout):
        next(found)
    (tmp_path / "go").touch()


# --- A stream: results are out as soon as they exist ---


def told_when_taken(folder: Path, count: int) -> Iterator[int]:
    """Gives an item only when the result of the one before was taken: whoever holds that back waits for ever."""
    for n in range(count):
        if n:
            until = time.monotonic() + 60
            while not (folder / str(n - 1)).exists():
                assert time.monotonic() < until, f"the result of item {n - 1} was held back"
                time.sleep(0.001)
        yield n


@pytest.mark.parametrize("ordered", [True, False])
def test_slow_source_delays_no_result(pool: parvum.Executor, tmp_path: Path, ordered: bool) -> None:
    for n, result in enumerate(parvum.map(tasks.square, told_when_taken(tmp_path, 30), executor=pool, ordered=ordered)):
        assert result == n * n
        (tmp_path / str(n)).touch()


def test_stalled_source_delays_no_result_after_many_items(pool: parvum.Executor, tmp_path: Path) -> None:
    def source() -> Iterator[int]:
        # Long enough that chunks have many items.
        yield from range(20_000)
        until = time.monotonic() + 60
        while not (tmp_path / "all").exists():
            assert time.monotonic() < until, "some results wait for an item that does not come"
            time.sleep(0.001)
        yield 20_000

    found = parvum.map(tasks.square, source(), executor=pool)
    assert list(islice(found, 20_000)) == [n * n for n in range(20_000)]
    (tmp_path / "all").touch()
    assert list(found) == [20_000**2]


@pytest.mark.parametrize("chunksize", [None, 40])
def test_long_item_delays_only_ordered_followers(pool: parvum.Executor, tmp_path: Path, chunksize: int | None) -> None:
    """Items of one chunk before and behind a long one come; in order, those before it."""
    items = [""] * 20 + [str(tmp_path / "go")] + [""] * 179
    unordered = parvum.map(tasks.wait_unless, items, executor=pool, chunksize=chunksize, ordered=False)
    assert list(islice(unordered, 199)) == [""] * 199
    ordered = parvum.map(tasks.wait_unless, items, executor=pool, chunksize=chunksize)
    (tmp_path / "go").touch()
    assert list(unordered) == [str(tmp_path / "go")]
    (tmp_path / "go").unlink()
    assert list(islice(ordered, 20)) == [""] * 20
    (tmp_path / "go").touch()
    assert list(ordered) == items[20:]


def test_chunk_with_slow_import_is_split(tmp_path: Path) -> None:
    import slowly_imported

    with parvum.Executor(2) as fresh:
        items = [str(tmp_path / "go"), "", "", ""]
        found = parvum.map(slowly_imported.wait_unless, items, executor=fresh, chunksize=4, ordered=False)
        assert list(islice(found, 3)) == [""] * 3
        (tmp_path / "go").touch()
        assert list(found) == items[:1]


@pytest.mark.parametrize("chunksize", [None, 1, 50])
def test_results_before_exception_are_returned(pool: parvum.Executor, chunksize: int | None) -> None:
    for failing in (0, 3, 777):
        found: list[float] = []
        with pytest.raises(ZeroDivisionError):
            for result in parvum.map(tasks.inverse, [failing - n for n in range(1000)], executor=pool, chunksize=chunksize):
                found.append(result)
        assert found == [1 / (failing - n) for n in range(failing)]


def test_map_returns_exceptions_among_results(pool: parvum.Executor) -> None:
    for ordered in (True, False):
        found = list(parvum.map(tasks.inverse, [n % 3 for n in range(3000)], executor=pool, return_exceptions=True, ordered=ordered))
        raised = [result for result in found if isinstance(result, ZeroDivisionError)]
        assert len(found) == 3000 and len(raised) == 1000
        assert "In worker" in str(raised[0].__cause__) and "return 1 / x" in str(raised[0].__cause__)
        if ordered:
            assert found[1:3] == [1.0, 0.5] and isinstance(found[0], ZeroDivisionError)


def test_source_exception_follows_earlier_results(pool: parvum.Executor) -> None:
    def source() -> Iterator[int]:
        yield from range(100)
        raise KeyError("the source is broken")

    found: list[int] = []
    with pytest.raises(KeyError, match="broken"):
        for result in parvum.map(tasks.square, source(), executor=pool):
            found.append(result)
    assert found == [n * n for n in range(100)]


def test_worker_death_in_chunk_loses_no_retryable_item(tmp_path: Path) -> None:
    with parvum.Executor(2, retries=5) as own:
        items = [(str(tmp_path / "died"), n) for n in range(400)]
        assert list(parvum.map(tasks.die_once_at_200, items, executor=own, chunksize=20)) == list(range(400))
        assert own.replaced == 1


def test_closed_map_starts_no_more_items(pool: parvum.Executor, tmp_path: Path) -> None:
    found = parvum.map(tasks.count_in_slowly, [str(tmp_path / "ran")] * 100_000, count(), executor=pool)
    assert next(found) == 0
    found.close()  # type: ignore[attr-defined]
    assert pool.submit(tasks.square, 2).result(60) == 4
    ran = len((tmp_path / "ran").read_text().split())
    assert [pool.submit(tasks.square, 2).result(60) for _ in range(50)] == [4] * 50
    assert len((tmp_path / "ran").read_text().split()) - ran < 500


def test_progress_bar_receives_each_item(pool: parvum.Executor) -> None:
    bars: list[Bar] = []

    def make(total: int | None) -> Bar:
        bars.append(Bar(total))
        return bars[-1]

    assert len(list(parvum.map(tasks.square, range(300), executor=pool, progress=make))) == 300
    assert bars[0].total == 300 and sum(bars[0].steps) == 300 and bars[0].closed == 1


def test_plain_bar_writes_one_line_to_file() -> None:
    out = io.StringIO()
    bar = PlainBar(4, "work", out)
    for _ in range(4):
        bar.update()
    bar.close()
    assert out.getvalue().startswith("work: [####################] 4/4, ") and out.getvalue().count("\n") == 1


def test_map_refuses_invalid_arguments(pool: parvum.Executor) -> None:
    with pytest.raises(ValueError, match="chunksize"):
        parvum.map(tasks.square, [1], executor=pool, chunksize=0)
    with pytest.raises(TypeError, match="iterable"):
        parvum.map(tasks.square, executor=pool)
