"""A search tool of a server that speaks the Model Context Protocol, as a coding agent calls it."""

from __future__ import annotations

import contextlib
import os
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.adapter import one_line
from codebench.protocols import templates
from codebench.protocols.output import NOTHING, Found, ToolError, read_output
from codebench.protocols.places import Places
from codebench.protocols.settings import Settings
from codebench.protocols.web import read_headers, read_request
from codebench.reading import parse_json, plain_line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from codebench import Corpus

FAILED = ("error", "failed", "failure", "exception", "traceback", "unable to", "cannot", "invalid")
"""How a text begins that reports a failure without being marked as one."""

_CONNECTION_CLOSED = -32000
_CONNECT_SECONDS = 30.0
_REPLY_SECONDS = 600.0
"""The run's own limits are shorter; this only ends what nobody waits for any more."""


class Mcp(Retriever):
    """A tool of an MCP server, over stdio or streamable HTTP."""

    def __init__(self, **options: Any) -> None:
        settings = Settings(options)
        fields = settings.fields
        self.argv = settings.argv("argv", optional=True)
        self.url = read_request(fields).url if "url" in fields.data else ""
        self.headers = read_headers(fields)
        if bool(self.argv) == bool(self.url) and not settings.wrong("argv", "url"):
            fields.fault(
                "argv", "or url is wanted, one of them", mend="give how to reach the server"
            )
        if templates.asks([self.argv, self.url]):
            fields.fault("argv", "cannot hold the question: the server stays")
        self.environment = templates.environment_values(fields, "environment")
        self.tool = fields.text("tool", empty=False)
        self.arguments = dict(fields.mapping("arguments"))
        templates.check(fields, "arguments", self.arguments)
        if fields.data.get("arguments") and not templates.asks(self.arguments):
            fields.fault("arguments", "never tell the question", mend="write {query} in one")
        self.calls: list[tuple[str, dict[str, Any]]] = []
        for inner in fields.objects("setup", ()):
            call = inner.text("tool", empty=False), dict(inner.mapping("arguments", {}))
            templates.check(inner, "arguments", call[1])
            inner.finish()
            self.calls.append(call)
        self.output = read_output(fields, ("json", "pattern"))
        settings.finish()
        settings.need(self.argv)
        self.version = settings.version(self.argv)
        self.life = contextlib.ExitStack()
        self.portal: Any = None
        self.session: Any = None

    @classmethod
    def missing(cls) -> str | None:
        try:
            installed_version("mcp")
        except PackageNotFoundError:
            return "the package mcp is not installed; pip install 'codebench-harness[mcp]'"
        return None

    def index(self, corpus: Corpus) -> None:
        self.root = corpus.path
        self.places = Places(corpus, self.output.root)
        self._connect()

    def _connect(self) -> None:
        from anyio.from_thread import start_blocking_portal  # noqa: PLC0415  # came with mcp

        self.close()
        self.portal = self.life.enter_context(start_blocking_portal())
        connected = self.portal.wrap_async_context_manager(self._connected())
        self.session = self.life.enter_context(connected)
        given = templates.values("", 0, self.root)
        for tool, arguments in self.calls:
            _refuse_failure(self._call(tool, templates.fill(arguments, given)), tool)

    def search(self, text: str, k: int) -> Sequence[Hit]:
        given = templates.values(text, k, self.root)
        if templates.is_wordless(self.arguments, given):
            return []
        if self.session is None:
            self._connect()
        reply = self._call(self.tool, templates.fill(self.arguments, given))
        return self.output.hits(self._found(reply), self.places, text, k)

    def close(self) -> None:
        life, self.life, self.session = self.life, contextlib.ExitStack(), None
        with contextlib.suppress(Exception):  # a connection that is lost cannot be closed well
            life.close()

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        from mcp import ClientSession  # noqa: PLC0415  # heavy: it belongs to the index's time

        streams_of = self._over_http if self.url else self._over_stdio
        async with streams_of() as streams, ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            yield session

    @contextlib.asynccontextmanager
    async def _over_stdio(self) -> AsyncIterator[Any]:
        from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415

        given = templates.values("", 0, self.root)
        argv = [str(item) for item in templates.fill(self.argv, given)]
        parameters = StdioServerParameters(
            command=argv[0],
            args=argv[1:],
            env={**os.environ, **templates.fill(self.environment, given)},
            cwd=str(self.root),
        )
        async with stdio_client(parameters) as streams:
            yield streams

    @contextlib.asynccontextmanager
    async def _over_http(self) -> AsyncIterator[Any]:
        from mcp.client import streamable_http as transport  # noqa: PLC0415

        # The SDK's own HTTP library, whichever its version uses. Redirects are not followed.
        library: Any = getattr(transport, "httpx", None) or getattr(transport, "httpx2", None)
        timeout = library.Timeout(_CONNECT_SECONDS, read=_REPLY_SECONDS)
        client = library.AsyncClient(headers=self.headers, timeout=timeout, follow_redirects=False)
        async with (
            client,
            transport.streamable_http_client(self.url, http_client=client) as streams,
        ):
            yield streams

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return a tool's result as the protocol has it in JSON."""
        try:
            result = self.portal.call(self.session.call_tool, tool, arguments)
        except Exception as error:  # noqa: BLE001  # any of the SDK's, anyio's and HTTP's
            code = getattr(getattr(error, "error", None), "code", None)
            if code in {None, _CONNECTION_CLOSED}:  # the next question finds a new server
                self.close()
            raise ToolError(f"{tool}: {one_line(error)}") from None
        reply: dict[str, Any] = result.model_dump(by_alias=True, mode="json")
        if reply.get("isError"):
            raise ToolError(f"{tool}: {plain_line(_text(reply)) or 'it failed without a word'}")
        return reply

    def _found(self, reply: dict[str, Any]) -> list[Found]:
        """Return the results of a reply: structured, as JSON in texts, or as prose."""
        if self.output.format == "pattern":
            return self._in_prose(_text(reply))
        structured = _unwrapped(reply.get("structuredContent"))
        if isinstance(structured, dict | list):
            return self.output.of_document(structured)
        try:
            documents = [parse_json(text) for text in _texts(reply) if text.strip()]
        except ValueError:
            return self._in_prose(_text(reply))
        if not documents:
            return []
        return self.output.of_document(documents[0] if len(documents) == 1 else documents)

    def _in_prose(self, text: str) -> list[Found]:
        found = self.output.of_prose(text)
        if not found and text.strip() and (_sounds_failed(text) or not NOTHING.search(text)):
            raise ToolError(f"{self.tool}: no place in its answer: {plain_line(text)[:200]}")
        return found


def _texts(reply: dict[str, Any]) -> list[str]:
    return [
        str(block["text"])
        for block in reply.get("content") or ()
        if isinstance(block, dict) and block.get("type") == "text"
    ]


def _text(reply: dict[str, Any]) -> str:
    return "\n".join(_texts(reply))


def _unwrapped(structured: Any) -> Any:
    """Return what a server's library wrapped as {"result": …}, parsed where it is JSON in text."""
    if isinstance(structured, dict) and set(structured) == {"result"}:
        structured = structured["result"]
    if isinstance(structured, str):
        try:
            return parse_json(structured)
        except ValueError:
            return None
    return structured


def _sounds_failed(text: str) -> bool:
    return text.lstrip(" \t\r\n#*>`'\"[({:✗❌-").lower().startswith(FAILED)


def _refuse_failure(reply: dict[str, Any], tool: str) -> None:
    """Raise where the reply to a set-up call is a failure that is not marked as one."""
    text = _text(reply)
    document = _unwrapped(reply.get("structuredContent")) or _unwrapped(text)
    failed = isinstance(document, dict) and (
        bool(document.get("error")) or document.get("success") is False
    )
    if failed or _sounds_failed(text):
        raise ToolError(f"{tool}: {plain_line(text)}")
