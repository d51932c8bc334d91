"""What `codebench suite build --from-log` tells."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any

from codebench.reading import counted
from codebench.report.summary import funnel_line
from codebench.report.text import escaped, json_text, lines, queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from codebench.gold.logs.building import BuiltFromLog

_LOCATED = 5


def built_from_log(built: BuiltFromLog, folder: Path, form: str) -> str:
    """Return what was built of a log as `table`, `markdown` or `json`."""
    if form == "json":
        return json_text(_as_data(built, folder))
    markdown = form == "markdown"
    where = built.suite.snapshot[:12]
    count = queries(len(built.suite.queries))
    title = f"{escaped(str(folder), markdown=markdown)}: {count} of {where}"
    blocks = [title, lines(list(_notes(built)), markdown=markdown)]
    if not markdown:
        blocks.append(f"next: codebench suite check {escaped(str(folder), markdown=False)}")
        if any(way.steps for way in built.navigation.values()):
            blocks.append(f"      codebench replay {escaped(str(folder), markdown=False)} -r bm25")
    return ("\n\n" if markdown else "\n").join(blocks)


def _notes(built: BuiltFromLog) -> Iterator[str]:
    tasks = ", ".join(f"{count} of source {name}" for name, count in sorted(built.tasks.items()))
    yield (
        f"read: {counted(built.records, 'record')} of {counted(built.files, 'file')} "
        f"({built.form}); tasks: {tasks or 'none'}; users: {built.users}"
    )
    yield funnel_line(built.suite.funnel)
    for field in ("source", "stratum", "leak"):
        yield f"{field}: {_by(Counter(query.tags[field] for query in built.suite.queries))}"
    yield from _bias(built)
    yield from _way(built)
    yield f"redacted: {_by(built.redacted)}; users are hashed with a salt that is not kept"
    yield from _lost(built)


def _bias(built: BuiltFromLog) -> Iterator[str]:
    if built.corrections:
        yield f"position bias: {_by(built.corrections)} (queries)"
    for name, (clicks, size) in sorted(built.effective.items()):
        if clicks:
            yield f"effective sample size, {name}: {size:.1f} of {clicks} clicks in lists"
    if "harvested" in built.corrections:
        yield f"propensities: harvested from {built.pairs} results seen at two ranks"
    if built.retrievers:
        yield f"impressions by: {_by(built.retrievers)} (queries)"


def _way(built: BuiltFromLog) -> Iterator[str]:
    ways = [one for one in built.navigation.values() if one.reached]
    if built.navigation:
        yield f"a target was on screen in {len(ways)} of {len(built.navigation)} trajectories"
    if ways:
        yield (
            f"until then, median: {median(one.searches for one in ways):g} searches, "
            f"{median(one.files for one in ways):g} files, "
            f"{median(one.tokens for one in ways):g} tokens"
        )


def _lost(built: BuiltFromLog) -> Iterator[str]:
    counts = {
        "records of another repository": built.other_repositories,
        "commits that the repository does not have": built.unknown_commits,
        "places that the snapshot does not have": built.lost,
        "edits that did not fit their commit": built.unfit,
    }
    for what, count in counts.items():
        if count:
            yield f"passed over: {count} {what}"
    if built.skipped.ignored:
        yield f"of no use here: {_by(built.skipped.ignored)}"
    if built.skipped.lines:
        yield f"warning: {counted(built.skipped.lines, 'line')} could not be read:"
        yield from (f"  {one}" for one in built.skipped.located[:_LOCATED])
        more = built.skipped.lines - _LOCATED
        if more > 0:
            yield f"  and {more} more"


def _as_data(built: BuiltFromLog, folder: Path) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "name": built.suite.name,
        "repository": built.suite.repository,
        "snapshot": built.suite.snapshot,
        "queries": len(built.suite.queries),
        "format": built.form,
        "files": built.files,
        "records": built.records,
        "users": built.users,
        "tasks": dict(sorted(built.tasks.items())),
        "funnel": dict(built.suite.funnel),
        "leak": dict(sorted(Counter(one.tags["leak"] for one in built.suite.queries).items())),
        "corrections": dict(sorted(built.corrections.items())),
        "effective_sample_size": {
            name: {"clicks": clicks, "effective": round(size, 3)}
            for name, (clicks, size) in sorted(built.effective.items())
        },
        "pairs": built.pairs,
        "retrievers": dict(sorted(built.retrievers.items())),
        "navigation": {
            name: {
                "searches": one.searches,
                "files": one.files,
                "tokens": one.tokens,
                "reached": one.reached,
            }
            for name, one in sorted(built.navigation.items())
        },
        "redacted": dict(sorted(built.redacted.items())),
        "other_repositories": built.other_repositories,
        "unknown_commits": built.unknown_commits,
        "lost": built.lost,
        "unfit": built.unfit,
        "ignored": dict(sorted(built.skipped.ignored.items())),
        "unreadable": {"lines": built.skipped.lines, "first": built.skipped.located},
    }


def _by(counts: Mapping[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{name} {count}" for name, count in ranked) or "nothing"
