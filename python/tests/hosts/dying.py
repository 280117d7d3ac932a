"""A host dies in the middle of a map: every result is right, and comes once."""

import itertools
import tempfile
from collections import Counter
from pathlib import Path

import bed
import parvum
import places

COUNT = 1500
ALL = ["alpha", "beta", "gamma"]

with tempfile.TemporaryDirectory() as folder, parvum.machine(hosts=ALL[1:]) as vm:
    # Calls that may be run again.
    with parvum.Executor(6, hosts=ALL, retries=3) as pool:
        assert pool.wait_for_workers(6, 120)
        note = str(Path(folder, "repeated"))
        results = parvum.map(places.square_noted, itertools.repeat(note), range(COUNT), executor=pool, ordered=False)
        found = []
        for result in results:
            found.append(result)
            if len(found) == 100:
                bed.kill_all(vm, "beta")
        assert Counter(found) == Counter(n * n for n in range(COUNT)), "a result is missing, or came twice"
        ran = Counter(line.split()[1] for line in Path(note).read_text().splitlines())
        assert all(ran[host] for host in ALL), ran
        assert [host.name for host in vm.hosts()] == ["alpha", "gamma"]
        # Others have taken the places of the two.
        assert pool.replaced == 2
        assert pool.wait_for_workers(6, 120)
        assert list(pool.map(places.square, range(50))) == [n * n for n in range(50)]

    # Calls that may not: none is run twice, and those that may have begun are named.
    with parvum.Executor(4, hosts=["alpha", "gamma"]) as pool:
        assert pool.wait_for_workers(4, 120)
        note = str(Path(folder, "once"))
        sent = [pool.submit(places.square_noted, note, n) for n in range(COUNT)]
        bed.eventually("some are done", lambda: sum(future.done() for future in sent) > 100)
        bed.kill_all(vm, "gamma")
        lost = {n for n, future in enumerate(sent) if isinstance(future.exception(120), parvum.WorkerLost)}
        assert all(future.result() == n * n for n, future in enumerate(sent) if n not in lost)
        ran = Counter(int(line.split()[0]) for line in Path(note).read_text().splitlines())
        assert max(ran.values()) == 1, "a call was begun twice"
        assert set(ran) | lost == set(range(COUNT))
        # What a worker had, which nobody can tell apart from what it had begun.
        assert len(lost) < 100, lost
        assert set(pool.workers.values()) == {"alpha"}
print("all well")
