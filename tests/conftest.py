"""What every test shares: a cache of its own, so that no run sees another's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the cache at a folder of the test run."""
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("CODEBENCH_CACHE", str(folder))
    return folder
