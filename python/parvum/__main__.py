"""``python -m parvum``: the command ``parvum``, and ``python -m parvum demo``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# By these names the command is MPI's launcher, or PVM's console and daemon.
_NAMES = ("mpiexec", "mpirun", "pvm", "pvmd")


def command() -> str:
    """Where the command lies: in the package, or in PATH."""
    own = Path(__file__).parent / "bin" / "parvum"
    return str(own) if own.exists() else "parvum"


def main(arguments: list[str] | None = None) -> None:
    """Becomes the command."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["demo"]:
        from ._demo import main as demo

        raise SystemExit(demo(words[1:]))
    called = "parvum"
    if words and words[0] in _NAMES:
        called, *words = words
    program = command()
    # What is called by one of those names finds its library from where it lies.
    os.environ["PATH"] = os.pathsep.join([str(Path(program).parent), os.environ.get("PATH", os.defpath)])
    try:
        os.execvp(program, [called, *words])
    except OSError as error:
        raise SystemExit(f"parvum: E-NOCOMMAND: {program}: {error.strerror}; install the package anew") from None


if __name__ == "__main__":
    main()
