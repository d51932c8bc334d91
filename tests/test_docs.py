"""The documentation and the program say the same: no command, option or field is only in one."""

from __future__ import annotations

import ast
import dataclasses
import gzip
import importlib
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, cast

import pytest
import yaml

from codebench import Chunk, Corpus, Hit, Retriever
from codebench.adapter import Unavailable, builtin_names, load, make, placed
from codebench.cli import main as program
from codebench.cli.options import FAILED
from codebench.cli.suite import ACTIONS
from codebench.errors import CodebenchError
from codebench.gate.limits_file import read_limits
from codebench.gate.verdict import BROKEN, DOUBTFUL, GOOD
from codebench.gold.logs.columns import read_columns
from codebench.gold.logs.formats import FORMATS
from codebench.gold.questions import read_questions
from codebench.home import builtin
from codebench.measures.catalogue import ALIASES, KINDS
from codebench.model import STATUSES, FileTable, Query, Related, Target
from codebench.reading import Faults
from codebench.results.rows import _READERS
from codebench.runner.cache import ROOMS
from codebench.runner.candidates import read_retrievers
from codebench.suite import members_of, read_suite
from tests import manual

if TYPE_CHECKING:
    from pathlib import Path

    from codebench.cli.parsing import VerbParser
    from codebench.cli.suite import ActionParser

REFERENCE = "docs/command-line.md"


def parser_of(words: list[str]) -> VerbParser:
    verb = importlib.import_module(f"codebench.cli.{words[0]}")
    parser: VerbParser = verb.parser()
    if words[1:]:
        parser = parser.commands[words[1]]
        cast("ActionParser", parser).load()
    return parser


def options_of(words: list[str]) -> set[str]:
    found = set(parser_of(words)._option_string_actions) - {"-h", "--help"}
    assert found or words in (["completion"], ["suite"])
    return found


# What is shown can be typed.


@pytest.mark.parametrize(("place", "words"), manual.commands(), ids=str)
def test_the_program_reads_every_command_in_a_block(place: str, words: list[str]) -> None:
    if words[0].startswith("--"):
        assert words in (["--help"], ["--version"])
        return
    assert words[0] in program.VERBS, place
    parser_of(words[:1]).parse_args(words[1:])
    long = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert long <= options_of(words[:2] if words[0] == "suite" else words[:1])  # none cut short


def test_every_command_in_a_sentence_has_a_verb_and_options_of_the_program() -> None:
    found = manual.mentions()
    assert len(found) > 50
    wrong = []
    for place, words in found:
        if words[0] in {"--help", "--version", "VERB", "ACTION"}:
            continue
        parts = ["suite", *words[1:]] if words[0] == "suite" else words
        if parts[0] not in program.VERBS or (
            parts[0] == "suite" and len(parts) > 1 and parts[1] not in {*ACTIONS, "ACTION"}
        ):
            wrong.append((place, words))
            continue
        action = parts[1:2] if parts[0] == "suite" and "ACTION" not in parts else []
        known = options_of([parts[0], *action]) | {"-h", "--help"}
        wrong += [(place, [word]) for word in words if word.startswith("-") and word not in known]
    assert not wrong


# Whole examples are read by those who will read them.


def blocks_of(language: str) -> list[manual.Block]:
    return [block for block in manual.blocks() if block.language == language]


def place_of(block: manual.Block) -> str:
    return block.place


def stubs(folder: Path) -> None:
    for file in ("my_tool.py", "mine.py"):
        (folder / file).write_text(
            "from codebench import Retriever\n"
            "class MyTool(Retriever):\n"
            "    def __init__(self, weight: float = 0.5, model: str = '') -> None: ...\n"
            "    def index(self, corpus): ...\n"
            "    def search(self, text, k): return []\n"
        )


def read_retrievers_of(file: Path) -> None:
    for one in read_retrievers(file):
        try:
            folder = file.parent
            made = make(load(one.reference, folder), placed(dict(one.options), folder))
        except Unavailable as reason:
            assert "is not there" in str(reason)  # noqa: PT017  # both ends are right
        else:
            made.close()


def read_questions_of(file: Path) -> None:
    faults = Faults(file)
    assert read_questions(file, faults)
    faults.check()


def read_suite_of(file: Path) -> None:
    data = yaml.safe_load(file.read_text())
    file.rename(file.with_name("suite.yaml"))
    if "members" in data:
        for member in data["members"]:
            (file.parent / member).mkdir()
            (file.parent / member / "suite.yaml").write_text("name: a\nrepository: b\n")
        assert [name for name, _ in members_of(file.parent)] == data["members"]
    else:
        row = next(
            block.text
            for block in manual.blocks()
            if block.place.startswith("docs/suites.md") and '"text"' in block.text
        )
        (file.parent / "queries.jsonl").write_text(row)
        assert read_suite(file.parent).queries[0].targets


def read_build(file: Path) -> None:
    """A build's own program reads it; its commands are checked as all others."""
    data = yaml.safe_load(file.read_text())
    assert "codebench gate" in json.dumps(data)


READERS: dict[str, Any] = {
    "retrievers": read_retrievers_of,
    "limits": read_limits,
    "questions": read_questions_of,
    "columns": read_columns,
    "repository": read_suite_of,
    "members": read_suite_of,
    "jobs": read_build,
    "search-quality": read_build,
}


@pytest.mark.parametrize("block", blocks_of("yaml"), ids=place_of)
def test_every_yaml_example_is_right(
    tmp_path: Path, block: manual.Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_TOKEN", "x")
    monkeypatch.setenv("EMBEDDINGS_KEY", "x")
    stubs(tmp_path)
    file = tmp_path / "example.yaml"
    file.write_text(block.text)
    (reader,) = {READERS[key] for key in yaml.safe_load(block.text) if key in READERS}
    reader(file)


@pytest.mark.parametrize("block", blocks_of("python"), ids=place_of)
def test_every_python_example_is_right(tmp_path: Path, block: manual.Block) -> None:
    tree = ast.parse(block.text)
    if "(Retriever)" in block.text:
        file = tmp_path / "example.py"
        file.write_text(block.text)
        made = make(load("example.py", tmp_path), {})
        (tmp_path / "a.py").write_text("def price(): ...\n")
        whole = Chunk("a.py", "price", 1, "function", ((1, 1),), "f", "m", 16)
        corpus = Corpus(tmp_path, "sha256:0", (FileTable("a.py", "python", (17,), (whole,)),))
        if "index.json" in block.text:  # it opens what another program has made
            index = tmp_path / "index.json"
            index.write_text('{"price": [["a.py", 1, 1]]}')
            made = make(type(made), {"file": str(index)})
        made.index(corpus)
        assert [hit.path for hit in made.search("price a", 5)] == ["a.py"]
        if made.save(tmp_path):
            assert made.restore(corpus, tmp_path)
            assert made.search("price", 5)
    elif "evaluate(" in block.text:
        names: dict[str, Any] = {}
        exec(compile(tree, block.place, "exec"), names)  # noqa: S102  # the project's own text
        shown = re.findall(r"^(evaluation\S+)  # ([\d.]+)$", block.text, re.MULTILINE)
        assert len(shown) == 2
        for expression, value in shown:
            assert eval(expression, names) == pytest.approx(float(value))  # noqa: S307  # as above
    else:
        assert "def test_" in block.text


def test_every_json_and_toml_example_is_right() -> None:
    rows = [b for b in manual.blocks() if b.language in {"json", "toml"}]
    assert len(rows) >= 3
    for block in rows:
        if block.language == "toml":
            assert tomllib.loads(block.text)
        else:
            assert all(json.loads(line) for line in block.text.strip().split("\n"))


# Every link leads somewhere, and every page is found.


@pytest.mark.parametrize("page", manual.pages(), ids=manual.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    wrong = []
    for file, heading in manual.links(page):
        target = (page.parent / file).resolve() if file else page
        anchors = manual.headings(target.read_text("utf-8")) if target.is_file() else []
        if not target.exists() or (heading and heading not in anchors):
            wrong.append(f"{file}#{heading}")
    assert not wrong


def test_every_page_is_in_an_index() -> None:
    for index in ("docs/README.md", "docs/decisions/README.md"):
        page = manual.ROOT / index
        linked = {(page.parent / file).resolve() for file, _ in manual.links(page)}
        assert {one for one in page.parent.glob("*.md") if one != page} <= linked
    assert ("docs/README.md", "") in list(manual.links(manual.ROOT / "README.md"))


def test_a_decision_is_short() -> None:
    for page in (manual.ROOT / "docs/decisions").glob("0*.md"):
        assert len(page.read_text().split("\n")) < 40
        assert {"**Asked.**", "**Measured.**", "**Chosen.**", "**Cost.**"} <= set(
            re.findall(r"\*\*\w+\.\*\*", page.read_text())
        )


# The reference has all that the program has.


@pytest.mark.parametrize("verb", sorted(program.VERBS))
def test_every_option_of_a_verb_is_in_the_reference(verb: str) -> None:
    text = manual.section(REFERENCE, f"`codebench {verb}")
    if verb == "suite":
        for action in ACTIONS:
            (row,) = (line for line in text.split("\n") if line.startswith(f"| `{action} "))
            names = {one for code in manual.names_in(row) for one in code.split("/")}
            assert options_of(["suite", action]) <= names
        return
    others = tuple(f"| `{other} " for other in program.VERBS if other != verb)
    own = "\n".join(line for line in text.split("\n") if not line.startswith(others))
    names = {one for code in manual.names_in(own) for one in code.split("/")}
    assert options_of([verb]) <= names


def tables_first_cells(text: str) -> set[str]:
    return {cell.strip() for cell in re.findall(r"^\| *`?([^|`]+?)`? *\|", text, re.MULTILINE)}


def test_every_exit_code_is_in_the_reference() -> None:
    kinds: list[type[CodebenchError]] = [CodebenchError, *CodebenchError.__subclasses__()]
    codes = {kind.exit_code for kind in kinds} | {FAILED, 128 + 1, 128 + 2, 128 + 15}
    codes |= {GOOD, BROKEN, DOUBTFUL}
    listed = tables_first_cells(manual.section(REFERENCE, "Exit codes"))
    assert {int(one) for one in listed if one.isdecimal()} == codes


_VARIABLE = re.compile(
    r"""os\.environ(?:\.(?:get|pop|setdefault)\(|\[)"([A-Z_]+)\""""
    r"""|"([A-Z_]+)" (?:not )?in os\.environ"""
)


def variables() -> set[str]:
    """Return the environment variables that the harness names where it reads them."""
    found = set()
    for file in (manual.ROOT / "codebench").rglob("*.py"):
        found |= {one or other for one, other in _VARIABLE.findall(file.read_text("utf-8"))}
    return found - {"GIT_PYTHON_REFRESH"}  # set, for GitPython, and never asked for


def test_every_environment_variable_is_in_the_reference() -> None:
    assert {"CODEBENCH_CACHE", "NO_COLOR"} <= variables()
    text = manual.section(REFERENCE, "Environment variables")
    assert variables() <= tables_first_cells(text)


def test_every_measure_is_in_the_reference() -> None:
    text = manual.section("docs/measures.md", "Formulas")
    named = {re.sub(r"\W.*", "", one) for one in manual.names_in(text)}
    assert {kind.name for kind in KINDS} | set(ALIASES) <= named


def test_every_field_of_a_run_is_in_the_reference() -> None:
    names = manual.names_in(manual.read("docs/run-folder.md"))
    (folder,) = (manual.ROOT / "results").glob("stdlib-*")
    manifest = json.loads((folder / "manifest.json").read_text())
    wanted = set(manifest) | set(STATUSES) | set(_READERS)
    for part in ("suite", "corpus", "settings", "machine", "harness"):
        wanted |= set(manifest[part])
    for retriever in manifest["retrievers"]:
        wanted |= set(retriever) | set(retriever.get("checkout", ()))
        with gzip.open(folder / "answers" / f"{retriever['file']}.gz", "rt") as rows:
            wanted |= {field for row in rows for field in json.loads(row)}
    assert "peak_rss_bytes" in wanted
    assert wanted <= names


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_everything_that_an_adapter_meets_is_in_the_reference() -> None:
    text = manual.read("docs/adapters.md")
    names = {re.sub(r"\(.*", "", one) for one in manual.names_in(text)}
    for kind in (Retriever, Corpus, Chunk, FileTable, Hit):
        assert public(kind) - {"count"} <= names, kind


def test_everything_that_has_a_name_is_on_its_page() -> None:
    suites = manual.names_in(manual.read("docs/suites.md"))
    for kind in (Query, Target, Related):
        assert {field.name for field in dataclasses.fields(kind)} <= suites
    recipes = {file.stem for file in builtin("suites").glob("recipes/*.yaml")}
    assert recipes
    assert recipes <= suites
    assert set(FORMATS) <= manual.names_in(manual.read("docs/logs.md"))
    adapters = manual.read("adapters/README.md").split("\n")
    listed = manual.names_in("\n".join(line.split(" | ")[0] for line in adapters))
    assert set(builtin_names()) <= listed
    assert set(ROOMS) <= tables_first_cells(manual.section(REFERENCE, "`codebench cache"))
