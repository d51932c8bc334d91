"""The rules by which a file is cut into chunks, one trap at a time."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from codebench.corpus.chunks import (
    CHUNKER_VERSION,
    MAX_LINE,
    MAX_PARSED_BYTES,
    Outline,
    file_table,
    file_table_of,
    outline,
    symbols,
)
from codebench.corpus.languages import C_OR_CPP, language_of, resolve
from codebench.model import MODULE

if TYPE_CHECKING:
    from codebench.model import Chunk


def spans(path: str, text: str) -> dict[str, tuple[tuple[int, int], ...]]:
    table = file_table(path, textwrap.dedent(text).lstrip("\n").encode())
    return {chunk.id.removeprefix(f"{path}::"): chunk.spans for chunk in table.chunks}


def kinds(path: str, text: str) -> dict[str, str]:
    table = file_table(path, textwrap.dedent(text).lstrip("\n").encode())
    return {chunk.id.removeprefix(f"{path}::"): chunk.kind for chunk in table.chunks}


def test_a_class_owns_its_header_and_attributes_but_not_the_lines_of_its_methods() -> None:
    found = spans(
        "a.py",
        """
        class A:
            x = 1

            def f(self):
                return 1

            y = 2
        """,
    )
    assert found == {"A": ((1, 2), (7, 7)), "A.f": ((4, 5),)}


def test_functions_and_classes_inside_functions_fold_into_the_outer_one() -> None:
    text = """
        def outer():
            class Hidden:
                def method(self): ...
            def inner(): ...
            return inner
        """
    assert spans("a.py", text) == {"outer": ((1, 5),)}


def test_decorators_and_comments_directly_above_belong_to_the_definition() -> None:
    found = spans(
        "a.py",
        """
        import x

        # Not directly above.

        # First line.
        # Second line.
        @x.y(
            1,
        )
        # Between.
        def f(): ...
        z = 1  # of z
        def g(): ...
        """,
    )
    assert found == {"<module>": ((1, 3), (12, 12)), "f": ((5, 11),), "g": ((13, 13),)}


def test_blank_lines_at_the_edges_of_a_span_belong_to_nobody() -> None:
    found = spans("a.py", "\n\nx = 1\n\n\ndef f():\n\n    return 1\n\n\ny = 2\n\n")
    assert found == {"<module>": ((1, 1), (9, 9)), "f": ((4, 6),)}


def test_a_repeated_name_gets_ordinals_in_file_order() -> None:
    found = spans(
        "a.py",
        """
        class P:
            @property
            def x(self): ...
            @x.setter
            def x(self, value): ...
        if a:
            def f(): ...
        else:
            def f(): ...
        """,
    )
    assert found["P.x"] == ((2, 3),)
    assert found["P.x~2"] == ((4, 5),)
    assert found["f"] == ((7, 7),)
    assert found["f~2"] == ((9, 9),)


def test_go_groups_belong_to_their_specs_and_methods_to_their_receivers() -> None:
    found = spans(
        "a.go",
        """
        package a

        const (
        // One.
        A = 1

        B = 2
        )

        func (t *T[K]) M() {}
        func init() {}
        func init() {}
        """,
    )
    assert found["A"] == ((4, 5),)
    assert found["B"] == ((7, 7),)
    assert found[MODULE] == ((1, 3), (8, 8))
    assert {"T.M", "init", "init~2"} <= set(found)


def test_rust_methods_carry_the_type_of_their_impl_block_whose_lines_are_the_files() -> None:
    found = spans(
        "a.rs",
        """
        impl<T> Display for a::Foo<T> {
            #[inline]
            /// Doc.
            fn fmt(&self) {}
        }
        mod m {
            pub struct S;
        }
        """,
    )
    assert found == {
        "<module>": ((1, 1), (5, 6), (8, 8)),
        "a.Foo.fmt": ((2, 4),),
        "m.S": ((7, 7),),
    }


def test_cpp_names_agree_inside_and_outside_of_class_and_namespace() -> None:
    inside = spans("a.hpp", "namespace n {\nclass C {\n  void f() {}\n};\n}\n")
    outside = spans("a.cpp", "void n::C::f() {}\n")
    assert "n.C.f" in inside
    assert list(outside) == ["n.C.f"]


def test_a_prototype_is_a_chunk_only_where_the_file_does_not_define_the_function() -> None:
    assert list(spans("a.c", "int f(void);\n")) == ["f"]
    both = spans("a.c", "int f(void);\nint f(void)\n{\n  return 1;\n}\n")
    assert both == {"<module>": ((1, 1),), "f": ((2, 5),)}


def test_a_typedef_and_its_struct_are_one_chunk() -> None:
    text = "typedef struct\nnode {\n  int a;\n} node_t;\nstruct other {\n  int b;\n};\n"
    assert spans("a.c", text) == {"node_t": ((1, 4),), "other": ((5, 7),)}


def test_a_function_bound_to_a_name_is_a_function_and_other_bindings_are_not() -> None:
    found = kinds(
        "a.ts",
        """
        export const f = (x: number) => x
        const n = 1
        let v = 2
        const { a, b } = f
        Foo.prototype.bar = function () {}
        describe('x', () => {
          const helper = () => 1
        })
        """,
    )
    assert found == {
        "f": "function",
        "n": "constant",
        "v": "variable",
        "Foo.bar": "method",
        MODULE: "module",
    }


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.java", "class A { int x; int f() { return x; } }\n", ["A"]),
        ("a.c", "int a; int b;\n", ["a"]),
        ("a.js", "const a = 1, b = 2\n", ["a"]),
        ("a.c", "int f() {\n} int g() {\n}\n", ["f", "g"]),
        ("a.c", "int f() {\n} int g() { return 1; }\nint h;\n", ["f", "h"]),
    ],
)
def test_a_definition_without_a_line_of_its_own_folds_into_its_neighbour(
    path: str, text: str, expected: list[str]
) -> None:
    assert list(spans(path, text)) == expected


def test_only_a_line_feed_ends_a_line() -> None:
    table = file_table("a.py", b"x = 1\x0c\ny = '\x1c'\r\nz = 3\x85\xe2\x80\xa8")
    assert table.line_bytes == (7, 9, 9)
    assert table.chunks[0].spans == ((1, 3),)


@pytest.mark.parametrize("text", [b"plain\ntext\n", b"plain\ntext", b"\xff\x00\n\n"])
def test_another_text_is_one_chunk_over_all_its_lines(text: bytes) -> None:
    table = file_table("docs/notes.txt", text)
    (chunk,) = table.chunks
    assert (table.language, chunk.kind, chunk.name, chunk.id) == ("", "file", "", "docs/notes.txt")
    assert chunk.spans == ((1, 2),)
    assert symbols(table) == ()


@pytest.mark.parametrize(
    "text",
    [b"x = 1\n" * (MAX_PARSED_BYTES // 6 + 1), b"def f(): ...\nx = '" + b"a" * MAX_LINE + b"'\n"],
)
def test_a_large_or_minified_file_is_one_chunk(text: bytes) -> None:
    table = file_table("a.py", text)
    assert [chunk.kind for chunk in table.chunks] == ["file"]
    assert table.language == ""


def test_a_file_without_lines_has_no_chunks() -> None:
    assert file_table("a.py", b"").chunks == ()
    assert file_table("a.txt", b"").chunks == ()
    assert file_table("a.py", b"\n\n").chunks == ()


def test_a_syntax_error_is_told_and_what_can_be_read_is_still_there() -> None:
    found = outline("python", b"def f():\n    return 1\n\ndef g(:\n    return 2\n")
    assert not found.sound
    assert "f" in {chunk.name for chunk in symbols(found)}


def test_what_a_macro_does_to_a_large_file_leaves_it_sound() -> None:
    lines = "".join(f"int f{number}(void) {{ return {number}; }}\n" for number in range(100))
    assert outline("c", lines.encode()).sound
    assert outline("c", (lines + "API int g(void) { return 1; }\n").encode()).sound
    assert not outline("c", (lines[:60] + "int @@ )( @@ x\n").encode()).sound


def test_an_outline_survives_its_row_and_gets_a_path_afterwards() -> None:
    found = outline("go", b'package a\nimport "b/c"\nfunc (t T) M() {\n}\n')
    assert Outline.from_row(found.row()) == found
    table = file_table_of("x/a.go", found)
    assert [chunk.id for chunk in table.chunks] == ["x/a.go::<module>", "x/a.go::T.M"]
    assert table.line_bytes == (10, 13, 17, 2)
    with pytest.raises(ValueError, match="not an outline"):
        Outline.from_row([1, 2])


def test_a_header_is_c_or_cpp_by_what_it_holds() -> None:
    assert language_of("a.h") == C_OR_CPP
    guarded = b'#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n'
    assert resolve(C_OR_CPP, guarded) == "c"
    assert resolve(C_OR_CPP, b"namespace a {\nclass B;\n}\n") == "cpp"
    assert file_table("a.h", b"class A {\n public:\n  void f();\n};\n").language == "cpp"


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.pyi", "python"),
        ("a.MJS", "javascript"),
        ("a.d.ts", "typescript"),
        ("a.cts", "typescript"),
        ("lib/Rakefile", "ruby"),
        (".py", ""),
        ("a.vue", ""),
        ("Makefile", ""),
        ("a.py/b", ""),
    ],
)
def test_the_language_of_a_path(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "from . import (a, # c\n b as c,)\nimport x.y as z, w\n", ". .a .b x.y w"),
        ("python", "def f():\n    from ..p.q import *\n", "..p.q"),
        ("python", "from .import x\n", ". .x"),
        ("typescript", "import type A from './a'\nexport {b} from '../b'\n", "./a ../b"),
        (
            "rust",
            "pub use a::{self, b::{c, d as e}, f::*};\nmod m;\n",
            "a a::b::c a::b::d a::f mod m",
        ),
        ("php", "<?php\nuse function A\\{f, g};\nuse \\B;\n", "A\\f A\\g B"),
        ("ruby", "require_relative 'a'\nrequire_relative '../b'\nload 'c.rb'\n", "./a ../b c.rb"),
        ("scala", "import a.{B, C => D}\nimport e._\n", "a.B a.C e"),
        ("csharp", "using A.B;\nusing C = D.E;\n", "A.B D.E"),
        ("c", '#include <a/b.h>\n#include "c.h"\n', "a/b.h c.h"),
        ("kotlin", "import a.b.C as D\nimport e.*\n", "a.b.C e.*"),
    ],
)
def test_imports_as_the_language_writes_them(language: str, text: str, expected: str) -> None:
    assert " ".join(outline(language, text.encode()).imports) == expected


def test_the_version_is_a_digest() -> None:
    assert len(CHUNKER_VERSION) == 16
    assert int(CHUNKER_VERSION, 16) >= 0


def test_symbols_are_the_named_definitions() -> None:
    found: tuple[Chunk, ...] = symbols(outline("python", b"x = 1\ndef f(): ...\n"))
    assert [chunk.name for chunk in found] == ["f"]
