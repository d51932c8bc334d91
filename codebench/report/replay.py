"""What `codebench replay` tells: agents' ways to a target, and candidates' in their place."""

from __future__ import annotations

from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any

from codebench.report.text import NONE, json_text, lines, printable, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codebench.gold.logs.replaying import Replayed

_HEADERS = ["retriever", "found", "step", "tokens", "agent", "ratio", "fewer", "more", "failed"]


def replay_text(
    found: Mapping[str, Sequence[Replayed]],
    form: str,
    *,
    trajectories: int,
    looked_at: int,
    run: str,
) -> str:
    """Return the comparison as `table`, `markdown` or `json`.

    Args:
        found: by retriever, its tasks.
        form: how.
        trajectories: how many the suite has, those without a search step too.
        looked_at: results of each step that were read.
        run: the folder of the run.
    """
    if form == "json":
        data = {
            "trajectories": trajectories,
            "looked_at": looked_at,
            "run": run,
            "retrievers": {name: _figures(own) for name, own in found.items()},
            "tasks": {name: [asdict(one) for one in own] for name, own in found.items()},
        }
        return json_text(data)
    markdown = form == "markdown"
    rows = [_row(name, own) for name, own in found.items()]
    searched = max((len(own) for own in found.values()), default=0)
    notes = [
        f"{searched} of {trajectories} trajectories searched by content before the first target",
        (
            "tokens, agent: medians until the first target was on screen, over the tasks in which "
            f"both found one; {looked_at} results of a step are read at most"
        ),
        (
            "fewer, more: tasks in which the retriever costs fewer or more tokens than the agent "
            "spent; who does not find the target has lost"
        ),
    ]
    shown = table(_HEADERS, rows, markdown=markdown, left=1)
    blocks = [shown, lines(notes, markdown=markdown)]
    return "\n\n".join(blocks) + f"\nresults: {printable(run)}"


def _row(name: str, own: Sequence[Replayed]) -> list[str]:
    figures = _figures(own)
    return [
        name,
        f"{figures['found']}/{len(own)}",
        *(
            NONE if figures[field] is None else f"{figures[field]:g}"
            for field in ("step", "tokens", "agent")
        ),
        NONE if figures["ratio"] is None else f"{figures['ratio']:.2f}",
        str(figures["fewer"]),
        str(figures["more"]),
        str(figures["failed"]),
    ]


def _figures(own: Sequence[Replayed]) -> dict[str, Any]:
    both = [one for one in own if one.reached and one.agent_reached]
    tokens = median(one.tokens for one in both) if both else None
    agent = median(one.agent for one in both) if both else None
    steps = [one.step for one in own if one.reached]
    return {
        "tasks": len(own),
        "found": len(steps),
        "agent_found": sum(one.agent_reached for one in own),
        "step": median(steps) if steps else None,
        "tokens": tokens,
        "agent": agent,
        "ratio": tokens / agent if tokens is not None and agent else None,
        "fewer": sum(_cheaper(one) for one in own),
        "more": sum(_dearer(one) for one in own),
        "failed": sum(one.failed for one in own),
    }


def _cheaper(one: Replayed) -> bool:
    return one.reached and (not one.agent_reached or one.tokens < one.agent)


def _dearer(one: Replayed) -> bool:
    return one.agent_reached and (not one.reached or one.tokens > one.agent)
