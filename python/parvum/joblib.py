"""joblib, and therefore scikit-learn, on the virtual machine: `parvum.joblib.register()`, then `backend="parvum"`.

>>> import joblib, parvum.joblib
>>> parvum.joblib.register()
>>> with joblib.parallel_backend("parvum", n_jobs=2):
...     joblib.Parallel()(joblib.delayed(pow)(n, 2) for n in range(5))
[0, 1, 4, 9, 16]
>>> parvum.joblib.shutdown()

The workers continue to run for the next call of joblib, until `shutdown` or the end of the program. Large arrays
are sent once to each host, and are read-only in calls.
"""

# joblib lacks types that pyright can read, and so does its base class.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportIncompatibleMethodOverride=false
from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final

from joblib.parallel import register_parallel_backend  # type: ignore[import-untyped]
from joblib._parallel_backends import AutoBatchingMixin, ParallelBackendBase  # type: ignore[import-untyped]

from parvum.executor import Executor

_lock: Final = threading.Lock()
_pools: dict[tuple[int, tuple[str, ...] | None, tuple[tuple[str, str], ...]], Executor] = {}


class ParvumBackend(AutoBatchingMixin, ParallelBackendBase):  # type: ignore[misc]
    """A backend of joblib. The options are for `parallel_backend`, and for `parallel_config` (joblib 1.3):

    `executor`: the executor that runs the calls; None: `n_jobs` workers on `hosts`, only for joblib.
    `retries`: how often a batch of calls runs again if its worker dies; None: never. The default is 3, because joblib
    expects repeatable calls: its other backends also restart calls. `max_time`: the time limit of a batch in seconds.
    After this time the batch is stopped, and raises `CallTimedOut`. Two options of joblib work too:
    `inner_max_num_threads` limits the threads of libraries in workers, and `timeout` stops the calls.
    """

    supports_retrieve_callback = True  # pyright: ignore[reportAssignmentType]
    supports_timeout = True  # pyright: ignore[reportAssignmentType]
    supports_inner_max_num_threads = True  # pyright: ignore[reportAssignmentType]
    default_n_jobs = -1
    # A message is cheap, so calls need few batches.
    MIN_IDEAL_BATCH_DURATION = 0.05
    MAX_IDEAL_BATCH_DURATION = 0.5

    def __init__(
        self,
        executor: Executor | None = None,
        hosts: tuple[str, ...] | list[str] | None = None,
        retries: int | None = 3,
        max_time: float | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self._own = executor
        self._hosts = None if hosts is None else tuple(hosts)
        self._retries = retries
        self._max_time = max_time
        self._pool: Executor | None = executor
        self._futures: set[Future[Any]] = set()

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """The number of calls that run at the same time."""
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if self._own is not None:
            return max(1, len(self._own.workers))
        if n_jobs is None:
            return 1
        if n_jobs < 0:
            from parvum.pool.post import Post

            return max(1, Post.of_pool().processors(self._hosts) + 1 + n_jobs)
        return n_jobs

    def configure(self, n_jobs: int = 1, parallel: Any = None, **settings: Any) -> int:
        """Starts workers for the calls of `parallel`."""
        jobs = self.effective_n_jobs(n_jobs)
        self.parallel = parallel
        if self._own is None:
            self._pool = _pool(jobs, self._hosts, self._prepare_worker_env(n_jobs=jobs))
        return jobs

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], Any] | None = None) -> Future[Any]:
        """Submits a batch of calls."""
        assert self._pool is not None, "configure comes first"
        future = self._pool.submit_with(func, retries=self._retries, timeout=self._max_time)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def apply_async(self, func: Callable[[], Any], callback: Callable[[Any], Any] | None = None) -> Future[Any]:
        """Submits a batch for joblib before 1.5; joblib before 1.3 gets the result with `get`."""
        future = self.submit(func, callback)
        future.get = future.result  # type: ignore[attr-defined]
        return future

    def retrieve_result_callback(self, future: Future[Any]) -> Any:
        """Returns the result of a batch, or raises its exception."""
        return future.result()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Stops the other calls after a failure, a timeout or an interrupt."""
        for future in list(self._futures):
            future.cancel()

    def terminate(self) -> None:
        """Does nothing: the workers continue to run for the next `Parallel`."""

    def __reduce__(self) -> tuple[Any, ...]:
        # If a call itself uses joblib, that joblib gets other workers.
        return ParvumBackend, (None, self._hosts, self._retries, self._max_time)


def _pool(jobs: int, hosts: tuple[str, ...] | None, env: dict[str, str]) -> Executor:
    # Libraries read the limits of threads when they are loaded: other limits therefore need other workers.
    key = jobs, hosts, tuple(sorted(env.items()))
    with _lock:
        pool = _pools.get(key)
        if pool is None or not pool.is_open:
            for other in [known for known in _pools if known[:2] == key[:2]]:
                _pools.pop(other).shutdown(wait=False)
            pool = _pools[key] = Executor(jobs, hosts=hosts, env=env)
        return pool


def shutdown() -> None:
    """Ends the workers that still run after joblib's calls."""
    with _lock:
        pools = list(_pools.values())
        _pools.clear()
    for pool in pools:
        pool.shutdown()


def register(name: str = "parvum", make_default: bool = False) -> None:
    """Registers the backend in joblib under `name`; with `make_default`, joblib uses this backend if the program names no backend."""
    register_parallel_backend(name, ParvumBackend, make_default=make_default)
