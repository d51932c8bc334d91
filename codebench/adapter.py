"""What an adapter file implements; finding one and loading it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import traceback
from abc import ABC, abstractmethod
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from codebench.errors import AdapterError, InputError
from codebench.home import builtin
from codebench.options import fitting
from codebench.reading import near, plain_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.metadata import EntryPoints

    from codebench.model import Corpus, Hit

ENTRY_POINTS = "codebench.adapters"
"""The group under which an installed package names its adapters."""


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


@dataclass(frozen=True, slots=True)
class Source:
    """Where an adapter's class is.

    Attributes:
        file: the Python file, absolute; None for an installed entry point.
        attribute: the class's name; empty for a file's only retriever.
        entry: the entry point's name, or empty.
    """

    file: Path | None
    attribute: str = ""
    entry: str = ""


_IN_FILE = re.compile(
    r"(?P<reference>(?P<file>.+?\.py)(?::(?P<name>[^\W\d]\w*))?)(?::(?P<options>.*))?", re.DOTALL
)
_LONGEST = 4000
_LONGEST_TOLD = 300
"""Characters of an exception with its place: what `plain_line` leaves of it on its way."""

_PART = re.compile(r"""(?:'[^']*'|"[^"]*"|\[[^\]]*\]|[^,])+""")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


def parse_reference(text: str) -> tuple[str, dict[str, Any]]:
    """Split `bm25:k1=1.2,b=0.75` into a reference and its options.

    The reference is a built-in name, an entry point's name, or `file.py[:Class]`. An option's
    value is a whole number, a number, `true` or `false`, text, or a list of these in brackets
    (`k1=[0.9,1.2]`); quotes keep it text (`tag='7'`) and let it hold a comma.

    Raises:
        AdapterError: an option is not `name=value`, or is given twice.
    """
    if len(text) > _LONGEST:
        raise AdapterError(f"{text[:60]!r}... is no reference: it has {len(text)} characters")
    match = _IN_FILE.fullmatch(text)
    if match:
        reference, tail = match["reference"], match["options"]
    else:
        reference, _, tail = text.partition(":")
    if not reference.strip():
        raise AdapterError(f"{text!r} names no retriever")
    options: dict[str, Any] = {}
    for part in _PART.findall(tail or ""):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            hint = _no_option(reference, part)
            raise AdapterError(
                f"{plain_line(text)}: {part!r} is not an option; write name=value{hint}"
            )
        if name in options:
            raise AdapterError(f"{plain_line(text)}: the option {name!r} is given twice")
        options[name] = _value(value.strip())
    return reference.strip(), options


def _no_option(reference: str, part: str) -> str:
    """Return what a part that is no option was probably meant to be."""
    if part.startswith(":"):
        return f"; the class follows one colon, as {reference}{part}"
    if part.strip() in builtin_names():
        return f"; another retriever is another -r, as -r {reference} -r {part.strip()}"
    return "; several values are a list, as k1=[0.9,1.2]" if _NUMBER.fullmatch(part) else ""


def _value(text: str) -> Any:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1]
    if text.startswith("[") and text.endswith("]"):
        return [_value(part.strip()) for part in _PART.findall(text[1:-1])]
    if text in {"true", "false"}:
        return text == "true"
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    return text


def builtin_names() -> list[str]:
    """Return the names of the built-in adapters, sorted."""
    return sorted(file.stem.replace("_", "-") for file in builtin("adapters").glob("[a-z]*.py"))


def find(reference: str, folder: Path | None = None) -> Source:
    """Find a reference without running any of its code.

    Args:
        reference: a built-in name, an entry point's name, or `file.py[:Class]`.
        folder: what a relative file is relative to; the current directory by default.

    Raises:
        AdapterError: there is no such file, built-in adapter or entry point.
    """
    match = _IN_FILE.fullmatch(reference)
    if match:
        file = ((folder or Path.cwd()) / Path(match["file"]).expanduser()).absolute()
        if not file.is_file():
            hint = _near_file(file)
            raise AdapterError(f"{reference}: there is no file {match['file']!r}{hint}")
        return Source(file, match["name"] or "")
    known = builtin_names()
    if reference in known:
        return Source(builtin("adapters") / f"{reference.replace('-', '_')}.py")
    installed = _entry_points().names
    if reference in installed:
        return Source(None, entry=reference)
    meant = meant_file(reference, folder or Path.cwd())
    if meant:
        raise AdapterError(f"{reference!r} is no retriever; did you mean {meant}?")
    names = {*known, *installed}
    several = [part.strip() for part in reference.split(",")]
    if len(several) > 1 and names.issuperset(several):
        calls = " ".join(f"-r {name}" for name in several)
        raise AdapterError(f"{reference!r} is several retrievers; -r may be repeated: {calls}")
    hint = near(reference.lower(), names)
    raise AdapterError(
        f"{reference!r} is no retriever; {hint} (a file of your own is file.py:Class)"
    )


def meant_file(text: str, folder: Path) -> str:
    """Return `mine.py:Mine` for `mine:Mine` where that file is there; else nothing.

    A module's name is understood too: `tools.mine:Mine` is `tools/mine.py:Mine`.
    """
    head, colon, tail = text.partition(":")
    for stem in (head, head.replace(".", "/")):
        if re.fullmatch(r"[\w./-]{1,200}", stem) and (folder / f"{stem}.py").is_file():
            return f"{stem}.py{colon}{tail}"
    return ""


def _near_file(file: Path) -> str:
    """Return `; did you mean mine.py?` for `mien.py` where that one lies in the folder."""
    close = get_close_matches(file.stem, sorted(one.stem for one in file.parent.glob("*.py")), 1)
    return f"; did you mean {close[0]}.py?" if close else ""


def _entry_points() -> EntryPoints:
    from importlib.metadata import entry_points  # noqa: PLC0415  # reads every installed package

    return entry_points(group=ENTRY_POINTS)


def load(reference: str, folder: Path | None = None) -> type[Retriever]:
    """Import an adapter and return its class. This runs the file's code.

    Raises:
        AdapterError: it cannot be found, raises when it is imported, or holds no such class.
    """
    source = find(reference, folder)
    if source.file is None:
        loaded = _load_entry(source.entry)
        if not _is_retriever(loaded):
            raise AdapterError(f"{reference}: the entry point is not a subclass of Retriever")
        return loaded
    names = _names_of(source.file)
    if source.attribute:
        found = names.get(source.attribute)
        if found is None:
            hint = near(source.attribute, (n for n, value in names.items() if _is_retriever(value)))
            raise AdapterError(f"{source.file}: there is no {source.attribute!r}; {hint}")
        if not _is_retriever(found):
            raise AdapterError(f"{source.file}: {source.attribute} is not a subclass of Retriever")
        return found
    own = [
        value
        for value in names.values()
        if _is_retriever(value) and value.__module__ == names["__name__"]
    ]
    if len(own) != 1:
        listed = ", ".join(kind.__name__ for kind in own) or "none"
        raise AdapterError(
            f"{source.file}: wants one subclass of Retriever and has {listed}; "
            f"name one as {source.file.name}:Class"
        )
    return own[0]


def _is_retriever(value: object) -> TypeGuard[type[Retriever]]:
    return isinstance(value, type) and issubclass(value, Retriever) and value is not Retriever


def _load_entry(name: str) -> Any:
    try:
        return _entry_points()[name].load()
    except Exception as error:  # noqa: BLE001  # importing runs others' code
        raise AdapterError(f"{name}: the entry point cannot be loaded: {one_line(error)}") from None


def _names_of(file: Path) -> Mapping[str, Any]:
    """Run a file as a module; nothing is written beside it."""
    from importlib.util import module_from_spec, spec_from_file_location  # noqa: PLC0415

    name = f"codebench_adapter_{file.stem}_{hashlib.sha256(bytes(file)).hexdigest()[:8]}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise AdapterError(f"{file}: is not a Python file")
    module = module_from_spec(spec)
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.modules[name] = module  # dataclasses look their module up here
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # importing runs others' code
        del sys.modules[name]
        place = _line_in(file, error)
        raise AdapterError(f"{place}: raises when it is imported: {one_line(error)}") from None
    finally:
        sys.dont_write_bytecode = before
    return vars(module)


def _line_in(file: Path, error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f"{file}:{lines[-1]}" if lines else str(file)


def one_line(error: BaseException) -> str:
    """Return an exception as one line of at most 300 characters: its type and message."""
    try:
        message = str(error).strip()
    except Exception:  # noqa: BLE001  # an adapter's exception may do anything
        message = ""
    name = type(error).__name__
    return plain_line(f"{name}: {message}" if message else name)


def told(error: BaseException, file: str) -> str:
    """Return an exception as `one_line` does, and where it left an adapter's file.

    `KeyError: 'boom' at mine.py:42 in search`: the innermost call that lies in the file; the
    message is cut before the place is. An exception of codebench's own says all itself.

    Args:
        error: what was raised.
        file: the adapter's file, as `file_of` tells it.
    """
    line = one_line(error)
    place = "" if str(type(error).__module__).startswith("codebench.") else _place(error, file)
    room = _LONGEST_TOLD - len(place)
    return (line if len(line) <= room else line[: room - 3] + "...") + place


def _place(error: BaseException, file: str) -> str:
    found = ""
    trace = vars(BaseException)["__traceback__"].__get__(error)  # no subclass may mend it
    while trace is not None:
        code = trace.tb_frame.f_code
        if file and code.co_filename == file:
            name, where = os.path.basename(file)[-60:], code.co_name[:40]  # noqa: PTH119
            found = plain_line(f"at {name}:{trace.tb_lineno} in {where}")
        trace = trace.tb_next
    return f" {found}" if found else ""


def file_of(kind: type[Retriever]) -> str:
    """Return the file that a retriever's class stands in; empty where none is known."""
    return getattr(sys.modules.get(kind.__module__), "__file__", None) or ""


def make(kind: type[Retriever], options: Mapping[str, Any]) -> Retriever:
    """Make a retriever with its options.

    Raises:
        AdapterError: an option is unknown or of another type, or the constructor raises.
        Unavailable: the constructor says that it cannot run here.
    """
    try:
        arguments = fitting(kind, options)
    except ValueError as error:
        raise AdapterError(f"{kind.__name__}: {error}") from None
    try:
        return kind(**arguments)
    except Unavailable:
        raise
    except InputError as faults:  # of options that the adapter checked itself
        raise AdapterError(str(faults)) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  # it is others' code
        given = ", ".join(f"{name}={_brief(value)}" for name, value in sorted(options.items()))
        said = one_line(error) if isinstance(error, ValueError) else told(error, file_of(kind))
        raise AdapterError(f"{kind.__name__}({given}): {said}") from None


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_TOLD else text[: _LONGEST_TOLD - 3] + "..."


def placed(options: Any, folder: Path) -> Any:
    """Return options with `{here}` in their texts replaced by a folder.

    It is the folder of the retrievers file that they stand in, so that such a file can name what
    lies beside it, and options stay the same wherever it lies.
    """
    if isinstance(options, str):
        return options.replace("{here}", str(folder))
    if isinstance(options, dict):
        return {name: placed(value, folder) for name, value in options.items()}
    if isinstance(options, list | tuple):
        return [placed(value, folder) for value in options]
    return options


def file_digest(source: Source, kind: type[Retriever]) -> str:
    """Return `sha256:…` of the file that holds an adapter."""
    file = source.file or Path(file_of(kind))
    return f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
