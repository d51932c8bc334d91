"""A gate for machines that build: JUnit XML, and workflow commands that annotate a change."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from codebench.report.gate import headline, loss_words, words
from codebench.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench.gate.verdict import Check, Gate

_CLASS = "codebench.gate"
_NO_TIME = "1970-01-01T00:00:00"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_NOT_XML = re.compile("[\ufffe\uffff]")

Case = tuple[str, str, str, str]
"""A test case: its name, its element or nothing, the element's message and text."""


def gate_junit(gate: Gate) -> str:
    """Return a gate as JUnit XML: a test case a limit, and one for the run as a whole.

    What makes the gate fail is a failure, what puts the run in doubt an error; what is undecided
    or was not compared, and fails nothing, is skipped. So there is a failure where the exit code
    is 1, an error and no failure where it is 3, and neither where it is 0.
    """
    cases = [_case(gate, check) for check in gate.checks]
    doubt = gate.doubt
    cases.append(("the run is whole", "error" if doubt else "", doubt, doubt))
    started = str(gate.candidate.run.manifest.get("started", ""))
    properties = {
        "run": str(gate.candidate.run.path),
        "baseline": "" if gate.baseline is None else str(gate.baseline.run.path),
        "retriever": gate.candidate.name,
        "suite": gate.candidate.suite.name,
        "suite digest": gate.candidate.digest,
        "verdict": headline(gate),
        "exit code": str(gate.exit_code),
    }
    said = "\n".join(words(gate, check) for check in gate.checks)
    return _suite(cases, properties, started, said)


def error_junit(message: str, exit_code: int, run: str) -> str:
    """Return JUnit XML of a gate that could not be decided: one test case, and it is an error."""
    case = ("the gate can be decided", "error", message.partition("\n")[0], message)
    return _suite([case], {"run": run, "exit code": str(exit_code)}, "", message)


def gate_annotations(gate: Gate) -> list[str]:
    """Return a workflow command a check that is not plainly passed, and one for a doubtful run."""
    commands = []
    for check in gate.checks:
        if check.outcome == "passed":
            continue
        level = "error" if gate.breaks(check) else "warning"
        level = "notice" if check.outcome == "not compared" else level
        told = [words(gate, check), *(loss_words(check, loss) for loss in check.losses)]
        commands.append(_command(level, f"codebench gate: {check.limit.shown}", told))
    if gate.doubt:
        commands.append(_command("error", "codebench gate", [f"in doubt: {gate.doubt}"]))
    return commands


def error_annotation(message: str) -> str:
    """Return the workflow command of a gate that could not be decided."""
    return _command("error", "codebench gate", message.split("\n"))


def inert(text: str) -> str:
    """Return text that a build log shows and does not obey.

    A line that begins with `::`, or holds `##[`, is a command to the machine that reads it.
    """
    rows = text.replace("##[", "##\\u005b").split("\n")
    return "\n".join(
        row.replace("::", "\\u003a:", 1) if row.lstrip().startswith("::") else row for row in rows
    )


def _command(level: str, title: str, told: Sequence[str]) -> str:
    message = "\n".join(printable(line) for line in told)
    return f"::{level} title={_property(printable(title))}::{_message(message)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _case(gate: Gate, check: Check) -> Case:
    told = words(gate, check)
    body = "\n".join([told, *(loss_words(check, loss) for loss in check.losses)])
    if gate.breaks(check):
        return (check.limit.shown, "failure", told, body)
    return (check.limit.shown, "" if check.outcome == "passed" else "skipped", told, body)


def _suite(cases: Sequence[Case], properties: dict[str, str], started: str, said: str) -> str:
    found = _TIME.match(started)
    count = {
        kind: sum(case[1] == kind for case in cases) for kind in ("failure", "error", "skipped")
    }
    head = {
        "name": _CLASS,
        "package": "codebench",
        "id": "0",
        "timestamp": found.group() if found else _NO_TIME,
        "hostname": "localhost",
        "tests": str(len(cases)),
        "failures": str(count["failure"]),
        "errors": str(count["error"]),
        "skipped": str(count["skipped"]),
        "time": "0",
    }
    rows = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f"  <testsuite {_attributes(head)}>",
        "    <properties>",
        *(
            f"      <property {_attributes({'name': name, 'value': value})}/>"
            for name, value in properties.items()
        ),
        "    </properties>",
        *(_case_xml(case) for case in cases),
        f"    <system-out>{_text(said)}</system-out>",
        "    <system-err></system-err>",
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(rows) + "\n"


def _case_xml(case: Case) -> str:
    name, element, message, body = case
    head = _attributes({"name": name, "classname": _CLASS, "time": "0"})
    if not element:
        return f"    <testcase {head}/>"
    about = {"message": message}
    if element != "skipped":
        about["type"] = f"{_CLASS}.{element}"
    inner = f"<{element} {_attributes(about)}>{_text(body)}</{element}>"
    return f"    <testcase {head}>{inner}</testcase>"


def _attributes(values: dict[str, str]) -> str:
    return " ".join(f'{name}="{_text(value)}"' for name, value in values.items())


def _text(text: str) -> str:
    """Return text that XML 1.0 can hold, and in which no reader sees markup."""
    plain = "\n".join(printable(line) for line in text.split("\n"))
    return html.escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", plain), quote=True)
