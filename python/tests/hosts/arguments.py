"""Large arguments go to each host once, whatever its workers and calls."""

import numpy as np

import bed
import parvum
import places

SIZE = 16 << 20

with parvum.machine(hosts=["beta", "gamma"]), parvum.Executor(6, hosts=["alpha", "beta", "gamma"]) as pool:
    assert pool.wait_for_workers(6, 120)
    array = np.ones(SIZE, "u1")
    before = bed.sent()
    found = list(pool.map(places.sum_and_memory, [array] * 90, range(90)))
    went = bed.sent() - before
    assert {total for _, total, _ in found} == {float(SIZE)}
    hosts = {host for host, _, _ in found}
    assert hosts == {"alpha", "beta", "gamma"}, hosts
    # All workers of a host have mapped the same memory.
    assert len({(host, memory) for host, _, memory in found}) == 3, found
    assert 2 * SIZE < went < 2.5 * SIZE, f"{went / SIZE:.2f} times the array left alpha"
    # A handle as well.
    table = parvum.share({"data": np.full(SIZE, 3, "u1")})
    before = bed.sent()
    totals = list(parvum.map(places.total_of, [table] * 60, range(60), executor=pool))
    went = bed.sent() - before
    assert {host for host, _ in totals} == hosts and {total for _, total in totals} == {3.0 * SIZE}
    assert 2 * SIZE < went < 2.5 * SIZE, f"{went / SIZE:.2f} times the array left alpha"
print("all well")
