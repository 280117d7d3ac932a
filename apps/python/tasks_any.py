"""Empty tasks through an executor of two workers: how long to the first result, how many a second, what idling costs.

usage: tasks_any.py --system parvum|multiprocessing|loky|ray|dask
"""

import operator
import os
import sys
import time

BEGUN = time.perf_counter()

from common import arguments, descendants, memory_and_time, rates, report, wants  # noqa: E402


def one(x):
    return -x


class Parvum:
    def __init__(self):
        import parvum

        self.pool = parvum.Executor(2)

    def one_by_one(self, count):
        for future in [self.pool.submit(operator.neg, n) for n in range(count)]:
            future.result()

    def in_chunks(self, count):
        for _ in self.pool.map(operator.neg, range(count), chunksize=max(1, count // 100)):
            pass

    def pids(self):
        import subprocess

        directory = os.environ.get("PARVUM_DIR", "")
        listed = subprocess.run(["pgrep", "-f", f"parvum daemon.*{directory}$"], capture_output=True, text=True).stdout
        daemons = {int(pid) for pid in listed.split()}
        return sorted({*self.pool.pids, *daemons})

    def close(self):
        self.pool.shutdown()


class Multiprocessing(Parvum):
    def __init__(self):
        from concurrent.futures import ProcessPoolExecutor

        self.pool = ProcessPoolExecutor(2)

    def pids(self):
        return descendants(os.getpid())


class Loky(Multiprocessing):
    def __init__(self):
        from loky import ProcessPoolExecutor

        self.pool = ProcessPoolExecutor(2)


class Dask(Multiprocessing):
    def __init__(self):
        from dask.distributed import Client

        self.client = Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)

    def one_by_one(self, count):
        for future in [self.client.submit(one, n, pure=False) for n in range(count)]:
            future.result()

    def in_chunks(self, count):
        futures = self.client.map(one, range(count), batch_size=max(1, count // 100), pure=False)
        self.client.gather(futures)

    def close(self):
        self.client.close()


class Ray(Multiprocessing):
    def __init__(self):
        import ray

        self.ray = ray
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
        self.remote = ray.remote(one)

    def one_by_one(self, count):
        self.ray.get([self.remote.remote(n) for n in range(count)])

    def in_chunks(self, count):
        from ray.util.multiprocessing import Pool

        self.own = getattr(self, "own", None) or Pool(2)
        for _ in self.own.imap(one, range(count), chunksize=max(1, count // 100)):
            pass

    def close(self):
        self.ray.shutdown()


SYSTEMS = {"parvum": Parvum, "multiprocessing": Multiprocessing, "loky": Loky, "dask": Dask, "ray": Ray}


def main() -> None:
    options = arguments(__doc__, system="parvum", count=0)
    system = SYSTEMS[options.system]()
    system.one_by_one(1)
    if wants(options, "first"):
        report(options, options.system, "first result", 0, [time.perf_counter() - BEGUN], "s")
    # The slower ones take their time for fewer.
    count = options.count or {"dask": 300, "ray": 1000}.get(options.system, 15_000)
    slow = count < 15_000
    if wants(options, "idle"):
        mebibytes, busy = memory_and_time(system.pids())
        second = 1_000_000_000
        blocked = {"cpu_ns": round(busy * second), "wall_ns": second, "resident_kib": round(mebibytes * 1024)}
        report(options, options.system, "idle memory", 0, [mebibytes], "MiB", **({"blocked": blocked} if options.lab else {}))
        if not options.lab:
            report(options, options.system, "idle time", 0, [busy * 1000], "ms/s")
    if wants(options, "single"):
        report(options, options.system, "one by one", 0, rates(system.one_by_one, count), "/s")
    if wants(options, "chunks"):
        report(options, options.system, "in chunks", 0, rates(system.in_chunks, count * (1 if slow else 10)), "/s")
    system.close()


if __name__ == "__main__":
    sys.exit(main())
