"""What the members of a group do together, on three hosts. Run by `parvum run -n 6`; `die` has one of them end."""

import os
import sys

import numpy as np

import parvum

vm = parvum.enrol()
group = parvum.Group(vm.siblings())
n, size = group.rank, group.size
assert size == 6
group.barrier()

text = np.zeros(16, "S1")
text[: len(os.uname().nodename)] = list(os.uname().nodename)
hosts = [b"".join(row).decode() for row in group.allgather(text)]
assert sorted(set(hosts)) == ["alpha", "beta", "gamma"], hosts
for count in (1, 1000, 300_000):
    a = np.arange(count) * 1.5 if n == 2 else np.empty(count)
    group.bcast(a, root=2)
    assert (a == np.arange(count) * 1.5).all()
    assert (group.allreduce(np.full(count, float(n))) == 15).all()
    top = group.reduce(np.full(count, n), np.maximum, root=5)
    assert (top is None) == (n != 5) and (top is None or (top == 5).all())
    every = group.alltoall(np.arange(size * count).reshape(size, count) + n)
    assert (every == np.arange(count) + n * count + np.arange(size)[:, None]).all()
part = group.scatter(np.arange(30).reshape(6, 5) if n == 0 else None, np.empty(5, np.arange(1).dtype))
assert (part == np.arange(5) + 5 * n).all()
whole = group.gather(part)
assert n or (whole == np.arange(30).reshape(6, 5)).all()
assert group.allreduce(np.array([n]), lambda x, y: 10 * x + y)[0] == 12345
own = np.array([n, -n])
group.allreduce(own, np.maximum, out=own)
assert list(own) == [5, 0]
assert group.bcast_object({"root": [n]}) == {"root": [0]}
group.barrier()

if sys.argv[1:] == ["die"]:
    if n == 4:
        os._exit(0)
    try:
        while True:
            group.allreduce(np.ones(1000))
    except parvum.errors.TaskGone as error:
        assert error.task == vm.siblings()[4], error
print("all well", n)
