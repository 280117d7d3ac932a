"""TaPS, the task performance suite (https://taps.proxystore.dev), on the virtual machine.

`python -m parvum.taps` takes the options of `python -m taps.run`, and also has the executor `parvum`:

    python -m parvum.taps --app cholesky --app.matrix-size 512 --app.block-size 128 --engine.executor parvum

In a program that uses TaPS, `import parvum.taps` adds the executor to TaPS. Needs the package TaPS, which is not in
PyPI: `python -m pip install git+https://github.com/proxystore/taps`.
"""

# TaPS is not installed if types are checked.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedClassDecorator=false, reportUntypedBaseClass=false, reportUnknownArgumentType=false
from __future__ import annotations

import sys
from typing import Any, Literal, Optional

from parvum.executor import Executor

try:
    from pydantic import Field
    from taps.executor import ExecutorConfig  # type: ignore[import-untyped]
    from taps.executor.utils import FutureDependencyExecutor  # type: ignore[import-untyped]
    from taps.plugins import register  # type: ignore[import-untyped]
except ImportError as why:
    raise ImportError(
        f"parvum.taps needs TaPS: {why}. help: python -m pip install git+https://github.com/proxystore/taps"
    ) from why


# The options are read from the annotations, which must exist while the program runs: no `int | None` in Python 3.10.
@register("executor")
class ParvumConfig(ExecutorConfig):  # type: ignore[misc]
    """The options of the executor: `--engine.executor.workers`, `--engine.executor.hosts`, `--engine.executor.retries`."""

    name: Literal["parvum"] = Field("parvum", description="Executor name.")
    workers: Optional[int] = Field(None, description="Number of workers; none: one for each processor.")
    hosts: Optional[list[str]] = Field(None, description="Hosts of the virtual machine; none: all.")
    retries: Optional[int] = Field(None, description="How often a task runs again if its worker dies.")

    def get_executor(self) -> Any:
        """An executor. If the argument of a task is another task, the executor waits until the other task has ended."""
        return FutureDependencyExecutor(Executor(self.workers, hosts=self.hosts, retries=self.retries))


def main() -> int:
    """`python -m taps.run`, with the executor `parvum`."""
    from taps.run.main import main as run  # type: ignore[import-untyped]

    return int(run() or 0)


if __name__ == "__main__":
    sys.exit(main())
