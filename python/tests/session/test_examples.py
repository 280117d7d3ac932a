"""The examples in the package's own documentation."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import unittest

import support

import parvum

# Their examples define functions and classes in a script, so they stand in examples/python and in the tutorials.
DOCUMENTED_ELSEWHERE = ("parvum.actors.", "parvum.pool.")


class Examples(unittest.TestCase):
    def test_doctests_all_pass(self) -> None:
        support.vm()
        attempted = 0
        for found in pkgutil.walk_packages(parvum.__path__, "parvum."):
            if found.ispkg or found.name in ("parvum.__main__", "parvum._parvum") or found.name.startswith(DOCUMENTED_ELSEWHERE):
                continue
            try:
                module = importlib.import_module(found.name)
            except ImportError as error:
                # What is made for another package needs that package.
                if "parvum" in str(error.name):
                    raise
                continue
            result = doctest.testmod(module)
            self.assertEqual(result.failed, 0, found.name)
            attempted += result.attempted
        self.assertGreater(attempted, 10)


if __name__ == "__main__":
    unittest.main()
