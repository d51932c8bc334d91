"""Which files of a snapshot a file imports.

Only for languages whose imports name files or packages. A name that could be several files, or
none, gives no neighbour: a wrong relation is worse than a missing one.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_JS_FILES = ("", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue")
_JS_FOLDERS = ("/index.ts", "/index.tsx", "/index.js", "/index.jsx", "/src/index.ts")
_MAX_FILES = 15
"""An import of a package with more files than this names no file in particular."""


class ImportMap:
    """Resolves raw import strings to files of one snapshot.

    Args:
        languages: language by path, for every file of the snapshot.
    """

    def __init__(self, languages: Mapping[str, str]) -> None:
        self._languages = languages
        self._by_stem: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._by_folder: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path in sorted(languages):
            family = _family(languages[path])
            stem = posixpath.splitext(path)[0]
            self._by_stem[family, posixpath.basename(stem)].append(path)
            self._by_folder[family, posixpath.dirname(path)].append(path)

    def resolve(self, path: str, imports: Iterable[str]) -> frozenset[str]:
        """Return the files that `path` imports."""
        family = _family(self._languages[path])
        how = {
            "python": self._python,
            "javascript": self._javascript,
            "go": self._go,
            "rust": self._rust,
            "java": self._dotted,
            "php": self._backslashed,
            "ruby": self._relative_or_suffix,
            "c": self._relative_or_suffix,
        }.get(family)
        if how is None:
            return frozenset()
        found = {target for raw in imports for target in how(path, raw)}
        return frozenset(found - {path})

    def _python(self, path: str, raw: str) -> Sequence[str]:
        dots = len(raw) - len(raw.lstrip("."))
        parts = [part for part in raw.split(".") if part]
        if dots:
            base = posixpath.dirname(path)
            for _ in range(dots - 1):
                base = posixpath.dirname(base)
            return self._module(posixpath.join(base, *parts) if parts else base)
        return self._suffix("python", parts)

    def _module(self, stem: str) -> Sequence[str]:
        for candidate in (f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi"):
            if candidate in self._languages:
                return [candidate]
        return []

    def _suffix(self, family: str, parts: Sequence[str]) -> Sequence[str]:
        """Find the one file whose path without ending finishes with these parts."""
        if not parts:
            return []
        wanted = "/" + "/".join(parts)
        named = self._by_stem[family, parts[-1]]
        found = [one for one in named if ("/" + posixpath.splitext(one)[0]).endswith(wanted)]
        if not found and family == "python":
            packages = self._by_stem[family, "__init__"]
            found = [one for one in packages if ("/" + posixpath.dirname(one)).endswith(wanted)]
        if len(found) > 1:
            top = min(one.count("/") for one in found)
            found = [one for one in found if one.count("/") == top]
        return found if len(found) == 1 else []

    def _javascript(self, path: str, raw: str) -> Sequence[str]:
        if raw.startswith("."):
            base = posixpath.normpath(posixpath.join(posixpath.dirname(path), raw))
            stems = [base, *([base[:-3]] if base.endswith(".js") else [])]
            for stem in stems:
                for ending in (*_JS_FILES, *_JS_FOLDERS):
                    if stem + ending in self._languages:
                        return [stem + ending]
            return []
        # A workspace package: `@scope/name` is the folder `packages/name`.
        parts = raw.split("/")
        name = parts[1] if raw.startswith("@") and len(parts) > 1 else parts[0]
        for root in ("packages", "libs", "modules"):
            for ending in _JS_FOLDERS:
                if f"{root}/{name}{ending}" in self._languages:
                    return [f"{root}/{name}{ending}"]
        return []

    def _go(self, path: str, raw: str) -> Sequence[str]:  # noqa: ARG002  # one signature for all
        parts = raw.split("/")
        for start in range(1, len(parts)):
            folder = "/".join(parts[start:])
            files = [
                one
                for one in self._by_folder.get(("go", folder), [])
                if not one.endswith("_test.go")
            ]
            if files:
                return files if len(files) <= _MAX_FILES else []
        return []

    def _rust(self, path: str, raw: str) -> Sequence[str]:
        parts = [part for part in raw.replace("::", "/").split("/") if part]
        base = posixpath.dirname(path)
        stem = posixpath.splitext(posixpath.basename(path))[0]
        here = base if stem in {"mod", "lib", "main"} else posixpath.join(base, stem)
        roots = [here]
        if parts and parts[0] == "crate":
            roots, parts = [path[: path.rfind("src/") + 3] if "src/" in path else base], parts[1:]
        elif parts and parts[0] == "super":
            roots, parts = [posixpath.dirname(here)], parts[1:]
        elif parts and parts[0] == "self":
            parts = parts[1:]
        for root in roots:
            for length in range(len(parts), 0, -1):
                place = posixpath.join(root, *parts[:length])
                for candidate in (f"{place}.rs", f"{place}/mod.rs"):
                    if candidate in self._languages:
                        return [candidate]
        return []

    def _dotted(self, path: str, raw: str) -> Sequence[str]:
        parts = [part for part in raw.split(".") if part and part != "*"]
        # An imported member or nested class is found by its file's name, further left.
        for length in range(len(parts), 1, -1):
            found = self._suffix(_family(self._languages[path]), parts[:length])
            if found:
                return found
        return []

    def _backslashed(self, path: str, raw: str) -> Sequence[str]:
        parts = [part for part in raw.replace("\\", "/").split("/") if part]
        for start in range(max(len(parts) - 1, 0)):
            found = self._suffix(_family(self._languages[path]), parts[start:])
            if found:
                return found
        return []

    def _relative_or_suffix(self, path: str, raw: str) -> Sequence[str]:
        base = posixpath.normpath(posixpath.join(posixpath.dirname(path), raw))
        for candidate in (base, f"{base}.rb"):
            if candidate in self._languages:
                return [candidate]
        family = _family(self._languages[path])
        wanted = "/" + posixpath.normpath(raw).lstrip("./")
        stem = posixpath.splitext(posixpath.basename(raw))[0]
        found = [
            one
            for one in self._by_stem[family, stem]
            if ("/" + one).endswith((wanted, f"{wanted}.rb"))
        ]
        return found if len(found) == 1 else []


def _family(language: str) -> str:
    """Return the group of languages whose files import one another."""
    return {
        "typescript": "javascript",
        "tsx": "javascript",
        "cpp": "c",
        "kotlin": "java",
        "scala": "java",
    }.get(language, language)
