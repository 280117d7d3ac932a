"""An array that tasks of two hosts share. Run by `parvum run -n 4`."""

import os

import numpy as np

import parvum

shared = parvum.shared((4, 10_000))
names = parvum.shared((4, 16), "S1")
assert shared.size == 4 and (shared.array == 0).all()
shared.barrier(1)
with shared.view(np.s_[shared.rank, :]) as mine:
    mine[:] = shared.rank + 1
names.array[names.rank, : len(os.uname().nodename)] = list(os.uname().nodename)
shared.barrier()
for _ in range(25):
    with shared.lock(3):
        shared.array[3, 9_999] += 1
shared.barrier()
assert shared.array.sum() == 10_000 * 10 + 25 * 4, shared.array.sum()
hosts = {b"".join(row).decode() for row in names.array}
assert hosts == {"alpha", "beta"}, hosts
shared.barrier()  # none writes again while another of its host, which has the very same pages, still adds up
# Neighbours' borders, round by round, as a stencil has them.
for turn in range(1, 30):
    shared.array[shared.rank, 0] = turn * 10 + shared.rank
    shared.barrier(2)
    above, below = (shared.rank - 1) % 4, (shared.rank + 1) % 4
    assert shared.array[above, 0] == turn * 10 + above and shared.array[below, 0] == turn * 10 + below
    shared.barrier(3)
print("all well", shared.rank)
