"""What the machine does to a verb: streams that fail, signals, folders that are gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import codebench
from codebench.cli import main as front
from codebench.cli.streams import Stream
from codebench.cli.trouble import Ended, ending_cleanly

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is full")


def run_in_shell(script: str, *words: object, **environment: str) -> tuple[int, str]:
    """Run a bash script that calls `"$@"`, and return the exit code and standard error."""
    root = str(Path(codebench.__file__).parent.parent)
    done = subprocess.run(
        ["bash", "-c", script, "bash", sys.executable, "-m", "codebench", *map(str, words)],
        env={**os.environ, "PYTHONPATH": root, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stderr


def test_a_gate_that_fails_fails_though_its_reader_has_gone(tiny_run: Path) -> None:
    limit = ("-r", "bm25", "--limit", "nDCG@10:>=0.999")
    code, err = run_in_shell('set -o pipefail; "$@" | true', "gate", tiny_run, *limit)
    assert (code, err) == (1, "")


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        pytest.param(
            '"$@" >/dev/full',
            2,
            "codebench: standard output: cannot be written (No space left on device)\n",
            marks=needs_full,
            id="full",
        ),
        pytest.param('"$@" >&-', 0, "", id="closed"),
        pytest.param('"$@" <&- >&- 2>&-', 0, "", id="all closed"),
        pytest.param('"$@" >/dev/null 2>/dev/full', 0, "", marks=needs_full, id="errors full"),
    ],
)
def test_a_stream_that_cannot_be_written(script: str, code: int, said: str) -> None:
    assert run_in_shell(script, "list", "measures") == (code, said)


def test_what_a_stream_cannot_write_goes_nowhere() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with Stream(writer, "w") as gone:
        assert gone.write(b"12345") == 5
        assert gone.write(b"123") == 3
        assert gone.failure is None


@needs_full
def test_a_stream_remembers_why_nothing_can_be_written() -> None:
    with Stream(str(FULL), "w") as full:
        assert full.write(b"12345") == 5
        assert full.failure is not None
        assert full.failure.strerror == "No space left on device"


def test_a_stream_that_does_not_wait_is_waited_for(tmp_path: Path) -> None:
    came = tmp_path / "came"
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with Stream(writer, "w") as hasty, came.open("wb") as file:
        data = os.urandom(1_000_000)
        left = memoryview(data)
        with subprocess.Popen(["cat"], stdin=reader, stdout=file):
            os.close(reader)
            while left:
                left = left[hasty.write(left) :]
            hasty.close()
    assert came.read_bytes() == data


@pytest.mark.skipif(sys.platform == "win32", reason="paths are UTF-8 there")
def test_a_locale_without_utf_8_is_left() -> None:
    ascii_only = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code, err = run_in_shell('"$@"', "score", "größe", PYTHONIOENCODING="ascii", **ascii_only)
    assert code == 2
    assert r"gr\xf6\xdfe" in err


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_unwinds_as_ctrl_c_does(name: str) -> None:
    number = getattr(signal, name)
    with pytest.raises(Ended) as raised, ending_cleanly():
        os.kill(os.getpid(), number)
    assert raised.value.number == number
    assert signal.getsignal(number) == signal.SIG_DFL


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending_cleanly():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("stop", "code", "said"),
    [(KeyboardInterrupt(), 130, "interrupted"), (Ended(15), 143, "terminated")],
)
def test_the_exit_code_names_the_signal(
    stop: KeyboardInterrupt,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stopped(arguments: list[str]) -> int:
        raise stop

    monkeypatch.setattr(front, "_dispatch", stopped)
    assert front.main([]) == code
    assert capsys.readouterr().err == f"codebench: {said}\n"


def test_nothing_slow_is_imported_before_an_interrupt_is_caught() -> None:
    code = (
        "import sys; before = set(sys.modules); import codebench.cli.main; "
        "print(*sorted(set(sys.modules) - before))"
    )
    root = str(Path(codebench.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    found = [name for name in done.stdout.split() if not name.startswith("importlib")]
    assert set(found) <= {"__future__", "_warnings", "warnings"} | {
        "codebench",
        "codebench.cli",
        "codebench.cli.main",
    }


def test_a_current_folder_that_is_gone(
    tiny_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert front.main(["gate", str(tiny_run), "--accept"]) == 2
    assert capsys.readouterr().err == "codebench: the current folder is gone; change to another\n"
