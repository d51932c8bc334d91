"""An MCP server for tests, written on pipes alone: what it replies is chosen by its argument.

`python mcp_server.py MANNER LOG`: every question that arrives is written to LOG, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

MANNER, LOG = sys.argv[1], Path(sys.argv[2])
ROWS = [{"file": "./api/auth.py", "line": 14}, {"file": "worker/retry.go", "line": 3}]
PROSE = "## Results\n\n1. `api/auth.py:14-17` issue_token\n2. **worker/retry.go:3**\n"


def text(*texts: str, error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": one} for one in texts], "isError": error}


def structured(data: Any) -> dict[str, Any]:
    return {**text(json.dumps(data)), "structuredContent": data}


REPLIES = {
    "structured": structured({"results": ROWS}),
    "wrapped": structured({"result": ROWS}),
    "twice-wrapped": structured({"result": json.dumps({"results": ROWS})}),
    "json": text(json.dumps({"results": ROWS})),
    "blocks": text(*(json.dumps(row) for row in ROWS)),
    "prose": text(PROSE),
    "empty": text("No results found for your query."),
    "silent": text(),
    "marked": text("it broke", error=True),
    "unmarked": text("Error: index not built. No results found."),
    "unmarked-json": text(json.dumps({"error": "index not built"})),
    "unmarked-structured": structured({"success": False, "message": "index not built"}),
    "chatter": text("I am a search tool and I am happy to help."),
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        version = params["protocolVersion"]
        server = {"name": "test", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    if method != "tools/call":
        return {"tools": [{"name": "search", "inputSchema": {"type": "object"}}]}
    with LOG.open("a") as file:
        file.write(json.dumps([params["name"], params["arguments"]]) + "\n")
    if params["name"] == "setup":
        return text("Error: no such folder") if MANNER == "bad-setup" else text("ready")
    if MANNER == "dies":
        os._exit(3)
    if MANNER == "dies-once" and LOG.read_text().count("search") == 1:
        os._exit(3)
    return REPLIES.get(MANNER, REPLIES["json"])


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
