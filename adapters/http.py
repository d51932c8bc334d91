"""A search service over HTTP."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.protocols import templates
from codebench.protocols.output import ToolError, inner_fields, read_output
from codebench.protocols.places import Places
from codebench.protocols.processes import Conversation
from codebench.protocols.settings import Settings
from codebench.protocols.web import (
    MAX_REPLY_BYTES,
    TIMEOUT_SECONDS,
    Request,
    Service,
    patiently,
    read_headers,
    read_request,
    same_host,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

MORE = ("port",)


class Http(Retriever):
    """An HTTP search service: its request, and where its reply holds what."""

    concurrent = True

    def __init__(self, **options: Any) -> None:
        settings = Settings(options)
        fields = settings.fields
        self.request = read_request(fields, MORE)
        self.prepare: Request | None = None
        if "index" in fields.data:
            inner = inner_fields(fields, "index")
            self.prepare = read_request(inner, MORE)
            inner.finish()
            sample = {"port": "1"}
            if (
                self.prepare.url
                and self.request.url
                and not same_host(
                    templates.fill(self.prepare.url, sample),
                    templates.fill(self.request.url, sample),
                )
            ):
                fields.fault("index.url", "is on another host than url", self.prepare.url)
        self.headers = read_headers(fields)
        self.timeout = fields.number("timeout_seconds", TIMEOUT_SECONDS, above=0)
        self.limit = fields.integer("max_bytes", MAX_REPLY_BYTES, low=1, high=1 << 30)
        self.authority = fields.text("ca_file", "")
        self.server = settings.argv("server", MORE, optional=True)
        self.environment = templates.environment_values(fields, "environment")
        self.output = read_output(fields)
        asked = templates.asks([self.request.url, self.request.body])
        if not asked and not settings.wrong("url", "body"):
            fields.fault("url", "is never told the question", mend="write {query} in url or body")
        settings.finish()
        settings.need(self.server)
        self.version = settings.version(self.server)
        self.service: Service | None = None
        self.process: Conversation | None = None
        self.port = ""

    def index(self, corpus: Corpus) -> None:
        self.root = corpus.path
        self.places = Places(corpus, self.output.root)
        self.close()
        if self.server:
            self._serve()
        url = templates.fill(self.request.url, {"port": self.port})
        self.service = Service(
            url, self.headers, timeout=self.timeout, limit=self.limit, authority=self.authority
        )
        if self.prepare:
            prepared = self.prepare.filled(self._given("", 0))
            patiently(lambda: self._ask(*prepared))

    def search(self, text: str, k: int) -> Sequence[Hit]:
        given = self._given(text, k)
        if templates.is_wordless([self.request.url, self.request.body], given):
            return []
        body = self._ask(*self.request.filled(given)).decode("utf-8", "replace")
        return self.output.hits(self.output.of_text(body), self.places, text, k)

    def _given(self, text: str, k: int) -> dict[str, str]:
        return {**templates.values(text, k, self.root), "port": self.port}

    def _ask(self, method: str, url: str, body: bytes | None, kind: str) -> bytes:
        if self.service is None:
            raise ToolError("it was not indexed")
        return self.service.ask(method, url, body, kind)

    def _serve(self) -> None:
        """Start the service, and wait until it can be reached."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = str(probe.getsockname()[1])
        given = self._given("", 0)
        argv = [str(item) for item in templates.fill(self.server, given)]
        environment = templates.fill(self.environment, given)
        self.process = Conversation(argv, cwd=self.root, environment=environment, listen=False)
        while True:
            try:
                socket.create_connection(("127.0.0.1", int(self.port)), timeout=1).close()
            except OSError:
                if not self.process.alive:
                    raise ToolError(f"{argv[0]} ended before it could be reached") from None
                time.sleep(0.02)
            else:
                return

    def close(self) -> None:
        if self.service is not None:
            self.service.close()
        if self.process is not None:
            self.process.end()
            self.process = None
