"""A language server's `workspace/symbol`: what an editor's "go to symbol" finds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.keywords import keywords
from codebench.protocols import templates
from codebench.protocols.output import ToolError, choice
from codebench.protocols.places import Places
from codebench.protocols.rpc import LanguageServer
from codebench.protocols.settings import Settings
from codebench.reading import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus


class Lsp(Retriever):
    """Workspace symbols of a language server.

    Servers match names, so by default each word of the question is asked for by itself. A symbol
    ranks by how many words found it; then names that are one of the words; then by path, line
    and name: the order in which a server lists symbols varies between runs. Symbols outside of
    the corpus (a standard library's) are left out.
    """

    def __init__(self, **options: Any) -> None:
        settings = Settings(options)
        fields = settings.fields
        self.argv = settings.argv("argv")
        if templates.asks(self.argv):
            fields.fault("argv", "cannot hold the question: a language server stays")
        self.environment = templates.environment_values(fields, "environment")
        self.initialization = fields.take("initialization", None)
        self.ask = choice(fields, "ask", "words", ("words", "whole"))
        self.open = fields.text("open", "")
        self.settle = fields.number("settle_seconds", 0.0, above=-1)
        settings.finish()
        settings.need(self.argv)
        self.version = settings.version(self.argv)
        self.server: LanguageServer | None = None

    def index(self, corpus: Corpus) -> None:
        self.places = Places(corpus)
        self.corpus = corpus
        self._start()

    def _start(self) -> None:
        self.close()
        given = templates.values("", 0, self.corpus.path)
        argv = [str(item) for item in templates.fill(self.argv, given)]
        environment = templates.fill(self.environment, given)
        self.server = LanguageServer(argv, self.corpus.path, environment, self.initialization)
        if self.open:
            self._open(self.corpus)
        time.sleep(max(0.0, self.settle))
        self._symbols("a")  # the first question makes some servers read everything

    def search(self, text: str, k: int) -> Sequence[Hit]:
        if self.server is not None and not self.server.alive:
            self._start()
        whole = templates.values(text, k, self.corpus.path)["query"]
        words = keywords(text) if self.ask == "words" else [whole]
        found: dict[tuple[str, int, int, str], int] = {}
        for word in words:
            for place in self._symbols(word):
                found[place] = found.get(place, 0) + 1
        known = set(words)

        def rank(place: tuple[str, int, int, str]) -> tuple[Any, ...]:
            return -found[place], place[3].lower() not in known, *place

        return [
            Hit(path, start, end or None, name, float(found[path, start, end, name]))
            for path, start, end, name in sorted(found, key=rank)[:k]
        ]

    def _symbols(self, word: str) -> set[tuple[str, int, int, str]]:
        """Return the symbols that a word finds, as (path, first line, last line or 0, name)."""
        if self.server is None:
            raise ToolError("it was not indexed")
        listed = self.server.ask("workspace/symbol", {"query": word})
        if not isinstance(listed, list | None):
            raise ToolError(f"workspace/symbol: {shown(listed)} is no list")
        symbols = [_symbol(one) for one in listed or ()]
        paths = self.places.settle(uri for uri, *_ in symbols)
        return {
            (paths[uri], start, end, name)
            for uri, start, end, name in symbols
            if not paths[uri].startswith(("/", ".."))
        }

    def _open(self, corpus: Corpus) -> None:
        """Open the first file that fits the pattern: some servers wake up only then."""
        from fnmatch import fnmatch  # noqa: PLC0415  # few servers want it

        for table in corpus.tables:
            if self.server and fnmatch(table.path, self.open):
                document = {
                    "uri": (corpus.path / table.path).resolve().as_uri(),
                    "languageId": table.language,
                    "version": 1,
                    "text": "".join(corpus.lines(table.path)),
                }
                self.server.tell("textDocument/didOpen", {"textDocument": document})
                return
        raise ToolError(f"no file of the corpus fits the pattern {self.open}")

    def close(self) -> None:
        if self.server is not None:
            self.server.end()
            self.server = None


def _symbol(one: Any) -> tuple[str, int, int, str]:
    """Return a symbol as (URI, first line, last line or 0, qualified name).

    Lines count from 0 in the protocol, and a range that ends at the start of a line does not
    hold that line. A range within one line may be that of the name alone: the last line is then
    left open, and the name says what is meant.
    """
    try:
        name, location = str(one["name"]), one["location"]
        scope = one.get("containerName")
        uri, span = "" + location["uri"], location.get("range")
        qualified = f"{scope}.{name}" if isinstance(scope, str) and _is_name(scope) else name
        if span is None:
            return uri, 1, 0, qualified
        first, last = int(span["start"]["line"]), int(span["end"]["line"])
        last -= last > first and int(span["end"]["character"]) == 0
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ToolError(f"workspace/symbol: {shown(one)} is no symbol") from None
    return uri, first + 1, last + 1 if last > first else 0, qualified


def _is_name(scope: str) -> bool:
    """Whether a container is a class rather than a module's path or a phrase."""
    return scope.replace(".", "").replace("_", "").isalnum() and scope[:1].isupper()
