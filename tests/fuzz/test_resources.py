"""Attacks on memory and time end with a line that says why, in a process that has little of both.

One child runs all of them (`attacks.py`); each is a test here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.attacks import ATTACKS, SECONDS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, float]]:
    folder = tmp_path_factory.mktemp("attacks")
    argv = [sys.executable, "-m", "tests.fuzz.attacks", str(folder)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found) == list(ATTACKS)
    return {name: (said, seconds) for name, (said, seconds) in found.items()}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused(name: str, outcomes: dict[str, tuple[str, float]]) -> None:
    said, seconds = outcomes[name]
    assert re.search(ATTACKS[name][1], said, re.DOTALL), said[:1000]
    assert not re.match(r"\w+!", said)
    assert seconds < SECONDS
