"""The report as a person meets it: in a browser, by keyboard, on a phone, in the dark, on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codebench.judging.scoring import score_run
from codebench.report.page.board import measures_for
from codebench.report.page.document import page
from tests import hostile_texts, runs
from tests.browser import CHROMIUM, MISSING, Browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason=MISSING)]

FIRST = "document.querySelector('#list .open')"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as own:
        yield own


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    rows = {
        "random": runs.Row("-" * 12, floor=True),
        "slow": runs.Row("s" * 12, ms=80),
        "fast": runs.Row("f" * 12, ms=2),
        "middle": runs.Row("s" * 10 + "fx", ms=30),
    }
    run = runs.made_run(folder, rows)
    out = folder / "report.html"
    out.write_text(page([score_run(run, measures_for(20, ()))]), "utf-8")
    return out


def seen(browser: Browser, element: str) -> str:
    return str(browser.evaluate(f"document.getElementById('{element}').innerText"))


def test_it_opens_offline_and_says_which_one_to_use(browser: Browser, report: Path) -> None:
    browser.open(report)
    assert browser.said == []
    assert browser.requested == [report.resolve().as_uri()]
    assert seen(browser, "answer").startswith("Within 50 ms (p95) use middle")
    browser.evaluate("document.querySelector('.preset[data-ms=\"10\"]').click()")
    assert seen(browser, "answer").startswith("Within 10 ms (p95) use fast")
    assert browser.evaluate("document.querySelector('tr.chosen').innerText").startswith("fast")
    browser.evaluate(
        "const b = document.getElementById('budget'); b.value = '0.5';"
        "b.dispatchEvent(new Event('input'))"
    )
    assert "use none of them" in seen(browser, "answer")
    assert "The fastest is fast, whose p95 is 3.1 ms." in seen(browser, "answer")


def test_a_point_leads_to_its_row(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.evaluate(
        "document.querySelector('a.point[data-series=\"0\"]').dispatchEvent("
        "new MouseEvent('click', {bubbles: true, cancelable: true}))"
    )
    assert browser.evaluate("document.querySelector('tr.chosen').innerText").startswith("slow")
    assert browser.evaluate("document.activeElement.id") == "r0"


def test_queries_are_searched_and_sorted(browser: Browser, report: Path) -> None:
    browser.open(report)
    assert seen(browser, "count") == "12 of 12 queries"
    browser.evaluate(
        "const s = document.getElementById('search'); s.value = 'LANGUAGE:go question';"
        "s.dispatchEvent(new Event('input'))"
    )
    assert seen(browser, "count") == "4 of 12 queries"
    browser.evaluate(
        "s.value = ''; s.dispatchEvent(new Event('input'));"
        "document.querySelectorAll('#list thead button')[3].click()"
    )
    sorted_by = "[...document.querySelectorAll('#list thead th')].map(t => t.ariaSort)"
    assert browser.evaluate(sorted_by) == [None, None, None, "descending"]
    browser.evaluate("document.querySelectorAll('#list thead button')[3].click()")
    assert browser.evaluate(sorted_by) == [None, None, None, "ascending"]
    assert browser.evaluate(f"{FIRST}.innerText") == "question 11"


def test_all_of_it_works_by_keyboard(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.press("Tab", 9)
    assert browser.evaluate("document.activeElement.className") == "skip"
    browser.evaluate("document.getElementById('sort').focus()")
    for _ in range(12):  # the scrolled region and the headings stand before it
        if browser.evaluate(f"document.activeElement === {FIRST}"):
            break
        browser.press("Tab", 9)
    assert browser.evaluate(f"document.activeElement === {FIRST}")
    browser.press("Enter", 13, "\r")
    assert browser.evaluate(f"{FIRST}.ariaExpanded") == "true"
    assert browser.evaluate("document.querySelectorAll('.detail .rankings section').length") == 3
    browser.press("Tab", 9)
    assert browser.evaluate("document.activeElement.tagName") == "SUMMARY"
    browser.press("Enter", 13, "\r")
    assert browser.evaluate("document.activeElement.parentElement.open")
    detail = str(browser.evaluate("document.querySelector('.detail').innerText"))
    assert "shows `a` (3)" in detail
    assert "The code is not at hand" in detail


def test_a_screen_reader_hears_names(browser: Browser, report: Path) -> None:
    browser.open(report)
    assert "fast: nDCG-exp@10 0.429, p95 3.10 ms" in browser.names("link")
    drawings = {"Quality against latency", "Latency distributions"}
    assert drawings <= set(browser.names("group"))
    tables = browser.names("table")
    assert any(name.startswith("First screen") for name in tables)
    assert all(browser.names("button"))
    assert all(browser.names("searchbox"))
    assert browser.names("heading")[:2] == ["made", "Which one to use"]
    assert browser.evaluate(
        "[...document.querySelectorAll('th')].every(t => t.scope || t.closest('#list'))"
    )


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_nothing_sticks_out_of_the_window(browser: Browser, report: Path, width: int) -> None:
    browser.open(report, width=width)
    browser.evaluate(f"{FIRST}.click()")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_it_is_dark_where_the_system_is(browser: Browser, report: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.open(report, dark=True)
    assert browser.evaluate(ground) == "rgb(20, 23, 26)"
    browser.open(report)
    assert browser.evaluate(ground) == "rgb(255, 255, 255)"


def test_it_prints(browser: Browser, report: Path) -> None:
    browser.open(report)
    assert browser.pdf().startswith(b"%PDF-")
    assert browser.evaluate("[...document.querySelectorAll('#slices details')].every(d => d.open)")


def test_hostile_text_is_shown_and_never_run(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    run = hostile_texts.hostile_run(tmp_path)
    out.write_text(page([score_run(run, measures_for(20, ()))]), "utf-8")
    browser.open(out)
    browser.evaluate(
        f"{FIRST}.click();"
        "document.querySelectorAll('.detail details').forEach(d => d.open = true);"
        "document.querySelectorAll('a.point').forEach(p => p.dispatchEvent("
        "new MouseEvent('click', {bubbles: true, cancelable: true})))"
    )
    assert browser.evaluate("document.querySelectorAll('.detail pre').length || 1")
    assert browser.evaluate("typeof window.pwned") == "undefined"
    assert browser.evaluate("document.scripts.length") == 3
    assert browser.evaluate("document.images.length") == 0
    assert browser.said == []
    text = str(browser.evaluate("document.body.innerText"))
    assert "<script>window.pwned=1</script> ]]> --> <!-- </title></style></script>" in text
    assert "\\u001b[31mred\\u0007 \\u202eabc\\u200f \\u2028 &amp; '\"`" in text
    assert '"><script>window.pwned=3</script>\\u202e' in text
    assert "</script><script>window.pwned=4</script> \\u001b]0;title\\u0007 <!-- ]]> line 1" in text
    assert browser.evaluate("location.hash") != ""
    assert browser.evaluate("document.title").startswith("s</title><script>")
