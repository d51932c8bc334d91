"""Which language a file is written in, and how its definitions are found.

One query file per language lies beside this module. Its captures are the whole vocabulary:

- `@function @method @class @type @constant @variable`: a definition, with its `@name` and,
  where the language writes it apart, the `@scope` that it belongs to (a Go receiver);
  `@declaration` is a function's prototype, dropped where the file also defines it;
- `@namespace` prefixes names and is no chunk; what is in an `@extension` is a method too;
- `@ignored`: its `@name` is no definition, whatever a later pattern says;
- `@comment`, `@docstring` are ignored by fingerprints; `@attribute` belongs to what follows it;
- `@import`: a statement that names other files; `@block`: layout that carries meaning;
  `@mark`: punctuation that carries meaning where a formatter's would not.

Where two patterns capture one `@name`, the earlier pattern decides. `#set! name x` names what
has no name of its own. A first line `; inherits: x` adds the patterns of `x.scm` after its own.

A grammar is imported when the first file of its language is met; nothing is ever downloaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Parser, Query

FOLDER = Path(__file__).resolve().parent

C_OR_CPP = "c/c++"
"""A header that may be either: its contents decide (`resolve`)."""


@dataclass(frozen=True, slots=True)
class Language:
    """What is particular about a language.

    Attributes:
        name: as tables and tags print it.
        module: of the grammar's wheel.
        suffixes: file name endings, lower case.
        names: whole file names.
        function: the grammar's entry point in its module.
        query: stem of the query file.
        lead: what may stand before a definition on its line and belong to it.
        same_quotes: `'` and `"` mean the same.
        optional_semicolons: formatters add and remove them.
        lifetimes: a single `'` does not open a string.
        macros: code need not follow the grammar before it is preprocessed.
    """

    name: str
    module: str
    suffixes: tuple[str, ...]
    names: tuple[str, ...] = ()
    function: str = "language"
    query: str = ""
    lead: str = ""
    same_quotes: bool = False
    optional_semicolons: bool = False
    lifetimes: bool = False
    macros: bool = False


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language, ready to parse.

    Attributes:
        language: what it parses.
        parser: holds no state between files.
        query: the compiled query file.
        names: the name that a pattern sets, by pattern index.
        lead: the compiled `Language.lead`, up to where a definition starts.
    """

    language: Language
    parser: Parser
    query: Query
    names: Mapping[int, str]
    lead: re.Pattern[bytes] | None


_ECMA_LEAD = r"(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:const\s+|let\s+|var\s+)?"
_CPP_LEAD = r"(?:export\s+)?(?:template\s*)?"

LANGUAGES: Mapping[str, Language] = {
    language.name: language
    for language in (
        Language("python", "tree_sitter_python", (".py", ".pyi", ".pyw"), same_quotes=True),
        Language(
            "javascript",
            "tree_sitter_javascript",
            (".js", ".mjs", ".cjs", ".jsx"),
            lead=_ECMA_LEAD,
            same_quotes=True,
            optional_semicolons=True,
        ),
        Language(
            "typescript",
            "tree_sitter_typescript",
            (".ts", ".mts", ".cts"),
            function="language_typescript",
            lead=_ECMA_LEAD,
            same_quotes=True,
            optional_semicolons=True,
        ),
        Language(
            "tsx",
            "tree_sitter_typescript",
            (".tsx",),
            function="language_tsx",
            query="typescript",
            lead=_ECMA_LEAD,
            same_quotes=True,
            optional_semicolons=True,
        ),
        Language("go", "tree_sitter_go", (".go",), lead=r"(?:const|var|type)\s+"),
        Language("rust", "tree_sitter_rust", (".rs",), lifetimes=True),
        Language("java", "tree_sitter_java", (".java",)),
        Language("c", "tree_sitter_c", (".c",), macros=True),
        Language(
            "cpp",
            "tree_sitter_cpp",
            (".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp", ".inl"),
            lead=_CPP_LEAD,
            macros=True,
        ),
        Language("csharp", "tree_sitter_c_sharp", (".cs", ".csx")),
        Language(
            "ruby",
            "tree_sitter_ruby",
            (".rb", ".rake", ".gemspec", ".ru"),
            names=("Gemfile", "Rakefile", "Guardfile", "Capfile", "Vagrantfile"),
            lead=r"(?:private|protected|public|module_function|private_class_method)\s+",
        ),
        Language(
            "php",
            "tree_sitter_php",
            (".php", ".phtml"),
            function="language_php",
            lead=r"const\s+",
        ),
        Language("kotlin", "tree_sitter_kotlin", (".kt", ".kts")),
        Language("swift", "tree_sitter_swift", (".swift",)),
        Language("scala", "tree_sitter_scala", (".scala", ".sc", ".sbt"), lifetimes=True),
    )
}

_BY_SUFFIX = {suffix: spec.name for spec in LANGUAGES.values() for suffix in spec.suffixes}
_BY_SUFFIX[".h"] = C_OR_CPP
_BY_NAME = {name: spec.name for spec in LANGUAGES.values() for name in spec.names}

_CPP_SIGN = re.compile(
    rb"^[ \t]*(?:(?:class|namespace)\s+\w|template\s*<|using\s+\w|(?:public|private|protected)\s*:"
    rb"|#\s*include\s*<[a-z_]+>)|\bstd::|\bconstexpr\b|\bvirtual\s|\boperator\s*[=<(\[+*-]",
    re.MULTILINE,
)


def language_of(path: str) -> str:
    """Return the language of a file by its name; empty for a text that is not parsed.

    A `.h` file is `C_OR_CPP` until `resolve` has seen its contents.
    """
    name = path.rpartition("/")[2]
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    dot = name.rfind(".")
    return _BY_SUFFIX.get(name[dot:].lower(), "") if dot > 0 else ""


def resolve(language: str, data: bytes) -> str:
    """Return `cpp` or `c` for a header, by what it holds; any other language as it is."""
    if language != C_OR_CPP:
        return language
    return "cpp" if _CPP_SIGN.search(data) else "c"


@cache
def grammar(name: str) -> Grammar:
    """Return a language ready to parse; once a process.

    Raises:
        KeyError: no such language.
    """
    from tree_sitter import Language as Compiled  # noqa: PLC0415  # heavy, and not always needed
    from tree_sitter import Parser, Query  # noqa: PLC0415

    language = LANGUAGES[name]
    compiled = Compiled(getattr(import_module(language.module), language.function)())
    query = Query(compiled, query_text(language.query or name))
    names = {
        index: setting
        for index in range(query.pattern_count)
        if (setting := query.pattern_settings(index).get("name"))
    }
    lead = re.compile(rb"[ \t]*(" + language.lead.encode() + rb")") if language.lead else None
    return Grammar(language, Parser(compiled), query, names, lead)


def query_text(stem: str) -> str:
    """Return a query file's text, with what it inherits after it."""
    text = (FOLDER / f"{stem}.scm").read_text(encoding="utf-8")
    inherited = re.match(r"; inherits: (\w+)\n", text)
    return text + query_text(inherited[1]) if inherited else text
