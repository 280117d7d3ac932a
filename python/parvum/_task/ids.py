"""Task ids."""

from __future__ import annotations


class TaskId(int):
    """A task's id: a number that is printed in the form in which all of Parvum prints ids.

    >>> TaskId(0x40002)
    t40002
    >>> TaskId(0x40002) == 262146
    True
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"t{int(self):x}"

    __str__ = __repr__

    @property
    def host(self) -> TaskId:
        """The id of its host's daemon, as in :meth:`parvum.Vm.hosts`."""
        return TaskId(self & ~((1 << 18) - 1))

    def __reduce__(self) -> tuple[type[TaskId], tuple[int]]:
        return (TaskId, (int(self),))
