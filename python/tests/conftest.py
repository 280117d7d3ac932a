"""One machine for the tests of a process; it ends with them."""

from __future__ import annotations

import pytest
import support


@pytest.fixture(scope="session")
def machine() -> object:
    """The tests' own task."""
    return support.vm()
