"""The exceptions of Parvum. Each exception has a cause, a code and a remedy.

Every exception of Parvum is a :class:`ParvumError`. Its text is ``CODE: cause; help: what to do``. ``parvum explain CODE`` prints a
paragraph for each code.
"""

from __future__ import annotations

import re

__all__ = [
    "ParvumError",
    "MachineGone",
    "NotEnrolled",
    "Forked",
    "TaskGone",
    "HostGone",
    "NoEntry",
    "TimedOut",
    "Cancelled",
    "PvmFailed",
    "Refused",
    "BadArgument",
    "WrongShape",
    "Truncated",
    "Unpicklable",
    "VersionMismatch",
]


# The form of all errors of Parvum: ``CODE: what: why; note: ...; help: ...``.
_CODE = re.compile(r"(E-[A-Z-]{2,}): ")
_HELP = "; help: "


class ParvumError(Exception):
    """A failure that Parvum reports.

    Attributes:
        code: such as ``E-GONE``; ``parvum explain E-GONE`` explains it.
        cause: what happened.
        remedy: advice.

    >>> from parvum.errors import HostGone
    >>> error = HostGone("beta has left")
    >>> error.code, error.help
    ('E-HOSTLOST', 'vm.hosts() lists those that are left')
    """

    code: str = "E-PARVUM"
    remedy: str = "`parvum why` shows what the tasks wait for"

    def __init__(self, cause: str = "", *, code: str | None = None, remedy: str | None = None) -> None:
        cause = cause or (self.__doc__ or "").partition("\n")[0].rstrip(".")
        # The text of a library has its own code, and often its own help.
        if begins := _CODE.match(cause):
            code, cause = begins[1], cause[begins.end() :]
            remedy = remedy or ""
        if _HELP in cause:
            cause, _, remedy = cause.partition(_HELP)
        self.cause = cause
        if code is not None:
            self.code = code
        if remedy is not None:
            self.remedy = remedy
        super().__init__(self.cause)

    @property
    def help(self) -> str:
        """Advice: a command to paste, if there is one."""
        return self.remedy

    def __str__(self) -> str:
        return f"{self.code}: {self.cause}{_HELP}{self.remedy}" if self.remedy else f"{self.code}: {self.cause}"

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.cause,), self.__dict__)


class MachineGone(ParvumError):
    """The virtual machine has ended, or no virtual machine could be started."""

    code = "E-LOST"
    remedy = "start it again with `parvum up`"


class NotEnrolled(ParvumError):
    """This process is not a task of a virtual machine."""

    code = "E-NOTENROLLED"
    remedy = "call parvum.enrol() first"


class Forked(ParvumError):
    """This process is a forked child of a task, and is not itself a task."""

    code = "E-FORKED"
    remedy = "call parvum.enrol() in the child, or start processes with vm.spawn"


class TaskGone(ParvumError):
    """The task has ended, or does not exist.

    Attributes:
        task: its id, or 0 when it is not one task.
    """

    code = "E-GONE"
    remedy = "vm.tasks() lists those that are there"

    def __init__(
        self, cause: str = "", task: int = 0, *, code: str | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(cause, code=code, remedy=remedy)
        self.task = task


class HostGone(ParvumError):
    """The host is no longer part of the virtual machine."""

    code = "E-HOSTLOST"
    remedy = "vm.hosts() lists those that are left"


class NoEntry(ParvumError, KeyError):
    """There is no such mailbox entry."""

    code = "E-NOENTRY"
    remedy = "somebody must put it first; vm.mailbox.get(name, wait=True) waits for it"


class TimedOut(ParvumError, TimeoutError):
    """The operation was not complete within the timeout."""

    code = "E-TIMEDOUT"
    remedy = "wait longer, or ask `parvum why` what is missing"


class Cancelled(ParvumError):
    """The request was cancelled."""

    code = "E-CANCELLED"
    remedy = "start it anew if its result is wanted"


class Refused(ParvumError):
    """The virtual machine refused the request."""

    code = "E-REFUSED"
    remedy = "`parvum info` names the daemon's log, which has the reason"


class PvmFailed(ParvumError):
    """A call of PVM failed.

    Attributes:
        number: PVM's code, such as -31 for PvmNoTask.
    """

    code = "E-PVM"
    remedy = "`parvum explain PvmBadParam` explains PVM's codes"

    def __init__(self, call: str = "", number: int = 0) -> None:
        name = _PVM.get(number, "PvmSysErr")
        super().__init__(f"pvm_{call}: {name} ({number})", remedy=f"`parvum explain {name}`")
        self.number = number


_PVM = {
    -2: "PvmBadParam", -3: "PvmMismatch", -4: "PvmOverflow", -5: "PvmNoData", -6: "PvmNoHost", -7: "PvmNoFile",
    -8: "PvmDenied", -10: "PvmNoMem", -12: "PvmBadMsg", -14: "PvmSysErr", -15: "PvmNoBuf", -16: "PvmNoSuchBuf",
    -17: "PvmNullGroup", -18: "PvmDupGroup", -19: "PvmNoGroup", -20: "PvmNotInGroup", -21: "PvmNoInst",
    -22: "PvmHostFail", -23: "PvmNoParent", -24: "PvmNotImpl", -25: "PvmDSysErr", -26: "PvmBadVersion",
    -27: "PvmOutOfRes", -28: "PvmDupHost", -29: "PvmCantStart", -30: "PvmAlready", -31: "PvmNoTask",
    -32: "PvmNotFound", -33: "PvmExists", -34: "PvmHostrNMstr", -35: "PvmParentNotSet",
}  # fmt: skip


class BadArgument(ParvumError, ValueError):
    """An argument cannot be used."""

    code = "E-BADPARAM"
    remedy = "help(...) of the call lists what its arguments may be"


class WrongShape(ParvumError, ValueError):
    """The array does not have the required type or shape."""

    code = "E-SHAPE"
    remedy = "give memory of the message's type and size; vm.probe tells its length"


class Truncated(ParvumError, ValueError):
    """The message is longer than the memory for it; the message stays in the queue."""

    code = "E-NOROOM"
    remedy = "receive with more room"


class Unpicklable(ParvumError, TypeError):
    """An object that cannot be pickled."""

    code = "E-PICKLE"
    remedy = "leave that part out (__getstate__), or install cloudpickle for functions and classes of a script or notebook"


class VersionMismatch(ParvumError):
    """The sender has another version of Python or NumPy."""

    code = "E-VERSION"
    remedy = "run the same versions on all hosts, or send bytes and arrays, which need no pickle"
