"""Guided by coverage: bytes that reach new lines of a reader are kept and broken further.

    python -m tests.fuzz.guided READER [libFuzzer's options, such as -max_total_time=60]

A reader is one of `readers.py`, by name; its first file is what is broken.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]  # not among the test extra

with atheris.instrument_imports(include=["codebench"]):
    readers = importlib.import_module("tests.fuzz.readers")


def main() -> None:
    """Fuzz one reader until it fails, or the time is over."""
    name, *options = sys.argv[1:] or [""]
    if name not in readers.READERS:
        raise SystemExit("name a reader: " + ", ".join(sorted(readers.READERS)))
    reader = readers.READERS[name]
    file = next(iter(reader.files))
    with tempfile.TemporaryDirectory() as root:
        folder, corpus = Path(root, "in"), Path(root, "corpus")
        corpus.mkdir()
        (corpus / "valid").write_bytes(reader.files[file])
        readers.write(folder, reader.files)

        def one(data: bytes) -> None:
            (folder / file).write_bytes(data)
            try:
                reader.read(folder)
            except reader.refusals:
                return

        atheris.Setup([sys.argv[0], *options, str(corpus)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
