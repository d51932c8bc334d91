"""Templates, routes, field maps, paths and options of adapters that need no Python."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from codebench.adapter import Unavailable, load, make, placed
from codebench.errors import AdapterError, InputError
from codebench.model import Corpus, FileTable, Hit
from codebench.protocols import templates
from codebench.protocols.output import Found, Output, ToolError, arranged, read_output
from codebench.protocols.places import Places, common_folder
from codebench.protocols.processes import Conversation, run_bounded
from codebench.protocols.routes import items_at, parse_route, value_at
from codebench.reading import Faults, Fields

FILES = ("api/auth.py", "api/server.py", "README.md", "a b/ü.py")


def output(**fields: Any) -> Output:
    faults = Faults("")
    found = read_output(Fields({"output": fields}, faults))
    faults.check()
    return found


def a_corpus(root: Path) -> Corpus:
    return Corpus(root, "", tuple(FileTable(path, "", (1,) * 50, ()) for path in FILES))


def test_placeholders_are_filled_once_and_never_looked_at_again() -> None:
    given = templates.values("where is {k} of ${HOME} {corpus}?\0\ud800", 7, Path("/c"))
    assert templates.fill("q={query}", given) == "q=where is {k} of ${HOME} {corpus}? ?"
    template = {"q": ["{words}"], "n": "{k}", "t": "{k}!", "x": 3, "y": None}
    assert templates.fill(template, given) == {
        "q": ["home corpus"], "n": 7, "t": "7!", "x": 3, "y": None,
    }  # fmt: skip
    assert templates.fill("-e{alternatives}", templates.values("Retry BACKOFF", 1, Path())) == (
        "-eretry|backoff"
    )
    assert templates.placeholders(["{query}", {"a": "${query} { query }"}]) == {"query"}
    assert templates.is_wordless("{words}", templates.values("the of", 1, Path()))
    assert not templates.is_wordless("{query}{words}", templates.values("the of", 1, Path()))


def test_the_environment_is_read_by_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "s3cret")
    assert templates.from_environment("Bearer ${SOME_KEY} $SOME_KEY {x}") == (
        "Bearer s3cret $SOME_KEY {x}"
    )
    monkeypatch.delenv("SOME_KEY")
    with pytest.raises(ValueError, match="the variable SOME_KEY is not set"):
        templates.from_environment("${SOME_KEY}")


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        ("path", "p"),
        ("hit.path", "deep"),
        ("lines[1]", 9),
        ("^file", "outer"),
        ("^^took", 3),
        ("^^^took", None),
        ("hit.path.more", None),
        ("lines[7]", None),
        ("none", None),
    ],
)
def test_a_route_leads_to_a_value_or_nowhere(route: str, expected: Any) -> None:
    item = {"path": "p", "hit": {"path": "deep"}, "lines": [8, 9], "none": None}
    outer = {"file": "outer", "matches": [item]}
    scopes = ({"took": 3, "files": [outer]}, outer, item)
    assert value_at([parse_route(route)], scopes) == expected
    assert value_at([parse_route("gone"), parse_route(route)], scopes) == expected


@pytest.mark.parametrize(
    "text", ["", "^", "a..b", ".a", "a.", "a[x]", "a]b", "a[", "^[].b^", "a[-1]"]
)
def test_what_is_no_route_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a route"):
        parse_route(text)


def test_items_are_found_through_lists_of_lists() -> None:
    document = {"files": [{"f": "a", "m": [1, 2]}, {"f": "b", "m": None}, {"f": "c"}], "none": None}
    deep = items_at([parse_route("files[].m[]")], document)
    assert deep is not None
    assert [(scopes[1]["f"], scopes[2]) for scopes in deep] == [("a", 1), ("a", 2)]
    assert items_at([parse_route("none[]")], document) == []
    assert items_at([parse_route("gone[]")], document) is None
    assert items_at([parse_route("gone[]"), parse_route("files[]")], document) is not None
    assert items_at([parse_route("[]")], [1, 2]) == [([1, 2], 1), ([1, 2], 2)]
    assert items_at([parse_route("files")], {"files": {"path": "x"}}) is not None


@pytest.mark.parametrize(
    ("fields", "text", "expected"),
    [
        ({}, '[{"path": "a", "start_line": 2, "end_line": 5, "score": 0.5}]',
         [Found("a", 2, 5, None, 0.5)]),
        ({}, '{"results": [{"file_path": "a", "line": "7"}]}', [Found("a", 7)]),
        ({}, '{"hits": ["a", "b"]}', [Found("a"), Found("b")]),
        ({}, '{"results": null}', []),
        ({}, '{"results": [], "error": null}', []),
        ({"fields": {"path": ["x", "hit.path"], "line": "hit.at"}},
         '[{"hit": {"path": "a", "at": 3.0}}, {"x": "b"}]', [Found("a", 3), Found("b")]),
        ({"hits": "Files[].Lines[]", "fields": {"path": "^Name", "line": "N"}},
         '{"Files": [{"Name": "a", "Lines": [{"N": 4}, {"N": 6}]}]}',
         [Found("a", 4), Found("a", 6)]),
        ({"zero_based": True}, '[{"path": "a", "line": 0, "end_line": 3}]', [Found("a", 1, 4)]),
        ({"zero_based": True, "end_exclusive": True}, '[{"path": "a", "line": 0, "end_line": 3}]',
         [Found("a", 1, 3)]),
        ({}, '[{"path": "a", "lines": [3, 9]}, {"path": "a", "lines": "L3-L9"}]',
         [Found("a", 3, 9), Found("a", 3, 9)]),
        ({"format": "lines", "where": {"type": "match"}, "fields": {"path": "d.p"}},
         '{"type": "begin"}\n\n{"type": "match", "d": {"p": "a"}}\n', [Found("a")]),
        ({"format": "lines"}, "", []),
        ({"format": "pattern", "pattern": r"^(?P<score>[\d.]+) (?P<path>.+?):(?P<line>\d+)$"},
         "0.5 a:b.py:3\nnoise\n2 c:1\n",
         [Found("a:b.py", 3, None, None, 0.5), Found("c", 1, None, None, 2.0)]),
        ({"format": "pattern", "pattern": "^(?P<path>.+):"}, " \n", []),
        ({"format": "pattern", "pattern": "^(?P<path>.+):"}, "no matches found\n", []),
    ],
)  # fmt: skip
def test_outputs_are_read_by_field_map(
    fields: dict[str, Any], text: str, expected: list[Found]
) -> None:
    assert output(**fields).of_text(text) == expected


@pytest.mark.parametrize(
    ("fields", "text", "said"),
    [
        ({}, "", "its output is not JSON .*it is empty"),
        ({}, "Traceback (most", "its output is not JSON"),
        ({}, '{"answer": 3}', r"its output has none of \[\], results\[\], .*answer"),
        ({}, '{"results": [{"x": 1}]}', "result 1: has no text in any of path, file_path"),
        ({}, '[{"path": "a", "line": "seven"}]', 'result 1: "seven" is no line'),
        ({}, '[{"path": "a", "line": true}]', "result 1: true is no line"),
        ({}, '[{"path": "a"}, {"path": "a", "score": "x"}]', 'result 2: "x" is no score'),
        ({}, '[{"path": "a", "score": NaN}]', "holds NaN"),
        ({}, '{"error": "no index", "results": []}', "it says that it failed: no index"),
        ({}, '{"error": {"message": "gone"}}', "it says that it failed: .*gone"),
        ({}, '{"success": false, "results": []}', "it says that it failed"),
        ({}, '{"status": "error", "results": []}', "it says that it failed"),
        ({"errors": "oops"}, '{"oops": "bad", "results": []}', "it says that it failed: bad"),
        ({"format": "lines"}, '{"path": "a"}\nhello\n', "line 2 of its output is not JSON"),
        ({"format": "lines"}, '{"error": "late"}\n', "it says that it failed: late"),
        ({}, "[" * 100_000, "nested too deeply|is not JSON"),
        (
            {"format": "pattern", "pattern": "^(?P<path>.+):"},
            "a.py 3\nb.py 7\n",
            "nothing in its output matches the pattern: a.py 3 b.py 7",
        ),
        (
            {"format": "pattern", "pattern": "^(?P<path>.+):"},
            "x = 1  # none found\n" * 100,
            "nothing in its output matches",
        ),
    ],
)
def test_what_is_no_answer_is_an_error_and_never_an_empty_one(
    fields: dict[str, Any], text: str, said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        output(**fields).of_text(text)


def test_the_order_is_as_printed_or_defined_and_only_the_same_place_is_merged() -> None:
    hits = [
        Hit("b", 1, 2, score=1), Hit("a", 5, 9, score=2), Hit("b", 1, 2, score=3),
        Hit("b", 1, 3), Hit("b", 1, 2, "f"), Hit("a", 5, 9, score=2),
    ]  # fmt: skip
    assert arranged(hits, "printed") == [hits[0], hits[1], hits[3], hits[4]]
    assert arranged(hits, "printed", repeats=True) == hits
    scored = arranged(hits, "score")
    assert [(hit.path, hit.score) for hit in scored] == [
        ("b", 3),
        ("a", 2),
        ("b", None),
        ("b", None),
    ]
    assert arranged(hits[::-1], "score", repeats=True) == arranged(hits, "score", repeats=True)
    assert [hit.path for hit in arranged(hits[::-1], "place")] == ["a", "b", "b", "b"]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("api/auth.py", "api/auth.py"),
        ("./api//auth.py", "api/auth.py"),
        ("{root}/api/auth.py", "api/auth.py"),
        ("{link}/api/auth.py", "api/auth.py"),
        ("file://{root}/a%20b/%C3%BC.py", "a b/ü.py"),
        ("corpus/api/auth.py", "api/auth.py"),
        ("../corpus/api/auth.py", "api/auth.py"),
        ("made/corpus/api/auth.py", "api/auth.py"),
        ("/srv/checkouts/shop/api/auth.py", "api/auth.py"),
        ("shop-main/api/auth.py", "api/auth.py"),
        ("gone.py", "gone.py"),
        ("/etc/passwd", "/etc/passwd"),
        ("../../etc/passwd", "../../etc/passwd"),
    ],
)
def test_paths_are_settled_whatever_root_was_printed(
    tmp_path: Path, printed: str, expected: str
) -> None:
    root = tmp_path / "made" / "corpus"
    root.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(root)
    path = printed.replace("{root}", str(root)).replace("{link}", str(link))
    corpus = a_corpus(link if "{root}" in printed else root)
    assert Places(corpus).settle([path]) == {path: expected}


def test_a_foreign_folder_is_taken_off_only_where_it_explains_the_answer(tmp_path: Path) -> None:
    places = Places(a_corpus(tmp_path))
    far = ["/srv/x/api/auth.py", "/srv/x/gone.py", "/srv/x/README.md"]
    assert places.settle(far) == {far[0]: "api/auth.py", far[1]: "gone.py", far[2]: "README.md"}
    two = ["/srv/x/api/auth.py", "/opt/README.md"]
    assert places.settle(two) == {path: path for path in two}
    known = ["api/auth.py", "docs/README.md"]  # the second is no file of the corpus, and stays so
    assert places.settle(known) == {path: path for path in known}
    assert common_folder([], lambda _: True) == ""
    named = Places(a_corpus(tmp_path), "repo/shop")
    assert named.settle(["repo/shop/README.md"]) == {"repo/shop/README.md": "README.md"}


def test_every_fault_of_an_entry_is_told_at_once_with_near_names() -> None:
    options = {
        "argvs": ["x"],
        "argv": ["tool", "{qery}", 3],
        "persistent": "yes",
        "output": {
            "format": "jsn",
            "pattern": "(",
            "feilds": {},
            "fields": {"pth": "a", "path": "a[]", "line": "a..b"},
            "order": "random",
        },
    }
    with pytest.raises(AdapterError) as caught:
        make(load("command"), options)
    lines = str(caught.value).splitlines()
    for part in [
        'argvs: is not a field here; did you mean "argv"?',
        "argv: '3' is not text",
        "persistent: '\"yes\"' is not true or false",
        "output.format: 'jsn' is not one of json, lines, pattern; did you mean \"json\"?",
        "output.pattern: '(' is no regular expression",
        'output.feilds: is not a field here; did you mean "fields"',
        'output.fields.pth: is not a field here; did you mean "path"?',
        "output.fields.path: 'a[]' goes through a list",
        "output.fields.line: 'a..b' is not a route",
        "output.order: 'random' is not one of printed, score, place",
    ]:
        assert any(part in line for line in lines), (part, lines)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("command", {}, "argv: is missing"),
        ("command", {"argv": []}, "argv: is empty"),
        ("command", {"argv": ["tool"]}, "argv: is never told the question"),
        ("command", {"argv": ["{query}"]}, "argv: '{query}' is no program"),
        ("command", {"argv": ["rg", "{query}"]}, "'{query}' could be taken for an option; put"),
        ("command", {"argv": ["rg", "-e", "{words}"]}, "could be taken for an option"),
        ("command", {"argv": ["sh", "-c", "grep '{query}'"]}, "would be run as a program"),
        ("command", {"argv": ["python3", "-c", "x={query}"]}, "would be run as a program"),
        ("command", {"argv": ["cat", "x{foo}"], "stdin": "{query}"}, "'{foo}' is no placeholder"),
        ("command", {"argv": ["cat", "{query} "], "persistent": True}, "cannot hold the question"),
        ("command", {"argv": ["cat", " {query}"], "output": {"format": "pattern"}},
         "output.pattern: is missing"),
        ("command", {"argv": ["cat", " {query}"], "environment": {"A": "${NOT_SET_HERE}"}},
         "environment.A: the variable NOT_SET_HERE is not set"),
        ("http", {}, "url: is missing"),
        ("http", {"url": "ftp://host/{query}"}, "is no http:// or https:// address"),
        ("http", {"url": "http://{query}.host/"}, "has a placeholder in its host"),
        ("http", {"url": "http://user:pw@host/{query}"}, "holds a user's name"),
        ("http", {"url": "http://host/"}, "is never told the question"),
        ("http", {"url": "http://host/ü?{query}"}, "holds what no address can"),
        ("http", {"url": "http://host/{query}", "headers": {"Authorization": "Bearer abc"}},
         "headers.Authorization: is written out; write ${NAME}"),
        ("http", {"url": "http://host/{query}", "headers": {"A\nB": "x"}}, "no header's name"),
        ("http", {"url": "http://a/{query}", "index": {"url": "http://b/"}}, "on another host"),
        ("http", {"url": "http://a/{query}", "timeout_seconds": 0}, "timeout_seconds: '0' is not"),
        ("mcp", {"tool": "t", "arguments": {"q": "{query}"}}, "argv: or url is wanted"),
        ("mcp", {"argv": ["x"], "tool": "t", "arguments": {"q": "x"}}, "never tell the question"),
        ("mcp",
         {"argv": ["x"], "tool": "t", "arguments": {"q": "{query}"}, "setup": [{"tol": "x"}]},
         'setup[1].tol: is not a field here; did you mean "tool"?'),
        ("lsp", {"argv": ["ty", "x{query}"]}, "cannot hold the question"),
        ("lsp", {"argv": ["ty"], "ask": "word"}, "ask: 'word' is not one of words, whole"),
        ("embeddings", {"url": "http://a/v1"}, "model: is missing"),
        ("embeddings", {"url": "http://a", "model": "m", "window": 5, "overlap": 5},
         "overlap: '5' is not less than window"),
    ],
)  # fmt: skip
def test_an_impossible_entry_is_refused(name: str, options: dict[str, Any], said: str) -> None:
    kind = load(name)
    if kind.missing():
        pytest.skip(str(kind.missing()))
    with pytest.raises(AdapterError) as caught:
        make(kind, options)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("command", {"argv": "grep -rn"}, "argv: '\"grep -rn\"' is not a list"),
        ("command", {"argv": ["grep", 3]}, "argv: '3' is not text; every item is a string"),
        ("command", {}, "argv: is missing"),
        ("command", {"argv": []}, "argv: is empty; write the program"),
        ("http", {"url": 3}, "url: '3' is not text; put it in quotes"),
        (
            "mcp",
            {"argv": "x", "tool": "t", "arguments": {"q": "{query}"}},
            "argv: '\"x\"' is not a list",
        ),
    ],
)
def test_what_only_follows_from_a_fault_is_not_told_as_another(
    name: str, options: dict[str, Any], said: str
) -> None:
    kind = load(name)
    if kind.missing():
        pytest.skip(str(kind.missing()))
    with pytest.raises(AdapterError) as caught:
        make(kind, options)
    (line,) = str(caught.value).splitlines()
    assert said in line


def test_a_program_that_is_not_there_is_left_out_with_its_mend() -> None:
    with pytest.raises(Unavailable, match="the program nope-nope is not there; npm install nope"):
        make(load("command"), {"argv": ["nope-nope", " {query}"], "install": "npm install nope"})


def test_a_program_that_is_no_program_yet_is_told_apart_from_one_that_is_not_there(
    tmp_path: Path,
) -> None:
    script = tmp_path / "find.sh"
    script.write_text("#!/bin/sh\necho []\n")
    options = {"argv": [str(script), "--", "{query}"], "install": "npm install nope"}
    with pytest.raises(Unavailable, match="there but not executable; chmod "):
        make(load("command"), options)
    script.chmod(0o755)
    assert make(load("command"), options)
    with pytest.raises(Unavailable, match=r"there; write \{here\}/tools/find\.sh for what"):
        make(load("command"), {"argv": ["tools/find.sh", "--", "{query}"]})


def test_a_version_is_asked_and_files_of_the_call_are_part_of_it(tmp_path: Path) -> None:
    script = tmp_path / "tool.sh"
    script.write_text("echo []\n")
    options = {"argv": ["sh", "{here}/tool.sh", "--", "{query}"]}
    settled = placed(options, tmp_path)
    assert settled["argv"][1] == str(script)
    asked = {**settled, "version": [sys.executable, "-c", "print('2.1\\nmore')"]}
    first = make(load("command"), asked).version
    assert first.startswith("2.1 sha256:")
    script.write_text("echo [] # another\n")
    assert make(load("command"), asked).version != first


def test_an_input_error_of_an_adapter_keeps_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from codebench import Retriever\n"
        "from codebench.errors import Fault, InputError\n"
        "class Mine(Retriever):\n"
        "    def __init__(self): raise InputError([Fault('a'), Fault('b')])\n"
        "    def index(self, corpus): ...\n"
        "    def search(self, text, k): return []\n"
    )
    with pytest.raises(AdapterError) as caught:
        make(load(str(file)), {})
    assert str(caught.value) == "a\nb"
    assert InputError([]).faults == ()


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_process_is_bounded_and_told_apart(tmp_path: Path) -> None:
    def done(code: str, **more: Any) -> Any:
        return run_bounded(python(code), cwd=tmp_path, environment={"MINE": "1"}, **more)

    echo = "import os, sys; print(os.environ['MINE'] + sys.stdin.read()); sys.exit(3)"
    said = done(echo, stdin=b"x" * 300_000)
    assert (said.status, len(said.output)) == (3, 300_002)
    assert done("print(end='', file=__import__('sys').stderr); 1/0").complaints.endswith("by zero")
    with pytest.raises(ToolError, match="prints more than 1000 bytes"):
        done("while True: print('x' * 100)", limit=1000)
    assert done("import sys; sys.stdin.close()", stdin=b"x" * 1_000_000).status == 0
    with pytest.raises(ToolError, match="an argument of 200000 bytes is too long"):
        run_bounded(["echo", "x" * 200_000], cwd=tmp_path, environment={})
    with pytest.raises(ToolError, match="cannot be started"):
        run_bounded([str(tmp_path)], cwd=tmp_path, environment={})


def test_a_daemon_that_holds_the_pipes_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '20']); print('[]', flush=True)"
    start = time.monotonic()
    assert run_bounded(python(code), cwd=tmp_path, environment={}).output == b"[]\n"
    assert time.monotonic() - start < 10


def test_a_conversation_ends_with_an_error_where_the_program_does(tmp_path: Path) -> None:
    talk = Conversation(
        python("input(); print('a'); import sys; sys.exit(4)"), cwd=tmp_path, environment={}
    )
    talk.say(b"x\n")
    assert talk.line() == b"a\n"
    with pytest.raises(ToolError, match="ended with status 4"):
        talk.line()
    assert not talk.alive
    with pytest.raises(ToolError, match="ended with status 4"):
        talk.say(b"x" * 100_000)
    loud = Conversation(python("print('x' * 5000)"), cwd=tmp_path, environment={})
    with pytest.raises(ToolError, match="a line of more than 100 bytes"):
        loud.line(100)
