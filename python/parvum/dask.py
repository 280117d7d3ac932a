"""Dask collections on the virtual machine: `parvum.dask.get` is a scheduler of Dask.

>>> import dask, parvum.dask
>>> with dask.config.set(scheduler=parvum.dask.get, num_workers=2):
...     dask.compute(dask.delayed(pow)(2, 5), dask.delayed(abs)(-3))
(32, 3)
"""

# Dask lacks types that pyright can read.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from os import getpid
from typing import Any

from dask.core import flatten  # type: ignore[import-untyped]
from dask.local import get_async  # type: ignore[import-untyped]
from dask.optimization import cull, fuse  # type: ignore[import-untyped]
from dask.utils import ensure_dict  # type: ignore[import-untyped]

from parvum.executor import Executor
from parvum.pool.failures import RemoteTraceback
from parvum.pool.task import Task


def get(
    dsk: Mapping[Any, Any],
    keys: Any,
    *,
    executor: Executor | None = None,
    num_workers: int | None = None,
    retries: int | None = 3,
    optimize_graph: bool = True,
    chunksize: int | None = None,
    max_time: float | None = None,
    **more: Any,
) -> Any:
    """Computes `keys` of a Dask graph, and returns the values in the same structure.

    `executor`: the executor that runs the tasks; None: `num_workers` workers, which end with this call. `retries`: how
    often a task runs again if its worker dies. This is safe, because the result of a Dask task depends only on its
    inputs. `max_time`: the time limit in seconds for the tasks of one message. After this time the tasks are stopped,
    and `get` raises `CallTimedOut`. `optimize_graph`: fuses consecutive tasks. `chunksize`: the number of tasks per
    message; None: one, so that each task goes to an idle worker. If a task raises an exception, `get` raises the same
    exception. An exception or an interrupt (Ctrl-C) stops the running tasks. The results of tasks go through this
    process; large arrays in the results are not pickled.
    """
    graph = ensure_dict(dsk.__dask_graph__() if hasattr(dsk, "__dask_graph__") else dsk)
    graph, dependencies = cull(graph, list(flatten([keys])))
    if optimize_graph:
        graph, dependencies = fuse(graph, keys, dependencies)
    with Executor(num_workers, retries=retries) if executor is None else nullcontext(executor) as pool:
        pool.wait_for_workers(1)
        open_tasks: set[Task[Any]] = set()

        def submit(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Task[Any]:
            task = pool.submit_with(fn, args, kwargs, retries=retries, timeout=max_time)
            open_tasks.add(task)
            task.add_done_callback(open_tasks.discard)
            return task

        try:
            return get_async(
                submit,
                # A worker has one task in advance.
                2 * max(1, num_workers or len(pool.workers)) if chunksize is None else max(1, num_workers or len(pool.workers)),
                graph,
                keys,
                get_id=getpid,
                pack_exception=_pack,
                raise_exception=_raise,
                chunksize=chunksize or 1,
                **more,
            )
        except BaseException:
            for task in list(open_tasks):
                task.cancel()
            raise


def _pack(error: BaseException, dumps: object) -> tuple[BaseException, str]:
    import traceback

    return error, "".join(traceback.format_exception(type(error), error, error.__traceback__))


def _raise(error: BaseException, text: str) -> None:
    raise error from RemoteTraceback(f'\nIn a task of Dask:\n"""\n{text}"""')
