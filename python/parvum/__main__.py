"""``python -m parvum``: the command ``parvum``, and ``python -m parvum demo``."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def command() -> str:
    """The path of the command: in the package, or in PATH."""
    own = Path(__file__).parent / "bin" / "parvum"
    return str(own) if own.exists() else "parvum"


def tool() -> None:
    """Runs the program of the package that has the same name as this script, such as `mpiexec` or `mpicc` in the environment's `bin`."""
    name = Path(sys.argv[0]).name
    own = Path(__file__).parent / "bin" / name
    if own.exists():
        words = [str(own), *sys.argv[1:]]
    elif name in ("mpiexec", "mpirun"):
        # The command includes these programs.
        words = [command(), "mpiexec", *sys.argv[1:]]
    else:
        raise SystemExit(f"parvum: E-NOCOMMAND: {own} is not there; install the package anew")
    _become(words)


def main(arguments: list[str] | None = None) -> None:
    """Replaces this process with the command."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["demo"]:
        from ._demo import main as demo

        raise SystemExit(demo(words[1:]))
    _become([command(), *words])


def _become(words: list[str]) -> None:
    try:
        os.execvp(words[0], words)
    except OSError as error:
        raise SystemExit(f"parvum: E-NOCOMMAND: {words[0]}: {error.strerror}; install the package anew") from None


if __name__ == "__main__":
    main()
