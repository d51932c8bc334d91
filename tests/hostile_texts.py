"""A run whose every text tries to be something else than text, with its code at hand."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from codebench.corpus.contents import corpus_digest
from codebench.results import MANIFEST, SUITE
from tests import runs

if TYPE_CHECKING:
    from pathlib import Path

TEXT = (
    "<script>window.pwned=1</script> ]]> --> <!-- </title></style></script> "
    "<img src=x onerror=window.pwned=2> javascript:alert(1) \x1b[31mred\x07 \u202eabc\u200f "
    "\u2028 &amp; '\"` | **b** [x](javascript:y) {{x}} ${x}"
)
NAME = '"><script>window.pwned=3</script>\u202e'
CODE = "</script><script>window.pwned=4</script> \x1b]0;title\x07 <!-- ]]>"


def hostile_run(results: Path) -> Path:
    """Write the run and return its folder."""
    text = "".join(f"{CODE} line {number}\n" for number in range(1, 21))
    files = {f"f{at:02}.py": text for at in range(12)}
    digests = {path: hashlib.sha256(own.encode()).hexdigest() for path, own in files.items()}
    plain = runs.suite()
    queries = tuple(
        replace(
            query,
            text=TEXT,
            tags={**query.tags, "tag": "</script><script>window.pwned=5</script>"},
        )
        for query in plain.queries
    )
    name = "s</title><script>window.pwned=6</script>"
    safe = replace(plain, name="safe", corpus_digest=corpus_digest(digests), queries=queries)
    rows = {
        "random": runs.Row("-" * 12, floor=True),
        NAME: runs.Row("slf-sxt.slf-", ms=3),
        "javascript:alert(1)": runs.Row("s" * 12, ms=80),
    }
    path = runs.made_run(results, rows, asked=safe)
    folder = path / SUITE / "corpus"
    folder.mkdir()
    for file, own in files.items():
        (folder / file).write_text(own, "utf-8")
    yaml = path / SUITE / "suite.yaml"
    renamed = yaml.read_text("utf-8").replace("name: safe", f"name: {json.dumps(name)}")
    yaml.write_text(renamed, "utf-8")
    manifest = json.loads((path / MANIFEST).read_text("utf-8"))
    manifest["machine"] = {"cpu": TEXT}
    (path / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    return path
