"""joblib, and so scikit-learn, over the machine: `parvum.joblib.register()`, then `backend="parvum"`.

>>> import joblib, parvum.joblib
>>> parvum.joblib.register()
>>> with joblib.parallel_backend("parvum", n_jobs=2):
...     joblib.Parallel()(joblib.delayed(pow)(n, 2) for n in range(5))
[0, 1, 4, 9, 16]
>>> parvum.joblib.shutdown()

Workers stay for the next call of joblib, until `shutdown` or the end of the program. Large arrays go once to
each host, and calls see them read-only.
"""

# joblib has no types that pyright can read, and its base class none at all.
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
    """A backend of joblib. Options of `parallel_backend`, and of `parallel_config` (joblib 1.3):

    `executor`: where calls run; None: workers of joblib's own, as many as `n_jobs` says, on `hosts`.
    `retries`: how often a batch of calls is run again when its worker dies (3: joblib's calls are expected to be
    repeatable, as every one of its backends restarts them or fails); None: never.
    `max_time`: seconds that a batch may run; then it is stopped, and raises `CallTimedOut`. joblib's own options work
    too: `inner_max_num_threads` limits the threads of libraries in workers, and after `timeout` the calls are stopped.
    """

    supports_retrieve_callback = True  # pyright: ignore[reportAssignmentType]
    supports_timeout = True  # pyright: ignore[reportAssignmentType]
    supports_inner_max_num_threads = True  # pyright: ignore[reportAssignmentType]
    default_n_jobs = -1
    # A message costs so little that calls need hardly be gathered.
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
        """How many calls run at a time."""
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
        """Has workers ready for the calls of `parallel`."""
        jobs = self.effective_n_jobs(n_jobs)
        self.parallel = parallel
        if self._own is None:
            self._pool = _pool(jobs, self._hosts, self._prepare_worker_env(n_jobs=jobs))
        return jobs

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], Any] | None = None) -> Future[Any]:
        """Has a batch of calls run."""
        assert self._pool is not None, "configure comes first"
        future = self._pool.submit_with(func, retries=self._retries, timeout=self._max_time)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def apply_async(self, func: Callable[[], Any], callback: Callable[[Any], Any] | None = None) -> Future[Any]:
        """The same, as joblib before 1.5 calls it; before 1.3 it asks what comes of it by `get`."""
        future = self.submit(func, callback)
        future.get = future.result  # type: ignore[attr-defined]
        return future

    def retrieve_result_callback(self, future: Future[Any]) -> Any:
        """What a batch gave, or raises what it raised."""
        return future.result()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """A call has failed, or time is over, or somebody interrupts: nobody wants the others, which are stopped."""
        for future in list(self._futures):
            future.cancel()

    def terminate(self) -> None:
        """Workers stay for the next `Parallel`."""

    def __reduce__(self) -> tuple[Any, ...]:
        # A call that uses joblib itself has workers of its own.
        return ParvumBackend, (None, self._hosts, self._retries, self._max_time)


def _pool(jobs: int, hosts: tuple[str, ...] | None, env: dict[str, str]) -> Executor:
    # Limits of threads are read when a library is loaded: workers with other limits are other workers.
    key = jobs, hosts, tuple(sorted(env.items()))
    with _lock:
        pool = _pools.get(key)
        if pool is None or not pool.is_open:
            for other in [known for known in _pools if known[:2] == key[:2]]:
                _pools.pop(other).shutdown(wait=False)
            pool = _pools[key] = Executor(jobs, hosts=hosts, env=env)
        return pool


def shutdown() -> None:
    """Ends the workers that joblib's calls have left."""
    with _lock:
        pools = list(_pools.values())
        _pools.clear()
    for pool in pools:
        pool.shutdown()


def register(name: str = "parvum", make_default: bool = False) -> None:
    """Makes the backend known to joblib under that name; with `make_default` it is used where none is named."""
    register_parallel_backend(name, ParvumBackend, make_default=make_default)
