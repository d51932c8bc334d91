"""Suite folders: `suite.yaml` and `queries.jsonl` <-> Suite.

Both are written so that a person can edit them: fields in a fixed order, what equals its
default left out, one query a line. A target's `path` may be left out where its chunk ID begins
with it. Both are read strictly: every fault is reported at once, with its line and field.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from codebench.errors import SuiteError
from codebench.lazy import Lazy
from codebench.model import Query, Related, Suite, Target
from codebench.reading import Faults, Fields, is_file, is_inside, read_objects, read_yaml, repeated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SUITE_FILE = "suite.yaml"
QUERIES_FILE = "queries.jsonl"

_MAX_GRADE = 3
_MAX_DOCUMENT_GRADE = 100
_MAX_COUNT = 10**12


def read_suite(folder: Path, *, known_queries: int | None = None) -> Suite:
    """Read a suite folder.

    Args:
        folder: holds `suite.yaml` and `queries.jsonl`.
        known_queries: how many queries there are, where the folder was read before and has not
            changed since: they are then read when somebody looks at them.

    Raises:
        SuiteError: the folder is not there, or holds no suite.
        InputError: something in its files is wrong; every fault is listed.
    """
    if not is_file(folder / SUITE_FILE):
        raise SuiteError(f"{folder}: is no suite folder; it holds no {SUITE_FILE}")
    faults = Faults(folder / SUITE_FILE)
    fields = read_yaml(folder / SUITE_FILE, faults)
    name = fields.text("name", empty=False)
    repository = fields.text("repository", "")
    snapshot = fields.text("snapshot", "")
    corpus_digest = fields.text("corpus_digest", "")
    recipe = fields.mapping("recipe", {})
    funnel = _funnel(fields)
    fields.finish()
    queries: Sequence[Query]
    if known_queries is not None:
        queries = Lazy(known_queries, lambda: tuple(read_suite(folder).queries))
    else:
        queries_faults = Faults(folder / QUERIES_FILE)
        queries = _read_queries(folder / QUERIES_FILE, queries_faults)
        faults.found += queries_faults.found
    faults.check()
    return Suite(name, repository, snapshot, corpus_digest, queries, recipe, funnel)


def members_of(folder: Path) -> tuple[tuple[str, Path], ...]:
    """Return the members of a suite of several; a plain suite is its own, without a name.

    A `suite.yaml` of several suites has a `name` and `members`, folders relative to it.

    Raises:
        SuiteError: the folder is not there, or holds no suite.
        InputError: something in its files is wrong; every fault is listed.
    """
    if not is_file(folder / SUITE_FILE):
        raise SuiteError(f"{folder}: is no suite folder; it holds no {SUITE_FILE}")
    faults = Faults(folder / SUITE_FILE)
    fields = read_yaml(folder / SUITE_FILE, faults)
    if "members" not in fields.data:
        return (("", folder),)
    fields.text("name", empty=False)
    fields.mapping("recipe", {})
    names = fields.texts("members")
    fields.finish()
    if not names:
        faults.add("names no suite", field="members", mend="list folders beside this file")
    for name in names:
        if not is_inside(folder / name, folder):
            faults.add("lies outside of this folder", field="members", value=name)
        elif not is_file(folder / name / SUITE_FILE):
            faults.add(f"holds no {SUITE_FILE}", field="members", value=name)
    for name in repeated(names):
        faults.add("is listed twice", field="members", value=name)
    faults.check()
    return tuple((name, folder / name) for name in names)


def name_of(folder: Path) -> str:
    """Return the name that a suite, of one or of several, has in its folder.

    Raises:
        InputError: its `suite.yaml` is wrong.
    """
    faults = Faults(folder / SUITE_FILE)
    name = read_yaml(folder / SUITE_FILE, faults).text("name", empty=False)
    faults.check()
    return name


def write_members(name: str, members: Sequence[str], folder: Path) -> None:
    """Write the `suite.yaml` of a suite of several, whose folders are there already."""
    from codebench.plain_yaml import dump_yaml  # noqa: PLC0415  # the parser costs 20 ms

    text = dump_yaml({"name": name, "members": list(members)})
    (folder / SUITE_FILE).write_text(text, "utf-8")


def _funnel(fields: Fields) -> tuple[tuple[str, int], ...]:
    inner = Fields(fields.mapping("funnel", {}), fields.faults, prefix="funnel.")
    return tuple((name, inner.integer(name, low=0, high=_MAX_COUNT)) for name in inner.data)


def _read_queries(path: Path, faults: Faults) -> tuple[Query, ...]:
    queries: dict[str, Query] = {}
    first: dict[str, int | None] = {}
    for fields in read_objects(path, faults):
        query = _query(fields)
        fields.finish()
        if query.id in first:
            fields.fault("id", f"is also the query of line {first[query.id]}", query.id)
        first.setdefault(query.id, fields.line)
        queries[query.id] = query
    if not first and not faults.found:
        faults.add("holds no query")
    return tuple(queries[name] for name in sorted(queries))


def _query(fields: Fields) -> Query:
    name = fields.text("id", empty=False)
    if name != name.strip() or not name.isprintable():
        fields.fault("id", "holds white space around it or a control character", ascii(name)[:60])
    text = fields.text("text", empty=False)
    source = fields.text("source", "question")
    origin = fields.text("origin", "")
    time = fields.text("time", "")
    weight = fields.number("weight", 1.0, above=0)
    tags = Fields(
        fields.mapping("tags", {}), fields.faults, line=fields.line, prefix=f"{fields.prefix}tags."
    )
    targets = tuple(_target(inner) for inner in fields.objects("targets"))
    if not targets and fields.data.get("targets") == []:
        fields.fault("targets", "is empty", mend="a query needs at least one target")
    if len({(target.path, target.chunk) for target in targets}) != len(targets):
        fields.fault("targets", "holds the same target twice")
    return Query(
        id=name,
        text=text,
        targets=targets,
        source=source,
        origin=origin,
        time=time,
        weight=weight,
        tags={tag: tags.text(tag) for tag in tags.data},
        related=tuple(_related(inner) for inner in fields.objects("related", ())),
        not_relevant=fields.texts("not_relevant", ()),
    )


def _target(fields: Fields) -> Target:
    chunk = fields.text("chunk", empty=False)
    path = fields.text("path", chunk.partition("::")[0], empty=False)
    if chunk != path and not chunk.startswith(path + "::"):
        fields.fault("chunk", "is neither the path nor begins with it and ::", chunk)
    document = fields.flag("document", default=False)
    grade = fields.integer("grade", 3, low=1, high=_MAX_DOCUMENT_GRADE if document else _MAX_GRADE)
    target = Target(
        path=path,
        chunk=chunk,
        grade=grade,
        weight=fields.number("weight", 1.0, above=0),
        document=document,
        fingerprint=fields.text("fingerprint", ""),
        masked=fields.text("masked", ""),
    )
    fields.finish()
    return target


def _related(fields: Fields) -> Related:
    related = Related(
        path=fields.text("path", empty=False),
        of=fields.text("of", empty=False),
        score=fields.integer("score", 1, low=0, high=_MAX_COUNT),
        flags=fields.texts("flags", ()),
    )
    fields.finish()
    return related


def write_suite(suite: Suite, folder: Path) -> None:
    """Write a suite folder; the same suite gives the same bytes.

    Raises:
        SuiteError: the folder cannot be written.
    """
    from codebench.plain_yaml import dump_yaml  # noqa: PLC0415  # the parser costs 20 ms

    head: dict[str, Any] = {"name": suite.name}
    optional = {
        "repository": suite.repository,
        "snapshot": suite.snapshot,
        "corpus_digest": suite.corpus_digest,
        "recipe": dict(suite.recipe),
        "funnel": dict(suite.funnel),
    }
    head |= {field: value for field, value in optional.items() if value}
    rows = [_row(query_row(query)) for query in sorted(suite.queries, key=lambda q: q.id)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SUITE_FILE).write_text(dump_yaml(head), encoding="utf-8")
        (folder / QUERIES_FILE).write_text("".join(rows), encoding="utf-8")
    except OSError as error:
        raise SuiteError(f"{folder}: the suite cannot be written ({error.strerror})") from None


def query_row(query: Query) -> dict[str, Any]:
    """Return a query as the JSON object of its line, without what equals its default."""
    row: dict[str, Any] = {"id": query.id, "text": query.text}
    optional = {
        "source": query.source if query.source != "question" else "",
        "origin": query.origin,
        "time": query.time,
        "weight": _short(query.weight) if query.weight != 1 else 0,
        "tags": dict(sorted(query.tags.items())),
        "targets": [_target_row(target) for target in query.targets],
        "related": [_related_row(related) for related in query.related],
        "not_relevant": list(query.not_relevant),
    }
    return row | {field: value for field, value in optional.items() if value}


def _target_row(target: Target) -> dict[str, Any]:
    row: dict[str, Any] = {"chunk": target.chunk}
    optional = {
        "path": target.path if target.path != target.chunk.partition("::")[0] else "",
        "grade": target.grade if target.grade != 3 else 0,
        "weight": _short(target.weight) if target.weight != 1 else 0,
        "document": target.document,
        "fingerprint": target.fingerprint,
        "masked": target.masked,
    }
    return row | {field: value for field, value in optional.items() if value}


def _related_row(related: Related) -> dict[str, Any]:
    row: dict[str, Any] = {"path": related.path, "of": related.of, "score": related.score}
    return row | ({"flags": list(related.flags)} if related.flags else {})


def _short(number: float) -> float:
    return int(number) if number == int(number) else number


def _row(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"


def suite_digest(suite: Suite) -> str:
    """Return `sha256:…` of all that a score depends on.

    That is the corpus digest and of each query its ID, text, weight, targets, related modules
    and places judged not relevant, in whatever order they are listed. A name, a path, a tag,
    a time or a recipe does not change it.
    """
    digest = hashlib.sha256(_row(["codebench suite 1", suite.corpus_digest]).encode())
    for query in sorted(suite.queries, key=lambda q: q.id):
        targets = sorted(
            [t.path, t.chunk, t.grade, float(t.weight), t.document] for t in query.targets
        )
        related = sorted([r.path, r.of, r.score] for r in query.related)
        judged = sorted(set(query.not_relevant))
        row = [query.id, query.text, float(query.weight), targets, related, judged]
        digest.update(_row(row).encode())
    return f"sha256:{digest.hexdigest()}"


def gold_digest(queries: Iterable[Query]) -> str:
    """Return `sha256:…` of the queries' IDs, weights and gold, whatever their order."""
    rows = sorted(
        [
            query.id,
            query.weight,
            sorted([t.chunk, t.grade, t.weight, t.document] for t in query.targets),
            sorted([r.path, r.of, r.score] for r in query.related),
            sorted(query.not_relevant),
        ]
        for query in queries
    )
    return rows_digest(rows)


def rows_digest(rows: Iterable[Any]) -> str:
    """Return `sha256:…` of rows in their order, each as one line of JSON."""
    digest = hashlib.sha256()
    encode = json.JSONEncoder(separators=(",", ":")).encode
    for row in rows:
        digest.update(encode(row).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"


def is_judged(queries: Sequence[Query]) -> bool:
    """Whether places judged not relevant are known: some are, or the gold is plain judgments."""
    return any(query.not_relevant for query in queries) or is_imported(queries)


def is_imported(queries: Iterable[Query]) -> bool:
    """Whether the gold is plain judgments of documents: nothing has a file or module level."""
    return all(target.document for query in queries for target in query.targets)


def rel_of(queries: Iterable[Query]) -> int:
    """Return the level that a measure's name without `rel` means: 1 for plain judgments, else 2."""
    return 1 if is_imported(queries) else 2


def cluster_of(query: Query) -> str:
    """Return the cluster of near duplicates that a query belongs to; its own ID when to none."""
    return query.tags.get("cluster") or query.id


def repository_of(query: Query) -> str:
    """Return the repository that a query is asked of; empty where there is one only."""
    return query.tags.get("repository", "")
