"""A search service over HTTP and an embedding endpoint, for tests: standard library only.

`python service.py PORT CORPUS LOG`: every question that arrives is written to LOG, as JSON.
"""

from __future__ import annotations

import json
import math
import re
import sys
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

PORT, CORPUS, LOG = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
DIMENSIONS = 256
FILES = {
    path.relative_to(CORPUS).as_posix(): path.read_text("utf-8").lower()
    for path in sorted(CORPUS.rglob("*"))
    if path.is_file()
}


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]{3,}", text.lower())


def search(query: str, k: int) -> list[dict[str, Any]]:
    """Rank files by matching words, and name the first line of the first match."""
    asked, found = set(words(query)), []
    for path, text in FILES.items():
        score = sum(word in text for word in asked)
        if score:
            lines = text.split("\n")
            first = next(n for n, line in enumerate(lines) if any(w in line for w in asked))
            found.append((-score, f"/srv/shop/{path}", first))
    return [
        {"score": -score, "at": {"file": path, "from": first}}
        for score, path, first in sorted(found)[:k]
    ]


def embed(text: str) -> list[float]:
    vector = [0.0] * DIMENSIONS
    for word in words(text):
        vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    refusals = 0

    def log_message(self, *_: object) -> None:
        pass

    def note(self, what: str, value: object) -> None:
        with LOG.open("a") as file:
            file.write(json.dumps([what, value]) + "\n")

    def reply(self, data: Any, status: int = 200, **headers: str) -> None:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: value[0] for name, value in parse_qs(parts.query).items()}
        self.note("key", self.headers.get("X-Api-Key"))
        match parts.path:
            case "/search":
                self.note("query", asked.get("q", ""))
                self.reply({"took": 3, "Result": {"Hits": search(asked["q"], int(asked["k"]))}})
            case "/moved":
                self.reply({}, 302, Location=f"/search?{parts.query}")
            case "/away":
                self.reply({}, 302, Location="http://127.0.0.2:9/search")
            case "/round":
                self.reply({}, 302, Location="/round")
            case "/busy":
                self.reply({}, 429, Retry_After="7")
            case "/down":
                self.reply({}, 503, Retry_After="2")
            case "/broken":
                self.reply({"message": "it is\nbroken"}, 500)
            case "/unmarked":
                self.reply({"error": "not indexed yet", "Result": {"Hits": []}})
            case "/huge":
                self.reply(b"[" + b" " * 200_000 + b"]")
            case "/slow":
                self.rfile.read(1)  # it waits for what never comes
            case "/hangup":
                self.close_connection = True
            case _:
                self.reply({}, 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v1/embeddings":
            self.note("batch", len(body["input"]))
            self.note("query", body["input"][0])
            if body["model"] == "busy" and Handler.refusals < 2:
                Handler.refusals += 1
                self.reply({}, 429, Retry_After="0")
            elif body["model"] == "odd":
                self.reply({"data": []})
            else:
                rows = [{"index": n, "embedding": embed(t)} for n, t in enumerate(body["input"])]
                self.reply({"data": rows[::-1]})
        elif self.path == "/index":
            self.note("index", body["path"])
            self.reply({"ok": True})
        else:
            self.note("query", body["query"])
            self.reply({"Result": {"Hits": search(body["query"], body["limit"])}})


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
