"""A small client of the Language Server Protocol over stdio: requests, one at a time."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from codebench.protocols.output import ToolError
from codebench.protocols.processes import Conversation
from codebench.reading import plain_line, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MAX_MESSAGE_BYTES = 64_000_000
_MAX_HEADER_BYTES = 10_000
_NO_METHOD = -32601


class LanguageServer:
    """A running language server, initialized for one folder.

    Args:
        argv: its call.
        root: the folder.
        environment: added to this process's own.
        initialization: its `initializationOptions`; None for none.

    Raises:
        ToolError: it cannot be started, or refuses.
    """

    def __init__(
        self,
        argv: Sequence[str],
        root: Path,
        environment: Mapping[str, str],
        initialization: Any = None,
    ) -> None:
        self._talk = Conversation(argv, cwd=root, environment=environment)
        self._number = 0
        uri = root.resolve().as_uri()
        self._folders = [{"uri": uri, "name": root.name}]
        params = {
            "processId": None,
            "rootUri": uri,
            "rootPath": str(root),
            "workspaceFolders": self._folders,
            "capabilities": {
                "workspace": {"symbol": {}, "workspaceFolders": True, "configuration": True}
            },
        }
        if initialization is not None:
            params["initializationOptions"] = initialization
        self.ask("initialize", params)
        self.tell("initialized", {})

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        return self._talk.alive

    def ask(self, method: str, params: Any) -> Any:
        """Return the result of a request; the server's own requests are answered meanwhile.

        Raises:
            ToolError: the server says that it failed, ends, or speaks another protocol.
        """
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message:
                if "id" in message:
                    self._answer(message)
            elif message.get("id") == number:
                if message.get("error") is not None:
                    raise ToolError(f"{method}: {plain_line(shown(message['error']))}")
                return message.get("result")

    def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def end(self) -> None:
        """Shut it down as the protocol wants it, and end it if it does not."""
        try:
            with contextlib.suppress(ToolError):  # it is ended all the same
                if self._talk.alive:
                    self.ask("shutdown", None)
                    self.tell("exit", None)
        finally:
            self._talk.end()

    def _answer(self, request: Mapping[str, Any]) -> None:
        method, params = request["method"], request.get("params")
        reply: dict[str, Any] = {"id": request["id"], "result": None}
        if method == "workspace/configuration":
            items = params.get("items", ()) if isinstance(params, dict) else ()
            reply["result"] = [None] * len(items)
        elif method == "workspace/workspaceFolders":
            reply["result"] = self._folders
        elif method not in {
            "client/registerCapability",
            "client/unregisterCapability",
            "window/workDoneProgress/create",
            "window/showMessageRequest",
        }:
            reply = {"id": request["id"], "error": {"code": _NO_METHOD, "message": method}}
        self._send(reply)

    def _send(self, message: Mapping[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._talk.say(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

    def _receive(self) -> dict[str, Any]:
        length = -1
        while line := self._talk.line(_MAX_HEADER_BYTES).strip():
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
        if not 0 <= length <= MAX_MESSAGE_BYTES:
            raise ToolError(f"{self._talk.name} sends a message of {length} bytes")
        try:
            message = json.loads(self._talk.block(length))
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise ToolError(f"{self._talk.name} sends what is no JSON-RPC message")
        return message
