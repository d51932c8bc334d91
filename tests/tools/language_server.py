"""A language server for tests: it asks questions of its own, and lists symbols in odd orders.

`python language_server.py MANNER LOG`: every question that arrives is written to LOG, as JSON.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

MANNER, LOG = sys.argv[1], Path(sys.argv[2])
pipe = sys.stdin.buffer
root = ""


def send(message: dict[str, Any]) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    head = f"Content-Type: application/vscode-jsonrpc\r\nContent-Length: {len(data)}\r\n\r\n"
    sys.stdout.buffer.write(head.encode() + data)
    sys.stdout.buffer.flush()


def receive() -> dict[str, Any]:
    length = 0
    while line := pipe.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return dict(json.loads(pipe.read(length))) if length else sys.exit(0)


def symbol(path: str, name: str, first: int, last: int, **more: Any) -> dict[str, Any]:
    span = {"start": {"line": first, "character": 4}, "end": {"line": last, "character": 9}}
    uri = path if path.startswith("file:") else f"{root}/{path}"
    return {"name": name, "kind": 12, "location": {"uri": uri, "range": span}, **more}


def symbols(query: str) -> Any:
    every = [
        symbol("api/auth.py", "issue_token", 13, 16),
        symbol("api/auth.py", "check_token", 19, 30),
        symbol("api/auth.py", "token", 2, 2),
        symbol("api/server.py", "handle", 9, 9, containerName="Server"),
        symbol("file:///usr/lib/python3/token.py", "token", 5, 6),
    ]
    found = [one for one in every if query in one["name"] or query in one.get("containerName", "")]
    random.shuffle(found)
    return found if MANNER != "odd" else {"not": "a list"}


while True:
    message = receive()
    method, params = message.get("method", ""), dict(message.get("params") or {})
    if method == "initialize":
        root = message["params"]["rootUri"]
        send({"id": message["id"], "result": {"capabilities": {}}})
    elif method == "initialized":
        send({"method": "window/logMessage", "params": {"message": "hello"}})
        send({"id": "s1", "method": "workspace/configuration", "params": {"items": [{}, {}]}})
        send({"id": 1, "method": "client/registerCapability", "params": {}})
        send({"id": 2, "method": "odd/thing", "params": {}})
    elif method in {"workspace/symbol", "textDocument/didOpen"}:
        with LOG.open("a") as file:
            file.write(json.dumps([method, params]) + "\n")
        if method == "textDocument/didOpen":
            continue
        if MANNER == "dies" and params["query"] == "token":
            sys.exit(5)
        if MANNER == "fails" and params["query"] == "token":
            send({"id": message["id"], "error": {"code": -1, "message": "not\nready"}})
        else:
            send({"id": message["id"], "result": symbols(params["query"])})
    elif method == "shutdown":
        send({"id": message["id"], "result": None})
    elif method == "exit":
        sys.exit(0)
    elif "id" in message and not method:
        with LOG.open("a") as file:
            file.write(json.dumps(["reply", message]) + "\n")
