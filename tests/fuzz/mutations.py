"""Valid files -> files that somebody broke: in their bytes, or in what they say."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Draw = Callable[[st.SearchStrategy[Any]], Any]
    Way = tuple[str | int, ...]

RAW: Mapping[str, str] = {
    "⟦deep⟧": "[" * 900 + "]" * 900,
    "⟦deeper⟧": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "⟦digits⟧": "9" * 5000,
    "⟦hex⟧": "0x" + "f" * 5000,
    "⟦sixty⟧": "1" + ":1" * 300 + ".5",
    "⟦huge⟧": "1e400",
    "⟦nan⟧": "NaN",
    "⟦infinity⟧": "-Infinity",
    "⟦not a number⟧": ".nan",
    "⟦twice⟧": '{"a": 1, "a": 2}',
    "⟦surrogate⟧": r'"\ud800"',
    "⟦merge⟧": "{<<: {id: x, name: x}}",
    "⟦anchor⟧": "&x [*x, *x]",
    "⟦tag⟧": "!!python/object/apply:os.system [exit]",
    "⟦date⟧": "2024-13-41",
}
"""What no library writes, by the text that stands for it until the file is written."""

VALUES: tuple[Any, ...] = (
    *RAW,
    *(None, True, False, 0, -1, 1.5, 2**63, -(2**70), 10**400, 1e308, 5e-324),
    *("", " ", "x", "3", "1e5", "/", ".", "..", "../../../x", "/etc/passwd", "a\0b", "\x1b[31m"),
    *("\ufeffx", "\u2028", "٣", "a" * 300, "a/" * 10_000, "x" * 70_000, "'", '"', "a\tb", "a\nb"),
    *([], {}, [[]], [{}], [None], [1, 2], {"": None}, {"a": {"b": []}}, ["x"] * 3000),
)
BYTES: tuple[bytes, ...] = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n", b"\t", b" ", b"'", b'"', b"\\"),
    *(
        b"[" * 50,
        b"{" * 50,
        b"&a ",
        b"*a",
        b"<<: ",
        b"!!set ",
        b"!x ",
        b"---\n",
        b"...\n",
        b"%",
        b"@",
    ),
    *(
        b"- ",
        b"? ",
        b": ",
        b"#",
        b"|\n",
        b">",
        b"=",
        b",",
        b";",
        b":",
        b"::",
        b"NaN",
        b"-1",
        b"9" * 5000,
    ),
    *(b"\xc3", b"\xed\xa0\x80", b"\\ud800", b"../", b"\x1b]0;x\x07", b"</DOC>", b"<DOC>", b"<top>"),
    *(b"@@ -1 +1 @@\n", b"--- a/x\n+++ b/x\n", b"diff --git ", b"(", b")", b"@", b"{", b"}", b"]"),
)


def places(value: Any, at: Way = ()) -> Iterator[Way]:
    """Yield the way to a value and to every value inside it."""
    yield at
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in pairs:
            yield from places(one, (*at, key))


def reached(value: Any, way: Way) -> Any:
    """Return what a way leads to."""
    for key in way:
        value = value[key]
    return value


def put(value: Any, way: Way, new: Any) -> Any:
    """Return a copy in which another value stands at the end of a way."""
    if not way:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = put(copy[way[0]], way[1:], new)
    return copy


def changed_value(draw: Draw, value: Any) -> Any:
    """Change what plain data says at one place."""
    every = list(places(value))
    way = draw(st.sampled_from(every))
    inner = reached(value, way)
    kind = draw(st.sampled_from(["wrong", "wrong", "other", "drop", "twice", "rename", "add"]))
    if kind == "drop" and isinstance(inner, dict | list) and inner:
        key = draw(st.sampled_from(list(inner) if isinstance(inner, dict) else range(len(inner))))
        left: Any = dict(inner) if isinstance(inner, dict) else list(inner)
        del left[key]
        return put(value, way, left)
    if kind == "twice" and isinstance(inner, list):
        return put(value, way, inner * draw(st.sampled_from([2, 3, 50])))
    if kind == "rename" and isinstance(inner, dict) and inner:
        key = draw(st.sampled_from(list(inner)))
        name = draw(st.sampled_from(["", f"{key}s", "\0", *list(inner)]))
        return put(value, way, {(name if one == key else one): own for one, own in inner.items()})
    if kind == "add" and isinstance(inner, dict):
        return put(value, way, {**inner, "new": draw(st.sampled_from(VALUES))})
    if kind == "other":
        return put(value, way, reached(value, draw(st.sampled_from(every))))
    return put(value, way, draw(st.sampled_from(VALUES)))


def changed_bytes(draw: Draw, data: bytes) -> Any:
    """Change a file's bytes at one place, or all of them."""
    at = draw(st.integers(0, len(data)))
    kind = draw(
        st.sampled_from(["flip", "cut", "head", "insert", "repeat", "lose", "swap", "recode"])
    )
    if kind == "flip" and at < len(data):
        return data[:at] + bytes([data[at] ^ 1 << draw(st.integers(0, 7))]) + data[at + 1 :]
    if kind == "cut":
        return data[:at]
    if kind == "head":
        return data[at:]
    if kind == "insert":
        return data[:at] + draw(st.sampled_from(BYTES)) + data[at:]
    lines = data.splitlines(keepends=True) or [b""]
    line = draw(st.integers(0, len(lines) - 1))
    if kind == "repeat":
        lines[line:line] = [lines[line]] * draw(st.sampled_from([1, 2, 100]))
    elif kind == "lose":
        del lines[line]
    elif kind == "swap":
        other = draw(st.integers(0, len(lines) - 1))
        lines[line], lines[other] = lines[other], lines[line]
    else:
        return recoded(draw, data)
    return b"".join(lines)


def recoded(draw: Draw, data: bytes) -> Any:
    """Write the same text as another system would."""
    text = data.decode("utf-8", "replace")
    return draw(
        st.sampled_from(
            [
                text.encode("utf-16"),
                text.encode("latin-1", "replace"),
                text.replace("\n", "\r\n").encode(),
                text.replace("\n", "\r").encode(),
                text.encode("utf-8-sig"),
                gzip.compress(data, mtime=0),
                data + data,
                b"",
            ]
        )
    )


def dumped(value: Any, kind: str) -> bytes:
    """Write plain data as JSON, JSON Lines or YAML, with what no library writes put in."""
    if kind == "yaml":
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10**6)
        quotes = ["", "'", '"']
    elif kind not in {"json", "traj"} and isinstance(value, list):
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in value)
        quotes = ['"']
    else:
        text = json.dumps(value, ensure_ascii=False)
        quotes = ['"']
    for mark, raw in RAW.items():
        for quote in reversed(quotes):
            text = text.replace(f"{quote}{mark}{quote}", raw)
    return text.encode("utf-8", "surrogatepass")


@st.composite
def broken(draw: Draw, name: str, data: bytes) -> bytes:
    """Break one file by what its name says that it is, once to three times."""
    packed = name.endswith(".gz")
    data = gzip.decompress(data) if packed else data
    kind = name.removesuffix(".gz").rpartition(".")[2]
    times = draw(st.integers(1, 3))
    value = parsed(data, kind) if draw(st.integers(0, 3)) else None
    if value is not None:
        for _ in range(times):
            value = changed_value(draw, value)
        data = dumped(value, kind)
    else:
        for _ in range(times):
            data = changed_bytes(draw, data)
    if not packed:
        return data
    data = gzip.compress(data, mtime=0)
    return changed_bytes(draw, data) if draw(st.integers(0, 9)) == 0 else data


def parsed(data: bytes, kind: str) -> Any:
    """Read what a file says; None where it is no data, or never was whole."""
    if kind == "yaml":
        return yaml.safe_load(data)
    try:
        if kind in {"json", "traj"}:
            return json.loads(data)
        if kind == "jsonl" or data[:1] == b"{":
            return [json.loads(line) for line in data.splitlines() if line[-1:] == b"}"]
    except ValueError:
        return None
    return None
