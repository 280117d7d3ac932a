"""By hand: a worker is killed with -9 each second for a minute, while calls run; counts what came of it.

usage: python kill_minute.py [SECONDS]
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter

import tasks

import parvum


def main(seconds: float) -> None:
    killed = wrong = done = 0
    ended: Counter[int] = Counter()
    over = threading.Event()
    with parvum.Executor(2, retries=1000) as pool:
        pool.wait_for_workers(2)

        def kill() -> None:
            nonlocal killed
            while not over.wait(1):
                if pids := pool.pids:
                    os.kill(pids[killed % len(pids)], signal.SIGKILL)
                    killed += 1

        killer = threading.Thread(target=kill)
        killer.start()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            sent = [pool.submit(tasks.slow_square, n) for n in range(done, done + 500)]
            for n, future in enumerate(sent, done):
                future.add_done_callback(lambda _, n=n: ended.update([n]))
                wrong += future.result() != n * n
            done += 500
        over.set()
        killer.join()
        print(f"{seconds:.0f} s: {killed} workers killed, {pool.replaced} replaced, {done} calls, {wrong} wrong, "
              f"{sum(count != 1 for count in ended.values())} that ended twice, {done - len(ended)} that did not end")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
