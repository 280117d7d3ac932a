"""The future of one call of a pool."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextvars import Context

    from parvum.pool.pool import Pool
    from parvum.pool.schedule import Call
    from parvum.pool.store import Kept


class Task(Future[Any]):
    """The future of one call. It is cancelled in its pool, where a call that waits can still be taken back."""

    call: Call | None = None
    pool: Pool | None = None
    data: bytes = b""
    context: Context | None = None
    """Where it was submitted: what the call prints is shown there, as a notebook has it below the cell."""
    kept: list[Kept] | tuple[()] = ()

    def cancel(self) -> bool:
        """Cancels the call if no worker has it."""
        pool, call = self.pool, self.call
        if pool is None or call is None or not pool.cancel(call, self):
            return super().cancel()
        super().cancel()
        self.set_running_or_notify_cancel()
        return True

    def __await__(self) -> Generator[Any, None, Any]:
        import asyncio

        return asyncio.wrap_future(self).__await__()
