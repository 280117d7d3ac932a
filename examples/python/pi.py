"""Pi by random darts, on hosts that come and go: new hosts get workers, dead workers are replaced, and each dart counts once.

    python pi.py [--throws 200000000] [--chaos]

During the run, use `parvum add HOST` and `parvum remove HOST` in another terminal; `--chaos` kills a worker at times.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import threading
import time
from math import pi
from statistics import NormalDist

import parvum


@parvum.idempotent(retries=20)
def throw(seed: int, count: int) -> int:
    """The number of `count` darts that hit the quarter of a circle. The same seed gives the same darts on every host."""
    draw = random.Random(seed).random
    return sum(draw() ** 2 + draw() ** 2 < 1.0 for _ in range(count))


def follow_hosts(pool: parvum.Executor, over: threading.Event) -> None:
    """Starts a worker for each processor of each new host."""
    vm = parvum.enrol()
    known = {host.id for host in vm.hosts()}
    while not over.wait(0.5):
        for host in vm.hosts():
            if host.id not in known:
                known.add(host.id)
                print(f"host {host.name} has come: {host.cpus} workers more", flush=True)
                pool.grow(host.cpus, host.name)


def kill_workers(pool: parvum.Executor, over: threading.Event) -> None:
    """Kills a worker of this host at times."""
    while not over.wait(0.3):
        here = [pid for pid in pool.pids if os.path.exists(f"/proc/{pid}")]
        if here:
            os.kill(random.choice(here), signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--throws", type=int, default=200_000_000)
    parser.add_argument("--chaos", action="store_true", help="kill a worker now and then")
    options = parser.parse_args()
    chunk = max(1, min(200_000, options.throws // 100))
    chunks = options.throws // chunk

    over = threading.Event()
    begun = time.perf_counter()
    with parvum.Executor() as pool:
        helpers = [threading.Thread(target=follow_hosts, args=(pool, over))]
        if options.chaos:
            helpers.append(threading.Thread(target=kill_workers, args=(pool, over)))
        for helper in helpers:
            helper.start()
        try:
            hits = sum(parvum.map(throw, range(chunks), [chunk] * chunks, executor=pool, chunksize=1, ordered=False, progress="darts"))
        finally:
            over.set()
            for helper in helpers:
                helper.join()
        seconds, replaced = time.perf_counter() - begun, pool.replaced
    thrown = chunk * chunks
    estimate = 4 * hits / thrown
    error = 4 * NormalDist().inv_cdf(0.999) * ((hits / thrown) * (1 - hits / thrown) / thrown) ** 0.5
    print(f"{thrown} darts in {seconds:.1f} s, {replaced} workers replaced: pi is {estimate:.6f}, off by {abs(estimate - pi):.6f} (999 times in 1000 less than {error:.6f})")
    print("each dart was counted once" if hits == expected(chunks, chunk, hits) else "DARTS ARE MISSING")


def expected(chunks: int, chunk: int, hits: int) -> int:
    """For short runs, throws the same darts again here, one after the other."""
    return sum(throw(seed, chunk) for seed in range(chunks)) if chunks * chunk <= 2_000_000 else hits


if __name__ == "__main__":
    main()
