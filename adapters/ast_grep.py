"""ast-grep: definitions whose names hold words of the question, found by structure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.keywords import keywords
from codebench.kit.programs import missing_program, run_program, version_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench import Corpus

DEFINITIONS: Mapping[str, str] = {
    "Python": "function_definition class_definition",
    "JavaScript": "function_declaration class_declaration method_definition",
    "TypeScript": "function_declaration class_declaration method_definition interface_declaration",
    "Tsx": "function_declaration class_declaration method_definition interface_declaration",
    "Go": "function_declaration method_declaration type_spec",
    "Rust": "function_item struct_item enum_item trait_item",
    "Java": "method_declaration class_declaration interface_declaration enum_declaration",
    "C": "struct_specifier enum_specifier",
    "Cpp": "struct_specifier class_specifier enum_specifier",
    "CSharp": "method_declaration class_declaration interface_declaration struct_declaration",
    "Ruby": "method class module",
    "Php": "function_definition method_declaration class_declaration interface_declaration",
    "Scala": "function_definition class_definition object_definition trait_definition",
}
"""By language, tree-sitter's kinds of nodes that define something and have a field `name`."""

SCAN = ("ast-grep", "scan", "--json=stream")
IGNORES = ("hidden", "dot", "exclude", "global", "parent", "vcs")


class AstGrep(Retriever):
    """One `ast-grep scan` for definitions named by any word; most different words first."""

    def __init__(self) -> None:
        self.version = version_of("ast-grep", "--version")
        self.root = Path()

    @classmethod
    def missing(cls) -> str | None:
        return missing_program("ast-grep", "pip install ast-grep-cli, or npm i -g @ast-grep/cli")

    def index(self, corpus: Corpus) -> None:
        self.root = corpus.path

    def search(self, text: str, k: int) -> Sequence[Hit]:
        words = keywords(text)
        if not words:
            return []
        rules = "\n---\n".join(json.dumps(rule) for rule in _rules(words))
        ignores = [argument for name in IGNORES for argument in ("--no-ignore", name)]
        # Not run inside the corpus: there its sgconfig.yml would count.
        printed = run_program(
            [*SCAN, *ignores, "--inline-rules", rules, "--", str(self.root)],
            cwd=Path.cwd(),
        )
        found = {_hit(json.loads(line), words) for line in printed.splitlines()}
        return sorted(found, key=_rank)[:k]


def _rules(words: Sequence[str]) -> list[dict[str, Any]]:
    name = {"pattern": "$NAME", "regex": f"(?i){'|'.join(map(re.escape, words))}"}
    rules: list[dict[str, Any]] = [
        {
            "id": f"{language}-{kind}",
            "language": language,
            "rule": {"kind": kind, "has": {"field": "name", **name}},
        }
        for language, kinds in DEFINITIONS.items()
        for kind in kinds.split()
    ]
    inner = {"kind": "function_declarator", "stopBy": "end", "has": {"field": "declarator", **name}}
    return rules + [
        {
            "id": f"{language}-function",
            "language": language,
            "rule": {"kind": "function_definition", "has": inner},
        }
        for language in ("C", "Cpp")  # the name of a function is deep inside its declarator
    ]


def _hit(match: dict[str, Any], words: Sequence[str]) -> Hit:
    symbol = match.get("metaVariables", {}).get("single", {}).get("NAME", {}).get("text", "")
    start, end = (match["range"][side]["line"] + 1 for side in ("start", "end"))
    score = sum(word in symbol.lower() for word in words)
    return Hit(match["file"], start, end, symbol or None, float(score))


def _rank(hit: Hit) -> tuple[object, ...]:
    return -(hit.score or 0), len(hit.symbol or ""), hit.path, hit.start_line
