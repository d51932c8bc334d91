"""WordLlama: static word vectors that its package ships, averaged; no network, no torch."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import files, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.kit.passages import By, Passage, check_windows, passages
from codebench.kit.programs import missing_package
from codebench.kit.vectors import ANN_PACKAGE, How, Nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

INSTALL = "pip install 'codebench-harness[static]'"


class Wordllama(Retriever):
    """Static token vectors (256 dimensions), averaged over each chunk and over the question."""

    def __init__(
        self,
        by: By = "chunks",
        lines: int = 40,
        overlap: int = 10,
        nearest: How = "exact",
    ) -> None:
        check_windows(lines, overlap)
        absent = missing_package([ANN_PACKAGE], "pip install 'codebench-harness[ann]'")
        if nearest == "approximate" and absent:
            raise ValueError(absent)
        self.version = f"1, wordllama {version('wordllama')}"
        self.cut = (by, lines, overlap)
        self.how: How = nearest
        self.passages: list[Passage] = []

    @classmethod
    def missing(cls) -> str | None:
        return missing_package(["wordllama", "tokenizers", "safetensors"], INSTALL)

    def index(self, corpus: Corpus) -> None:
        weights: Any = import_module("safetensors.numpy")
        tokenizers: Any = import_module("tokenizers")
        # Its own loader asks a hub for the tokenizer; the package's files hold all that is needed.
        self.table = weights.load_file(_file(".safetensors"))["embedding.weight"].astype("float32")
        self.tokenizer = tokenizers.Tokenizer.from_file(_file("tokenizer_config.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.passages = passages(corpus, *self.cut)
        self.near = Nearest(self._vectors([one.text for one in self.passages]), self.how)

    def search(self, text: str, k: int) -> Sequence[Hit]:
        vector = self._vectors([text.encode("utf-8", "replace").decode()])[0]
        return [self.passages[at].hit(cosine) for at, cosine in self.near.find(vector, k)]

    def _vectors(self, texts: Sequence[str]) -> Any:
        import numpy as np  # noqa: PLC0415  # heavy: it belongs to the index's time

        out = np.zeros((len(texts), self.table.shape[1]), np.float32)
        found = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        for number, one in enumerate(found):
            if one.ids:
                out[number] = self.table[one.ids].mean(axis=0)
        return out

    def index_bytes(self) -> int | None:
        return self.near.size


def _file(ending: str) -> str:
    """Return a file of the package, whose code need not be imported."""
    found = [str(path.locate()) for path in files("wordllama") or () if str(path).endswith(ending)]
    if not found:
        raise RuntimeError(f"the package wordllama ships no file *{ending}; {INSTALL}")
    return str(Path(min(found, key=len)))
