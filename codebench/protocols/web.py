"""HTTP as a benchmark wants it: one connection kept, bounded, verified, loyal to one host."""

from __future__ import annotations

import contextlib
import http.client
import re
import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urljoin, urlsplit

from codebench.adapter import RateLimited
from codebench.protocols import templates
from codebench.protocols.output import ToolError, as_json
from codebench.reading import plain_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from urllib.parse import SplitResult

    from codebench.reading import Fields

MAX_REPLY_BYTES = 32_000_000
TIMEOUT_SECONDS = 120.0
_MAX_REDIRECTS = 5
_BLOCK_BYTES = 1 << 16
_SECRET_HEADER = re.compile(r"authorization|api-?key|token|secret|cookie|passw", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a service said: its status, its headers with names in lower case, and its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Service:
    """A service at one address.

    Redirects are followed on the same host and port only, and no proxy is used. Connections are
    kept; several threads may ask at once.

    Args:
        url: its address; requests name a path on it, or the whole of it.
        headers: sent with every request.
        timeout: seconds for a whole request.
        limit: the largest body that is taken in.
        authority: a file of certificates to trust in place of the system's.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        timeout: float = TIMEOUT_SECONDS,
        limit: int = MAX_REPLY_BYTES,
        authority: str = "",
    ) -> None:
        self._base = urlsplit(url)
        self._headers = {"Accept": "application/json", "Accept-Encoding": "identity", **headers}
        self._timeout = timeout
        self._limit = limit
        self._tls = (
            ssl.create_default_context(cafile=authority or None)
            if self._base.scheme == "https"
            else None
        )
        self._idle: list[http.client.HTTPConnection] = []

    def ask(self, method: str, url: str, body: bytes | None = None, kind: str = "") -> bytes:
        """Return the body of a reply.

        Args:
            method: GET, POST, …
            url: under the service's address.
            body: what is sent.
            kind: its content type.

        Raises:
            RateLimited: the service wants to be left alone for a while.
            ToolError: it cannot be reached, or says anything but 2xx, or too much.
        """
        deadline = time.monotonic() + self._timeout
        for _ in range(_MAX_REDIRECTS + 1):
            reply = self._request(method, self._target(url), body, kind, deadline)
            if reply.status not in {301, 302, 303, 307, 308}:
                return _good(reply)
            url = urljoin(url, reply.headers.get("location", ""))
            if not same_host(url, self._base.geturl()):
                raise ToolError(f"it redirects to another host: {plain_line(url)[:100]}")
            if reply.status in {301, 302, 303}:
                method, body, kind = "GET", None, ""
        raise ToolError(f"it redirects more than {_MAX_REDIRECTS} times")

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            self._idle.pop().close()

    def _target(self, url: str) -> str:
        parts = urlsplit(url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def _request(
        self, method: str, target: str, body: bytes | None, kind: str, deadline: float
    ) -> Reply:
        headers = self._headers | ({"Content-Type": kind} if kind else {})
        while True:
            used, connection = self._connection()
            try:
                connection.request(method, target, body=body, headers=headers)
                reply = self._reply(connection, deadline)
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
                connection.close()
                if not used:  # a kept connection may have been closed by the other side
                    raise ToolError(f"{self._base.netloc} hangs up: {error}") from None
            except TimeoutError:
                connection.close()
                raise ToolError(f"no answer within {self._timeout:g} s") from None
            except (OSError, http.client.HTTPException, ValueError) as error:
                connection.close()
                why = plain_line(f"{type(error).__name__}: {error}")
                raise ToolError(f"{self._base.netloc} cannot be asked: {why}") from None
            except BaseException:
                connection.close()
                raise
            else:
                self._idle.append(connection)
                return reply

    def _connection(self) -> tuple[bool, http.client.HTTPConnection]:
        """Return whether a connection was used before, and the connection."""
        with contextlib.suppress(IndexError):
            return True, self._idle.pop()
        host, port = self._base.hostname or "", self._base.port
        if self._tls:
            secure = http.client.HTTPSConnection
            return False, secure(host, port, timeout=self._timeout, context=self._tls)
        return False, http.client.HTTPConnection(host, port, timeout=self._timeout)

    def _reply(self, connection: http.client.HTTPConnection, deadline: float) -> Reply:
        response = connection.getresponse()
        body = bytearray()
        while block := response.read1(_BLOCK_BYTES):
            body += block
            if len(body) > self._limit:
                raise ToolError(f"it replies with more than {self._limit} bytes")
            if time.monotonic() > deadline:
                raise TimeoutError
        response.read()  # it marks the reply as read, which `read1` does not
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, headers, bytes(body))


def _good(reply: Reply) -> bytes:
    if 200 <= reply.status < 300:
        return reply.body
    wait = reply.headers.get("retry-after")
    if reply.status == 429 or (reply.status == 503 and wait):
        raise RateLimited(wait)
    said = plain_line(reply.body[:2000].decode("utf-8", "replace"))
    raise ToolError(f"HTTP status {reply.status}: {said[:200]}")


def same_host(one: str, other: str) -> bool:
    """Return whether two addresses have the same scheme, host and port."""
    return _host(urlsplit(one)) == _host(urlsplit(other))


def _host(parts: SplitResult) -> tuple[str, str | None, int | None]:
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, parts.hostname, port


@dataclass(frozen=True, slots=True)
class Request:
    """A request with placeholders.

    Attributes:
        method: GET, POST, …
        url: placeholders in it are percent-encoded when they are filled.
        body: a text, or a mapping or list that is sent as JSON; None for nothing.
        kind: the body's content type.
    """

    method: str
    url: str
    body: Any
    kind: str

    def filled(self, given: Mapping[str, str]) -> tuple[str, str, bytes | None, str]:
        """Return method, URL, body and content type for one question."""
        url = templates.fill(self.url, given, lambda text: quote(text, safe=""))
        body = templates.fill(self.body, given)
        if body is None:
            return self.method, str(url), None, ""
        data = body if isinstance(body, str) else as_json(body)
        return self.method, str(url), data.encode(), self.kind


def read_request(fields: Fields, more: tuple[str, ...] = ()) -> Request:
    """Read `url`, `method`, `body` and `content_type`."""
    url = fields.text("url", empty=False)
    _check_url(fields, url, more)
    body = fields.take("body", None)
    templates.check(fields, "body", body, more)
    method = fields.text("method", "GET" if body is None else "POST")
    if not re.fullmatch(r"[A-Z]{3,10}", method):
        fields.fault("method", "is no method such as GET or POST", method)
    usual = "text/plain; charset=utf-8" if isinstance(body, str) else "application/json"
    return Request(method, url, body, fields.text("content_type", usual))


def _check_url(fields: Fields, url: str, more: tuple[str, ...]) -> None:
    if not url:
        return
    templates.check(fields, "url", url, more)
    plain = templates.fill(url, dict.fromkeys(more, "1"))
    try:
        parts = urlsplit(plain)
        fine = plain.startswith(("http://", "https://")) and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        fine = False
    if not fine:
        fields.fault("url", "is no http:// or https:// address", url)
    elif parts.username is not None:
        fields.fault("url", "holds a user's name", mend="send it in headers, from ${NAME}")
    elif templates.placeholders(parts.netloc):
        fields.fault("url", "has a placeholder in its host", parts.netloc)
    elif any(not 32 < ord(char) < 127 for char in plain):
        fields.fault("url", "holds what no address can", url, "percent-encode it")


def read_headers(fields: Fields) -> dict[str, str]:
    """Read `headers`; a secret one must come from the environment."""
    for name, text in fields.mapping("headers", {}).items():
        place = f"headers.{name}"
        if not _HEADER_NAME.fullmatch(name):
            fields.fault(place, "is no header's name")
        if _SECRET_HEADER.search(name) and isinstance(text, str) and "${" not in text:
            fields.fault(place, "is written out", mend="write ${NAME} and export that variable")
    found = templates.environment_values(fields, "headers")
    for name, text in found.items():
        if not text.isprintable() or not text.isascii():
            fields.fault(f"headers.{name}", "holds what no header can")
    return found


def patiently(ask: Callable[[], _T], waits: int = 8) -> _T:
    """Call `ask` until it is not rate limited, waiting as long as it is told, at most a minute.

    Raises:
        RateLimited: it still is after so many waits.
    """
    for turn in range(waits):
        try:
            return ask()
        except RateLimited as refusal:
            wait = 2.0**turn if refusal.seconds is None else refusal.seconds
        time.sleep(min(60.0, wait))
    return ask()
