"""universal-ctags: an index of symbols, searched by the words of their names."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.keywords import STOP_WORDS, split_identifier, tokens
from codebench.kit.programs import missing_program, run_program, version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

OPTIONS = (
    "--options=NONE --quiet=yes --output-format=json --fields=+neZ --extras=-F --recurse "
    "--links=no --sort=no -f -"
).split()


class Ctags(Retriever):
    """Symbols whose names share rare words with the question; the scope's words count half."""

    def __init__(self) -> None:
        self.version = version_of("ctags", "--version")
        self.symbols: list[Hit] = []
        self.holders: dict[str, list[tuple[int, float]]] = {}

    @classmethod
    def missing(cls) -> str | None:
        install = "apt install universal-ctags, or brew install universal-ctags"
        absent = missing_program("ctags", install)
        if absent:
            return absent
        if not version_of("ctags", "--version").startswith("Universal Ctags"):
            return f"the program ctags is not Universal Ctags; {install}"
        return None

    def index(self, corpus: Corpus) -> None:
        printed = run_program(["ctags", *OPTIONS, "."], cwd=corpus.path, good=(0,))
        rows = [row for line in printed.splitlines() if (row := _row(line))]
        rows.sort(key=lambda row: (row["path"], row["line"], row["name"]))
        self.symbols = [_hit(row) for row in rows]
        holders: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, row in enumerate(rows):
            scope = set(split_identifier(row.get("scope", "")))
            for word in scope | (own := set(tokens(row["name"]))):
                holders[word].append((number, 1.0 if word in own else 0.5))
        self.holders = dict(holders)

    def search(self, text: str, k: int) -> Sequence[Hit]:
        scores: Counter[int] = Counter()
        for word in dict.fromkeys(tokens(text)):
            held = () if word in STOP_WORDS else self.holders.get(word, ())
            for number, weight in held:
                scores[number] += weight * math.log(1 + len(self.symbols) / len(held))  # type: ignore[assignment]  # it counts weights
        best = sorted(scores, key=lambda number: (-scores[number], number))[:k]
        return [_scored(self.symbols[number], scores[number]) for number in best]

    def index_bytes(self) -> int | None:
        return None if self.symbols else 0


def _row(line: bytes) -> dict[str, Any] | None:
    row = json.loads(line.decode("utf-8", "replace"))
    good = row.get("_type") == "tag" and row.get("line", 0) >= 1
    return row if good else None


def _hit(row: dict[str, Any]) -> Hit:
    start = row["line"]
    return Hit(
        row["path"].removeprefix("./"), start, max(start, row.get("end", start)), row["name"]
    )


def _scored(hit: Hit, score: float) -> Hit:
    return Hit(hit.path, hit.start_line, hit.end_line, hit.symbol, float(score))
