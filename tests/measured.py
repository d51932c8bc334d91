"""Coverage of the processes that coverage cannot follow by itself.

A worker is killed as soon as it has closed, so that what it ran is saved while it closes. Its
keeper starts without site packages: run as a script, this file begins to measure and becomes the
keeper. See `[tool.coverage.run]` in `pyproject.toml`; a plain test run uses none of this.
"""

from __future__ import annotations

import os
import runpy
import sys

_KEEPER, _ROOTS = "CODEBENCH_MEASURED_KEEPER", "CODEBENCH_MEASURED_ROOTS"

_SAVES = """
import coverage
from codebench.runner.worker import Worker
def close(self, message, own=Worker.close):
    try:
        return own(self, message)
    finally:
        coverage.Coverage.current().save()
Worker.close = close
"""


def follow_workers() -> None:
    """Have the workers that this process starts, and their keepers, measured."""
    from codebench.runner import keeper, process  # not in the keeper

    first, _, serves = process._BOOT.partition(";")
    appended, _, rest = serves.partition(";")
    process._BOOT = f"{first};{appended};exec({_SAVES!r});{rest}"
    os.environ[_KEEPER] = keeper.__file__
    os.environ[_ROOTS] = os.pathsep.join(sys.path)
    keeper.__file__ = __file__


if __name__ == "__main__":
    sys.path += os.environ[_ROOTS].split(os.pathsep)
    import coverage

    coverage.process_startup()
    runpy.run_path(os.environ[_KEEPER], run_name="__main__")
