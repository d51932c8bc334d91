"""What a fingerprint ignores and what it tells apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codebench.corpus.chunks import outline

if TYPE_CHECKING:
    from codebench.model import Chunk


def chunk(language: str, text: str, name: str) -> Chunk:
    found = outline(language, text.encode())
    return next(each for each in found.chunks if each.name == name)


PLAIN = """\
class A:
    x = 1

    def f(self, a):
        if a:
            b = call(a, [1, 2])
        return {"k": b, "l": (b,)}
"""

SAME = {
    "comments": PLAIN.replace("if a:", "if a:  # why\n            # more"),
    "docstring": PLAIN.replace("        if a:", '        """Doc."""\n        if a:'),
    "wrapped": PLAIN.replace(
        "call(a, [1, 2])", "call(\n                a,\n                [1, 2],\n            )"
    ),
    "quotes": PLAIN.replace('"k"', "'k'"),
    "indent": PLAIN.replace("    ", "  "),
    "one line": PLAIN.replace("if a:\n            b", "if a: b"),
    "continued": PLAIN.replace("b = call", "b = \\\n                call"),
    "form feed": PLAIN.replace("        if", "\x0c        if"),
    "windows": PLAIN.replace("\n", "\r\n"),
    "sibling": PLAIN + "\n    def g(self): ...\n",
    "attribute": PLAIN.replace("x = 1", "x = 1\n    y = 2"),
}

OTHER = {
    "dedent": PLAIN.replace("        return", "            return"),
    "token": PLAIN.replace("[1, 2]", "[1, 3]"),
    "added": PLAIN.replace("        return", "        log(a)\n        return"),
    "string spaces": PLAIN.replace('"k"', '"k "'),
    "tuple": PLAIN.replace("(b,)", "(b)"),
    "words": PLAIN.replace("self, a", "selfa"),
    "decorator": PLAIN.replace("    def f", "    @d\n    def f"),
    "renamed": PLAIN.replace("def f", "def g"),
}


@pytest.mark.parametrize("change", sorted(SAME))
def test_layout_comments_and_siblings_change_no_fingerprint(change: str) -> None:
    assert SAME[change] != PLAIN
    before, after = chunk("python", PLAIN, "A.f"), chunk("python", SAME[change], "A.f")
    assert (after.fingerprint, after.masked) == (before.fingerprint, before.masked)
    assert after.size == before.size > 0


@pytest.mark.parametrize("change", sorted(OTHER))
def test_what_code_does_changes_the_fingerprint(change: str) -> None:
    name = "A.g" if change == "renamed" else "A.f"
    before, after = chunk("python", PLAIN, "A.f"), chunk("python", OTHER[change], name)
    assert after.fingerprint != before.fingerprint


def test_a_renamed_function_keeps_its_masked_fingerprint_recursion_included() -> None:
    before = chunk("python", "def f(n):\n    return n * f(n - 1)\n", "f")
    after = chunk("python", "def g(n):\n    return n * g(n - 1)\n", "g")
    assert before.fingerprint != after.fingerprint
    assert before.masked == after.masked


def test_a_renamed_class_renames_its_members_and_changes_none() -> None:
    before = chunk("python", PLAIN, "A.f")
    after = chunk("python", PLAIN.replace("class A", "class B"), "B.f")
    assert after.fingerprint == before.fingerprint


def test_a_renamed_receiver_keeps_the_masked_fingerprint() -> None:
    text = "package p\nfunc (s *Shop) Sell() { s.n++ }\n"
    before = chunk("go", text, "Shop.Sell")
    after = chunk("go", text.replace("Shop", "Store"), "Store.Sell")
    assert before.fingerprint != after.fingerprint
    assert before.masked == after.masked


def test_members_are_cut_out_of_the_class() -> None:
    before = chunk("python", PLAIN, "A")
    body = chunk("python", PLAIN.replace("[1, 2]", "[3]"), "A")
    more = chunk("python", PLAIN + "\n    def g(self): ...\n", "A")
    own = chunk("python", PLAIN.replace("x = 1", "x = 2"), "A")
    assert before.fingerprint == body.fingerprint == more.fingerprint != own.fingerprint


def test_a_nested_function_is_part_of_the_outer_one() -> None:
    text = "def f():\n    def g():\n        return 1\n    return g\n"
    assert chunk("python", text, "f") != chunk("python", text.replace("1", "2"), "f")


def test_definitions_are_cut_out_of_the_files_own_lines() -> None:
    before = chunk("python", "import a\n\ndef f(): ...\n\nx = 1\n", "<module>")
    after = chunk("python", '"""Doc."""\nimport a\n\nx = 1\ndef g(): ...\n', "<module>")
    assert before.fingerprint == after.fingerprint


@pytest.mark.parametrize(
    ("language", "before", "after", "name"),
    [
        ("javascript", "function f() { a('x'); }", 'function f() {\n  a("x")\n}', "f"),
        ("typescript", "const f = (a: A) => [a];", "const f = (\n  a: A,\n) => [\n  a,\n]", "f"),
        ("javascript", "class A { x = 1; f() {} }\n", "class A {\n x = 1\n f() {}\n}\n", "A"),
        (
            "go",
            "package p\nfunc f() { g(a, b) }",
            "package p\nfunc f() {\n\tg(\n\t\ta,\n\t\tb,\n\t)\n}",
            "f",
        ),
        ("c", "int f(int a) { return a; }", "int\nf (int a)\n{\n  /* c */ return a;\n}", "f"),
        (
            "rust",
            "fn f<'a>(x: &'a str) { g('\"') }",
            "fn f<'a>(\n    x: &'a str,\n) {\n    g( '\"' )\n}",
            "f",
        ),
        (
            "java",
            "class A {\n// c\nvoid f() { }\n}",
            "class A {\n/** d */\nvoid f()\n{\n}\n}",
            "A.f",
        ),
    ],
)
def test_what_formatters_do_changes_no_fingerprint(
    language: str, before: str, after: str, name: str
) -> None:
    if name == "A":
        before = before.replace("f() {}", "\n f() {}")
    assert chunk(language, before, name).fingerprint == chunk(language, after, name).fingerprint


@pytest.mark.parametrize(
    ("language", "before", "after", "name"),
    [
        ("javascript", "function f() { return `a b` }", "function f() { return `a  b` }", "f"),
        ("go", 'package p\nfunc f() { g("a b") }', 'package p\nfunc f() { g("ab") }', "f"),
        (
            "scala",
            "def f =\n  if a then\n    b\n  c\n",
            "def f =\n  if a then\n    b\n    c\n",
            "f",
        ),
    ],
)
def test_what_matters_in_other_languages_is_kept(
    language: str, before: str, after: str, name: str
) -> None:
    assert chunk(language, before, name).fingerprint != chunk(language, after, name).fingerprint
