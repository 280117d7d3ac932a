"""Actors: calls in order, answers as futures, names, groups, timers, and what happens when one dies."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import stopping
import support
from actors import Clock, Counter, Meeting

import parvum

pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture
def counter() -> Iterator[parvum.Handle]:
    handle = Counter.start(10)
    yield handle
    parvum.stop(handle)


def test_actor_calls_run_in_order(counter: parvum.Handle) -> None:
    answers = [counter.add(1) for _ in range(200)]
    assert [answer.result() for answer in answers] == list(range(11, 211))
    assert counter.process().result() != os.getpid()


def test_actor_class_makes_ordinary_objects_too() -> None:
    here = Counter(5)
    assert here.add(2) == 7 and type(here) is Counter.cls


def test_one_way_calls_run_before_later_calls(counter: parvum.Handle) -> None:
    for _ in range(50):
        counter.add.tell(2)
    assert counter.get().result() == 110


def test_failing_actor_call_has_its_traceback_and_actor_continues(counter: parvum.Handle) -> None:
    with pytest.raises(KeyError, match="asked for") as caught:
        counter.fail().result()
    assert "In actor t" in str(caught.value.__cause__)
    with pytest.raises(AttributeError, match="nothing"):
        counter.nothing().result()
    with pytest.raises(AttributeError):
        counter._own()
    assert counter.get().result() == 10


def test_unpicklable_arguments_of_actor_are_named(counter: parvum.Handle) -> None:
    with pytest.raises(parvum.Unpicklable, match=r"args\[0\]"):
        counter.add(threading.Lock())


def test_actor_accepts_large_arrays(counter: parvum.Handle) -> None:
    numpy = pytest.importorskip("numpy")
    data = numpy.arange(1_000_000.0)
    assert counter.total(data).result() == data.sum()


def test_failing_constructor_raises_at_start() -> None:
    with pytest.raises(ValueError, match="start is -1"):
        Counter.start(-1)


def test_actor_is_found_by_name_on_whole_machine() -> None:
    one = Counter.start(1, name="named")
    assert parvum.find("named") == one
    assert parvum.find("named").add(4).result() == 5
    with pytest.raises(parvum.errors.Refused, match="'named' is taken"):
        Counter.start(name="named")
    assert parvum.stop(one)
    with pytest.raises(KeyError, match="named"):
        parvum.find("named")


def test_find_waits_until_actor_exists() -> None:
    threading.Timer(0.05, lambda: later.append(Counter.start(3, name="later"))).start()
    later: list[parvum.Handle] = []
    assert parvum.find("later", timeout=60).get().result() == 3
    with pytest.raises(KeyError):
        parvum.find("never", timeout=0.01)
    while not later:
        time.sleep(0.001)
    parvum.stop(later[0])


def test_actor_handles_can_be_sent(counter: parvum.Handle) -> None:
    other = Counter.start(0)
    assert other.ask(counter, 7).result() == 17
    parvum.stop(other)


def test_actor_call_may_be_answered_later(counter: parvum.Handle) -> None:
    waiting = [counter.wait() for _ in range(3)]
    assert counter.get().result() == 10
    assert not any(answer.done() for answer in waiting)
    assert counter.release("now").result() == 3
    assert [answer.result() for answer in waiting] == ["now"] * 3


def test_coroutines_of_actor_wait_concurrently() -> None:
    meeting = Meeting.start()
    first = meeting.first()
    assert meeting.second().result(60) == "came"
    assert first.result(60) == "met"
    parvum.stop(meeting)


def test_actor_answer_can_be_awaited(counter: parvum.Handle) -> None:
    async def ask() -> list[int]:
        return list(await asyncio.gather(*(_wait(counter.add(1)) for _ in range(5))))

    async def _wait(answer: object) -> int:
        return await answer  # type: ignore[misc,no-any-return]

    assert sorted(asyncio.run(ask())) == [11, 12, 13, 14, 15]


def test_actor_group_is_called_together() -> None:
    group = Counter.start_group(3, 5)
    assert len(group) == 3
    assert group.add(2).result() == [7, 7, 7]
    group.add.tell(1)
    assert group.get().result() == [8, 8, 8]
    group[1].add(10).result()
    assert group.get().result() == [8, 18, 8]
    with pytest.raises(KeyError):
        group.fail().result()
    assert len(set(group.process().result())) == 3
    parvum.stop(group)


def test_actor_timers_repeat_and_survive_failure() -> None:
    clock = Clock.start(output=False)
    while clock.get().result() < 5:
        time.sleep(0.005)
    parvum.stop(clock)


def test_actor_knows_its_caller(counter: parvum.Handle) -> None:
    assert counter.who().result() == parvum.enrol().id
    with pytest.raises(RuntimeError, match="no actor"):
        parvum.caller()


def test_calls_of_dead_actor_are_lost() -> None:
    counter = Counter.start()
    before = counter.add(3)
    waiting = counter.wait()
    dying = counter.die()
    after = counter.add(1)
    assert before.result() == 3
    for answer in (waiting, dying, after):
        with pytest.raises(parvum.ActorLost):
            answer.result(60)
    with pytest.raises(parvum.ActorLost):
        counter.add(1).result(60)


def test_killed_actor_is_gone() -> None:
    counter = Counter.start(name="doomed")
    waiting = counter.wait()
    parvum.kill(counter)
    with pytest.raises(parvum.ActorLost, match=r"actor 'doomed' \(t\w+\) is gone"):
        waiting.result(60)


def test_actor_prints_appear_here_with_label(counter: parvum.Handle, capsys: pytest.CaptureFixture[str]) -> None:
    counter.say("hello\nthere").result()
    lines: list[str] = []
    while len(lines) < 2:
        lines += capsys.readouterr().out.splitlines()
    label, _, text = lines[0].partition("] ")
    assert text == "hello" and label.startswith("[t") and lines[1] == f"{label}] there"


@pytest.mark.parametrize("state", ["waits", "computes", "deaf", "deafest", "count_without_the_interpreter"])
def test_busy_actor_ends_with_its_creator(tmp_path: Path, state: str) -> None:
    script = f"""
        import os, signal, sys
        sys.path[:0] = {sys.path!r}
        from actors import Doer
        import stopping, time
        from pathlib import Path
        ann, bob = Doer.start(), Doer.start()
        ann.meet(bob).result(), bob.meet(ann).result()
        ann.do({state!r}, {str(tmp_path)!r})
        while not stopping.begun(Path({str(tmp_path)!r})):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=120, capture_output=True, text=True, check=False)
    (process,) = stopping.begun(tmp_path)
    assert done.returncode == -9, done.stderr
    support.eventually(lambda: not stopping.is_alive(process), 20)


def test_actor_ends_with_its_creator_unless_detached() -> None:
    script = f"""
        import sys
        sys.path[:0] = {sys.path!r}
        from actors import Counter
        bound, free = Counter.start(1, name="bound"), Counter.start(2, name="free", detached=True)
        print(bound.process().result(), free.process().result())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=120, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    bound, free = done.stdout.split()
    free_one = parvum.find("free")
    assert free_one.process().result() == int(free)
    while os.path.exists(f"/proc/{bound}/exe"):
        time.sleep(0.002)
    parvum.stop(free_one)
