"""Hosts and workers come and go while a map runs."""

from collections import Counter

import bed
import parvum
import places

COUNT = 3000


def gamma(vm: parvum.Vm) -> int:
    return next(host.id for host in vm.hosts() if host.name == "gamma")


with parvum.machine() as vm, parvum.Executor(1) as pool:
    assert pool.wait_for_workers(1, 120)
    found = []
    for number, result in enumerate(parvum.map(places.square, range(COUNT), executor=pool)):
        found.append(result)
        if number == 100:
            vm.add_host("beta")
            pool.grow(2, "beta")
            assert pool.wait_for_workers(3, 120)
            vm.add_host("gamma")
            pool.grow(2, "gamma")
        if number == 1000:
            assert pool.wait_for_workers(5, 120)
            assert sorted(pool.workers.values()) == ["alpha", "beta", "beta", "gamma", "gamma"]
            assert pool.shrink(2, "gamma") == 2
        if number == 1500:
            # They go when each has done its call.
            bed.eventually("gamma has no task", lambda: not [t for t in vm.tasks() if t.host == gamma(vm)])
            vm.remove_host("gamma")
        if number == 2000:
            assert Counter(pool.workers.values()) == {"alpha": 1, "beta": 2}
            assert pool.shrink(1, "beta") == 1
    assert found == [n * n for n in range(COUNT)]
    assert pool.replaced == 0 and sorted(pool.workers.values()) == ["alpha", "beta"]
    assert [host.name for host in vm.hosts()] == ["alpha", "beta"]
    # A host that is taken out with its workers is as one that dies.
    left = parvum.map(places.square, range(1000), executor=pool, retries=3)
    first = [next(left) for _ in range(50)]
    vm.remove_host("beta")
    assert [*first, *left] == [n * n for n in range(1000)]
    assert set(pool.workers.values()) == {"alpha"}


print("all well")
