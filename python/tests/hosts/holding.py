"""The worker that holds a large argument for its host dies: the others there get it all the same."""

import numpy as np

import bed
import parvum
import places

SIZE = 8 << 20

with parvum.machine(hosts=["beta"]) as vm, parvum.Executor(3, hosts=["beta"], retries=5) as pool:
    assert pool.wait_for_workers(3, 120)
    array = np.arange(SIZE, dtype="u1")
    total = float(array.sum())
    for _ in range(3):
        found = list(pool.map(places.sum_and_memory, [array] * 20, range(20)))
        assert {what for _, what, _ in found} == {total}
        # Who holds it, only the pool knows: all but one at a time.
        for pid in pool.pids:
            bed.on("beta", f"kill -9 {pid}")
        assert {what for _, what, _ in pool.map(places.sum_and_memory, [array] * 20, range(20))} == {total}
        assert pool.wait_for_workers(3, 120)
print("all well")
