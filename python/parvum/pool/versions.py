"""Finds the version of NumPy without loading NumPy, because a waiting worker should load no modules."""

from __future__ import annotations

import os
import sys
from typing import Any


def numpy_here() -> str | None:
    """The version that `import numpy` would load. None if NumPy is missing, or its file names do not show the version."""
    loaded: Any = sys.modules.get("numpy")
    if loaded is not None:
        return getattr(loaded, "__version__", None)
    for place in sys.path:
        try:
            names = os.listdir(place or ".")
        except OSError:
            continue
        if "numpy" in names:
            return _told_by(names)
    return None


def _told_by(names: list[str]) -> str | None:
    """The version of a package, from the names of the files beside it: pip writes `.dist-info`, and Debian `.egg-info`.

    >>> _told_by(["numpy", "numpy-1.26.4.dist-info"]), _told_by(["numpy-1.24.2.egg-info"]), _told_by(["numpy"])
    ('1.26.4', '1.24.2', None)
    """
    for name in names:
        project, _, rest = name.partition("-")
        version, ending = os.path.splitext(rest)
        if project == "numpy" and ending in (".dist-info", ".egg-info"):
            return version.partition("-")[0]
    return None


def alike(one: str, other: str) -> bool:
    """True if two versions of NumPy can read each other's pickles: the first two numbers of the versions are the same.

    >>> alike("1.26.4", "1.26.0"), alike("1.26.4", "2.0.0")
    (True, False)
    """
    return one.split(".")[:2] == other.split(".")[:2]
