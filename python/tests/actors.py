"""Actors for tests."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import Future
from typing import Any

import parvum


@parvum.actor
class Counter:
    """Counts."""

    def __init__(self, start: int = 0) -> None:
        if start < 0:
            raise ValueError(f"start is {start}")
        self.value = start
        self.waiting: list[Future[str]] = []

    def add(self, n: int = 1) -> int:
        self.value += n
        return self.value

    def get(self) -> int:
        return self.value

    def fail(self) -> None:
        raise KeyError("asked for")

    def process(self) -> int:
        return os.getpid()

    def who(self) -> int:
        return parvum.caller()

    def wait(self) -> Future[str]:
        self.waiting.append(Future())
        return self.waiting[-1]

    def release(self, text: str) -> int:
        waiting, self.waiting = self.waiting, []
        for future in waiting:
            future.set_result(text)
        return len(waiting)

    def die(self) -> None:
        os.kill(os.getpid(), 9)

    def say(self, text: str) -> None:
        print(text)

    def shell(self, command: str) -> int:
        return os.system(command)

    def total(self, array: Any) -> float:
        return float(array.sum())

    def ask(self, other: Any, n: int) -> int:
        found: int = other.add(n).result()
        return found

    def _own(self) -> None: ...


@parvum.actor
class Clock:
    """Ticks."""

    def __init__(self) -> None:
        self.ticks = 0

    @parvum.every(0.01)
    def tick(self) -> None:
        self.ticks += 1
        if self.ticks == 2:
            raise RuntimeError("a tick that fails is logged, and no more")

    def get(self) -> int:
        return self.ticks


@parvum.actor
class Meeting:
    """Coroutines that wait for one another."""

    def __init__(self) -> None:
        self.event: asyncio.Event | None = None

    async def first(self) -> str:
        self.event = asyncio.Event()
        await self.event.wait()
        return "met"

    async def second(self) -> str:
        while self.event is None:
            await asyncio.sleep(0.001)
        self.event.set()
        return "came"


@parvum.actor
class Worker:
    """Runs what is to be stopped."""

    def __init__(self) -> None:
        self.done = 0
        self.words: list[str] = []

    def run(self, folder: str) -> None:
        import stopping

        stopping.spin(folder)

    def sleep(self, folder: str) -> None:
        import stopping

        stopping.sleep_in_c(folder)

    async def wait(self, folder: str) -> None:
        import stopping

        stopping.mark(folder)
        await asyncio.sleep(60)

    def count(self) -> int:
        self.done += 1
        return self.done

    def remember(self, word: str) -> None:
        self.words.append(word)

    def remembered(self) -> list[str]:
        return self.words

    def ask(self, other: Any) -> Any:
        return other.ask_back(self.me).result()

    def meet(self, me: Any) -> None:
        self.me = me

    def ask_back(self, other: Any) -> Any:
        return other.count().result()


@parvum.actor
class Doer:
    """Is busy in all the ways there are."""

    def meet(self, other: Any) -> None:
        self.other = other

    def process(self) -> int:
        return os.getpid()

    def do(self, what: str, folder: str) -> None:
        import stopping

        if what == "waits":
            # For an actor that waits for this one: for ever.
            stopping.mark(folder)
            self.other.ask(0).result()
        elif what == "computes":
            stopping.spin(folder)
        else:
            getattr(stopping, what)(folder)

    def ask(self, n: int) -> int:
        found: int = self.other.process().result()
        return found
