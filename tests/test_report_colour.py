from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from codebench.report.colour import painted
from tests import runs

if TYPE_CHECKING:
    from pathlib import Path

TABLE = """\
retriever        RR@10    p50 ms
-----------  ---------  --------
bm25         *0.5 ±.12         1
other        =0.4 ±.12         2
floors
random        0.1 ±.01         -

* the best, = not shown to be worse"""


def test_colour_changes_no_word_and_no_width() -> None:
    text = painted(TABLE)
    assert "\x1b[1;32m*0.5 ±.12\x1b[0m" in text
    assert "\x1b[32m=0.4 ±.12\x1b[0m" in text
    assert "\x1b[2mrandom        0.1 ±.01         -\x1b[0m" in text
    assert "\n* the best" in text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == TABLE
    row = "one   R@10   worse   0.5"
    assert painted(row) == "one   R@10   \x1b[31mworse\x1b[0m   0.5"


@pytest.mark.parametrize(("words", "coloured"), [({}, True), ({"NO_COLOR": ""}, False)])
def test_only_a_terminal_is_coloured(tmp_path: Path, words: dict[str, str], coloured: bool) -> None:
    run = runs.made_run(tmp_path, {"a": runs.Row("s" * 12), "b": runs.Row("f" * 12)})
    command = [sys.executable, "-m", "codebench", "compare", str(run)]
    environment = {**os.environ, "TERM": "xterm"} | words
    if not words:
        environment.pop("NO_COLOR", None)
    plain = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert "\x1b" not in plain.stdout
    master, slave = pty.openpty()
    done = subprocess.run(command, check=True, stdout=slave, env=environment)
    os.close(slave)
    shown = os.read(master, 1 << 16).decode()
    os.close(master)
    assert done.returncode == 0
    assert ("\x1b[31mworse\x1b[0m" in shown) is coloured
