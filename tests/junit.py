"""The common JUnit schema (Ant's, as Windy Road wrote it down), as far as a gate uses it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

_SUITE = {
    "name": r".+",
    "package": r".*",
    "id": r"\d+",
    "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
    "hostname": r".+",
    "tests": r"\d+",
    "failures": r"\d+",
    "errors": r"\d+",
    "skipped": r"\d+",
    "time": r"\d+(\.\d+)?",
}
_CASE = {"name": r".+", "classname": r".+", "time": r"\d+(\.\d+)?"}
_ENDS = {"failure": {"message", "type"}, "error": {"message", "type"}, "skipped": {"message"}}


def check_junit(text: str) -> dict[str, str]:
    """Check JUnit XML by the schema's rules, and return each test case's element by its name."""
    root = ET.fromstring(text)  # noqa: S314  # it is codebench's own
    assert (root.tag, root.attrib) == ("testsuites", {})
    (suite,) = root
    assert suite.tag == "testsuite"
    _check_attributes(suite, _SUITE)
    tags = [child.tag for child in suite]
    assert tags[0] == "properties"
    assert tags[-2:] == ["system-out", "system-err"]
    assert set(tags[1:-2]) == {"testcase"}
    for one in suite[0]:
        assert (one.tag, set(one.attrib)) == ("property", {"name", "value"})
    cases: dict[str, str] = {}
    for case in suite.findall("testcase"):
        _check_attributes(case, _CASE)
        assert len(case) <= 1
        for end in case:
            assert set(end.attrib) == _ENDS[end.tag]
        name = case.attrib["name"]
        assert name not in cases
        cases[name] = case[0].tag if len(case) else ""
    counts = {"tests": len(cases)} | {
        plural: list(cases.values()).count(tag)
        for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    assert {name: int(suite.attrib[name]) for name in counts} == counts
    return cases


def _check_attributes(element: ET.Element, wanted: dict[str, str]) -> None:
    assert set(element.attrib) == set(wanted)
    for name, pattern in wanted.items():
        assert re.fullmatch(pattern, element.attrib[name], re.DOTALL), (name, element.attrib[name])
