"""Questions that people wrote, as YAML: read strictly, and compared between labellers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.reading import MAX_YAML_DEPTH, Faults, Fields, repeated, yaml_fields, yaml_text

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.errors import Fault

FIELD = "questions"
_HIGHEST = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """A place that somebody judged.

    Attributes:
        symbol: qualified name, `<module>` for a file's own lines; empty for a whole file.
        path: the file; may be empty where one file only has such a symbol.
        grade: 3, 2, 1, or 0 for a place that looks right and is not.
        why: for people.
        field: where it stands in its question, as `targets[2]`.
        line: where it begins in its file.
    """

    symbol: str
    path: str
    grade: int = _HIGHEST
    why: str = ""
    field: str = ""
    line: int | None = None

    @property
    def name(self) -> str:
        """`path::symbol`, or what is known of it."""
        return "::".join(part for part in (self.path, self.symbol) if part)


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its answers, as it was written.

    Attributes:
        id, question: unique, and what is asked.
        asked_by: a role or a team, for people.
        kind: what sort of question, a stratum by which reports are cut.
        targets: of grades 1 to 3.
        not_relevant: judged 0.
        notes: for people.
        line: where it begins in its file.
    """

    id: str
    question: str
    asked_by: str
    kind: str
    targets: tuple[Judged, ...]
    not_relevant: tuple[Judged, ...]
    notes: str
    line: int


def read_questions(path: Path, faults: Faults) -> tuple[Question, ...]:
    """Read a questions file: one mapping with the list `questions`. What is wrong goes to `faults`.

    Raises:
        InputError: the file cannot be read, or is no such mapping.
    """
    from codebench.plain_yaml import field_lines  # noqa: PLC0415  # it costs 20 ms

    text = yaml_text(path, faults)
    fields = yaml_fields(text, faults, begins=FIELD)
    fields.lines = field_lines(text, MAX_YAML_DEPTH)
    found: dict[str, Question] = {}
    for item in fields.objects(FIELD):
        before = len(faults.found)
        one = _question(item)
        item.finish()
        if one.id in found:
            item.fault("id", f"is also the question of line {found[one.id].line}", one.id)
        found[one.id] = one
        if one.id:
            faults.found[before:] = [_by_id(fault, item, one.id) for fault in faults.found[before:]]
    fields.finish()
    if not found and not faults.found:
        faults.add("holds no question", field=FIELD)
    return tuple(found.values())


def _by_id(fault: Fault, item: Fields, name: str) -> Fault:
    """Name a question in a fault as all later ones do: by its ID."""
    return fault._replace(field=f"{name}: {fault.field.removeprefix(item.prefix)}")


def _question(fields: Fields) -> Question:
    name = fields.text("id", empty=False)
    if name != name.strip() or not name.isprintable():
        fields.fault("id", "holds white space around it or a control character", ascii(name)[:60])
    text = fields.text("question", empty=False)
    read = [_judged(fields, inner) for inner in fields.objects("targets")]
    places = [one for one in read if one is not None]
    if read and not any(one is None or one.grade for one in read):
        fields.fault("targets", "holds no place with a grade above 0", mend="name what answers it")
    elif fields.data.get("targets") == []:
        fields.fault("targets", "is empty", mend="name what answers the question")
    texts = fields.texts("not_relevant", ())
    zeros = [_zero(one, number, fields) for number, one in enumerate(texts, start=1)]
    zeros += [one for one in places if not one.grade]
    names = [one.name for one in [*(one for one in places if one.grade), *zeros]]
    for twice in repeated(names):
        fields.fault("targets", "is judged twice", twice, "keep one")
    return Question(
        id=name,
        question=" ".join(text.split()),
        asked_by=fields.text("asked_by", ""),
        kind=fields.text("kind", ""),
        targets=tuple(one for one in places if one.grade),
        not_relevant=tuple(zeros),
        notes=fields.text("notes", ""),
        line=fields.line or 0,
    )


def _judged(question: Fields, fields: Fields) -> Judged | None:
    """Read a place; None where what names it is wrong, so that nobody looks for it."""
    found = fields.faults.found
    before = len(found)
    grade = fields.integer("grade", _HIGHEST, low=0, high=_HIGHEST)
    if len(found) > before:
        grade = _HIGHEST  # whatever was meant: the place itself can be looked for
    before = len(found)
    judged = Judged(
        symbol=fields.text("symbol", ""),
        path=fields.text("path", ""),
        grade=grade,
        why=fields.text("why", ""),
        field=fields.prefix.removeprefix(question.prefix).rstrip("."),
        line=fields.line,
    )
    fields.finish()
    if len(found) == before and not judged.name:
        fields.fault("symbol", "is missing, and path too", mend="name a symbol, a file, or both")
    return judged if len(found) == before else None


def _zero(text: str, number: int, question: Fields) -> Judged:
    path, _, symbol = text.partition("::")
    field = f"not_relevant[{number}]"
    line = question.lines.get(question.prefix + field, question.line)
    return Judged(symbol, path, 0, field=field, line=line)
