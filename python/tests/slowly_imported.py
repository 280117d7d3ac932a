"""A module whose import takes longer than a chunk should run."""

from __future__ import annotations

import time

import tasks

time.sleep(0.3)


def wait_unless(path: str) -> str:
    return tasks.wait_unless(path)
