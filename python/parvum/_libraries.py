"""Loads Parvum's other libraries, for the modules of this package that call them."""

from __future__ import annotations

import ctypes
from pathlib import Path

from .errors import MachineGone


def load(name: str) -> ctypes.CDLL:
    """The library with this name, from this package or from the loader's search path."""
    own = Path(__file__).parent / "lib" / name
    try:
        return ctypes.CDLL(str(own) if own.exists() else name)
    except OSError as error:
        raise MachineGone(f"{name} cannot be loaded ({error})", remedy="install the package anew") from None
