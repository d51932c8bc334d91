"""What an adapter file implements."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.model import Corpus, Hit


class Retriever(ABC):
    """A code search tool, wrapped so that codebench can measure it.

    One file, one subclass, two methods, and `close` where something was started:

        class MyTool(Retriever):
            version = "1.0"

            def __init__(self, weight: float = 0.5) -> None: ...
            def index(self, corpus: Corpus) -> None: ...
            def search(self, text: str, k: int) -> Sequence[Hit]: ...

    and `codebench run . -r my_tool.py:MyTool:weight=0.7`.

    - Each retriever lives in a process of its own, with its own copy of the corpus, its own
      home and temporary folder, and an empty current directory. It may write anywhere in
      these, start programs, and print: output is kept for error messages only.
    - The constructor takes options as keyword arguments, with a type and a default each. Keep
      it cheap, and raise ValueError for a value that cannot work: it is also called before
      anything is measured, to find out that the file and its options are right. Where options
      name what is not on this machine, raise `Unavailable`: the retriever is then skipped.
    - `index` is called once, before any search: `corpus.path` is the directory,
      `corpus.tables` and `corpus.chunks()` what is known of its files. Its wall time, CPU
      time and memory are measured; import what is heavy in here.
    - `search` is timed, and called once at a time. It returns at most `k` hits, best first,
      as a list or tuple of `Hit(path, start_line, end_line, symbol, score)`; all but the path
      are optional, lines count from 1 and include both ends. The order is the ranking: scores
      are kept and never sorted by. A path is relative to `corpus.path`, or absolute under it.
      A hit should be narrow: a symbol, or at most 40 lines; a path alone points at the file.
    - Raising in `search` costs that answer, not the run; so does a query that takes longer
      than the limit, or a process that dies. Nothing here ever sees the gold.
    - A service that refuses for a while (HTTP 429) is waited for outside the recorded latency:
      raise `RateLimited`. A service that tells its own time can have it kept beside the
      latency: set `self.server_seconds` in `search`.
    - `close` is called at the end, also where `index` never was; whatever is still running
      after it is killed.
    """

    version: str = ""
    """Of the tool, or of the adapter; part of a run's identity. An instance may set its own."""

    concurrent: bool = False
    """Whether `search` may be called by several threads at once; only `--concurrency` and
    `--rate` do so, and where it is False their calls wait for each other."""

    server_seconds: float | None = None
    """What a service said that the last search took it; None where it says nothing."""

    @classmethod
    def missing(cls) -> str | None:
        """Return why this cannot run here and what installs it, or None where it can."""
        return None

    def beside(self) -> Sequence[str]:
        """Return references of retrievers that the same run is to hold as rows of their own.

        A fusion names its arms, so that a report shows what it adds to each of them.
        """
        return ()

    @abstractmethod
    def index(self, corpus: Corpus) -> None:
        """Make ready to search the corpus."""

    @abstractmethod
    def search(self, text: str, k: int) -> Sequence[Hit]:
        """Return at most k hits for a question, best first."""

    def index_bytes(self) -> int | None:
        """Return the size of the index; None to have what was written to disk counted."""
        return None

    def save(self, folder: Path) -> bool:  # noqa: ARG002  # for those that can
        """Write the index into an empty folder; False where it cannot be kept.

        `--keep-index` then hands the folder to `restore` in later runs over the same corpus,
        with the same adapter file, version and options.
        """
        return False

    def restore(self, corpus: Corpus, folder: Path) -> bool:  # noqa: ARG002  # as `save`
        """Take up what `save` wrote, in place of `index`; False to have the index built."""
        return False

    def update(self, corpus: Corpus, changed_paths: Sequence[str]) -> bool:  # noqa: ARG002
        """Bring the index from the corpus before to this one; False where that is not offered.

        The directory is the same, its files are already the new ones; `changed_paths` are
        those that were added, changed or deleted, sorted.
        """
        return False

    def close(self) -> None:
        """Stop what was started."""
        return


class RateLimited(Exception):  # noqa: N818  # it names an outcome
    """A service asks to be left alone for a while: raise it in `search`.

    The wait is not part of the recorded latency; it is counted, and bounded.

    Args:
        seconds: how long, or the text of a `Retry-After` header (seconds, or a date); None
            where the service does not say, and then each wait is twice the one before.
    """

    def __init__(self, seconds: float | str | None = None) -> None:
        self.seconds = retry_after(seconds) if isinstance(seconds, str) else seconds
        super().__init__(f"rate limited ({seconds})" if seconds is not None else "rate limited")


class Unavailable(Exception):  # noqa: N818  # it names an outcome
    """What is wrapped is not on this machine: raise it in the constructor.

    The retriever is then left out, as with `missing`; the message says what installs it.
    """


def retry_after(header: str, now: float | None = None) -> float | None:
    """Return the seconds that a `Retry-After` header asks for; None where it says nothing.

    Args:
        header: whole seconds, or an HTTP date.
        now: seconds since the epoch; the clock's by default.
    """
    import time  # noqa: PLC0415  # few adapters need dates
    from email.utils import parsedate_to_datetime  # noqa: PLC0415

    with contextlib.suppress(ValueError):
        return max(0.0, float(header))
    try:
        until = parsedate_to_datetime(header).timestamp()
    except (ValueError, TypeError):
        return None
    return max(0.0, until - (time.time() if now is None else now))
