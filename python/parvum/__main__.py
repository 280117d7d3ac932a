"""``python -m parvum``: the command ``parvum``, and ``python -m parvum demo``."""

from __future__ import annotations

import os
import sys
from pathlib import Path


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
    program = command()
    try:
        os.execvp(program, [program, *words])
    except OSError as error:
        raise SystemExit(f"parvum: E-NOCOMMAND: {program}: {error.strerror}; install the package anew") from None


if __name__ == "__main__":
    main()
