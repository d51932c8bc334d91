"""Completion, asked of the real shells as a person asks: by pressing TAB."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from codebench.adapter import builtin_names
from codebench.cli import shells
from codebench.cli.main import VERBS, main
from codebench.cli.suite import ACTIONS
from codebench.cli.tree import whole
from codebench.measures.names import parse

if TYPE_CHECKING:
    from pathlib import Path

SHELLS = ("bash", "zsh", "fish")

ASKED = {
    "codebench ": set(VERBS),
    "codebench suite ": set(ACTIONS),
    "codebench gate --": {"--limits", "--baseline", "--junit"},
    "codebench suite build --re": {"--recipe"},
    "codebench suite export tiny --format ": {"trec", "beir"},
    "codebench list ": {"retrievers", "suites", "measures", "runs"},
    "codebench completion ": set(SHELLS),
    "codebench run ": {"tiny", "stdlib", "places"},
    "codebench run . -r ": {*builtin_names(), "mine.py"},
    "codebench run . -r bm": {"bm25"},
    "codebench run . -m ": {"R(rel=3)@10", "nDCG-exp@10", "Rprec"},
    "codebench run . -r bm25:k1=1.2 -m R(rel=3)@10 --form": {"--format"},
    "codebench run -r bm25:k1=1.2,b=0.75 ": {"tiny", "stdlib", "places"},
    "codebench gate --limits ": {"gate.yaml", "places"},
    "codebench compare ": {"latest", "places"},
    "codebench suite build --recipe ": {"flask"},
    "codebench cache clear ind": {"indexes"},
}
"""What stands in the line when TAB is pressed, and some of what is to be shown."""

TAKEN = {
    "codebench run . -m nDCG-exp@": ["run", ".", "-m", "nDCG-exp@10"],
    "codebench run . -m R\\(rel=3": ["run", ".", "-m", "R(rel=3)@10"],
    "codebench run -r bm25:k1=1.2 -m Rpr": ["run", "-r", "bm25:k1=1.2", "-m", "Rprec"],
    "codebench gate --limits ga": ["gate", "--limits", "gate.yaml"],
}
"""What a command is given when TAB, then return, is pressed: names with @ : = ( stay whole."""

PROMPT = "what-next> "
"""It stands there when the shell reads keys itself, TAB among them."""

START = {
    "bash": ["bash", "--noprofile", "--norc", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}

READ = {
    "bash": "bind 'set show-all-if-ambiguous on' 'set enable-bracketed-paste off' "
    "'set completion-query-items -1' 'set page-completions off'; source {script}",
    "zsh": "autoload -U compinit; compinit -u -D; LISTMAX=10000; bindkey -e; "
    'eval "$(cat {script})"',
}
"""How a person's own settings may be, and the script is read."""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for folder in ("places", "empty"):
        (tmp_path / "here" / folder).mkdir(parents=True)
    for name in ("mine.py", "gate.yaml"):
        (tmp_path / "here" / name).touch()
    return tmp_path / "here"


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def written(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completion", name]) == 0
    script = folder.parent / f"codebench.{name}"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    return script


class Terminal:
    """A shell that believes a person sits before it."""

    def __init__(self, words: list[str], folder: Path) -> None:
        ours, theirs = pty.openpty()
        self._screen = ours
        environment = {**os.environ, "TERM": "dumb", "PS1": PROMPT, "LC_ALL": "C.UTF-8"}
        self._shell = subprocess.Popen(
            words, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
        os.close(theirs)
        self._turns = 0
        self._until(PROMPT)

    def says(self, typed: str) -> str:
        """Type, throw the line away, and return what the screen showed until then."""
        self._turns += 1
        os.write(self._screen, f"{typed}\x15echo turn-$(({self._turns}+1000))\r".encode())
        shown = self._until(f"turn-{self._turns + 1000}")
        if PROMPT not in shown.rpartition("turn-")[2]:
            self._until(PROMPT)
        return shown

    def _until(self, wanted: str) -> str:
        shown, end = "", time.monotonic() + 60
        while wanted not in shown:
            assert time.monotonic() < end, shown
            if select.select([self._screen], [], [], 1)[0]:
                shown += os.read(self._screen, 65536).decode(errors="replace")
        return shown

    def close(self) -> None:
        self._shell.kill()
        self._shell.wait()
        os.close(self._screen)


@pytest.mark.parametrize("name", sorted(START))
def test_a_shell_shows_what_may_follow(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell(name)
    terminal = Terminal(START[name], here)
    try:
        terminal.says(READ[name].format(script=written(name, here, capsys)) + "\r")
        for line, wanted in ASKED.items():
            shown = terminal.says(line.replace("(", "\\(").replace(")", "\\)") + "\t")
            offered = {word.rstrip("/") for word in shown.replace("\\", "").split()}
            assert wanted <= offered, f"{line!r} shows {shown!r}"
        terminal.says("codebench() { printf '[%s]' \"$@\"; }\r")
        for line, given in TAKEN.items():
            assert "".join(f"[{word}]" for word in given) in terminal.says(f"{line}\t\r"), line
    finally:
        terminal.close()


def test_fish_offers_what_may_follow(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """fish is asked by the command that its own TAB runs."""
    program = shell("fish")
    script = written("fish", here, capsys)
    lines = "\n".join(f"complete -C '{line}'; echo ====" for line in ASKED)
    done = subprocess.run(
        [program, "--no-config", "-c", f"source {script}\n{lines}"],
        cwd=here,
        env={**os.environ, "HOME": str(here.parent)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    for (line, wanted), shown in zip(ASKED.items(), done.stdout.split("====\n"), strict=False):
        offered = {row.partition("\t")[0].rstrip("/") for row in shown.splitlines()}
        assert wanted <= offered, f"{line!r} shows {shown!r}"


def test_every_metavar_says_what_its_value_is() -> None:
    """A new argument's metavar is one that is known, or gets its entry in `cli/shells.py`."""
    known = shells.values().keys() | shells.FREE
    taking = [one for one in shells.arguments_of(whole()) if one.nargs != 0 and not one.choices]
    assert {one.metavar for one in taking} <= known
    assert known <= {one.metavar for one in taking}


def test_the_measures_that_are_offered_are_measures() -> None:
    offered = shells.measure_names()
    assert len({parse(name) for name in offered}) == len(offered) > 10


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "invalid choice: 'tcsh' (choose from bash, zsh, fish)" in capsys.readouterr().err
