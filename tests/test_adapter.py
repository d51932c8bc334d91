"""References, options and loading of adapters."""

from __future__ import annotations

import hashlib
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from codebench.adapter import (
    Retriever,
    builtin_names,
    file_digest,
    file_of,
    find,
    load,
    make,
    one_line,
    parse_reference,
    told,
)
from codebench.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOOD = """
from __future__ import annotations
from typing import TYPE_CHECKING, Literal
from codebench import Hit, Retriever
if TYPE_CHECKING:
    from collections.abc import Sequence
    from codebench import Corpus

class Good(Retriever):
    version = "7"

    def __init__(self, weight: float = 0.5, top: int = 3, tag: str = "", deep: bool = False,
                 mode: Literal["and", "or"] = "and", near: int | None = None, any=None) -> None:
        self.options = dict(weight=weight, top=top, tag=tag, deep=deep, mode=mode, near=near,
                            any=any)
        if top < 0:
            raise ValueError("top is at least 0")

    def index(self, corpus: Corpus) -> None: ...
    def search(self, text: str, k: int) -> Sequence[Hit]:
        return []
"""


@pytest.fixture
def good(tmp_path: Path) -> Path:
    file = tmp_path / "good.py"
    file.write_text(GOOD)
    return file


@pytest.mark.parametrize(
    ("text", "reference", "options"),
    [
        ("bm25", "bm25", {}),
        ("bm25:", "bm25", {}),
        ("bm25:k1=1.2,b=0.75", "bm25", {"k1": 1.2, "b": 0.75}),
        ("x:n=3,m=-4,deep=true,flat=false", "x", {"n": 3, "m": -4, "deep": True, "flat": False}),
        ("x:a=007,b=1e-3,c=.5,d=nan,e=True", "x",
         {"a": 7.0, "b": 0.001, "c": 0.5, "d": "nan", "e": "True"}),
        ("x:tag='7',list=\"a,b\"", "x", {"tag": "7", "list": "a,b"}),
        ("x:url=http://host:80/?q=1", "x", {"url": "http://host:80/?q=1"}),
        ("a.py:C", "a.py:C", {}),
        ("dir/a.py:C:k=1", "dir/a.py:C", {"k": 1}),
        ("a.py", "a.py", {}),
        ("x:empty=", "x", {"empty": ""}),
        ("x:a=b,c='my.py:Own'", "x", {"a": "b", "c": "my.py:Own"}),
        ("x:c='my.py:Own:k=1'", "x", {"c": "my.py:Own:k=1"}),
        ("a.py:c='my.py:Own'", "a.py", {"c": "my.py:Own"}),
        ("a.py:C:c=my.py", "a.py:C", {"c": "my.py"}),
    ],
)  # fmt: skip
def test_a_reference_is_split_from_its_options(
    text: str, reference: str, options: dict[str, Any]
) -> None:
    assert parse_reference(text) == (reference, options)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no retriever"),
        (":k=1", "names no retriever"),
        ("bm25:k1", "'k1' is not an option; write name=value"),
        ("bm25:1k=2", "is not an option"),
        ("a.py:C,k=2,m=1", "'C' is not an option; write name=value; did you mean a.py:C:k=2,m=1?"),
        ("a.py:C,", "did you mean a.py:C?"),
        ("bm25:b=1,b=2", "the option 'b' is given twice"),
    ],
)
def test_a_wrong_reference_is_named(text: str, said: str) -> None:
    with pytest.raises(AdapterError, match=re.escape(said)):
        parse_reference(text)


def test_the_built_in_adapters_are_found_by_name() -> None:
    assert {"bm25", "ripgrep", "git-grep"} <= set(builtin_names())
    source = find("git-grep")
    assert source.file is not None
    assert source.file.name == "git_grep.py"


@pytest.mark.parametrize("name", builtin_names())
def test_each_built_in_adapter_loads_as_a_users_file_does(name: str) -> None:
    assert issubclass(load(name), Retriever)


def test_an_unknown_retriever_gets_near_names() -> None:
    with pytest.raises(AdapterError, match=r"'bm26' is no retriever; did you mean \"bm25\"\?"):
        find("bm26")
    with pytest.raises(AdapterError, match="known: ast-grep, bm25, codesearch, "):
        find("zzzzzz")
    with pytest.raises(AdapterError, match="git-grep"):
        find("git_grep")


def test_an_installed_entry_point_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other_tool.py").write_text(GOOD + "\nodd = 3\n")
    info = tmp_path / "other_tool-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-tool\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[codebench.adapters]\nother = other_tool:Good\nodd = other_tool:odd\n"
        "gone = other_tool:Gone\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    kind = load("other")
    assert kind.__name__ == "Good"
    expected = hashlib.sha256((tmp_path / "other_tool.py").read_bytes()).hexdigest()
    assert file_digest(find("other"), kind) == f"sha256:{expected}"
    with pytest.raises(AdapterError, match="odd: the entry point is not a subclass of Retriever"):
        load("odd")
    with pytest.raises(AdapterError, match="gone: the entry point cannot be loaded: Attr"):
        load("gone")


def test_a_file_is_loaded_by_path_with_or_without_its_class(good: Path) -> None:
    assert load(f"{good}:Good").__name__ == "Good"
    assert load("good.py:Good", good.parent).version == "7"
    assert load("good.py", good.parent).__name__ == "Good"
    assert not (good.parent / "__pycache__").exists()
    digest = hashlib.sha256(good.read_bytes()).hexdigest()
    assert file_digest(find(str(good)), load(str(good))) == f"sha256:{digest}"


@pytest.mark.parametrize(
    ("text", "reference", "said"),
    [
        (GOOD, "gone.py:Good", "there is no file 'gone.py'$"),
        (GOOD, "mien.py:Good", r"there is no file 'mien.py'; did you mean mine.py\?"),
        (GOOD, "mine", r"'mine' is no retriever; did you mean mine.py\?"),
        (GOOD, "mine.py:Goood", 'there is no .Goood.; did you mean "Good"'),
        (GOOD, "mine.py:TYPE_CHECKING", "TYPE_CHECKING is not a subclass of Retriever"),
        ("x = 1", "mine.py", "wants one subclass of Retriever and has none"),
        (GOOD + "\nclass More(Good): ...\n", "mine.py", "has Good, More; name one as mine.py:Cl"),
        ("a = 1\n\nb = a / 0\n", "mine.py:X", r"mine.py:3: raises when it is imported: ZeroDiv"),
        ("def f(:\n", "mine.py:X", r"mine.py:1: raises when it is imported: SyntaxError"),
        ("import nothing_like_it", "mine.py:X", "mine.py:1: .* ModuleNotFoundError: No module"),
        ("raise SystemExit(3)", "mine.py:X", "mine.py:1: .* SystemExit: 3"),
    ],
)
def test_a_file_that_cannot_be_used_says_why_in_one_line(
    tmp_path: Path, text: str, reference: str, said: str
) -> None:
    (tmp_path / "mine.py").write_text(text)
    before = set(sys.modules)
    with pytest.raises(AdapterError, match=said) as caught:
        load(reference, tmp_path)
    assert "\n" not in str(caught.value)
    left = {name for name in set(sys.modules) - before if "raises" in said and "mine" in name}
    assert not left


def test_options_are_fitted_to_the_constructor(good: Path) -> None:
    kind = load(str(good))
    made = make(kind, {"weight": 2, "top": 5, "tag": 7, "deep": True, "mode": "or", "near": 4})
    assert vars(made)["options"] == {
        "weight": 2.0, "top": 5, "tag": "7", "deep": True, "mode": "or", "near": 4, "any": None,
    }  # fmt: skip
    assert vars(make(kind, {"near": None, "any": [0.5]}))["options"]["any"] == [0.5]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"wieght": 1}, "there is no option 'wieght'; did you mean \"weight\"?"),
        ({"weight": "x"}, "weight='x' is not a number"),
        ({"weight": True}, "weight=True is not a number"),
        ({"top": 1.5}, "top=1.5 is not a whole number"),
        ({"tag": 1.5}, "tag=1.5 is not text (write tag='1.5')"),
        ({"deep": 1}, "deep=1 is not true or false"),
        ({"mode": "xor"}, "mode='xor' is not 'and' or 'or'"),
        ({"near": "x"}, "near='x' is not a whole number or nothing"),
        ({"top": -1}, "Good(top=-1): ValueError: top is at least 0"),
        ({"top": "x", "deep": 3}, "top='x' is not a whole number; deep=3 is not true or false"),
    ],
)
def test_a_wrong_option_is_refused(good: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(AdapterError) as caught:
        make(load(str(good)), options)
    assert said in str(caught.value)


def test_an_option_without_a_default_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(GOOD.replace("weight: float = 0.5", "model: str"))
    with pytest.raises(AdapterError, match="the option 'model' is missing"):
        make(load(str(file)), {})


def test_annotations_that_cannot_be_evaluated_still_check(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(GOOD.replace("any=None", "any: Corpus | None = None"))
    kind = load(str(file))
    with pytest.raises(AdapterError, match="top='x' is not a whole number"):
        make(kind, {"top": "x"})
    assert vars(make(kind, {"any": 3}))["options"]["any"] == 3


def test_an_exception_becomes_one_short_line() -> None:
    class Odd(Exception):  # noqa: N818
        def __str__(self) -> str:
            raise RuntimeError

    assert one_line(ValueError("a\n  b")) == "ValueError: a b"
    assert one_line(Odd()) == "Odd"
    assert one_line(KeyError()) == "KeyError"
    assert one_line(ValueError("\x1b[31mred\udc80\x00")) == "ValueError: [31mred"
    assert len(one_line(ValueError("x" * 1000))) == 300


def raised(work: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011  # whatever it is
        work()
    return caught.value


def test_an_exception_is_told_with_the_line_that_it_left_the_adapters_file_by(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        GOOD + "\n\nfrom codebench.protocols.output import ToolError\n\n"
        "class Odd(Exception):\n"
        "    __traceback__ = property(lambda self: 1 / 0)\n\n"
        "def deep(count):\n    return deep(count - 1) if count else {}['boom']\n\n"
        "def parse(): import json; return json.loads('{')\n\n"
        "def long(): raise ValueError('x' * 1000)\n\n"
        "def tool(): raise ToolError('rg ended')\n\n"
        "def odd(): raise Odd('odd')\n"
    )
    kind = load(f"{file}:Good")
    own = vars(sys.modules[kind.__module__])
    lines = file.read_text().splitlines()

    def said(work: Callable[[], object]) -> str:
        return told(raised(work), file_of(kind))

    def place(name: str, after: int = 0) -> str:
        number = 1 + after + next(at for at, line in enumerate(lines) if f"def {name}(" in line)
        return f" at mine.py:{number} in {name}"

    assert said(lambda: own["deep"](3)) == "KeyError: 'boom'" + place("deep", 1)
    assert said(own["parse"]).endswith(place("parse"))
    assert len(said(own["long"])) == 300
    assert said(own["long"]).endswith("xxx..." + place("long"))
    assert said(own["tool"]) == "ToolError: rg ended"
    assert said(own["odd"]) == "Odd: odd" + place("odd")
    assert said(lambda: dict[str, int]()["no"]) == "KeyError: 'no'"
