"""YAML as plain data: what a person writes by hand, and nothing that can surprise."""

from __future__ import annotations

from typing import Any

import yaml

_LONGEST_NUMBER = 100
_NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
_MERGE = "tag:yaml.org,2002:merge"


class YamlError(ValueError):
    """The text is not plain YAML; carries the 1-based line where that is known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class _Loader(yaml.SafeLoader):
    """SafeLoader without anchors, tags, dates, repeated keys and bottomless nesting."""

    max_depth = 0

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it bare
        line = event.start_mark.line + 1
        if getattr(event, "anchor", None):
            raise YamlError(f"holds the anchor or alias {event.anchor!r}; write it out", line)
        if getattr(event, "tag", None):
            raise YamlError(f"holds the tag {event.tag!r}; write plain data", line)
        self.depth += 1
        if self.depth > self.max_depth:
            raise YamlError(f"is nested more than {self.max_depth} deep", line)
        node = super().compose_node(parent, index)
        self.depth -= 1
        # Digits cost the square of their number, and so do those of base 60 (1:30:00).
        if node is not None and node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            raise YamlError(f"holds a number of {len(node.value)} characters", line)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise YamlError("has a key that is not text", key.start_mark.line + 1)
            if key.tag == _MERGE:
                raise YamlError("holds the merge key <<; write it out", key.start_mark.line + 1)
            if key.value in seen:
                twice = key.value[:60]
                raise YamlError(f"holds the key {twice!r} twice", key.start_mark.line + 1)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parse_yaml(text: str, max_depth: int) -> Any:
    """Parse one YAML document.

    Raises:
        YamlError: it is not YAML, or uses a part of YAML that is refused here.
    """
    try:
        loader = _Loader(text)
        loader.max_depth = max_depth
        return loader.get_single_data()
    except YamlError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise YamlError(f"is not YAML ({error.problem or error.context})", line) from None
    except (yaml.YAMLError, ValueError) as error:  # a number that cannot be one
        raise YamlError(f"is not YAML ({' '.join(str(error).split())})") from None


def field_lines(text: str, max_depth: int) -> dict[str, int]:
    """Return the 1-based line of each field and item by its name, as `questions[1].targets[2]`.

    The text and the depth are those that `parse_yaml` took.
    """
    loader = _Loader(text)
    loader.max_depth = max_depth
    found: dict[str, int] = {}
    _note_lines(loader.get_single_node(), "", found)
    return found


def _note_lines(node: Any, name: str, found: dict[str, int]) -> None:
    inner: list[tuple[str, Any, Any]] = []
    if isinstance(node, yaml.MappingNode):
        dot = "." if name else ""
        inner = [(f"{name}{dot}{key.value}", key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        inner = [(f"{name}[{at}]", item, item) for at, item in enumerate(node.value, start=1)]
    for place, begins, value in inner:
        found[place] = begins.start_mark.line + 1
        _note_lines(value, place, found)


def dump_yaml(data: Any) -> str:
    """Return plain data as YAML in the order in which it is given."""
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
    return text
