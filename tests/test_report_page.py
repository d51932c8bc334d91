from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import random
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

from codebench.cli.main import main
from codebench.judging.scoring import score_run
from codebench.report.page import listing
from codebench.report.page.board import board, measures_for
from codebench.report.page.choice import choice_for, choices
from codebench.report.page.document import LIMIT, page
from codebench.report.page.listing import Listing
from codebench.report.page.markup import Scale
from codebench.results import ANSWERS
from tests import hostile_texts, runs

if TYPE_CHECKING:
    from pathlib import Path

    Printed = pytest.CaptureFixture[str]


def made(run: Path, depth: int = 20) -> str:
    return page([score_run(run, measures_for(depth, ()))])


def data_of(text: str, name: str = "data") -> Any:
    found = re.search(
        rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL
    )
    assert found
    return json.loads(found.group(1))


class Parsed(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    rows = {
        "random": runs.Row("-" * 12, floor=True),
        "slow": runs.Row("s" * 12, ms=80),
        "fast": runs.Row("f" * 12, ms=2),
        "same": runs.Row("f" * 11 + "s", ms=20),
    }
    return runs.made_run(tmp_path, rows)


def test_the_choice_depends_on_the_budget(run: Path) -> None:
    found = choices(board([score_run(run, measures_for(20, ()))]))
    assert [(round(one.from_ms), one.best) for one in found] == [
        (3, "fast"),
        (21, "same"),
        (81, "slow"),
    ]
    assert choice_for(found, 1) is None
    middle = choice_for(found, 50)
    assert middle is not None
    assert middle.best == "same"
    words = "\n".join(middle.lines)
    assert "undecided: fast (nDCG-exp@10 " in words
    assert "The fastest of them all is fast." in words
    assert "Too slow for the budget: slow (p95 81.1 ms)." in words
    last = choice_for(found, 1000)
    assert last is not None
    assert "Every other one within the budget is worse by nDCG-exp@10." in last.lines


def test_the_policy_names_what_is_in_the_page_and_nothing_else(run: Path) -> None:
    text = made(run)
    parsed = Parsed(text)
    (policy,) = (
        attributes["content"] or ""
        for tag, attributes in parsed.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        own = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert own
        digest = base64.b64encode(hashlib.sha256(own.group(1).encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    for tag, attributes in parsed.tags:
        assert tag not in {"img", "iframe", "object", "embed", "form", "base"}
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        for name in ("href", "src"):
            assert (attributes.get(name) or "#").startswith("#")


def test_three_layers_and_every_drawing(run: Path) -> None:
    text = made(run)
    for caption in ("First screen", "What is found within K", "What it takes"):
        assert f"<caption>{caption}" in text
    for column in ("P(rel=2)@1", "P(rel=2)@3", "nDCG@5", "nDCG@10", "R(rel=2)@20", "p99 ms"):
        assert f'<th scope="col">{column}</th>' in text
    for name in ("pareto", "k3", "k2", "t3", "t2", "latency", "differences"):
        assert f'<title id="{name}-t">' in text
    assert "R(rel=2)@10 by language" in text
    assert "Value@10" not in re.sub(r"<script.*", "", text, flags=re.DOTALL)


def test_weights_bring_their_measure(tmp_path: Path) -> None:
    asked = runs.suite()
    first = asked.queries[0]
    heavy = type(first)(first.id, first.text, first.targets, weight=3.0, tags=first.tags)
    weighted = runs.suite()
    weighted = type(asked)(
        asked.name, "corpus", "", asked.corpus_digest, (heavy, *weighted.queries[1:])
    )
    text = made(runs.made_run(tmp_path, {"one": runs.Row("s" * 12)}, asked=weighted))
    assert '<th scope="col">Value@10</th>' in text


def test_a_shallow_run_and_one_alone(tmp_path: Path) -> None:
    path = runs.made_run(tmp_path, {"one": runs.Row("slf-x." * 2)}, depth=3)
    text = made(path, depth=3)
    assert "nDCG-exp@3" in text
    assert "It is the only one within the budget." in text
    assert "4 queries" not in text
    (_, _, _, values, _, answers) = data_of(text)["queries"][4]
    assert values == [0.0]
    assert answers[0][4].startswith("crashed: killed by \\u001b")


def test_rankings_and_code_are_in_the_data(tiny_run: Path) -> None:
    text = page([score_run(tiny_run, measures_for(50, ()))])
    data = data_of(text)
    assert data["names"] == ["bm25", "ripgrep"]
    (one,) = [query for query in data["queries"] if query[0] == "t01"]
    assert one[1] == "where is an expired session token rejected"
    (name, path, grade, spans) = one[4][0]
    assert (name, data["paths"][path], grade) == ("check_token", "api/auth.py", 3)
    shown, reached, returned, ms = one[5][0]
    assert len(shown) == min(returned, 20)
    assert ms > 0
    exact = [int(at) for at, (said, paid) in reached.items() if paid == 3]
    place = 4 * shown[exact[0]]
    assert data["paths"][data["places"][place]] == "api/auth.py"
    assert any(
        run[0] <= spans[0][0] < run[0] + len(run) - 1 and "check_token" in "".join(run[1:])
        for run in data["code"][str(path)]
    )
    assert not data["missing"]


def test_two_runs_of_one_suite_stand_side_by_side(tmp_path: Path, capsys: Printed) -> None:
    old = runs.made_run(tmp_path, {"one": runs.Row("f" * 12)})
    new = runs.made_run(tmp_path, {"one": runs.Row("s" * 12)}, minute=1, machine={"cpu": "another"})
    out = tmp_path / "two.html"
    assert main(["report", str(old), str(new), "-o", str(out)]) == 0
    assert "opens offline" in capsys.readouterr().out
    text = out.read_text("utf-8")
    assert data_of(text)["names"] == [f"one @ {old.name}", f"one @ {new.name}"]
    assert "better" in text
    assert "different machines" in text
    other = runs.made_run(tmp_path, {"one": runs.Row("s" * 5)}, asked=runs.suite(5), minute=2)
    assert main(["report", str(old), str(other), "-o", str(out)]) == 4
    assert main(["report", str(old), str(old)]) == 2


def test_a_report_that_cannot_be_written(run: Path, tmp_path: Path, capsys: Printed) -> None:
    assert main(["report", str(run), "-o", str(tmp_path / "no" / "r.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_nothing_hostile_is_markup(tmp_path: Path) -> None:
    text = made(hostile_texts.hostile_run(tmp_path))
    tags = [tag for tag, _ in Parsed(text).tags]
    assert tags.count("script") == 3
    assert tags.count("style") == tags.count("body") == 1
    assert not any(char in text for char in "\x1b\u202e\u200f\u2028\x07")
    assert "<script>window" not in text
    data = data_of(text)
    assert data["queries"][0][1].startswith("<script>window.pwned=1</script> ]]>")
    assert any("window.pwned=4" in line for run in data["code"]["0"] for line in run[1:])


def test_floors_alone_and_a_retriever_that_only_crashed(tmp_path: Path) -> None:
    floors = runs.made_run(tmp_path, {"random": runs.Row("f" * 12, floor=True)})
    text = made(floors)
    assert data_of(text, "choices") == []
    assert "none of them" in text
    rows = {
        "random": runs.Row("f" * 12, floor=True),
        "broken": runs.Row("x" * 12),
        "silent": runs.Row("", state="failed", reason="it did not start"),
    }
    text = made(runs.made_run(tmp_path, rows, minute=1))
    assert data_of(text)["names"] == ["broken"]
    assert "12 crashed" in text
    assert "silent failed: it did not start" in text


def test_rankings_are_cut_before_queries_are(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = board([score_run(run, measures_for(20, ()))])
    whole = json.loads(Listing(own).json(100_000))
    assert (whole["depth"], len(whole["queries"])) == (20, 12)
    short = json.loads(Listing(own).json(500))
    assert (short["depth"], len(short["queries"]), short["code"]) == (3, 12, {})
    monkeypatch.setattr(listing, "MOST_QUERIES", 3)
    few = json.loads(Listing(own).json(100_000))
    assert few["asked"] == 12
    # The retrievers differ as much at every query, so the IDs decide.
    assert [query[0] for query in few["queries"]] == ["q00", "q01", "q02"]


def test_scales() -> None:
    log = Scale(0.3, 300, 0, 300, log=True)
    assert [log.at(value) for value in (0.3, 3, 300, 5000)] == [0, 100, 300, 300]
    assert log.ticks() == pytest.approx([0.3, 1, 3, 10, 30, 100, 300])
    assert Scale(0, 1, 100, 0).ticks() == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert Scale(5, 5, 0, 10).at(5) == 5


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_colours_can_be_told_apart_from_their_ground(theme: int) -> None:
    """WCAG 2.2: 4.5 for text, 3 for what a drawing says."""
    css = (resources.files("codebench.report") / "assets" / "report.css").read_text("utf-8")
    block = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[theme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    for text in ("text", "dim", "accent", "good-text", "bad-text"):
        assert contrast(colours[text], colours["page"]) >= 4.5, text
    assert contrast(colours["text"], colours["gold"]) >= 4.5
    assert contrast(colours["dim"], colours["gold"]) >= 4.5
    assert contrast(colours["good-text"], colours["good"]) >= 4.5
    assert contrast(colours["dim"], colours["soft"]) >= 4.5
    for series in [*(f"c{at}" for at in range(8)), "floor", "gold-edge"]:
        assert contrast(colours[series], colours["page"]) >= 3, series


@pytest.mark.slow
def test_five_hundred_queries_and_eight_retrievers_are_at_most_two_megabytes(
    tmp_path: Path,
) -> None:
    drawn = random.Random(0)  # noqa: S311  # the same page each time
    asked = runs.suite(500)
    paths = [f"package{at % 20}/module_number_{at}.py" for at in range(600)]
    names = [f"retriever {at}" for at in range(8)]
    asked = type(asked)(
        asked.name,
        "corpus",
        "",
        asked.corpus_digest,
        tuple(
            type(one)(one.id, f"{one.text} {'some more words of it ' * 3}", one.targets)
            for one in asked.queries
        ),
    )
    path = runs.made_run(tmp_path, {name: runs.Row("s") for name in names}, asked=asked, depth=50)
    for at in range(8):
        rows = []
        for query in asked.queries:
            starts = [drawn.randrange(1, 900) for _ in range(25)]
            hits = [[drawn.choice(paths), start, start + drawn.randrange(60)] for start in starts]
            hits[drawn.randrange(25)] = [query.targets[0].path, 1, 10]
            row = {
                "kind": "answer",
                "query": query.id,
                "hits": hits,
                "latency_ns": 10**6 * (at + 1),
            }
            rows.append(json.dumps(row) + "\n")
        rows.append('{"kind": "end", "state": "complete", "reason": ""}\n')
        (path / ANSWERS / f"{at}.jsonl").write_text("".join(rows), "utf-8")
    text = made(path, depth=50)
    assert 500_000 < len(text.encode()) <= LIMIT
    data = data_of(text)
    assert len(data["queries"]) == 500
    assert data["depth"] >= 10
