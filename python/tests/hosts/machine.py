"""A machine of three hosts for a block, and what it looks like."""

import parvum
from parvum._task import session as _session

import places

OTHERS = ["beta", "gamma"]

assert not _session.is_running()
with parvum.machine(hosts=OTHERS) as vm, parvum.Executor(6, hosts=["alpha", *OTHERS]) as pool:
    assert [host.name for host in vm.hosts()] == ["alpha", *OTHERS]
    assert pool.wait_for_workers(6, 120)
    assert sorted(pool.workers.values()) == sorted(["alpha", *OTHERS] * 2)
    assert set(pool.map(places.slowly, range(120))) == {"alpha", *OTHERS}
    picture = parvum.status()
    assert [(name, tasks) for name, _, _, tasks in picture.hosts] == [("alpha", 3), ("beta", 2), ("gamma", 2)], picture
assert not _session.is_running()

# Hosts that were not there before leave it again, and no other.
vm = parvum.enrol()
vm.add_host("beta")
with parvum.machine(hosts=OTHERS) as inner:
    assert len(inner.hosts()) == 3
    (there,) = inner.spawn(["python", "-c", "import os, parvum; vm = parvum.enrol(); vm.send(os.uname()[1], vm.parent, 1)"], host="gamma")
    assert inner.recv(there, 1) == "gamma"
assert [host.name for host in vm.hosts()] == ["alpha", "beta"]

# Where one cannot be added nothing stays that was begun.
try:
    with parvum.machine(hosts=["gamma", "no-such-host"]):
        raise AssertionError
except parvum.ParvumError as error:
    assert "no-such-host" in str(error), error
assert [host.name for host in vm.hosts()] == ["alpha", "beta"]
vm.halt()
assert not _session.is_running()
print("all well")
