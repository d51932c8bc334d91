"""semble: hybrid search with static vectors and BM25, made for coding agents; in process."""

from __future__ import annotations

import json
import os
from importlib import import_module
from importlib.metadata import files, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.kit.programs import missing_package

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

SHIPPED = "wordllama"
"""The value of `model` for vectors that an installed package ships: they need no hub."""

INSTALL = "pip install semble"


class Semble(Retriever):
    """semble's index over its own chunks; `model` is a folder, a hub's name, or wordllama."""

    def __init__(self, model: str = "") -> None:
        absent = missing_package(
            [SHIPPED, "safetensors"], "pip install 'codebench-harness[static]'"
        )
        if model == SHIPPED and absent:
            raise ValueError(absent)
        self.version = f"1, semble {version('semble')}"
        self.model = model

    @classmethod
    def missing(cls) -> str | None:
        return missing_package(["semble"], INSTALL)

    def index(self, corpus: Corpus) -> None:
        model = str(_shipped(Path.cwd() / "model")) if self.model == SHIPPED else self.model
        # It keeps indexes in the cache folder and would take up the one before.
        os.environ["SEMBLE_CACHE_LOCATION"] = str(Path.cwd() / "semble")
        engine: Any = import_module("semble.index.index")
        kinds: Any = import_module("semble.types").ContentType
        try:
            self.built: Any = engine.SembleIndex.from_path(
                corpus.path, content=list(kinds), model_path=model or None
            )
        except (OSError, ValueError) as error:
            if "No supported files" in str(error):
                self.built = None
                return
            raise RuntimeError(
                f"semble cannot make its index ({error}); where its model cannot be loaded from a "
                f"hub, name a folder as model=FOLDER, or model={SHIPPED}"
            ) from error

    def search(self, text: str, k: int) -> Sequence[Hit]:
        text = text.encode("utf-8", "replace").decode()
        found = self.built.search(text, top_k=k) if self.built is not None else []
        return [
            Hit(
                one.chunk.file_path,
                one.chunk.start_line,
                one.chunk.end_line,
                None,
                float(one.score),
            )
            for one in found
        ]


def _shipped(folder: Path) -> Path:
    """Write wordllama's vectors in the layout that semble's loader (model2vec) reads."""
    weights: Any = import_module("safetensors.numpy")
    own = {str(path): path for path in files(SHIPPED) or ()}
    (vectors,) = (path.locate() for name, path in own.items() if name.endswith(".safetensors"))
    (words,) = (
        path.locate()
        for name, path in own.items()
        if name.endswith("config.json") and "tokenizer" in name
    )
    folder.mkdir(exist_ok=True)
    table = weights.load_file(str(vectors))["embedding.weight"].astype("float32")
    weights.save_file({"embeddings": table}, str(folder / "model.safetensors"))
    (folder / "tokenizer.json").write_bytes(Path(str(words)).read_bytes())
    (folder / "config.json").write_text(json.dumps({"normalize": True}), encoding="utf-8")
    return folder
