"""Coroutines of an actor: they run in an event loop in a separate thread, so that many coroutines can wait at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Thread
from typing import Any

_loop: asyncio.AbstractEventLoop | None = None


def start(coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Runs a coroutine; returns its future."""
    global _loop
    if _loop is None:
        _loop = asyncio.new_event_loop()
        Thread(target=_loop.run_forever, name="parvum-actor-loop", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(coroutine, _loop)
